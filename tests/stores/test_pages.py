"""The pages about stores and MLflow, block by block: what they say is printed, is printed."""

from __future__ import annotations

import io
import re
from contextlib import redirect_stdout
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
pytestmark = [pytest.mark.timeout(240), pytest.mark.filterwarnings("default")]


def run(page: str, known: dict) -> int:
    blocks = re.findall(r"^```py\n(.*?)^```$", (DOCS / page).read_text(encoding="utf-8"), re.M | re.S)
    for number, block in enumerate(blocks):
        said = "".join(f"{line[2:]}\n" for line in block.splitlines() if line.startswith("# "))
        printed = io.StringIO()
        with redirect_stdout(printed):
            exec(compile(block, f"{page}, block {number}", "exec"), known)
        assert printed.getvalue() == said, block
    return len(blocks)


def test_stores(s3, model, delta, iceberg, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, value in {
        "AWS_ACCESS_KEY_ID": s3.key,
        "AWS_SECRET_ACCESS_KEY": s3.secret,
        "AWS_ENDPOINT_URL": s3.address,
    }.items():
        monkeypatch.setenv(name, value)
    known = {
        "model": model,
        "key": s3.key,
        "secret": s3.secret,
        "endpoint": s3.address,
        "delta_folder": str(delta),
        "iceberg_table": iceberg,
    }
    assert run("stores.md", known) == 5


def test_mlflow(server, model, data, monkeypatch):
    import mlflow

    monkeypatch.setenv("MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT", "true")  # where the run is seen
    mlflow.set_experiment("pages")
    target = data.age * 0.3
    with mlflow.start_run():
        logged = mlflow.lightgbm.log_model(model.booster_, name="model", pip_requirements=[])
    known = {"model": model, "X": data, "y": target, "rows": data.assign(target=target), "logged": logged}
    assert run("mlflow.md", known) == 2
    mlflow.end_run()
