"""Arguments are checked at every call: a wrong one is an error by name, never a crash."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from icefield import kernels
from icefield.kernels import Given
from icefield.kernels.calling import Array, Kernel, Structure


def survey(**changed):
    arrays = {
        "node_left": np.array([1, -1, -1], np.int32),
        "node_right": np.array([2, -1, -1], np.int32),
        "roots": np.zeros(1, np.int32),
        "depth": np.zeros(3, np.int32),
        "leaves": np.zeros(3, np.int32),
    }
    arrays.update(changed)
    return kernels.survey(**{name: value for name, value in arrays.items() if value is not ...})


def read_only(array: np.ndarray) -> np.ndarray:
    array.setflags(write=False)
    return array


def test_fitting_arguments_are_taken():
    assert survey() is True
    assert survey(roots=read_only(np.zeros(1, np.int32)))  # only looked at


@pytest.mark.parametrize(
    ("changed", "error", "said"),
    [
        ({"depth": np.zeros(3, np.int64)}, TypeError, "SurveyArguments.depth must be an array of int32"),
        ({"depth": np.zeros((3, 1), np.int32)}, TypeError, "with 1 axes, got one of int32 with 2"),
        ({"depth": [0, 0, 0]}, TypeError, "got list"),
        ({"depth": np.zeros(6, np.int32)[::2]}, TypeError, "must be contiguous and writeable"),
        ({"depth": read_only(np.zeros(3, np.int32))}, TypeError, "must be contiguous and writeable"),
        ({"roots": np.zeros(2, np.int32)[::-1]}, TypeError, "must be contiguous$"),
        ({"depth": np.zeros(4, np.int32)}, ValueError, "depth has nodes = 4, where others have 3"),
        ({"depth": ...}, TypeError, "missing 1 required keyword-only argument: 'depth'"),
        ({"colour": 1}, TypeError, "unexpected keyword argument 'colour'"),
    ],
)
def test_wrong_arguments_are_named(changed, error, said):
    with pytest.raises(error, match=said):
        survey(**changed)


def test_a_structure_of_another_kind_is_refused():
    leaves = kernels.Leaves(output=np.zeros(2, np.int32), value=np.zeros((2, 1)))
    with pytest.raises(TypeError, match="regions must be a RegionsOfAxes"):
        kernels.count_updates(
            regions=leaves, path_start=np.zeros(3, np.int32), path_group=np.zeros(0, np.int32),
            path_region=np.zeros(0, np.int32), update_start=np.zeros(3, np.int64),
        )  # fmt: skip
    with pytest.raises(TypeError, match="sizes must be a PlanSizes to fill"):
        kernels.measure_plan(question=_no_trees(), sizes=leaves)


def test_a_structure_to_fill_is_filled():
    sizes = kernels.plan_sizes()
    assert kernels.measure_plan(question=_no_trees(), sizes=sizes)
    assert sizes.buffers == 1


def test_a_size_given_as_a_number_must_be_that_number():
    sides = Structure("One", (Array("sides", np.dtype(np.uint8), (("rows", 0), ("", 4))),))
    with pytest.raises(ValueError, match="must have 4 along an axis that has 3"):
        Given(sides, {"sides": np.zeros((2, 3), np.uint8)})


def _no_trees() -> Given:
    none = np.zeros(0, np.int32)
    return kernels.PlanQuestion(
        scatter=False, mode=kernels.JOINT, roots=none, node_condition=none, node_left=none, node_right=none,
        condition_group=none, condition_row=none, apart=np.zeros(0, np.uint8), asked=np.zeros((0, 0), np.uint8),
        max_depth=0, max_groups=0,
    )  # fmt: skip


def test_strides_must_be_whole_elements():
    raw = np.zeros(100, np.uint8)
    skewed = np.ndarray((2, 2), np.float64, raw, 0, (12, 8))
    matrix = Array("matrix", skewed.dtype, (("a", 0), ("b", 0)), has_strides=True)
    with pytest.raises(TypeError, match="strides of whole elements"):
        Given(Structure("One", (matrix,)), {"matrix": skewed})


def test_a_status_is_told_apart(monkeypatch):
    kernel = Kernel("anything", Structure("AnythingArguments", ()))
    status = kernels.DONE
    monkeypatch.setitem(kernel.__dict__, "_function", lambda words: status)
    assert kernel({}) is True
    status = kernels.STOPPED
    assert kernel({}) is False
    status = kernels.NO_MEMORY
    with pytest.raises(MemoryError, match="'anything' got no memory"):
        kernel({})
    status = kernels.TOO_LARGE
    with pytest.raises(OverflowError, match="'anything' met a number that does not fit 32 bits"):
        kernel({})


def test_members_that_travel_point_to_arrays_of_their_own():
    given = kernels.Leaves(output=np.zeros(3, np.int32), value=np.arange(3.0)[:, None])
    found = pickle.loads(pickle.dumps(given))
    np.testing.assert_array_equal(found.values["value"], given.values["value"])
    addresses = [found.values[name].__array_interface__["data"][0] for name in ("output", "value")]
    assert [found.words[0], found.words[2]] == addresses
    assert set(addresses).isdisjoint(given.words)
    assert type(found) is kernels.Leaves
