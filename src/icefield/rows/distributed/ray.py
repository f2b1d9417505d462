"""Ray Datasets: one call of `map_batches` a block, or for several that are small, in the caller's own Ray.

The model is put into Ray's object store once, from where every process of a worker takes it once. Blocks have no numbers
before they are read; they have that of their task, which stays when the task is tried again. What Ray starts for a pass is started
by one task of icefield's, so that cancelling it cancels all.
"""

from __future__ import annotations

import itertools
import re
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, partial
from typing import Any

from icefield.data.columns import library_named
from icefield.errors import ClusterError, IcefieldError
from icefield.progress import Progress
from icefield.rows.distributed import worker
from icefield.rows.distributed.backend import FAN_IN, Backend, Census, tasks_for
from icefield.rows.distributed.broadcast import Broadcast
from icefield.rows.distributed.partition_result import Outcome
from icefield.rows.distributed.polling import wait_while_alive
from icefield.rows.source import arrow_stream

COLOURS = re.compile("\x1b\\[[0-9;]*m")  # in Ray's messages
BLOCK_BITS = 20  # of a number that say which of its task's blocks it is


class RayOrigin(Backend):
    """A `ray.data.Dataset`."""

    label, pickler = "the Ray Dataset", "ray.cloudpickle"

    def __init__(self, dataset: Any) -> None:
        self._dataset = dataset
        self._handles: dict[str, Any] = {}
        self._task_rows: int | None = None  # rows that a task takes together, of blocks that are small

    @cached_property
    def _head(self) -> Any:
        tables = self._run_in_task(self._dataset.limit(1_000), _sample_tables)
        return next((table for table in tables if table.num_rows), tables[0])

    def census(self, columns: Sequence[str], coded: Sequence[str]) -> Census:
        if not coded:  # Ray counts by itself, from metadata where it can
            return self._census_of(int(self._run_in_task(self._dataset, _count)[0]))
        look = partial(_census, tuple(coded))
        seen = [_levels_of(raw) for raw in self._run_in_task(self._map(coded, look), _outcome_bytes)]
        levels = {name: list(dict.fromkeys(v for _, part in seen for v in part[name])) for name in coded}
        return self._census_of(sum(rows for rows, _ in seen), levels)

    def _census_of(self, rows: int, levels: dict[str, list[Any]] | None = None) -> Census:
        tasks = tasks_for(rows, self._blocks, int(library_named("ray").cluster_resources().get("CPU", 0)))
        self._task_rows = -(-rows // tasks) if tasks else None
        return Census(None, rows, levels or {})

    def outcomes(
        self, model: Broadcast, task: Broadcast, columns: Sequence[str], progress: Progress
    ) -> Iterable[Outcome]:
        ray = library_named("ray")
        if model.name not in self._handles:
            self._handles[model.name] = _RayHandle(model.name, ray.put(model.content))
        handles = (self._handles[model.name], _RayHandle(task.name, ray.put(task.content)))
        states = self._map(columns, partial(_run_block, *handles), self._task_rows)
        for _ in range(self._levels):
            states = states.map_batches(partial(_merge, *handles), batch_size=FAN_IN, batch_format="pyarrow")
        progressed = [0, 0]  # outcomes, and rows in them

        def look(so_far: list[bytes]) -> bool:
            for content in so_far[progressed[0] :]:
                outcome = Outcome.from_bytes(content)
                if outcome.failure is not None:
                    return False  # nothing that comes after matters
                progressed[:] = progressed[0] + 1, progressed[1] + sum(outcome.parts.values())
            progress.advance(progressed[1] - progress.done)
            return True

        return [Outcome.from_bytes(content) for content in self._run_in_task(states, _outcome_bytes, look)]

    @cached_property
    def _blocks(self) -> int:
        """The number of blocks, where that is known: of a dataset that was materialized; else 1."""
        counted = getattr(self._dataset, "num_blocks", None)
        try:
            return int(counted()) if counted is not None else 1
        except NotImplementedError:
            return 1

    @property
    def _levels(self) -> int:
        """The number of levels in which outcomes are merged on the cluster."""
        return 2 if self._task_rows is None and self._blocks > FAN_IN**2 else 1

    def _map(self, columns: Sequence[str], work: Any, rows: int | None = None) -> Any:
        """Work on each block by itself, or on so many `rows` at once."""
        try:
            selected = self._dataset.select_columns(list(columns))
        except Exception as error:  # Ray merges the schemas of blocks here
            text = " ".join(f"{type(error).__name__}: {error}".split())[:600]
            raise ClusterError.saying(f"The columns of {self.label} could not be read: {text}.") from error
        return selected.map_batches(work, batch_size=rows, batch_format="pyarrow", zero_copy_batch=True)

    def where(self, number: int) -> str:
        task, block = divmod(number, 1 << BLOCK_BITS)
        which = f"partition {task} (its block {block})" if block else f"partition {task}"
        return f"{which} of {self.label}"

    def _run_in_task(
        self,
        dataset: Any,
        work: Callable[[Any], Iterator[Any]],
        look: Callable[[list[Any]], bool] = lambda _: True,
    ) -> list[Any]:
        """The result of a Ray task that reads a dataset; stops waiting on Ctrl-C or where Ray has died.

        `look` is shown what came so far, and says whether to go on. The dataset is worked on by a task, not from here: a
        task can be cancelled, and all that it started with it.
        """
        ray = library_named("ray")
        options = dataset.context.execution_options
        before, options.preserve_order = options.preserve_order, True
        results: list[Any] = []
        started: list[Any] = []

        def alive() -> bool:
            return ray.is_initialized() and any(node["Alive"] for node in ray.nodes())

        def take() -> None:
            task = ray.remote(work).options(num_cpus=0, num_returns="streaming")
            started.append(task.remote(dataset))
            for reference in started[0]:
                results.append(ray.get(reference))

        def cancel() -> None:
            ray.cancel(started[0], force=True, recursive=True)

        def check_and_look() -> None:
            if not look(list(results)):
                raise _Enough

        try:
            wait_while_alive(take, alive, "The Ray cluster", look=check_and_look, cancel=cancel)
        except _Enough:
            pass
        except (IcefieldError, KeyboardInterrupt):
            raise
        except Exception as error:
            text = COLOURS.sub("", " ".join(f"{type(error).__name__}: {error}".split()))
            raise ClusterError.saying(f"Work on {self.label} failed: {text[:600]}.") from error
        finally:
            options.preserve_order = before
        return results


class _Enough(Exception):
    """No more of a dataset's rows are needed."""


def _outcome_bytes(dataset: Any) -> Iterator[bytes]:
    """The bytes that tasks gave back, in the order of the blocks."""
    for batch in dataset.iter_batches(batch_size=None, batch_format="pyarrow"):
        # Ray does not take a generator within a generator.
        for content in batch["outcome"].to_pylist():  # noqa: UP028
            yield content


def _sample_tables(dataset: Any) -> Iterator[Any]:
    """The rows as Arrow tables; one without rows where there are none."""
    any_batch = False
    for batch in dataset.iter_batches(batch_size=1_000, batch_format="pyarrow"):
        any_batch = True
        yield batch
    if not any_batch:
        schema = dataset.schema()
        yield (library_named("pyarrow").schema([]) if schema is None else schema.base_schema).empty_table()


def _count(dataset: Any) -> Iterator[int]:
    yield int(dataset.count())


# --- in Ray's tasks ------------------------------------------------------------------------------------------


class _RayHandle:
    """A broadcast object in Ray's object store."""

    def __init__(self, name: str, reference: Any) -> None:
        self.name, self.reference = name, reference

    def fetch(self) -> bytes:
        return bytes(library_named("ray").get(self.reference))


def _run_block(model: _RayHandle, task: _RayHandle, block: Any) -> Any:
    """A block in, a row with its outcome out."""
    return _row(worker.run_partition(model, task, _number(), block.to_batches()).to_bytes())


def _merge(model: _RayHandle, task: _RayHandle, rows: Any) -> Any:
    """Rows with outcomes in, one for all of them out."""
    outcomes = [Outcome.from_bytes(content) for content in rows["outcome"].to_pylist()]
    return _row(worker.merge_on_worker(model, task, outcomes).to_bytes())


def _census(coded: tuple[str, ...], block: Any) -> Any:
    """A block in, its size and levels out."""
    return _row(_packed_levels(*worker.census_of(block.to_batches(), coded)))


def _packed_levels(rows: int, levels: dict[str, list[Any]]) -> bytes:
    """A number of rows, and levels by column, as an Arrow stream of one row."""
    arrow = library_named("pyarrow")
    table = arrow.table([arrow.array([of_column]) for of_column in levels.values()], names=list(levels))
    table = table.replace_schema_metadata({"rows": str(rows)})
    return bytes(arrow_stream(table.schema, [table]))


def _levels_of(content: bytes) -> tuple[int, dict[str, list[Any]]]:
    """The number of rows and the levels by column, from the bytes of `_packed_levels`."""
    table = library_named("pyarrow.ipc").open_stream(content).read_all()
    return int(table.schema.metadata[b"rows"]), {name: table[name].to_pylist()[0] for name in table.column_names}  # fmt: skip


def _row(content: bytes) -> Any:
    arrow = library_named("pyarrow")
    return arrow.table({"outcome": arrow.array([content], arrow.large_binary())})


_block_numbers = threading.local()


def _number() -> int:
    """The place of a block: that of its task, which stays when the task is tried again, and its place in it."""
    context = library_named("ray.data._internal.execution.interfaces.task_context").TaskContext.get_current()
    if getattr(_block_numbers, "context", None) is not context:
        _block_numbers.context, _block_numbers.blocks = context, itertools.count()
    return (int(context.task_idx) << BLOCK_BITS) + next(_block_numbers.blocks)
