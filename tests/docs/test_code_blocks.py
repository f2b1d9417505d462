"""Every code block on every page is run: by the tests, by the build of the site, or it is listed here with the reason."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    path for path in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")] if "generated" not in path.parts
)
FENCE = re.compile(r"^(?P<fence>`{3,}|:{3,})(?P<kind>[^\n`]*)\n(?P<body>.*?)^(?P=fence)[ \t]*$", re.M | re.S)

# Blocks that are run by nobody, by page and their first words, and why.
NOT_RUN = {
    "CONTRIBUTING.md": {
        "make test": "targets of the Makefile, which the workflows run",
        "python -m venv .venv": "PowerShell on Windows",
        "# pyproject.toml": "installed, with the blocks after it, by tests/libraries/test_registry.py",
    },
    "README.md": {"make demo": "targets of the Makefile, which the workflows run"},
    "docs/architecture.md": {"┌──": "a drawing"},
    "docs/cli.md": {
        "icefield report MODEL DATA": "the commands' usage; the commands are run in tests/cli",
        "icefield change model.skops": "run, with other files, by tests/cli/test_refitting.py",
        'eval "$(_ICEFIELD_COMPLETE': "completion for the shell that reads it",
    },
    "docs/contracts.md": {"# .github/workflows/model.yml": "a workflow; the command is run in tests/audit"},
    "docs/clusters.md": {
        "import lightgbm as lgb": "run by tests/rows/distributed/test_page.py (make test-cluster), as all of the page",
        "ex = Explainer(model, X, by=": "run by tests/rows/distributed/test_page.py (make test-cluster), with real engines",
        "python -m venv packed": "packs an environment for a cluster's own machines",
    },
    "docs/mlflow.md": {
        "import mlflow": "run by tests/stores/test_pages.py (make test-stores), with a real server",
        "result = mlflow.models.evaluate(": "run by tests/stores/test_pages.py (make test-stores), with a real server",
    },
    "docs/stores.md": {
        "from icefield import Explainer": "run by tests/stores/test_pages.py (make test-stores), as all of the page",
        "options = {": "run by tests/stores/test_pages.py (make test-stores), with a real server",
        "from deltalake import DeltaTable": "run by tests/stores/test_pages.py (make test-stores), on a real table",
        "history = iceberg_table.history()": "run by tests/stores/test_pages.py (make test-stores), on a real table",
        "record = ex.record()": "run by tests/stores/test_pages.py (make test-stores)",
    },
    "docs/explorer.md": {
        "ex.explore()": "opens the explorer; tests/explore does, in a browser and in notebooks",
        "icefield serve": "serves until interrupted; tests/explore does",
        'ex.report("report.html", live=True)': "run by tests/report/test_live.py",
    },
    "docs/tutorials/explorer.md": {
        "ex.serve()": "serves until interrupted; tests/explore does",
    },
    "docs/start.md": {
        "pip install .": "installs what is being tested",
        "icefield report model.txt": "run by docs/gallery/4_what_matters/plot_31_report_from_the_shell.py",
    },
}
# Directives that hold no code.
WORDS = {
    "{toctree}", "{grid}", "{grid-item-card}", "{include}", "{report}", "{decision}", "{measured}",
    "{literalinclude}",
}  # fmt: skip


class Block(NamedTuple):
    page: str
    kind: str
    body: str

    @property
    def run_by_the_build(self) -> bool:
        return self.kind.startswith("{run}")

    @property
    def run_as_doctest(self) -> bool:
        return self.kind == "python" and ">>>" in self.body

    @property
    def plain_python(self) -> bool:
        return self.kind == "python" and ">>>" not in self.body


def blocks() -> list[Block]:
    found = []
    for path in PAGES:
        page = path.relative_to(ROOT).as_posix()
        for match in FENCE.finditer(path.read_text(encoding="utf-8")):
            kind = match["kind"].strip()
            if kind.split(" ")[0] not in WORDS:
                found.append(Block(page, kind, match["body"]))
    return found


def neither_run_nor_listed(block: Block) -> bool:
    if block.run_by_the_build or block.run_as_doctest or block.plain_python:
        return False
    return not any(first in block.body[:400] for first in NOT_RUN.get(block.page, {}))


def test_every_block_is_run_or_listed() -> None:
    unknown = [f"{b.page}: {b.kind!r} {b.body[:60]!r}" for b in blocks() if neither_run_nor_listed(b)]
    assert not unknown, "neither run nor listed:\n" + "\n".join(unknown)


def test_what_is_listed_is_there(record_property: Any) -> None:
    found = blocks()
    for page, reasons in NOT_RUN.items():
        for first, reason in reasons.items():
            assert any(b.page == page and first in b.body for b in found), f"{page} has no block {first!r}"
            record_property("printed", f"not run: {page}, {first!r}: {reason}")


def test_programs_of_other_libraries_were_run_once_and_kept_what_they_got(record_property: Any) -> None:
    """They need libraries that are not installed with the site's; each ran in an environment of its own."""
    folder = ROOT / "docs" / "coming-from" / "peers"
    included = {
        name
        for path in PAGES
        for name in re.findall(r"{literalinclude} peers/(\w+\.(?:py|R))", path.read_text(encoding="utf-8"))
    }
    assert len(included) >= 7
    for name in sorted(included):
        kept = json.loads((folder / name).with_suffix(".json").read_text(encoding="utf-8"))
        assert (folder / name).exists()
        assert kept["versions"]
        record_property("printed", f"run once, on {kept['date']}: peers/{name} with {kept['versions']}")


def test_a_block_that_nobody_runs_would_be_found() -> None:
    text = "```sh\nrm -r everything\n```\n"
    match = FENCE.search(text)
    assert match is not None
    block = Block("docs/new.md", match["kind"], match["body"])
    assert neither_run_nor_listed(block)


# --- blocks of plain Python, with what their pages take for given --------------------------------------


@pytest.fixture(scope="module")
def given() -> dict[str, Any]:
    """A fitted model, its data and everything else that snippets speak of."""
    from sklearn.ensemble import RandomForestRegressor

    import icefield

    rng = np.random.default_rng(0)
    n = 200
    X = pd.DataFrame({
        "age": rng.integers(18, 80, n), "fare": rng.lognormal(3, 0.5, n), "sex": rng.integers(0, 2, n),
        "temp": rng.normal(15, 8, n), "origin": rng.integers(0, 3, n), "hr": rng.integers(0, 24, n),
        "season": rng.integers(1, 3, n), "plan": rng.integers(1, 3, n), "workingday": rng.integers(0, 2, n),
    })  # fmt: skip
    y = X["age"] * 0.1 + X["temp"] * X["sex"] + rng.normal(0, 0.1, n)
    model = RandomForestRegressor(8, max_depth=4, random_state=0).fit(X, y)
    other = RandomForestRegressor(8, max_depth=2, random_state=1).fit(X, y)
    ex = icefield.Explainer(model, X, y=y)
    return {
        "icefield": icefield, "model": model, "X": X, "y": y, "ex": ex, "ex1": ex, "np": np, "pd": pd,
        "ex2": icefield.Explainer(other, X),
    }  # fmt: skip


PLAIN = [block for block in blocks() if block.plain_python]


@pytest.mark.parametrize("block", PLAIN, ids=lambda b: f"{b.page}:{b.body.split(chr(10))[0][:40]}")
def test_plain_python_runs(block: Block, given: dict[str, Any], tmp_path: Path, monkeypatch: Any) -> None:
    import matplotlib.pyplot as plt

    monkeypatch.chdir(tmp_path)
    for folder in ("flights", "rentals"):
        (tmp_path / folder).mkdir()
        given["X"].to_parquet(tmp_path / folder / "1.parquet")
    try:
        exec(compile(block.body, block.page, "exec"), dict(given))
    finally:
        plt.close("all")
