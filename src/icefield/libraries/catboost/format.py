"""CatBoost's JSON export: how it is got, and what tells it from other JSON.

CatBoost writes it to files only. A model has either symmetric trees or nested ones.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

SYMMETRIC, NESTED = "oblivious_trees", "trees"


def exported(model: Any, pool: Any = None) -> dict[str, Any]:
    """The model's JSON; with a pool, also CatBoost's hashes of the categories in it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        model.save_model(str(path), format="json", pool=pool)
        return json.loads(path.read_text())


def is_export(document: Any) -> bool:
    """Whether a JSON document is an exported model."""
    has_trees = isinstance(document, dict) and (SYMMETRIC in document or NESTED in document)
    return has_trees and "features_info" in document
