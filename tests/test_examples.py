"""The examples run and show the numbers they promise."""

from __future__ import annotations

import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"


@pytest.fixture(scope="module")
def titanic():
    """What the example returns; it prints as well, which the test of the script looks at."""
    return runpy.run_path(str(EXAMPLES / "titanic.py"))["main"]()


def test_titanic_ages_are_the_numbers_of_the_loop_over_predict(titanic):
    effect, loop = titanic["age"]
    assert effect.grid[0].tolist() == list(range(0, 70, 5))
    np.testing.assert_allclose(effect.average[0], loop, rtol=0, atol=1e-13)
    assert effect.scale_label == "probability"
    assert ((effect.average > 0) & (effect.average < 1)).all()


def test_titanic_sex_is_a_category_and_women_survive(titanic):
    effect, loop = titanic["sex"]
    assert effect.kinds == ("categorical",)
    assert effect.grid[0].tolist() == ["female", "male"]
    np.testing.assert_allclose(effect.average[0], loop, rtol=0, atol=1e-13)
    assert loop[0] > loop[1] + 0.2


def test_titanic_children_survive_more_often(titanic):
    effect, _ = titanic["age"]
    assert effect.average[0, 0] > effect.average[0, -1]


def test_titanic_as_a_script_prints_both_tables(tmp_path):
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / "titanic.py")],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert "by age" in done.stdout
    assert "by sex" in done.stdout
    assert "female" in done.stdout
    assert "by_hand" in done.stdout


@pytest.mark.parametrize("framework", ["numpy", "jax", "keras"])
def test_callables_of_other_frameworks(framework):
    pytest.importorskip(framework, reason=f"{framework} is not installed")
    effect = runpy.run_path(str(EXAMPLES / "callables.py"))[f"with_{framework}"]()
    assert effect.average.shape == (1, effect.grid[0].size)
    assert np.ptp(effect.average) > 0.1


@pytest.mark.look
@pytest.mark.parametrize(
    ("kinds", "expected"),
    [
        (("iris", "classes", "grey"), ["iris_classes.png", "iris_classes_grey.png"]),
        (("cases", "log", "sixty", "dark"), [
            "cases_log.png", "cases_log_dark.png", "cases_sixty.png", "cases_sixty_dark.png",
        ]),
        (("titanic", "importance", "pd_ale", "interactions"), [
            "titanic_importance.png", "titanic_interactions.png", "titanic_pd_ale.png",
        ]),
    ],
    ids=["looks", "hard cases", "summaries"],
)  # fmt: skip
def test_the_gallery_writes_pictures(kinds, expected, tmp_path):
    runpy.run_path(str(EXAMPLES / "gallery.py"))["main"](tmp_path, list(kinds))
    assert sorted(path.name for path in tmp_path.glob("*.png")) == sorted(expected)
    assert len(list(tmp_path.glob("*.html"))) == len({name.split("_")[1].split(".")[0] for name in expected})


@pytest.mark.look
def test_peers_that_are_not_installed_are_named_and_left_out(tmp_path, monkeypatch, capsys):
    for module in ("effector", "pdpbox.pdp"):
        monkeypatch.setitem(sys.modules, module, None)
    written = runpy.run_path(str(EXAMPLES / "beside_others.py"))["main"](tmp_path)
    assert written == [
        f"beside_{what}_{name}" for name in ("icefield", "sklearn") for what in ("average", "rows")
    ]
    assert all((tmp_path / f"{name}.png").stat().st_size > 2000 for name in written)
    said = capsys.readouterr().out
    assert "effector is left out" in said
    assert "pdpbox is left out" in said
