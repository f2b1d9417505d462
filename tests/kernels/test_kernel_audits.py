"""Step audits against curves of plain walks over the trees, and every level against the lowest."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from step_audit_digest import LINKS, audited

import icefield
from icefield import kernels

PATHS = os.pathsep.join(map(str, (Path(icefield.__file__).parents[1], Path(__file__).parents[1])))


@pytest.mark.parametrize("link", list(LINKS))
@pytest.mark.parametrize("seed", range(8))
def test_a_step_audit_is_that_of_curves(seed: int, link: str) -> None:
    for found, plain in audited(seed, link):
        scale = 1.0 + np.abs(plain.missing).max(initial=0.0)
        np.testing.assert_allclose(found.sizes, plain.sizes[0], rtol=1e-9, atol=1e-9 * scale)
        asked = slice(0 if seed % 2 else 1, None)  # what is said of missing counts where it was asked about
        np.testing.assert_allclose(
            found.missing[:, asked], plain.missing[0][:, asked], rtol=1e-9, atol=1e-9 * scale
        )
        assert ((found.places > 0) == (plain.places[0] > 0)).all()


def _digest(level: str) -> str:
    done = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("step_audit_digest.py"))],
        env={**os.environ, "PYTHONPATH": PATHS, "ICEFIELD_KERNELS": level}, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.other_processes
def test_every_level_audits_alike() -> None:
    said = [_digest(level).split() for level in kernels.levels()]
    assert [name for name, _ in said] == list(kernels.levels())
    assert len({numbers for _, numbers in said}) == 1
