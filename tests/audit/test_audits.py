"""Audits as they are asked for: planted violations, groups, weights, flips, interactions, constraints, bad input, files."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import lightgbm as lgb
import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import icefield
from icefield.audit.testing import assert_expectations, expectation_cases
from icefield.cli import loading
from icefield.cli.commands import main
from icefield.refits.fitting import Fitter


@pytest.fixture(scope="module")
def X() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(400, 3)).round(3), columns=["income", "debt", "age"])
    X["sex"] = pd.Categorical(rng.choice(["f", "m"], 400))
    return X


@pytest.fixture(scope="module")
def model(X: pd.DataFrame) -> Any:
    y = X["income"] - X["debt"] + 0.5 * X["age"] * (X["sex"] == "f")
    return lgb.LGBMRegressor(
        n_estimators=15, num_leaves=6, min_child_samples=5, verbose=-1, n_jobs=1, monotone_constraints=[1, -1, 0, 0],
        interaction_constraints=[[0], [1], [2, 3]], min_data_per_group=5, cat_smooth=1.0,
    ).fit(X, y)  # fmt: skip


@pytest.fixture(scope="module")
def ex(model: Any, X: pd.DataFrame) -> icefield.Explainer:
    return icefield.Explainer(model, X, threads=1)


def test_declared_constraints_are_read_and_hold(ex: icefield.Explainer) -> None:
    found = ex.audit()
    assert found.ok
    assert not found.failures
    assert dict(zip(found["feature"], found["direction"]))["income"] == "increasing"
    assert found["source"].tolist()[:2] == ["declared", "declared"]
    proven = {(e.feature, e.direction) for e in found.everywhere if e.answer == "proven"}
    assert {("income", "increasing"), ("debt", "decreasing")} <= proven
    assert found.structure is not None
    assert ("income", "debt") in found.structure.never_together()
    assert found.broken_interactions == ()


def test_a_planted_violation_is_found_and_nothing_else(model: Any, X: pd.DataFrame) -> None:
    booster = lgb.Booster(model_str=model.booster_.model_to_string())
    leaves = booster.predict(X, pred_leaf=True)
    tree = next(
        t
        for t in range(leaves.shape[1])
        if len(set(X["income"][leaves[:, t] == leaves[X["income"].argmax(), t]])) < len(X)
    )
    leaf = int(leaves[X["income"].argmax(), tree])
    booster.set_leaf_output(tree, leaf, booster.get_leaf_output(tree, leaf) - 5.0)
    found = icefield.Explainer(booster, X, threads=1).audit()
    for i, name in enumerate(found["feature"].tolist()):
        if found["direction"][i]:
            curves = [booster.predict(X.assign(**{name: v})) for v in np.unique(X[name])[::3]]
            against = (
                -np.diff(curves, axis=0) if found["direction"][i] == "increasing" else np.diff(curves, axis=0)
            )
            if against.max() > 1e-9:
                assert not found["holds"][i]
                assert found["against"][i] >= against.max() - 1e-9
            if found["holds"][i]:
                assert against.max() <= 1e-9
    assert not found.ok
    for example in found.examples:
        row = X.iloc[[example.row]]
        assert booster.predict(row.assign(**{example.feature: example.before}))[0] == pytest.approx(
            example.prediction_before
        )
        assert booster.predict(row.assign(**{example.feature: example.after}))[0] == pytest.approx(
            example.prediction_after
        )


def test_groups_weights_and_rows(model: Any, X: pd.DataFrame) -> None:
    weights = np.where(X["sex"] == "f", 2.0, 0.0)
    whole = icefield.Explainer(model, X, threads=1).audit(by="sex", everywhere=False)
    women = icefield.Explainer(model, X, weights=weights, threads=1).audit(everywhere=False)
    chosen = icefield.Explainer(model, X, threads=1).audit(
        rows=np.flatnonzero(X["sex"] == "f"), everywhere=False
    )
    group = [i for i, g in enumerate(whole["group"].tolist()) if g == "f"]
    for column in ("rises", "falls", "both", "jump"):
        assert whole[column][group] == pytest.approx(women[column])
        assert chosen[column] == pytest.approx(women[column])


def test_flips_are_those_of_predict(ex: icefield.Explainer, model: Any, X: pd.DataFrame) -> None:
    (flips,) = ex.audit(flips="sex", threshold=0.0, everywhere=False).flips
    other = X.assign(sex=pd.Categorical(np.where(X["sex"] == "f", "m", "f"), categories=["f", "m"]))
    own, moved = model.predict(X), model.predict(other)
    assert flips.changed == pytest.approx(np.mean(np.abs(own - moved) > 1e-12))
    assert flips.largest == pytest.approx(np.abs(own - moved).max())
    assert flips.decided_otherwise == pytest.approx(np.mean((own >= 0) != (moved >= 0)))
    assert flips.by_level["f"]["mean"] == pytest.approx(np.abs(own - moved)[X["sex"] == "f"].mean())


def test_a_model_that_is_not_trees_is_asked_on_a_grid_and_says_so() -> None:
    X = np.linspace(0, 6, 50)[:, None]
    found = icefield.Explainer(lambda rows: np.sin(rows[:, 0]), X).audit(increasing=[0], points=30)
    assert not found.ok
    assert found["method"][0] == "a grid of 30 values"
    assert any("grid" in note for note in found.notes)
    assert found.everywhere == ()


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "unknown": ({"increasing": ["incom"]}, "income"),
    "category": ({"increasing": ["sex"]}, "no order"),
    "both": ({"increasing": ["debt"], "decreasing": ["debt"]}, "names too"),
    "seconds": ({"seconds": -1}, "seconds"),
    "flips": ({"flips": "income"}, "distinct"),
    "unknown flips": ({"flips": "sxe"}, r"`?flips`?.*sex"),
    "unknown box": ({"bounds": {"incom": (0, 1)}}, r"`?bounds`?.*income"),
    "level": ({"bounds": {"sex": ["x"]}}, "no level"),
    "box": ({"bounds": {"income": (2, 1)}}, "pair"),
}


@pytest.mark.parametrize("case", list(BAD))
def test_bad_questions_have_one_clear_error(case: str, ex: icefield.Explainer) -> None:
    settings, said = BAD[case]
    with pytest.raises((icefield.InputError, icefield.InputTypeError), match=said):
        ex.audit(**settings)


def test_predictions_that_are_no_numbers_are_refused() -> None:
    X = np.arange(10.0)[:, None]
    with pytest.raises(icefield.IcefieldError, match=r"(?i)nan|finite"):
        icefield.Explainer(lambda rows: np.where(rows[:, 0] == 7, np.nan, rows[:, 0]), X).audit()


CONTRADICTIONS: list[tuple[dict[str, Any], str]] = [
    ({"features": {"incom": {}}}, "income"),
    ({"features": {"income": {"directoin": "increasing"}}}, "direction"),
    ({"features": {"income": {"direction": "up"}}}, "must be one of"),
    ({"features": {"sex": {"direction": "increasing"}}}, "order"),
    ({"features": {"income": {"direction": "flat", "top": 2}}}, "contradicts"),
    ({"features": {"income": {"range": [2, 1]}}}, "contradicts"),
    ({"features": {"income": {"range": [0, 1], "effect": [3, 4]}}}, "contradicts"),
    ({"features": {"income": {"never_with": ["income"]}}}, "itself"),
    ({"model": {"rows": {"sex": "x"}}, "features": {}}, "no row"),
    ({"model": {"scale": "raw"}, "features": {}}, "scale"),
    ({"feature": {}}, "features"),
]


@pytest.mark.parametrize(("given", "said"), CONTRADICTIONS)
def test_expectations_that_cannot_be_have_one_clear_error(
    given: Any, said: str, ex: icefield.Explainer
) -> None:
    with pytest.raises(icefield.InputError, match=said):
        icefield.check(ex, given)


def test_a_draft_holds_and_another_model_does_not(
    ex: icefield.Explainer, X: pd.DataFrame, tmp_path: Path
) -> None:
    file = tmp_path / "expectations.toml"
    file.write_text(ex.expectations(), encoding="utf-8")
    found = icefield.check(ex, file)
    assert found.ok
    assert all(s.result == "pass" for s in found.statements)
    assert found.record["expectations"]["sha256"]
    assert_expectations(ex, file)
    assert len(expectation_cases(found)) == len(found.statements)
    turned = lgb.LGBMRegressor(n_estimators=5, num_leaves=6, verbose=-1, n_jobs=1).fit(
        X, X["debt"] - X["income"]
    )
    other = icefield.Explainer(turned, X, threads=1)
    bad = icefield.check(other, file)
    assert {s.feature for s in bad.failures} >= {"debt", "income"}
    suite = ElementTree.fromstring(bad.to_junit() or "")
    assert int(suite.attrib["failures"]) == len(bad.failures) == len(suite.findall("testcase/failure"))
    assert json.loads(bad.to_json() or "")["ok"] is False
    assert "<script" not in (bad.to_html() or "")
    with pytest.raises(AssertionError, match="do not hold"):
        assert_expectations(other, file)


def test_each_expectation_can_pass_and_fail() -> None:
    rng = np.random.default_rng(1)
    X = pd.DataFrame(
        {"a": rng.normal(size=200), "b": rng.normal(size=200), "g": rng.choice(["x", "y", "z"], 200)}
    )
    X.loc[::5, "a"] = np.nan
    rank = {"x": 0.0, "y": 1.0, "z": 2.0}

    def predict(rows: pd.DataFrame) -> np.ndarray:
        return rows["a"].fillna(-9.0).to_numpy() + rows["g"].map(rank).to_numpy(float) * (
            1 + 0.5 * rows["b"].to_numpy()
        )

    ex = icefield.Explainer(predict, X)
    good = {
        "a": {"missing": "lowest", "top": 1, "never_with": ["b"]},
        "g": {"order": ["x", "y", "z"]},
        "b": {"disagreement": 9.0},
    }
    bad = {
        "a": {"missing": "highest"},
        "g": {"order": ["z", "y", "x"]},
        "b": {"disagreement": 0.001, "top": 1, "never_with": ["g"]},
    }
    assert {s.result for s in icefield.check(ex, {"features": good}).statements} == {"pass"}
    assert {s.result for s in icefield.check(ex, {"features": bad}).statements} == {"fail"}


def test_steps_to_and_from_missing_are_those_of_predict() -> None:
    rng = np.random.default_rng(5)
    X = pd.DataFrame(rng.normal(size=(300, 2)).round(2), columns=["a", "b"])
    X.loc[rng.random(300) < 0.3, "a"] = np.nan
    y = np.where(X["a"].isna(), 3.0, X["a"]) * (1 + (X["b"] > 0))
    model = lgb.LGBMRegressor(n_estimators=8, num_leaves=5, verbose=-1, n_jobs=1).fit(X, y)
    weights = rng.random(300)
    ex = icefield.Explainer(model, X, weights=weights, threads=1)
    found = ex.audit(everywhere=False, by=(X["b"] > 0).to_numpy())
    own, gone = model.predict(X), X["a"].isna().to_numpy()
    known = np.sort(X["a"].dropna().to_numpy())
    steps = np.where(
        gone,
        model.predict(X.assign(a=known[(len(known) - 1) // 2])) - own,
        model.predict(X.assign(a=np.nan)) - own,
    )
    for i in range(len(found)):
        group = found["group"][i]
        inside = np.ones(300, bool) if group is None else (X["b"] > 0).to_numpy() == (str(group) == "True")
        for column, rows in (("to_missing", inside & ~gone), ("from_missing", inside & gone)):
            if found["feature"][i] == "b":
                assert np.isnan(found[column][i])
                continue
            assert found[column][i] == pytest.approx(np.average(steps[rows], weights=weights[rows]))
            assert found[f"{column}_most"][i] == pytest.approx(np.abs(steps[rows]).max())
    example = found.missing_examples[0]
    assert abs(example.step) == pytest.approx(np.abs(steps).max())
    assert example.prediction_before == pytest.approx(own[example.row])


def test_what_is_not_flat_lists_its_row(ex: icefield.Explainer, model: Any, X: pd.DataFrame) -> None:
    (found,) = icefield.check(ex, {"features": {"debt": {"direction": "flat"}}}).statements
    assert found.result == "fail"
    (jump,) = ex.audit(["debt"], declared=False, everywhere=False).jumps
    assert str(jump) in found.detail
    moved = [model.predict(X.iloc[[jump.row]].assign(debt=v))[0] for v in (jump.before, jump.after)]
    assert abs(moved[1] - moved[0]) == pytest.approx(abs(jump.step))


def test_a_draft_says_where_missing_stands_and_how_much_rows_disagree() -> None:
    rng = np.random.default_rng(2)
    X = pd.DataFrame(rng.normal(size=(400, 2)), columns=["a", "b"])
    X.loc[::4, "a"] = np.nan
    y = np.where(X["a"].isna(), -4.0, X["a"]) * (1 + 0.5 * (X["b"] > 0))
    model = lgb.LGBMRegressor(n_estimators=20, verbose=-1, n_jobs=1).fit(X, y)
    ex = icefield.Explainer(model, X, threads=1)
    own = tomllib.loads(ex.expectations())["features"]["a"]
    assert own["missing"] == "lowest"
    assert own["disagreement"] > 0
    assert all(s.result == "pass" for s in icefield.check(ex, {"features": {"a": own}}).statements)


def test_a_draft_of_several_classes_is_about_one(X: pd.DataFrame) -> None:
    numbers = X[["income", "debt"]]
    model = lgb.LGBMClassifier(n_estimators=5, verbose=-1, n_jobs=1).fit(
        numbers, np.digitize(X["income"], [-0.5, 0.5])
    )
    ex = icefield.Explainer(model, numbers, threads=1)
    drafted = tomllib.loads(ex.expectations(seconds=1))
    assert drafted["model"]["target"] == "0"
    assert all(s.result == "pass" for s in icefield.check(ex, drafted, seconds=1).statements)


def test_snapshots_of_other_models_are_refused(
    ex: icefield.Explainer, X: pd.DataFrame, tmp_path: Path
) -> None:
    folder = ex.snapshot(tmp_path / "effects")
    assert icefield.check(ex, against=folder).ok
    other = icefield.Explainer(lambda rows: np.ones((len(rows), 2)), X)
    with pytest.raises(icefield.InputError, match="another kind"):
        icefield.check(other, against=folder)
    few = lgb.LGBMRegressor(n_estimators=2, verbose=-1).fit(X[["income", "debt"]], X["income"])
    with pytest.raises(icefield.InputError, match="do not have"):
        icefield.check(icefield.Explainer(few, X[["income", "debt"]]), against=folder)
    with pytest.raises(icefield.MissingFileError, match=r"model\.json"):
        icefield.check(ex, against=tmp_path / "nowhere")
    (folder / "income.json").write_text("{", encoding="utf-8")
    with pytest.raises(icefield.InputError, match="damaged"):
        icefield.check(ex, against=folder)


def test_a_new_feature_of_a_model_of_several_outputs_is_said(tmp_path: Path) -> None:
    rows = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 3)), columns=["a", "b", "c"])
    before = icefield.Explainer(lambda r: np.asarray(r), rows[["a", "b"]], row_by_row=True)
    after = icefield.Explainer(lambda r: np.asarray(r)[:, :2] * (1, 2), rows, row_by_row=True)
    found = icefield.check(after, against=before.snapshot(tmp_path / "effects"))
    (new,) = [s for s in found.statements if s.feature == "c"]
    assert new.result == "fail"
    assert new.found.startswith("new; predictions move by 0 ")


def test_a_snapshot_learns_noise_from_refits(X: pd.DataFrame, tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    y = (X["income"] - X["debt"] + 0.1 * rng.normal(size=len(X))).to_numpy()
    settings = {"n_estimators": 10, "num_leaves": 6, "verbose": -1, "n_jobs": 1}
    ex = icefield.Explainer(lgb.LGBMRegressor(**settings).fit(X, y), X, y, threads=1)
    folder = ex.snapshot(tmp_path / "effects", refits=3)
    head = json.loads((folder / "model.json").read_text())
    assert head["tolerance_from"] == "refits"
    assert icefield.check(ex, against=folder).ok
    turned = lgb.LGBMRegressor(**settings).fit(X, y + 3 * X["debt"])
    found = icefield.check(icefield.Explainer(turned, X, threads=1), against=folder)
    assert {s.feature for s in found.failures} >= {"debt"}
    before = {file.name: file.read_text() for file in folder.iterdir()}
    ex.snapshot(folder)
    assert {file.name: file.read_text() for file in folder.iterdir()} == before


def test_refits_are_made_of_pipelines_with_weights_and_whole_clusters(
    X: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    numbers, rng = X[["income", "debt"]], np.random.default_rng(0)
    y = (X["income"] - X["debt"]).to_numpy()
    weights, people = rng.random(len(X)) + 0.1, np.repeat(np.arange(len(X) // 4), 4)
    fitted = []
    plain = Fitter.fitted

    def seen(self: Fitter, rows: Any, seed: int) -> Any:
        fitted.append((rows, self.weights))
        return plain(self, rows, seed)

    monkeypatch.setattr(Fitter, "fitted", seen)
    model = make_pipeline(StandardScaler(), Ridge()).fit(numbers, y)
    ex = icefield.Explainer(model, numbers, y, weights=weights, cluster=people, threads=1)
    folder = ex.snapshot(tmp_path / "effects", refits=3)
    assert json.loads((folder / "model.json").read_text())["tolerance_from"] == "refits"
    assert len(fitted) == 3
    for rows, given in fitted:
        assert given is not None
        assert all(count == 4 for count in np.unique(people[rows], return_counts=True)[1])
    with pytest.raises(icefield.InputError, match="no fit"):
        icefield.Explainer(lambda rows: rows["income"], numbers, y).snapshot(tmp_path / "other", refits=3)
    with pytest.raises(icefield.InputError, match="observed targets"):
        icefield.Explainer(model, numbers).snapshot(tmp_path / "other", refits=3)


def test_commands_say_by_their_exit_code_what_holds(
    X: pd.DataFrame, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    numbers = X.drop(columns="sex")
    models = {
        "bad.txt": lgb.LGBMRegressor(n_estimators=5, verbose=-1, n_jobs=1)
        .fit(numbers, X["income"] ** 2)
        .booster_,
        "good.txt": lgb.LGBMRegressor(n_estimators=5, verbose=-1, n_jobs=1, monotone_constraints=[1, 0, 0])
        .fit(numbers, X["income"])
        .booster_,
    }
    numbers.to_csv("data.csv", index=False)
    for name in models:
        Path(name).touch()  # the shell looks for the file first; reading files has tests of its own
    monkeypatch.setattr(loading, "load_model", lambda path, **_: models[path])

    def code(*line: str) -> int:
        return CliRunner().invoke(main, list(line), standalone_mode=True).exit_code

    assert code("audit", "good.txt", "data.csv", "--increasing", "income", "--time", "5") == 0
    assert code("audit", "bad.txt", "data.csv", "--increasing", "income", "--json", "audit.json") == 4
    assert json.loads(Path("audit.json").read_text())["ok"] is False
    assert code("expect", "good.txt", "data.csv", "-o", "expectations.toml") == 0
    assert (
        code("check", "good.txt", "data.csv", "expectations.toml", "--junit", "j.xml", "--html", "h.html")
        == 0
    )
    assert code("check", "bad.txt", "data.csv", "expectations.toml") == 4
    assert (
        code(
            "snapshot", "good.txt", "data.csv", "-o", "effects", "--refit", "good.txt", "--refit", "good.txt"
        )
        == 0
    )
    assert code("check", "good.txt", "data.csv", "--against", "effects") == 0
    assert code("check", "bad.txt", "data.csv", "--against", "effects") == 4


def test_the_report_records_an_audit(ex: icefield.Explainer) -> None:
    page = ex.report(
        audit=[
            ex.audit(seconds=1),
            icefield.check(ex, {"features": {"income": {"direction": "increasing"}}}),
        ],
        features=["income"],
    )
    assert isinstance(page, icefield.report.Report)
    for part in ("sha256", "versions", "time_limit_seconds", "seed", "Audit: all requirements hold"):
        assert part in page.html
    with pytest.raises(icefield.InputTypeError, match="audit"):
        ex.report(audit="yes")
