"""Fresh set C for `honesty`: processes from the literature, truths first.

Written on 2026-11-16 from the cited functions and the documented definitions. Nothing that is scored was run against
it: only that data can be drawn, and that the stated truths agree with brute force from the definitions.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from benchmarks.fresh import (
    OPEN,
    Process,
    Rng,
    coded,
    columns,
    exact,
    fact,
    facts,
    fitted,
    flags,
    mirrored,
    normal,
    numbered,
    one_of,
    repeated,
    sigmoid,
    whole,
)

WRITTEN = "2026-11-16"
SEED = 73_000
LOOSE: dict[str, Any] = {"by": None, "hidden": None, "split": None}  # only the average is asked for

# fmt: off


def set_c() -> list[Process]:
    """All processes of the set, by what they are about."""
    return [
        *_surfaces(), *_shapes(), *_interactions(), *_dependence(), *_populations(), *_classes(), *_learners(),
    ]


# --- functions -------------------------------------------------------------------------------------


def wing_weight(Sw: Any, Wfw: Any, A: Any, sweep: Any, q: Any, taper: Any, tc: Any, Nz: Any, Wdg: Any, Wp: Any) -> Any:
    c = np.cos(np.deg2rad(sweep))
    return (0.036 * Sw**0.758 * Wfw**0.0035 * (A / c**2) ** 0.6 * q**0.006 * taper**0.04 * (100 * tc / c) ** -0.3
            * (Nz * Wdg) ** 0.49 + Sw * Wp)


def morris(x1: Any, x2: Any, x3: Any, x4: Any) -> Any:
    alone = np.sqrt(12) - 6 * np.sqrt(0.3)
    pairs = x1 * x2 + x1 * x3 + x1 * x4 + x2 * x3 + x2 * x4 + x3 * x4
    return alone * (x1 + x2 + x3 + x4) + 12 / np.sqrt(30) * pairs


def welch(x1: Any, x4: Any, x5: Any, x12: Any, x19: Any, x20: Any) -> Any:
    return 5 * x12 / (1 + x1) + 5 * (x4 - x20) ** 2 + x5 + 40 * x19**3 - 5 * x19


def loeppky(x1: Any, x2: Any, x3: Any, x4: Any, x5: Any, x6: Any, x7: Any) -> Any:
    return (6 * x1 + 4 * x2 + 5.5 * x3 + 3 * x1 * x2 + 2.2 * x1 * x3 + 1.4 * x2 * x3
            + x4 + 0.5 * x5 + 0.2 * x6 + 0.1 * x7)


def gramacy_lee(x1: Any, x2: Any, x3: Any, x4: Any) -> Any:
    return np.exp(np.sin((0.9 * (x1 + 0.48)) ** 10)) + x2 * x3 + x4


def friedman3(x1: Any, x2: Any, x3: Any, x4: Any) -> Any:
    return np.arctan((x2 * x3 - 1 / (x2 * x4)) / x1)


def cantilever(E: Any, X: Any, Y: Any) -> Any:
    return 4 * 100**3 / (E * 4 * 2) * np.sqrt((Y / 4) ** 2 + (X / 16) ** 2)


def lim(x1: Any, x2: Any) -> Any:
    return ((30 + 5 * x1 * np.sin(5 * x1)) * (4 + np.exp(-5 * x2)) - 100) / 6


def gam_terms(x0: Any, x1: Any, x2: Any) -> Any:
    bumps = 0.2 * x2**11 * (10 * (1 - x2)) ** 6 + 10 * (10 * x2) ** 3 * (1 - x2) ** 10
    return 2 * np.sin(np.pi * x0) + np.exp(2 * x1) + bumps


CIRCUIT: dict[str, Any] = {"x1": (1, 100), "x2": (40 * np.pi, 560 * np.pi), "x3": (0, 1), "x4": (1, 11)}


def _surfaces() -> list[Process]:
    inert = fact("flat")
    wing = "Sw Nz A tc Wdg"
    return [
        exact("wing weight", "Forrester, Sobester & Keane 2008", "surface monotone", wing_weight,
              columns(Sw=(150, 200), Wfw=(220, 300), A=(6, 10), sweep=(-10, 10), q=(16, 45), taper=(0.5, 1), tc=(0.08, 0.18),
                      Nz=(2.5, 6), Wdg=(1700, 2500), Wp=(0.025, 0.08)),
              facts(Sw__A__Nz__Wdg=fact("up", may=wing), tc=fact("down", may=wing), Wfw__sweep__q=inert,
                    taper__Wp=fact(None, hidden=False))),
        exact("Morris with pairs", "Morris, Moore & McKay 2006, Sampling plans for screening", "surface monotone", morris,
              numbered(7, (0, 1)),
              facts(x1=fact("up", may="x2 x3 x4"), x2=fact("up", may="x1 x3 x4"), x3=fact("up", may="x1 x2 x4"),
                    x4=fact("up", may="x1 x2 x3"), x5__x6__x7=inert)),
        exact("Welch, the active inputs", "Welch, Buck, Sacks, Wynn, Mitchell & Morris 1992", "surface hidden U", welch,
              mirrored(columns(500, x1__x4__x5__x12__x19__x20__x2__x3=(-0.5, 0.5)), "x12 x4 x20"),
              facts(x1=fact("flat", "x12", hidden=True, split="x12"), x12=fact("up", "x1"), x4=fact("U", "x20", hidden=None),
                    x20=fact("U", "x4", hidden=None), x5=fact("up"), x19=fact("other"), x2__x3=inert)),
        exact("Loeppky", "Loeppky, Williams & Moore 2013, Global sensitivity analysis for mixture experiments", "surface monotone",
              loeppky, numbered(8, (0, 1)),
              facts(x1__x2__x3=fact("up"), x4=fact(None, hidden=False), x5=fact(None, hidden=False), x6__x7__x8=inert)),
        exact("Gramacy & Lee, six inputs", "Gramacy & Lee 2009, Adaptive design and analysis of supercomputer experiments", "surface",
              gramacy_lee, numbered(6, (0, 1)),
              facts(x1=fact("other"), x2=fact("up", may="x3"), x3=fact("up", may="x2"), x4=fact("up"), x5__x6=inert)),
        exact("Friedman 3", "Friedman 1991, phase angle of a circuit", "surface monotone", friedman3, columns(800, **CIRCUIT, z=(0, 1)),
              facts(x1=fact("down", **LOOSE), x2=fact("up", **LOOSE), x3=fact("up", **LOOSE), x4__z=inert)),
        exact("cantilever beam", "Kuschel & Rackwitz 1997, displacement", "surface monotone", cantilever,
              columns(E=normal(2.9e7, 1.45e6), X=normal(500, 100), Y=normal(1000, 100), R=normal(40_000, 2000)),
              facts(E=fact("down"), X=fact(None), Y=fact("up"), R=inert)),
        exact("Lim's two inputs", "Lim, Sacks, Studden & Welch 2002", "surface", lim, numbered(3, (0, 1)),
              facts(x1=fact("cap|down", may="x2"), x2=fact("down", may="x1"), x3=inert)),
        exact("Gu & Wahba with bumps", "Gu & Wahba 1991; Wood 2006, gamSim", "surface", gam_terms,
              columns(x0__x1__x2__x3=(0, 1)), facts(x0=fact("cap"), x1=fact("up"), x2=fact("cap|other"), x3=inert)),
        exact("Rosenbrock's valley", "Rosenbrock 1960", "surface U",
              lambda x, y: (1 - x) ** 2 + 100 * (y - x**2) ** 2, columns(800, x=(-2, 2), y=(-1, 3), z=(0, 1)),
              facts(x=fact("U|other", "y"), y=fact("U", "x", hidden=None), z=inert)),
    ]


def _shapes() -> list[Process]:
    inert = fact("flat")
    return [
        exact("Yerkes & Dodson's arch", "Yerkes & Dodson 1908; Haans, Pieters & He 2016", "U",
              lambda a, b, c: -2 * (a - 0.45) ** 2 * 4 + (b - 0.6) ** 2 * 5 - c, columns(a=(0, 1), b=(0, 1), c=(0, 1), d=(0, 1)),
              facts(a=fact("cap"), b=fact("U"), c=fact("down"), d=inert)),
        exact("stairs", "Page 1954, change points; Zeileis, Hothorn & Hornik 2008", "threshold",
              lambda a, b, c: 1.0 * (a > 5) + 1.0 * (b < 3) + 0.1 * c,
              columns(700, a=whole(0, 10), b=whole(0, 9), c=(0, 10), d=whole(0, 4)),
              facts(a=fact("step+"), b=fact("step-"), c=fact("up"), d=inert)),
        exact("growth curves", "Gompertz 1825; Verhulst 1838; Weber & Fechner 1860", "monotone",
              lambda t, s, w: 2 * np.exp(-2 * np.exp(-t)) + np.log(s) - 0.5 * w,
              columns(t=(-2, 4), s=(1, 12), w=normal(), z=normal()), facts(t=fact("up"), s=fact("up"), w=fact("down"), z=inert)),
        exact("rise beyond the usual range on both sides", "Huber 1964, outlying values", "U",
              lambda x1, x2: 10 * np.maximum(np.abs(x1) - 1.8, 0) + 0.4 * x2, columns(900, x1=normal(), x2=normal(), x3=normal()),
              facts(x1=fact("U"), x2=fact("up"), x3=inert), in_tail="x1"),
        exact("sparse additive", "Ravikumar, Lafferty, Liu & Wasserman 2009, SpAM", "surface",
              lambda x1, x2, x3, x4: -np.sin(1.5 * x1) + 0.3 * x2**3 + 0.5 * x3**2 - 1.5 * x4, numbered(8, (-2, 2)),
              facts(x1=fact("other|down"), x2=fact("up"), x3=fact("U"), x4=fact("down"), x5__x6__x7__x8=inert)),
        exact("dates and days", "Fanaee-T & Gama 2014, bike sharing", "U monotone",
              lambda hour, temp, day: -0.05 * (hour - 13) ** 2 + 0.15 * temp + 0.0 * day,
              columns(900, hour=whole(0, 23), temp=normal(15, 8), day=whole(1, 31)),
              facts(hour=fact("cap"), temp=fact("up"), day=inert)),
    ]


def _interactions() -> list[Process]:
    inert = fact("flat")
    return [
        exact("slopes by sign", "Herbinger, Bischl & Casalicchio 2022, REPID", "hidden",
              lambda x1, x2, x3: np.where(x3 > 0, 3.0, -3.0) * x1 + x2, mirrored(numbered(4, (-1, 1), 400), "x1 x3"),
              facts(x1=fact("flat", "x3", hidden=True, split="x3"), x2=fact("up"), x3=fact("flat", "x1", hidden=True, split="x1"),
                    x4=inert)),
        exact("sign of three", "Guyon et al. 2003 (Madelon); Kearns 1998, parity", "parity hidden",
              lambda x1, x2, x3, x4: np.sign(x1 * x2 * x3) + 0.4 * x4,
              mirrored(mirrored(mirrored(numbered(5, (-1, 1), 120), "x1"), "x2"), "x3"),
              facts(x1=fact("flat", may="x2 x3", hidden=True, split="x2 x3"), x2=fact("flat", may="x1 x3", hidden=True, split="x1 x3"),
                    x3=fact("flat", may="x1 x2", hidden=True, split="x1 x2"), x4=fact("up"), x5=inert)),
        exact("exclusive or of a level and a flag", "Simpson 1951", "parity hidden category",
              lambda kind, flag, x: coded(kind, a=1, b=-1) * (2 * flag - 1) + 0.5 * x, lambda rng: _level_and_flag(rng, 180),
              facts(kind=fact("flat", "flag", hidden=True, split="flag"), flag=fact("flat", "kind", hidden=True, split="kind"),
                    x=fact("up"), z=inert)),
        exact("the oldest react", "Radcliffe & Surry 2011, Real-world uplift modelling", "subgroup",
              lambda offer, age: offer * np.where(age > 0.93, -6.0, 1.0), columns(1200, offer=(-1, 1), age=(0, 1), z=(0, 1)),
              facts(offer=fact("up", "age", hidden=None, split="age"), age=OPEN, z=inert)),
        exact("a rare pair of levels", "Athey & Wager 2019; Agresti 2002, three-way tables", "subgroup category",
              lambda x, k, m: np.where((k == "a") & (m == "p"), -5.0, 1.0) * x,
              columns(1500, x=(-1, 1), k=one_of("a b c", (0.25, 0.4, 0.35)), m=one_of("p q", (0.25, 0.75)), z=normal()),
              facts(x=fact("up", "k m", hidden=None, split="k m"), k=fact(None, "x m", hidden=None, split=None),
                    m=fact(None, "x k", hidden=None, split=None), z=inert)),
        exact("U on one side, arch on the other", "Goldstein et al. 2015, opposing shapes", "hidden U",
              lambda x, s, v: np.sign(s) * (3 * x**2 - 1) + 0.5 * v, mirrored(columns(450, x=(-1, 1), s=(-1, 1), v=(-1, 1), z=(-1, 1)), "s"),
              facts(x=fact("flat", "s", hidden=True, split="s"), s=fact(None, "x", hidden=None, split=None), v=fact("up"), z=inert)),
        exact("spectrum of levels", "Micci-Barreca 2001, many levels", "category",
              lambda town, x: coded(town, **{f"t{i}": [0, 1, -1, 2, -2, 0.5, 1.5, -0.5, -1.5, 0.2][i] for i in range(10)}) - x,
              columns(900, town=one_of(" ".join(f"t{i}" for i in range(10))), shop=one_of("k l m n o"), x=normal()),
              facts(town=fact("levels"), shop=inert, x=fact("down"))),
        exact("weakest link", "Leontief 1941, min production function", "surface monotone",
              lambda x1, x2, x3: 3 * np.minimum(x1, x2) + 0.4 * x3, numbered(4, (0, 1), 700),
              facts(x1=fact("up", "x2"), x2=fact("up", "x1"), x3=fact("up"), x4=inert)),
    ]


# --- data that depends -----------------------------------------------------------------------------


def _level_and_flag(rng: Rng, each: int) -> pd.DataFrame:
    rows = 4 * each
    return pd.DataFrame({"kind": np.tile(np.array(["a", "a", "b", "b"], dtype=object), each), "flag": np.tile([0, 1, 0, 1], each),
                         "x": rng.normal(size=rows), "z": rng.normal(size=rows)})


def _calendar(rng: Rng, rows: int = 900) -> pd.DataFrame:
    """A day is a working day where it is neither at the weekend nor a holiday."""
    weekday, holiday = rng.integers(0, 7, rows), (rng.random(rows) < 0.04).astype(int)
    return pd.DataFrame({"weekday": weekday, "holiday": holiday, "workingday": ((weekday < 5) & (holiday == 0)).astype(int),
                         "temp": rng.normal(15, 6, rows), "z": rng.normal(size=rows)})


def _helix(rng: Rng, rows: int = 800) -> pd.DataFrame:
    t = rng.uniform(0, 2 * np.pi, rows)
    X = np.column_stack([np.cos(t), np.sin(t), t / np.pi - 1]) + rng.normal(0, 0.02, (rows, 3))
    return pd.DataFrame(np.column_stack([X, rng.normal(size=(rows, 2))]), columns=["x1", "x2", "x3", "z1", "z2"])


def _four_bits(rng: Rng, rows: int = 800) -> pd.DataFrame:
    bits = rng.integers(0, 2, size=(rows, 3))
    return pd.DataFrame(np.column_stack([bits, bits.sum(axis=1) % 2]), columns=["a", "b", "c", "d"]).assign(x=rng.normal(size=rows))


def _three_modulo(rng: Rng, rows: int = 1000) -> pd.DataFrame:
    X = rng.random(size=(rows, 4))
    X[:, 2] = (2 * X[:, 0] + X[:, 1]) % 1.0
    return pd.DataFrame(X, columns=["x1", "x2", "x3", "z"])


def _roll(rng: Rng, rows: int = 900) -> pd.DataFrame:
    t = 1.5 * np.pi * (1 + 2 * rng.random(rows))
    return pd.DataFrame({"x": t * np.cos(t), "h": rng.uniform(0, 20, rows), "y": t * np.sin(t), "z": rng.normal(size=rows)})


def _hole(rng: Rng, rows: int = 800) -> pd.DataFrame:
    x = np.where(rng.random(rows) < 0.7, rng.uniform(0, 3, rows), rng.uniform(7, 10, rows))
    return pd.DataFrame({"x": x, "v": rng.uniform(-1, 1, rows), "z": rng.uniform(-1, 1, rows)})


def _dependence() -> list[Process]:
    inert, up, down = fact("flat"), fact("up", thin=True), fact("down", thin=True)
    return [
        exact("working days and holidays", "Fanaee-T & Gama 2014, bike sharing", "joint category",
              lambda weekday, workingday, temp: 0.4 * weekday - 1.5 * workingday + 0.15 * temp, _calendar,
              facts(weekday=fact("up|levels", thin=True), holiday=fact("flat", thin=None), workingday=fact("two-", thin=True), temp=fact("up"), z=inert)),
        exact("helix", "Hastie & Stuetzle 1989, Principal curves", "joint", lambda x1, x2, x3, z1: x1 - x2 + 1.2 * x3 + 0.6 * z1, _helix,
              facts(x1__x3=up, x2=down, z1=fact("up"), z2=inert)),
        exact("four bits of even parity", "Feller 1968, independence of any three", "joint category",
              lambda a, b, c, d, x: a - b + c - d + 0.6 * x, _four_bits,
              facts(a__c=fact("two+", thin=True), b__d=fact("two-", thin=True), x=fact("up"))),
        exact("planes modulo one", "Marsaglia 1968, Random numbers fall mainly in the planes", "joint",
              lambda x1, x2, x3, z: 1.5 * x1 + x2 - x3 + z, _three_modulo, facts(x1__x2=up, x3=down, z=fact("up"))),
        exact("Swiss roll", "Tenenbaum, de Silva & Langford 2000", "joint", lambda x, h, y: 0.2 * x + 0.1 * h - 0.1 * y, _roll,
              facts(x=up, h=fact("up"), y=down, z=inert)),
        exact("a hole in the range", "Hall & York 2001; Higdon et al. 2008, uneven designs", "gap monotone",
              lambda x, v: 0.5 * x - v, _hole, facts(x=fact("up|step+", gap=(5.0, 1.5), thin=None), v=fact("down"), z=inert)),
    ]


# --- populations -----------------------------------------------------------------------------------


def _uneven(rng: Rng) -> pd.DataFrame:
    k = np.repeat(np.array(["a", "b"], dtype=object), [700, 300])
    return pd.DataFrame({"x": rng.uniform(-1, 1, 1000), "k": k, "z": rng.normal(size=1000)})


def _populations() -> list[Process]:
    inert = fact("flat")
    return [
        exact("cases and controls", "Prentice & Pyke 1979; Breslow & Day 1980", "weights",
              lambda x, case: np.where(case == 1, -2.0, 1.5) * x, columns(900, x=(-1, 1), case=flags(), z=normal()),
              facts(x=fact("up", "case", hidden=None, split="case"), case=OPEN, z=inert),
              weigh=lambda X: np.where(X["case"] == 1, 1.0, 12.0)),
        exact("weights that cancel", "Lumley 2010, Complex surveys", "weights hidden category",
              lambda x, k, z: coded(k, a=1.5, b=-1.5) * x + 0.4 * z, lambda rng: _uneven(rng),
              facts(x=fact("flat", "k", hidden=True, split="k"), k=OPEN, z=fact("up")),
              weigh=lambda X: np.where(X["k"] == "a", 3.0, 7.0)),
        exact("an arch by weight", "Deville & Särndal 1992, Calibration estimators", "weights U",
              lambda x, s: np.where(s == 1, -1.0, 1.0) * (3 * x**2 - 1), columns(900, x=(-1, 1), s=flags(), z=normal()),
              facts(x=fact("cap", "s", hidden=None, split="s"), s=OPEN, z=inert),
              weigh=lambda X: np.where(X["s"] == 1, 10.0, 1.0)),
        exact("pupils in schools", "Goldstein 1987, Multilevel models in educational research", "panel monotone",
              lambda size, score, age: -0.02 * size + 0.8 * score + 0.0 * age,
              repeated(80, 9, {"size": (10, 90)}, {"score": normal(), "age": (8, 12)}),
              facts(size=fact("down", thin=None), score=fact("up"), age=inert), cluster="unit"),
        fitted("growth of units", "Laird & Ware 1982", "panel monotone", lambda time, base: 0.9 * time + 1.2 * base,
               repeated(80, 9, {"base": normal()}, {"time": (0, 5), "z": normal()}),
               facts(time=fact("up", None, split=None), base=fact("up", None, hidden=None, thin=None, split=None),
                     z=fact("flat", None, split=None)), "lightgbm", cluster="unit", unit_noise=0.3),
    ]


def _classes() -> list[Process]:
    inert, flat = fact("flat"), fact("flat", **LOOSE)
    return [
        exact("frauds", "Chawla, Bowyer, Hall & Kegelmeyer 2002, imbalanced data", "skewed classification",
              lambda amount, hour: sigmoid(-5.4 + 2.5 * amount - 1.2 * hour), columns(1500, amount=(-1, 1), hour=(-1, 1), z=(-1, 1)),
              facts(amount=fact("up", **LOOSE), hour=fact("down", **LOOSE), z=inert)),
        exact("rare events by level", "Firth 1993; Heinze & Schemper 2002", "skewed category",
              lambda k, x: coded(k, a=0.002, b=0.01, c=0.06) + 0.004 * x, columns(1200, k=one_of("a b c"), x=(0, 1), z=(0, 1)),
              facts(k=fact("levels"), x=OPEN, z=inert)),
        exact("ring of the other class", "Breiman 1996, ringnorm", "classification U",
              lambda x1, x2, x3: sigmoid(2.5 * (x1**2 + x2**2 + x3**2 - 2.4)), numbered(4, normal(), 800),
              facts(x1__x2__x3=fact("U", **LOOSE), x4=inert)),
        exact("logistic surface", "Berkson 1944, the logistic function", "classification monotone",
              lambda x1, x2, x3: sigmoid(2 * x1 - 1.5 * x2 + x3), numbered(5, normal()),
              facts(x1__x3=fact("up", **LOOSE), x2=fact("down", **LOOSE), x4__x5=inert)),
        fitted("frauds", "Chawla et al. 2002", "skewed classification",
               lambda x1, x2: sigmoid(-5.0 + 1.8 * x1 - 1.0 * x2), numbered(3, normal(), 2000),
               facts(x1=fact("up", **LOOSE), x2=fact("down", **LOOSE), x3=flat), "boosting classifier"),
        fitted("ring of the other class", "Breiman 1996, ringnorm", "classification U",
               lambda x1, x2: sigmoid(4 * (x1**2 + x2**2 - 1.4)), numbered(4, normal(), 900),
               facts(x1__x2=fact("U", **LOOSE), x3__x4=flat), "network classifier"),
        fitted("logistic surface", "Berkson 1944", "classification monotone",
               lambda x1, x2, k: sigmoid(2 * x1 - 1.5 * x2 + coded(k, a=-1.5, b=0, c=1.5)),
               columns(900, x1__x2=normal(), k=one_of("a b c"), z=normal()),
               facts(x1=fact("up", **LOOSE), x2=fact("down", **LOOSE), k=fact("levels", **LOOSE), z=flat), "logistic"),
    ]


def _learners() -> list[Process]:
    inert = fact("flat", None, split=None)
    free: dict[str, Any] = {"by": None, "split": None}
    return [
        fitted("Friedman 3", "Friedman 1991", "surface", friedman3, columns(700, **CIRCUIT),
               facts(x1=fact("down", **LOOSE), x2__x3=fact("up", **LOOSE), x4=inert), "boosting", noise=0.2),
        fitted("Loeppky", "Loeppky, Williams & Moore 2013", "surface monotone", loeppky, numbered(8, (0, 1), 600),
               facts(x1__x2__x3=fact("up", **free), x6__x7__x8=inert), "forest"),
        fitted("Loeppky", "Loeppky, Williams & Moore 2013", "surface monotone", loeppky, numbered(8, (0, 1), 600),
               facts(x1__x2__x3=fact("up", **free), x6__x7__x8=inert), "network"),
        fitted("Gu & Wahba", "Gu & Wahba 1991", "surface", gam_terms, columns(700, x0__x1__x2__x3=(0, 1)),
               facts(x0=fact("cap", **free), x1=fact("up", **free), x2=fact("cap|other", **free), x3=inert), "histogram"),
        fitted("slopes by sign", "Herbinger et al. 2022", "hidden", lambda x1, x2, x3: np.where(x3 > 0, 3.0, -3.0) * x1 + x2,
               mirrored(numbered(4, (-1, 1), 400), "x1 x3"),
               facts(x1=fact("flat", "x3", hidden=True, split="x3"), x2=fact("up", **free), x3=fact(None, "x1", hidden=None, split=None),
                     x4=inert), "lightgbm"),
        fitted("exclusive or of a level and a flag", "Simpson 1951", "parity category",
               lambda kind, flag, x: coded(kind, a=1, b=-1) * (2 * flag - 1) + 0.5 * x, lambda rng: _level_and_flag(rng, 180),
               facts(kind=fact(None, "flag", hidden=None, split="flag"), flag=fact(None, "kind", hidden=None, split="kind"),
                     x=fact("up", **free), z=inert), "network"),
        fitted("the oldest react", "Radcliffe & Surry 2011", "subgroup", lambda offer, age: offer * np.where(age > 0.93, -6.0, 1.0),
               columns(1000, offer=(-1, 1), age=(0, 1), z=(0, 1)),
               facts(offer=fact("up", "age", hidden=None, split="age"), age=OPEN, z=inert), "boosting", noise=0.2),
        fitted("noise only", "Ioannidis 2005; Cawley & Talbot 2010", "noise", lambda x1: 0.0 * x1,
               numbered(6, normal(), 400), facts(x1__x2__x3__x4__x5__x6=inert), "histogram"),
        fitted("noise only", "Freedman 1983", "noise", lambda x1: 0.0 * x1, numbered(8, normal(), 300),
               facts(x1__x2__x3__x4__x5__x6__x7__x8=inert), "linear"),
        fitted("cases and controls", "Prentice & Pyke 1979", "weights", lambda x, case: np.where(case == 1, -2.0, 1.5) * x,
               columns(900, x=(-1, 1), case=flags(), z=normal()),
               facts(x=fact("up", "case", hidden=None, split="case"), case=OPEN, z=inert), "forest",
               weigh=lambda X: np.where(X["case"] == 1, 1.0, 12.0)),
        fitted("stairs", "Zeileis, Hothorn & Hornik 2008", "threshold",
               lambda a, b, c: 1.0 * (a > 5) + 1.0 * (b < 3) + 0.1 * c,
               columns(600, a=whole(0, 10), b=whole(0, 9), c=(0, 10), d=whole(0, 4)),
               facts(a=fact("step+", **free), b=fact("step-", **free), c=fact("up", **free), d=inert), "boosting"),
        fitted("helix", "Hastie & Stuetzle 1989", "joint", lambda x1, x2, x3, z1: x1 - x2 + 1.2 * x3 + 0.6 * z1, _helix,
               facts(x1__x2__x3=fact(None, None, hidden=None, thin=True, split=None), z1=fact("up", **free), z2=inert), "linear"),
        fitted("a hole in the range", "Hall & York 2001", "gap", lambda x, v: 0.5 * x - v, _hole,
               facts(x=fact("up|step+", gap=(5.0, 1.5), thin=None, **free), v=fact("down", **free), z=inert), "histogram"),
    ]
