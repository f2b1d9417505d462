"""What is fuzzed: for each format sound files to begin with, and what is done with a damaged one."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parent.parent.parent
sys.path[:0] = [str(ROOT / "tests")]

ALLOWED = 1e-6  # by which two engines may differ, of the largest value


@dataclass(frozen=True)
class Format:
    """One format.

    Attributes
    ----------
    files : names of sound files in the folder of originals
    use : what a user's process does with a file: "agreed", "refused" or "disagree ..."
    guard : what the guarding child does with it first, where there is one
    """

    files: tuple[str, ...]
    use: Callable[[Path, Path], str]
    guard: Callable[[Path], str] | None = None


# --- models ------------------------------------------------------------------------------------------


def guard_native(file: Path) -> str:
    from icefield.libraries import native_files

    library, _ = native_files._writer(file)
    _without_limits(native_files)
    native_files.try_file(str(file), library.name)
    return "sound"


def guard_skops(file: Path) -> str:
    from icefield.libraries.sklearn import skops_files

    _without_limits(skops_files)
    skops_files.try_skops(str(file))
    return "sound"


def _without_limits(module: Any) -> None:
    module.limit_memory = lambda _: None  # forks have limits of their own


def use_model(file: Path, folder: Path) -> str:
    """Load it as the shell does once the guard has passed it, and ask both engines."""
    from icefield import Explainer
    from icefield.cli.data_files import read_data
    from icefield.cli.model_data import check_numbers, explain_refusals, fitted_data
    from icefield.data.frame import table_of
    from icefield.errors import IcefieldError
    from icefield.libraries import native_files
    from icefield.libraries.sklearn import skops_files

    native_files.try_in_child = lambda *_: None
    skops_files.try_in_child = lambda *_: None
    from icefield.cli.loading import load_model

    try:
        model = load_model(str(file))
        small = file.suffix in (".skops", ".onnx")
        data = read_data(str(folder / ("numbers.csv" if small else "people.csv")))
        table = table_of(fitted_data(model, data).frame)
        if file.suffix == ".onnx":
            table = table_of(table.to_numpy().astype(np.float32))
        check_numbers(model, table)
        column = 1 if file.suffix == ".onnx" else "siblings"
        with explain_refusals(model, table):
            found = Explainer(model, table, threads=1).partial_dependence(column, grid=[0, 1, 2, 5])
            plain = Explainer(model, table, engine="brute", threads=1).partial_dependence(
                column, grid=[0, 1, 2, 5]
            )
    except IcefieldError:
        return "refused"
    size = np.abs(plain.average).max(initial=1.0)
    same = np.allclose(found.average, plain.average, rtol=0.0, atol=ALLOWED * size, equal_nan=True)
    return "agreed" if same else f"disagree {found.average.ravel()[:3]} {plain.average.ravel()[:3]}"


# --- data and results --------------------------------------------------------------------------------


def use_data(file: Path, folder: Path) -> str:
    """Read it at once, as the shell does, and as a stream."""
    from icefield.cli.data_files import read_data
    from icefield.errors import IcefieldError
    from icefield.rows.files import files_of

    said = []
    try:
        read_data(str(file))
        said.append("agreed")
    except IcefieldError:
        said.append("refused")
    try:
        source = files_of(str(file))
        names = source.schema.names
        sum(batch.num_rows for batch in source.batches(names, 64))
        said.append("agreed")
    except IcefieldError:
        said.append("refused")
    return "agreed" if "agreed" in said else "refused"


def use_effect(file: Path, folder: Path) -> str:
    from icefield import Effect
    from icefield.errors import IcefieldError

    try:
        effect = Effect.load(file)
        repr(effect)
        effect.to_frame()
        effect.center()
    except IcefieldError:
        return "refused"
    return "agreed"


def answer_with_checkpoint(file: Path, folder: Path) -> Any:
    from icefield import Explainer

    explainer = Explainer(_linear, str(folder / "numbers.csv"), checkpoint=file, threads=1, row_by_row=True)
    return explainer.partial_dependence("age", grid=[20.0, 40.0]).average


def _linear(rows: Any) -> Any:
    return 2.0 * np.asarray(rows["age"], float) + np.asarray(rows["siblings"], float)


def use_checkpoint(file: Path, folder: Path) -> str:
    """An unfinished or finished run is gone on from, or refused; never another answer."""
    from icefield.errors import IcefieldError

    try:
        found = answer_with_checkpoint(file, folder)
    except IcefieldError:
        return "refused"
    wanted = np.load(folder / "wanted.npy")
    return "agreed" if np.allclose(found, wanted, rtol=1e-12) else f"disagree {found} {wanted}"


FORMATS = {
    "lightgbm": Format(("lightgbm.txt",), use_model, guard_native),
    "xgboost-json": Format(("xgboost.json",), use_model, guard_native),
    "xgboost-ubj": Format(("xgboost.ubj",), use_model, guard_native),
    "catboost-cbm": Format(("catboost.cbm",), use_model, guard_native),
    "catboost-json": Format(("catboost.json",), use_model, guard_native),
    "onnx": Format(("linear.onnx",), use_model, guard_native),
    "skops": Format(("forest.skops",), use_model, guard_skops),
    "csv": Format(("people.csv", "people.tsv"), use_data),
    "parquet": Format(("people.parquet",), use_data),
    "arrow": Format(("people.feather", "people.arrow"), use_data),
    "effect": Format(("pd.icefield", "ice.icefield"), use_effect),
    "checkpoint": Format(("sums.checkpoint",), use_checkpoint),
}


def write_originals(folder: Path) -> None:
    """Sound files, written by another process: a library that has trained keeps threads, which forks would wait for."""
    code = "import sys; from pathlib import Path; from tests.fuzz.formats import originals; originals(Path(sys.argv[1]))"
    subprocess.run([sys.executable, "-c", code, str(folder)], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)


def originals(folder: Path) -> None:
    import model_files
    from icefield import Explainer

    model_files.write_models(folder)
    model_files.write_data(folder)
    frame, _ = model_files.people()
    explainer = Explainer(_linear, frame, by="sex")
    explainer.partial_dependence("age", grid=5, quantiles=[0.5]).save(folder / "pd.icefield")
    explainer.ice("sex", rows=10).save(folder / "ice.icefield")
    np.save(folder / "wanted.npy", answer_with_checkpoint(folder / "sums.checkpoint", folder))


def import_everything() -> None:
    """What forks need, imported once, without a thread being started."""
    import importlib

    names = ("lightgbm", "xgboost", "catboost", "onnxruntime", "skops.io", "sklearn.ensemble", "pandas", "pyarrow.dataset", "pyarrow.parquet",
             "pyarrow.csv", "icefield.explainer", "icefield.cli.loading", "icefield.cli.model_data",
             "icefield.rows.open_rows", "icefield.engines.brute", "icefield.engines.trees.engine", "icefield.kernels")  # fmt: skip
    for name in names:
        try:
            importlib.import_module(name)
        except ImportError:
            continue
