from common import X, grid, keep, model
from sklearn.inspection import partial_dependence

found = partial_dependence(model, X, ["bmi"], custom_values={"bmi": grid}, method="brute")
recursion = partial_dependence(model, X, ["bmi"], custom_values={"bmi": grid}, method="recursion")
keep("scikit-learn", ("numpy",), grid=grid, pd=found["average"][0], recursion=recursion["average"][0])
