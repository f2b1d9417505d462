"""What is odd about columns: found where it is, and not where it only looks so."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from icefield import Explainer
from icefield.statistics.data_notes import data_notes


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    n = 400
    X = pd.DataFrame({"plain": rng.normal(size=n), "level": pd.Categorical(rng.choice(["a", "b"], n))})
    X["gone"] = X["plain"].where(rng.random(n) < 0.75)
    X["always"] = 7
    X["nothing"] = np.nan
    X["copy"] = X["plain"]
    X["renamed"] = X["level"].cat.rename_categories({"a": "north", "b": "south"})
    X["almost"] = X["plain"].copy()
    X.loc[5, "almost"] += 1.0
    X["name"] = [f"row {i}" for i in range(n)]
    return X


def notes_of(frame, y=None):
    return data_notes(Explainer(lambda r: r["plain"].to_numpy(), frame, y=y).study)


def test_columns_that_are_odd_are_named(frame):
    found = notes_of(frame)
    share = float(frame["gone"].isna().mean())
    assert found.missing == (("nothing", 1.0), ("gone", share))
    assert found.constant == ("always", "nothing")
    assert found.copies == (("plain", "copy"), ("level", "renamed"))
    assert found.perfect == ()


def test_a_column_that_knows_the_target_is_suspicious(frame):
    rng = np.random.default_rng(1)
    y = frame["plain"].to_numpy() * 3 + 0.1 * rng.normal(size=len(frame))
    found = notes_of(frame[["plain", "level", "name"]], y)
    assert [name for name, _ in found.perfect] == ["plain"]
    assert found.perfect[0][1] == pytest.approx(1.0, abs=0.05)
    noisy = y + 2.0 * rng.normal(size=len(frame))
    assert notes_of(frame[["plain", "level", "name"]], noisy).perfect == ()


def test_a_name_in_every_row_foretells_nothing(frame):
    y = np.random.default_rng(2).normal(size=len(frame))
    assert notes_of(frame[["plain", "name"]], y).perfect == ()


def test_copies_in_a_sample_are_confirmed_on_all_rows(monkeypatch):
    from icefield.statistics import data_notes as module

    X = pd.DataFrame({"plain": np.arange(300.0), "same": np.arange(300.0), "differs": np.arange(300.0)})
    X.loc[299, "differs"] = -1.0
    monkeypatch.setattr(module, "PREDICTION_ROWS", 20)
    study = Explainer(lambda r: r["plain"].to_numpy(), X).study
    monkeypatch.setattr(module, "choose_rows", lambda *_: type("Chosen", (), {"positions": np.arange(20)}))
    assert data_notes(study).copies == (("plain", "same"),)


def test_nothing_odd_is_nothing(frame):
    assert not notes_of(frame[["plain", "level"]])
