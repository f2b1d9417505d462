"""Categories that LightGBM's files list without their columns' names come back to rows from text formats."""

from __future__ import annotations

import numpy as np
import pytest

from icefield.libraries.lightgbm.files import with_categories


def test_categories_that_were_numbers_come_back_as_numbers() -> None:
    pd, lgb = pytest.importorskip("pandas"), pytest.importorskip("lightgbm")
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"a": rng.normal(size=200), "zone": pd.Categorical(rng.integers(1, 4, 200) * 10)})
    target = frame["a"] + frame["zone"].astype(int)
    booster = lgb.LGBMRegressor(n_estimators=5, verbose=-1).fit(frame, target).booster_
    plain = frame.assign(zone=frame["zone"].astype(int))
    typed = with_categories(booster, plain)
    np.testing.assert_allclose(booster.predict(typed), booster.predict(frame))
    texts = with_categories(booster, plain.assign(zone=plain["zone"].astype(str)))
    np.testing.assert_allclose(booster.predict(texts), booster.predict(frame))
