"""Result tables: readable in a terminal and a notebook, frames in the caller's library, drawable."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from icefield import Explainer
from icefield.statistics.tables import ResultTable, cell_text

mpl.use("Agg")


def table(**columns):
    return ResultTable({k: np.asarray(v) for k, v in columns.items()}, "a title", ("a note",), "pandas")


def test_prints_title_columns_and_notes():
    text = repr(table(feature=np.array(["age", "fare"], dtype=object), importance=[0.123456, 12.0]))
    lines = text.splitlines()
    assert lines[0] == "a title"
    assert "feature" in lines[1]
    assert "0.1235" in text
    assert lines[-1].strip() == "a note"


def test_hostile_names_are_text_only():
    nasty = np.array(["<script>alert(1)</script>", "[red]x[/red]", "line\nbreak"], dtype=object)
    found = table(feature=nasty, value=[1.0, 2.0, 3.0])
    assert "[red]x[/red]" in repr(found)
    assert "<script>" not in found._repr_html_()
    assert "&lt;script&gt;" in found._repr_html_()
    assert "line break" in repr(found)


def test_long_tables_are_cut_and_say_so():
    found = table(feature=np.arange(100), value=np.arange(100.0))
    assert "and 70 more rows" in repr(found)
    assert len(found.to_frame()) == 100
    assert len(found) == 100


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "–"), (float("nan"), "–"), (True, "yes"), (1.5, "1.5"), ((1, "a"), "1, a"), ("", "–")],
)
def test_cells(value, text):
    assert cell_text(value) == text


@pytest.mark.parametrize(
    ("library", "kind"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame), ("pyarrow", pa.Table)]
)
def test_frames_come_in_the_callers_library(rng, library, kind):
    frame = pd.DataFrame(rng.normal(size=(60, 3)), columns=list("abc"))
    given = {"pandas": frame, "polars": pl.DataFrame(frame), "pyarrow": pa.Table.from_pandas(frame)}[library]

    def model(rows):
        columns = [np.asarray(rows[name]) for name in "abc"]
        return columns[0] * np.sign(columns[1]) + columns[2]

    ex = Explainer(model, given, y=np.zeros(60))
    for found in (ex.importance(), ex.interactions(), ex.regions("a"), ex.conditional("a"), ex.summary()):
        made = found.to_frame()
        assert isinstance(made, kind)
        assert (made.num_rows if library == "pyarrow" else len(made)) == len(found)
        assert found._repr_html_()


def test_tables_draw_themselves(rng):
    import matplotlib.pyplot as plt

    X = rng.normal(size=(80, 3))
    ex = Explainer(lambda r: r[:, 0] * np.sign(r[:, 1]) + r[:, 2], X, y=X[:, 2])
    for found in (ex.importance(), ex.interactions(), ex.regions(0), ex.conditional(0), ex.summary()):
        assert found.plot() is not None
        plt.close("all")


def test_a_plain_table_has_no_picture():
    with pytest.raises(TypeError, match="no picture"):
        table(value=[1.0]).plot()
