"""Categories of rows from text formats, as CatBoost wants them written."""

from __future__ import annotations

import numpy as np
import pytest

from icefield.libraries.catboost.files import with_categories
from model_files import people


def test_catboost_missing_category_is_the_text_nan() -> None:
    pytest.importorskip("pandas")
    cb = pytest.importorskip("catboost")
    frame, target = people()
    frame.loc[:20, "sex"] = None
    text = frame.assign(sex=frame["sex"].astype(object).where(frame["sex"].notna(), "nan"))
    model = cb.CatBoost({"iterations": 3, "verbose": 0, "allow_writing_files": False})
    model.fit(text, target, cat_features=["sex"])
    np.testing.assert_allclose(model.predict(with_categories(model, frame)), model.predict(text))
