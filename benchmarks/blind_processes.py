"""The blind set: 60 processes as users have them, each with what must be said of it, stated before anything was said.

Written on 2026-11-18 from the documented definitions alone, without a look at how statements are made. True functions
are the models; for about half of the processes a model is fitted to noisy draws as well, whose own truth is computed from it
by brute force. Nothing of the set was explained before the truths were committed: only that data can be drawn, and that
no stated truth contradicts brute force, was tried. Scoring is in `blind`.

Rules, beside those of `fresh`:

- A claim is made where the number it rests on is clearly on one side of the documented threshold: at least one and a half
  times, or at most half of it (interactions and differences of curves: at most 0.6). All other features are not asked.
- Ranks are claimed for movements at least 1.25 times apart, ties for columns with exactly the same values in
  another order. Levels tie exactly or lie 10 % of the range apart.
- Missing values matter from 0.3 units on, and do not below 0.02.
- The unit is robust where the SD is over 1.5 times as large as three half-widths of the middle two thirds, and SD where
  it is at most 0.75 times as large.
- Few rows carry a curve's variance where at most 12 do; nothing is asked between 12 and 40.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.fresh import (
    Case,
    Fact,
    Formula,
    Rng,
    columns,
    fact,
    facts,
    flags,
    learner,
    normal,
    one_of,
    repeated,
    sigmoid,
    whole,
)

WRITTEN = "2026-11-18"
SEED = 88_000
KINDS = ("missing", "rare", "outputs", "one-hot", "tails", "ties", "log", "panel", "small", "constant")
Data = Callable[[Rng], pd.DataFrame]


@dataclass(frozen=True)
class Truth(Fact):
    """What is true of one feature, beside what a `Fact` holds; None is open.

    Attributes
    ----------
    line : whether the shape is a straight line
    missing : "higher" or "lower" where it is missing, or "" where that makes no difference
    highest, lowest : the levels with the highest and the lowest average, all that tie
    place : a range that holds the place of the turn of a U or an inverted U, or of a step
    few : whether the standard errors of its curve rest on few rows
    """

    line: bool | None = None
    missing: str | None = None
    highest: frozenset[str] | None = None
    lowest: frozenset[str] | None = None
    place: tuple[float, float] | None = None
    few: bool | None = None


STRAIGHT = {
    "line+": ("up", True),
    "line-": ("down", True),
    "curve+": ("up", False),
    "curve-": ("down", False),
}


def true(
    shape: str | None = None,
    by: str | None = "",
    *,
    missing: str | None = "",
    high: str | None = None,
    low: str | None = None,
    place: tuple[float, float] | None = None,
    few: bool | None = None,
    **more: Any,
) -> Truth:
    """A truth in few words: those of `fact`, and lines or curves by direction ("line+", "curve-")."""
    word, line = STRAIGHT.get(shape or "", (shape, None))
    stated = fact(word, by, **more)
    return Truth(
        **vars(replace(stated, matters=True) if missing else stated),
        line=line,
        missing=missing,
        highest=None if high is None else frozenset(high.split()),
        lowest=None if low is None else frozenset(low.split()),
        place=place,
        few=few,
    )


FLAT = true("flat")


@dataclass(frozen=True, eq=False)
class Blind:
    """A process: how a case is drawn, and what is true of it.

    Attributes
    ----------
    truth : per output (None where there is one) and feature
    ranks : groups of features, each clearly stronger than the next; several in the first group tie
    pair : the strongest interacting pair
    one_hot : columns that are one feature; empty where no columns are, None where that is open
    unit : "SD" or "robust SD"
    opening : "constant" or "shared", where nothing else is to be said at the start
    speaks : per feature the output that it moves most
    learner : the model that is fitted as well, to targets with this noise (a share of their spread)
    holds : whether such a fit says something of the world; None is open
    """

    name: str
    kinds: tuple[str, ...]
    draw: Callable[[Rng], Case]
    truth: Mapping[str | None, Mapping[str, Truth]]
    ranks: tuple[frozenset[str], ...] = ()
    pair: frozenset[str] | None = None
    one_hot: tuple[frozenset[str], ...] | None = ()
    unit: str | None = "SD"
    opening: str | None = None
    speaks: Mapping[str, str] = field(default_factory=dict)
    learner: str | None = None
    noise: float = 0.3
    holds: bool | None = True


class Outputs(Formula):
    """A true function with several outputs."""

    def predict(self, frame: Any) -> Any:
        value = self.function(**{name: frame[name].to_numpy() for name in self.arguments})
        return np.column_stack([np.broadcast_to(np.asarray(one, float), (len(frame),)) for one in value])


class Classes(Outputs):
    """True probabilities of several classes, from a function that gives their scores."""

    def __init__(self, function: Callable[..., Any], names: Any, classes: str) -> None:
        super().__init__(function, names)
        self.classes_ = np.array(classes.split(), dtype=object)

    def predict_proba(self, frame: Any) -> Any:
        scores = np.exp(super().predict(frame))
        return scores / scores.sum(axis=1, keepdims=True)

    def predict(self, frame: Any) -> Any:
        return self.classes_[self.predict_proba(frame).argmax(axis=1)]


def process(
    name: str,
    kinds: str,
    function: Callable[..., Any],
    data: Data,
    truth: Mapping[Any, Any],
    *,
    ranks: str = "",
    pair: str = "",
    one_hot: str | None = "",
    cluster: str | None = None,
    classes: str = "",
    **more: Any,
) -> Blind:
    """A process whose model is `function`; a truth by output has mappings as values.

    `ranks` reads "age = height > weight", groups of `one_hot` are separated by ";".
    """
    several = not isinstance(next(iter(truth.values())), Truth)

    def draw(rng: Rng) -> Case:
        X = data(rng)
        units = None if cluster is None else X.pop(cluster).to_numpy()
        model = (
            Classes(function, list(X), classes) if classes
            else (Outputs if several else Formula)(function, list(X))
        )  # fmt: skip
        return Case(model, X, cluster=units)

    return Blind(
        name,
        tuple(kinds.split()),
        draw,
        truth if several else {None: truth},
        tuple(frozenset(group.split(" = ")) for group in ranks.split(" > ")) if ranks else (),
        frozenset(pair.split()) or None,
        None if one_hot is None else tuple(frozenset(g.split()) for g in one_hot.split(";") if g),
        **more,
    )


def fitted_case(one: Blind, case: Case, rng: Rng) -> Case:
    """The process's learner, fitted to targets drawn from the true function."""
    assert one.learner is not None
    X, model = case.X, case.model
    if hasattr(model, "predict_proba"):
        chance = model.predict_proba(X).cumsum(axis=1)
        y = model.classes_[(rng.random(len(X))[:, None] > chance).sum(axis=1)]
    elif one.learner.endswith("classifier") or one.learner == "logistic":
        y = (rng.random(len(X)) < model.predict(X)).astype(int)
    else:
        value = model.predict(X)
        spread = value.std(axis=0)
        y = value + np.where(spread > 1e-9, one.noise * spread, 1.0) * rng.normal(size=value.shape)
    own = learner(one.learner, X, int(rng.integers(2**31)))
    return replace(case, model=own.fit(X, y), y=y)


# --- data ------------------------------------------------------------------------------------------


def lacking(data: Data, share: float, names: str, where: Callable[[pd.DataFrame], Any] | None = None) -> Data:
    """Exactly this share of rows without these columns: any rows, or those where a score, with noise, is largest.

    Columns of numbers are then shifted to a mean of 0 over the rows that have them, if their name ends in `_`.
    """

    def draw(rng: Rng) -> pd.DataFrame:
        frame = data(rng)
        score = rng.random(len(frame)) if where is None else where(frame) + 0.5 * rng.normal(size=len(frame))
        gone = np.argsort(-score)[: round(share * len(frame))]
        for name in names.split():
            if pd.api.types.is_numeric_dtype(frame[name]):
                frame[name] = frame[name].astype(float)
            frame.loc[gone, name] = np.nan
            if name.endswith("_"):
                frame[name] -= frame[name].mean()
        return frame

    return draw


def also(data: Data, **made: Callable[[pd.DataFrame, Rng], Any]) -> Data:
    """Further columns, made of those there are."""

    def draw(rng: Rng) -> pd.DataFrame:
        frame = data(rng)
        for name, how in made.items():
            frame[name] = how(frame, rng)
        return frame

    return draw


def shuffled(name: str) -> Callable[[pd.DataFrame, Rng], Any]:
    """A column's values in another order."""
    return lambda frame, rng: rng.permutation(frame[name].to_numpy())


def exactly(count: int) -> Callable[[Rng, int], Any]:
    """1 in so many rows, 0 in the others."""
    return lambda rng, rows: rng.permutation((np.arange(rows) < count).astype(int))


def evenly_of(levels: str) -> Callable[[Rng, int], Any]:
    """Levels that are, up to one row, equally many."""
    words = np.array(levels.split(), dtype=object)
    return lambda rng, rows: rng.permutation(words[np.arange(rows) % len(words)])


def powers(low: float, high: float) -> Callable[[Rng, int], Any]:
    """Powers of ten with evenly drawn exponents."""
    return lambda rng, rows: 10 ** rng.uniform(low, high, rows)


def lognormal(spread: float) -> Callable[[Rng, int], Any]:
    return lambda rng, rows: rng.lognormal(0, spread, rows)


def spread_out(data: Data, name: str, kind: type = int) -> Data:
    """A category as a column of 0 and 1 for each level."""

    def draw(rng: Rng) -> pd.DataFrame:
        frame = data(rng)
        return frame.drop(columns=name).join(pd.get_dummies(frame[name], prefix=name).astype(kind))

    return draw


def zero_mean(data: Data, name: str) -> Data:
    return also(data, **{name: lambda frame, rng: frame[name] - frame[name].mean()})


def gone(values: Any) -> Any:
    """1 where a value is missing."""
    return pd.isna(values).astype(float)


def filled(values: Any, value: float = 0.0) -> Any:
    values = np.asarray(values, dtype=float)
    return np.where(np.isnan(values), value, values)


def number(values: Any, missing: float = 0.0, **codes: float) -> Any:
    """The number of each level, and of a missing one."""
    return pd.Series(values).map(codes).fillna(missing).to_numpy(float)


def log10(values: Any) -> Any:
    return np.log10(np.asarray(values, dtype=float))


# fmt: off


def blind_set() -> list[Blind]:
    """All processes, by what they are about."""
    return [
        *_missing(), *_rare(), *_outputs(), *_one_hot(), *_tails(), *_ties(), *_log_scales(), *_panels(),
    ]


# --- missing values --------------------------------------------------------------------------------


def _missing() -> list[Blind]:
    return [
        process(
            "missing at random, filled with the mean", "missing",
            lambda age_, income: 2 * filled(age_) + income,
            lacking(columns(300, age_=normal(), income=normal(), noise=normal()), 0.2, "age_"),
            facts(age_=true("line+", few=False), income=true("line+", few=False), noise=FLAT),
            ranks="age_ > income > noise", learner="lightgbm",
        ),
        process(
            "nothing but being missing matters", "missing",
            lambda income, size: 5 * gone(income) + 0.5 * size,
            lacking(columns(200, income=normal(), size=normal(), noise=normal()), 0.4, "income"),
            facts(income=true("flat", missing="higher"), size=true("line+"), noise=FLAT),
            ranks="income > size > noise", learner="lightgbm",
        ),
        process(
            "high incomes are not told", "missing log",
            lambda income, rate: 1.2 * np.log(filled(income, 20.0)) - rate,
            lacking(columns(250, income=lognormal(1.0), rate=normal()), 0.2, "income", lambda X: np.log(X["income"])),
            facts(income=true("up", missing="higher"), rate=true("line-")),
            ranks="income > rate", learner="histogram",
        ),
        process(
            "regions that are not known stand lowest", "missing ties",
            lambda region, price: number(region, -2.0, north=0, south=1, east=2) + 0.8 * price,
            lacking(columns(180, region=evenly_of("north south east"), price=normal(), noise=normal()), 0.2, "region"),
            facts(region=true("levels", missing="lower", high="east"), price=true("line+"), noise=FLAT),
            ranks="region > price > noise",
        ),
        process(
            "two columns missing in the same rows", "missing",
            lambda visit_, test_: filled(visit_) + filled(test_) + 2.5 * gone(visit_),
            lacking(columns(300, visit_=normal(), test_=normal(), noise=normal()), 0.25, "visit_ test_"),
            facts(visit_=true("line+", missing="higher", thin=None), test_=true("line+", thin=None), noise=FLAT),
            ranks="visit_ > test_ > noise", learner="lightgbm",
        ),
        process(
            "missing where another column is high", "missing",
            lambda dose, lab: 1.5 * dose + np.where(np.isnan(lab), -2.0, 0.6 * filled(lab)),
            lacking(columns(300, dose=normal(), lab=normal(), noise=normal()), 0.3, "lab", lambda X: X["dose"]),
            facts(dose=true("line+", thin=None), lab=true("line+", missing="lower", thin=None), noise=FLAT),
            ranks="dose > lab > noise",
        ),
        process(
            "few missing values, a large effect", "missing",
            lambda score, hours: filled(score) + hours + 6 * gone(score),
            lacking(columns(300, score=normal(), hours=normal(), noise=normal()), 0.06, "score"),
            facts(score=true("line+", missing="higher"), hours=true("line+"), noise=FLAT),
            ranks="score > hours > noise",
        ),
        process(
            "being missing turns another effect around", "missing",
            lambda code, dose: dose * (1 - 2 * gone(code)),
            zero_mean(lacking(columns(300, code=normal(), dose=normal(), noise=normal()), 0.25, "code"), "dose"),
            facts(code=true("flat", "dose", missing=None, hidden=True, split="dose"),
                  dose=true("line+", "code", split="code"), noise=FLAT),
            pair="code dose",
        ),
        process(
            "holes that mean nothing", "missing",
            lambda weight, height: 2 * weight - height,
            lacking(columns(200, weight=normal(), height=normal(), first__second__third=normal()), 0.3, "first second"),
            facts(weight=true("line+", few=False), height=true("line-", few=False), first__second__third=FLAT),
            ranks="weight > height > first", learner="histogram",
        ),
        process(
            "a step in counts, and not counted", "missing small",
            lambda visits: np.where(np.isnan(visits), -2.0, 2.0 * (filled(visits) > 10.5)),
            lacking(columns(150, visits=whole(0, 20), noise=normal()), 0.15, "visits"),
            facts(visits=true("step+", missing="lower", place=(9.9, 11.1)), noise=FLAT),
            ranks="visits > noise", learner="lightgbm",
        ),
        process(
            "sixty rows, a third missing", "missing small",
            lambda pulse, years: 3 * gone(pulse) + filled(pulse) + 0.8 * years,
            lacking(columns(60, pulse=normal(), years=normal()), 0.3, "pulse"),
            facts(pulse=true("line+", missing="higher"), years=true("line+")),
            ranks="pulse > years",
        ),
        process(
            "a higher chance where it is missing", "missing",
            lambda answer, years: 0.25 + 0.35 * gone(answer) + 0.08 * np.clip(years, -2, 2),
            lacking(columns(300, answer=normal(), years=normal(), noise=normal()), 0.3, "answer"),
            facts(answer=true("flat", missing="higher"), years=true("up"), noise=FLAT),
            ranks="answer > years > noise", learner="histogram classifier", holds=None,
        ),
        process(
            "a U, and lower where missing", "missing small",
            lambda balance: np.where(np.isnan(balance), -1.0, 2 * filled(balance) ** 2),
            lacking(columns(80, balance=(-1.5, 1.5), noise=normal()), 0.2, "balance"),
            facts(balance=true("U", missing="lower", place=(-0.4, 0.4)), noise=FLAT),
            ranks="balance > noise",
        ),
    ]


# --- rare events -----------------------------------------------------------------------------------


def _rare() -> list[Blind]:
    return [
        process(
            "two in a hundred, one risk factor", "rare",
            lambda pressure: sigmoid(-5 + 1.5 * np.asarray(pressure)),
            columns(300, pressure=normal(), left=normal(), right=normal()),
            facts(pressure=true("curve+"), left__right=FLAT),
            ranks="pressure > left", unit=None,
        ),
        process(
            "two risk factors that multiply", "rare",
            lambda smoke, age: 0.01 * np.exp(np.clip(0.9 * smoke + 0.9 * age, -4, 3)),
            columns(300, smoke=normal(), age=normal(), noise=normal()),
            facts(smoke=true("up", "age", split=None), age=true("up", "smoke", split=None), noise=FLAT),
            pair="smoke age", unit=None,
        ),
        process(
            "risks that add up, of two flags", "rare",
            lambda diabetes, smoker: 0.01 + 0.05 * diabetes + 0.02 * smoker,
            columns(300, diabetes=exactly(75), smoker=exactly(90), noise=normal()),
            facts(diabetes=true("two+"), smoker=true("two+"), noise=FLAT),
            ranks="diabetes > smoker > noise",
        ),
        process(
            "twelve alarms among three hundred, and a slow rise", "rare tails",
            lambda alarm, load: np.where(np.asarray(alarm) == 1, 0.9, 0.004 * np.exp(np.clip(load, -3, 3))),
            columns(300, alarm=exactly(12), load=normal(), noise=normal()),
            facts(alarm=true("two+", None), load=true("up", None), noise=FLAT),
            ranks="alarm > load > noise", unit="robust SD",
        ),
        process(
            "one in ten, by two numbers", "rare",
            lambda dose, weight: sigmoid(-3.5 + 2 * np.asarray(dose) - 1.2 * np.asarray(weight)),
            columns(300, dose=normal(), weight=normal(), noise=normal()),
            facts(dose=true("up", "weight", split=None), weight=true("down", "dose", split=None), noise=FLAT),
            pair="dose weight", ranks="dose > weight > noise", unit=None, learner="logistic",
        ),
        process(
            "rare, but not where a value is missing", "rare missing",
            lambda test: 0.01 + 0.15 * gone(test),
            lacking(columns(300, test=normal(), age=normal(), noise=flags()), 0.2, "test"),
            facts(test=true("flat", missing="higher"), age__noise=FLAT),
            ranks="test > age", unit=None,
        ),
        process(
            "one clinic of four", "rare ties",
            lambda clinic: number(clinic, A=0.01, B=0.01, C=0.01, D=0.12),
            columns(200, clinic=evenly_of("A B C D"), age=normal(), sex=flags()),
            facts(clinic=true("levels", high="D", low="A B C"), age__sex=FLAT),
            ranks="clinic > age", unit=None, learner="logistic", holds=None,
        ),
    ]


# --- several outputs -------------------------------------------------------------------------------


def _outputs() -> list[Blind]:
    return [
        process(
            "two outputs that go opposite ways", "outputs small",
            lambda heat, salt, acid: (2 * heat + salt, -2 * heat + acid),
            columns(60, heat=normal(), salt=normal(), acid=normal()),
            {"0": facts(heat=true("line+"), salt=true("line+"), acid=FLAT),
             "1": facts(heat=true("line-"), acid=true("line+"), salt=FLAT)},
            speaks={"salt": "0", "acid": "1"}, learner="linear", noise=0.2,
        ),
        process(
            "three outputs, a feature each", "outputs",
            lambda iron, zinc, lead: (3 * iron, -zinc, np.abs(lead)),
            columns(150, iron=normal(), zinc=normal(), lead=(-2, 2), noise=normal()),
            {"0": facts(iron=true("line+"), zinc__lead__noise=FLAT),
             "1": facts(zinc=true("line-"), iron__lead__noise=FLAT),
             "2": facts(lead=true("U", place=(-0.5, 0.5)), iron__zinc__noise=FLAT)},
            speaks={"iron": "0", "zinc": "1", "lead": "2"}, learner="forest", noise=0.1,
        ),
        process(
            "three classes along one number", "outputs",
            lambda grade: (-2.5 * grade, 0.8 + 0 * grade, 2.5 * grade),
            columns(300, grade=(-2, 2), noise=normal()),
            {"low": facts(grade=true("down|step-"), noise=FLAT),
             "middle": facts(grade=true("cap", place=(-0.4, 0.4)), noise=FLAT),
             "high": facts(grade=true("up|step+"), noise=FLAT)},
            classes="low middle high", learner="histogram classifier",
        ),
        process(
            "two outputs of very different size", "outputs",
            lambda rooms, floor: (rooms + 0.5 * floor, 1000 * floor - 300 * rooms),
            columns(120, rooms=normal(), floor=normal(), noise=normal()),
            {"0": facts(rooms=true("line+"), floor=true("line+"), noise=FLAT),
             "1": facts(rooms=true("line-"), floor=true("line+"), noise=FLAT)},
            speaks={"rooms": "0", "floor": "1"}, learner="linear", noise=0.2,
        ),
        process(
            "three classes by a category", "outputs",
            lambda soil, rain: (number(soil, clay=2.5, sand=0, loam=0), number(soil, clay=0, sand=2.5, loam=0), 0.8 + 0 * rain),
            columns(240, soil=evenly_of("clay sand loam"), rain=normal()),
            {"oak": facts(soil=true("levels", high="clay", low="sand"), rain=FLAT),
             "pine": facts(soil=true("levels", high="sand", low="clay"), rain=FLAT),
             "reed": facts(soil=true("levels", high="loam", low="clay sand"), rain=FLAT)},
            classes="oak pine reed", learner="histogram classifier",
        ),
        process(
            "an output that only one feature moves", "outputs small",
            lambda speed, angle: (speed + angle, -3 * angle),
            columns(50, speed=normal(), angle=normal()),
            {"0": facts(speed=true("line+"), angle=true("line+")),
             "1": facts(speed=FLAT, angle=true("line-"))},
            speaks={"speed": "0", "angle": "1"},
        ),
        process(
            "missing matters to one output", "outputs missing",
            lambda lab_, age: (2 * gone(lab_) + age, filled(lab_) - age),
            lacking(columns(250, lab_=normal(), age=normal(), noise=normal()), 0.3, "lab_"),
            {"0": facts(lab_=true("flat", missing="higher"), age=true("line+"), noise=FLAT),
             "1": facts(lab_=true("line+"), age=true("line-"), noise=FLAT)},
        ),
        process(
            "a rare third class", "outputs rare",
            lambda score: (1.5 * score, -1.5 * score, -3.3 + 0 * score),
            columns(300, score=normal(), noise=normal()),
            {"no": facts(score=true("up"), noise=FLAT),
             "yes": facts(score=true("down"), noise=FLAT),
             "other": facts(score=true("cap", place=(-0.4, 0.4)), noise=FLAT)},
            classes="no yes other",
        ),
        process(
            "an interaction in one output only", "outputs",
            lambda wind, wave, tide: (wind * wave + 0.5 * tide, wind + wave),
            zero_mean(zero_mean(columns(300, wind=normal(), wave=normal(), tide=normal()), "wind"), "wave"),
            {"0": facts(wind=true("flat", "wave", hidden=True, split="wave"), wave=true("flat", "wind", hidden=True, split="wind"),
                        tide=true("line+")),
             "1": facts(wind=true("line+"), wave=true("line+"), tide=FLAT)},
            speaks={"tide": "0"}, learner="forest", noise=0.1,
        ),
    ]


# --- one-hot groups --------------------------------------------------------------------------------


def _one_hot() -> list[Blind]:
    return [
        process(
            "a category of three as columns", "one-hot",
            lambda fuel_gas, fuel_oil, mileage: 3 * fuel_gas + 1.5 * fuel_oil - mileage,
            spread_out(columns(240, fuel=evenly_of("gas oil sun"), mileage=normal(), noise=normal()), "fuel"),
            facts(fuel_gas__fuel_oil=true("two+", thin=None), fuel_sun=true("flat", thin=None), mileage=true("line-"), noise=FLAT),
            ranks="fuel_gas > mileage > noise", one_hot="fuel_gas fuel_oil fuel_sun", learner="lightgbm",
        ),
        process(
            "a category of five as truth values", "one-hot small",
            lambda day_mon, day_fri, hours: 2.0 * day_mon - 2.0 * day_fri + 0.5 * hours,
            spread_out(columns(100, day=evenly_of("mon tue wed thu fri"), hours=normal()), "day", bool),
            facts(day_mon=true("levels", high="True", low="False", thin=None), day_fri=true("levels", high="False", low="True", thin=None),
                  day_tue__day_wed__day_thu=true("flat", thin=None), hours=true("line+")),
            one_hot="day_mon day_tue day_wed day_thu day_fri",
        ),
        process(
            "flags that are no group", "one-hot small",
            lambda pool, garage, garden: 3.0 * pool + 2.0 * garage + 1.0 * garden,
            columns(70, pool=exactly(35), garage=exactly(35), garden=exactly(35), noise=normal()),
            facts(pool__garage__garden=true("two+"), noise=FLAT),
            ranks="pool > garage > garden > noise", learner="linear",
        ),
        process(
            "two categories as columns", "one-hot",
            lambda size_l, colour_red: 2.0 * size_l + 1.0 * colour_red,
            spread_out(spread_out(columns(300, size=evenly_of("s m l"), colour=evenly_of("red green blue grey"), age=normal()),
                                  "size"), "colour"),
            facts(size_l=true("two+", thin=None), colour_red=true("two+", thin=None), size_s__size_m=true("flat", thin=None),
                  colour_green__colour_blue__colour_grey=true("flat", thin=None), age=FLAT),
            ranks="size_l > colour_red > age",
            one_hot="size_s size_m size_l;colour_red colour_green colour_blue colour_grey",
        ),
        process(
            "a slope that depends on a column of a group", "one-hot",
            lambda crop_rye, rain: rain * (1 - 2 * np.asarray(crop_rye, float)),
            zero_mean(spread_out(columns(300, crop=one_of("rye oat corn", (0.3, 0.35, 0.35)), rain=normal()), "crop"), "rain"),
            facts(crop_rye=true("flat", "rain", hidden=True, thin=None, split="rain"), crop_oat__crop_corn=true("flat", thin=None),
                  rain=true("line+", "crop_rye", split="crop_rye")),
            pair="crop_rye rain", one_hot="crop_rye crop_oat crop_corn", learner="lightgbm",
        ),
        process(
            "a group beside a column with holes", "one-hot missing",
            lambda plan_gold, calls: 2.0 * plan_gold - 3 * gone(calls),
            lacking(spread_out(columns(200, plan=evenly_of("gold basic none"), calls=normal(), noise=normal()), "plan"), 0.2, "calls"),
            facts(plan_gold=true("two+", thin=None), plan_basic__plan_none=true("flat", thin=None),
                  calls=true("flat", missing="lower"), noise=FLAT),
            one_hot="plan_gold plan_basic plan_none", ranks="calls > noise",
        ),
    ]


# --- heavy tails -----------------------------------------------------------------------------------


def _tails() -> list[Blind]:
    return [
        process(
            "amounts over five decades, by their logarithm", "tails log small",
            lambda amount, age: np.log(amount) + age,
            columns(60, amount=lognormal(2.5), age=normal()),
            facts(amount=true("up"), age=true("line+")),
            ranks="amount > age", learner="histogram", holds=None,
        ),
        process(
            "a column with far values, in a line", "tails",
            lambda loss, age: 0.5 * loss + 2 * age,
            also(columns(300, age=normal(), noise=normal()), loss=lambda X, rng: rng.standard_t(3, len(X))),
            facts(loss=true("line+"), age=true("line+"), noise=FLAT),
            ranks="age > loss > noise",
        ),
        process(
            "the same for every row", "constant",
            lambda left: np.full(len(left), 0.3),
            columns(150, left=normal(), right=normal(), kind=one_of("a b c")),
            facts(left__right__kind=FLAT),
            opening="constant", unit=None, learner="lightgbm", holds=False,
        ),
        process(
            "a slip of the pen: one value a million times too large", "tails",
            lambda length, width: 3 * np.tanh(length) + width,
            also(columns(200, length=normal(), width=normal(), noise=normal()),
                 length=lambda X, rng: X["length"].where(X.index != 7, 1e6)),
            facts(length=true("up"), width=true("line+"), noise=FLAT),
            ranks="length > width > noise", learner="histogram",
        ),
        process(
            "one row predicted far from all others", "tails",
            lambda code, age, size: np.where(np.asarray(code) == 999, 1e4, age + 0.5 * size),
            also(columns(250, age=normal(), size=normal(), noise=normal()), code=lambda X, rng: np.where(X.index == 11, 999, X.index % 5)),
            facts(age=true("line+"), size=true("line+"), noise=FLAT, code=true(None, None, hidden=None, thin=None, split=None)),
            ranks="code > age > size > noise", unit=None,
        ),
        process(
            "nine rows of three hundred carry it", "tails",
            lambda ward, dose, age: 0.5 * age + 12 * ward * dose,
            columns(300, ward=exactly(9), dose=normal(), age=normal(), noise=normal()),
            facts(dose=true(None, "ward", hidden=None, split=None, few=True), ward=true(None, "dose", hidden=None, split=None),
                  age=true("line+"), noise=FLAT),
            pair="ward dose", unit=None,
        ),
        process(
            "most spend nothing", "tails",
            lambda spend, age: np.log1p(spend) + 0.5 * age,
            also(columns(300, age=normal(), noise=normal()),
                 spend=lambda X, rng: np.where(rng.random(len(X)) < 0.6, 0.0, rng.lognormal(2, 1, len(X)))),
            facts(spend=true("up|step+"), age=true("line+"), noise=FLAT),
            ranks="spend > age > noise", learner="lightgbm",
        ),
    ]


# --- ties ------------------------------------------------------------------------------------------


def _ties() -> list[Blind]:
    tied = columns(50, north=normal(), noise=normal())
    three = columns(120, arm=normal(), noise__more=normal())
    opposite = columns(200, push=(-1, 1), noise=normal())
    return [
        process(
            "two features matter equally", "ties small",
            lambda north, south: north + south,
            also(tied, south=shuffled("north")),
            facts(north__south=true("line+"), noise=FLAT),
            ranks="north = south > noise", learner="linear",
        ),
        process(
            "three features matter equally", "ties",
            lambda arm, leg, foot: arm + leg + foot,
            also(three, leg=shuffled("arm"), foot=shuffled("arm")),
            facts(arm__leg__foot=true("line+"), noise__more=FLAT),
            ranks="arm = leg = foot > noise",
        ),
        process(
            "equal, in opposite directions", "ties",
            lambda push, pull: 3 * push - 3 * pull,
            also(opposite, pull=shuffled("push")),
            facts(push=true("line+"), pull=true("line-"), noise=FLAT),
            ranks="push = pull > noise",
        ),
        process(
            "three shops share the top, two the bottom", "ties",
            lambda shop, staff: number(shop, s1=1, s2=1, s3=2, s4=3, s5=3, s6=3) + 0.3 * staff,
            columns(240, shop=evenly_of("s1 s2 s3 s4 s5 s6"), staff=normal(), noise=normal()),
            facts(shop=true("levels", high="s4 s5 s6", low="s1 s2", few=False), staff=true("line+", few=False), noise=FLAT),
            ranks="shop > staff > noise", learner="lightgbm", noise=0.2,
        ),
        process(
            "two of four levels share the top", "ties small",
            lambda crew, hours: number(crew, red=4, blue=4, gold=1, grey=0) + hours,
            columns(90, crew=evenly_of("red blue gold grey"), hours=normal()),
            facts(crew=true("levels", high="red blue", low="grey"), hours=true("line+")),
            ranks="crew > hours",
        ),
        process(
            "the second is close, but no tie", "ties",
            lambda first, second: 1.35 * first + second,
            also(columns(150, first=normal(), noise=normal()), second=shuffled("first")),
            facts(first__second=true("line+"), noise=FLAT),
            ranks="first > second > noise", learner="histogram", noise=0.1,
        ),
        process(
            "four hundred flags of the same small effect", "ties",
            lambda **flag: sum(flag.values()),
            columns(150, **{f"f{i:03d}": exactly(75) for i in range(400)}),
            {f"f{i:03d}": Truth(hidden=False, partners=frozenset(), allowed=frozenset(), missing="") for i in range(0, 400, 50)},
            opening="shared",
        ),
    ]


# --- log scales ------------------------------------------------------------------------------------


def _log_scales() -> list[Blind]:
    return [
        process(
            "a hump on a logarithmic dose", "log",
            lambda dose, age: 3 * np.exp(-log10(dose) ** 2) + 0.5 * age,
            columns(300, dose=powers(-3, 3), age=normal(), noise=normal()),
            facts(dose=true("cap", place=(0.3, 3.2), few=False), age=true("line+", few=False), noise=FLAT),
            ranks="dose > age > noise", learner="histogram", noise=0.2,
        ),
        process(
            "a line in the logarithm", "log",
            lambda dose, age: log10(dose) + age,
            columns(200, dose=powers(-3, 3), age=normal(), noise=normal()),
            facts(dose=true("curve+"), age=true("line+"), noise=FLAT),
            ranks="dose > age > noise",
        ),
        process(
            "a step on a logarithmic scale", "log",
            lambda dose, age: 3.0 * (np.asarray(dose) > 10) + 0.5 * age,
            columns(250, dose=powers(-2, 4), age=normal(), noise=normal()),
            facts(dose=true("step+", place=(7, 14)), age=true("line+"), noise=FLAT),
            ranks="dose > age > noise", learner="lightgbm",
        ),
        process(
            "saturation over five decades", "log",
            lambda dose, weight: 4 * np.asarray(dose) / (1 + np.asarray(dose)) - weight,
            columns(150, dose=powers(-2.5, 2.5), weight=normal(), noise=normal()),
            facts(dose=true("up|step+"), weight=true("line-"), noise=FLAT),
            ranks="dose > weight > noise",
        ),
        process(
            "a U on a logarithmic scale", "log",
            lambda dose, age: 0.5 * log10(dose) ** 2 + 0.5 * age,
            columns(150, dose=powers(-3, 3), age=normal(), noise=normal()),
            facts(dose=true("U", place=(0.2, 5.0)), age=true("line+"), noise=FLAT),
            ranks="dose > age > noise", learner="histogram", noise=0.2,
        ),
        process(
            "demand falls with the logarithm of the price", "log small",
            lambda price, offer: -np.log(price) + 1.2 * offer,
            columns(60, price=lognormal(1.0), offer=exactly(30)),
            facts(price=true("down"), offer=true("two+")),
            ranks="price > offer",
        ),
    ]


# --- panels ----------------------------------------------------------------------------------------


def _panels() -> list[Blind]:
    return [
        process(
            "thirty people, ten rows each", "panel",
            lambda age, dose: 2 * age - dose,
            repeated(30, 10, {"age": normal(), "height": normal()}, {"dose": normal(), "noise": normal()}),
            facts(age=true("line+"), dose=true("line-"), height__noise=FLAT),
            ranks="age > dose > noise", cluster="unit", learner="lightgbm", noise=0.2,
        ),
        process(
            "twenty-five machines, a sensor that fails", "panel missing",
            lambda sensor, load: 4 * gone(sensor) + filled(sensor) + load,
            lacking(repeated(25, 8, {"year": whole(1990, 2020)}, {"sensor": normal(), "load": normal()}), 0.25, "sensor"),
            facts(sensor=true("line+", missing="higher"), load=true("line+"), year=FLAT),
            ranks="sensor > load > year", cluster="unit", learner="histogram", noise=0.2,
        ),
        process(
            "an effect that a group of people has the other way", "panel",
            lambda group, dose: dose * (1 - 2 * (np.asarray(group) == "B")),
            zero_mean(repeated(60, 5, {"group": evenly_of("A A A B"), "age": normal()}, {"dose": normal()}), "dose"),
            facts(dose=true("line+", "group", split="group"), group=true("flat", "dose", hidden=True, split="dose"), age=FLAT),
            pair="dose group", cluster="unit", learner="lightgbm", noise=0.2,
        ),
        process(
            "a change in the seventh month", "panel",
            lambda month, income: 2.0 * (np.asarray(month) > 6) + 0.5 * income,
            also(repeated(20, 12, {"income": normal()}, {"noise": normal()}), month=lambda X, rng: np.arange(len(X)) % 12 + 1),
            facts(month=true("step+", place=(5.9, 7.1)), income=true("line+"), noise=FLAT),
            ranks="month > income > noise", cluster="unit",
        ),
        process(
            "forty schools of three kinds", "panel ties",
            lambda kind, hours: number(kind, state=0, church=0, private=3) + hours,
            repeated(40, 4, {"kind": evenly_of("state church private")}, {"hours": normal(), "noise": normal()}),
            facts(kind=true("levels", high="private", low="church state"), hours=true("line+"), noise=FLAT),
            ranks="kind > hours > noise", cluster="unit",
        ),
    ]
