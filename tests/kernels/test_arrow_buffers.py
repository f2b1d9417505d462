"""Whole numbers through Arrow's C interface, against what the libraries give themselves."""

import numpy as np
import pytest

from icefield.kernels.arrow_buffers import whole_numbers

polars = pytest.importorskip("polars")
pyarrow = pytest.importorskip("pyarrow")
DRAW = np.random.default_rng(0)
DTYPES = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")


def check(column, values, gone):
    found, missing = whole_numbers(column)
    np.testing.assert_array_equal(missing, gone)
    np.testing.assert_array_equal(found[~missing], np.asarray(values)[~np.asarray(gone, bool)])
    assert found.flags.owndata
    assert found.flags.writeable


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("gaps", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("size", [0, 1, 7, 64, 1000])
def test_numbers_with_gaps_slices_and_chunks(dtype, gaps, size):
    limits = np.iinfo(dtype)
    values = DRAW.integers(limits.min, limits.max, size, dtype=dtype, endpoint=True)
    gone = DRAW.random(size) < gaps
    whole = pyarrow.array(values, mask=gone)
    check(pyarrow.chunked_array([whole]), values, gone)
    check(polars.Series(pyarrow.chunked_array([whole])), values, gone)
    for start, stop in ((0, size), (3, size), (size // 3, size - 1)):
        check(
            pyarrow.chunked_array([whole.slice(start, max(0, stop - start))]),
            values[start:stop],
            gone[start:stop],
        )
    parts = [whole.slice(2), whole.slice(0, 0), whole.slice(0, 5)]
    together = np.concatenate([values[2:], values[:5]]), np.concatenate([gone[2:], gone[:5]])
    check(pyarrow.chunked_array(parts, type=whole.type), *together)


@pytest.mark.parametrize("levels", [1, 3, 300, 70_000])
def test_codes_of_levels(levels):
    names = [f"level {i}" for i in range(levels)]
    codes, gone = DRAW.integers(0, levels, 500), DRAW.random(500) < 0.2
    series = polars.Series([None if g else names[c] for c, g in zip(codes, gone)], dtype=polars.Enum(names))
    check(series, codes, gone)
    check(
        polars.concat([series[100:], series[:7]], rechunk=False),
        np.append(codes[100:], codes[:7]),
        np.append(gone[100:], gone[:7]),
    )
