from common import X, grid, keep, model
from pdpbox.pdp import PDPIsolate

isolate = PDPIsolate(  # it adds a column to the frame, hence the copies
    model=model, df=X.copy(), model_features=list(X.columns), feature="bmi", feature_name="body mass index", n_classes=0,
    grid_type="percentile", cust_grid_points=grid,
)  # fmt: skip
keep("pdpbox", grid=grid, pd=isolate.results[0].pdp)

# The other calls on the page.
from pdpbox.info_plots import TargetPlot  # noqa: E402
from pdpbox.pdp import PDPInteract  # noqa: E402

PDPInteract(model=model, df=X.copy(), model_features=list(X.columns), n_classes=0, features=["bmi", "bp"],
            feature_names=["body mass index", "blood pressure"])  # fmt: skip
isolate.plot(plot_lines=True, center=True, engine="matplotlib")
TargetPlot(df=X.assign(y=model.predict(X)), feature="bmi", feature_name="body mass index", target="y")
