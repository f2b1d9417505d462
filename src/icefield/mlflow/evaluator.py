"""The evaluator of ``mlflow.models.evaluate(..., evaluators="icefield")``: explains the evaluated model on the evaluated rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import mlflow
from mlflow.models.evaluation import EvaluationArtifact, EvaluationResult, ModelEvaluator

from icefield.errors import IcefieldError, InputError
from icefield.explainer import Explainer
from icefield.mlflow import FOLDER, log

SETTINGS = ("features", "report", "effects", "folder")  # of `evaluator_config`, as in `log`
# As in `Explainer`.
EXPLAINED = ("target", "scale", "names", "units", "target_name", "engine", "seed", "threads")


class ReportArtifact(EvaluationArtifact):
    """The report, as text."""

    def _load_content_from_file(self, local_artifact_path: str) -> str:
        return Path(local_artifact_path).read_text(encoding="utf-8")

    def _save(self, output_artifact_path: str) -> None:
        Path(output_artifact_path).write_text(self.content, encoding="utf-8")


class IcefieldEvaluator(ModelEvaluator):
    """Logs what `icefield.mlflow.log` logs, for classifiers and regressors.

    `evaluator_config` takes the settings of `log` and of `Explainer`.
    """

    @classmethod
    def can_evaluate(cls, *, model_type: Any, evaluator_config: Any, **_: Any) -> bool:
        return model_type in ("regressor", "classifier")

    def evaluate(
        self,
        *,
        model_type: Any,
        dataset: Any,
        run_id: str,
        evaluator_config: Any,
        model: Any = None,
        **_: Any,
    ) -> Any:
        """Explain a pyfunc model on the features of a dataset."""
        if model is None:
            raise InputError.about("model", "is needed: predictions alone do not say how it responds", hint="pass model= to mlflow.models.evaluate")  # fmt: skip
        config = dict(evaluator_config or {})
        unknown = [name for name in config if name not in (*SETTINGS, *EXPLAINED)]
        if unknown:
            raise InputError.about("evaluator_config", "has settings that are unknown", unknown, f"known are {', '.join((*SETTINGS, *EXPLAINED))}")  # fmt: skip
        settings = {name: config[name] for name in EXPLAINED if name in config}
        explainer = _explainer(model, dataset, settings)
        log_settings = {name: config[name] for name in SETTINGS if name in config}
        metrics = log(explainer, run_id=run_id, **log_settings)
        folder = log_settings.get("folder", FOLDER)
        artifacts = {}
        if log_settings.get("report", True):
            uri = mlflow.get_run(run_id).info.artifact_uri
            artifacts["icefield_report"] = ReportArtifact(uri=f"{uri}/{folder}/report.html")
        return EvaluationResult(metrics=metrics, artifacts=artifacts, run_id=run_id)


def _explainer(model: Any, dataset: Any, settings: dict[str, Any]) -> Explainer:
    """An Explainer of the library's own model, whose trees and probabilities can be read; else of its predictions."""
    rows, observed = dataset.features_data, dataset.labels_data
    try:
        return Explainer(model.get_raw_model(), rows, observed, **settings)
    except (NotImplementedError, AttributeError, IcefieldError):
        return Explainer(model.predict, rows, observed, **settings)
