"""Record: plain values that identify the run, the model and the rows a result comes from.

Tables carry it as three columns, so that results of many runs can lie in one table and be told apart.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

COLUMNS = ("run_id", "model_hash", "data_version")


@dataclass(frozen=True)
class Record:
    """Where results come from. Made by `Explainer.record`.

    Attributes
    ----------
    run_id : one for all results of an Explainer, or the one you gave
    model_hash : of the model's class, outputs and predictions for up to 1,000 of the rows (of a stream, of its first): the same
        model on the same rows has the same one
    data_version : of rows in memory, a hash of the values of the model's columns; of files, of their names, sizes and times; of a
        Delta or Iceberg table, its version or snapshot
    model, data : the model and the rows in words
    n_features : how many columns the model takes
    scale, background, seed : the choices that hold for every result
    icefield : the version that computed them
    """

    run_id: str
    model_hash: str
    data_version: str
    model: str
    data: str
    n_features: int
    scale: str
    background: str
    seed: int
    icefield: str

    def as_dict(self) -> dict[str, Any]:
        """All of it as plain values, for JSON."""
        return asdict(self)

    @property
    def columns(self) -> dict[str, str]:
        """What a table of results carries."""
        return {name: getattr(self, name) for name in COLUMNS}
