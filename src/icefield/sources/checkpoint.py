"""Sums written down while a long pass runs, so that it goes on where it was after a kill.

A checkpoint is one file. It knows the data, the model and the question its sums are of, and refuses to be taken for
anything else. It is written beside itself and then put in place, so a kill while writing leaves the one
before. Passes that are complete stay in it; an Explainer made anew goes through them without reading a row.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from icefield.errors import InputError, complaint

if TYPE_CHECKING:
    from icefield.models.model import Model
    from icefield.sources.passes import Collector
    from icefield.sources.stream import Stream

EVERY = 20.0  # seconds between writings
FORMAT = 1
ABOUT = "about"


class Checkpoint:
    """The sums of the passes over one source with one model, in a file.

    Parameters
    ----------
    path : the file; made at the first writing
    stream, model : what the sums are of
    """

    def __init__(self, path: Path, stream: Stream, model: Model) -> None:
        self.path, self.seconds = path, EVERY
        self._lock = threading.RLock()
        self._data = _digest(
            stream.source.identity(), list(stream.columns), str(stream.source.schema), stream.block_rows
        )
        self._model = _digest(_model_identity(model, stream))
        self._passes: dict[str, Any] | None = None  # by question: how far it is, and its arrays
        self._arrays: dict[str, NDArray[Any]] = {}

    def knows(self, question: Any) -> bool:
        """Whether something was written about a question."""
        with self._lock:
            return _digest(question) in self._read()

    def resume(self, question: Any, collectors: Sequence[Collector]) -> tuple[int, bool]:
        """Hand collectors what was written about a question: rows that are in it already, and whether these are all."""
        with self._lock:
            passes = self._read()
            key = _digest(question)
            for about in passes.values() if key not in passes else ():
                if not about["finished"]:  # hours of work, maybe, that another question would write over
                    raise InputError(
                        complaint("checkpoint", f"holds an unfinished run of another question ({about['question'][:200]})",
                                  str(self.path), "ask that question again to finish it, or name another file")
                    )  # fmt: skip
            if key not in passes:
                return 0, False
            for number, collector in enumerate(collectors):
                prefix = f"{key}/{number}/"
                own = {k.removeprefix(prefix): v for k, v in self._arrays.items() if k.startswith(prefix)}
                try:
                    collector.restore(own)
                except Exception as error:  # every collector has its own way to say so
                    raise self._unreadable(error) from error
            return passes[key]["rows"], passes[key]["finished"]

    def write(
        self, question: Any, collectors: Sequence[Collector], rows: int, finished: bool = False
    ) -> None:
        """Write down what collectors know after so many rows."""
        with self._lock:
            passes, key = self._read(), _digest(question)
            self._arrays = {k: v for k, v in self._arrays.items() if not k.startswith(f"{key}/")}
            for number, collector in enumerate(collectors):
                self._arrays |= {f"{key}/{number}/{k}": np.array(v) for k, v in collector.state().items()}
            said = json.dumps(question, default=str, sort_keys=True)
            passes[key] = {"rows": rows, "finished": finished, "question": said}
            about = {"format": FORMAT, "data": self._data, "model": self._model, "passes": passes}
            beside = self.path.with_name(f"{self.path.name}.part")
            try:
                with beside.open("wb") as file:
                    np.savez(file, **{ABOUT: np.array(json.dumps(about))}, **self._arrays)  # type: ignore[arg-type]
                    file.flush()
                    os.fsync(file.fileno())
                beside.replace(self.path)
            finally:
                beside.unlink(missing_ok=True)

    def _read(self) -> dict[str, Any]:
        if self._passes is None:
            self._passes = {}
            if self.path.exists():
                about, self._arrays = self._loaded()
                for what, own in (("data", self._data), ("model", self._model)):
                    if about.get(what) != own:
                        raise InputError(
                            complaint("checkpoint", f"was written for another {'state of the data' if what == 'data' else 'model'}",
                                      str(self.path), "name another file, or delete this one")
                        )  # fmt: skip
                self._passes = about["passes"]
        return self._passes

    def _loaded(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        try:
            with np.load(self.path, allow_pickle=False) as file:
                about = json.loads(str(file[ABOUT]))
                if about["format"] != FORMAT:
                    raise ValueError(f"format {about['format']}")
                arrays = {key: file[key] for key in file.files if key != ABOUT}
                if not all(isinstance(array, np.ndarray) for array in arrays.values()):
                    raise ValueError("a member that is no array")
                for one in about["passes"].values():
                    known = type(one["rows"]) is int and type(one["finished"]) is bool
                    if not known or not isinstance(one["question"], str):
                        raise ValueError("a pass that does not say how far it is")
                return about, arrays
        except (
            Exception
        ) as error:  # any byte may be wrong, and zip, JSON and numpy each have their own ways to say so
            raise self._unreadable(error) from error

    def _unreadable(self, error: Exception) -> InputError:
        return InputError(
            complaint("checkpoint", f"is no checkpoint that can be read ({type(error).__name__})", str(self.path),
                      "name another file, or delete this one")
        )  # fmt: skip


def _model_identity(model: Model, stream: Stream) -> Any:
    """What tells a model from another: its kind, its outputs, and what it predicts for the first rows."""
    head = stream.head().table
    predicted = model.predict(head.slice(0, min(head.n_rows, 500)))
    return [type(model.native).__name__, model.scale, [str(o) for o in model.outputs], list(map(str, model.columns)),
            np.round(predicted, 9).tolist()]  # fmt: skip


def _digest(*parts: Any) -> str:
    return hashlib.sha256(json.dumps(parts, default=str, sort_keys=True).encode()).hexdigest()[:32]
