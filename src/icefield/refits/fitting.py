"""Fits a learner again and again: here or in processes, with progress, going on where an interruption stopped it.

A fit cannot be stopped half-way in this process, so it is done by a thread that Ctrl-C does not wait for: what it comes to
is forgotten. Fits in other processes are killed.
"""

from __future__ import annotations

import copy
import hashlib
import inspect
import json
import pickle
import queue
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import CodeType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icefield.data.frame import Table
from icefield.effect.whole_files import atomic_write
from icefield.engines.brute.processes import ModelProcess, ProcessEnded, sendable
from icefield.errors import InputError, InputTypeError, ModelError
from icefield.libraries.row_form import RowForm
from icefield.libraries.sklearn.nesting import is_pipeline
from icefield.models.trial import one_line
from icefield.progress import Progress
from icefield.typing import Float, Positions

BLINK = 0.1  # seconds between looks at the keyboard
SEEDS = ("random_state", "random_seed")
WEIGHTS = ("sample_weight", "weights")


@dataclass(frozen=True, eq=False)
class Fitter:
    """A learner with the rows, targets and weights it is fitted to: sent to processes as a whole.

    Attributes
    ----------
    fit : an estimator with `fit`, of which copies are fitted, or a function of rows and targets that gives a fitted model; it
        gets a seed and weights where it names them (``seed``, ``weights`` or ``sample_weight``)
    table : the rows, with the model's columns
    form : the form of rows the model takes
    y : targets
    weights : of rows, or None
    """

    fit: Any
    table: Table
    form: RowForm
    y: NDArray[Any]
    weights: Float | None

    def fitted(self, rows: Positions, seed: int) -> Any:
        """The learner fitted to some rows, with a seed of its own."""
        X, y = self.form.of(self.table.take(rows)), self.y[rows]
        weights = None if self.weights is None else self.weights[rows]
        try:
            if is_estimator(self.fit):
                return _fit_estimator(self.fit, X, y, weights, seed)
            return _fit_function(self.fit, X, y, weights, seed)
        except (InputError, InputTypeError):
            raise
        except Exception as error:
            raise ModelError.about("fit", f"could not fit {len(rows)} rows ({one_line(error)})", hint="try it on half of the rows by hand") from error  # fmt: skip


def is_estimator(fit: Any) -> bool:
    """Whether a learner is an estimator, whose copies are fitted by `fit`; else it is called."""
    return hasattr(fit, "fit") and not inspect.isclass(fit)


def check_fit(fit: Any) -> None:
    """Raise an error where a learner can fit nothing."""
    if inspect.isclass(fit):
        raise InputTypeError.about("fit", "is a class", fit.__name__, f"pass {fit.__name__}(...), not fitted")
    if not is_estimator(fit) and not callable(fit):
        raise InputTypeError.about("fit", "must be an estimator, or a function of rows and targets that gives a fitted model", fit,
                                "write ex.refits(RandomForestRegressor(), y)")  # fmt: skip


def _fit_estimator(estimator: Any, X: Any, y: NDArray[Any], weights: Float | None, seed: int) -> Any:
    fresh = _copy(estimator)
    if hasattr(fresh, "get_params") and hasattr(fresh, "set_params"):
        named = [name for name in fresh.get_params() if name.rpartition("__")[2] in SEEDS]
        if not named and type(fresh).__module__.partition(".")[0] == "catboost":
            named = ["random_seed"]  # which its parameters have only where it was given
        # One seed for all parts: a fixed one would hide how far seeds move the curve.
        if named:
            fresh.set_params(**dict.fromkeys(named, seed))
    last = fresh.steps[-1] if is_pipeline(fresh) else ("", fresh)
    if weights is None:
        given = {}
    elif "sample_weight" in inspect.signature(last[1].fit).parameters:
        given = {f"{last[0]}__sample_weight".removeprefix("__"): weights}
    else:
        raise InputTypeError.about("fit", "takes no sample_weight, and the Explainer has weights", type(fresh).__name__,
                                "pass a function: def fit(X, y, weights): ...")  # fmt: skip
    answered = fresh.fit(X, y, **given)
    return answered if answered is not None else fresh


def _copy(estimator: Any) -> Any:
    """An unfitted copy: scikit-learn's, where it is in use."""
    base = sys.modules.get("sklearn.base")
    if base is not None and hasattr(estimator, "get_params"):
        try:
            return base.clone(estimator)
        except (
            RuntimeError,
            TypeError,
        ):  # CatBoost changes what it is given, and others are no estimators to it
            return type(estimator)(**copy.deepcopy(estimator.get_params()))
    return copy.deepcopy(estimator)


def _fit_function(fit: Callable[..., Any], X: Any, y: NDArray[Any], weights: Float | None, seed: int) -> Any:
    parameters = inspect.signature(fit).parameters
    given: dict[str, Any] = {"seed": seed} if "seed" in parameters else {}
    if weights is not None:
        named = [name for name in WEIGHTS if name in parameters]
        if not named:
            raise InputTypeError.about("fit", "takes no weights, and the Explainer has some", getattr(fit, "__name__", fit),
                                    "write def fit(X, y, weights): ...")  # fmt: skip
        given[named[0]] = weights
    model = fit(X, y, **given)
    if model is None:
        raise InputTypeError.about("fit", "returned nothing", None, "return the fitted model")
    return model


# --- one after another, here or in processes ---------------------------------------------------------


def fit_all(
    learner: Fitter,
    work: Sequence[tuple[Positions, int]],
    *,
    processes: int | None,
    checkpoint: Path | None,
    known: dict[int, Any],
) -> list[Any]:
    """The learner fitted to each part of the rows, with its seed.

    Parameters
    ----------
    learner : what is fitted
    work : rows and seed of every fit
    processes : in how many processes; None for a thread of this one
    checkpoint : a folder in which every fitted model is written down as a pickle, and looked for first
    known : models that are there already, by their number: those that get done are added
    """
    store = None if checkpoint is None else _FittedModels(checkpoint, learner, work)
    if store is not None:
        known.update(store.load())
    missing = [i for i in range(len(work)) if i not in known]
    with Progress("refits", total=len(work)) as progress:
        progress.advance(len(work) - len(missing))
        with _Crew(learner, [(i, *work[i]) for i in missing], processes) as crew:
            for _ in missing:
                number, model = crew.next()
                if store is not None:
                    store.write(number, model)
                known[number] = model
                progress.advance()
    return [known[i] for i in range(len(work))]


class _Crew:
    """Threads that fit models, in this process or each in one of its own; leaving early does not wait for them."""

    def __init__(
        self, learner: Fitter, work: Sequence[tuple[int, Positions, int]], processes: int | None
    ) -> None:
        self._work: queue.SimpleQueue[tuple[int, Positions, int]] = queue.SimpleQueue()
        self._done: queue.SimpleQueue[tuple[int, Any, BaseException | None]] = queue.SimpleQueue()
        for item in work:
            self._work.put(item)
        self._learner, self._left = learner, False
        self._sent = None if processes is None else sendable(learner, processes, "fit")
        self._processes: list[ModelProcess] = []
        self._threads = min(1 if processes is None else processes, len(work))

    def __enter__(self) -> _Crew:
        for _ in range(self._threads):
            threading.Thread(target=self._fit, name="icefield refits", daemon=True).start()
        return self

    def next(self) -> tuple[int, Any]:
        """The next fit that is done; looks at the keyboard all the while."""
        while True:
            try:
                number, model, error = self._done.get(timeout=BLINK)
            except queue.Empty:
                continue
            if error is not None:
                raise error
            return number, model

    def __exit__(self, kind: Any, *_: object) -> None:
        self._left = True
        for process in self._processes:
            if kind is not None:
                process.kill()

    def _fit(self) -> None:
        process = None
        try:
            if self._sent is not None:
                process = ModelProcess(self._sent, Fitter.fitted)
                self._processes.append(process)
            while not self._left:
                try:
                    number, rows, seed = self._work.get_nowait()
                except queue.Empty:
                    return
                model = self._learner.fitted(rows, seed) if process is None else process.ask(rows, seed)
                self._done.put((number, model, None))
        except ProcessEnded as error:
            ended = ModelError.about(
                "fit", "ended its process", hint="check that memory suffices for several fits at once"
            )
            ended.__cause__ = error
            self._done.put((-1, None, ended))
        except BaseException as error:
            self._done.put((-1, None, error))
        finally:
            if process is not None:
                if self._left:
                    process.kill()
                process.end()


class _FittedModels:
    """A folder of fitted models, one pickle each, with what they were fitted to."""

    def __init__(self, folder: Path, learner: Fitter, work: Sequence[tuple[Positions, int]]) -> None:
        self._folder = folder
        if folder.exists() and not folder.is_dir():
            raise InputError.about(
                "checkpoint", "is a file, and fits need a folder", str(folder), "name another one"
            )
        about = {"refits": len(work), "key": fits_key(learner, work)}
        folder.mkdir(parents=True, exist_ok=True)
        note = folder / "refits.json"
        if not note.exists():
            with atomic_write(note) as beside:
                beside.write_text(json.dumps(about), encoding="utf-8")
            return
        with suppress(ValueError):
            if json.loads(note.read_text(encoding="utf-8")) == about:
                return
        raise InputError.about("checkpoint", "holds refits of another learner, other rows or other halves", str(folder),
                            "name another folder, or empty this one")  # fmt: skip

    def load(self) -> dict[int, Any]:
        """The models that are there, by their number."""
        models = {}
        for file in sorted(self._folder.glob("refit-*.pickle")):
            try:
                models[int(file.stem.rpartition("-")[2])] = pickle.loads(file.read_bytes())
            except Exception as error:
                raise InputError.about("checkpoint", f"holds a file that is not a refit ({one_line(error)})", str(file), "remove it") from error  # fmt: skip
        return models

    def write(self, number: int, model: Any) -> None:
        """Write one model atomically."""
        try:
            content = pickle.dumps(model)
        except Exception as error:
            raise InputError.about("checkpoint", f"needs models that can be pickled ({one_line(error)})", str(self._folder),
                                "leave it out") from error  # fmt: skip
        with atomic_write(self._folder / f"refit-{number:02d}.pickle") as beside:
            beside.write_bytes(content)


def fits_key(learner: Fitter, work: Sequence[tuple[Positions, int]]) -> str:
    """SHA-256 of what refits depend on: the learner's parameters or code, targets, weights, a thousand rows, and the halves."""
    digest = hashlib.sha256(_learner_text(learner.fit).encode())
    digest.update(repr((learner.table.n_rows, list(map(str, learner.table.names)))).encode())
    digest.update(repr(learner.y.tolist()).encode())
    for name in learner.table.names:
        column = learner.table.column(name)
        digest.update(repr(column.values[:: max(1, len(column.values) // 1000)].tolist()).encode())
    if learner.weights is not None:
        digest.update(np.ascontiguousarray(learner.weights).tobytes())
    for rows, seed in work:
        digest.update(rows.astype("<i8").tobytes())
        digest.update(str(seed).encode())
    return digest.hexdigest()


def _learner_text(fit: Any) -> str:
    """A learner as text: an estimator's parameters; a function's code with its constants, defaults and what it closes over."""
    name = f"{type(fit).__module__}.{type(fit).__qualname__}"
    if is_estimator(fit):
        parameters = fit.get_params() if hasattr(fit, "get_params") else {}
        return f"{name} {sorted((key, repr(value)) for key, value in parameters.items())}"
    if isinstance(fit, partial):
        return f"{_learner_text(fit.func)} {fit.args!r} {sorted((key, repr(value)) for key, value in fit.keywords.items())}"
    function = getattr(fit, "__func__", fit)
    code = getattr(function, "__code__", None)
    if code is None:
        return f"{name} {sorted((key, repr(value)) for key, value in getattr(fit, '__dict__', {}).items())}"
    closed = [_closed_text(cell.cell_contents) for cell in function.__closure__ or ()]
    given = function.__defaults__, function.__kwdefaults__
    return f"{function.__qualname__} {_code_text(code)} {given!r} {closed}"


def _code_text(code: CodeType) -> str:
    consts = [_code_text(c) if isinstance(c, CodeType) else _const_text(c) for c in code.co_consts]
    return f"{code.co_code!r} {code.co_names} {consts}"


def _closed_text(value: Any) -> str:
    """The values a function closes over, as text: settings count; lists and other things that may change while it works do not."""
    if is_estimator(value) or isinstance(value, partial):
        return _learner_text(value)
    plain = value is None or isinstance(value, (bool, int, float, complex, str, bytes, tuple))
    return repr(value) if plain else type(value).__qualname__


def _const_text(value: Any) -> str:
    """A constant as text that is the same in every process, which sets of texts are not."""
    return repr(sorted(map(repr, value))) if isinstance(value, frozenset) else repr(value)
