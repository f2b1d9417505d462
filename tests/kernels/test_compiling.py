"""Kernels are imported on first use only, and compile where no cache can be written."""

import os
import subprocess
import sys

import pytest

ROOT_USER = hasattr(os, "geteuid") and os.geteuid() == 0


def run(code: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_importing_the_package_does_not_import_numba():
    assert run("import sys, icefield; print('numba' in sys.modules)") == "False"


def test_popcount_and_lowest():
    code = """
import numpy as np
from numba import njit
from icefield.kernels.compiling import lowest, popcount

@njit
def both(word):
    return popcount(word), lowest(word)

for word in (1, 2, 6, 2**63, 2**64 - 1, 0x8000000000000100):
    assert both(np.uint64(word)) == (bin(word).count("1"), (word & -word).bit_length() - 1), word
print("fine")
"""
    assert run(code) == "fine"


@pytest.mark.parametrize("error", ["RuntimeError", "OSError"])
def test_without_a_place_for_the_cache_kernels_still_compile(error):
    code = f"""
import numba.core.caching as caching
def refused(*args, **kwargs):
    raise {error}("no place for a cache")
caching.CacheImpl.__init__ = refused
from icefield.kernels.compiling import kernel

@kernel("int64(int64)")
def doubled(x):
    return 2 * x

print(doubled(21))
"""
    assert run(code) == "42"


@pytest.mark.skipif(ROOT_USER, reason="a superuser can write anywhere")
def test_a_read_only_cache_directory_is_no_error(tmp_path):
    tmp_path.chmod(0o500)
    code = "from icefield.kernels.compiling import kernel; print(kernel('int64(int64)')(lambda x: x + 1)(1))"
    assert run(code, NUMBA_CACHE_DIR=str(tmp_path)) == "2"


def test_a_changed_helper_is_not_answered_from_the_cache(tmp_path):
    code = """
import icefield.kernels.compiling as compiling
compiling.SOURCES = SOURCES_GIVEN
from icefield.kernels import packing
stats = packing.encode.stats
print(sum(stats.cache_hits.values()), sum(stats.cache_misses.values()))
"""
    cache = str(tmp_path)
    assert run(code.replace("SOURCES_GIVEN", "'one'"), NUMBA_CACHE_DIR=cache) == "0 1"
    assert run(code.replace("SOURCES_GIVEN", "'one'"), NUMBA_CACHE_DIR=cache) == "1 0"
    assert run(code.replace("SOURCES_GIVEN", "'other'"), NUMBA_CACHE_DIR=cache) == "0 1"
