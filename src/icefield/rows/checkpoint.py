"""Checkpoints: sums written to a file during a long pass, so that it resumes after a kill.

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

from icefield.core.rows import Accumulator, part_of
from icefield.errors import InputError

if TYPE_CHECKING:
    from icefield.models.model import Model
    from icefield.rows.stream import Stream

EVERY = 20.0  # seconds between writings
FORMAT = 3
ABOUT = "about"


class Checkpoint:
    """The sums of the passes over one source with one model, in a file: one entry per accumulator, and one unfinished pass.

    Parameters
    ----------
    path : the file; made at the first writing
    stream, model : what the sums are of
    beside : what else the sums depend on, of plain values: the columns of weights and groups
    """

    def __init__(self, path: Path, stream: Stream, model: Model, beside: Any = None) -> None:
        self.path, self.seconds, self._beside = path, EVERY, beside
        self._lock = threading.RLock()
        source = stream.source
        self._data = _digest(source.identity(), list(stream.columns), str(source.schema), stream.block_rows)
        self._model = _digest(_model_identity(model, stream))
        self._content: dict[str, Any] | None = None
        self._arrays: dict[str, NDArray[Any]] = {}

    def resume(self, accumulators: Sequence[Accumulator]) -> tuple[list[Accumulator], int]:
        """Restore accumulators; those that are still to read rows, and how many rows they have read (all, where there are none)."""
        with self._lock:
            content = self._read()
            keys = [self._key(accumulator) for accumulator in accumulators]
            unread = [i for i, key in enumerate(keys) if key not in content["finished"]]
            unfinished = content["unfinished"]
            if unread and unfinished is not None and unfinished["keys"] != [keys[i] for i in unread]:
                # Hours of work, maybe, that another question would write over.
                raise InputError.about("checkpoint", f"holds an unfinished run of another request ({unfinished['said'][:200]})",
                                       str(self.path), "repeat that request to finish it, or name another file")  # fmt: skip
            for i, (accumulator, key) in enumerate(zip(accumulators, keys)):
                if i not in unread or unfinished is not None:
                    self._restore(accumulator, key)
            if not unread:
                return [], int(content["rows"])
            rows = 0 if unfinished is None else int(unfinished["rows"])
            return [accumulators[i] for i in unread], rows

    def write(self, accumulators: Sequence[Accumulator], rows: int, finished: bool = False) -> None:
        """Write the states of accumulators after this many rows."""
        with self._lock:
            content, keys = self._read(), [self._key(accumulator) for accumulator in accumulators]
            for key, accumulator in zip(keys, accumulators):
                self._arrays = {k: v for k, v in self._arrays.items() if not k.startswith(f"{key}/")}
                self._arrays |= {f"{key}/{k}": np.array(v) for k, v in accumulator.state().items()}
            if finished:
                content |= {"finished": [*content["finished"], *keys], "unfinished": None, "rows": rows}
            else:
                text = json.dumps([item.about for item in accumulators], default=str, sort_keys=True)
                content["unfinished"] = {"keys": keys, "rows": rows, "said": text}
            about = {"format": FORMAT, "data": self._data, "model": self._model, **content}
            about["sums"] = _array_digest(about, self._arrays)
            temporary = self.path.with_name(f"{self.path.name}.part")
            try:
                with temporary.open("wb") as file:
                    np.savez(file, **{ABOUT: np.array(json.dumps(about))}, **self._arrays)  # type: ignore[arg-type]
                    file.flush()
                    os.fsync(file.fileno())
                temporary.replace(self.path)
            finally:
                temporary.unlink(missing_ok=True)

    def _key(self, accumulator: Accumulator) -> str:
        return _digest(accumulator.about, self._beside)

    def _restore(self, accumulator: Accumulator, key: str) -> None:
        try:
            accumulator.restore(part_of(self._arrays, f"{key}/"))
        except Exception as error:  # every accumulator has its own way to say so
            raise self._unreadable(error) from error

    def _read(self) -> dict[str, Any]:
        if self._content is None:
            content: dict[str, Any] = {"finished": [], "unfinished": None, "rows": 0}
            if self.path.exists():
                about, self._arrays = self._load()
                for what, expected in (("data", self._data), ("model", self._model)):
                    if about.get(what) != expected:
                        raise InputError.about("checkpoint", f"was written for another {'state of the data' if what == 'data' else 'model'}",
                                               str(self.path), "name another file, or delete this one")  # fmt: skip
                content = {name: about[name] for name in content}
            self._content = content
        return self._content

    def _load(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        try:
            with np.load(self.path, allow_pickle=False) as file:
                about = json.loads(str(file[ABOUT]))
                if about["format"] != FORMAT:
                    raise ValueError(f"format {about['format']}")
                arrays = {key: file[key] for key in file.files if key != ABOUT}
                if not all(isinstance(array, np.ndarray) for array in arrays.values()):
                    raise ValueError("a member that is no array")
                # A zip's own checksums miss a member whose header is damaged.
                if about.pop("sums", None) != _array_digest(about, arrays):
                    raise ValueError("other sums than were written")
                unfinished = about["unfinished"]
                for counts in [about] if unfinished is None else [about, unfinished]:
                    has_names = all(isinstance(key, str) for key in counts.get("keys", ()))
                    if type(counts["rows"]) is not int or not has_names:
                        raise ValueError("a pass that does not say how far it is")
                if not all(isinstance(key, str) for key in about["finished"]):
                    raise ValueError("sums of something that has no name")
                return about, arrays
        except Exception as error:
            # Any byte may be wrong, and zip, JSON and numpy each have their own ways to say so.
            raise self._unreadable(error) from error

    def _unreadable(self, error: Exception) -> InputError:
        return InputError.about("checkpoint", f"is not a readable checkpoint ({type(error).__name__})", str(self.path),
                                "name another file, or delete this one")  # fmt: skip


def _model_identity(model: Model, stream: Stream) -> Any:
    """What identifies a model: its class, its outputs, and its predictions for the first rows."""
    head = stream.source.table(stream.head().arrow)
    predictions = model.predict(head.slice(0, min(head.n_rows, 500)))
    return [type(model.native).__name__, model.scale, [str(o) for o in model.outputs], list(map(str, model.columns)),
            np.round(predictions, 9).tolist()]  # fmt: skip


def _array_digest(about: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> str:
    """A digest of everything in a checkpoint, which shows whether the file was damaged."""
    digest = hashlib.sha256(json.dumps(about, sort_keys=True).encode())
    for key in sorted(arrays):
        array = np.ascontiguousarray(arrays[key])
        digest.update(f"{key} {array.dtype.str} {array.shape}".encode())
        digest.update(array.data if array.dtype.kind in "biuf" else array.tobytes())
    return digest.hexdigest()


def _digest(*parts: Any) -> str:
    return hashlib.sha256(json.dumps(parts, default=str, sort_keys=True).encode()).hexdigest()[:32]
