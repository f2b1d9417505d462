"""Tidy tables of effects: one row per output and grid point, and per group, model or kept curve where there are any.

A block is one effect's columns by name; blocks of several effects stand below each other, told apart by a
column of labels. Which names the columns have, and how blocks that differ are joined, is decided here alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from icefield.data.columns import object_array
from icefield.errors import InputError, InputTypeError

if TYPE_CHECKING:
    from icefield.effect.effect import Effect
    from icefield.effect.record import Record

Block = dict[str, NDArray[Any]]

_RESERVED = ("output", "row", "average", "std", "se", "weight", "group", "prediction")


def effect_frame(effect: Effect) -> Any:
    """The averages of an effect and of its groups."""
    blocks = [averages(effect)]
    if effect.groups:
        from icefield.wording.values import printed_value

        blocks += [averages(group) for group in effect.groups.values()]
        labels = [None, *(printed_value(label) for label in effect.groups)]
        blocks = [block | {"group": _label_column(label, block)} for label, block in zip(labels, blocks)]
    return stack(blocks, effect.library, _zones(effect))


def curves_frame(effect: Effect) -> Any:
    """The kept curves of an effect: output, row and feature values at every grid point, with the prediction."""
    if effect.individual is None:
        raise InputError.about("individual", "asks for curves this effect did not keep", True,
                               "compute it with Explainer.ice(...)")  # fmt: skip
    count, size = effect.individual.shape[1], int(np.prod(effect.average.shape[1:]))
    block = _grid_columns(effect, {*_RESERVED, *(f"q{q:g}" for q in effect.quantiles or ())}, count)
    if effect.rows is not None:
        rows = np.tile(np.repeat(effect.rows, size), len(effect.outputs))
        block = {"output": block.pop("output"), "row": rows} | block
    return stack([block | {"prediction": effect.individual.reshape(-1)}], effect.library, _zones(effect))


def curves_table(effects: Mapping[Any, Effect]) -> Any:
    """The averages of many features in one table: values as numbers where they are, and as text in any case."""
    from icefield.wording.values import printed_value

    blocks, numbers = [], ("average", "std", "se", "weight")
    for feature, effect in effects.items():
        block = averages(effect, only=numbers)
        values = effect.grid[0]
        numeric = values.astype(float) if values.dtype.kind in "biuf" else np.full(len(values), np.nan)
        texts = object_array([printed_value(value) for value in values])
        columns = {
            "feature": object_array([str(feature)] * len(block["average"])),
            "output": object_array([str(output) for output in block["output"].tolist()]),
            "value": np.tile(numeric, len(effect.outputs)),
            "value_text": np.tile(texts, len(effect.outputs)),
        }
        blocks.append(columns | {name: block[name] for name in numbers if name in block})
    return stack(blocks, next(iter(effects.values())).library)


def models_frame(effects: dict[Any, Effect]) -> Any:
    """The averages and their spread of the same effect of several models, in the first one's frame library."""
    first = next(iter(effects.values()))
    blocks = []
    for name, effect in effects.items():
        block = averages(effect, reserved=("model", "output", "average", "std"), only=("average", "std"))
        block["output"] = object_array([str(output) for output in block["output"].tolist()])
        blocks.append({"model": _label_column(str(name), block)} | block)
    if not any(np.isfinite(block.get("std", np.nan)).any() for block in blocks):
        blocks = [{name: values for name, values in block.items() if name != "std"} for block in blocks]
    return stack(blocks, first.library, _zones(first))


def averages(effect: Effect, reserved: Iterable[str] = _RESERVED, only: Sequence[str] | None = None) -> Block:
    """Output, feature values, average, spread and weight at every grid point.

    Parameters
    ----------
    taken : names that belong to other columns: a feature of such a name gets another
    only : which columns of numbers, all by default
    """
    shape = effect.average.shape[1:]
    numbers = {"average": effect.average, "std": effect.std, "se": effect.se}
    numbers |= {f"q{q:g}": array for q, array in (effect.quantiles or {}).items()}
    if effect.interval is not None:
        ends = effect.interval
        numbers |= {"conf_low": ends.low, "conf_high": ends.high}
        numbers |= {"band_low": ends.band_low, "band_high": ends.band_high}
    if effect.weight is not None and effect.weight.shape == shape:
        numbers["weight"] = np.tile(effect.weight.reshape(-1), len(effect.outputs))
    block = _grid_columns(effect, {*reserved, *numbers} if only is None else set(reserved))
    for name, array in numbers.items():
        if array is not None and (only is None or name in only):
            block[name] = array.reshape(-1)
    return block


def _grid_columns(effect: Effect, reserved: set[str], repeat: int = 1) -> Block:
    """The columns of a tidy table that locate a number: the output and each feature's value, `repeat` times per output."""
    shape = effect.average.shape[1:]
    mesh = np.meshgrid(*[np.arange(n) for n in shape], indexing="ij")
    block = {"output": np.repeat(_labels(effect.outputs), int(np.prod(shape)) * repeat)}
    for name, values, indices in zip(effect.features, effect.grid, mesh):
        label = str(name)
        while label in block or label in reserved:
            label += "_"
        block[label] = np.tile(values[indices.ravel()], len(effect.outputs) * repeat)
    return block


def _zones(effect: Effect) -> dict[str, str]:
    return {str(name): effect.naming.zones[name] for name in effect.features if name in effect.naming.zones}


def stack(blocks: Sequence[Block], library: str, zones: Mapping[str, str] | None = None) -> Any:
    """Blocks below each other as a frame of a library; a column that some blocks lack is NaN there.

    `zones` are those of columns whose times are their clocks'.
    """
    from icefield.data.new_frames import frame_of

    fills = [np.full(len(next(iter(block.values()))), np.nan) for block in blocks]
    names = dict.fromkeys(name for block in blocks for name in block)
    columns = {name: _join([block.get(name, fill) for block, fill in zip(blocks, fills)]) for name in names}
    return frame_of(columns, library, zones)


def as_csv(frame: Any, path: Any) -> str | None:
    """A frame as CSV: written to a file, or as text where no path is given."""
    from icefield.data.new_frames import frame_as_csv
    from icefield.effect.storage import writable
    from icefield.effect.whole_files import atomic_write

    if path is None:
        return frame_as_csv(frame, None)
    with atomic_write(writable(path, 'write "age.csv"')) as file:
        return frame_as_csv(frame, str(file))


def write_parquet(frame: Any, path: Any) -> None:
    """Write a frame as a Parquet file."""
    from icefield.data.new_frames import frame_as_parquet
    from icefield.effect.storage import writable
    from icefield.effect.whole_files import atomic_write

    with atomic_write(writable(path, 'write "age.parquet"')) as file:
        frame_as_parquet(frame, str(file))


def with_record(frame: Any, record: Record | None) -> Any:
    """A frame with the fields of a record as further columns; unchanged without a record."""
    from icefield.effect.record import Record

    if record is None:
        return frame
    if not isinstance(record, Record):
        raise InputTypeError.about("record", "must be a Record", record, "write record=explainer.record()")
    from icefield.data.new_frames import with_constants

    return with_constants(frame, record.columns)


def _join(parts: list[NDArray[Any]]) -> NDArray[Any]:
    kinds = {part.dtype.kind for part in parts}
    if len(kinds) == 1 or kinds <= set("iuf"):
        return parts[0] if len(parts) == 1 else np.concatenate(parts)
    return object_array([value for part in parts for value in part])


def _label_column(label: str | None, block: Block) -> NDArray[Any]:
    return object_array([label] * len(block["average"]))


def _labels(labels: tuple[Any, ...]) -> NDArray[Any]:
    """Output names as a column: of their own type when they share one, else as text."""
    types = {type(label) for label in labels}
    if len(types) == 1 and types <= {str, int, float, bool, np.int64, np.float64, np.str_}:
        return np.array(labels, dtype=object if types <= {str, np.str_} else None)
    return object_array([str(label) for label in labels])
