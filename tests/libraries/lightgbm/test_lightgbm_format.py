"""LightGBM's text taken apart: header, trees, ends, and what stands around them."""

from __future__ import annotations

import numpy as np
import pytest

from icefield.libraries.lightgbm.format import blocks, header_of, numbers, objective_words, parse

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


def test_a_boosters_own_header() -> None:
    lightgbm = pytest.importorskip("lightgbm")
    data = lightgbm.Dataset(np.random.default_rng(0).normal(size=(60, 2)), np.arange(60) % 2)
    booster = lightgbm.train({"objective": "binary", "verbose": -1, "num_threads": 1}, data, 3)
    assert header_of(booster)["feature_names"] == "Column_0 Column_1"
    assert objective_words(booster) == ["binary", "sigmoid:1"]
