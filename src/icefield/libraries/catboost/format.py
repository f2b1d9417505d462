"""What a CatBoost model says of itself: its loss, its JSON export, and what tells that from other JSON.

CatBoost writes the export to files only. A model has either symmetric trees or nested ones.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from pathlib import Path
from typing import Any

from icefield.libraries.child_process import error_line, limit_memory, run_in_child

SYMMETRIC, NESTED = "oblivious_trees", "trees"
_PROBLEMS: dict[bytes, str] = {}  # by the digest of a model's file: why it cannot be exported, or nothing


class ExportError(Exception):
    """CatBoost does not export a model; the message says why."""


# --- the loss --------------------------------------------------------------------------------------


def stored_loss(model: Any) -> str:
    """The name of the loss a model was trained on; empty where it does not say.

    A sum of models (``catboost.sum_models``) has no parameters, and a loss only where all of them share it.
    """
    metadata = dict(model.get_metadata())
    if "params" in metadata:
        return str(json.loads(metadata["params"]).get("loss_function", {}).get("type", ""))
    return str(json.loads(metadata["loss_function"]).get("type", "")) if "loss_function" in metadata else ""


# --- the export ------------------------------------------------------------------------------------


def json_export(model: Any, pool: Any = None) -> dict[str, Any]:
    """The model's JSON; with a pool, also CatBoost's hashes of the categories in it.

    CatBoost crashes where trees that are not symmetric lack leaf weights, as those of models that came from
    ONNX do. Such trees are therefore exported in a child process first.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        try:
            if not _is_symmetric(model):
                _check_in_child(model, path.with_suffix(".cbm"))
            model.save_model(str(path), format="json", pool=pool)
        except ExportError:
            raise
        except Exception as error:
            raise ExportError(" ".join(str(error).split())) from error
        return json.loads(path.read_text())


def _is_symmetric(model: Any) -> bool:
    """Whether a model's trees are known to be symmetric. CatBoost has no public word for it."""
    is_oblivious = getattr(getattr(model, "_object", None), "_is_oblivious", None)
    return is_oblivious is not None and bool(is_oblivious())


def _check_in_child(model: Any, model_file: Path) -> None:
    """Raise where a child process cannot export the model; results are kept by the digest of its binary file."""
    model.save_model(str(model_file), format="cbm")
    digest = hashlib.sha256(model_file.read_bytes()).digest()
    if digest not in _PROBLEMS:
        _PROBLEMS[digest] = _problem_in_child(model_file)
    if _PROBLEMS[digest]:
        raise ExportError(_PROBLEMS[digest])


def _problem_in_child(model_file: Path) -> str:
    child = run_in_child(export_file, model_file, str(model_file.with_suffix(".tried")))
    if child is None:
        return "it does not finish"
    if child.returncode < 0:
        return f"it crashes there, signal {-child.returncode}, as for models that came from ONNX"
    return "" if child.returncode == 0 else error_line(child)


def export_file(model_file: str, path: str) -> None:
    """Run in the child: write CatBoost's binary file as JSON to a path."""
    from catboost import CatBoost

    limit_memory(Path(model_file))
    CatBoost().load_model(model_file).save_model(path, format="json")


def is_export(document: Any) -> bool:
    """Whether a JSON document is an exported model."""
    has_trees = isinstance(document, dict) and (SYMMETRIC in document or NESTED in document)
    return has_trees and "features_info" in document
