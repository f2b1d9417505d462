"""Models and data from files, for the command line.

A model file is somebody else's program or somebody's broken download until shown otherwise.
Formats that hold only numbers are loaded by their own library, first in a child process: some
libraries crash or loop on corrupt files, and a crash there is a clear error here. Formats that can run
code (pickle, joblib) are refused unless asked for; skops files load only types on its allow-list.
"""

from __future__ import annotations

import importlib
import io
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from icefield.errors import IcefieldError, MissingDependencyError, complaint, did_you_mean

LOAD_SECONDS = 60
DATA_FORMATS = (".csv", ".tsv", ".parquet", ".feather", ".arrow", ".ipc")
MODEL_FORMATS = (".txt", ".json", ".ubj", ".cbm", ".onnx", ".skops", ".pkl", ".pickle", ".joblib")


class LoadError(IcefieldError, ValueError):
    """A file could not be read as what it should be."""


# --- data ----------------------------------------------------------------------------------------


def read_data(path: str) -> Any:
    """A data frame from a CSV, Parquet or Feather/Arrow file, or from standard input (``-``)."""
    if path == "-":
        return _data_from_bytes(sys.stdin.buffer.read())
    file = Path(path)
    if not file.exists():
        raise LoadError(complaint("DATA", "is a file that does not exist", path))
    if file.is_dir():
        raise LoadError(complaint("DATA", "is a folder", path, "name one file"))
    if file.suffix.lower() not in DATA_FORMATS:
        raise LoadError(
            complaint(
                "DATA",
                f"must be one of {', '.join(DATA_FORMATS)}",
                path,
                "convert the file, or pipe CSV to -",
            )
        )
    return _parsed(file.read_bytes(), file.suffix.lower(), path)


def _data_from_bytes(content: bytes) -> Any:
    """Standard input has no suffix: Parquet and Arrow files say what they are, the rest is CSV."""
    if not content:
        raise LoadError(complaint("DATA", "is empty", "standard input"))
    if content[:4] == b"PAR1":
        return _parsed(content, ".parquet", "standard input")
    if content[:6] == b"ARROW1":
        return _parsed(content, ".feather", "standard input")
    return _parsed(content, ".csv", "standard input")


def _parsed(content: bytes, suffix: str, name: str) -> Any:
    buffer = io.BytesIO(content)
    try:
        if suffix in (".csv", ".tsv"):
            frame = _read_csv(buffer, "\t" if suffix == ".tsv" else ",")
        else:
            frame = _read_arrow(buffer, suffix)
    except IcefieldError:
        raise
    except Exception as error:
        raise LoadError(
            complaint("DATA", f"could not be read as {suffix[1:]}", name, _first_line(error))
        ) from error
    if len(frame) == 0:
        raise LoadError(complaint("DATA", "has no rows", name))
    return frame


def _read_csv(buffer: io.BytesIO, separator: str) -> Any:
    if b"\0" in buffer.getvalue()[:65536]:
        raise ValueError("it holds binary data")
    pandas = _optional("pandas")
    if pandas is not None:
        return pandas.read_csv(buffer, sep=separator)
    polars = _optional("polars")
    if polars is not None:
        return polars.read_csv(buffer, separator=separator, infer_schema_length=None)
    raise MissingDependencyError("Reading CSV needs pandas or polars. Hint: pip install pandas.")


def _read_arrow(buffer: io.BytesIO, suffix: str) -> Any:
    pandas, arrow = _optional("pandas"), _optional("pyarrow")
    if arrow is not None:
        if suffix == ".parquet":
            table = importlib.import_module("pyarrow.parquet").read_table(buffer)
        else:
            table = importlib.import_module("pyarrow.feather").read_table(buffer)
        return table.to_pandas() if pandas is not None else table
    polars = _optional("polars")
    if polars is not None:
        return polars.read_parquet(buffer) if suffix == ".parquet" else polars.read_ipc(buffer)
    raise MissingDependencyError(f"Reading {suffix} needs pyarrow or polars. Hint: pip install pyarrow.")


# --- models --------------------------------------------------------------------------------------


def load_model(path: str, *, allow_pickle: bool = False, trust: Sequence[str] = ()) -> Any:
    """A fitted model from a file, or from ``package.module:object`` (which runs that module's code)."""
    file = Path(path)
    if ":" in path and not file.exists() and not file.suffix:
        return _imported(path)
    if not file.exists():
        raise LoadError(
            complaint(
                "MODEL", "is a file that does not exist", path, "or write package.module:object to import one"
            )
        )
    if file.is_dir():
        raise LoadError(complaint("MODEL", "is a folder", path, "name one file"))
    suffix = file.suffix.lower()
    if suffix in (".pkl", ".pickle", ".joblib"):
        if not allow_pickle:
            raise LoadError(
                f"{path} is a pickle: loading it runs whatever code it holds. Hint: if you made it yourself or trust who "
                "did, add --allow-pickle; otherwise save the model in its library's own format, ONNX or skops."
            )
        return _unpickled(file)
    if suffix == ".skops":
        return _skops(file, trust)
    if suffix == ".onnx":
        _try_in_child("onnx", file)
        return str(file)
    if suffix not in MODEL_FORMATS:
        raise LoadError(
            complaint(
                "MODEL",
                f"must be one of {', '.join(MODEL_FORMATS)}",
                path,
                did_you_mean(suffix, MODEL_FORMATS),
            )
        )
    kind = _native_kind(file, suffix)
    _try_in_child(kind, file)
    return native_model(kind, file)


def _native_kind(file: Path, suffix: str) -> str:
    """Which library wrote a native file; JSON is told apart by its top-level keys."""
    if file.stat().st_size == 0:
        raise LoadError(complaint("MODEL", "is empty", str(file)))
    if suffix == ".txt":
        with file.open("rb") as stream:
            if not stream.read(4096).lstrip().startswith(b"tree"):
                raise LoadError(
                    complaint(
                        "MODEL", "is not a LightGBM text model", str(file), "save it with Booster.save_model"
                    )
                )
        return "lightgbm"
    if suffix == ".ubj":
        return "xgboost"
    if suffix == ".cbm":
        with file.open("rb") as stream:
            if stream.read(4) != b"CBM1":
                raise LoadError(complaint("MODEL", "is not a CatBoost model", str(file)))
        return "catboost"
    try:
        keys = json.loads(file.read_bytes())
    except (ValueError, RecursionError) as error:
        raise LoadError(complaint("MODEL", "is not valid JSON", str(file), _first_line(error))) from error
    if isinstance(keys, dict) and "learner" in keys:
        return "xgboost"
    if isinstance(keys, dict) and ("oblivious_trees" in keys or "trees" in keys) and "features_info" in keys:
        return "catboost"
    raise LoadError(
        complaint("MODEL", "is JSON, but neither an XGBoost nor a CatBoost model", str(file),
                  "save it with Booster.save_model, or CatBoost.save_model(format='json')")
    )  # fmt: skip


def native_model(kind: str, file: Path) -> Any:
    """Load a native file with its own library."""
    if kind == "lightgbm":
        return _needed("lightgbm").Booster(model_file=str(file))
    if kind == "xgboost":
        booster = _needed("xgboost").Booster()
        booster.load_model(str(file))
        return booster
    if kind == "catboost":
        model = _needed("catboost").CatBoost()
        return model.load_model(str(file), format="json" if file.suffix.lower() == ".json" else "cbm")
    return _needed("onnxruntime").InferenceSession(str(file), providers=["CPUExecutionProvider"])


def _try_in_child(kind: str, file: Path) -> None:
    """Load once in a process whose crash or hang costs nothing."""
    library = {"onnx": "onnxruntime"}.get(kind, kind)
    _needed(library)
    code = "import sys; from pathlib import Path; from icefield.loading import native_model; native_model(sys.argv[1], Path(sys.argv[2]))"
    try:
        done = subprocess.run(
            [sys.executable, "-c", code, kind, str(file)],
            capture_output=True,
            timeout=LOAD_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise LoadError(
            complaint(
                "MODEL", f"did not load within {LOAD_SECONDS} s; the file is probably corrupt", str(file)
            )
        ) from error
    if done.returncode < 0:
        raise LoadError(
            complaint(
                "MODEL", f"crashes {library} (signal {-done.returncode}); the file is corrupt", str(file)
            )
        )
    if done.returncode != 0:
        lines = done.stderr.decode(errors="replace").strip().splitlines() or ["no reason given"]
        raise LoadError(complaint("MODEL", f"could not be loaded by {library}", str(file), _cut(lines[-1])))


def _skops(file: Path, trust: Sequence[str]) -> Any:
    skops = _needed("skops.io", "skops")
    try:
        unknown = [t for t in skops.get_untrusted_types(file=str(file)) if t not in trust]
    except Exception as error:
        raise LoadError(
            complaint("MODEL", "is not a readable skops file", str(file), _first_line(error))
        ) from error
    if unknown:
        wanted = " ".join(f"--trust {name}" for name in unknown[:5])
        raise LoadError(
            f"{file} holds types that are not on the allow-list: {', '.join(unknown[:5])}. Hint: if you trust "
            f"them, add {wanted}."
        )
    try:
        return skops.load(str(file), trusted=list(trust))
    except Exception as error:
        raise LoadError(complaint("MODEL", "could not be loaded", str(file), _first_line(error))) from error


def _unpickled(file: Path) -> Any:
    try:
        joblib = _optional("joblib")
        if joblib is not None:
            return joblib.load(file)
        import pickle

        with file.open("rb") as stream:
            return pickle.load(stream)
    except Exception as error:
        raise LoadError(
            complaint("MODEL", "could not be unpickled", str(file), _first_line(error))
        ) from error


def _imported(path: str) -> Any:
    module, _, name = path.partition(":")
    if not module or not name:
        raise LoadError(complaint("MODEL", "must look like package.module:object", path))
    if "" not in sys.path:
        sys.path.insert(0, "")
    try:
        found = importlib.import_module(module)
    except Exception as error:
        raise LoadError(
            complaint("MODEL", f"names a module that cannot be imported ({module})", path, _first_line(error))
        ) from error
    for part in name.split("."):
        if not hasattr(found, part):
            raise LoadError(
                complaint(
                    "MODEL",
                    f"names {name!r}, which {module} does not have",
                    path,
                    did_you_mean(part, dir(found)),
                )
            )
        found = getattr(found, part)
    return found


def _optional(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def _needed(name: str, package: str | None = None) -> Any:
    found = _optional(name)
    if found is None:
        package = package or name
        raise MissingDependencyError(
            f"This file needs {package}, which is not installed. Hint: pip install {package}."
        )
    return found


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return _cut(f"{type(error).__name__}: {lines[0] if lines else ''}")


def _cut(text: str, limit: int = 200) -> str:
    return text if len(text) <= limit else text[: limit - 3] + "..."
