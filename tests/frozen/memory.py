"""Questions about rows in memory."""

from __future__ import annotations

import hashlib
import re
import tempfile
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np

from icefield import Explainer, Grid, compare

from .answers import Answers
from .rows import FEATURES, NUMBERS, WHOLE, array_function, frame, function, model

VOLATILE = (
    (re.compile(r"<(style|script)(?![^>]*application/json)[^>]*>.*?</\1>", re.DOTALL), ""),  # looks, not answers
    (re.compile(r"<meta[^>]*Content-Security-Policy[^>]*>"), ""),
    (re.compile(r"\bin (?:\d+ min )?[\d.]+ (?:s|ms) with icefield"), "TIME"),
    (re.compile(r"\b\d\d \w+ 20\d\d, \d\d:\d\d"), "DATE"),
)  # fmt: skip


def ask_all(found: Answers) -> None:
    """Every question about rows in memory."""
    _broad(found)
    _families(found)
    _kinds_of_rows(found)
    _statistics(found)
    _comparisons(found)
    _reports(found)
    _drop_in(found)


def curves(found: Answers, name: str, ex: Explainer, features: list[Any]) -> None:
    """What every kind of model and rows is asked: alone and together, since sums may be shared."""
    first, second = features[0], features[1]
    found.ask(f"{name}/alone", lambda: ex.partial_dependence(first))
    found.ask(f"{name}/pair", lambda: ex.partial_dependence(first, second, grid=6))
    found.ask(f"{name}/all", lambda: ex.effects(spread=True, grid=12))
    found.ask(f"{name}/all averages", lambda: ex.effects(grid=Grid("quantile", points=9)))
    found.ask(f"{name}/ice", lambda: ex.ice(first, grid=7, rows=20))
    found.ask(f"{name}/ale", lambda: ex.ale(first, bins=8))
    found.ask(f"{name}/text", lambda: repr(ex))


def _broad(found: Answers) -> None:
    """All options, on the rows and model that have everything."""
    if not found.wants("memory/broad"):
        return
    rows = frame()
    ways: dict[str, dict[str, Any]] = {
        "plain": {"X": rows[FEATURES]},
        "threads": {"X": rows[FEATURES], "threads": 2},
        "weights": {"X": rows, "weights": "w"},
        "by": {"X": rows, "by": "side"},
        "weights, by": {"X": rows, "weights": "w", "by": "side", "y": rows.y},
        "cluster": {"X": rows, "cluster": "person"},
    }
    for way, options in ways.items():
        ex = Explainer(model("lightgbm"), **{"threads": 1, **options})
        at = f"memory/broad/{way}"
        _every_option(found, at, ex, FEATURES)
    ex = Explainer(model("lightgbm"), rows[FEATURES])
    for kind in ("first", "mean", 0.1):
        found.ask(
            f"memory/broad/center {kind}",
            lambda k=kind: ex.partial_dependence("x0", individual=True, grid=6).center(k),
        )
        found.ask(
            f"memory/broad/center averages {kind}",
            lambda k=kind: ex.partial_dependence("x0", grid=6).center(k),
        )
    found.ask("memory/broad/derivative", lambda: ex.ice("x0", grid=6, rows=9).derivative())
    found.ask(
        "memory/broad/derivative pair", lambda: ex.partial_dependence("x0", "x1", grid=5).derivative("x1")
    )
    found.ask("memory/broad/frame", lambda: ex.partial_dependence("x1", by="flag", grid=5).to_csv())
    found.ask("memory/broad/frame curves", lambda: ex.ice("x1", "k", grid=3, rows=4).to_csv(individual=True))
    found.ask("memory/broad/one-hot", _one_hot)
    named = Explainer(
        model("lightgbm"), rows[FEATURES], names={"x0": "age", "k": ("grade", {0: "none"})}, units={"x0": "years"}, target_name="delay",
    )  # fmt: skip
    found.ask("memory/broad/named", lambda: named.effects(["x0", "k"], spread=True))
    found.ask("memory/broad/named summary", lambda: named.summary())


def _every_option(found: Answers, at: str, ex: Explainer, features: list[str]) -> None:
    rows = frame()
    curves(found, at, ex, features)
    found.ask(f"{at}/pd level", lambda: ex.partial_dependence("level"))
    found.ask(f"{at}/pd flag", lambda: ex.partial_dependence("flag"))
    found.ask(f"{at}/pd k", lambda: ex.partial_dependence("k"))
    found.ask(f"{at}/pd gaps", lambda: ex.partial_dependence("x1"))
    found.ask(f"{at}/pd given", lambda: ex.partial_dependence("x1", grid=[-1.0, 0.25, None]))
    found.ask(f"{at}/pd level and number", lambda: ex.partial_dependence("level", "x1", grid={"x1": 4}))
    found.ask(f"{at}/pd three", lambda: ex.partial_dependence("x0", "level", "k", grid=3))
    found.ask(f"{at}/pd pair spread", lambda: ex.partial_dependence("x0", "k", grid=4, spread=True))
    found.ask(f"{at}/pd no spread", lambda: ex.partial_dependence("x2", spread=False))
    for kind in ("uniform", "quantile", "distinct", "thresholds", "log"):
        feature = "k" if kind == "distinct" else "x0"
        found.ask(f"{at}/grid {kind}", lambda f=feature, k=kind: ex.partial_dependence(f, grid=Grid(k)))
    found.ask(
        f"{at}/grid trim",
        lambda: ex.partial_dependence("x1", grid=Grid(points=5, trim=(0, 1), missing="hide")),
    )
    found.ask(f"{at}/quantiles", lambda: ex.partial_dependence("x0", grid=5, quantiles=(0.1, 0.5, 0.9)))
    found.ask(f"{at}/rows number", lambda: ex.partial_dependence("x0", grid=5, rows=200))
    found.ask(f"{at}/rows positions", lambda: ex.partial_dependence("x0", grid=5, rows=[3, 1, 77]))
    found.ask(
        f"{at}/rows mask", lambda: ex.partial_dependence("k", "x0", grid=4, rows=(rows.x0 > 0).to_numpy())
    )
    found.ask(f"{at}/precision", lambda: ex.partial_dependence("x0", grid=6, precision=0.05))
    found.ask(f"{at}/support", lambda: ex.partial_dependence("x0", grid=9, support=True))
    found.ask(f"{at}/support pair", lambda: ex.partial_dependence("x0", "x2", grid=5, support=True))
    found.ask(f"{at}/individual", lambda: ex.partial_dependence("x0", grid=4, individual=True))
    found.ask(f"{at}/by here", lambda: ex.partial_dependence("x0", grid=5, by=rows.level.to_numpy()))
    found.ask(f"{at}/ice all", lambda: ex.ice("k", grid=3, quantiles=(0.25, 0.75)))
    found.ask(f"{at}/ice pair", lambda: ex.ice("k", "x0", grid=3, rows=[5, 9]))
    found.ask(f"{at}/ice level by", lambda: ex.ice("level", rows=10, by="flag"))
    found.ask(f"{at}/ale gaps", lambda: ex.ale("x1"))
    found.ask(f"{at}/ale level", lambda: ex.ale("level"))
    found.ask(f"{at}/ale level given", lambda: ex.ale("level", order=["d", "a", "c", "b"]))
    found.ask(f"{at}/ale edges", lambda: ex.ale("x0", bins=[-2.0, -0.5, 0.5, 2.0]))
    found.ask(f"{at}/ale pair", lambda: ex.ale("x0", "x2", bins=5))
    found.ask(f"{at}/ale level pair", lambda: ex.ale("level", "x0", bins=4))
    found.ask(f"{at}/ale rows", lambda: ex.ale("x0", bins=6, rows=300))
    found.ask(f"{at}/ale by", lambda: ex.ale("k", by=rows.flag.to_numpy()))
    found.ask(f"{at}/ale flag", lambda: ex.ale("flag"))
    found.ask(f"{at}/effects pairs", lambda: ex.effects(["x0", "level", "k", "x1"], order=2, grid=4))
    found.ask(
        f"{at}/effects pairs spread", lambda: ex.effects(["x0", "k", "x1"], order=2, grid=3, spread=True)
    )
    found.ask(f"{at}/effects ice", lambda: ex.effects(kind="ice", rows=15, grid=5))
    found.ask(f"{at}/effects ale", lambda: ex.effects(kind="ale"))
    found.ask(f"{at}/effects ale some", lambda: ex.effects(["x0", "x2"], kind="ale", rows=400))
    found.ask(f"{at}/effects rows", lambda: ex.effects(["x0", "level"], rows=100, spread=True))
    found.ask(f"{at}/effects by", lambda: ex.effects(["x0", "level"], by="flag", spread=True, grid=5))
    found.ask(f"{at}/effects default", lambda: ex.effects(["x0", "x2"]))


def _one_hot() -> Any:
    """A feature of several columns."""
    rows = frame()
    hot = {f"level_{v}": (rows.level == v).astype(float) for v in "abcd"}
    data = rows[WHOLE].assign(**hot)
    ex = Explainer(lambda r: np.asarray(r["x0"]) * np.asarray(r["level_a"]) + np.asarray(r["level_c"]), data)
    group = {"level": list(hot)}
    return [ex.partial_dependence(group), ex.partial_dependence(group, "x0", grid=4), ex.ale(group)]


def _families(found: Answers) -> None:
    """Every kind of model and engine."""
    if not found.wants("memory/families"):
        return
    rows = frame()
    ways: dict[str, tuple[str, list[str], dict[str, Any]]] = {
        "lightgbm brute": ("lightgbm", FEATURES, {"engine": "brute"}),
        "lightgbm training": ("lightgbm", FEATURES, {"background": "training"}),
        "binary response": ("lightgbm binary", FEATURES, {}),
        "binary raw": ("lightgbm binary", FEATURES, {"scale": "raw"}),
        "binary both": ("lightgbm binary", FEATURES, {"target": "all"}),
        "binary brute": ("lightgbm binary", FEATURES, {"engine": "brute"}),
        "binary training": ("lightgbm binary", FEATURES, {"background": "training", "scale": "raw"}),
        "classes": ("lightgbm classes", FEATURES, {}),
        "classes raw": ("lightgbm classes", FEATURES, {"scale": "raw", "target": ["low", "high"]}),
        "classes one": ("lightgbm classes", FEATURES, {"target": "middle"}),
        "xgboost": ("xgboost", NUMBERS, {}),
        "xgboost training": ("xgboost", NUMBERS, {"background": "training"}),
        "xgboost binary": ("xgboost binary", NUMBERS, {}),
        "catboost": ("catboost", NUMBERS, {}),
        "forest": ("forest", WHOLE, {}),
        "forest trees": ("forest", WHOLE, {"engine": "trees"}),
        "forest training": ("forest", WHOLE, {"background": "training"}),
        "hist": ("hist", NUMBERS, {}),
        "hist raw": ("hist", NUMBERS, {"scale": "raw"}),
        "pipeline": ("pipeline", [*WHOLE, "level"], {}),
        "linear": ("linear", WHOLE, {}),
        "linear trees": ("linear", WHOLE, {"engine": "trees"}),
        "logistic": ("logistic", WHOLE, {}),
        "logistic raw": ("logistic", WHOLE, {"scale": "raw"}),
        "linear weights": ("linear", [*WHOLE, "w", "side"], {"weights": "w", "by": "side"}),
        "binary weights": ("lightgbm binary", [*FEATURES, "w", "side"], {"weights": "w", "by": "side"}),
        "classes weights": ("lightgbm classes", [*FEATURES, "w", "side"], {"weights": "w", "by": "side"}),
        "small memory": ("lightgbm binary", FEATURES, {"memory": 2_000_000}),
    }
    for way, (fitted, columns, options) in ways.items():
        if not found.wants(f"memory/families/{way}"):
            continue
        try:
            ex = Explainer(model(fitted), rows[columns], threads=1, **options)
        except Exception as error:
            found.ask(f"memory/families/{way}", lambda e=error: f"{type(e).__name__}: {e}")
            continue
        _family(found, f"memory/families/{way}", ex, columns)


def _family(found: Answers, at: str, ex: Explainer, columns: list[str]) -> None:
    curves(found, at, ex, columns)
    found.ask(f"{at}/plan", lambda: [ex.plan.engine.name, ex.plan.why])
    found.ask(f"{at}/interactions", lambda: ex.interactions(columns[:3]))


def _kinds_of_rows(found: Answers) -> None:
    """Other frames, arrays, and columns of other kinds."""
    if not found.wants("memory/rows"):
        return
    import polars as pl
    import pyarrow as pa

    rows = frame()
    columns = ["x0", "x2", "k", "day", "flag"]
    frames = {
        "pandas": rows[columns],
        "polars": pl.from_pandas(rows[columns]),
        "arrow": pa.Table.from_pandas(rows[columns], preserve_index=False),
    }
    for way, data in frames.items():
        _frame(found, f"memory/rows/{way}", Explainer(function, data))
    polars = Explainer(model("lightgbm numbers"), pl.from_pandas(rows[NUMBERS]), weights=rows.w.to_numpy())
    curves(found, "memory/rows/polars trees", polars, NUMBERS)
    array = Explainer(array_function, rows[["x0", "x2", "k"]].to_numpy(), y=rows.y.to_numpy())
    curves(found, "memory/rows/numpy", array, [0, 2])
    found.ask("memory/rows/numpy/importance", lambda: array.importance())
    found.ask("memory/rows/numpy/interactions", lambda: array.interactions())
    single = Explainer(model("xgboost"), rows[NUMBERS].to_numpy(dtype=np.float32))
    curves(found, "memory/rows/numpy float32", single, [0, 2])


def _frame(found: Answers, at: str, ex: Explainer) -> None:
    curves(found, at, ex, ["day", "x0"])
    found.ask(f"{at}/flag", lambda: ex.partial_dependence("flag", "day", grid={"day": 4}))
    found.ask(f"{at}/ale day", lambda: ex.ale("day", bins=5))
    found.ask(f"{at}/slope", lambda: ex.partial_dependence("day", grid=5).derivative())
    found.ask(f"{at}/csv", lambda: ex.partial_dependence("day", grid=4).to_csv())
    found.ask(f"{at}/importance", lambda: ex.importance())
    found.ask(f"{at}/conditional", lambda: ex.conditional("day", bins=5))


def _statistics(found: Answers) -> None:
    if not found.wants("memory/statistics"):
        return
    rows = frame()
    ways = {
        "trees": lambda: Explainer(model("lightgbm"), rows[FEATURES], rows.y),
        "trees weights": lambda: Explainer(model("lightgbm"), rows, rows.y, weights="w", by="side"),
        "trees cluster": lambda: Explainer(model("lightgbm"), rows, rows.y, cluster="person"),
        "binary": lambda: Explainer(model("lightgbm binary"), rows[FEATURES]),
        "classes": lambda: Explainer(model("lightgbm classes"), rows[FEATURES][:600]),
        "function": lambda: Explainer(function, rows[["x0", "x2", "k", "day", "flag"]][:500], rows.y[:500]),
        "linear": lambda: Explainer(model("linear"), rows[WHOLE], rows.y),
    }
    for way, made in ways.items():
        if not found.wants(f"memory/statistics/{way}"):
            continue
        every_statistic(found, f"memory/statistics/{way}", made())
    training = Explainer(model("lightgbm"), rows[FEATURES], background="training")
    for name in ("importance", "interactions", "summary"):
        found.ask(f"memory/statistics/training/{name}", lambda n=name: getattr(training, n)())


def every_statistic(found: Answers, at: str, ex: Explainer) -> None:
    """Every statistic, with most of its options."""
    some = ["x0", "k"]
    found.ask(f"{at}/importance", lambda: ex.importance())
    found.ask(f"{at}/importance spread", lambda: ex.importance(some, measure="spread", weighted=True, grid=9))
    found.ask(f"{at}/importance permutation", lambda: ex.importance(some, permutation=True, repeats=2))
    found.ask(f"{at}/importance rows", lambda: ex.importance(some, rows=150, permutation=False))
    found.ask(f"{at}/interactions", lambda: ex.interactions())
    found.ask(f"{at}/interactions some", lambda: ex.interactions(["x0", "x2", "k"], triples=True, rows=80))
    found.ask(f"{at}/interactions pairs", lambda: ex.interactions(some, overall=False).matrix())
    found.ask(
        f"{at}/interactions variance", lambda: ex.interactions(["x0", "x2", "k"], method="variance", rows=200)
    )
    found.ask(f"{at}/regions", lambda: ex.regions("x0"))
    found.ask(f"{at}/regions clusters", lambda: ex.regions("x2", method="clusters", grid=9, rows=300))
    found.ask(f"{at}/regions depth", lambda: ex.regions("x2", depth=1, least_removed=0.01, rows=400))
    found.ask(f"{at}/summary", lambda: ex.summary())
    found.ask(f"{at}/summary some", lambda: ex.summary(some, rows=200, grid=10))
    found.ask(f"{at}/conditional", lambda: ex.conditional("x0", bins=6))
    found.ask(f"{at}/conditional k", lambda: ex.conditional("k", rows=200))
    if "trees" in at:
        found.ask(f"{at}/conditional level", lambda: ex.conditional("level"))
        found.ask(f"{at}/regions level", lambda: ex.regions("level"))
        found.ask(f"{at}/regions gaps", lambda: ex.regions("x1"))
    found.ask(f"{at}/interactions csv", lambda: ex.interactions(some).to_csv())


def _comparisons(found: Answers) -> None:
    if not found.wants("memory/compare"):
        return
    rows = frame()
    both = compare(
        {name: Explainer(model(name), rows[FEATURES], rows.y) for name in ("lightgbm", "lightgbm refit")}
    )
    found.ask("memory/compare/text", lambda: repr(both))
    found.ask("memory/compare/pd", lambda: both.partial_dependence("x0"))
    found.ask("memory/compare/pair", lambda: both.partial_dependence("x0", "level", grid={"x0": 5}))
    found.ask("memory/compare/ale", lambda: both.ale("x0", bins=[-1.0, 0.0, 1.0]))
    found.ask("memory/compare/ice", lambda: both.ice("x0", grid=4, rows=5))
    found.ask("memory/compare/difference", lambda: both.partial_dependence("x0").difference())
    found.ask("memory/compare/band", lambda: both.partial_dependence("x0").band(quantiles=(0.1, 0.9)))
    found.ask("memory/compare/csv", lambda: both.partial_dependence("k").to_csv())
    found.ask("memory/compare/report", lambda: _page(both.report))


def _page(report: Any, **options: Any) -> dict[str, str]:
    """A report's data and visible text, and a digest of the page, without looks, dates and times."""
    with tempfile.TemporaryDirectory() as folder:
        page = report(Path(folder) / "page.html", **options).read_text(encoding="utf-8")
    for pattern, instead in VOLATILE:
        page = pattern.sub(instead, page)
    data = re.findall(r"<script[^>]*application/json[^>]*>(.*?)</script>", page, re.DOTALL)
    text = re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL)
    visible = " ".join(unescape(re.sub(r"<[^>]+>", " ", text)).split())
    return {"data": "\n".join(data), "text": visible, "digest": hashlib.sha256(page.encode()).hexdigest()}


def _reports(found: Answers) -> None:
    if not found.wants("memory/report"):
        return
    rows = frame()
    plain = Explainer(model("lightgbm"), rows[FEATURES], rows.y)
    found.ask("memory/report/plain", lambda: _page(plain.report))
    grouped = Explainer(model("lightgbm binary"), rows, weights="w", by="side")
    found.ask(
        "memory/report/grouped",
        lambda: _page(grouped.report, features=["x0", "level", "x1"], individual=True),
    )
    brute = Explainer(function, rows[["x0", "x2", "k", "day", "flag"]][:400])
    found.ask("memory/report/function", lambda: _page(brute.report, title="A function"))


def _drop_in(found: Answers) -> None:
    if not found.wants("memory/sklearn"):
        return
    from icefield.sklearn import partial_dependence

    rows = frame()[WHOLE].astype(float)
    for fitted in ("forest", "boosting", "linear", "logistic"):
        for method in ("auto", "brute", "recursion"):
            for kind in ("average", "both"):
                for features in ([0], [0, 2]):
                    found.ask(
                        f"memory/sklearn/{fitted} {method} {kind} {features}",
                        lambda f=fitted, m=method, k=kind, c=features: dict(
                            partial_dependence(model(f), rows[:400], c, method=m, kind=k, grid_resolution=6)
                        ),
                    )
    weights = frame().w.to_numpy()
    found.ask(
        "memory/sklearn/weights",
        lambda: dict(partial_dependence(model("forest"), rows, ["x0"], sample_weight=weights)),
    )
    found.ask(
        "memory/sklearn/custom",
        lambda: dict(partial_dependence(model("linear"), rows, ["k"], custom_values={"k": np.array([0, 3])})),
    )
