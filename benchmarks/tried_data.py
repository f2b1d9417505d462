"""Data, true functions and learners of the processes in `tried`.

What draws data takes a random generator; a learner takes a seed and returns a model to fit.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.unseen import Data, Function

Column = Callable[[np.random.Generator, int], Any]  # draws so many values
Learner = Callable[[int], Any]


# --- columns of a table ----------------------------------------------------------------------------


def table(rows: int, **columns: Column) -> Data:
    """A frame of columns that are drawn one after the other."""

    def draw(rng: np.random.Generator) -> Any:
        import pandas as pd

        return pd.DataFrame({name: column(rng, rows) for name, column in columns.items()})

    return draw


def normal_column(rng: np.random.Generator, rows: int) -> Any:
    return rng.normal(size=rows)


def even_column(rng: np.random.Generator, rows: int) -> Any:
    return rng.uniform(-1, 1, rows)


def flags(share: float) -> Column:
    return lambda rng, rows: rng.random(rows) < share


def whole(low: int, high: int) -> Column:
    """Whole numbers from `low` to below `high`."""
    return lambda rng, rows: rng.integers(low, high, rows)


def poisson(mean: float) -> Column:
    return lambda rng, rows: rng.poisson(mean, rows)


def one_of(*levels: str) -> Column:
    return lambda rng, rows: rng.choice(np.array(levels), rows)


def shuffled(values: Any) -> Column:
    """These values in random order: their shares are exact."""
    return lambda rng, rows: rng.permutation(values)


def numbered(prefix: str) -> Column:
    """Forty levels with a number in their name."""
    names = np.array([f"{prefix}{i:02d}" for i in range(40)])
    return lambda rng, rows: names[rng.integers(0, 40, rows)]


def column(X: Any, name: str) -> Any:
    return X[name].to_numpy(float)


def level_values(X: Any, name: str, values: dict[str, float]) -> Any:
    return X[name].astype(str).map(values).to_numpy(float)


# --- independent columns ---------------------------------------------------------------------------


def normals(rows: int, columns: int) -> Data:
    return lambda rng: rng.normal(size=(rows, columns))


def circuits(rows: int) -> Data:
    """Resistance, frequency, inductance and capacitance, as Friedman drew them."""
    return lambda rng: np.column_stack(
        [
            rng.uniform(0, 100, rows),
            rng.uniform(40 * np.pi, 560 * np.pi, rows),
            rng.uniform(0, 1, rows),
            rng.uniform(1, 11, rows),
        ]
    )


def two_positive(rng: np.random.Generator) -> Any:
    return np.column_stack([rng.uniform(1, 6, 600), rng.uniform(0.4, 3, 600), rng.normal(size=(600, 2))])


def lognormal_first(rng: np.random.Generator) -> Any:
    return np.column_stack([rng.lognormal(0, 0.6, 800), rng.normal(size=(800, 2))])


def few_values(rng: np.random.Generator) -> Any:
    return np.column_stack([rng.integers(0, values, 600) for values in (3, 4, 4, 3)])


def heavy_tails(rng: np.random.Generator) -> Any:
    return rng.standard_t(2.5, size=(800, 4))


def with_outliers(rng: np.random.Generator) -> Any:
    X = rng.normal(size=(600, 4))
    X[rng.random(600) < 0.01, 0] *= 60
    X[rng.random(600) < 0.01, 3] *= 60
    return X


def zero_heavy(rng: np.random.Generator) -> Any:
    zero = np.where(rng.random(800) < 0.6, 0.0, rng.gamma(2.0, 2.0, 800))
    return np.column_stack([zero, rng.pareto(2.0, 800), rng.normal(size=(800, 2))])


def rounded(rng: np.random.Generator) -> Any:
    return np.round(rng.normal(size=(600, 4)) * 2) / 2


def five_kinds(rows: int) -> Data:
    """Two numbers and a category of five levels, and a sixth that never occurs."""

    def draw(rng: np.random.Generator) -> Any:
        import pandas as pd

        return pd.DataFrame(
            {
                "x": rng.uniform(-1, 1, rows),
                "z": rng.uniform(-1, 1, rows),
                "kind": pd.Categorical(rng.choice(list("abcde"), rows), categories=list("abcdef")),
            }
        )

    return draw


def odd_columns(rng: np.random.Generator) -> Any:
    """A row number, a constant, and a number that keeps to two places, among others."""
    import pandas as pd

    rows = 500
    return pd.DataFrame(
        {
            "id": np.arange(rows),
            "same": np.ones(rows),
            "sex": rng.choice(["f", "m"], rows),
            "x": rng.normal(size=rows),
            "two": rng.choice([-1.0, 1.0], rows) * 3 + 0.3 * rng.normal(size=rows),
        }
    )


three_flags = table(600, a=flags(0.5), b=flags(0.5), c=flags(0.5), x=normal_column)
survey = table(
    700, likert=whole(1, 6), education=whole(1, 5), age=whole(18, 81), children=poisson(1.2), code=whole(1, 8)
)
shops = table(1000, shop=numbered("s"), street=numbered("t"), x=normal_column)
small_counts = table(
    800, a=poisson(1.5), b=poisson(2.5), c=lambda rng, rows: rng.geometric(0.4, rows), d=whole(0, 2)
)


# --- missing values --------------------------------------------------------------------------------


def with_gaps(share: float) -> Data:
    """A share of column 0 is missing at random."""

    def draw(rng: np.random.Generator) -> Any:
        X = rng.uniform(-1, 1, size=(900, 4))
        X[rng.random(900) < share, 0] = np.nan
        return X

    return draw


def gaps_together(rng: np.random.Generator) -> Any:
    """Columns 0 and 1 are missing in the same rows."""
    X = rng.normal(size=(900, 4))
    X[rng.random(900) < 0.12, :2] = np.nan
    return X


# --- rows that repeat ------------------------------------------------------------------------------


def five_copies(rng: np.random.Generator) -> Any:
    return np.repeat(rng.normal(size=(150, 4)), 5, axis=0)


def correlated_copies(rng: np.random.Generator) -> Any:
    return np.repeat(equally_correlated(150, 2, 0.95, 2)(rng), 5, axis=0)


def resampled(rng: np.random.Generator) -> Any:
    """A bootstrap draw: 800 rows out of 400."""
    return rng.normal(size=(400, 4))[rng.integers(0, 400, 800)]


def oversampled(rng: np.random.Generator) -> Any:
    """Rare rows repeated until they are half of all."""
    X = rng.normal(size=(400, 4))
    return np.concatenate([X[:360], np.repeat(X[360:], 9, axis=0)])


def panel(rng: np.random.Generator) -> Any:
    """120 people, each seen in six months: what belongs to a person repeats."""
    import pandas as pd

    people = pd.DataFrame(np.repeat(rng.normal(size=(120, 3)), 6, axis=0), columns=["age", "income", "size"])
    return people.assign(month=np.tile(np.arange(6), 120))


# --- columns that go together ----------------------------------------------------------------------


def equally_correlated(rows: int, columns: int, rho: float, others: int = 0) -> Data:
    """Normal columns with one correlation between any two, then independent ones."""

    def draw(rng: np.random.Generator) -> Any:
        common = rng.normal(size=(rows, 1))
        X = np.sqrt(rho) * common + np.sqrt(1 - rho) * rng.normal(size=(rows, columns))
        return np.column_stack([X, rng.normal(size=(rows, others))])

    return draw


def two_blocks(rng: np.random.Generator) -> Any:
    X = rng.normal(size=(800, 5))
    X[:, 1] = 0.85 * X[:, 0] + np.sqrt(1 - 0.85**2) * X[:, 1]
    X[:, 3] = -0.97 * X[:, 2] + np.sqrt(1 - 0.97**2) * X[:, 3]
    return X


def mild_blocks(rng: np.random.Generator) -> Any:
    X = rng.normal(size=(800, 5))
    X[:, 1] = 0.3 * X[:, 0] + np.sqrt(1 - 0.09) * X[:, 1]
    X[:, 3] = 0.5 * X[:, 2] + np.sqrt(0.75) * X[:, 3]
    return X


def correlated_integers(rho: float) -> Data:
    def draw(rng: np.random.Generator) -> Any:
        X = rng.normal(size=(800, 4))
        X[:, 1] = rho * X[:, 0] + np.sqrt(1 - rho**2) * X[:, 1]
        return np.round(2 * X + 10)

    return draw


def odd_margins(rho: float, rows: int, others: int) -> Data:
    """Correlated, but one column is lognormal and one uniform."""

    def draw(rng: np.random.Generator) -> Any:
        from scipy.stats import norm

        X = rng.normal(size=(rows, 2 + others))
        second = rho * X[:, 0] + np.sqrt(1 - rho**2) * X[:, 1]
        X[:, 0], X[:, 1] = np.exp(X[:, 0]), norm.cdf(second)
        return X

    return draw


def nearly_equal(rng: np.random.Generator) -> Any:
    x = rng.uniform(0, 1, 400)
    return np.column_stack([x, x + 0.05 * rng.normal(size=400)])


def along_a_curve(curve: Function, noise: float) -> Data:
    """Column 1 is a function of column 0, with noise."""

    def draw(rng: np.random.Generator) -> Any:
        x = rng.uniform(-1, 1, 700)
        return np.column_stack([x, curve(x) + noise * rng.normal(size=700), rng.normal(size=(700, 2))])

    return draw


def below_a_bound(rng: np.random.Generator) -> Any:
    bound = rng.uniform(0, 1, 800)
    return np.column_stack([bound * rng.uniform(0, 1, 800), bound, rng.normal(size=(800, 2))])


def spiral(rng: np.random.Generator) -> Any:
    way = rng.uniform(0, 1, 900)
    radius, angle = 0.2 + way, 4 * np.pi * way
    x = radius * np.cos(angle) + 0.03 * rng.normal(size=900)
    y = radius * np.sin(angle) + 0.03 * rng.normal(size=900)
    return np.column_stack([x, y, rng.normal(size=(900, 2))])


def cross(rng: np.random.Generator) -> Any:
    x = rng.uniform(-1, 1, 700)
    side = rng.choice([-1, 1], 700)
    return np.column_stack([x, side * x + 0.06 * rng.normal(size=700), rng.normal(size=(700, 2))])


def with_square(rng: np.random.Generator) -> Any:
    x = rng.uniform(-1, 1, 600)
    return np.column_stack([x, x**2, rng.normal(size=(600, 2))])


def with_total(rng: np.random.Generator) -> Any:
    """Column 2 is the sum of columns 0 and 1."""
    X = rng.uniform(0, 1, size=(700, 5))
    X[:, 2] = X[:, 0] + X[:, 1]
    return X


def brands_and_models(rng: np.random.Generator) -> Any:
    """Eight models, two of each of four brands."""
    import pandas as pd

    model = rng.integers(0, 8, 800)
    return pd.DataFrame(
        {
            "brand": np.array(["A", "B", "C", "D"])[model // 2],
            "model": np.array([f"m{i}" for i in range(8)])[model],
            "age": rng.uniform(0, 10, 800),
            "km": rng.exponential(50, 800),
        }
    )


def months_and_seasons(rng: np.random.Generator) -> Any:
    import pandas as pd

    month = rng.integers(1, 13, 700)
    season = np.array(["winter", "spring", "summer", "autumn"])[(month % 12) // 3]
    return pd.DataFrame(
        {"month": month, "season": season, "x": rng.normal(size=700), "z": rng.normal(size=700)}
    )


def dummies(rng: np.random.Generator) -> Any:
    """A category of four levels, as four columns of zeros and ones."""
    import pandas as pd

    kind = rng.integers(0, 4, 700)
    levels = {f"k{i}": (kind == i).astype(int) for i in range(4)}
    return pd.DataFrame({**levels, "x": rng.normal(size=700), "z": rng.normal(size=700)})


def shifted_groups(rng: np.random.Generator) -> Any:
    """Groups that lie apart along x: across them y rises with it, within them it falls."""
    import pandas as pd

    group = rng.integers(0, 3, 700)
    return pd.DataFrame(
        {
            "x": 3.5 * group + rng.normal(size=700),
            "group": np.array(["a", "b", "c"])[group],
            "z": rng.normal(size=700),
        }
    )


# --- true functions --------------------------------------------------------------------------------

KIND_SLOPE = {"a": 2.0, "b": 1.0, "c": 0.0, "d": -1.0, "e": -2.0}
KIND_LEVEL = {"a": 0.0, "b": 1.0, "c": 2.0, "d": 0.5, "e": -1.0}
TOWN_SLOPE = {"a": 4.0, "b": 2.0, "c": 0.0, "d": -2.0}
TOGETHER = {("p", "u"): 2.0, ("p", "v"): -2.0, ("q", "u"): -2.0, ("q", "v"): 2.0}
SHOP_LEVEL = np.sin(np.arange(40) * 2.3) * 1.2


def friedman1(X: Any) -> Any:
    return 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3] + 5 * X[:, 4]


def friedman2(X: Any) -> Any:
    return np.sqrt(X[:, 0] ** 2 + (X[:, 1] * X[:, 2] - 1 / (X[:, 1] * X[:, 3])) ** 2)


def friedman3(X: Any) -> Any:
    return np.arctan((X[:, 1] * X[:, 2] - 1 / (X[:, 1] * X[:, 3])) / X[:, 0])


def crossing_slopes(X: Any) -> Any:
    """The example curves of individual rows were introduced with: opposite slopes, flat on average."""
    return 0.2 * X[:, 0] - 5 * X[:, 1] + 10 * X[:, 1] * (X[:, 2] >= 0)


def line_and_step(X: Any) -> Any:
    return 2 * X[:, 0] + 2 * (X[:, 1] > 0)


def five_products(X: Any) -> Any:
    return sum(c * X[:, 2 * i] * X[:, 2 * i + 1] for i, c in enumerate((3.0, 2.4, 1.9, 1.5, 1.1)))


def treatment_effect(X: Any) -> Any:
    """It helps those above fifty as much as it harms the others."""
    effect = np.where(X["treated"], np.where(X["age"] > 50, 2.0, -2.0), 0)
    return effect + 0.03 * column(X, "age") + 0.5 * column(X, "x")


def survey_score(X: Any) -> Any:
    age, educated = (column(X, "age") - 49) / 25, (X["education"] >= 3).to_numpy()
    return 0.4 * column(X, "likert") - age**2 + 0.8 * educated + 0.3 * column(X, "children")


def shop_value(X: Any) -> Any:
    return SHOP_LEVEL[X["shop"].str[1:].astype(int).to_numpy()] + X["x"].to_numpy()


# --- learners --------------------------------------------------------------------------------------


def out_of_the_box(name: str) -> Learner:
    """A model with the settings its library chose."""

    def learner(seed: int) -> Any:
        if name == "lgbm":
            from lightgbm import LGBMRegressor

            return LGBMRegressor(random_state=seed, n_jobs=1, verbose=-1)
        if name == "xgb":
            from xgboost import XGBRegressor

            return XGBRegressor(random_state=seed, n_jobs=1)
        from sklearn import ensemble

        kinds = {
            "sk-boosting": ensemble.GradientBoostingRegressor,
            "hist": ensemble.HistGradientBoostingRegressor,
            "hist classifier": ensemble.HistGradientBoostingClassifier,
            "forest": ensemble.RandomForestRegressor,
        }
        return kinds[name](random_state=seed)

    return learner


def histogram_boosting(seed: int) -> Any:
    from sklearn.ensemble import HistGradientBoostingRegressor

    return HistGradientBoostingRegressor(max_iter=80, max_leaf_nodes=10, random_state=seed)


def lightgbm_trees(seed: int) -> Any:
    from lightgbm import LGBMRegressor

    return LGBMRegressor(n_estimators=100, num_leaves=10, random_state=seed, n_jobs=1, verbose=-1)


def xgboost_trees(seed: int) -> Any:
    from xgboost import XGBRegressor

    return XGBRegressor(n_estimators=80, max_depth=3, learning_rate=0.15, random_state=seed, n_jobs=1)


def forest(seed: int) -> Any:
    from sklearn.ensemble import RandomForestRegressor

    return RandomForestRegressor(n_estimators=60, min_samples_leaf=5, random_state=seed)


def decision_tree(seed: int) -> Any:
    from sklearn.tree import DecisionTreeRegressor

    return DecisionTreeRegressor(max_depth=6, min_samples_leaf=10, random_state=seed)


def neighbours(seed: int) -> Any:
    from sklearn.neighbors import KNeighborsRegressor

    return KNeighborsRegressor(n_neighbors=12)


def network(seed: int) -> Any:
    from sklearn.neural_network import MLPRegressor
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    layer = MLPRegressor(hidden_layer_sizes=(24,), solver="lbfgs", alpha=1.0, max_iter=400, random_state=seed)
    return make_pipeline(StandardScaler(), layer)


def support_vectors(seed: int) -> Any:
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVR

    return make_pipeline(StandardScaler(), SVR(C=3.0, epsilon=0.05))


def log_linear(seed: int) -> Any:
    from sklearn.compose import TransformedTargetRegressor
    from sklearn.linear_model import LinearRegression

    return TransformedTargetRegressor(LinearRegression(), func=np.log, inverse_func=np.exp)


def logistic(seed: int) -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression()


def forest_classifier(seed: int) -> Any:
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(n_estimators=80, min_samples_leaf=10, random_state=seed)


def histogram_classifier(seed: int) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(
        max_iter=40, max_leaf_nodes=6, min_samples_leaf=20, random_state=seed
    )


def neighbours_classifier(seed: int) -> Any:
    from sklearn.neighbors import KNeighborsClassifier

    return KNeighborsClassifier(25)


def three_classes(rng: np.random.Generator) -> tuple[Any, Any]:
    """Ordered classes along column 0, and a model of them."""
    X = rng.normal(size=(900, 3))
    y = np.digitize(1.5 * X[:, 0] + 0.6 * rng.logistic(size=900), [-0.8, 0.8])
    return logistic(0).fit(X, y), X
