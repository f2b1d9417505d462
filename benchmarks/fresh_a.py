"""Fresh set A for `honesty`: processes from the literature, truths first.

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
SEED = 71_000

# fmt: off


def set_a() -> list[Process]:
    """All processes of the set, by what they are about."""
    return [
        *_surfaces(), *_shapes(), *_interactions(), *_dependence(), *_populations(), *_classes(), *_learners(),
    ]


# --- functions -------------------------------------------------------------------------------------


def friedman1(x1: Any, x2: Any, x3: Any, x4: Any, x5: Any) -> Any:
    return 10 * np.sin(np.pi * x1 * x2) + 20 * (x3 - 0.5) ** 2 + 10 * x4 + 5 * x5


def ishigami(x1: Any, x2: Any, x3: Any) -> Any:
    return np.sin(x1) + 7 * np.sin(x2) ** 2 + 0.1 * x3**4 * np.sin(x1)


def borehole(rw: Any, r: Any, Tu: Any, Hu: Any, Tl: Any, Hl: Any, L: Any, Kw: Any) -> Any:
    ratio = np.log(r / rw)
    return 2 * np.pi * Tu * (Hu - Hl) / (ratio * (1 + 2 * L * Tu / (ratio * rw**2 * Kw) + Tu / Tl))


def sobol_g(x1: Any, x2: Any, x3: Any, x4: Any) -> Any:
    value = 1.0
    for x, a in ((x1, 0.0), (x2, 1.0), (x3, 4.5), (x4, 9.0)):
        value = value * (np.abs(4 * x - 2) + a) / (1 + a)
    return value


def bratley(x1: Any, x2: Any, x3: Any, x4: Any, x5: Any, x6: Any) -> Any:
    total, product = 0.0, 1.0
    for i, x in enumerate((x1, x2, x3, x4, x5, x6), start=1):
        product = product * x
        total = total + (-1) ** i * product
    return total


def currin(x1: Any, x2: Any) -> Any:
    top = 2300 * x1**3 + 1900 * x1**2 + 2092 * x1 + 60
    return (1 - np.exp(-0.5 / x2)) * top / (100 * x1**3 + 500 * x1**2 + 4 * x1 + 20)


def otl(Rb1: Any, Rb2: Any, Rf: Any, Rc1: Any, Rc2: Any, beta: Any) -> Any:
    base = 12 * Rb2 / (Rb1 + Rb2)
    gain = beta * (Rc2 + 9)
    return (base + 0.74) * gain / (gain + Rf) + 11.35 * Rf / (gain + Rf) + 0.74 * Rf * gain / ((gain + Rf) * Rc1)


def goldstein(x1: Any, x2: Any, x3: Any) -> Any:
    return 0.2 * x1 - 5 * x2 + 10 * x2 * (x3 >= 0)


def _surfaces() -> list[Process]:
    inert = fact("flat")
    return [
        exact("Friedman 1", "Friedman 1991, Multivariate adaptive regression splines", "surface", friedman1,
              numbered(8, (0, 1)),
              facts(x1__x2=fact("up|cap", None, split=None), x3=fact("U"), x4__x5=fact("up"), x6__x7__x8=inert)
              | {"x1": fact("up|cap", "x2"), "x2": fact("up|cap", "x1")}),
        exact("Ishigami", "Ishigami & Homma 1990", "surface hidden", ishigami,
              mirrored(numbered(3, (-np.pi, np.pi), 400), "x1 x2 x3"),
              facts(x1=fact("other", "x3"), x2=fact("other"), x3=fact("flat", "x1", hidden=True, split="x1"))),
        exact("borehole", "Morris, Mitchell & Ylvisaker 1993", "surface monotone", borehole,
              columns(rw=(0.05, 0.15), r=(100, 50_000), Tu=(63_070, 115_600), Hu=(990, 1110), Tl=(63.1, 116),
                      Hl=(700, 820), L=(1120, 1680), Kw=(9855, 12_045)),
              facts(rw=fact("up", may="Hu Hl L Kw"), r__Tu__Tl=inert, Hu=fact("up", may="rw Hl L Kw"),
                    Hl=fact("down", may="rw Hu L Kw"), L=fact("down", may="rw Hu Hl Kw"),
                    Kw=fact(None, may="rw Hu Hl L", split=None))),
        exact("Sobol g", "Saltelli & Sobol 1995", "surface U", sobol_g, numbered(6, (0, 1), 800),
              facts(x1=fact("U", "x2", may="x3 x4"), x2=fact("U", "x1", may="x3 x4"), x3=fact("U", may="x1 x2 x4"),
                    x4=fact(None, may="x1 x2 x3"), x5__x6=inert)),
        exact("Bratley", "Bratley, Fox & Niederreiter 1992", "surface monotone", bratley, numbered(6, (0, 1)),
              facts(x1=fact("down", "x2", may="x3 x4 x5 x6"), x2=fact("up", "x1", may="x3 x4 x5 x6"),
                    x3=fact("down", may="x1 x2 x4 x5 x6"), x4=fact(None, may="x1 x2 x3 x5 x6"),
                    x5=fact(None, may="x1 x2 x3 x4 x6"), x6=fact(None, may="x1 x2 x3 x4 x5"))),
        exact("Currin exponential", "Currin, Mitchell, Morris & Ylvisaker 1988", "surface", currin,
              columns(x1=(0, 1), x2=(0.02, 1), x3=(0, 1)),
              facts(x1=fact("cap", may="x2"), x2=fact("down", may="x1"), x3=inert)),
        exact("OTL push-pull circuit", "Ben-Ari & Steinberg 2007", "surface monotone", otl,
              columns(Rb1=(50, 150), Rb2=(25, 70), Rf=(0.5, 3), Rc1=(1.2, 2.5), Rc2=(0.25, 1.2), beta=(50, 300)),
              facts(Rb1=fact("down", may="Rb2"), Rb2=fact("up", may="Rb1"), Rf=fact("up", may="Rc1"),
                    Rc1=fact("down", may="Rf"), Rc2__beta=inert)),
        exact("Linkletter sinusoids", "Linkletter, Bingham, Hengartner, Higdon & Ye 2006", "surface",
              lambda x1, x2: np.sin(x1) + np.sin(5 * x2), numbered(6, (0, 1)),
              facts(x1=fact("up"), x2=fact("cap"), x3__x4__x5__x6=inert)),
        exact("Gramacy & Lee plane", "Gramacy & Lee 2008, x1 exp(-x1^2 - x2^2)", "surface",
              lambda x1, x2: x1 * np.exp(-(x1**2) - x2**2),
              columns(x1=(-2, 2), x2=(-2, 2), x3=(-2, 2)),
              facts(x1=fact("other", "x2"), x2=OPEN, x3=inert)),
        exact("Roos & Arnold product", "Roos & Arnold 1963, prod |4 x - 2|", "surface U",
              lambda x1, x2, x3: np.abs(4 * x1 - 2) * np.abs(4 * x2 - 2) * np.abs(4 * x3 - 2),
              numbered(4, (0, 1), 800),
              facts(x1=fact("U", "x2 x3"), x2=fact("U", "x1 x3"), x3=fact("U", "x1 x2"), x4=inert)),
        exact("Goldstein et al. crossing slopes", "Goldstein, Kapelner, Bleich & Pitkin 2015, eq. 3", "hidden",
              goldstein, mirrored(numbered(3, (-1, 1), 400), "x2 x3"),
              facts(x1=fact("flat"), x2=fact("flat", "x3", hidden=True, split="x3"),
                    x3=fact("flat", "x2", hidden=True, split="x2"))),
    ]


def _shapes() -> list[Process]:
    inert = fact("flat")
    return [
        exact("four smooth terms", "Gu & Wahba 1991, four term additive example", "surface U",
              lambda x1, x2, x3: 2 * np.sin(np.pi * x1) + np.exp(2 * x2) + 6 * np.abs(x3 - 0.5),
              numbered(4, (0, 1)), facts(x1=fact("cap"), x2=fact("up"), x3=fact("U"), x4=inert)),
        exact("thresholds in growth", "Hansen 2000, Sample splitting and threshold estimation", "threshold",
              lambda q, x: 1.5 * (q > 0.3) + 0.6 * x, columns(q=normal(), x=normal(), z=normal()),
              facts(q=fact("step+"), x=fact("up"), z=inert)),
        exact("Lind & Mehlum U test", "Lind & Mehlum 2010, With or without U", "U",
              lambda a, b, c: (a - 5) ** 2 / 4 - (b - 4) ** 2 / 5 + np.log(c),
              columns(a=(0, 10), b=(0, 10), c=(1, 10), d=(0, 10)),
              facts(a=fact("U"), b=fact("cap"), c=fact("up"), d=inert)),
        exact("saturation and decay", "Michaelis & Menten 1913; exponential decay", "monotone",
              lambda s, t, u: 3 * s / (1 + s) + 2.5 * np.exp(-t) - 0.4 * u,
              columns(s=(0, 8), t=(0, 4), u=(-1, 1), v=(0, 1)),
              facts(s=fact("up"), t=fact("down"), u=fact("down"), v=inert)),
        exact("hinge beyond the usual range", "Friedman 1991, hinge functions max(0, x - t)", "monotone threshold",
              lambda x1, x2: 12 * np.maximum(x1 - 1.75, 0) + 0.4 * x2, columns(900, x1=normal(), x2=normal(), x3=normal()),
              facts(x1=fact("up|step+"), x2=fact("up"), x3=inert), in_tail="x1"),
        exact("correlated noise column", "Hooker & Mentch 2019, Please stop permuting features", "joint monotone",
              lambda x1, x2, x3, x4, x5: x1 + x2 + x3 - x4 + 0 * x5,
              correlated([[1, 0.9, 0, 0, 0], [0.9, 1, 0, 0, 0], [0, 0, 1, 0, 0], [0, 0, 0, 1, 0], [0, 0, 0, 0, 1]]),
              facts(x1__x2=fact("up", thin=True), x3=fact("up"), x4=fact("down"), x5=inert)),
    ]


def _interactions() -> list[Process]:
    inert = fact("flat")
    return [
        exact("continuous exclusive or", "Minsky & Papert 1969, Perceptrons", "parity hidden",
              lambda x1, x2, x3: np.sign(x1 * x2) + 0.5 * x3, mirrored(mirrored(numbered(4, (-1, 1), 200), "x1"), "x2"),
              facts(x1=fact("flat", "x2", hidden=True, split="x2"), x2=fact("flat", "x1", hidden=True, split="x1"),
                    x3=fact("up"), x4=inert)),
        exact("parity of three bits", "Minsky & Papert 1969; Guyon et al. 2003 (Madelon)", "parity hidden",
              lambda a, b, c, x: 1.0 * ((a + b + c) % 2) + 0.5 * x,
              lambda rng: _all_bits(rng, "a b c", 80, x=normal()),
              facts(a=fact("flat", may="b c", hidden=True, split="b c"), b=fact("flat", may="a c", hidden=True, split="a c"),
                    c=fact("flat", may="a b", hidden=True, split="a b"), x=fact("up"))),
        exact("a subgroup of one in twenty", "Foster, Taylor & Ruberg 2011, Virtual twins", "subgroup category",
              lambda dose, g: np.where(g == "t", -5.0, 1.0) * dose,
              columns(1000, dose=(-1, 1), g=one_of("r s t", (0.5, 0.44, 0.06)), z=normal()),
              facts(dose=fact("up", "g", hidden=None, split="g"), g=OPEN, z=inert)),
        exact("a small corner", "Lipkovich, Dmitrienko, Denne & Enas 2011, SIDES", "subgroup",
              lambda x, u, v: x * (1 - 6 * ((u > 0.75) & (v > 0.75))),
              columns(1200, x=(-1, 1), u=(0, 1), v=(0, 1), w=(0, 1)),
              facts(x=fact("up", "u v", hidden=None, split="u v"), u=fact(None, "x v", hidden=None, split=None),
                    v=fact(None, "x u", hidden=None, split=None), w=inert)),
        exact("treatment that helps and harms", "Su, Tsai, Wang, Nickerson & Li 2009, Subgroup analysis via "
              "recursive partitioning", "hidden subgroup",
              lambda t, age, sex: np.where(age > 0, 2.0, -2.0) * t + 0.6 * sex,
              mirrored(columns(400, t=whole(-1, 1), age=(-1, 1), sex=flags(), z=normal()), "t age"),
              facts(t=fact("flat", "age", hidden=True, split="age"), age=fact("flat", "t", hidden=True, split="t"),
                    sex=fact("two+"), z=inert)),
        exact("slopes by group", "Simpson 1951; Gelman & Hill 2007, varying slopes", "category hidden",
              lambda x, k, z: coded(k, a=1, b=-1, c=2, d=-2, e=1.5, f=-1.5) * x + 0.5 * z,
              lambda rng: _balanced_levels(rng, 600, "a b c d e f"),
              facts(x=fact("flat", "k", hidden=True, split="k"), k=fact(None, "x", hidden=None), z=fact("up"))),
        exact("additive levels", "Scheffé 1959, two-way layout without interaction", "category",
              lambda k, m, x: coded(k, a=0, b=1, c=3, d=-1) + coded(m, p=0, q=-2) + x,
              columns(k=one_of("a b c d"), m=one_of("p q"), x=normal(), j=one_of("u v w")),
              facts(k__m=fact("levels"), x=fact("up"), j=inert)),
        exact("MONK's first problem", "Thrun et al. 1991", "category classification parity",
              lambda a1, a2, a5: 1.0 * ((a1 == a2) | (a5 == "r")),
              columns(800, a1=one_of("p q s"), a2=one_of("p q s"), a3=one_of("y n"), a4=one_of("i j k"),
                      a5=one_of("r y g b")),
              facts(a1=fact(None, "a2", may="a5", hidden=None, split=None), a2=fact(None, "a1", may="a5", hidden=None),
                    a3__a4=inert, a5=fact("levels", None))),
    ]


# --- data that depends -----------------------------------------------------------------------------


def _all_bits(rng: Rng, names: str, each: int, **others: Any) -> pd.DataFrame:
    """Every combination of bits equally often, with columns drawn beside them."""
    bits = np.array(np.meshgrid(*[[0, 1]] * len(names.split()))).reshape(len(names.split()), -1).T
    frame = pd.DataFrame(np.tile(bits, (each, 1)), columns=names.split())
    return frame.join(columns(len(frame), **others)(rng))


def _balanced_levels(rng: Rng, rows: int, levels: str) -> pd.DataFrame:
    named = np.array(levels.split(), dtype=object)
    return pd.DataFrame({"x": rng.normal(size=rows), "k": np.resize(named, rows), "z": rng.normal(size=rows)})


def _sphere(rng: Rng, rows: int = 700) -> pd.DataFrame:
    X = rng.normal(size=(rows, 5))
    X[:, :3] /= np.linalg.norm(X[:, :3], axis=1, keepdims=True)
    return pd.DataFrame(X, columns=["x1", "x2", "x3", "z1", "z2"])


def _sum_modulo(rng: Rng, rows: int = 700) -> pd.DataFrame:
    X = rng.random(size=(rows, 5))
    X[:, 2] = (X[:, 0] + X[:, 1]) % 1.0
    return pd.DataFrame(X, columns=["x1", "x2", "x3", "z1", "z2"])


def _never_together(rng: Rng, rows: int = 800) -> pd.DataFrame:
    frame = pd.DataFrame({"a": rng.integers(0, 2, rows), "b": rng.integers(0, 2, rows), "x": rng.normal(size=rows)})
    frame["c"] = frame["a"] ^ frame["b"]
    frame["z"] = rng.normal(size=rows)
    return frame


def _line(rng: Rng, rows: int = 600) -> pd.DataFrame:
    u = rng.random(rows)
    return pd.DataFrame({"x1": u + rng.normal(0, 0.05, rows), "x2": u + rng.normal(0, 0.05, rows), "z": rng.random(rows)})


def _gap(rng: Rng, rows: int = 700) -> pd.DataFrame:
    x = np.where(rng.random(rows) < 0.5, rng.uniform(-3, -1, rows), rng.uniform(1, 3, rows))
    return pd.DataFrame({"x": x, "y": rng.normal(size=rows), "z": rng.normal(size=rows)})


def _apart(rng: Rng, rows: int = 800) -> pd.DataFrame:
    """Two groups that share no value of x."""
    group = rng.integers(0, 2, rows)
    return pd.DataFrame({"x": rng.random(rows) + 3.0 * group, "group": np.where(group == 1, "old", "new").astype(object),
                         "z": rng.normal(size=rows)})


def _dependence() -> list[Process]:
    inert, thin = fact("flat"), fact("up", thin=True)
    return [
        exact("Apley & Zhu's line", "Apley & Zhu 2020, example 1", "joint surface", lambda x1, x2: x1 + x2**2, _line,
              facts(x1=thin, x2=thin, z=inert)),
        exact("points on a sphere", "Marsaglia 1972, Choosing a point from the surface of a sphere", "joint",
              lambda x1, x2, x3, z1: x1 + x2 - x3 + 0.7 * z1, _sphere,
              facts(x1__x2=thin, x3=fact("down", thin=True), z1=fact("up"), z2=inert)),
        exact("sum modulo one", "Bernstein 1946; Feller 1968, pairwise independence", "joint",
              lambda x1, x2, x3, z1: 2 * x1 - x2 + x3 + z1, _sum_modulo,
              facts(x1__x3=thin, x2=fact("down", thin=True), z1=fact("up"), z2=inert)),
        exact("levels that never occur together", "Bernstein 1946, three bits", "joint category",
              lambda a, b, c, x: 1.2 * a - b + 0.8 * c + 0.5 * x, _never_together,
              facts(a__c=fact("two+", thin=True), b=fact("two-", thin=True), x=fact("up"), z=inert)),
        exact("a gap in the middle", "Hall & York 2001, bimodality; Gramacy & Lee 2008, sparse regions", "gap monotone",
              lambda x, y: x + 0.7 * y, _gap, facts(x=fact("up|step+", gap=(0.0, 2.0), thin=None), y=fact("up"), z=inert)),
        exact("groups that share no value", "Rosenbaum & Rubin 1983, lack of overlap", "gap joint category",
              lambda x, group: x + coded(group, old=-2, new=0), _apart,
              facts(x=fact("up|step+", thin=True), group=fact("levels", thin=True), z=inert)),
    ]


# --- populations -----------------------------------------------------------------------------------


def _populations() -> list[Process]:
    inert = fact("flat")
    slopes = columns(900, x=(-1, 1), g=flags(), z=normal())
    return [
        exact("a sample by halves of a population of nine to one", "Horvitz & Thompson 1952; Pfeffermann 1993",
              "weights hidden", lambda x, g: np.where(g == 1, 2.0, -2.0) * x, slopes,
              facts(x=fact("up", "g", hidden=None, split="g"), g=OPEN, z=inert),
              weigh=lambda X: np.where(X["g"] == 1, 9.0, 1.0)),
        exact("a lopsided sample of an even population", "Solon, Haider & Wooldridge 2015, What are we weighting for?",
              "weights hidden", lambda x, g, z: np.where(g == 1, 2.0, -2.0) * x + 0.5 * z,
              lambda rng: _lopsided(rng), facts(x=fact("flat", "g", hidden=True, split="g"), g=OPEN, z=fact("up")),
              weigh=lambda X: np.where(X["g"] == 1, 1.0, 4.0)),
        exact("weights that turn a U", "Kish 1965, Survey sampling, weighting classes", "weights U",
              lambda x, s: np.where(s == 1, 1.0, -1.0) * (3 * x**2 - 1), columns(900, x=(-1, 1), s=flags(), z=normal()),
              facts(x=fact("U", "s", hidden=None, split="s"), s=OPEN, z=inert),
              weigh=lambda X: np.where(X["s"] == 1, 10.0, 1.0)),
        exact("growth of units", "Laird & Ware 1982, Random-effects models for longitudinal data", "panel monotone",
              lambda time, base, dose: 0.8 * time + 1.5 * base - 0.7 * dose,
              repeated(70, 10, {"base": normal(), "dose": (0, 4)}, {"time": (0, 5), "z": normal()}),
              facts(time=fact("up"), base=fact("up", thin=None), dose=fact("down", thin=None), z=inert), cluster="unit"),
        fitted("mixed effects forest", "Hajjem, Bellavance & Larocque 2014", "panel threshold",
               lambda x1, x2, x3: 2 * x1 + x2**2 + 4 * (x3 > 0),
               repeated(100, 7, {"x1": normal()}, {"x2": normal(), "x3": normal(), "x4": normal()}),
               facts(x1=fact("up", None, hidden=None, thin=None, split=None), x2=fact("U", None, hidden=None, split=None),
                     x3=fact("step+", None, split=None), x4=fact("flat", None, split=None)),
               "forest", cluster="unit", unit_noise=0.3),
    ]


def _lopsided(rng: Rng) -> pd.DataFrame:
    return pd.DataFrame({"x": rng.uniform(-1, 1, 1000), "g": np.repeat([1, 0], [800, 200]), "z": rng.normal(size=1000)})


def _classes() -> list[Process]:
    inert = fact("flat")
    loose: dict[str, Any] = {"by": None, "hidden": None, "split": None}
    return [
        exact("rare events", "King & Zeng 2001, Logistic regression in rare events data", "skewed classification monotone",
              lambda x1, x2: sigmoid(-5.6 + 1.3 * x1 - 0.8 * x2), numbered(3, normal(), 1500),
              facts(x1=fact("up", **loose), x2=fact("down", **loose), x3=inert)),
        exact("rare events with a threshold", "Fithian & Hastie 2014, Local case-control sampling", "skewed threshold",
              lambda x1, x2: 0.002 + 0.06 * (x1 > 0.8) + 0.004 * x2, numbered(3, (0, 1), 1200),
              facts(x1=fact("step+"), x2=OPEN, x3=inert)),
        exact("two normals", "Breiman 1996, twonorm", "classification monotone",
              lambda x1, x2, x3, x4: sigmoid(1.3 * (x1 + x2 + x3 - x4)), numbered(5, normal()),
              facts(x1__x2__x3=fact("up", **loose), x4=fact("down", **loose), x5=inert)),
        exact("ten-dimensional sphere", "Hastie, Tibshirani & Friedman 2009, eq. 10.2, in five dimensions",
              "classification U",
              lambda x1, x2, x3, x4, x5: sigmoid(2 * (x1**2 + x2**2 + x3**2 + x4**2 + x5**2 - 4.35)),
              numbered(6, normal(), 800), facts(x1__x2__x3__x4__x5=fact("U", **loose), x6=inert)),
        fitted("rare events", "King & Zeng 2001", "skewed classification",
               lambda x1, x2: sigmoid(-5.2 + 1.6 * x1 - 1.0 * x2), numbered(3, normal(), 2000),
               facts(x1=fact("up", **loose), x2=fact("down", **loose), x3=fact("flat", None, hidden=None, split=None)),
               "logistic"),
        fitted("sphere", "Hastie, Tibshirani & Friedman 2009, eq. 10.2", "classification U",
               lambda x1, x2: sigmoid(4 * (x1**2 + x2**2 - 1.4)), numbered(4, normal(), 900),
               facts(x1__x2=fact("U", **loose), x3__x4=fact("flat", **loose)), "boosting classifier"),
        fitted("two normals", "Breiman 1996, twonorm", "classification monotone",
               lambda x1, x2, x3: sigmoid(1.5 * (x1 + x2 - x3)), numbered(4, normal(), 800),
               facts(x1__x2=fact("up", **loose), x3=fact("down", **loose), x4=fact("flat", **loose)), "forest classifier"),
    ]


def _learners() -> list[Process]:
    inert = fact("flat", None, split=None)
    open_by: dict[str, Any] = {"by": None, "split": None}
    return [
        fitted("Friedman 1", "Friedman 1991", "surface", friedman1, numbered(7, (0, 1), 800),
               facts(x1=fact("up|cap", "x2", hidden=None), x2=fact("up|cap", "x1", hidden=None), x3=fact("U", **open_by),
                     x4__x5=fact("up", **open_by), x6__x7=inert), "boosting", noise=0.2),
        fitted("Friedman 1", "Friedman 1991", "surface", friedman1, numbered(7, (0, 1), 700),
               facts(x3=fact("U", **open_by), x4__x5=fact("up", **open_by), x6__x7=inert), "network", noise=0.2),
        fitted("Friedman 1", "Friedman 1991", "surface", friedman1, numbered(7, (0, 1), 600),
               facts(x4__x5=fact("up", **open_by), x6__x7=inert), "forest", noise=0.2),
        fitted("Friedman 1 seen by a line", "Friedman 1991", "surface monotone", friedman1, numbered(7, (0, 1), 600),
               facts(x1__x2__x4__x5=fact("up", None, split=None)), "linear", noise=0.2),
        fitted("crossing slopes", "Goldstein et al. 2015", "hidden", goldstein,
               mirrored(numbered(3, (-1, 1), 400), "x2 x3"),
               facts(x1=fact("flat", None, split=None), x2=fact("flat", "x3", hidden=True, split="x3"),
                     x3=fact(None, "x2", hidden=None, split=None)), "boosting"),
        fitted("noise only", "Strobl, Boulesteix, Zeileis & Hothorn 2007", "noise", lambda x1: 0.0 * x1,
               numbered(6, normal(), 500), facts(x1__x2__x3__x4__x5__x6=inert), "boosting"),
        fitted("noise only", "Freedman 1983, A note on screening regression equations", "noise", lambda x1: 0.0 * x1,
               numbered(6, normal(), 400), facts(x1__x2__x3__x4__x5__x6=inert), "forest"),
        fitted("additive levels", "Scheffé 1959", "category",
               lambda k, x: coded(k, a=0, b=1, c=3, d=-1) + x,
               columns(700, k=one_of("a b c d"), x=normal(), j=one_of("u v w"), z=normal()),
               facts(k=fact("levels", **open_by), x=fact("up", **open_by), j__z=inert), "histogram"),
        fitted("a gap in the middle", "Hall & York 2001", "gap", lambda x, y: x + 0.7 * y, _gap,
               facts(x=fact("up|step+", gap=(0.0, 2.0), thin=None, **open_by), y=fact("up", **open_by), z=inert), "boosting"),
        fitted("a subgroup of one in fourteen", "Foster, Taylor & Ruberg 2011", "subgroup category",
               lambda dose, g: np.where(g == "t", -5.0, 1.0) * dose,
               columns(1000, dose=(-1, 1), g=one_of("r s t", (0.5, 0.43, 0.07)), z=normal()),
               facts(dose=fact("up", "g", hidden=None, split="g"), g=OPEN, z=inert), "network", noise=0.2),
        fitted("thresholds in growth", "Hansen 2000", "threshold", lambda q, x: 1.5 * (q > 0.3) + 0.6 * x,
               columns(600, q=normal(), x=normal(), z=normal()),
               facts(q=fact("step+", **open_by), x=fact("up", **open_by), z=inert), "lightgbm"),
        fitted("a curved line", "Apley & Zhu 2020, example 1", "joint", lambda x1, x2: x1 + x2**2, _line,
               facts(x1__x2=fact(None, None, hidden=None, thin=True, split=None), z=inert), "forest", noise=0.15),
        fitted("weighted sample", "Pfeffermann 1993", "weights",
               lambda x, g: np.where(g == 1, 2.0, -2.0) * x, columns(900, x=(-1, 1), g=flags(), z=normal()),
               facts(x=fact("up", "g", hidden=None, split="g"), g=OPEN, z=inert), "lightgbm",
               weigh=lambda X: np.where(X["g"] == 1, 9.0, 1.0)),
    ]
