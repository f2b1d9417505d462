import dalex
from common import X, grid, keep, model, y

explainer = dalex.Explainer(model, X, y, verbose=False)
partial = explainer.model_profile(
    type="partial", variables=["bmi"], variable_splits={"bmi": grid}, N=None, verbose=False
)
local = explainer.model_profile(
    type="accumulated", variables=["bmi"], variable_splits={"bmi": grid}, N=None, verbose=False
)
keep("dalex", grid=grid, pd=partial.result["_yhat_"], ale=local.result["_yhat_"])

# The other calls on the page.
explainer.predict_profile(X.iloc[:10], variables=["bmi"], verbose=False)
explainer.model_profile(type="partial", variables=["bmi"], groups="sex", N=None, verbose=False)
explainer.model_profile(type="conditional", variables=["bmi"], N=None, verbose=False)
explainer.model_parts(N=None)
other = dalex.Explainer(model, X, y, verbose=False, label="other")
other.model_profile(type="partial", variables=["bmi"], verbose=False).plot(partial, show=False)
