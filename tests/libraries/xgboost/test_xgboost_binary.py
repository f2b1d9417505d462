"""XGBoost's binary form against its JSON, and bytes that are neither."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from icefield.libraries.xgboost.binary import NotBinary, decode
from icefield.libraries.xgboost.format import saved_learner

xgb = pytest.importorskip("xgboost")

EVERY_KIND = (
    b"{i\x01a[i\x01i\xff]i\x01b[#i\x03TFZi\x01c[$d#U\x02\x3f\x80\x00\x00\xc0\x00\x00\x00i\x01d{}i\x01eSi\x03\xc3\xa9x"
    b"i\x01fD\x40\x09\x21\xfb\x54\x44\x2d\x18i\x01gI\x01\x00i\x01hl\x00\x01\x00\x00i\x01iL\x00\x00\x00\x01\x00\x00\x00\x00}"
)


def plain(value: Any) -> Any:
    """Arrays as lists, and numbers rounded to float32, which XGBoost holds and its JSON writes in few digits."""
    if isinstance(value, dict):
        return {name: plain(item) for name, item in value.items()}
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, list):
        return [plain(item) for item in value]
    return float(np.float32(value)) if isinstance(value, float) else value


@pytest.mark.parametrize(
    "settings",
    [
        {"max_depth": 4},
        {"booster": "dart", "rate_drop": 0.5},
        {"objective": "multi:softprob", "num_class": 3, "num_parallel_tree": 2},
        {"booster": "gblinear"},
    ],
)
def test_it_says_what_the_json_says(settings: dict[str, Any]) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    X[rng.random(X.shape) < 0.1] = np.nan
    data = xgb.DMatrix(X, np.arange(300) % 3, feature_names=["é", "b", "c"])
    booster = xgb.train({**settings, "nthread": 1}, data, 5)
    text = json.loads(bytes(booster.save_raw("json")))
    assert plain(decode(bytes(booster.save_raw("ubj")))) == plain(text)
    assert plain(saved_learner(booster).document) == plain(text["learner"])


def test_every_kind_of_value() -> None:
    found = decode(EVERY_KIND)
    assert plain(found) == {
        "a": [1, -1], "b": [True, False, None], "c": [1.0, -2.0], "d": {}, "e": "éx", "f": float(np.float32(np.pi)),
        "g": 256, "h": 65536, "i": 2**32,
    }  # fmt: skip
    assert found["f"] == np.pi
    assert found["c"].dtype == np.dtype(">f4")


@pytest.mark.parametrize("end", range(len(EVERY_KIND)))
def test_bytes_that_break_off(end: int) -> None:
    with pytest.raises(NotBinary):
        decode(EVERY_KIND[:end])


@pytest.mark.parametrize(
    "raw",
    [b"[$Q#i\x01\x00", b"[$U[i\x01", b"Q", b"{d\x00\x00\x00\x00i\x01}", b"Si\xffa", b"[Si\xfe]", b"i\x01i", b"Si\x02\xff\xff",
     b"[$U#i\xff", b"[" * 100_000],
)  # fmt: skip
def test_bytes_that_mean_nothing(raw: bytes) -> None:
    with pytest.raises(NotBinary):
        decode(raw)


def test_a_form_that_is_not_known_is_asked_for_as_text(monkeypatch: pytest.MonkeyPatch) -> None:
    X = np.random.default_rng(0).normal(size=(60, 2))
    booster = xgb.train({"nthread": 1}, xgb.DMatrix(X, X[:, 0]), 2)
    own, asked = booster.save_raw, []

    def raw(form: str) -> bytearray:
        asked.append(form)
        return own("json")

    monkeypatch.setattr(booster, "save_raw", raw)
    assert saved_learner(booster).n_columns == 2
    assert asked == ["ubj", "json"]


def test_categories_are_asked_for_as_text(monkeypatch: pytest.MonkeyPatch) -> None:
    X = np.column_stack([np.arange(60) % 4, np.arange(60.0)])
    data = xgb.DMatrix(X, np.arange(60) % 4, feature_types=["c", "float"], enable_categorical=True)
    booster = xgb.train({"nthread": 1}, data, 2)
    own, asked = booster.save_raw, []
    monkeypatch.setattr(booster, "save_raw", lambda form: asked.append(form) or own(form))
    saved_learner(booster)
    assert asked == ["json"]
