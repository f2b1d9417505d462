"""MLflow: what is logged to a real server on this machine is there, whole, and the report opens in a browser."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from icefield import Explainer
from icefield.errors import InputError, InputTypeError

mlflow = pytest.importorskip("mlflow", reason="logging needs MLflow: run `make test-stores`")
pytestmark = [pytest.mark.timeout(240), pytest.mark.filterwarnings("default")]


@pytest.fixture
def run(server) -> Iterator[str]:
    mlflow.set_experiment("icefield")
    with mlflow.start_run() as started:
        yield started.info.run_id


def fetched(run: str, name: str, folder: Path) -> Path:
    return Path(
        mlflow.artifacts.download_artifacts(
            run_id=run, artifact_path=f"icefield/{name}", dst_path=str(folder)
        )
    )


def test_summary_effects_and_record_are_logged(run, model, data, tmp_path):
    from icefield.mlflow import log

    explainer = Explainer(model, data)
    metrics = log(explainer, report=False)
    stored = mlflow.get_run(run).data
    assert stored.metrics == pytest.approx(metrics)
    summary = explainer.summary().to_frame().set_index("feature")
    assert metrics["icefield.age.movement"] == pytest.approx(summary.movement["age"])
    record = json.loads(fetched(run, "record.json", tmp_path).read_text())
    assert record["run_id"] == run
    assert stored.tags["icefield.model_hash"] == record["model_hash"] == explainer.record().model_hash
    curves = pd.read_parquet(fetched(run, "effects.parquet", tmp_path))
    assert set(curves.feature) == {"age", "fare", "day"}
    age = explainer.effects()["age"]
    found = curves[curves.feature == "age"]
    assert np.allclose(found.average, age.average[0])
    assert np.allclose(found.value, age.grid[0].astype(float))
    assert set(found.run_id) == {run}
    assert list(pd.read_parquet(fetched(run, "summary.parquet", tmp_path)).data_version.unique()) == [
        record["data_version"]
    ]


def test_another_run_and_some_features(run, model, data):
    from icefield.mlflow import log

    other = mlflow.MlflowClient().create_run(mlflow.get_run(run).info.experiment_id).info.run_id
    log(Explainer(model, data), run_id=other, features=["age"], report=False, effects=False, folder="mine")
    stored = mlflow.get_run(other)
    assert {name.split(".")[1] for name in stored.data.metrics} == {"age"}
    listed = [one.path for one in mlflow.MlflowClient().list_artifacts(other, "mine")]
    assert sorted(listed) == ["mine/record.json", "mine/summary.parquet"]
    assert mlflow.get_run(run).data.metrics == {}
    with pytest.raises(InputTypeError, match="must be an Explainer"):
        log(model)


@pytest.mark.parametrize("kind", ["regressor", "classifier"])
def test_the_evaluator(kind, run, data, tmp_path):
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    target = data.age * data.day if kind == "regressor" else (data.age > 40).astype(int)
    made = (RandomForestRegressor if kind == "regressor" else RandomForestClassifier)(
        5, max_depth=4, random_state=0
    ).fit(data, target)
    logged = mlflow.sklearn.log_model(
        made, name="model", serialization_format="cloudpickle", pip_requirements=[]
    )
    rows = data.assign(target=target)
    result = mlflow.models.evaluate(
        logged.model_uri,
        rows,
        targets="target",
        model_type=kind,
        evaluators="icefield",
        evaluator_config={"features": ["age", "day"]},
    )
    explainer = Explainer(made, data, target)
    expected = explainer.summary(["age", "day"])
    for place, feature in enumerate(expected["feature"]):
        assert result.metrics[f"icefield.{feature}.movement"] == pytest.approx(expected["movement"][place])
    assert "<html" in result.artifacts["icefield_report"].content
    assert mlflow.get_run(result.run_id).data.metrics["icefield.age.strength"] == pytest.approx(
        result.metrics["icefield.age.strength"]
    )
    assert (
        json.loads(fetched(result.run_id, "record.json", tmp_path).read_text())["model"]
        == type(made).__name__
    )


def test_a_function_and_settings_that_are_unknown(run, data):
    rows = data.assign(target=data.age)
    result = mlflow.models.evaluate(
        lambda given: given["age"] * 2.0, rows, targets="target", model_type="regressor", evaluators="icefield",
        evaluator_config={"report": False, "effects": False},
    )  # fmt: skip
    assert result.metrics["icefield.age.movement"] > 0
    assert result.artifacts == {}
    with pytest.raises(InputError, match="settings that are unknown"):
        mlflow.models.evaluate(lambda given: given["age"], rows, targets="target", model_type="regressor", evaluators="icefield",
                               evaluator_config={"reprot": False})  # fmt: skip


def test_the_logged_report_opens_in_a_browser(run, model, data, tmp_path, browser):
    from icefield.mlflow import log

    log(Explainer(model, data), effects=False)
    browser.open(fetched(run, "report.html", tmp_path))
    assert "age" in browser.run("document.body.innerText")
    assert browser.run("document.querySelectorAll('svg').length") > 0
    assert browser.problems == []
