"""What a notebook shows: cells run in a real Jupyter kernel, and their outputs are looked at."""

from __future__ import annotations

import base64
import os
import re
import struct
import sys
from pathlib import Path
from typing import Any

import pytest

from optional import imported_later

imported_later("ipykernel", reason="ipykernel is not installed: make test-look installs it")
nbformat = imported_later("nbformat", reason="nbformat is not installed")
nbclient = imported_later("nbclient", reason="nbclient is not installed")

pytestmark = [
    pytest.mark.look,
    pytest.mark.other_processes,
    pytest.mark.filterwarnings("ignore"),  # Jupyter's libraries warn of their own futures
]

CELLS = {
    "imports": """
        %matplotlib inline
        import numpy as np
        import pandas as pd
        import icefield
        from sklearn.ensemble import RandomForestRegressor
        rng = np.random.default_rng(0)
        X = pd.DataFrame({"size": rng.uniform(20, 200, 300), "age": rng.uniform(0, 80, 300), "town": rng.choice([0.0, 1.0], 300)})
        y = X["size"] * (1 + X["town"]) - X["age"]
        ex = icefield.Explainer(RandomForestRegressor(20, random_state=0).fit(X, y), X, y)""",
    "card": "ex",
    "effect": "ex.partial_dependence('size')",
    "table": "ex.importance()",
    "summary": "ex.summary()",
    "regions": "ex.regions('size').plot()",
    "axes": "ex.partial_dependence('age').plot()",
    "effects": "ex.effects()",
    "effects_plot": "ex.effects().plot()",
    "effects_kept": "kept = ex.effects().plot();",
    "shown_later": "kept",
    "slow": """
        from icefield import progress
        progress.PATIENCE = -1.0
        slow = icefield.Explainer(lambda rows: rows['size'].to_numpy(), X, engine='brute').effects(grid=5)
        progress.PATIENCE = 1.0""",
    "names": "[name for name in dir(ex) if not name.startswith('_')]",
}


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Any]]:
    """The outputs of every cell, by its name, from one kernel of this Python."""
    folder = tmp_path_factory.mktemp("kernel")
    kernel = folder / "kernels" / "this"
    kernel.mkdir(parents=True)
    (kernel / "kernel.json").write_text(
        f'{{"argv": ["{sys.executable}", "-m", "ipykernel_launcher", "-f", "{{connection_file}}"], '
        '"display_name": "this", "language": "python"}',
        encoding="utf-8",
    )
    cells = [nbformat.v4.new_code_cell(dedented(code)) for code in CELLS.values()]
    book = nbformat.v4.new_notebook(cells=cells)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JUPYTER_PATH", str(folder))
        patch.setenv("IPYTHONDIR", str(folder / "ipython"))
        patch.setenv("PYTHONPATH", os.pathsep.join(path for path in sys.path if path))
        client = nbclient.NotebookClient(book, timeout=120, kernel_name="this")
        client.execute(cwd=str(folder))
    return {name: cell["outputs"] for name, cell in zip(CELLS, book["cells"])}


def dedented(code: str) -> str:
    return re.sub(r"^ {8}", "", code.strip("\n"), flags=re.M).strip()


def pictures(shown: list[Any]) -> list[bytes]:
    """The PNGs among outputs."""
    return [base64.b64decode(out["data"]["image/png"]) for out in shown if "image/png" in out.get("data", {})]


def html(shown: list[Any]) -> str:
    return "".join(out.get("data", {}).get("text/html", "") for out in shown)


def errors(shown: list[Any]) -> str:
    return "".join(out["text"] for out in shown if out["output_type"] == "stream" and out["name"] == "stderr")


def test_nothing_is_said_on_stderr(outputs: dict[str, list[Any]]) -> None:
    assert {name: errors(shown) for name, shown in outputs.items() if errors(shown)} == {}


@pytest.mark.parametrize("name", ["table", "summary", "card", "effect", "effects"])
def test_a_result_is_one_output_with_a_table(outputs: dict[str, list[Any]], name: str) -> None:
    shown = outputs[name]
    assert [out["output_type"] for out in shown] == ["execute_result"]
    assert "<thead>" in html(shown)
    assert "size" in html(shown)


@pytest.mark.parametrize(
    ("name", "count"),
    [("regions", 1), ("axes", 1), ("effects_plot", 1), ("effects_kept", 1), ("shown_later", 1)],
)
def test_a_picture_is_shown_once(outputs: dict[str, list[Any]], name: str, count: int) -> None:
    assert len(pictures(outputs[name])) == count


def test_an_explainer_is_a_card_with_curves_and_next_calls(outputs: dict[str, list[Any]]) -> None:
    card = html(outputs["card"])
    assert card.count("<svg") == 3
    assert card.index(">size<") < card.index(">age<")  # the strongest first
    assert "ex.partial_dependence(&#x27;size&#x27;).plot()" in card
    assert "ex.report(" in card


def test_an_effect_has_its_picture_and_its_table(outputs: dict[str, list[Any]]) -> None:
    found = re.search(r'src="data:image/png;base64,([^"]+)"', html(outputs["effect"]))
    assert found is not None
    width, height = struct.unpack(">II", base64.b64decode(found[1])[16:24])
    assert width > 300
    assert height > 200
    assert pictures(outputs["effect"]) == []  # no second one


def test_effects_do_not_dump_pages(outputs: dict[str, list[Any]]) -> None:
    (shown,) = outputs["effects"]
    assert len(shown["data"]["text/plain"].splitlines()) <= 6
    assert html(outputs["effects"]).count("<svg") == 3


def test_progress_is_a_bar_without_widgets_that_goes(outputs: dict[str, list[Any]]) -> None:
    text = str(outputs["slow"])
    assert "ipywidgets" not in text
    assert html(outputs["slow"]) == ""  # the bar was there, and is gone
    assert len(outputs["slow"]) >= 1


def test_completion_offers_questions(outputs: dict[str, list[Any]]) -> None:
    names = outputs["names"][0]["data"]["text/plain"]
    assert "partial_dependence" in names
    assert "study" not in names


def test_a_notebook_becomes_a_page(outputs: dict[str, list[Any]], monkeypatch: pytest.MonkeyPatch) -> None:
    """`nbconvert --to html` keeps cards, tables and pictures."""
    nbconvert = pytest.importorskip("nbconvert", reason="nbconvert is not installed")
    cells = [
        nbformat.v4.new_code_cell(CELLS[name], outputs=outputs[name])
        for name in ("card", "effect", "regions")
    ]
    # Its templates lie beside the packages, wherever these are.
    monkeypatch.setenv("JUPYTER_PATH", str(Path(nbconvert.__file__).parents[4] / "share" / "jupyter"))
    try:
        page, _ = nbconvert.HTMLExporter().from_notebook_node(nbformat.v4.new_notebook(cells=cells))
    except ValueError as error:
        pytest.skip(f"nbconvert's templates are not where it looks: {str(error)[:60]}")
    assert page.count("<svg") >= 3
    assert "icefield-picture" in page
    assert page.count("<img") >= 2
