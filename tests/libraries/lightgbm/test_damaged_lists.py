"""Files that made LightGBM loop for ever or end its process are refused by their text."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from icefield.libraries.lightgbm.files import check_before_loading
from icefield.libraries.native_files import LoadError

lgb = pytest.importorskip("lightgbm")


@pytest.fixture(scope="module")
def text() -> str:
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(80, 2))
    model = lgb.LGBMRegressor(n_estimators=2, num_leaves=4, min_child_samples=5, verbose=-1, n_jobs=1).fit(
        rows, rows[:, 0]
    )
    return str(model.booster_.model_to_string())


def test_a_sound_file_passes(text: str, tmp_path: Path) -> None:
    (tmp_path / "m.txt").write_text(text)
    check_before_loading(tmp_path / "m.txt")


@pytest.mark.parametrize(
    "name",
    ["decision_type", "leaf_count", "leaf_weight", "internal_value", "internal_count", "split_gain", "left_child", "threshold"],
)  # fmt: skip
@pytest.mark.parametrize("between", ["  ", "\0 ", " x ", ""])
def test_lists_with_gaps_are_refused(name: str, between: str, text: str, tmp_path: Path) -> None:
    begin, found, rest = text.partition(f"\n{name}=")
    assert found
    first, _, others = rest.partition(" ")
    (tmp_path / "m.txt").write_text(f"{begin}{found}{first}{between}{others}")
    with pytest.raises((LoadError, ValueError)):
        check_before_loading(tmp_path / "m.txt")


def test_a_zero_byte_is_refused_wherever_it_is(text: str, tmp_path: Path) -> None:
    (tmp_path / "m.txt").write_text(text.replace("[verbosity", "[verbo\0ity"))
    with pytest.raises(LoadError, match="zero byte"):
        check_before_loading(tmp_path / "m.txt")
