"""Real engines on this machine. Each is skipped, with the reason, where it is not installed: `make test-cluster` brings them."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from rows import rows as made

HERE = Path(__file__).parent
NEEDS = {
    "dask": ("dask", "distributed"),
    "spark": ("pyspark",),
    "connect": ("pyspark", "grpc"),
    "ray": ("ray",),
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in Path(item.path).parents:
            item.add_marker(pytest.mark.filterwarnings("ignore"))  # engines warn of much that is theirs


def _why_not(engine: str) -> str:
    missing = [name for name in NEEDS[engine] if importlib.util.find_spec(name) is None]
    if missing:
        return f"{missing[0]} is not installed: make test-cluster installs it"
    if "pyspark" in NEEDS[engine] and shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        return "there is no Java, which Spark needs"
    return ""


@pytest.fixture(scope="session")
def engine_of() -> Any:
    """Skip where an engine is missing; have its workers find the tests' own models."""

    def needed(engine: str) -> None:
        why = _why_not(engine)
        if why:
            pytest.skip(why)
        found = [str(HERE.parents[1]), os.environ.get("PYTHONPATH", "")]
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, found))
        os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
        os.environ["OMP_NUM_THREADS"] = "1"

    return needed


@pytest.fixture(scope="session")
def data() -> pd.DataFrame:
    return made.frame(3_000)


@pytest.fixture(scope="session")
def plain(data: pd.DataFrame) -> pd.DataFrame:
    """Without a category type, which Spark does not have."""
    return data.drop(columns="level")


@pytest.fixture(scope="session")
def folder(plain: pd.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made.written(tmp_path_factory.mktemp("clusters") / "parquet", plain, files=5)


@pytest.fixture
def interrupting() -> Iterator[Any]:
    """Press Ctrl-C once something holds."""
    import signal
    import threading
    import time

    over = threading.Event()

    def press(when: Any) -> None:
        def wait() -> None:
            while not over.is_set() and not when():
                time.sleep(0.05)
            if not over.is_set():
                os.kill(os.getpid(), signal.SIGINT)

        threading.Thread(target=wait, daemon=True).start()

    yield press
    over.set()


@pytest.fixture
def few_rows(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Samples and blocks so small that the data does not fit either."""
    from contextlib import contextmanager

    from icefield.rows import stream, stream_rows

    @contextmanager
    def few(rows: int) -> Iterator[None]:
        with monkeypatch.context() as patched:
            patched.setattr(stream, "LEAST_ROWS", 250)
            patched.setattr(stream, "MOST_ROWS", 500)
            patched.setattr(stream_rows, "STREAMED_ROWS", rows)
            yield

    return few
