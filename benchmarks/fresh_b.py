"""Fresh set B for `honesty`: processes from the literature, truths first.

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
    correlated,
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
SEED = 72_000
LOOSE: dict[str, Any] = {"by": None, "hidden": None, "split": None}  # only the average is asked for

# fmt: off


def set_b() -> list[Process]:
    """All processes of the set, by what they are about."""
    return [
        *_surfaces(), *_shapes(), *_interactions(), *_dependence(), *_populations(), *_classes(), *_learners(),
    ]


# --- functions -------------------------------------------------------------------------------------


def piston(M: Any, S: Any, V0: Any, k: Any, P0: Any, Ta: Any, T0: Any) -> Any:
    A = P0 * S + 19.62 * M - k * V0 / S
    V = S / (2 * k) * (np.sqrt(A**2 + 4 * k * P0 * V0 * Ta / T0) - A)
    return 2 * np.pi * np.sqrt(M / (k + S**2 * P0 * V0 * Ta / (T0 * V**2)))


def robot_arm(t1: Any, t2: Any, t3: Any, t4: Any, L1: Any, L2: Any, L3: Any, L4: Any) -> Any:
    u, v, angle = 0.0, 0.0, 0.0
    for t, length in ((t1, L1), (t2, L2), (t3, L3), (t4, L4)):
        angle = angle + t
        u, v = u + length * np.cos(angle), v + length * np.sin(angle)
    return np.sqrt(u**2 + v**2)


def dette_curved(x1: Any, x2: Any, x3: Any) -> Any:
    return 4 * (x1 - 2 + 8 * x2 - 8 * x2**2) ** 2 + (3 - 4 * x2) ** 2 + 16 * np.sqrt(x3 + 1) * (2 * x3 - 1) ** 2


def hooker(x1: Any, x2: Any, x3: Any, x4: Any, x5: Any, x7: Any, x8: Any, x9: Any, x10: Any) -> Any:
    return (np.pi ** (x1 * x2) * np.sqrt(2 * x3) - np.arcsin(x4) + np.log(x3 + x5)
            - x9 / x10 * np.sqrt(x7 / x8) - x2 * x7)


def park(x1: Any, x2: Any, x3: Any, x4: Any) -> Any:
    first = x1 / 2 * (np.sqrt(1 + (x2 + x3**2) * x4 / x1**2) - 1)
    return first + (x1 + 3 * x4) * np.exp(1 + np.sin(x3))


def cosso(x1: Any, x2: Any, x3: Any, x4: Any) -> Any:
    s, c = np.sin(2 * np.pi * x4), np.cos(2 * np.pi * x4)
    wave = np.sin(2 * np.pi * x3)
    return (5 * x1 + 3 * (2 * x2 - 1) ** 2 + 4 * wave / (2 - wave)
            + 6 * (0.1 * s + 0.2 * c + 0.3 * s**2 + 0.4 * c**3 + 0.5 * s**3))


def friedman2(x1: Any, x2: Any, x3: Any, x4: Any) -> Any:
    return np.sqrt(x1**2 + (x2 * x3 - 1 / (x2 * x4)) ** 2)


CIRCUIT: dict[str, Any] = {"x1": (0, 100), "x2": (40 * np.pi, 560 * np.pi), "x3": (0, 1), "x4": (1, 11)}


def _surfaces() -> list[Process]:
    inert = fact("flat")
    return [
        exact("piston", "Kenett & Zacks 1998, Modern industrial statistics", "surface monotone", piston,
              columns(M=(30, 60), S=(0.005, 0.02), V0=(0.002, 0.01), k=(1000, 5000), P0=(90_000, 110_000),
                      Ta=(290, 296), T0=(340, 360)),
              facts(M=fact("up", may="S V0 k P0"), S=fact("down", may="V0 M k P0"),
                    V0=fact("up", may="S M k P0"), k=fact(None, None, hidden=None, split=None),
                    P0=fact(None, may="S V0 k M", hidden=None), Ta__T0=inert)),
        exact("robot arm", "An & Owen 2001, Quasi-regression", "surface U", robot_arm,
              columns(900, t1__t2__t3__t4=(0, 2 * np.pi), L1__L2__L3__L4=(0, 1)),
              facts(t1=inert, t2__t3=fact("U", None, split=None), t4=OPEN, L1__L2__L3=fact(None, None, hidden=None, split=None),
                    L4=OPEN)),
        exact("Dette & Pepelyshev curved", "Dette & Pepelyshev 2010", "surface U", dette_curved, numbered(4, (0, 1)),
              facts(x1=fact(None, may="x2", hidden=None), x2=fact("U", may="x1"), x3=fact("U"), x4=inert)),
        exact("Moon in three dimensions", "Moon, Dean & Santner 2012", "surface monotone",
              lambda x1, x2, x3: x1 + x2 + 3 * x1 * x3, numbered(4, (0, 1)),
              facts(x1=fact("up", "x3", split="x3"), x2=fact("up"), x3=fact("up", "x1", split="x1"), x4=inert)),
        exact("Hooker's ten inputs", "Hooker 2004, Discovering additive structure in black box functions", "surface",
              hooker, columns(900, x1__x2__x3__x6__x7__x9=(0, 1), x4__x5__x8__x10=(0.6, 1)),
              facts(x1=fact("up", may="x2 x3"), x2=fact(None, None, hidden=None, split=None), x3=fact("up", may="x1 x2 x5"),
                    x4=fact("down"), x5=fact(None, may="x3"), x6=inert, x7=fact("down", may="x2 x8 x9 x10"),
                    x8=fact(None, may="x7 x9 x10", hidden=None), x9=fact("down", may="x7 x8 x10"),
                    x10=fact(None, may="x7 x8 x9", hidden=None))),
        exact("Park", "Park 1991; Cox, Park & Singer 2001", "surface monotone", park,
              columns(x1=(0.01, 1), x2=(0, 1), x3=(0, 1), x4=(0, 1), x5=(0, 1)),
              facts(x1=fact("up", may="x2 x3 x4"), x2=fact("flat", may="x1 x3 x4"), x3=fact("up", may="x1 x2 x4"),
                    x4=fact("up", may="x1 x2 x3"), x5=inert)),
        exact("Webster", "Webster, Tatang & McRae 1996", "surface monotone", lambda A, B: A**2 + B**3,
              columns(A=(1, 10), B=normal(2, 1), C=normal()), facts(A__B=fact("up"), C=inert)),
        exact("Lin & Zhang additive", "Lin & Zhang 2006, COSSO, example 1", "surface U", cosso, numbered(7, (0, 1)),
              facts(x1=fact("up"), x2=fact("U"), x3=fact("cap|other"), x4=fact(None, hidden=False), x5__x6__x7=inert)),
        exact("Friedman 2", "Friedman 1991, impedance of a circuit", "surface monotone", friedman2, columns(**CIRCUIT, z=(0, 1)),
              facts(x1=fact("flat", may="x2 x3"), x2=fact("up", "x3", split="x3"), x3=fact("up", "x2", split="x2"), x4__z=inert)),
        exact("Linkletter decreasing coefficients", "Linkletter et al. 2006", "surface monotone",
              lambda x1, x2, x3, x4: 0.2 * x1 + 0.1 * x2 + 0.05 * x3 + 0.025 * x4, numbered(6, (0, 1)),
              facts(x1__x2__x3__x4=fact("up"), x5__x6=inert)),
    ]


def _shapes() -> list[Process]:
    inert = fact("flat")
    return [
        exact("two lines", "Simonsohn 2018, Two lines: a valid alternative to the invalid testing of U-shapes", "U",
              lambda x, w, v: 1.5 * np.abs(x - 0.4) - np.abs(w) + 0.4 * v, columns(x=(-1, 1), w=(-1, 1), v=(-1, 1), z=(-1, 1)),
              facts(x=fact("U"), w=fact("cap"), v=fact("up"), z=inert)),
        exact("falling threshold", "Tong 1990, Non-linear time series: threshold models", "threshold",
              lambda a, b, c: -1.2 * (a > -0.4) + 0.9 * (b > 0.6) + 0.3 * c, columns(700, a=(-1, 1), b=(-1, 1), c=(-1, 1), z=(-1, 1)),
              facts(a=fact("step-"), b=fact("step+"), c=fact("up"), z=inert)),
        exact("Kang & Schafer outcome", "Kang & Schafer 2007, Demystifying double robustness", "monotone",
              lambda z1, z2, z3, z4: 210 + 27.4 * z1 + 13.7 * z2 - 13.7 * z3 + 13.7 * z4,
              columns(z1=normal(), z2=normal(), z3=normal(), z4=normal(), z5=normal()),
              facts(z1__z2__z4=fact("up"), z3=fact("down"), z5=inert)),
        exact("counts and waves", "Nelder & Wedderburn 1972; seasonal terms of Box & Jenkins 1970", "surface monotone",
              lambda n, month, x: -0.7 * n + 1.2 * np.sin(np.pi * month / 3) + 0.5 * x,
              columns(900, n=lambda rng, rows: rng.poisson(3, rows), month=whole(1, 12), x=normal(), d=whole(1, 7)),
              facts(n=fact("down"), month=fact("other|levels"), x=fact("up"), d=inert)),
        exact("drop beyond the usual range", "Friedman 1991, hinge functions", "monotone threshold",
              lambda x1, x2: -12 * np.maximum(-1.75 - x1, 0) + 0.4 * x2, columns(900, x1=normal(), x2=normal(), x3=normal()),
              facts(x1=fact("up|step+"), x2=fact("up"), x3=inert), in_tail="x1"),
        exact("long tails", "Pareto 1896; Student 1908", "monotone",
              lambda a, b, c: np.log(a) - b + 0.0 * c,
              columns(900, a=lambda rng, rows: rng.lognormal(0, 1, rows), b=lambda rng, rows: rng.standard_t(5, rows),
                      c=lambda rng, rows: rng.pareto(3, rows)), facts(a=fact("up"), b=fact("down"), c=inert)),
    ]


def _interactions() -> list[Process]:
    inert = fact("flat")
    return [
        exact("product of centred columns", "Aiken & West 1991, Multiple regression: testing interactions", "hidden",
              lambda x1, x2, x3: x1 * x2 + 0.6 * x3, mirrored(mirrored(numbered(4, normal(), 250), "x1"), "x2"),
              facts(x1=fact("flat", "x2", hidden=True, split="x2"), x2=fact("flat", "x1", hidden=True, split="x1"),
                    x3=fact("up"), x4=inert)),
        exact("checkerboard", "Ho & Kleinberg 1996, Checkerboard data", "parity hidden",
              lambda x1, x2: 1.0 * ((np.floor(4 * x1) + np.floor(4 * x2)) % 2), lambda rng: _board(rng),
              facts(x1=fact("flat", "x2", hidden=True, split="x2"), x2=fact("flat", "x1", hidden=True, split="x1"), x3=inert)),
        exact("exclusive or of bits among others", "Rumelhart, Hinton & Williams 1986", "parity hidden",
              lambda a, b, x: 1.5 * (a != b) + 0.5 * x, lambda rng: _bits(rng, 200),
              facts(a=fact("flat", "b", hidden=True, split="b"), b=fact("flat", "a", hidden=True, split="a"),
                    c=inert, x=fact("up"))),
        exact("six in a hundred react strongly", "Sies, Demyttenaere & Van Mechelen 2019, Subgroup analysis", "subgroup category",
              lambda x, city: np.where(city == "z", 7.0, 0.7) * x,
              columns(1200, x=(-1, 1), city=one_of("u v w z", (0.4, 0.3, 0.24, 0.06)), q=normal()),
              facts(x=fact("up", "city", hidden=None, split="city"), city=OPEN, q=inert)),
        exact("two corners", "Loh, He & Man 2015, A regression tree approach to identifying subgroups", "subgroup",
              lambda t, u, v: t * (1 - 5 * ((u > 0.7) & (v < 0.25))), columns(1200, t=(-1, 1), u=(0, 1), v=(0, 1), w=(0, 1)),
              facts(t=fact("up", "u v", hidden=None, split="u v"), u=fact(None, "t v", hidden=None, split=None),
                    v=fact(None, "t u", hidden=None, split=None), w=inert)),
        exact("effect above a threshold only", "Athey & Imbens 2016, Recursive partitioning for causal effects",
              "subgroup monotone", lambda x1, x2: np.maximum(x1, 0) * (x2 > 0) * 3 + 0.5 * x2, numbered(4, (-1, 1), 900),
              facts(x1=fact("up", "x2", split="x2", hidden=None), x2=fact(None, "x1", hidden=None, split=None), x3__x4=inert)),
        exact("crossed factors", "Yates 1937, Design and analysis of factorial experiments", "category hidden",
              lambda a, b, x: coded(a, p=1, q=-1) * coded(b, r=1, s=-1) + 0.4 * x, lambda rng: _crossed(rng, 150),
              facts(a=fact("flat", "b", hidden=True, split="b"), b=fact("flat", "a", hidden=True, split="a"),
                    x=fact("up"), c=inert)),
        exact("MONK's third problem", "Thrun et al. 1991", "category classification",
              lambda a2, a4, a5: 1.0 * (((a5 == "g") & (a4 == "s")) | ((a5 != "b") & (a2 != "o"))),
              columns(800, a1=one_of("r s o"), a2=one_of("r s o"), a3=one_of("y n"), a4=one_of("s f g"), a5=one_of("r y g b")),
              facts(a1__a3=inert, a2=fact("levels", "a5", may="a4"), a4=fact(None, None, hidden=None, split=None),
                    a5=fact("levels", "a2", may="a4"))),
    ]


# --- data that depends -----------------------------------------------------------------------------


def _board(rng: Rng) -> pd.DataFrame:
    """A point in every cell of a fine grid, so that black and white are even."""
    side = (np.arange(32) + 0.5) / 32
    x1, x2 = (part.ravel() for part in np.meshgrid(side, side))
    jitter = rng.uniform(-1 / 70, 1 / 70, size=(2, x1.size))
    return pd.DataFrame({"x1": x1 + jitter[0], "x2": x2 + jitter[1], "x3": rng.random(x1.size)})


def _bits(rng: Rng, each: int) -> pd.DataFrame:
    rows = 4 * each
    return pd.DataFrame({"a": np.tile([0, 0, 1, 1], each), "b": np.tile([0, 1, 0, 1], each),
                         "c": rng.integers(0, 2, rows), "x": rng.normal(size=rows)})


def _crossed(rng: Rng, each: int) -> pd.DataFrame:
    rows = 4 * each
    return pd.DataFrame({"a": np.tile(np.array(["p", "p", "q", "q"], dtype=object), each),
                         "b": np.tile(np.array(["r", "s", "r", "s"], dtype=object), each),
                         "x": rng.normal(size=rows), "c": rng.choice(np.array(["k", "l", "m"], dtype=object), rows)})


def _simplex(rng: Rng, rows: int = 700) -> pd.DataFrame:
    parts = rng.dirichlet([2.0, 2.0, 2.0], rows)
    return pd.DataFrame(np.column_stack([parts, rng.normal(size=(rows, 2))]), columns=["p1", "p2", "p3", "z1", "z2"])


def _latin(rng: Rng, rows: int = 900) -> pd.DataFrame:
    a, b = rng.integers(0, 3, rows), rng.integers(0, 3, rows)
    named = np.array(["i", "j", "k"], dtype=object)
    return pd.DataFrame({"row": named[a], "col": named[b], "letter": named[(a + b) % 3], "x": rng.normal(size=rows)})


def _four_modulo(rng: Rng, rows: int = 800) -> pd.DataFrame:
    X = rng.random(size=(rows, 5))
    X[:, 2] = (X[:, 0] - X[:, 1] + rng.normal(0, 0.01, rows)) % 1.0
    return pd.DataFrame(X, columns=["x1", "x2", "x3", "z1", "z2"])


def _shell(rng: Rng, rows: int = 800) -> pd.DataFrame:
    X = rng.normal(size=(rows, 5))
    X[:, :4] *= 2 * (1 + rng.normal(0, 0.01, (rows, 1))) / np.linalg.norm(X[:, :4], axis=1, keepdims=True)
    return pd.DataFrame(X, columns=["x1", "x2", "x3", "x4", "z"])


def _two_gaps(rng: Rng, rows: int = 800) -> pd.DataFrame:
    x = rng.choice([0.0, 4.0, 8.0], rows) + rng.random(rows)
    return pd.DataFrame({"x": x, "v": rng.normal(size=rows), "z": rng.random(rows)})


def _dependence() -> list[Process]:
    inert = fact("flat")
    up, down = fact("up", thin=True), fact("down", thin=True)
    return [
        exact("shares of a whole", "Aitchison 1982, The statistical analysis of compositional data", "joint",
              lambda p1, p2, z1: 4 * p1 - 3 * p2 + 0.6 * z1, _simplex,
              facts(p1=up, p2=down, p3=fact("flat", thin=None), z1=fact("up"), z2=inert)),
        exact("Latin square", "Fisher 1935, The design of experiments", "joint category",
              lambda row, col, letter, x: coded(row, i=0, j=1, k=2) + coded(col, i=0, j=-1, k=1.5)
              + coded(letter, i=1, j=0, k=-1) + 0.5 * x, _latin,
              facts(row__col__letter=fact("levels", thin=True), x=fact("up"))),
        exact("difference modulo one", "Knuth 1969, random number generators fall on planes", "joint",
              lambda x1, x2, x3, z1: x1 - 2 * x2 + x3 + z1, _four_modulo,
              facts(x1__x3=up, x2=down, z1=fact("up"), z2=inert)),
        exact("shell in four dimensions", "Muller 1959, Uniform points on n-dimensional spheres", "joint",
              lambda x1, x2, x3, x4, z: x1 + x2 - x3 + x4 + 0.7 * z, _shell,
              facts(x1__x2__x4=up, x3=down, z=fact("up"))),
        exact("three islands", "Gramacy & Lee 2008, unevenly covered inputs", "gap monotone",
              lambda x, v: -0.5 * x + 0.8 * v, _two_gaps,
              facts(x=fact("down|step-", gap=(2.5, 4.5), thin=None), v=fact("up"), z=inert)),
        exact("copies of one column", "Toloşi & Lengauer 2011, Classification with correlated features", "joint monotone",
              lambda x1, x2, x4: x1 + x2 - 1.5 * x4,
              correlated([[1, 0.97, 0.97, 0], [0.97, 1, 0.97, 0], [0.97, 0.97, 1, 0], [0, 0, 0, 1]]),
              facts(x1__x2=up, x3=fact("flat", thin=None), x4=fact("down"))),
    ]


# --- populations -----------------------------------------------------------------------------------


def _stratified(rng: Rng) -> pd.DataFrame:
    return pd.DataFrame({"x": rng.uniform(-1, 1, 1000), "stratum": np.repeat([0, 1], [250, 750]), "z": rng.normal(size=1000)})


def _populations() -> list[Process]:
    inert = fact("flat")
    return [
        exact("oversampled stratum", "Neyman 1934, On the two different aspects of the representative method",
              "weights", lambda x, g: np.where(g == 1, 2.5, -2.0) * x,
              columns(900, x=(-1, 1), g=flags(0.5), z=normal()),
              facts(x=fact("down", "g", hidden=None, split="g"), g=OPEN, z=inert),
              weigh=lambda X: np.where(X["g"] == 1, 1.0, 8.0)),
        exact("strata that even out", "Cochran 1977, Sampling techniques, chapter 5", "weights hidden",
              lambda x, stratum, z: np.where(stratum == 1, 2.0, -2.0) * x + 0.6 * z, lambda rng: _stratified(rng),
              facts(x=fact("flat", "stratum", hidden=True, split="stratum"), stratum=OPEN, z=fact("up")),
              weigh=lambda X: np.where(X["stratum"] == 1, 1.0, 3.0)),
        exact("step of the rare kind", "Hansen, Madow & Tepping 1983", "weights threshold",
              lambda x, k: np.where(k == 1, 2.0 * (x > 0.2), -2.0 * (x > 0.2)), columns(900, x=(-1, 1), k=flags(), z=normal()),
              facts(x=fact("step+", "k", hidden=None, split="k"), k=OPEN, z=inert),
              weigh=lambda X: np.where(X["k"] == 1, 9.0, 1.0)),
        exact("firms over years", "Grunfeld 1958, The determinants of corporate investment", "panel monotone",
              lambda value, capital, year: 0.11 * value + 0.31 * capital + 0.0 * year,
              repeated(60, 12, {"value": (0, 20)}, {"capital": (0, 8), "year": whole(1, 12)}),
              facts(value=fact("up", thin=None), capital=fact("up"), year=inert), cluster="unit"),
        fitted("trees for units", "Sela & Simonoff 2012, RE-EM trees", "panel threshold",
               lambda x1, x2: 3.0 * (x1 > 0) + 1.5 * x2,
               repeated(90, 8, {"x2": normal()}, {"x1": (-1, 1), "x3": normal()}),
               facts(x1=fact("step+", None, split=None), x2=fact("up", None, hidden=None, thin=None, split=None),
                     x3=fact("flat", None, split=None)), "boosting", cluster="unit", unit_noise=0.3),
    ]


def _classes() -> list[Process]:
    inert, flat = fact("flat"), fact("flat", **LOOSE)
    return [
        exact("claims", "McCullagh & Nelder 1989, motor insurance claims", "skewed classification U",
              lambda age, power: sigmoid(-5.4 + 2.2 * age**2 + 0.9 * power), columns(1500, age=(-1, 1), power=(-1, 1), z=(-1, 1)),
              facts(age=fact("U", **LOOSE), power=fact("up", **LOOSE), z=inert)),
        exact("defaults", "Owen 2007, Infinitely imbalanced logistic regression", "skewed monotone",
              lambda x1, x2: sigmoid(-5.1 + 2 * x1 - x2), numbered(3, (-1, 1), 1500),
              facts(x1=fact("up", **LOOSE), x2=fact("down", **LOOSE), x3=inert)),
        exact("two circles", "Pedregosa et al. 2011, make_circles", "classification U",
              lambda x1, x2: sigmoid(8 * (0.5 - x1**2 - x2**2)), numbered(3, (-1, 1), 800),
              facts(x1__x2=fact("cap", **LOOSE), x3=inert)),
        exact("probit dose response", "Bliss 1934, The method of probits", "classification monotone threshold",
              lambda dose, age: sigmoid(9 * (dose - 0.5)) * 0.8 + 0.15 * age, columns(dose=(0, 1), age=(0, 1), z=(0, 1)),
              facts(dose=fact("up|step+"), age=fact("up"), z=inert)),
        fitted("claims", "McCullagh & Nelder 1989", "skewed classification",
               lambda x1, x2: sigmoid(-5.0 + 1.6 * x1 + 1.0 * x2), numbered(3, normal(), 2000),
               facts(x1__x2=fact("up", **LOOSE), x3=flat), "network classifier"),
        fitted("two circles", "Pedregosa et al. 2011, make_circles", "classification U",
               lambda x1, x2: sigmoid(10 * (0.5 - x1**2 - x2**2)), numbered(4, (-1, 1), 900),
               facts(x1__x2=fact("cap", **LOOSE), x3__x4=flat), "histogram classifier"),
        fitted("exclusive or", "Minsky & Papert 1969", "classification parity hidden",
               lambda x1, x2: np.where(x1 * x2 > 0, 0.9, 0.1), mirrored(mirrored(numbered(3, (-1, 1), 250), "x1"), "x2"),
               facts(x1=fact("flat", "x2", hidden=True, split="x2"), x2=fact("flat", "x1", hidden=True, split="x1"),
                     x3=fact("flat", None, split=None)), "boosting classifier"),
    ]


def _learners() -> list[Process]:
    inert = fact("flat", None, split=None)
    free: dict[str, Any] = {"by": None, "split": None}
    return [
        fitted("Friedman 2", "Friedman 1991", "surface", friedman2, columns(700, **CIRCUIT),
               facts(x1=inert, x2=fact("up", "x3"), x3=fact("up", "x2"), x4=inert), "lightgbm", noise=0.2),
        fitted("Friedman 2", "Friedman 1991", "surface", friedman2, columns(700, **CIRCUIT),
               facts(x1=inert, x2=fact("up", "x3"), x3=fact("up", "x2"), x4=inert), "network", noise=0.2),
        fitted("Friedman 2", "Friedman 1991", "surface", friedman2, columns(600, **CIRCUIT),
               facts(x1=inert, x2=fact("up", "x3"), x3=fact("up", "x2"), x4=inert), "forest", noise=0.2),
        fitted("Moon in three dimensions", "Moon, Dean & Santner 2012", "surface monotone",
               lambda x1, x2, x3: x1 + x2 + 3 * x1 * x3, numbered(4, (0, 1), 600),
               facts(x1__x2__x3=fact("up", None, split=None), x4=inert), "linear"),
        fitted("two lines", "Simonsohn 2018", "U", lambda x, w, v: 1.5 * np.abs(x - 0.4) - np.abs(w) + 0.4 * v,
               columns(700, x=(-1, 1), w=(-1, 1), v=(-1, 1), z=(-1, 1)),
               facts(x=fact("U", **free), w=fact("cap", **free), v=fact("up", **free), z=inert), "boosting"),
        fitted("product of centred columns", "Aiken & West 1991", "hidden", lambda x1, x2, x3: x1 * x2 + 0.6 * x3,
               mirrored(mirrored(numbered(4, normal(), 200), "x1"), "x2"),
               facts(x1=fact(None, "x2", hidden=None, split="x2"), x2=fact(None, "x1", hidden=None, split="x1"),
                     x3=fact("up", **free), x4=inert), "network"),
        fitted("noise only", "Breiman 2001, Statistical modeling: the two cultures", "noise", lambda x1: 0.0 * x1,
               numbered(6, (0, 1), 500), facts(x1__x2__x3__x4__x5__x6=inert), "lightgbm"),
        fitted("noise only", "Zhang, Bengio, Hardt, Recht & Vinyals 2017", "noise", lambda x1: 0.0 * x1,
               numbered(5, normal(), 400), facts(x1__x2__x3__x4__x5=inert), "network"),
        fitted("seven in a hundred react the other way", "Sies et al. 2019", "subgroup category",
               lambda x, city: np.where(city == "z", -6.0, 1.0) * x,
               columns(1000, x=(-1, 1), city=one_of("u v w z", (0.4, 0.3, 0.23, 0.07)), q=normal()),
               facts(x=fact("up", "city", hidden=None, split="city"), city=OPEN, q=inert), "histogram", noise=0.2),
        fitted("oversampled stratum", "Neyman 1934", "weights", lambda x, g: np.where(g == 1, 2.5, -2.0) * x,
               columns(900, x=(-1, 1), g=flags(), z=normal()),
               facts(x=fact("down", "g", hidden=None, split="g"), g=OPEN, z=inert), "boosting",
               weigh=lambda X: np.where(X["g"] == 1, 1.0, 8.0)),
        fitted("copies of one column", "Toloşi & Lengauer 2011", "joint", lambda x1, x2, x4: x1 + x2 - 1.5 * x4,
               correlated([[1, 0.97, 0.97, 0], [0.97, 1, 0.97, 0], [0.97, 0.97, 1, 0], [0, 0, 0, 1]], 500),
               facts(x1__x2__x3=fact(None, None, hidden=None, thin=True, split=None), x4=fact("down", **free)), "forest"),
        fitted("three islands", "Gramacy & Lee 2008", "gap", lambda x, v: -0.5 * x + 0.8 * v, _two_gaps,
               facts(x=fact("down|step-", gap=(2.5, 4.5), thin=None, **free), v=fact("up", **free), z=inert), "network"),
        fitted("levels", "Yates 1937", "category", lambda k, x: coded(k, a=2, b=-1, c=0, d=-2) - x,
               columns(600, k=one_of("a b c d"), x=normal(), j=one_of("u v w")),
               facts(k=fact("levels", **free), x=fact("down", **free), j=inert), "linear"),
    ]
