import numpy as np
import polars as pl
import statsmodels.api as sm
import statsmodels.formula.api as smf
from common import X, grid, keep, model, y
from marginaleffects import avg_comparisons, avg_predictions, avg_slopes, comparisons, fit_sklearn

# Three regressions with an interaction, and the boosted trees of all other peers.
data = X.assign(y=y, high=(y > 140).astype(int), visits=(y / 40).round().astype(int))
terms = "bmi * s5 + bp + sex"
fits = {
    "ols": smf.ols(f"y ~ {terms}", data).fit(),
    "logit": smf.logit(f"high ~ {terms}", data).fit(disp=0),
    "poisson": smf.glm(f"visits ~ {terms}", data, family=sm.families.Poisson()).fit(),
    "trees": fit_sklearn(lambda rows: (y, rows[list(X.columns)]), data=data, engine=model),
}
between = {"bmi": [24.0, 32.0]}
asked = {
    "change": lambda fit: avg_comparisons(fit, variables=between, newdata=data),
    "change by sex": lambda fit: avg_comparisons(fit, variables=between, by="sex", newdata=data),
    "ratio": lambda fit: avg_comparisons(fit, variables=between, comparison="ratio", newdata=data),
    # A number alone, {"bmi": 1}, goes from half below to half above each row's own value.
    "plus": lambda fit: avg_comparisons(
        fit, variables={"bmi": lambda own: pl.DataFrame({"from": own, "to": own + 1})}, newdata=data
    ),
    "several": lambda fit: avg_comparisons(
        fit, variables=between | {"sex": [1.0, 2.0]}, cross=True, newdata=data
    ),
    "rows": lambda fit: comparisons(fit, variables=between, newdata=data),
    "slope": lambda fit: avg_slopes(fit, variables="bmi", newdata=data),
    "slope by sex": lambda fit: avg_slopes(fit, variables="bmi", by="sex", newdata=data),
}
found = {
    f"{name} {what}": np.asarray(ask(fit)["estimate"])[:20]  # of rows, the first
    for name, fit in fits.items()
    for what, ask in asked.items()
    if not (name == "trees" and "slope" in what)  # a step function has no derivative
}
found |= {f"{name} parameters": fit.params for name, fit in fits.items() if name != "trees"}
found |= {"trees predictions": model.predict(X)[:20]}
pd = avg_predictions(fits["ols"], variables={"bmi": [float(v) for v in grid]}, by="bmi")
keep("marginaleffects", ("statsmodels", "scikit-learn", "polars", "numpy"), grid=grid, pd=pd["estimate"], **found)  # fmt: skip
