"""Who survived the Titanic: partial dependence of a LightGBM Booster on age and sex.

    python examples/titanic.py

The passengers come with icefield. The example prints both curves beside a plain loop over ``model.predict``: the numbers are the same, since an average of predictions is all that partial dependence is.
"""

from __future__ import annotations

import lightgbm
import numpy as np
import pandas

import icefield

FEATURES = ["pclass", "sex", "age", "sibsp", "parch", "fare", "embarked"]
AGES = list(range(0, 70, 5))


def passengers() -> pandas.DataFrame:
    """The passengers, with words as categories (ages are missing for some)."""
    return icefield.datasets.titanic("pandas").astype({"sex": "category", "embarked": "category"})


def fitted(data: pandas.DataFrame) -> lightgbm.Booster:
    """A small Booster that predicts the probability of surviving."""
    settings = {"objective": "binary", "learning_rate": 0.05, "num_leaves": 15, "verbose": -1, "seed": 0,
                "num_threads": 1, "deterministic": True}  # fmt: skip
    return lightgbm.train(settings, lightgbm.Dataset(data[FEATURES], data["survived"]), num_boost_round=100)


def by_hand(model: lightgbm.Booster, rows: pandas.DataFrame, feature: str, values: list) -> list[float]:
    """The mean prediction with a column replaced by one value after another."""
    means = []
    replaced = rows.copy()
    for value in values:
        # A category stays one: the Booster checks that its levels are those it was trained with.
        replaced[feature] = pandas.Series([value] * len(rows), index=rows.index).astype(rows[feature].dtype)
        means.append(float(model.predict(replaced).mean()))
    return means


def main() -> dict[str, tuple[icefield.Effect, list[float]]]:
    """Print both tables; returns the effects and the numbers made by hand."""
    data = passengers()
    model, rows = fitted(data), data[FEATURES]
    explainer = icefield.Explainer(model, rows)
    found = {}
    for feature, values in (("age", AGES), ("sex", ["female", "male"])):
        effect = explainer.partial_dependence(feature, grid=values)
        loop = by_hand(model, rows, feature, values)
        found[feature] = (effect, loop)
        print(f"Mean probability of surviving by {feature}")
        print(effect.to_frame().drop(columns="output").assign(by_hand=loop).to_string(index=False))
        print(f"largest difference: {np.abs(effect.average[0] - loop).max():.1e}\n")
    return found


if __name__ == "__main__":
    main()
