"""What a CatBoost model says of itself: its loss, its JSON export, and what tells that from other JSON.

CatBoost writes the export to files only. A model has either symmetric trees or nested ones.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from pathlib import Path
from typing import Any

from icefield.libraries.child_process import in_child, last_words, limit_memory

SYMMETRIC, NESTED = "oblivious_trees", "trees"
_FOUND: dict[bytes, str] = {}  # by the digest of a model's file: why it cannot be exported, or nothing


class ExportError(Exception):
    """CatBoost does not export a model; the message says why."""


# --- the loss --------------------------------------------------------------------------------------


def stored_loss(model: Any) -> str:
    """The name of the loss a model was trained on; empty where it does not say.

    A sum of models (``catboost.sum_models``) has no parameters, and a loss only where all of them share it.
    """
    kept = dict(model.get_metadata())
    if "params" in kept:
        return str(json.loads(kept["params"]).get("loss_function", {}).get("type", ""))
    return str(json.loads(kept["loss_function"]).get("type", "")) if "loss_function" in kept else ""


# --- the export ------------------------------------------------------------------------------------


def exported(model: Any, pool: Any = None) -> dict[str, Any]:
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
    """Whether trees are known to be symmetric. CatBoost has no public word for it."""
    known = getattr(getattr(model, "_object", None), "_is_oblivious", None)
    return known is not None and bool(known())


def _check_in_child(model: Any, own: Path) -> None:
    """Raise where a child process cannot export the model; what it found of these very trees is kept."""
    model.save_model(str(own), format="cbm")
    stands_for = hashlib.sha256(own.read_bytes()).digest()
    if stands_for not in _FOUND:
        _FOUND[stands_for] = _problem_in_child(own)
    if _FOUND[stands_for]:
        raise ExportError(_FOUND[stands_for])


def _problem_in_child(own: Path) -> str:
    done = in_child(export_file, own, str(own.with_suffix(".tried")))
    if done is None:
        return "it does not finish"
    if done.returncode < 0:
        return f"it crashes there, signal {-done.returncode}, as for models that came from ONNX"
    return "" if done.returncode == 0 else last_words(done)


def export_file(own: str, path: str) -> None:
    """What the child process does: CatBoost's binary file to its JSON."""
    from catboost import CatBoost

    limit_memory(Path(own))
    CatBoost().load_model(own).save_model(path, format="json")


def is_export(document: Any) -> bool:
    """Whether a JSON document is an exported model."""
    has_trees = isinstance(document, dict) and (SYMMETRIC in document or NESTED in document)
    return has_trees and "features_info" in document
