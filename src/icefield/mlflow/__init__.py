"""A model's effects in an MLflow run: the report, tables with their record, and the summary as metrics.

`log` writes what an Explainer finds about a model to a run; `icefield.mlflow.evaluator` is what ``mlflow.models.evaluate(...,
evaluators="icefield")`` calls.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from icefield.errors import InputTypeError, MissingDependencyError

if TYPE_CHECKING:
    from icefield.explainer import Explainer

__all__ = ["log"]

LOGGED = ("movement", "strength", "heterogeneity", "outside")  # numbers of a summary that become metrics
FOLDER = "icefield"


def __dir__() -> list[str]:
    """What completion offers."""
    return __all__


def log(
    explainer: Explainer,
    *,
    run_id: str | None = None,
    features: Iterable[Any] | None = None,
    report: bool = True,
    effects: bool = True,
    folder: str = FOLDER,
) -> dict[str, float]:
    """Log a model's summary, effects and report to an MLflow run.

    Parameters
    ----------
    explainer : the model and its rows
    run_id : the run; None for the active one, or a new one that is left active, as MLflow's own ``log_`` functions do
    features : which features; all by default
    report : also the report, as ``report.html``
    effects : also every feature's curve, as ``effects.parquet``
    folder : where artifacts are stored in the run; names of metrics and tags begin with it too

    Returns
    -------
    The metrics that were logged: for every feature its movement, strength, heterogeneity and the share of
    predictions outside the data, such as ``icefield.age.movement``.

    Notes
    -----
    Artifacts are ``summary.parquet``, ``effects.parquet``, ``record.json`` and ``report.html``. What the run, the model and the rows are
    known again by (`Explainer.record`) is in all tables and in tags; the record's run is MLflow's.
    """
    if not hasattr(explainer, "study"):
        raise InputTypeError.about(
            "explainer", "must be an Explainer", explainer, "write log(Explainer(model, X))"
        )
    client, run = _client_and_run(run_id)
    selected = None if features is None else list(features)
    record = explainer.record(run_id=run)
    summary = explainer.summary(selected)
    metrics = {
        f"{folder}.{_metric_name(feature)}.{column}": float(summary[column][row])
        for row, feature in enumerate(summary["feature"].tolist())
        for column in LOGGED
        if column in summary.columns and summary[column][row] == summary[column][row]
    }
    with tempfile.TemporaryDirectory() as name:
        path = Path(name)
        summary.to_parquet(path / "summary.parquet", record=record)
        (path / "record.json").write_text(json.dumps(record.as_dict(), indent=1), encoding="utf-8")
        if effects:
            _write_effects(explainer, selected, path / "effects.parquet", record)
        if report:
            explainer.report(path / "report.html", features=selected)
        client.log_artifacts(run, str(path), folder)
    for metric, value in metrics.items():
        client.log_metric(run, metric, value)
    for tag in ("model_hash", "data_version", "data", "icefield"):
        client.set_tag(run, f"{folder}.{tag}", str(getattr(record, tag))[:500])
    return metrics


def _client_and_run(run_id: str | None) -> tuple[Any, str]:
    try:
        import mlflow
    except ImportError:
        raise MissingDependencyError(
            "Logging to MLflow needs it. Hint: pip install 'icefield[mlflow]'."
        ) from None
    if run_id is None:
        run_id = (mlflow.active_run() or mlflow.start_run()).info.run_id
    return mlflow.MlflowClient(), run_id


def _write_effects(explainer: Explainer, features: list[Any] | None, path: Path, record: Any) -> None:
    """Every curve in one table: the feature, its value as a number where it is one and as text, and the average."""
    from icefield.effect.tidy import curves_table, with_record, write_parquet

    curves = explainer.effects(features, spread=explainer.study.background == "data")
    write_parquet(with_record(curves_table(curves), record), path)


def _metric_name(feature: Any) -> str:
    """A feature in the letters that MLflow allows in the name of a metric.

    Examples
    --------
    >>> _metric_name("fare (£)"), _metric_name(3)
    ('fare ___', '3')
    """
    return re.sub(r"[^\w\-. :/]", "_", str(feature), flags=re.ASCII)
