"""What a partition gives back, and how what several gave back becomes one.

An outcome knows which partitions it is of and how many rows each had, so that a partition that was worked on twice (a task that
was tried again, or run a second time to be sure) counts once. Outcomes merge in the order of their partitions,
whatever the order in which they come.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from icefield.counts import counted
from icefield.errors import ClusterError, IcefieldError, complaint, statement
from icefield.forest import CannotRead

if TYPE_CHECKING:
    from icefield.core.rows import Accumulator

State = dict[str, NDArray[Any]]


@dataclass(frozen=True, eq=False)
class Failure:
    """An error that would come again however often the partition were tried: as it was raised, or what it said."""

    number: int
    said: str
    raised: bytes | None = None

    @classmethod
    def of(cls, number: int, error: Exception) -> Failure:
        """A failure that can travel."""
        said = " ".join(f"{type(error).__name__}: {error}".split())[:2_000]
        if not isinstance(error, (IcefieldError, CannotRead)):
            return cls(number, said)
        try:
            return cls(number, said, pickle.dumps(error))
        except Exception:  # what an error carries may be anything
            return cls(number, said)

    def error(self, where: str) -> Exception:
        """What to raise where the answer was waited for; it names the partition."""
        found = None if self.raised is None else pickle.loads(self.raised)
        if isinstance(found, CannotRead):
            return found  # who asked may have another way, and a message of its own
        if isinstance(found, IcefieldError) and found.parameter is not None:
            return type(found)(
                complaint(found.parameter, f"{found.problem} (in {where})", found.received, found.hint)
            )
        if isinstance(found, IcefieldError):
            return type(found)(statement(f"{found.problem} (In {where}.)", found.hint))
        return ClusterError(statement(f"Work on {where} failed: {self.said}."))


@dataclass(frozen=True, eq=False)
class Outcome:
    """What is known of some partitions.

    Attributes
    ----------
    parts : by partition, its number of rows
    states : what each accumulator knows of them; None where they have no rows
    versions : what differs from where the answer is waited for, each with where it was found
    failure : why there is nothing
    """

    parts: dict[int, int]
    states: list[State] | None = None
    versions: dict[str, str] = field(default_factory=dict)
    failure: Failure | None = None

    @property
    def first(self) -> int:
        return min(self.parts, default=0)

    def packed(self) -> bytes:
        return pickle.dumps(self, protocol=5)

    @staticmethod
    def unpacked(content: bytes) -> Outcome:
        found: Outcome = pickle.loads(content)
        return found


def once(outcomes: Iterable[Outcome]) -> list[Outcome]:
    """Outcomes in the order of their partitions, each partition once."""
    taken: set[int] = set()
    kept = []
    for one in sorted(outcomes, key=lambda one: (one.first, -len(one.parts))):
        known = taken & one.parts.keys()
        if known and len(known) < len(one.parts):
            raise ClusterError(
                statement(f"Partition {min(known)} came back twice, once together with others: it would count twice.")
            )  # fmt: skip
        if not known:
            taken |= one.parts.keys()
            kept.append(one)
    return kept


def merged(accumulators: Sequence[Accumulator], outcomes: Sequence[Outcome]) -> Outcome:
    """Several outcomes as one, in accumulators that know nothing yet."""
    failed = next((one for one in outcomes if one.failure is not None), None)
    if failed is not None:
        return failed
    parts: dict[int, int] = {}
    versions: dict[str, str] = {}
    taken = False
    for one in once(outcomes):
        parts |= one.parts
        versions |= one.versions
        if one.states is None:
            continue
        for accumulator, state in zip(accumulators, one.states, strict=True):
            if taken:
                accumulator.merge(state)
            else:
                accumulator.restore(state)
        taken = True
    states = [one.state() for one in accumulators] if taken else None
    return replace(Outcome(parts, states), versions=versions)


def check_parts(found: dict[int, int], sizes: Sequence[int] | None, total: int | None, label: str) -> int:
    """The number of rows that were added up; an error where rows are missing that were there before."""
    rows = sum(found.values())
    for number, size in enumerate(sizes or ()):
        if size and number not in found:
            raise ClusterError(
                statement(f"Partition {number} of {label}, of {counted(size)} rows, did not come back.",
                          "ask again; if it happens again, look at the engine's own log for that partition")
            )  # fmt: skip
    if total is not None and rows != total:
        other = next((n for n, size in enumerate(sizes or ()) if found.get(n, 0) != size), None)
        which = (
            ""
            if other is None
            else f", partition {other} {counted(found.get(other, 0))} instead of {counted((sizes or ())[other])}"
        )
        raise ClusterError(
            complaint("X", f"gave {counted(rows)} rows in this pass and {counted(total)} before{which}: it must give the same rows every time",
                      label, "write it to files once, or keep it: persist() in Dask, cache() in Spark, materialize() in Ray")
        )  # fmt: skip
    return rows
