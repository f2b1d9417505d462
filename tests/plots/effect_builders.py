"""Small effects made by hand, one for each kind of picture."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from icefield.data.columns import Column, column_of_array, object_array
from icefield.data.distribution import Distribution, marginal_of
from icefield.effect import Effect
from icefield.effect.learner_interval import LearnerInterval
from icefield.effect.parts import centered_deviation
from icefield.statistics.change import Change
from icefield.statistics.support import Support
from joints import joint_of_columns


def column(name, values) -> Column:
    return column_of_array(name, np.asarray(values))


def nearest_weight(places, grid):
    return np.bincount(np.abs(places[:, None] - grid[None, :]).argmin(axis=1), minlength=len(grid)).astype(
        float
    )


def numeric(
    n=300,
    points=40,
    outputs=("survived",),
    missing=False,
    seed=0,
    kind="pd",
    keep=False,
    name="age",
    **fields,
):
    """Curves of a wavy shape with noise, over a feature of numbers."""
    rng = np.random.default_rng(seed)
    data = np.clip(rng.normal(35, 14, n), 1, 80)
    if missing:
        data[rng.random(n) < 0.15] = np.nan
    grid = np.linspace(*np.nanquantile(data, [0.05, 0.95]), points)
    shift, tilt = rng.normal(0, 0.08, n), rng.normal(0, 0.002, n)
    shape = 0.45 + 0.15 * np.cos(grid / 9) - 0.002 * grid
    curves = shape[None, :] + shift[:, None] + tilt[:, None] * (grid - 35)[None, :]
    if missing:
        grid = np.append(grid, np.nan)
        curves = np.column_stack([curves, 0.4 + shift])
    curves = np.stack([np.clip(curves, 0.01, 0.99) * (1 if o == 0 else 0.7 / o) for o in range(len(outputs))])
    known = np.isfinite(grid)
    weight = nearest_weight(data[np.isfinite(data)], grid[known])
    if missing:
        weight = np.append(weight, np.isnan(data).sum())
    std = curves.std(axis=1)
    return Effect(
        kind=kind, features=(name,), grid=(grid,), average=curves.mean(axis=1), outputs=tuple(outputs),
        kinds=("float",), scale_label="probability", n_rows=n, weight=weight, std=std, se=std / np.sqrt(n - 1),
        centered_std=centered_deviation(curves, None, weight),
        individual=curves if keep else None, rows=np.arange(n) if keep else None,
        row_values={
            "fare": rng.lognormal(3, 1, n), "sex": object_array(rng.choice(["male", "female"], n).tolist()),
            "name": object_array([f"passenger {i}" for i in range(n)]),
        } if keep else None,
        distribution=Distribution((marginal_of(name, column(name, data), None, rng),)),
        **fields,
    )  # fmt: skip


def with_refits(effect, count=15, seed=6):
    """The effect with a learner's intervals: refits that wave about its curve."""
    rng = np.random.default_rng(seed)
    points = effect.average.shape[-1]
    waves = np.cos(np.outer(np.arange(3), np.linspace(0, np.pi, points)))
    curves = effect.average[:, None] + 0.03 * rng.normal(size=(len(effect.average), count, 3)) @ waves
    interval = LearnerInterval.of(
        effect.average, curves, level=0.9, about="mean", n_rows=effect.n_rows, logit=True
    )
    return replace(effect, interval=interval)


def changes(groups=("female", "male"), learner=False):
    """A change of predictions, of all rows and by group."""
    estimate, error = np.array([0.12, 0.21, 0.04]), np.array([0.02, 0.03, 0.025]) * (2 if learner else 1)
    whose = (
        "of this learner's expected answer at 300 rows (15 refits)"
        if learner
        else "this model, over other rows drawn like these"
    )
    return Change(
        columns={
            "output": object_array(["survived"] * 3), "group": object_array(["all rows", *groups]), "estimate": estimate,
            "conf_low": estimate - 1.76 * error, "conf_high": estimate + 1.76 * error,
        },
        title="Change of probability as age goes from 30 to 50", notes=(), library="pandas", outside=0.0, step=None,
        interval=f"90% intervals {whose}" if learner else f"90% intervals: {whose}", unit="change of the probability", row_values={},
    )  # fmt: skip


def ice(n=300, **options):
    return numeric(n=n, kind="ice", keep=True, **options)


def categorical(
    levels=("first", "second", "third"),
    n=300,
    seed=0,
    missing=False,
    name="class",
    keep=False,
    outputs=("survived",),
    **fields,
):
    """Averages and spread over the levels of a category."""
    rng = np.random.default_rng(seed)
    grid = object_array([*levels, None] if missing else list(levels))
    weight = rng.multinomial(n, rng.dirichlet(np.ones(len(grid)) * 2)).astype(float)
    base = rng.uniform(0.2, 0.8, len(grid))
    curves = np.clip(base[None, :] + rng.normal(0, 0.08, (n, 1)) + rng.normal(0, 0.03, (n, len(grid))), 0, 1)
    curves = np.stack([curves * (1 - 0.3 * o) for o in range(len(outputs))])
    std = curves.std(axis=1)
    return Effect(
        kind="ice" if keep else "pd", features=(name,), grid=(grid,), average=curves.mean(axis=1), outputs=tuple(outputs),
        kinds=("categorical",), scale_label="probability", n_rows=n, weight=weight, std=std, se=std / np.sqrt(n),
        centered_std=centered_deviation(curves, None, weight),
        individual=curves if keep else None, rows=np.arange(n) if keep else None, **fields,
    )  # fmt: skip


def dated(n=200, points=30):
    """A feature of dates."""
    effect = numeric(n=n, points=points, name="day")
    start = np.datetime64("2011-01-01")
    grid = start + (np.linspace(0, 700, points)).astype("timedelta64[D]")
    rng = np.random.default_rng(3)
    data = start + rng.integers(0, 730, n).astype("timedelta64[D]")
    return replace(
        effect, grid=(grid,), kinds=("date",), outputs=("cnt",), scale_label="prediction",
        distribution=Distribution((marginal_of("day", Column("day", "date", data, np.isnat(data)), None, rng),)),
    )  # fmt: skip


def surface(n=600, points=(25, 25), outputs=("survived",), seed=0, missing=False, names=("age", "fare")):
    """Two features of numbers that interact."""
    rng = np.random.default_rng(seed)
    a = rng.normal(35, 12, n)
    b = 30 + 0.9 * (a - 35) + rng.normal(0, 8, n)
    grids = [np.linspace(*np.quantile(v, [0.05, 0.95]), k) for v, k in zip((a, b), points)]
    x, y = np.meshgrid(*grids, indexing="ij")
    z = 0.5 + 0.1 * np.sin(x / 8) + 0.004 * (y - 30) + 0.0006 * (x - 35) * (y - 30)
    weight = np.zeros(z.shape)
    at = [np.abs(v[:, None] - g[None, :]).argmin(axis=1) for v, g in zip((a, b), grids)]
    np.add.at(weight, tuple(at), 1)
    if missing:
        grids[1] = np.append(grids[1], np.nan)
        z = np.column_stack([z, z.mean(axis=1)])
        weight = np.column_stack([weight, np.full(len(z), 2.0)])
    columns = (column(names[0], a), column(names[1], b))
    return Effect(
        kind="pd", features=names, grid=tuple(grids), average=np.stack([z * (1 - 0.4 * o) for o in range(len(outputs))]),
        outputs=tuple(outputs), kinds=("float", "float"), scale_label="probability", n_rows=n, weight=weight,
        distribution=Distribution(
            tuple(marginal_of(f, c, None, rng) for f, c in zip(names, columns)), joint_of_columns(names, columns, None, rng)
        ),
    )  # fmt: skip


def mixed_surface(n=600, levels=("male", "female", "child"), points=20):
    """A number by a category, the category named first."""
    rng = np.random.default_rng(1)
    codes = rng.integers(0, len(levels), n)
    a = rng.normal(35, 12, n)
    grid = np.linspace(*np.quantile(a, [0.05, 0.95]), points)
    z = np.array([0.3 + 0.1 * i + 0.004 * (grid - 35) * (i - 1) for i in range(len(levels))])
    columns = (column("who", object_array([levels[c] for c in codes])), column("age", a))
    names = ("who", "age")
    return Effect(
        kind="pd", features=names, grid=(object_array(sorted(levels)), grid), average=z[None], outputs=("survived",),
        kinds=("categorical", "float"), scale_label="probability", n_rows=n, weight=np.ones(z.shape),
        distribution=Distribution(
            tuple(marginal_of(f, c, None, rng) for f, c in zip(names, columns)), joint_of_columns(names, columns, None, rng)
        ),
    )  # fmt: skip


def crossed_levels(n=400, first=("a", "b", "c"), second=("x", "y")):
    """A category by a category, with one empty combination."""
    rng = np.random.default_rng(2)
    one, two = rng.integers(0, len(first), n), rng.integers(0, len(second), n)
    two[one == 0] = 0
    columns = (
        column("f", object_array([first[i] for i in one])),
        column("g", object_array([second[i] for i in two])),
    )
    z = rng.uniform(100, 900, (1, len(first), len(second)))
    return Effect(
        kind="pd", features=("f", "g"), grid=(object_array(list(first)), object_array(list(second))), average=z,
        outputs=("cnt",), kinds=("categorical", "categorical"), n_rows=n,
        distribution=Distribution(
            tuple(marginal_of(c.name, c, None, rng) for c in columns), joint_of_columns(("f", "g"), columns, None, rng)
        ),
    )  # fmt: skip


def grouped(labels=("female", "male"), build=numeric, by="sex", **options):
    """An effect with one effect per group on the same grid."""
    whole = build(**options)
    groups = {
        label: replace(
            whole, average=whole.average * (1.2 - 0.4 * i), individual=None, rows=None, row_values=None
        )
        for i, label in enumerate(labels)
    }
    return replace(whole, groups=groups, by=by)


def with_low_support(effect, low):
    low = np.asarray(low, dtype=bool)
    return replace(effect, support=Support(share=np.where(low, 0.01, 0.8), low=low, details={}))


def skewed(missing=False, **options):
    """A wavy curve over amounts whose grid is spaced by equal factors."""
    effect = numeric(missing=missing, name="amount", **options)
    rng = np.random.default_rng(1)
    amounts = rng.lognormal(7, 1.3, 300)
    grid = np.geomspace(*np.quantile(amounts, [0.05, 0.95]), len(effect.grid[0]) - missing)
    if missing:
        amounts[:30], grid = np.nan, np.append(grid, np.nan)
    marginal = marginal_of("amount", column("amount", amounts), None, rng)
    return replace(effect, grid=(grid,), distribution=Distribution((marginal,)))
