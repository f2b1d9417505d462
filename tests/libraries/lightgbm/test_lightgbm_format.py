"""LightGBM's text taken apart: header, trees, ends, and what stands around them."""

from __future__ import annotations

import numpy as np
import pytest

from icefield.libraries.lightgbm import format as form
from icefield.libraries.lightgbm.format import blocks, header_of, model_text, numbers, objective_words, parse

TEXT = """tree
version=v4
objective=binary sigmoid:1
average_output
feature_names=a b=c

Tree=0
num_leaves=2
left_child=-1
threshold=0.5

Tree=1
num_leaves=1
left_child=

end of trees

feature_importances:
left_child=7
"""


def test_header_and_trees() -> None:
    model = parse(TEXT)
    assert model.first_line == "tree"
    assert model.header == {
        "version": "v4",
        "objective": "binary sigmoid:1",
        "average_output": "",
        "feature_names": "a b=c",
    }
    assert model.ended
    assert list(model.trees()) == [
        {"num_leaves": "2", "left_child": "-1", "threshold": "0.5"},
        {"num_leaves": "1", "left_child": ""},
    ]


def test_a_text_that_breaks_off_keeps_what_there_is() -> None:
    model = parse(TEXT[: TEXT.index("threshold")])
    assert not model.ended
    assert list(model.trees()) == [{"num_leaves": "2", "left_child": "-1"}]


def test_parts_behind_the_end_are_seen_by_who_checks_files() -> None:
    assert [part.get("left_child") for part in blocks(TEXT)] == [None, "-1", "", "7"]


def test_a_tree_that_says_nothing_is_still_a_tree() -> None:
    assert list(parse("tree\n\nTree=0\n\nTree=1\n\nend of trees\n").trees()) == [{}, {}]


def test_a_text_without_trees() -> None:
    model = parse("tree\nversion=v4\n")
    assert (model.header["version"], model.body, list(model.trees())) == ("v4", "", [])


def test_only_line_feeds_end_a_line() -> None:
    # Names may hold what Python counts as an end of line, and LightGBM does not.
    assert parse("tree\nfeature_names=a\x85b\u2028c\n\nTree=0\n").header["feature_names"] == "a\x85b\u2028c"


def test_numbers_of_one_tree_after_another() -> None:
    assert numbers(["1 2", "", "3"], np.int64).tolist() == [1, 2, 3]
    assert numbers([], np.float64).shape == (0,)


def test_numbers_are_read_as_python_reads_them() -> None:
    words = ["0.1", "-1.5e-300", "1e22", "123456789012345678901234567890", "-0", "5e-324", "inf", "1e-07"]
    assert numbers([" ".join(words)], np.float64).tolist() == [float(word) for word in words]
    assert numbers(["4294967295 0"], np.uint32).tolist() == [4294967295, 0]
    assert numbers(["9007199254740993"], np.int64).tolist() == [9007199254740993]
    assert numbers(["1  2 "], np.int64).tolist() == [1, 2]


@pytest.mark.parametrize("text", ["1.5", "1 x", "1  2 y", "nan"])
def test_what_is_no_whole_number_is_an_error(text: str) -> None:
    with pytest.raises(ValueError, match="invalid literal"):
        numbers([text], np.int64)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("best", [-1, 17])
def test_a_model_in_parts_is_the_model_at_once(
    monkeypatch: pytest.MonkeyPatch, classes: int, best: int
) -> None:
    lightgbm = pytest.importorskip("lightgbm")
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=300), rng.integers(0, 5, 300)])
    data = lightgbm.Dataset(X, np.arange(300) % classes, categorical_feature=[1])
    settings = {
        "objective": "multiclass",
        "num_class": classes,
        "verbose": -1,
        "num_threads": 1,
        "num_leaves": 7,
    }
    booster = lightgbm.train(settings, data, 40)
    booster.best_iteration = best
    whole = parse(booster.model_to_string())
    asked = []

    def counted(**which: int) -> str:
        asked.append(which)
        return type(booster).model_to_string(booster, **which)

    monkeypatch.setattr(booster, "model_to_string", counted)
    assert list(model_text(booster).trees()) == list(whole.trees())
    assert asked == [{"num_iteration": 1}, {}]  # a small one is written at once
    monkeypatch.setattr(form, "BUFFER", 2**13)
    asked.clear()
    parts = model_text(booster)
    assert len(asked) > 3
    assert list(parts.trees()) == list(whole.trees())
    assert len(list(parts.trees())) == classes * (40 if best < 0 else best)
    assert parts.ended
    assert {**parts.header, "tree_sizes": ""} == {**whole.header, "tree_sizes": ""}


def test_a_model_that_breaks_off_in_a_part_has_not_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    lightgbm = pytest.importorskip("lightgbm")
    data = lightgbm.Dataset(np.random.default_rng(0).normal(size=(60, 2)), np.arange(60.0))
    booster = lightgbm.train({"verbose": -1, "num_threads": 1}, data, 5)
    own = booster.model_to_string
    monkeypatch.setattr(form, "BUFFER", 2**9)
    monkeypatch.setattr(
        booster, "model_to_string",
        lambda **which: own(**which).replace("end of trees", "" if which.get("start_iteration") == 4 else "end of trees"),
    )  # fmt: skip
    assert not model_text(booster).ended


def test_a_header_that_is_long_is_written_once(monkeypatch: pytest.MonkeyPatch) -> None:
    lightgbm = pytest.importorskip("lightgbm")
    data = lightgbm.Dataset(np.random.default_rng(0).normal(size=(60, 2)), np.arange(60.0))
    booster = lightgbm.train({"verbose": -1, "num_threads": 1}, data, 5)
    whole = parse(booster.model_to_string())
    monkeypatch.setattr(form, "BUFFER", 2**9)
    monkeypatch.setattr(form, "LARGEST_HEADER", 10)
    assert model_text(booster) == whole


def test_a_boosters_own_header() -> None:
    lightgbm = pytest.importorskip("lightgbm")
    data = lightgbm.Dataset(np.random.default_rng(0).normal(size=(60, 2)), np.arange(60) % 2)
    booster = lightgbm.train({"objective": "binary", "verbose": -1, "num_threads": 1}, data, 3)
    assert header_of(booster)["feature_names"] == "Column_0 Column_1"
    assert objective_words(booster) == ["binary", "sigmoid:1"]
