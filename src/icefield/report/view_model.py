"""What a page tells of one model or several, as typed objects: `contents` and `comparison` fill them in, `page` lays them out.

A report of one model is one of N models whose features have no change: a finding has a side for every model, a row of the table
what each model makes of the feature. `Drawn` is all that the page's script is given; ``page/report.schema.json`` says what may be in it,
which `tests/page/report_schema.py` reads from the classes. Nothing is a plain dict before `plain` makes one of it, for the page.
"""

from __future__ import annotations

import typing
from collections.abc import Iterator, Sequence
from dataclasses import Field, dataclass, field, fields, is_dataclass
from functools import cache
from typing import Annotated, Any, ClassVar, Literal

from icefield.plots.panels import Panel, Picture
from icefield.plots.schema import document

EXACT = 2.0**53  # whole numbers up to here are exact in a script
PACKED = "packed"

AxisKind = Literal["number", "integer", "time", "category"]
Value = float | str | None
Numbers = list[float | None]  # one per point or output; None is a number that is not known
Curves = list[Numbers]
Stack = list[Curves]
Long = Annotated[Curves, PACKED]  # lists so long that the file has them as whole numbers
Longer = Annotated[Stack, PACKED]


@typing.dataclass_transform(frozen_default=True, field_specifiers=(field,))
class PagePart:
    """Part of what a page tells: each subclass is a frozen dataclass."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    def __init_subclass__(cls, kw_only: bool = False) -> None:
        # Nobody compares or prints them, and what that takes would be compiled anew in every process.
        dataclass(frozen=True, kw_only=kw_only, eq=False, repr=False)(cls)


# --- what the script draws -------------------------------------------------------------------------


class Axis(PagePart):
    label: str
    kind: AxisKind
    ticks: list[str]
    named: list[tuple[float, str]]
    missing: float | None


class Histogram(PagePart):
    """Shares of the data, between edges or of levels."""

    share: Numbers
    missing: float | None
    edges: Numbers | None = None


class Group(PagePart):
    """The curves of some rows, or of one model, by output."""

    average: Long
    mean: Numbers
    rows: float
    readings: list[str] = field(default_factory=list)


class Interval(PagePart):
    """Ends of a learner's intervals, by output: of each point, low and high, then of the whole curve."""

    labels: list[str]
    note: str
    ends: Stack


class Ale(PagePart):
    x: Numbers
    y: Curves
    mean: Numbers
    values: list[Value]
    rows: int


class MeansSeen(PagePart):
    """Observed and predicted means near places of an axis, where the feature is missing, and of all rows."""

    x: Numbers
    points: list[str]
    values: list[Value]
    rows: list[int]
    truth: Curves
    predicted: Curves
    missing: Curves | None
    mean: Curves


class CurvePanel(PagePart, kw_only=True):
    """One feature's curves on its axis, by output: of all rows (of several models, of the first) and of groups."""

    name: str
    axis: Axis
    x: Numbers
    points: list[str]
    values: list[Value]
    average: Curves
    mean: Numbers
    groups: list[Group]


class RegionPanel(CurvePanel, kw_only=True):
    rules: list[str]


class FeaturePanel(CurvePanel, kw_only=True):
    error: Curves | None
    weight: Numbers
    support: Numbers | None
    low: list[int]
    left_out: int
    histogram: Histogram | None
    log: bool
    interval: Interval | None = None
    bands: Longer | None = None
    curves: Longer | None = None
    rows: list[int] | None = None
    ale: Ale | None = None
    observed: MeansSeen | None = None
    readings: list[str] = field(default_factory=list)
    strengths: Numbers = field(default_factory=list)
    strength_words: list[str] = field(default_factory=list)
    heterogeneities: Numbers = field(default_factory=list)


class SurfacePanel(PagePart):
    names: list[str]
    axes: list[Axis]
    x: Numbers
    y: Numbers
    points: list[list[str]]
    values: list[list[Value]]
    level: Longer
    pure: Longer
    low: list[list[int]]
    share: Curves
    strengths: Numbers
    hs: Numbers
    features: list[int]
    rows: int


class Matrix(PagePart):
    features: list[int]
    strength: Stack
    h: Stack
    note: str


class Share(PagePart):
    """What an output's variance consists of: whole percents that sum to a hundred, and shares."""

    output: str
    alone: int
    pairs: int
    rest: int
    exact: Numbers


class Drawn(PagePart, kw_only=True):
    """All that the script is given."""

    v: Literal[2] = 2
    what: str
    bounds: Numbers
    outputs: list[str]
    groups: list[str]
    by: str | None
    features: list[FeaturePanel]
    matrix: Matrix | None
    surfaces: list[SurfacePanel]
    regions: list[RegionPanel]
    shares: list[Share] | None
    models: int


class LiveFeature(PagePart):
    key: str
    name: str
    axis: Axis
    x: Numbers
    values: list[Value]
    texts: list[str]
    ordered: bool


class LiveStart(PagePart):
    """A row to begin with."""

    said: str
    values: dict[str, Value]
    predicted: float


class LiveWords(PagePart):
    """What is said of a prediction, with places for numbers."""

    output: str
    same: str
    more: str
    less: str


class LiveRow(PagePart):
    """The block of a live row: the model as `core.portable_model` writes it down, grids, rows and words."""

    model: dict[str, Any]
    features: list[LiveFeature]
    rows: list[LiveStart]
    selected: list[int]
    words: list[LiveWords]
    v: Literal[1] = 1


# --- what the page says ----------------------------------------------------------------------------


class Fact(PagePart):
    term: str
    text: str


class Score(PagePart):
    name: str
    value: str
    meaning: str


class Fit(PagePart):
    """Scores, with a picture of observed against predicted; `why` there are none."""

    scores: Sequence[Score] = ()
    rows: str = ""
    picture: Panel | None = None
    names: Sequence[str] = ()
    classes: bool = False
    about: str = ""
    caution: str = ""
    carried: str = ""
    why: str = ""


class Shares(PagePart):
    outputs: list[Share]
    best: int
    note: str


class ModelFacts(PagePart):
    """One of the page's models."""

    name: str
    model: str
    data: str
    fit: Fit
    shares: Shares | None
    top: str


class Side(PagePart):
    """What one model makes of a feature, in a sentence."""

    model: str
    text: str
    size: str = ""


class Finding(PagePart):
    feature: int
    name: str
    sides: list[Side]
    picture: Panel
    grade: str
    cautions: Sequence[str] = ()


class InModel(PagePart):
    """A feature in one model: its place there, and how far it moves the predictions, in their standard deviations."""

    rank: int
    movement: float
    strength: float
    heterogeneity: float
    hidden: bool
    shape: str


class Spark(PagePart):
    kind: str
    d: str


class Row(PagePart, kw_only=True):
    """A feature in the table; `change` is between models, and nothing of one."""

    number: int
    name: str
    full: str
    models: list[InModel]
    change: float | None = None
    partner: str | None = None
    spark: Spark | None = None
    outside: float | None = None
    warning: str = ""


class Card(Row, kw_only=True):
    """A feature with its picture, and where on the page more is told of it."""

    panel: FeaturePanel
    best: int = 0
    related: str = ""
    far: str = ""
    no_ale: str = ""
    partner_link: str = ""
    pairs: Sequence[int] = ()
    region: int | None = None


class NamedColumn(PagePart):
    name: str
    text: str
    link: str


class DataNote(PagePart):
    title: str
    what: str
    columns: list[NamedColumn]
    more: int
    rest: str


class Rule(PagePart):
    rule: str
    share: float
    size: str
    effect: str


class LedgerLine(PagePart):
    cut: str
    removed: float
    why_not: str


class Region(PagePart):
    feature: int
    name: str
    output: int
    removed: float
    sizes: str
    signed: bool
    rules: list[Rule]
    ledger: list[LedgerLine]
    explained: list[float]
    panel: RegionPanel


class SameRows(PagePart):
    """How the predictions of the first two models go together on the same rows."""

    names: list[str]
    output: str
    rows: str
    correlation: float
    apart: str
    picture: Panel | None


class AuditPart(PagePart):
    title: str
    head: list[str]
    rows: list[list[str]]
    failures: list[str]
    notes: list[str]
    asked: list[str]


class AuditRecord(PagePart):
    parts: list[AuditPart]
    examples: list[str]
    more_examples: int
    record: list[Fact]
    ok: bool


class ReportPage(PagePart, kw_only=True):
    """A report of N >= 1 models. What only a report of one tells is empty in others; so is what needs several."""

    title: str
    lede: str
    made: str
    models: list[ModelFacts]
    plain: list[Finding]
    what: str
    bounds: Numbers
    outputs: list[str]
    by: str | None
    groups: list[str]
    rows: list[Row]
    features: list[Card]
    facts: list[Fact]
    together: SameRows | None = None
    left_out: Sequence[str] = ()
    opening: Sequence[Fact] = ()
    plane: Panel | None = None
    notes: Sequence[DataNote] = ()
    unit: str = ""
    small_groups: int = 0
    individual: int = 0
    quantile_rows: int = 0
    only_cards: str = ""
    matrix: Matrix | None = None
    no_pairs: str = ""
    surfaces: Sequence[SurfacePanel] = ()
    regions: Sequence[Region] = ()
    audit: AuditRecord | None = None
    live: LiveRow | None = None

    @property
    def fit(self) -> Fit:
        """The first model's fit."""
        return self.models[0].fit

    def drawn(self) -> Drawn:
        """What the script draws; the rest is in the page already."""
        shares = self.models[0].shares if len(self.models) == 1 and len(self.outputs) > 1 else None
        return Drawn(
            what=self.what, bounds=self.bounds, outputs=self.outputs, groups=self.groups, by=self.by, models=len(self.models),
            features=[card.panel for card in self.features], matrix=self.matrix, surfaces=list(self.surfaces),
            regions=[region.panel for region in self.regions], shares=None if shares is None else shares.outputs,
        )  # fmt: skip


# --- as JSON ---------------------------------------------------------------------------------------


def plain(value: Any) -> Any:
    """An object of these classes as JSON can carry it, its longest lists packed."""
    if value is None or isinstance(value, (str, int, float)):  # nearly all there is
        return value
    if isinstance(value, Panel):
        return document(Picture((value,)))
    if is_dataclass(value):
        kind: Any = type(value)
        members = ((name, getattr(value, name), is_long) for name, is_long in _members(kind))
        return {name: packed(item) if is_long and item else plain(item) for name, item, is_long in members}
    if isinstance(value, dict):
        return {name: plain(item) for name, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, (list, tuple)) else value


def packed(values: Any) -> Any:
    """Nested lists of short decimals as whole numbers and how many places they have; the script divides.

    Examples
    --------
    >>> packed([[0.0893, None], [-2, 0.5]])
    {'places': 4, 'whole': [[893, None], [-20000, 5000]]}
    """
    flat = list(_flat(values))
    places = max(0, *map(_decimals, flat)) if flat else 0
    factor = 10**places
    # While both are exact, their quotient is the very number that was packed.
    exact = max([factor, *(abs(value) * factor for value in flat)]) < EXACT
    return {"places": places, "whole": _whole(values, factor)} if exact else values


def _decimals(value: float) -> int:
    """How many decimals a number is written with.

    Examples
    --------
    >>> [_decimals(value) for value in (0.25, 1e-07, 12)]
    [2, 7, 0]
    """
    mantissa, _, exponent = repr(value).partition("e")
    return len(mantissa.partition(".")[2]) - int(exponent or 0)


def _flat(values: Any) -> Iterator[float]:
    for value in values:
        if isinstance(value, list):
            yield from _flat(value)
        elif value is not None:
            yield value


def _whole(values: Any, factor: int) -> Any:
    if isinstance(values, list):
        return [_whole(value, factor) for value in values]
    return None if values is None else round(values * factor)


@cache
def _members(kind: Any) -> list[tuple[str, bool]]:
    """The names of a class's fields, and which of them hold the longest lists."""
    hints = _hints(kind)
    return [(item.name, PACKED in str(hints[item.name])) for item in fields(kind)]


@cache
def _hints(kind: Any) -> dict[str, Any]:
    return typing.get_type_hints(kind, include_extras=True)
