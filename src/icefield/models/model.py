"""Any fitted model as one thing: rows in, a float matrix of named outputs out.

`read_model` hides every difference between libraries: what to call for which scale, what the
outputs are called, which columns the model wants and in what order, and which frame library it
accepts. It tries the model on a few rows, so that whatever cannot work fails at once, with a
reason, and everything that follows can just call `Model.predict`.
"""

from __future__ import annotations

import inspect
import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icefield.data.frame import Table, table_of
from icefield.errors import IcefieldError, InputError, InputTypeError, ModelError, did_you_mean
from icefield.libraries.adapter import Adapter, as_blocks, as_matrix, columns_by_spelling, type_name
from icefield.libraries.registry import library_of, stand_in_of
from icefield.libraries.row_form import RowForm
from icefield.libraries.sklearn.nesting import is_pipeline, unwrapped
from icefield.libraries.sklearn.pipelines import Crossing, NoSplit, SplitPipeline, split_pipeline
from icefield.models.across_rows import known_row_by_row, needs_all_rows
from icefield.models.sharing import ONE_AT_A_TIME, predict_lock
from icefield.models.targets import chosen_outputs
from icefield.models.trial import NAMES_WARNING, Trial, first_accepted_form, one_line, says_not_fitted

SCALES = ("response", "raw")
PROBE_ROWS = 5


@dataclass(frozen=True, eq=False)
class Model:
    """A fitted model ready to predict, with the outputs and scale chosen. Built by `read_model`.

    Attributes
    ----------
    native : the user's object, or what is asked in its place where that lives in another process
    kind : ``"classifier"``, ``"regressor"``, ``"outlier detector"``, ``"ranker"``, ``"function"``, ...
    scale : ``"response"`` or ``"raw"``
    scale_label : what the numbers are, for axes
    all_outputs : every output's name on this scale
    selected : positions of the outputs chosen by the target
    outputs : names of the chosen outputs
    columns : labels of the columns the model gets, in its order
    notes : what happened on the way, such as a conversion and its reason
    parallel : whether `predict` may run in several threads at once and gains by it
    across_rows : whether a row's prediction may depend on the others in the call, which then holds all rows
    answer : rows in the model's form to the library's own answer
    form : the form of rows the model takes
    warns : whether the model warns about column names in any form, which is then silenced
    parts : its pipeline taken apart, where that gives the same answers
    passes_errors : whether what the model raises is passed on as it is
    positive : whether no prediction can be below zero, by the model's link
    least_per_call : predictions a call should hold, where each costs much whatever it holds
    """

    travels_as = "model"

    native: Any
    kind: str
    scale: str
    scale_label: str
    all_outputs: tuple[Any, ...]
    selected: tuple[int, ...]
    columns: tuple[Any, ...]
    notes: tuple[str, ...]
    parallel: bool
    answer: Callable[[Any], Any] = field(repr=False)
    form: RowForm = field(repr=False)
    warns: bool = field(repr=False, default=False)
    parts: SplitModel | None = field(repr=False, default=None)
    across_rows: bool = False
    passes_errors: bool = field(repr=False, default=False)
    positive: bool = False
    least_per_call: int = 1

    @property
    def outputs(self) -> tuple[Any, ...]:
        return tuple(self.all_outputs[i] for i in self.selected)

    def predict(self, table: Table) -> NDArray[np.float64]:
        """Predictions of the chosen outputs, one row per row of the table, one column per output."""
        if table.n_rows == 0:
            return np.empty((0, len(self.selected)))
        with _explain_errors(self, "rows of X"):
            rows = self.form.of(table.select(self.columns))
            if self.kind == "function" and rows is table.native and hasattr(rows, "copy"):
                rows = rows.copy()  # a function may write into what it gets, and this is the caller's own
            return self.ask(rows, table.n_rows)

    def crossing(self, table: Table, moving: Iterable[Any]) -> CrossedRows:
        """Rows prepared for prediction at many grid points; what does not move is transformed once.

        Parameters
        ----------
        table : a block of rows
        moving : labels of the columns the grid points will replace
        """
        selected, moving = table.select(self.columns), list(moving)
        if self.parts is None or table.n_rows == 0 or not moving:
            return CrossedRows(self, selected)
        # Labels are translated, since rows without names get those the pipeline was fitted with.
        rows = _in_form(self.form, selected)
        labels = dict(zip(self.columns, rows.names))
        crossing = self.parts.pipeline.crossing(rows, [labels[name] for name in moving if name in labels])
        return CrossedRows(self, selected, crossing, labels)

    def ask(self, rows: Any, n_rows: int, answer: Callable[[Any], Any] | None = None) -> NDArray[np.float64]:
        """The chosen outputs of the model's answer, once it is one number per row and output."""
        matrix = as_matrix(self._quietly(answer or self.answer, rows), n_rows)
        if matrix.shape[1] != len(self.all_outputs):
            problem = f"returned {matrix.shape[1]} outputs, but {len(self.all_outputs)} at first"
            hint = "a model must return the same outputs for any rows"
            raise ModelError.about("model", problem, hint=hint)
        if self.selected == tuple(range(matrix.shape[1])):
            return matrix
        return np.ascontiguousarray(matrix[:, list(self.selected)])

    def _quietly(self, answer: Callable[[Any], Any], rows: Any) -> Any:
        # Warning filters are the whole process's: a model that touches them is asked one at a time.
        try:
            if not self.warns:
                with predict_lock(self):
                    return answer(rows)
            with ONE_AT_A_TIME, warnings.catch_warnings():
                warnings.filterwarnings("ignore", message=NAMES_WARNING)
                return answer(rows)
        except StopIteration as error:  # which a generator on the way up would take for its own end
            hint = "check that `next` finds something"
            raise ModelError.about("model", "raised StopIteration as it predicted", hint=hint) from error


@contextmanager
def _explain_errors(model: Model, what: str) -> Iterator[None]:
    """Turn errors that a library raises inside into a `ModelError` which says that the model refuses `what`.

    A function's errors are its writer's own, and say more as they are; only one that would end a loop
    somewhere on the way, instead of being heard, is told here too.
    """
    try:
        yield
    except Exception as error:
        is_users = (model.passes_errors or model.kind == "function") and not isinstance(error, StopIteration)
        if is_users or isinstance(error, IcefieldError | MemoryError):
            raise
        problem = f"could not predict {what} ({one_line(error)})"
        hint = "check that model.predict takes such values, or leave them out"
        raise ModelError.about("model", problem, hint=hint) from error


@dataclass(frozen=True, eq=False)
class SplitModel:
    """A pipeline taken apart, and how to ask its last step on the model's scale."""

    pipeline: SplitPipeline
    answer: Callable[[Any], Any]


class CrossedRows:
    """A block of rows prepared for prediction at grid points. Made by `Model.crossing`."""

    def __init__(
        self, model: Model, table: Table, crossing: Crossing | None = None, labels: Mapping[Any, Any] | None = None
    ) -> None:  # fmt: skip
        self.n_rows = table.n_rows
        self._model, self._table, self._crossing, self._labels = model, table, crossing, labels or {}

    def predict(self, points: Mapping[Any, NDArray[Any]]) -> NDArray[np.float64]:
        """Predictions of every row at every grid point, shape ``(points * rows, outputs)``, grid-major.

        ``points`` maps each moving column to its value at each grid point; without any, rows stay as they are.
        """
        model = self._model
        size = len(next(iter(points.values()))) if points else 1
        moving = {name: values for name, values in points.items() if name in model.columns}
        if not moving:  # columns the model does not look at
            return np.tile(model.predict(self._table), (size, 1))
        with _explain_errors(model, f"rows with {', '.join(map(repr, moving))} set to values of the grid"):
            if self._crossing is None or model.parts is None:
                rows = model.form.of(self._table.crossed(moving))
                return model.ask(rows, size * self.n_rows)
            rows = self._crossing.at({self._labels[name]: values for name, values in moving.items()})
            return model.ask(rows, size * self.n_rows, model.parts.answer)


def read_model(
    model: Any,
    table: Table,
    *,
    target: Any = None,
    scale: str = "response",
    row_by_row: bool = False,
    vectors: Mapping[str, tuple[str, ...]] | None = None,
) -> Model:
    """Read any fitted model, and try it on the first rows of a table.

    Parameters
    ----------
    model : a fitted estimator, booster or network, or a function from rows to numbers
    table : the rows it will be asked about; it may carry columns the model does not use
    target : output to keep: None (every one; the positive class of a binary classifier), ``"all"``,
        a label or name, a position, or a list of those
    scale : ``"response"`` (what the model predicts) or ``"raw"`` (the number before the link)
    row_by_row : the user's word that a model that is not known predicts each row by itself
    vectors : by column of the rows' source that holds vectors, the columns its slots are
    """
    if scale not in SCALES:
        raise InputError.about("scale", "must be 'response' or 'raw'", scale, 'write scale="response"')
    _check_is_a_model(model)
    if table.n_rows == 0:
        raise InputError.about("X", "has no rows", hint="pass at least one row")
    model = stand_in_of(model, vectors)
    try:
        adapter = _adapter_of(model, scale)
        columns, names = _columns(adapter, table)
        probe, trial = _trial(model, adapter, table.select(columns), names)
    except Exception as error:
        if isinstance(error, IcefieldError) or not says_not_fitted(error):
            raise
        problem = f"is not fitted ({type_name(model)})"
        raise ModelError.about("model", problem, hint="fit it first, then pass it") from error
    widths = tuple(block.shape[1] for block in as_blocks(trial.answer))
    outputs = adapter.naming(widths, trial.answer)
    split = _split(model, scale, _in_form(trial.form, probe), trial)
    result = Model(
        native=model,
        kind=adapter.kind,
        scale=scale,
        scale_label=adapter.scale_label,
        all_outputs=outputs.names,
        selected=chosen_outputs(target, outputs),
        columns=columns,
        notes=adapter.notes + trial.notes + ((split.reason,) if isinstance(split, NoSplit) else ()),
        parallel=adapter.parallel and not trial.warns,
        answer=adapter.answer,
        form=trial.form,
        warns=trial.warns,
        parts=split if isinstance(split, SplitModel) else None,
        positive=adapter.positive,
        least_per_call=adapter.least_per_call,
    )
    across_rows, note = needs_all_rows(model, result.predict, table.select(columns), row_by_row)
    if not across_rows and adapter.answer_in_parts is not None:
        result = replace(result, answer=adapter.answer_in_parts)
    return result if note is None else replace(result, across_rows=across_rows, notes=(*result.notes, note))


def untried_model(
    native: Any,
    answer: Callable[[Any], Any],
    table: Table,
    *,
    kind: str,
    scale: str,
    n_outputs: int,
    selected: Sequence[int] | None = None,
    parallel: bool = False,
    parts: tuple[SplitPipeline, Callable[[Any], Any]] | None = None,
    across_rows: bool = False,
) -> Model:
    """A model whose form of rows is known already: nothing is tried, rows are passed as they are.

    Parameters
    ----------
    native : the user's object
    answer : rows of the table's library to one number per row and output
    table : the rows it will be asked about, with exactly the model's columns
    kind, scale, parallel, across_rows : as in `Model`
    n_outputs : how many outputs `answer` gives
    selected : positions of those wanted, by default every one
    parts : a pipeline taken apart and how to ask its last step, where that gives the same answers
    """
    return Model(
        native=native,
        kind=kind,
        scale=scale,
        scale_label="prediction",
        all_outputs=tuple(range(n_outputs)),
        selected=tuple(range(n_outputs) if selected is None else selected),
        columns=table.names,
        notes=(),
        parallel=parallel,
        answer=answer,
        form=RowForm(table.library),
        parts=None if parts is None else SplitModel(*parts),
        across_rows=across_rows,
        passes_errors=True,
    )


def _trial(model: Any, adapter: Adapter, table: Table, names: tuple[Any, ...] | None) -> tuple[Table, Trial]:
    """Rows that the model was tried on and the result: a few, or all where it refuses a few and may look across rows."""
    probe = table.take(np.arange(min(PROBE_ROWS, table.n_rows)))
    try:
        return probe, first_accepted_form(adapter, probe, names)
    except ModelError as refused:
        if probe.n_rows == table.n_rows or known_row_by_row(model):
            raise
        try:
            return table, first_accepted_form(adapter, table, names)
        except Exception:
            raise refused from refused.__cause__


# --- which adapter -------------------------------------------------------------------------------


def _check_is_a_model(model: Any) -> None:
    if inspect.isclass(model):
        name = model.__name__
        problem = f"is the class {name}, not a fitted model"
        raise InputTypeError.about("model", problem, hint=f"pass {name}(...).fit(X, y)")
    if library_of(model) is not None:
        return
    problem = "must be a fitted model or a function from rows to numbers"
    hint = "pass an object with predict, or a callable such as lambda X: ..."
    if isinstance(model, (str, os.PathLike)):
        problem, hint = "is a path, but not to an .onnx file", "load the model and pass it"
    raise InputTypeError.about("model", problem, model, hint)


def _adapter_of(model: Any, scale: str) -> Adapter:
    """The adapter of a model's library; a library's own error becomes a clear one."""
    library = library_of(model)
    if library is None:  # the last step of a pipeline may be anything
        raise TypeError(f"{type_name(model)} is no model")
    try:
        return library.predictions.adapt(model, scale)
    except IcefieldError:
        raise
    except Exception as error:
        hint = "check that it is fitted, and that its file is complete"
        problem = f"cannot be read ({one_line(error)})"
        raise ModelError.about("model", problem, type_name(model), hint) from error


# --- which columns -------------------------------------------------------------------------------


def _columns(adapter: Adapter, table: Table) -> tuple[tuple[Any, ...], tuple[Any, ...] | None]:
    """The table's columns the model gets, and the model's names for them where the table has none."""
    fitted = adapter.columns
    if fitted is not None and (table.named or not fitted):
        if all(name in table.names for name in fitted):
            return fitted, None
        # Also columns named 0, 1, 2 in another order: the library stored such names as texts, and goes by them.
        columns = columns_by_spelling(fitted, table.names)
        missing = [name for name, column in zip(fitted, columns) if column is None]
        if not missing:
            return tuple(columns), None
        if not adapter.names_are_made_up:
            problem = f"lacks {len(missing)} of the {len(fitted)} columns the model was fitted on"
            raise ModelError.about("X", problem, missing, did_you_mean(missing[0], table.names))
    if adapter.n_columns is not None and adapter.n_columns != len(table.names):
        problem = f"has {len(table.names)} columns, but the model was fitted on {adapter.n_columns}"
        raise ModelError.about("X", problem, hint="pass exactly the model's columns, in the order of fitting")
    return table.names, None if adapter.names_are_made_up or table.named else fitted


# --- which parts ---------------------------------------------------------------------------------


def _in_form(form: RowForm, table: Table) -> Table:
    """Rows in the form the model accepts, as a table again."""
    return table if form == RowForm(table.library) else table_of(form.of(table))


def _split(model: Any, scale: str, probe: Table, trial: Trial) -> SplitModel | NoSplit | None:
    """A pipeline taken apart, if that provably gives the same answer; why not, if it is a pipeline."""
    pipeline = unwrapped(model)
    if not is_pipeline(pipeline) or trial.warns:
        return None
    split = split_pipeline(pipeline, probe)
    if isinstance(split, NoSplit):
        return split
    try:
        answer = _adapter_of(split.final, scale).answer
        parts = as_matrix(answer(split.transform(probe)), probe.n_rows)
    except Exception as error:
        return NoSplit(f"the pipeline is transformed whole: its last step refused rows ({one_line(error)})")
    whole = as_matrix(trial.answer, probe.n_rows)
    if parts.shape != whole.shape or not np.allclose(parts, whole, rtol=1e-9, atol=1e-12, equal_nan=True):
        return NoSplit("the pipeline is transformed whole: its parts do not add up to its prediction")
    return SplitModel(split, answer)
