from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from rows import rows as made


@pytest.fixture(scope="session")
def data() -> pd.DataFrame:
    return made.frame()


@pytest.fixture(scope="session")
def folder(data: pd.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made.written(tmp_path_factory.mktemp("rows") / "parquet", data)
