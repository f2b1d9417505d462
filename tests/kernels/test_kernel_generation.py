"""The header is read right, and what the build writes from it is what is committed."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from icefield import kernels
from icefield.kernels import _abi, generation, loading

HEADER = """
constexpr i64 SOME = -3;  // why

struct Pair {
    i32 one;  // a comment
    i32 two;
};

struct Inner {
    i64 number;
    Table<const u8> flags;  // [rows, 4]
};

template <class T>
struct DoItArguments {
    Inner inner;
    // a comment on the next
    Inner* filled;
    Strided<T> matrix;       // [rows + 1, columns]
    List<const Pair> pairs;  // [pairs]
    f64 limit;
};
"""


def test_members_have_their_offsets():
    read = generation.declared(HEADER)
    assert read.constants == {"SOME": -3}
    assert list(read.kernels) == ["do_it"]
    do_it = read.kernels["do_it"]
    assert do_it.parameter == "T"
    assert do_it.offsets == {"inner": 0, "filled": 32, "matrix": 40, "pairs": 80, "limit": 96}
    assert do_it.size == 104
    assert do_it.members[2].shape == (("rows", 1), ("columns", 0))
    assert not do_it.members[2].is_const
    assert read.structures["Pair"].is_record
    assert read.structures["Pair"].offsets == {"one": 0, "two": 4}


@pytest.mark.parametrize(
    "line", ["int odd;", "List<i32> unnamed;", "Table<i32> short;  // [one]", "Other* missing;", "i32 a, b;"]
)
def test_a_member_that_cannot_be_read_is_an_error(line):
    with pytest.raises(ValueError):
        generation.declared(f"struct One {{\n    {line}\n}};")


def test_the_interface_is_the_one_the_header_gives():
    written = generation.python_interface()
    with open(_abi.__file__, encoding="utf-8") as file:
        assert file.read() == written, "run `python build_kernels.py` and commit _abi.py"


def test_both_stamps_of_the_sources_are_the_same():
    assert loading.source_stamp() in (None, generation.source_stamp())


def test_every_declared_kernel_is_a_function_of_its_name():
    declared = generation.read()
    assert len(declared.kernels) > 30
    for name, structure in declared.kernels.items():
        asked = getattr(kernels, name).__kwdefaults__, getattr(kernels, name).__annotations__
        assert asked[0] is None
        assert [*asked[1]] == [*(member.name for member in structure.members), "return"]


def test_records_are_laid_out_as_the_compiler_has_them():
    for name, structure in generation.read().structures.items():
        if not structure.is_record:
            continue
        dtype = getattr(kernels, {"RoutingRule": "ROUTING_RULE", "Node": "NODE"}[name])
        assert dtype.itemsize == structure.size
        assert {field: dtype.fields[field][1] for field in dtype.names} == structure.offsets


def test_the_type_of_the_matrix_chooses_the_instance():
    # 0.1 as f32 is above 0.1: read as f64 from the wrong instance it would be something else altogether.
    for dtype in (np.float64, np.float32):
        values = np.linspace(0.0, 1.0, 300, dtype=dtype)[:, None]
        kept, known = np.empty((2, 300)), np.empty(1, np.uint8)
        kernels.look_together(
            matrix=values, drawn=np.arange(3), probabilities=np.array([0.0, 1.0]), kept=kept, sample=np.empty((1, 3)),
            known=known, at_ranks=np.empty((1, 2)), edges=np.empty((1, 11)), counts=np.empty((1, 10)),
            grid=np.empty((1, 5)), nearest=np.empty((1, 5)), sizes=np.empty(1, np.int64), first_of_grid=0, further=0,
            starts=np.empty((1, 4097), np.int32), ends=np.empty((1, 2)), missing=np.empty(1, np.int64),
        )  # fmt: skip
        assert known[0]
        np.testing.assert_array_equal(np.sort(kept[1]), values[:, 0].astype(np.float64))


@pytest.mark.other_processes
def test_importing_reads_no_header():
    code = "import sys, icefield.kernels; print('icefield.kernels.generation' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == "False"
