"""The conditional table: plain means per bin, and the effects beside them on one scale."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from icefield import Explainer


def test_means_per_bin(rng):
    X = rng.normal(size=(200, 2))
    y = X[:, 0] + rng.normal(size=200)
    ex = Explainer(lambda r: 2 * r[:, 0] + r[:, 1], X, y=y)
    table = ex.conditional(0, bins=[-5.0, 0.0, 5.0])
    left = X[:, 0] <= 0
    for number, inside in enumerate((left, ~left)):
        assert table["observed"][number] == pytest.approx(y[inside].mean())
        assert table["predicted"][number] == pytest.approx((2 * X[inside, 0] + X[inside, 1]).mean())
        assert table["weight"][number] == inside.sum()
        value = table["value"][number]
        assert table["pd"][number] == pytest.approx(2 * value + X[:, 1].mean())
    assert table["bin"].tolist() == ["[−5, 0]", "(0, 5]"]


def test_what_goes_with_a_feature_is_in_the_means_but_not_in_the_effects(rng):
    x = rng.normal(size=400)
    X = np.column_stack([x, x + 0.1 * rng.normal(size=400)])
    table = Explainer(lambda r: 5 * r[:, 1], X).conditional(0, bins=4)
    assert np.ptp(table["predicted"]) > 5
    assert np.ptp(table["pd"]) == pytest.approx(0.0, abs=1e-9)
    assert np.ptp(table["ale"]) == pytest.approx(0.0, abs=1e-9)


def test_additive_model_has_pd_and_ale_on_one_scale(rng):
    X = rng.uniform(size=(300, 2))
    table = Explainer(lambda r: 3 * r[:, 0] + r[:, 1], X).conditional(0, bins=6)
    np.testing.assert_allclose(table["ale"], table["pd"], atol=0.05)


def test_levels_missing_and_classes(rng):
    from sklearn.linear_model import LogisticRegression

    frame = pd.DataFrame({"k": rng.choice(["a", "b", None], 120), "x": rng.normal(size=120)})
    y = np.where(frame["x"] + 0.2 * rng.normal(size=120) > 0, "up", "down")
    fitted = LogisticRegression().fit(frame[["x"]].to_numpy(), y)

    class Wrapped:
        classes_ = fitted.classes_

        def fit(self):
            return self

        def predict(self, f):
            return fitted.predict(f[["x"]].to_numpy())

        def predict_proba(self, f):
            return fitted.predict_proba(f[["x"]].to_numpy())

    table = Explainer(Wrapped(), frame, y=y, target="all").conditional("k")
    assert table["bin"].tolist() == ["a", "b", "missing"] * 2
    gone = frame["k"].isna().to_numpy()
    at = table["output"].tolist().index("up") + 2
    assert table["observed"][at] == pytest.approx((y[gone] == "up").mean())
    assert table["weight"][at] == gone.sum()


def test_weights_count_as_copies(rng):
    X, weights = rng.normal(size=(60, 2)), np.arange(60) % 3
    model = lambda r: r[:, 0] * r[:, 1]  # noqa: E731
    one = Explainer(model, X, y=X[:, 1], weights=weights).conditional(0, bins=5)
    two = Explainer(model, np.repeat(X, weights, axis=0), y=np.repeat(X[:, 1], weights)).conditional(
        0, bins=5
    )
    for column in ("observed", "predicted", "pd", "ale", "weight"):
        np.testing.assert_allclose(one[column], two[column], atol=1e-10)


def test_without_observations(rng):
    table = Explainer(lambda r: r[:, 0], rng.normal(size=(50, 2))).conditional(0)
    assert "observed" not in table.columns
    assert set(table.effects) == {"predicted", "pd", "ale"}
