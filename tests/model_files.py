"""Small models in every file format the command line reads, and the data they were trained on."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest


def people(rows: int = 200) -> Any:
    """A frame with a number, a text and a whole number, and a target that depends on all three."""
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "age": rng.normal(40, 10, rows).round(1),
            "sex": rng.choice(["female", "male"], rows),
            "siblings": rng.integers(0, 6, rows),
        }
    )
    target = frame["age"] / 10 + 2.0 * (frame["sex"] == "male") + frame["siblings"]
    return frame, target.to_numpy()


def write_models(folder: Path) -> dict[str, Path]:
    """One file per format; formats whose library is not installed are left out."""
    frame, target = people()
    typed = frame.assign(sex=frame["sex"].astype("category"))
    numbers = frame[["age", "siblings"]].to_numpy(dtype=np.float32)
    out: dict[str, Path] = {}

    def at(name: str) -> Path:
        out[name] = folder / name
        return out[name]

    try:
        from lightgbm import LGBMRegressor

        model = LGBMRegressor(n_estimators=5, min_child_samples=5, verbose=-1).fit(typed, target)
        model.booster_.save_model(at("lightgbm.txt"))
    except ImportError:
        pass
    try:
        from xgboost import XGBRegressor

        model = XGBRegressor(n_estimators=5, max_depth=3, enable_categorical=True).fit(typed, target)
        model.save_model(at("xgboost.json"))
        model.save_model(at("xgboost.ubj"))
    except ImportError:
        pass
    try:
        from catboost import CatBoostRegressor

        model = CatBoostRegressor(
            iterations=5, depth=3, verbose=0, cat_features=["sex"], allow_writing_files=False
        ).fit(frame, target)
        model.save_model(str(at("catboost.cbm")))
        model.save_model(str(at("catboost.json")), format="json")
    except ImportError:
        pass
    try:
        from sklearn.ensemble import RandomForestRegressor
        from sklearn.linear_model import LinearRegression

        linear = LinearRegression().fit(frame[["age", "siblings"]], target)
        forest = RandomForestRegressor(3, random_state=0).fit(frame[["age", "siblings"]], target)
        at("linear.pkl").write_bytes(pickle.dumps(linear))
        import joblib

        joblib.dump(linear, at("linear.joblib"))
        import skops.io

        skops.io.dump(forest, at("forest.skops"))
    except ImportError:
        pass
    try:
        from skl2onnx import to_onnx
        from sklearn.linear_model import LinearRegression

        plain = LinearRegression().fit(numbers, target)
        at("linear.onnx").write_bytes(to_onnx(plain, numbers[:1]).SerializeToString())
    except ImportError:
        out.pop("linear.onnx", None)
    return out


def write_data(folder: Path) -> dict[str, Path]:
    """The same rows in every data format."""
    frame, _ = people()
    frame.to_csv(folder / "people.csv", index=False)
    frame.to_csv(folder / "people.tsv", index=False, sep="\t")
    frame[["age", "siblings"]].to_csv(folder / "numbers.csv", index=False)
    try:
        import pyarrow as pa

        frame.to_parquet(folder / "people.parquet")
        frame.to_feather(folder / "people.feather")
        table = pa.Table.from_pandas(frame)
        with (
            pa.OSFile(str(folder / "people.arrow"), "wb") as sink,
            pa.ipc.new_stream(sink, table.schema) as stream,
        ):
            stream.write_table(table)
    except ImportError:
        pass
    return {path.name: path for path in folder.iterdir() if path.suffix != ".json"}
