"""Every gesture's numbers are those of the Explainer's own calls, and bad or stale requests are answered as such."""

from __future__ import annotations

import json
import random
import re
import threading

import numpy as np
import pandas as pd
import pytest
from explored import Client, data, explainer, fitted

from icefield import Explainer
from icefield.explore import Controller
from icefield.explore.messages import AnswerPart, unpacked
from icefield.kernels.calling import Kernel
from icefield.threads import Cancellation, Stopped, ThreadCrew

RULES = {
    "range": ([{"column": 0, "ge": 40, "le": 70}], lambda X: (X["age"] >= 40) & (X["age"] <= 70)),
    "missing kept": (
        [{"column": 1, "le": 20, "missing": True}],
        lambda X: (X["income"] <= 20) | X["income"].isna(),
    ),
    "missing only": ([{"column": 1, "missing": True}], lambda X: X["income"].isna()),
    "levels": ([{"column": 2, "in": [0, 2]}], lambda X: X["town"].isin(["a", "c"])),
    "both": (
        [{"column": 2, "in": [1]}, {"column": 3, "ge": 2}],
        lambda X: (X["town"] == "b") & (X["cars"] >= 2),
    ),
}


@pytest.fixture(scope="module")
def ex():
    return explainer(target_name="spend", units={"spend": "EUR"})


@pytest.fixture(scope="module")
def client(ex):
    one = Client(Controller(ex))
    yield one
    one.close()


@pytest.mark.parametrize("name", RULES)
def test_a_filter_gives_the_explainers_numbers(ex, client, name):
    rule, mask = RULES[name]
    rows = np.asarray(mask(data()[0]))
    parts = {
        head["part"]: (head, arrays) for head, arrays in client.ask("rows", "filter", rule=rule, feature=1)
    }
    assert list(parts) == ["count", "curve", "bars", "curves", "band", "plane", "summary"]
    assert parts["count"][0]["rows"] == rows.sum()
    effects = ex.effects(rows=rows)
    np.testing.assert_array_equal(
        parts["curves"][1]["y"], np.concatenate([e.average for e in effects.values()], axis=1)
    )
    np.testing.assert_allclose(parts["curve"][1]["y"], effects["income"].average, rtol=1e-12)
    np.testing.assert_allclose(
        parts["curve"][1]["ghost"], ex.partial_dependence("income").average, rtol=1e-12
    )
    band = ex.partial_dependence("income", rows=rows, quantiles=(0.05, 0.25, 0.75, 0.95))
    np.testing.assert_allclose(parts["band"][1]["q"], np.stack(list(band.quantiles.values())), rtol=1e-12)
    np.testing.assert_allclose(parts["band"][1]["std"], band.std, rtol=1e-9)
    table = ex.importance(rows=rows, permutation=False)
    at = [list(table["feature"]).index(f) for f in ("age", "income", "town", "cars")]
    np.testing.assert_array_equal(parts["plane"][1]["strength"], table["strength"][at])
    np.testing.assert_array_equal(parts["plane"][1]["movement"], table["movement"][at])
    summary = ex.summary(rows=rows)
    shapes = dict(zip(summary["feature"], summary["shape"]))
    assert [one["shape"] for one in parts["summary"][0]["features"]] == [shapes[f] for f in effects]
    counts = parts["bars"][1]["bars"]
    assert counts.sum() == 4 * rows.sum()


def test_what_if_gives_the_models_prediction_and_the_rows_curves(ex, client):
    X, _ = data()
    changed = {"age": 33.5, "town": "c", "income": None}
    head, arrays = client.part("whatif", "whatif", "row", row=17, values={"0": 33.5, "2": 2, "1": None})
    row = X.iloc[[17]].assign(age=33.5, income=np.nan)
    row["town"] = pd.Categorical(["c"], categories=X["town"].cat.categories)
    assert head["predicted"] == [pytest.approx(ex.model.native.predict(row)[0], abs=1e-12)]
    curves = [ex.ice(f, rows=[17], changed=changed).individual[:, 0] for f in X.columns]
    np.testing.assert_allclose(arrays["y"], np.concatenate(curves, axis=1), rtol=1e-12)
    own = ex.ice("age", grid=[33.5], rows=[17], changed=changed).individual
    np.testing.assert_allclose(own.ravel(), head["predicted"], rtol=1e-12)


def test_a_row_that_leaves_the_data_is_told():
    rng = np.random.default_rng(0)
    x = rng.normal(size=800)
    ex = Explainer(
        lambda r: r[:, 0] + r[:, 1], np.column_stack([x, x + 0.01 * rng.normal(size=800)]), row_by_row=True
    )
    client = Client(Controller(ex))
    try:
        near = int(np.argmin(np.abs(x)))
        assert client.part("inside", "whatif", "row", row=near, values={"0": float(x[near]) + 0.01})[0][
            "inside"
        ]
        out = client.part("inside", "whatif", "row", row=near, values={"0": 2.5})[0]
        assert not out["inside"]
        assert "extrapolation" in out["say"]
    finally:
        client.close()


def test_surface_ale_observed_and_regions_are_the_explainers(ex, client):
    X, _ = data()
    rule, rows = [{"column": 3, "ge": 1}], np.asarray(X["cars"] >= 1)
    _, surface = client.part("surface", "surface", rule=rule, feature=0, second=1)
    np.testing.assert_allclose(
        surface["y"], ex.partial_dependence("age", "income", rows=rows).average, rtol=1e-12
    )
    _, local = client.part("ale", "ale", rule=rule, feature=0)
    np.testing.assert_array_equal(local["y"], ex.ale("age", rows=rows).average)
    _, means = client.part("observed", "observed", rule=rule, feature=1)
    table = ex.conditional("income", rows=rows)
    np.testing.assert_array_equal(means["observed"][0], table["observed"])
    head, _ = client.part("regions", "regions", rule=rule, feature=0)
    assert (
        head["rules"]
        == ex.regions("age", rows=np.flatnonzero(rows), grid=ex.effects()["age"].grid[0])["rule"].tolist()
    )
    assert any("town" in one for one in head["rules"])


def test_the_audit_of_the_shown_feature_and_rows_is_the_explainers(ex, client):
    X, _ = data()
    rule, rows = [{"column": 3, "ge": 1}], np.flatnonzero(np.asarray(X["cars"] >= 1))
    found = ex.audit(["age"], everywhere=False, rows=rows)
    head, _ = client.part("audit", "audit", rule=rule, feature=0)
    assert f"only rise for {100 * found['rises'][0]:.3g} % of rows" in head["say"][0]
    assert "decided at every threshold" in head["say"][0]
    assert "Largest single step" in head["say"][1]
    lines = client.part("code", "code", state={"feature": 0, "rule": rule, "shown": {"audit": True}})[0][
        "lines"
    ]
    assert "ex.audit(['age'], everywhere=False, rows=np.flatnonzero(rows))" in lines


def test_observed_means_of_chosen_rows_are_plain_means(ex):
    X, y = data()
    rows = np.asarray(X["town"] == "a")
    table = ex.conditional("cars", rows=rows)
    for value, observed, weight in zip(table["value"], table["observed"], table["weight"]):
        inside = rows & np.asarray(X["cars"] == value)
        if inside.any() and weight == inside.sum():
            assert observed == pytest.approx(y[inside].mean())
    assert table["weight"].sum() == rows.sum()
    assert table["value"].tolist() == ex.conditional("cars")["value"].tolist()


def test_rows_are_picked_by_what_they_are(ex, client):
    X, y = data()
    predicted = ex.model.native.predict(X)
    assert client.part("row", "row", "row", how="worst")[0]["row"] == np.abs(predicted - y).argmax()
    rule = [{"column": 2, "in": [1]}]
    inside = np.flatnonzero(X["town"] == "b")
    assert client.part("row", "row", "row", how="random", rule=rule)[0]["row"] in inside
    assert client.part("row", "row", "row", how=5)[0]["places"][3] == X["cars"][5]
    near = client.part("row", "row", "row", how={"near": {"0": 40.0, "1": None, "2": 1}}, rule=rule)[0]["row"]
    like = (X["town"] == "b") & X["income"].isna()
    assert near == (X["age"][like] - 40).abs().idxmin()
    assert client.ask("row", "row", how={"near": {"0": "x"}})[0][0]["error"]["kind"] == "input"


def test_two_models_and_cohorts_are_compared_on_one_grid():
    X, y = data()
    first, second = Explainer(fitted(X, y), X, y), Explainer(fitted(X, y, n_estimators=3), X, y)
    client = Client(Controller({"a": first, "b": second}))
    try:
        rows = np.asarray(X["age"] >= 50)
        grid = first.partial_dependence("age").grid[0]
        _, both = client.part("compared", "compare", feature=0, rule=[{"column": 0, "ge": 50}])
        np.testing.assert_array_equal(
            both["y"][1], second.partial_dependence("age", rows=rows, spread=False, grid=grid).average
        )
        _, cohorts = client.part("compared", "compare", feature=0, rules=[[{"column": 0, "ge": 50}], []])
        np.testing.assert_array_equal(cohorts["y"][1], first.partial_dependence("age", spread=False).average)
        _, own = client.part("curve", "curve", feature=0, model=1, rule=[])
        np.testing.assert_array_equal(
            own["y"], second.partial_dependence("age", spread=False, grid=grid).average
        )
    finally:
        client.close()


def test_classes_and_scales_are_switched():
    from lightgbm import LGBMClassifier

    X, y = data()
    labels = np.where(y > np.quantile(y, 0.7), "high", np.where(y > np.quantile(y, 0.3), "mid", "low"))
    model = LGBMClassifier(n_estimators=4, verbose=-1, n_jobs=1).fit(X, labels)
    client = Client(Controller(Explainer(model, X, labels)))
    try:
        about = client.ask("open")[0][0]
        assert about["outputs"] == ["high", "low", "mid"]
        assert about["scales"] == ["response", "raw"]
        _, arrays = client.part("curve", "curve", feature=0, rule=[], scale="raw", output=1)
        expected = (
            Explainer(model, X, target="all", scale="raw").partial_dependence("age", spread=False).average
        )
        np.testing.assert_allclose(arrays["y"], expected, rtol=1e-9, atol=1e-12)
    finally:
        client.close()


@pytest.mark.parametrize("name", RULES)
def test_copied_code_gives_what_is_shown(ex, client, name):
    rule, mask = RULES[name]
    X, _ = data()
    state = {
        "feature": 0,
        "rule": rule,
        "row": 4,
        "values": {"1": 12.5},
        "shown": {"ale": True, "observed": True},
    }
    lines = client.ask("code", "code", state=state)[0][0]["lines"]
    names: dict[str, object] = {"X": X, "ex": ex}
    asked = [line for line in lines if line.startswith("ex.")]
    for line in lines:
        if not line.startswith("ex."):
            exec(line, names)
    np.testing.assert_array_equal(names["rows"], mask(X))
    effect = eval(asked[0].removesuffix(".plot()"), names)
    _, arrays = client.part("curve", "curve", feature=0, rule=rule)
    np.testing.assert_allclose(effect.average, arrays["y"], rtol=1e-12)
    row = eval(asked[-1].removesuffix(".plot()"), names)
    _, curves = client.part("whatif", "whatif", "row", row=4, values={"1": 12.5})
    np.testing.assert_allclose(row.individual[:, 0], curves["y"][:, : row.individual.shape[-1]], rtol=1e-12)


def run_lines(lines, **names):
    """What copied lines give, pictures left out: the values of those that are calls."""
    found = []
    for line in lines:
        if "(" in line and not re.match(r"(\w+ = |import |from )", line):
            found.append(eval(line.removesuffix(".plot()"), names))
        else:
            exec(line, names)
    return found


def test_copied_code_of_regions_a_cohort_and_a_pinned_row(ex, client):
    X, _ = data()
    cohort = [{"column": 2, "in": [1]}]
    state = {"feature": 0, "rule": [{"column": 3, "ge": 1}], "cohort": cohort, "regions": [30, 60], "pinned": {"row": 3, "values": {"3": 2}}}  # fmt: skip
    _, other, split, pinned = run_lines(client.ask("code", "code", state=state)[0][0]["lines"], X=X, ex=ex)
    _, compared = client.part("compared", "compare", feature=0, rules=[cohort])
    np.testing.assert_allclose(other.average, compared["y"][0], rtol=1e-12)
    head, _ = client.part("regions", "regions", feature=0, rule=state["rule"], **{"from": 30, "to": 60})
    assert split["rule"].tolist() == head["rules"]
    _, curves = client.part("whatif", "whatif", "pinned", row=3, values={"3": 2})
    np.testing.assert_allclose(
        pinned.individual[0, 0], curves["y"][0, : pinned.individual.shape[-1]], rtol=1e-12
    )


def test_copied_code_of_another_scale_and_of_two_models():
    from lightgbm import LGBMClassifier

    X, y = data()
    labels = np.where(y > np.median(y), "high", "low")
    models = [LGBMClassifier(n_estimators=n, verbose=-1, n_jobs=1).fit(X, labels) for n in (4, 9)]
    named = {"a": Explainer(models[0], X, labels), "b": Explainer(models[1], X, labels)}
    client = Client(Controller(named))
    try:
        state = {
            "feature": 1,
            "rule": [{"column": 0, "ge": 40}],
            "model": 1,
            "scale": "raw",
            "row": 3,
            "values": {},
        }
        shown, row = run_lines(client.ask("code", "code", state=state)[0][0]["lines"], X=X, explainers=named)
        _, curve = client.part("curve", "curve", **state)
        np.testing.assert_allclose(shown.average, curve["y"], rtol=1e-12)
        _, own = client.part("whatif", "whatif", "row", **state)
        n = len(client.session.controller.columns[0].grid)
        np.testing.assert_allclose(
            row.individual[0, 0], own["y"][0, n : n + row.individual.shape[-1]], rtol=1e-12
        )
        both = {"feature": 0, "rule": [], "model": 1, "shown": {"both": True}}
        shown, *each = run_lines(client.ask("code", "code", state=both)[0][0]["lines"], X=X, explainers=named)
        _, compared = client.part("compared", "compare", feature=0, rule=[])
        np.testing.assert_allclose(np.stack([one.average for one in each]), compared["y"], rtol=1e-12)
        np.testing.assert_allclose(shown.average, compared["y"][1], rtol=1e-12)
    finally:
        client.close()


def test_a_stream_says_which_rows_curves_and_filters_are_of(tmp_path):
    X, y = data()
    plain = X.drop(columns="town")
    pd.concat([plain.assign(y=y)] * 40).to_parquet(tmp_path / "rows.parquet")
    client = Client(Controller(Explainer(fitted(plain, y), tmp_path / "rows.parquet", y="y")))
    try:
        about = client.ask("open")[0][0]
        assert (about["n_rows"], about["sample_rows"]) == (24_000, 20_000)
        assert (
            about["note"]
            == "Curves are of all 24,000 rows; filters use a seeded sample of 20,000 of 24,000 rows."
        )
        head, _ = client.part(
            "count", "rows", "filter", rule=[{"column": 0, "ge": 40}], feature=0, want=["curve"]
        )
        assert 0 < head["rows"] < 20_000
    finally:
        client.close()


def test_the_partner_of_an_interaction_has_its_name():
    X, y = data()
    client = Client(Controller(Explainer(fitted(X, y), X, y, names={"town": "home town"})))
    try:
        head, _ = client.part("summary", "rows", "filter", rule=[], feature=0, want=["summary"])
        assert head["features"][0]["partner"] == "home town"
    finally:
        client.close()


def test_a_filter_that_keeps_nothing_says_which_condition_to_drop(client):
    (head, _), *rest = client.ask(
        "rows", "filter", rule=[{"column": 2, "in": [0]}, {"column": 0, "ge": 1000}], feature=0
    )
    assert [head["part"] for head, _ in rest] == ["bars"]
    assert not rest[0][1]["bars"].any()
    assert head["rows"] == 0
    assert head["empty"]["condition"] == 1


def test_rows_may_stay_in_the_process(ex):
    client = Client(Controller(ex, rows=False))
    try:
        _, arrays = client.ask("rows", "filter", rule=[], feature=0, want=[])[0]
        assert "kept" not in arrays
        for kind in ("points", "row", "whatif"):
            (answer, _) = client.ask(kind, "row", row=1, x=0, y=1)[0]
            assert answer["error"]["kind"] == "input"
            assert "rows=False" in answer["error"]["say"]
    finally:
        client.close()


def test_at_most_twenty_thousand_points_leave():
    X = np.arange(30_000.0)[:, None]
    client = Client(Controller(Explainer(lambda r: r[:, 0], X, row_by_row=True)))
    try:
        _, arrays = client.part("points", "points", "points", x=0, y="predicted")
        assert len(arrays["px"]) == len(set(arrays["row"].tolist())) == 20_000
        np.testing.assert_array_equal(arrays["px"], X[arrays["row"], 0].astype(np.float32))
    finally:
        client.close()


# --- requests that are wrong, stale or too long -------------------------------------------------------

MANGLED = [
    None, 5, [], "x", {}, {"v": 1}, {"v": 2, "id": 1, "kind": "open"}, {"v": 1, "id": -1, "kind": "open"},
    {"v": 1, "id": True, "kind": "open"}, {"v": 1, "id": 1, "kind": ["open"]}, {"v": 1, "id": 1, "kind": "__init__"},
    {"v": 1, "id": 1, "kind": "rows", "slot": {}}, {"v": 1, "id": 1, "kind": "rows", "slot": "elsewhere"},
]  # fmt: skip
FIELDS = [None, True, -1, 10**30, 1e308, float("nan"), "x", [], {}, [[]], [{}], [{"column": 99}], [{"column": 0, "in": [1]}],
          [{"column": 2, "in": ["a"]}], [{"column": 2, "ge": 1}], [{"column": 0}], {"0": "x"}, {"99": 1}, {"2": 7}, {"a": 1}, "predicted"]  # fmt: skip


def test_a_thousand_malformed_requests_are_answered_and_nothing_breaks(client):
    chance = random.Random(7)
    for one in MANGLED:
        assert (
            client.send(one, one["id"] if isinstance(one, dict) and type(one.get("id")) is int else -1)[-1][
                0
            ]["error"]["kind"]
            == "input"
        )
    kinds = [
        "rows",
        "curve",
        "compare",
        "surface",
        "ale",
        "observed",
        "regions",
        "row",
        "whatif",
        "points",
        "code",
    ]
    names = [
        "feature",
        "second",
        "rule",
        "values",
        "row",
        "how",
        "want",
        "model",
        "output",
        "scale",
        "x",
        "y",
        "state",
        "rules",
        "from",
        "to",
    ]
    errors = 0
    for _ in range(1000 - len(MANGLED)):
        given = {name: chance.choice(FIELDS) for name in chance.sample(names, chance.randint(3, 8))}
        head, _ = client.ask(
            chance.choice(kinds), chance.choice(["filter", "row", "view", "points"]), **given
        )[-1]
        if "error" in head:
            errors += 1
            assert head["error"]["kind"] == "input", (given, head)
    assert errors > 800
    assert client.ask("regions", feature=0, **{"from": "x"})[-1][0]["error"]["kind"] == "input"
    assert client.ask("open")[0][0]["part"] == "about"


def test_the_latest_of_a_slot_wins_and_what_is_stale_is_stopped_in_the_kernels(ex):
    started, released = threading.Event(), threading.Event()
    X = np.arange(2000.0)[:, None]

    def slow(rows):
        started.set()
        released.wait(20)
        return rows[:, 0]

    model = Explainer(lambda r: r[:, 0], X, row_by_row=True)
    controller = Controller(model)
    controller.columns  # noqa: B018  (read before the model turns slow)
    model.study.model.__dict__["ask"] = lambda rows, n, *_: slow(np.asarray(rows))[:, None]
    session, heard = controller.open(), []
    try:
        session.ask(
            {
                "v": 1,
                "id": 1,
                "kind": "curve",
                "slot": "view",
                "feature": 0,
                "rule": [{"column": 0, "ge": 5}],
            },
            heard.append,
        )
        assert started.wait(20)
        session.ask(
            {
                "v": 1,
                "id": 2,
                "kind": "curve",
                "slot": "view",
                "feature": 0,
                "rule": [{"column": 0, "ge": 6}],
            },
            heard.append,
        )
        session.ask({"v": 1, "id": 3, "kind": "points", "slot": "view", "x": 0, "y": 0}, heard.append)
        released.set()
        for _ in range(2000):
            if any(a.head["re"] == 3 and a.head.get("done") for a in heard):
                break
            threading.Event().wait(0.01)
    finally:
        released.set()
        session.close(20)
    told = {a.head["re"]: a.head for a in heard}
    assert told[2]["error"]["kind"] == "stopped"
    assert told[3]["part"] == "points"


def test_a_long_summary_stops_within_a_few_calls_of_a_kernel_once_a_newer_request_is_there(ex, monkeypatch):
    rows = np.flatnonzero(np.asarray(data()[0]["age"] > 30))
    ex.summary(rows=rows)
    called, wanted, stop_at = 0, Cancellation(), 0
    call, lock = Kernel.__call__, threading.Lock()

    def counted(self, values):
        nonlocal called
        with lock:
            called += 1
            now = called
        if now == stop_at:
            wanted.cancel()
        return call(self, values)

    monkeypatch.setattr(Kernel, "__call__", counted)
    ex.summary(rows=rows)
    every = called
    assert every > 40
    for stop_at in np.linspace(1, every - 10, 12).astype(int).tolist():
        called, wanted = 0, Cancellation()
        with pytest.raises(Stopped), wanted.watched():
            ex.summary(rows=rows)
        assert called - stop_at <= 24, f"stopped at call {stop_at} of {every}"


def test_what_takes_long_to_make_keeps_nobody_else_waiting(ex):
    controller, begun, released = Controller(ex), threading.Event(), threading.Event()

    def slow():
        begun.set()
        assert released.wait(20)
        return "slow"

    found = []
    other = threading.Thread(target=lambda: found.append(controller.once("summary", slow)))
    other.start()
    try:
        assert begun.wait(20)
        assert controller.once("curves", lambda: "quick") == "quick"
    finally:
        released.set()
        other.join(20)
    assert found == ["slow"]
    assert controller.once("summary", lambda: "again") == "slow"


def test_a_summary_made_stale_looks_at_no_further_feature(ex, monkeypatch):
    from icefield.statistics import summary as module

    looked, begun, newer, support_of = [], threading.Event(), threading.Event(), module.support_of

    def slow(study, features, *rest):
        looked.append(features[0].label)
        begun.set()
        assert newer.wait(20)
        return support_of(study, features, *rest)

    monkeypatch.setattr(module, "support_of", slow)
    session, heard, done = Controller(ex).open(), [], threading.Event()

    def send(part):
        heard.append(part.head)
        if part.head["re"] == 2 and part.head["done"]:
            done.set()

    ask = {"v": 1, "kind": "rows", "slot": "filter", "feature": 0}
    try:
        session.ask({**ask, "id": 1, "rule": [{"column": 0, "ge": 40}], "want": ["summary"]}, send)
        assert begun.wait(20)
        session.ask({**ask, "id": 2, "rule": [{"column": 0, "ge": 50}], "want": ["curve"]}, send)
        newer.set()
        assert done.wait(20)
    finally:
        newer.set()
        session.close(20)
    assert len(looked) == 1
    assert [head["error"]["kind"] for head in heard if head["re"] == 1 and head["done"]] == ["stopped"]
    assert [head["part"] for head in heard if head["re"] == 2] == ["count", "curve", "bars"]


def test_cancelling_raises_the_flag_of_every_crew_of_that_thread():
    wanted = Cancellation()
    with wanted.watched():
        crew = ThreadCrew(1)
        other = ThreadCrew(1)
    apart = ThreadCrew(1)
    wanted.cancel()
    assert crew.stop[0] == other.stop[0] == 1
    assert apart.stop[0] == 0
    with wanted.watched(), pytest.raises(Stopped):
        ThreadCrew(1)


def test_work_beyond_its_time_is_stopped_and_says_so(ex):
    X = np.arange(100_000.0)[:, None]
    client = Client(Controller(Explainer(lambda r: r[:, 0] + 0.0, X, row_by_row=True), seconds=0.0))
    try:
        answers = [
            client.ask("rows", "filter", rule=[{"column": 0, "ge": 5}], feature=0)[-1][0] for _ in range(3)
        ]
        assert {a.get("error", {}).get("kind", "limit") for a in answers} == {"limit"}
    finally:
        client.close()


def test_frames_carry_arrays_at_multiples_of_eight_bytes():
    arrays = {"a": ("f8", np.arange(3.0)), "b": ("u1", np.array([1, 0, 1])), "c": ("f4", np.ones((2, 2)))}
    frame = AnswerPart({"re": 1, "name": "é\ud800"[:1], "bad": float("nan")}, arrays).frame()
    head, found = unpacked(frame)
    assert head["bad"] is None
    assert all(at % 8 == 0 for _, _, at in head["arrays"].values())
    for name, (_, values) in arrays.items():
        np.testing.assert_array_equal(found[name], values)
    json.dumps(head)
