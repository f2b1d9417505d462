"""The command line against the Python call: the same model and data, every file format and library, hostile levels.

For each, the numbers printed by a command are those of the call on the frame the model was fitted with, or the command
says what is wrong; never other numbers.
"""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner, Result

from icefield import Explainer
from icefield.cli.commands import main
from icefield.errors import IcefieldError
from icefield.libraries import native_files

TEXTS = ["NA", "None", "null", "01234", "1234", "1e5", "nan", "True", "N/A", "-", "a,b", 'say "x"', " padded"]
N = 260


def hostile(gaps: bool = True) -> pd.DataFrame:
    """Levels that other programs take for something else."""
    rng = np.random.default_rng(5)
    country = np.array(TEXTS, dtype=object)[rng.integers(0, len(TEXTS), N)]
    if gaps:
        country[rng.random(N) < 0.1] = None
    x = rng.normal(size=N).round(3)
    if gaps:
        x[rng.random(N) < 0.1] = np.nan
    return pd.DataFrame(
        {
            "country": pd.Categorical(country, categories=TEXTS),
            "code": pd.Categorical(rng.choice([3, 10, 200], N)),
            "flag": rng.random(N) < 0.5,
            "count": rng.integers(0, 6, N),
            "x": x,
        }
    )


def target(frame: pd.DataFrame) -> np.ndarray:
    size = frame["country"].cat.codes.to_numpy() % 5 * 2.0
    return size + np.nan_to_num(frame["x"].to_numpy()) + frame["count"] + 2.0 * frame["flag"]


# --- models, each with the frame a Python caller would hand it -----------------------------------------

Case = tuple[str, Any, pd.DataFrame]  # file, model in Python, frame in Python


def lightgbm_case(folder: Path) -> Case:
    module = pytest.importorskip("lightgbm")
    frame = hostile()
    model = module.LGBMRegressor(n_estimators=10, min_child_samples=3, min_data_per_group=3, verbose=-1)
    model.fit(frame, target(frame))
    model.booster_.save_model(folder / "model.txt")
    return str(folder / "model.txt"), model, frame


def lightgbm_without_splits_case(folder: Path) -> Case:
    """A category the trees never use has no description in the file."""
    module = pytest.importorskip("lightgbm")
    frame = hostile().assign(alone=pd.Categorical(["01"] * N))
    model = module.LGBMRegressor(n_estimators=5, min_child_samples=3, min_data_per_group=3, verbose=-1)
    model.fit(frame, target(frame))
    model.booster_.save_model(folder / "unused.txt")
    return str(folder / "unused.txt"), model, frame


def xgboost_case(folder: Path, name: str = "model.json") -> Case:
    module = pytest.importorskip("xgboost")
    frame = hostile()
    model = module.XGBRegressor(n_estimators=10, max_depth=4, enable_categorical=True).fit(
        frame, target(frame)
    )
    model.save_model(folder / name)
    return str(folder / name), model, frame


def catboost_case(folder: Path, name: str = "model.cbm") -> Case:
    module = pytest.importorskip("catboost")
    frame = hostile()
    frame["country"] = frame["country"].astype(object).where(frame["country"].notna(), "nan")
    frame["code"] = frame["code"].astype(int)
    frame["flag"] = frame["flag"].astype(int)
    model = module.CatBoostRegressor(
        iterations=10, depth=4, verbose=0, cat_features=["country", "code"], allow_writing_files=False
    ).fit(frame, target(hostile()))
    model.save_model(str(folder / name), format=name.split(".")[1])
    return str(folder / name), model, frame


def pipeline_case(folder: Path, name: str = "pipeline.skops") -> Case:
    compose, pre = pytest.importorskip("sklearn.compose"), pytest.importorskip("sklearn.preprocessing")
    impute, linear = pytest.importorskip("sklearn.impute"), pytest.importorskip("sklearn.linear_model")
    make_pipeline = pytest.importorskip("sklearn.pipeline").make_pipeline
    frame = hostile()
    frame["country"], frame["code"] = frame["country"].astype(object), frame["code"].astype(int)
    frame["country"] = frame["country"].where(frame["country"].notna(), np.nan)
    columns = compose.make_column_transformer(
        (pre.OneHotEncoder(handle_unknown="ignore"), ["country"]),
        (pre.OrdinalEncoder(), ["code", "flag"]),
        (impute.SimpleImputer(), ["count", "x"]),
    )
    model = make_pipeline(columns, linear.Ridge()).fit(frame, target(hostile()))
    if name.endswith("skops"):
        pytest.importorskip("skops.io").dump(model, folder / name)
    else:
        (folder / name).write_bytes(pickle.dumps(model))
    return str(folder / name), model, frame


def histogram_case(folder: Path) -> Case:
    ensemble = pytest.importorskip("sklearn.ensemble")
    frame = hostile()
    model = ensemble.HistGradientBoostingRegressor(max_iter=10, categorical_features="from_dtype")
    model.fit(frame, target(frame))
    (folder / "histogram.pkl").write_bytes(pickle.dumps(model))
    return str(folder / "histogram.pkl"), model, frame


def search_case(folder: Path) -> Case:
    """A pipeline inside a search, a target transformer and a vote."""
    search, meta = pytest.importorskip("sklearn.model_selection"), pytest.importorskip("sklearn.compose")
    ensemble = pytest.importorskip("sklearn.ensemble")
    _, pipeline, frame = pipeline_case(folder, "inner.pkl")
    found = search.GridSearchCV(
        meta.TransformedTargetRegressor(ensemble.VotingRegressor([("one", pipeline)])),
        {"regressor__n_jobs": [None]},
        cv=2,
    ).fit(frame, target(hostile()))
    (folder / "search.pkl").write_bytes(pickle.dumps(found))
    return str(folder / "search.pkl"), found, frame


def onnx_case(folder: Path) -> Case:
    skl2onnx = pytest.importorskip("skl2onnx")
    linear = pytest.importorskip("sklearn.linear_model")
    frame = hostile(gaps=False)[["count", "x"]].astype(np.float32)
    fitted = linear.LinearRegression().fit(frame.to_numpy(), target(hostile(gaps=False)))
    path = folder / "linear.onnx"
    path.write_bytes(skl2onnx.to_onnx(fitted, frame.to_numpy()[:1]).SerializeToString())
    session = pytest.importorskip("onnxruntime").InferenceSession(str(path))
    return str(path), session, frame


CASES: dict[str, Callable[[Path], Case]] = {
    "lightgbm.txt": lightgbm_case,
    "lightgbm unused": lightgbm_without_splits_case,
    "xgboost.json": xgboost_case,
    "xgboost.ubj": lambda folder: xgboost_case(folder, "model.ubj"),
    "catboost.cbm": catboost_case,
    "catboost.json": lambda folder: catboost_case(folder, "model.json"),
    "pipeline.skops": pipeline_case,
    "pipeline.pkl": lambda folder: pipeline_case(folder, "pipeline.pkl"),
    "histogram.pkl": histogram_case,
    "search.pkl": search_case,
    "linear.onnx": onnx_case,
}


def write_csv(frame: pd.DataFrame, path: Path) -> None:
    frame.to_csv(path, index=False, sep="\t" if path.suffix == ".tsv" else ",")


def write_arrow(frame: pd.DataFrame, path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    table = pa.Table.from_pandas(frame)
    with pa.OSFile(str(path), "wb") as sink, pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)


FORMATS: dict[str, Callable[[pd.DataFrame, Path], None]] = {
    "rows.csv": write_csv,
    "rows.tsv": write_csv,
    "rows.parquet": lambda frame, path: frame.to_parquet(path),
    "texts.parquet": lambda frame, path: as_texts(frame).to_parquet(path),
    "rows.feather": lambda frame, path: frame.to_feather(path),
    "rows.arrow": write_arrow,
}


def as_texts(frame: pd.DataFrame) -> pd.DataFrame:
    """Categories stored as plain columns, as other programs write them."""
    plain = {n: frame[n].astype(frame[n].cat.categories.dtype) for n in frame if frame[n].dtype == "category"}
    return frame.assign(**plain)


@pytest.fixture(autouse=True)
def _sound_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether a file is sound is tested elsewhere; asking a child process each time takes most of the time here."""
    monkeypatch.setattr(native_files, "try_in_child", lambda *_: None)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("against_python")


@pytest.fixture(scope="module")
def cases(folder: Path) -> Callable[[str], Case]:
    made: dict[str, Case] = {}

    def case(name: str) -> Case:
        if name not in made:
            place = folder / name.replace(".", "_")
            place.mkdir(exist_ok=True)  # a case that is skipped for want of a library is asked for again
            made[name] = CASES[name](place)
        return made[name]

    return case


def asked(*arguments: Any) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def printed(*arguments: Any) -> list[dict[str, Any]]:
    done = asked(*arguments, "-q", "--json", "-")
    assert done.exit_code == 0, (done.output, done.exception)
    return list(json.loads(done.stdout))


def sources(name: str) -> tuple[str, ...]:
    if name.endswith(".pkl"):
        return ("--allow-pickle",)
    return ("--trust", "numpy.dtype") if name.endswith(".skops") else ()


@pytest.mark.sampled(5)
@pytest.mark.parametrize("data", FORMATS)
@pytest.mark.parametrize("name", CASES)
def test_a_command_prints_what_python_finds(
    cases: Callable[[str], Case], tmp_path: Path, name: str, data: str
) -> None:
    file, model, frame = cases(name)
    FORMATS[data](frame, tmp_path / data)
    explainer = Explainer(model, frame.to_numpy() if name.endswith(".onnx") else frame)
    flags = sources(name)
    for feature in frame.columns[:5] if data in ("rows.csv", "texts.parquet") else frame.columns[:1]:
        asked_of = list(frame.columns).index(feature) if name.endswith(".onnx") else feature
        effect = explainer.partial_dependence(asked_of, grid=15)
        rows = printed("pd", file, tmp_path / data, feature, "--grid", 15, *flags)
        if name == "histogram.pkl" and feature == "country":
            same_levels(rows, effect)  # its file does not keep the order of levels
        else:
            same_averages(rows, effect)


def same_levels(rows: list[dict[str, Any]], effect: Any) -> None:
    found = {row["country"]: row["average"] for row in rows}
    wanted = dict(zip(effect.grid[0], effect.average[0]))
    assert found.keys() == wanted.keys()
    np.testing.assert_allclose([found[level] for level in wanted], list(wanted.values()), rtol=1e-9)


def same_averages(rows: list[dict[str, Any]], effect: Any) -> None:
    assert len(rows) == effect.average.size
    np.testing.assert_allclose([row["average"] for row in rows], effect.average.ravel(), rtol=2e-6, atol=1e-7)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", ["lightgbm.txt", "xgboost.json", "catboost.cbm", "pipeline.pkl"])
@pytest.mark.parametrize("question", ["ale", "ice", "importance", "interactions", "summary"])
def test_every_question_agrees_on_hostile_levels(
    cases: Callable[[str], Case], tmp_path: Path, name: str, question: str
) -> None:
    file, model, frame = cases(name)
    write_csv(frame, tmp_path / "rows.csv")
    explainer, flags = Explainer(model, frame), sources(name)
    if question == "ale":
        rows = printed("ale", file, tmp_path / "rows.csv", "x", *flags)
        same_averages(rows, explainer.ale("x"))
    elif question == "ice":
        rows = printed("ice", file, tmp_path / "rows.csv", "country", "--rows", 7, *flags)
        curves = explainer.ice("country", rows=7).individual.ravel()
        np.testing.assert_allclose([row["prediction"] for row in rows], curves, rtol=2e-6, atol=1e-7)
    else:
        rows = printed(question, file, tmp_path / "rows.csv", *flags)
        table = getattr(explainer, question)()
        column = {"importance": "importance", "interactions": "h", "summary": "strength"}[question]
        np.testing.assert_allclose([row[column] for row in rows], table[column], rtol=1e-5, atol=1e-6)


# --- item by item --------------------------------------------------------------------------------------


def test_the_country_na_is_a_country(cases: Callable[[str], Case], tmp_path: Path) -> None:
    file, model, frame = cases("lightgbm.txt")
    write_csv(frame, tmp_path / "rows.csv")
    rows = {row["country"]: row["average"] for row in printed("pd", file, tmp_path / "rows.csv", "country")}
    effect = Explainer(model, frame).partial_dependence("country")
    assert list(rows) == [*TEXTS, None]
    np.testing.assert_allclose(list(rows.values()), effect.average[0])
    by = printed("pd", file, tmp_path / "rows.csv", "x", "--by", "country", "--grid", 2)
    assert {"NA", "None", "null", "01234", "1e5"} <= {row["group"] for row in by}


def test_grid_values_are_levels_as_they_are_written(cases: Callable[[str], Case], tmp_path: Path) -> None:
    file, model, frame = cases("lightgbm.txt")
    write_csv(frame, tmp_path / "rows.csv")
    explainer = Explainer(model, frame)
    for grid, feature, values in (
        ("01234", "country", ["01234"]),
        ("NA,1e5", "country", ["NA", "1e5"]),
        ("200,3", "code", [200, 3]),
    ):
        rows = printed("pd", file, tmp_path / "rows.csv", feature, "--grid", grid)
        same_averages(rows, explainer.partial_dependence(feature, grid=values))


def test_what_stands_for_missing_can_be_said(cases: Callable[[str], Case], tmp_path: Path) -> None:
    file, model, frame = cases("lightgbm.txt")
    texts = frame.astype({"country": object, "x": object})
    gone = frame["country"].isna().to_numpy()
    texts.loc[gone, "country"] = "unknown"
    texts.loc[frame["x"].isna(), "x"] = "?"
    write_csv(texts, tmp_path / "rows.csv")
    rows = printed("pd", file, tmp_path / "rows.csv", "country", "--missing", "unknown", "--missing", "?")
    same_averages(rows, Explainer(model, frame).partial_dependence("country"))
    # Named as missing, a level is missing too.
    without = frame.assign(country=frame["country"].where(frame["country"] != "NA"))
    rows = printed(
        "pd",
        file,
        tmp_path / "rows.csv",
        "x",
        *(["--missing", "NA", "--missing", "unknown", "--missing", "?"]),
        "--grid",
        4,
    )
    same_averages(rows, Explainer(model, without).partial_dependence("x", grid=4))
    said = asked("pd", file, tmp_path / "rows.csv", "country")
    assert said.exit_code != 0
    assert isinstance(said.exception, IcefieldError)
    assert "'x'" in str(said.exception)
    assert "'?'" in str(said.exception)


def test_a_value_never_seen_is_named_with_its_count(cases: Callable[[str], Case], tmp_path: Path) -> None:
    for name in ("lightgbm.txt", "pipeline.pkl", "xgboost.json"):
        file, model, frame = cases(name)
        other = frame.astype({"country": object})
        other.loc[[3, 9, 11], "country"] = "Atlantis"
        other.loc[20, "country"] = "Mu"
        write_csv(other, tmp_path / "rows.csv")
        done = asked("pd", file, tmp_path / "rows.csv", "x", "--grid", 3, "--json", "-", *sources(name))
        if name == "xgboost.json":
            assert isinstance(done.exception, IcefieldError)
            assert "'Atlantis' (3 rows), 'Mu' (1 row)" in str(done.exception)
            assert "line 5" in str(done.exception)
            continue
        assert done.exit_code == 0, done.exception
        assert "'country'" in done.stderr
        assert "'Atlantis' (3 rows), 'Mu' (1 row)" in done.stderr
        known = (
            other
            if name == "pipeline.pkl"
            else other.assign(
                country=pd.Categorical(other["country"].where(other["country"].isin(TEXTS)), categories=TEXTS)
            )
        )
        same_averages(json.loads(done.stdout), Explainer(model, known).partial_dependence("x", grid=3))


def test_a_column_without_a_known_level_is_refused(cases: Callable[[str], Case], tmp_path: Path) -> None:
    file, _, frame = cases("lightgbm.txt")
    write_csv(frame.assign(country="Atlantis"), tmp_path / "rows.csv")
    done = asked("pd", file, tmp_path / "rows.csv", "x")
    assert isinstance(done.exception, IcefieldError)
    assert f"'Atlantis' ({N} rows)" in str(done.exception)


def test_a_cell_that_is_no_number_is_named_with_its_line(
    cases: Callable[[str], Case], tmp_path: Path
) -> None:
    file, _, frame = cases("lightgbm.txt")
    other = frame.astype({"x": object})
    for cell in ("abc", "1,5", "1_000", "12:30"):
        other.loc[40, "x"] = cell
        write_csv(other, tmp_path / "rows.csv")
        done = asked("pd", file, tmp_path / "rows.csv", "x")
        assert isinstance(done.exception, IcefieldError)
        for word in ("'x'", "line 42", repr(cell)):
            assert word in str(done.exception)


def test_columns_beside_the_model_s_own_keep_what_they_look_like(
    cases: Callable[[str], Case], tmp_path: Path
) -> None:
    file, model, frame = cases("lightgbm.txt")
    zone = np.array(["01234", "01235"])[np.arange(N) % 2]
    other = frame.assign(zone=zone, weight=np.arange(N) + 1, when="2020-01-01")
    write_csv(other, tmp_path / "rows.csv")
    rows = printed("pd", file, tmp_path / "rows.csv", "x", "--by", "zone", "--weights", "weight", "--grid", 3)
    assert {row["group"] for row in rows} == {None, "01234", "01235"}
    effect = Explainer(model, frame, by=zone, weights=np.arange(N) + 1.0).partial_dependence("x", grid=3)
    np.testing.assert_allclose(
        [r["average"] for r in rows if r["group"] == "01235"], effect.groups["01235"].average[0]
    )


def test_clusters_by_the_name_of_a_column(cases: Callable[[str], Case], tmp_path: Path) -> None:
    file, model, frame = cases("lightgbm.txt")
    person = np.arange(N) // 5
    write_csv(frame.assign(person=person), tmp_path / "rows.csv")
    rows = printed("pd", file, tmp_path / "rows.csv", "x", "--cluster", "person", "--grid", 3)
    effect = Explainer(model, frame, cluster=person).partial_dependence("x", grid=3)
    np.testing.assert_allclose([r["se"] for r in rows], effect.se[0])
    assert not np.allclose(effect.se, Explainer(model, frame).partial_dependence("x", grid=3).se, rtol=0.01)


# --- targets -------------------------------------------------------------------------------------------


class Labelled:
    """A classifier whose classes are called as they like."""

    def __init__(self, classes: list[Any]) -> None:
        self.classes_ = np.array(classes, dtype=object if any(isinstance(c, str) for c in classes) else None)

    def fit(self, X: Any, y: Any) -> Labelled:
        return self

    def predict(self, X: Any) -> Any:
        return self.classes_[self.predict_proba(X).argmax(axis=1)]

    def predict_proba(self, X: Any) -> np.ndarray:
        x = np.asarray(X, dtype=float)[:, 0]
        parts = np.exp(np.column_stack([k * x / 3.0 for k in range(len(self.classes_))]))
        return parts / parts.sum(axis=1, keepdims=True)


@pytest.mark.parametrize(
    ("classes", "typed", "chosen"),
    [
        (["2", "1", "0"], "1", "1"),
        (["2", "1", "0"], "0", "0"),
        (["b", "1", "a"], "1", "1"),
        (["b", "a", "c"], "1", 1),  # no label: a position
        ([2, 1, 0], "1", 1),
        ([2, 1, 0], "0", 0),
        ([5, 7, 9], "7", 7),
        ([5, 7, 9], "1", 1),
        ([-1, 1, 3], "-1", -1),
        ([0.5, 1.0, 2.0], "1", 1.0),
        ([0.5, 1.0, 2.0], "0.5", 0.5),
        (["01", "1", "1.0"], "1", "1"),
        (["01", "1", "1.0"], "01", "01"),
        ([False, True], "True", True),
        ([False, True], "false", False),
        (["None", "NA", "x"], "None", "None"),
    ],
)  # fmt: skip
def test_a_target_is_a_label_before_it_is_a_position(
    classes: list[Any], typed: str, chosen: Any, tmp_path: Path
) -> None:
    model = Labelled(classes)
    (tmp_path / "model.pkl").write_bytes(pickle.dumps(model))
    frame = pd.DataFrame({"a": np.linspace(-2, 2, 20), "b": np.arange(20.0)})
    write_csv(frame, tmp_path / "rows.csv")
    rows = printed(
        "pd",
        tmp_path / "model.pkl",
        tmp_path / "rows.csv",
        "a",
        "--target",
        typed,
        "--allow-pickle",
        "--grid",
        5,
    )
    effect = Explainer(model, frame, target=chosen).partial_dependence("a", grid=5)
    same_averages(rows, effect)
    assert {str(row["output"]) for row in rows} == {str(effect.outputs[0])}


@pytest.mark.parametrize("typed", ["8", "-2", "1.5", "x", ""])
def test_a_target_that_is_neither_is_refused(typed: str, tmp_path: Path) -> None:
    (tmp_path / "model.pkl").write_bytes(pickle.dumps(Labelled(["b", "1", "a"])))
    write_csv(pd.DataFrame({"a": np.linspace(-2, 2, 20), "b": 1.0}), tmp_path / "rows.csv")
    done = asked(
        "pd", tmp_path / "model.pkl", tmp_path / "rows.csv", "a", "--target", typed, "--allow-pickle"
    )
    assert isinstance(done.exception, IcefieldError)
    assert done.exception.parameter == "target"
