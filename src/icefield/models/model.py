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
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from icefield.data.frame import Table, table_of
from icefield.errors import (
    Argument,
    IcefieldError,
    InputError,
    InputTypeError,
    ModelError,
    Setting,
    Value,
    complaint,
    did_you_mean,
    worded,
    write,
)
from icefield.models.adapter import Adapter, Outputs, as_blocks, as_matrix, type_name
from icefield.models.boosters import booster_reader
from icefield.models.estimators import is_estimator, read_estimator
from icefield.models.functions import read_function
from icefield.models.onnx import is_onnx, read_onnx
from icefield.models.row_form import RowForm, usual_forms
from icefield.models.sharing import ONE_AT_A_TIME, alone
from icefield.models.torch import is_module, read_torch
from icefield.models.wrappers import is_pipeline, unwrapped
from icefield.pipeline import Crossing, NoSplit, SplitPipeline, split_pipeline

SCALES = ("response", "raw")
PROBE_ROWS = 5


@dataclass(frozen=True, eq=False)
class Model:
    """A fitted model ready to be asked, with the outputs and scale chosen. Built by `read_model`.

    Attributes
    ----------
    native : the user's object
    kind : ``"classifier"``, ``"regressor"``, ``"outlier detector"``, ``"ranker"``, ``"function"``, ...
    scale : ``"response"`` or ``"raw"``
    scale_label : what the numbers are, for axes
    all_outputs : every output's name on this scale
    selected : positions of the outputs chosen by the target
    outputs : names of the chosen outputs
    columns : labels of the columns the model gets, in its order
    notes : what happened on the way, such as a conversion and its reason
    parallel : whether `predict` may run in several threads at once and gains by it
    """

    native: Any
    kind: str
    scale: str
    scale_label: str
    all_outputs: tuple[Any, ...]
    selected: tuple[int, ...]
    columns: tuple[Any, ...]
    notes: tuple[str, ...]
    parallel: bool
    _answer: Callable[[Any], Any] = field(repr=False)
    _form: RowForm = field(repr=False)
    _warns: bool = field(repr=False, default=False)
    _split: _SplitModel | None = field(repr=False, default=None)

    @property
    def outputs(self) -> tuple[Any, ...]:
        return tuple(self.all_outputs[i] for i in self.selected)

    def predict(self, table: Table) -> NDArray[np.float64]:
        """Predictions of the chosen outputs, one row per row of the table, one column per output."""
        if table.n_rows == 0:
            return np.empty((0, len(self.selected)))
        rows = self._form.of(table.select(self.columns))
        if self.kind == "function" and rows is table.native and hasattr(rows, "copy"):
            rows = rows.copy()  # a function may write into what it gets, and this is the caller's own
        return self._ask(rows, table.n_rows)

    @property
    def pipeline(self) -> SplitPipeline | None:
        """The way of every column through the model's pipeline, or None when there is none to follow."""
        return None if self._split is None else self._split.pipeline

    def crossing(self, table: Table, moving: Iterable[Any]) -> CrossedRows:
        """Rows ready to be asked at many grid points; what does not move is prepared once.

        Parameters
        ----------
        table : a block of rows
        moving : labels of the columns the grid points will replace
        """
        chosen = table.select(self.columns)
        if self._split is None or table.n_rows == 0:
            return CrossedRows(self, chosen)
        # Labels are translated, since rows without names get those the pipeline was fitted with.
        rows = _in_form(self._form, chosen)
        labels = dict(zip(self.columns, rows.names))
        crossing = self._split.pipeline.crossing(rows, [labels[name] for name in moving if name in labels])
        return CrossedRows(self, chosen, crossing, labels)

    def _ask(self, rows: Any, n_rows: int, answer: Callable[[Any], Any] | None = None) -> NDArray[np.float64]:
        """The chosen outputs of the model's answer, once it is one number per row and output."""
        matrix = as_matrix(self._quietly(answer or self._answer, rows), n_rows)
        if matrix.shape[1] != len(self.all_outputs):
            raise ModelError(
                complaint(
                    "model", f"gave {matrix.shape[1]} outputs after {len(self.all_outputs)} at first",
                    hint="a model must answer with the same columns whatever rows it gets",
                )
            )  # fmt: skip
        if self.selected == tuple(range(matrix.shape[1])):
            return matrix
        return np.ascontiguousarray(matrix[:, list(self.selected)])

    def _quietly(self, answer: Callable[[Any], Any], rows: Any) -> Any:
        # Warning filters are the whole process's: a model that touches them is asked one at a time.
        if not self._warns:
            with alone(self):
                return answer(rows)
        with ONE_AT_A_TIME, warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=_NAMES_WARNING)
            return answer(rows)


@dataclass(frozen=True, eq=False)
class _SplitModel:
    """A pipeline taken apart, and how to ask its last step on the model's scale."""

    pipeline: SplitPipeline
    answer: Callable[[Any], Any]


class CrossedRows:
    """A block of rows that can be asked at grid points again and again. Made by `Model.crossing`."""

    def __init__(
        self,
        model: Model,
        table: Table,
        crossing: Crossing | None = None,
        labels: Mapping[Any, Any] | None = None,
    ) -> None:
        self.n_rows = table.n_rows
        self._model, self._table, self._crossing, self._labels = model, table, crossing, labels or {}

    def predict(self, points: Mapping[Any, NDArray[Any]]) -> NDArray[np.float64]:
        """Predictions of every row at every grid point, shape ``(points * rows, outputs)``, grid-major.

        ``points`` maps each moving column to its value at each grid point.
        """
        model = self._model
        size = len(next(iter(points.values())))
        own = {name: values for name, values in points.items() if name in model.columns}
        if not own:  # columns the model does not look at
            return np.tile(model.predict(self._table), (size, 1))
        if self._crossing is None or model._split is None:
            rows = model._form.of(self._table.crossed(own))
            return model._ask(rows, size * self.n_rows)
        rows = self._crossing.at({self._labels[name]: values for name, values in own.items()})
        return model._ask(rows, size * self.n_rows, model._split.answer)


def read_model(model: Any, table: Table, *, target: Any = None, scale: str = "response") -> Model:
    """Read any fitted model, and try it on the first rows of a table.

    Parameters
    ----------
    model : a fitted estimator, booster or network, or a function from rows to numbers
    table : the rows it will be asked about; it may carry columns the model does not use
    target : output to keep: None (every one; the positive class of a binary classifier), ``"all"``,
        a label or name, a position, or a list of those
    scale : ``"response"`` (what the model predicts) or ``"raw"`` (the number before the link)
    """
    if scale not in SCALES:
        raise InputError(
            complaint(
                "scale",
                "must be 'response' or 'raw'",
                scale,
                worded("write ", Setting("scale", "response", python='scale="response"')),
            )
        )
    _check_is_a_model(model)
    if table.n_rows == 0:
        raise InputError(complaint("X", "has no rows", hint="pass at least one row"))
    try:
        adapter = _adapter(model, scale)
        columns, names = _columns(adapter, table)
        probe = table.take(np.arange(min(PROBE_ROWS, table.n_rows))).select(columns)
        tried = _first_accepted(adapter, probe, names)
    except IcefieldError:
        raise
    except Exception as error:
        if _says_not_fitted(error):
            problem = f"is not fitted ({type_name(model)})"
            raise ModelError(complaint("model", problem, hint="fit it first, then pass it")) from error
        raise
    outputs = _outputs(adapter, tried.answer)
    split = _split(model, scale, _in_form(tried.form, probe), tried)
    return Model(
        native=model,
        kind=adapter.kind,
        scale=scale,
        scale_label=adapter.scale_label,
        all_outputs=outputs.names,
        selected=_selected(target, outputs),
        columns=columns,
        notes=adapter.notes + tried.notes + ((split.reason,) if isinstance(split, NoSplit) else ()),
        parallel=adapter.parallel and not tried.warns,
        _answer=adapter.answer,
        _form=tried.form,
        _warns=tried.warns,
        _split=split if isinstance(split, _SplitModel) else None,
    )


def settled_model(
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
) -> Model:
    """A model whose way of being asked is settled already: nothing is tried, rows go over as they are.

    Parameters
    ----------
    native : the user's object
    answer : rows of the table's library to one number per row and output
    table : the rows it will be asked about, with exactly the model's columns
    kind, scale, parallel : as in `Model`
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
        _answer=answer,
        _form=RowForm(table.library),
        _split=None if parts is None else _SplitModel(*parts),
    )


# --- which adapter -------------------------------------------------------------------------------


def _check_is_a_model(model: Any) -> None:
    if inspect.isclass(model):
        raise InputTypeError(
            complaint(
                "model", f"is the class {model.__name__}, not a fitted model",
                hint=f"pass {model.__name__}(...).fit(X, y)",
            )
        )  # fmt: skip
    if isinstance(model, (str, os.PathLike)) and not is_onnx(model):
        raise InputTypeError(
            complaint("model", "is a path, but not to an .onnx file", model, "load the model and pass it")
        )
    if not (is_onnx(model) or is_estimator(model) or callable(model) or booster_reader(model) is not None):
        raise InputTypeError(
            complaint(
                "model", "must be a fitted model or a function from rows to numbers", model,
                "pass an object with predict, or a callable such as lambda X: ...",
            )
        )  # fmt: skip


def _adapter(model: Any, scale: str) -> Adapter:
    """The reader for a kind of model, and what it finds; a library's own complaint becomes a clear one."""
    try:
        return _read(model, scale)
    except IcefieldError:
        raise
    except Exception as error:
        raise ModelError(
            complaint(
                "model", f"cannot be read ({_one_line(error)})", type_name(model),
                "check that it is fitted, and that its file is whole",
            )
        ) from error  # fmt: skip


def _read(model: Any, scale: str) -> Adapter:
    booster = booster_reader(model)
    if booster is not None:
        return booster(model, scale)
    if is_onnx(model):
        return read_onnx(model, scale)
    if is_module(model):
        return read_torch(model, scale)
    if is_estimator(model):
        return read_estimator(model, scale)
    return read_function(model, scale)


def _says_not_fitted(error: BaseException | None) -> bool:
    while error is not None:
        if any("NotFitted" in base.__name__ for base in type(error).__mro__):
            return True
        error = error.__cause__ or error.__context__
    return False


# --- which columns -------------------------------------------------------------------------------


def _columns(adapter: Adapter, table: Table) -> tuple[tuple[Any, ...], tuple[Any, ...] | None]:
    """The table's columns the model gets, and the model's names for them where the table has none."""
    wanted = adapter.columns
    if (
        wanted is not None
        and all(name in table.names for name in wanted)
        and (table.named or len(wanted) == 0)
    ):
        return wanted, None
    if wanted is not None and table.named and not adapter.names_are_made_up:
        return _columns_by_spelling(wanted, table), None
    if adapter.n_columns is not None and adapter.n_columns != len(table.names):
        raise ModelError(
            complaint(
                "X", f"has {len(table.names)} columns, but the model was fitted on {adapter.n_columns}",
                hint="pass exactly the model's columns, in the order of fitting",
            )
        )  # fmt: skip
    return table.names, None if adapter.names_are_made_up or table.named else wanted


def _columns_by_spelling(wanted: Sequence[Any], table: Table) -> tuple[Any, ...]:
    """Columns found by the name the model stored; LightGBM stores blanks as underscores."""
    stored = {str(name).replace(" ", "_"): name for name in table.names}
    found = [name if name in table.names else stored.get(str(name)) for name in wanted]
    missing = [name for name, column in zip(wanted, found) if column is None]
    if missing:
        raise ModelError(
            complaint(
                "X", f"lacks {len(missing)} of the {len(wanted)} columns the model was fitted on",
                missing, did_you_mean(missing[0], table.names),
            )
        )  # fmt: skip
    return tuple(found)


# --- which form of rows --------------------------------------------------------------------------

_NAMES_WARNING = r"X (does not have valid|has) feature names"


@dataclass(frozen=True)
class _Trial:
    form: RowForm
    answer: Any
    warns: bool
    notes: tuple[str, ...] = ()


def _first_accepted(adapter: Adapter, probe: Table, names: tuple[Any, ...] | None) -> _Trial:
    """Hand a few rows over in one form after another until the model takes them without complaint."""
    misread = adapter.avoid(probe) if adapter.avoid else None
    forms = list(adapter.forms) or usual_forms(probe, names)
    if misread:
        forms = [*(f for f in forms if f.library != probe.library), RowForm(probe.library)]
    refusals: list[tuple[RowForm, Exception]] = []
    grumbled: _Trial | None = None
    for form in forms:
        try:
            trial = _try(adapter, form, probe)
        except Exception as error:
            refusals.append((form, error))
            if _says_not_fitted(error):
                raise
            continue
        if trial.warns:
            grumbled = grumbled or trial
            continue
        return _with_reason(trial, probe, refusals, grumbled is not None, misread)
    if grumbled is not None:
        return _with_reason(grumbled, probe, refusals, False, misread)
    raise _refused(probe, refusals)


def _try(adapter: Adapter, form: RowForm, probe: Table) -> _Trial:
    rows = form.of(probe)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        answer = adapter.answer(rows)
    as_matrix(answer, probe.n_rows)
    names_matter = any("feature names" in str(warning.message) for warning in caught)
    return _Trial(form, answer, names_matter)


def _with_reason(
    trial: _Trial,
    probe: Table,
    refusals: list[tuple[RowForm, Exception]],
    grumbled: bool,
    misread: str | None,
) -> _Trial:
    if trial.form == RowForm(probe.library):
        return trial
    if misread:
        reason = misread
    elif refusals:
        reason = f"the model refuses {refusals[0][0]} ({_one_line(refusals[0][1])})"
    elif grumbled:
        reason = "the model checks whether rows have the column names it was fitted with"
    else:
        reason = "that is what the model takes"
    note = f"rows are converted from {probe.library} to {trial.form}: {reason}"
    return _Trial(trial.form, trial.answer, trial.warns, (note,))


def _refused(probe: Table, refusals: list[tuple[RowForm, Exception]]) -> Exception:
    first = refusals[0][1]
    tried = ", ".join(str(form) for form, _ in refusals)
    if isinstance(first, IcefieldError):
        return first
    error = ModelError(
        complaint(
            "model",
            worded(
                f"could not predict the first {probe.n_rows} rows of ",
                Argument("X"),
                f" ({_one_line(first)}; tried {tried})",
            ),
            hint=worded("check that model.predict works on these rows of ", Argument("X")),
        )
    )
    error.__cause__ = first
    return error


def _one_line(error: Exception) -> str:
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text if len(text) <= 200 else text[:197] + '...'}"


# --- which parts ---------------------------------------------------------------------------------


def _in_form(form: RowForm, table: Table) -> Table:
    """Rows in the form the model accepts, as a table again."""
    return table if form == RowForm(table.library) else table_of(form.of(table))


def _split(model: Any, scale: str, probe: Table, tried: _Trial) -> _SplitModel | NoSplit | None:
    """A pipeline taken apart, if that provably gives the same answer; why not, if it is a pipeline."""
    pipeline = unwrapped(model)
    if not is_pipeline(pipeline) or tried.warns:
        return None
    split = split_pipeline(pipeline, probe)
    if isinstance(split, NoSplit):
        return split
    try:
        answer = _adapter(split.final, scale).answer
        parts = as_matrix(answer(split.transform(probe)), probe.n_rows)
    except Exception as error:
        return NoSplit(f"the pipeline is transformed whole: its last step refused rows ({_one_line(error)})")
    whole = as_matrix(tried.answer, probe.n_rows)
    if parts.shape != whole.shape or not np.allclose(parts, whole, rtol=1e-9, atol=1e-12, equal_nan=True):
        return NoSplit("the pipeline is transformed whole: its parts do not add up to its prediction")
    return _SplitModel(split, answer)


# --- which outputs -------------------------------------------------------------------------------


def _outputs(adapter: Adapter, answer: Any) -> Outputs:
    return adapter.naming(tuple(block.shape[1] for block in as_blocks(answer)), answer)


def _selected(target: Any, outputs: Outputs) -> tuple[int, ...]:
    if target is None:
        return outputs.default
    if isinstance(target, str) and target == "all":
        return tuple(range(len(outputs.names)))
    if isinstance(target, (list, tuple, np.ndarray)):
        chosen = tuple(_position(one, outputs) for one in target)
        if not chosen or len(set(chosen)) < len(chosen):
            problem = "names no output" if not chosen else "names an output twice"
            raise InputError(
                complaint("target", problem, target, worded("choose from ", Value(outputs.names)))
            )
        return chosen
    return (_position(target, outputs),)


def _position(target: Any, outputs: Outputs) -> int:
    """Where an output stands: by label first, since labels may be integers too, then by position."""
    for labels in (outputs.names, tuple(outputs.absent)):
        for position, label in enumerate(labels):
            if _same_label(label, target):
                if labels is outputs.names:
                    return position
                reason = outputs.absent[label]
                raise InputError(complaint("target", f"has no output of its own: {reason}", target,
                                           write(target=outputs.names[0])))  # fmt: skip
    if isinstance(target, (int, np.integer)) and not isinstance(target, (bool, np.bool_)):
        if 0 <= target < len(outputs.names):
            return int(target)
        problem = f"is no label, and the positions go from 0 to {len(outputs.names) - 1}"
        raise InputError(complaint("target", problem, target, worded("choose from ", Value(outputs.names))))
    raise InputError(complaint("target", "names an output the model does not have", target,
                               did_you_mean(target, outputs.names)))  # fmt: skip


def _same_label(label: Any, target: Any) -> bool:
    if isinstance(label, str) != isinstance(target, str):
        return False
    try:
        return bool(label == target)
    except (TypeError, ValueError):
        return False
