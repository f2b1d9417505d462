"""Model and data files: every format loads, and hostile or corrupt ones end in one clear error."""

from __future__ import annotations

import io
import json
import pickle
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from icefield import Explainer
from icefield.cli.data_files import DataFile, read_data
from icefield.cli.loading import LoadError, load_model
from icefield.cli.model_data import check_numbers, columns_for, fitted_data
from icefield.data.frame import table_of
from icefield.libraries import child_process
from model_files import people, write_data, write_models

Files = dict[str, Path]


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Files:
    return write_models(tmp_path_factory.mktemp("models"))


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Files:
    return write_data(tmp_path_factory.mktemp("data"))


def existing(files: Files, name: str) -> Path:
    if name not in files:
        pytest.skip(f"the library that writes {name} is not installed")
    return files[name]


# --- what is sound loads ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["lightgbm.txt", "xgboost.json", "xgboost.ubj", "catboost.cbm", "catboost.json"]
)
def test_a_booster_gets_its_text_categories_from_csv(models: Files, data: Files, name: str) -> None:
    model = load_model(str(existing(models, name)))
    rows = fitted_data(model, read_data(str(data["people.csv"]))).frame
    effect = Explainer(model, rows).partial_dependence("sex")
    assert [str(level) for level in effect.grid[0]] == ["female", "male"]
    assert effect.average[0, 1] - effect.average[0, 0] > 0.3  # men were given more
    assert effect.engine == "trees"


def test_a_pickle_loads_when_allowed(models: Files, data: Files) -> None:
    for name in ("linear.pkl", "linear.joblib"):
        model = load_model(str(existing(models, name)), allow_pickle=True)
        rows = fitted_data(model, read_data(str(data["numbers.csv"]))).frame
        effect = Explainer(model, rows).partial_dependence("siblings", grid=[0, 1])
        assert np.isfinite(effect.average).all()


def test_skops_forests_need_no_flag(models: Files) -> None:
    path = str(existing(models, "forest.skops"))
    assert type(load_model(path)).__name__ == "RandomForestRegressor"


def test_skops_asks_for_trust_and_takes_it(tmp_path: Path) -> None:
    skops = pytest.importorskip("skops.io")
    from sklearn.preprocessing import FunctionTransformer

    path = tmp_path / "function.skops"
    skops.dump(FunctionTransformer(people), path)
    with pytest.raises(LoadError, match="--trust") as caught:
        load_model(str(path))
    wanted = [part.split(" ")[0].rstrip(".") for part in str(caught.value).split("--trust ")[1:]]
    assert wanted == ["model_files.people"]


def test_onnx_loads(models: Files, data: Files) -> None:
    model = load_model(str(existing(models, "linear.onnx")))
    rows = fitted_data(model, read_data(str(data["numbers.csv"]))).frame.to_numpy(dtype=np.float32)
    slope = np.diff(Explainer(model, rows).partial_dependence(1, grid=[0.0, 1.0]).average[0])
    assert slope[0] == pytest.approx(1.0, abs=0.1)


def test_an_object_is_imported_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "boxed_models.py").write_text(
        "class Box:\n    def predict(self, rows): return rows[:, 0]\nbox = Box()\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    assert type(load_model("boxed_models:box")).__name__ == "Box"
    for wrong in ("boxed_models:bax", "boxed_modles:box", "boxed_models:", ":box"):
        with pytest.raises(LoadError):
            load_model(wrong)


@pytest.mark.parametrize(
    "name", ["people.csv", "people.tsv", "people.parquet", "people.feather", "people.arrow"]
)
def test_every_data_format_gives_the_same_rows(data: Files, name: str) -> None:
    frame, _ = people()
    found = fitted_data(len, read_data(str(existing(data, name)))).frame
    assert list(found.columns) == list(frame.columns)
    assert found["sex"].tolist() == frame["sex"].tolist()
    np.testing.assert_allclose(found["age"], frame["age"])


@pytest.mark.parametrize(
    "name", ["people.csv", "people.tsv", "people.parquet", "people.feather", "people.arrow"]
)
def test_standard_input_says_what_it_is(data: Files, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    class Stdin:
        buffer = io.BytesIO(existing(data, name).read_bytes())

    monkeypatch.setattr(sys, "stdin", Stdin)
    assert list(read_data("-").frame.columns) == ["age", "sex", "siblings"]


@pytest.mark.parametrize("library", ["lightgbm", "xgboost"])
def test_a_wrapper_gets_its_categories_as_its_booster_does(library: str) -> None:
    module = pytest.importorskip(library)
    frame, target = people()
    typed = frame.assign(sex=frame["sex"].astype("category"))
    if library == "lightgbm":
        model = module.LGBMRegressor(n_estimators=3, verbose=-1).fit(typed, target)
    else:
        model = module.XGBRegressor(n_estimators=3, enable_categorical=True).fit(typed, target)
    rows = fitted_data(model, DataFile(frame)).frame
    check_numbers(model, table_of(rows))
    np.testing.assert_allclose(model.predict(rows), model.predict(typed))


# --- data for a model ------------------------------------------------------------------------------


def test_columns_beside_the_features_go_by_what_the_model_knows() -> None:
    linear_model = pytest.importorskip("sklearn.linear_model")
    frame, target = people()
    names = [*frame.columns, "target"]
    features = frame[["age", "siblings"]]
    named = linear_model.LinearRegression().fit(features, target)
    assert columns_for(named, names, y="target", by="sex") == names
    unnamed = linear_model.LinearRegression().fit(features.to_numpy(), target)
    assert columns_for(unnamed, names, y="target", by="sex") == ["age", "siblings"]
    # That siblings was a feature cannot be known here; the command line says which columns it hands over.
    assert columns_for(unnamed, names, y="target", by="siblings") == ["age", "sex"]
    assert columns_for(unnamed, names) == names
    # A function takes whatever there is, but never what it is to be compared with.
    assert columns_for(len, names, y="target", by="sex", weights="age") == ["age", "sex", "siblings"]


def test_numbers_are_wanted_only_where_the_model_takes_them() -> None:
    pd, cb = pytest.importorskip("pandas"), pytest.importorskip("catboost")
    frame, target = people()
    model = cb.CatBoost({"iterations": 2, "verbose": 0, "allow_writing_files": False})
    model.fit(frame, target, cat_features=["sex"])
    check_numbers(model, table_of(frame))
    for wrong in ("old", pd.Timestamp("2020-01-01")):
        broken = frame.astype({"age": object})
        broken.loc[7, "age"] = wrong
        with pytest.raises(LoadError, match=r"column 'age'.*row 8 "):
            check_numbers(model, table_of(broken))
    broken.loc[7, "age"] = None
    check_numbers(model, table_of(broken))


# --- hostile and corrupt models --------------------------------------------------------------------

MARK = "icefield-was-here"


class Bomb:
    """Unpickling this would write a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return (open, (str(self.path), "w"))


def edited_xgboost(files: Files, change: Callable[[dict[str, Any]], None]) -> bytes:
    model = json.loads(existing(files, "xgboost.json").read_text())
    change(model["learner"]["gradient_booster"]["model"]["trees"][0])
    return json.dumps(model).encode()


def edited_lightgbm(files: Files, field: str, change: Callable[[list[str]], list[str]]) -> bytes:
    lines = existing(files, "lightgbm.txt").read_text().splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith(f"{field}="))
    lines[at] = f"{field}=" + " ".join(change(lines[at].partition("=")[2].split()))
    return "\n".join(lines).encode()


def put(where: int, what: int) -> Callable[[list[str]], list[str]]:
    return lambda values: [str(what) if i == where else v for i, v in enumerate(values)]


def half(files: Files, name: str) -> bytes:
    content = existing(files, name).read_bytes()
    return content[: len(content) // 2]


def flipped(files: Files, name: str, at: int) -> bytes:
    content = bytearray(existing(files, name).read_bytes())
    content[at] ^= 0xFF
    return bytes(content)


def zipped(**files: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name.replace("__", "."), content)
    return buffer.getvalue()


def skops_of(module: str, kind: str) -> bytes:
    schema = {"__class__": kind, "__module__": module, "__loader__": "TypeNode", "__id__": 1, "protocol": 2,
              "_skops_version": "0.11"}  # fmt: skip
    return zipped(schema__json=json.dumps(schema).encode())


NESTED = b"[" * 200_000 + b"]" * 200_000

# Rejected by what the file says of itself, before any library sees it.
AT_THE_DOOR: dict[str, Callable[[Files], bytes]] = {
    "empty.txt": lambda _: b"",
    "empty.json": lambda _: b"",
    "empty.cbm": lambda _: b"",
    "empty.ubj": lambda _: b"",
    "empty.onnx": lambda _: b"",
    "empty.skops": lambda _: b"",
    "prose.txt": lambda _: b"It was a dark and stormy night.",
    "random.txt": lambda _: np.random.default_rng(0).bytes(5000),
    "list.json": lambda _: b"[1, 2, 3]",
    "other.json": lambda _: b'{"name": "not a model"}',
    "half.json": lambda f: half(f, "xgboost.json"),
    "nested.json": lambda _: NESTED,
    "nested_model.json": lambda _: b'{"learner": ' + NESTED + b"}",
    "infinite.json": lambda _: b'{"learner": 1e999999999999',
    "not_utf8.json": lambda _: b'{"learner": "\xff\xfe"}',
    "prose.cbm": lambda _: b"CBM, but not really",
    "prose.ubj": lambda _: b"ubjson, but not really",
    "pickle.txt": lambda _: pickle.dumps(Bomb(Path(MARK))),
    "pickle.json": lambda _: pickle.dumps(Bomb(Path(MARK))),
    "pickle.cbm": lambda _: pickle.dumps(Bomb(Path(MARK))),
    "pickle.ubj": lambda _: pickle.dumps(Bomb(Path(MARK))),
    "pickle.skops": lambda _: pickle.dumps(Bomb(Path(MARK))),
    "refused.pkl": lambda _: pickle.dumps(Bomb(Path(MARK))),
    "refused.pickle": lambda _: pickle.dumps(Bomb(Path(MARK))),
    "refused.joblib": lambda _: pickle.dumps(Bomb(Path(MARK))),
    "prose.skops": lambda _: b"PK, but not really",
    "no_schema.skops": lambda _: zipped(other__json=b"{}"),
    "nested.skops": lambda _: zipped(schema__json=NESTED),
    "system.skops": lambda _: skops_of("os", "system"),
    "wrong.model": lambda f: existing(f, "xgboost.json").read_bytes(),
    "nosuffix": lambda _: b"anything",
}

# Rejected by loading in a child process.
IN_THE_CHILD: dict[str, Callable[[Files], bytes]] = {
    "circle.json": lambda f: edited_xgboost(f, lambda t: t["left_children"].__setitem__(1, 0)),
    "outside.json": lambda f: edited_xgboost(f, lambda t: t["right_children"].__setitem__(0, 10**6)),
    "column.json": lambda f: edited_xgboost(f, lambda t: t["split_indices"].__setitem__(0, 10**6)),
    "texts.json": lambda f: edited_xgboost(f, lambda t: t.__setitem__("left_children", ["a", "b"])),
    "bare.json": lambda _: b'{"learner": {}}',
    "half.ubj": lambda f: half(f, "xgboost.ubj"),
    "braces.ubj": lambda _: b"{" * 100_000,
    "circle.txt": lambda f: edited_lightgbm(f, "left_child", put(1, 0)),
    "outside.txt": lambda f: edited_lightgbm(f, "right_child", put(0, 10**6)),
    "column.txt": lambda f: edited_lightgbm(f, "split_feature", put(0, 10**6)),
    "many.txt": lambda f: edited_lightgbm(f, "num_leaves", put(0, 2_000_000_000)),
    "header.txt": lambda _: b"tree\nversion=v4\n",
    "half.cbm": lambda f: half(f, "catboost.cbm"),
    "magic.cbm": lambda _: b"CBM1",
    "flipped.cbm": lambda f: flipped(f, "catboost.cbm", 9),
    "bare.json_catboost": lambda _: b'{"oblivious_trees": "none", "features_info": 3}',
    "prose.onnx": lambda _: b"onnx, but not really",
    "pickle.onnx": lambda _: pickle.dumps(Bomb(Path(MARK))),
}


def refused(path: Path, **options: Any) -> str:
    with pytest.raises(LoadError) as caught:
        load_model(str(path), **options)
    text = str(caught.value)
    assert len(text) < 1500, "an error should be readable"
    return text


@pytest.mark.usefixtures("real_children")
@pytest.mark.parametrize("name", AT_THE_DOOR)
def test_a_hostile_model_file_is_refused(models: Files, tmp_path: Path, monkeypatch: Any, name: str) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(child_process.subprocess, "run", lambda *a, **k: pytest.fail("a child was started"))
    path = tmp_path / name
    path.write_bytes(AT_THE_DOOR[name](models))
    if path.suffix == ".skops":
        pytest.importorskip("skops")
    refused(path)
    assert not (tmp_path / MARK).exists(), "the file's code was run"


def ends_in_the_child(models: Files, tmp_path: Path, monkeypatch: Any, name: str) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / name.replace(".json_catboost", "_catboost.json")
    path.write_bytes(IN_THE_CHILD[name](models))
    if path.suffix == ".onnx":
        pytest.importorskip("onnxruntime")
    refused(path)
    assert not (tmp_path / MARK).exists(), "the file's code was run"


@pytest.mark.parametrize("name", IN_THE_CHILD)
def test_a_corrupt_model_file_ends_in_a_fork(
    models: Files, tmp_path: Path, monkeypatch: Any, name: str
) -> None:
    ends_in_the_child(models, tmp_path, monkeypatch, name)


@pytest.mark.sampled(5)
@pytest.mark.usefixtures("real_children")
@pytest.mark.parametrize("name", IN_THE_CHILD)
def test_a_corrupt_model_file_ends_in_the_child(
    models: Files, tmp_path: Path, monkeypatch: Any, name: str
) -> None:
    ends_in_the_child(models, tmp_path, monkeypatch, name)


@pytest.mark.slow
def test_files_beside_a_model_are_not_run(models: Files, data: Files, tmp_path: Path) -> None:
    """In the shell, for every format: modules are not looked for in the working folder."""
    for name in (
        "json",
        "lightgbm",
        "xgboost",
        "catboost",
        "onnxruntime",
        "skops",
        "numpy",
        "pandas",
        "pickle",
        "tempfile",
    ):
        (tmp_path / f"{name}.py").write_text("open('imported', 'w').close()\nraise SystemExit(7)\n")
    icefield = [sys.executable, "-P", "-c", "from icefield.cli import run; run()"]
    for name, path in models.items():
        rows = data["numbers.csv" if name.startswith(("linear", "forest")) else "people.csv"]
        column = "f1" if name == "linear.onnx" else "siblings"
        line = [*icefield, "pd", str(path), str(rows), column, "--allow-pickle", "--csv", "-"]
        done = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert not (tmp_path / "imported").exists(), name
        assert done.returncode in (0, 1), f"{name}: {done.stderr}"
        assert name in ("linear.onnx", "forest.skops") or "siblings" in done.stdout, done.stderr


def test_the_working_folder_comes_last_once_a_module_was_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "named_models.py").write_text("import sys\nfirst = sys.path[0]\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [path for path in sys.path if path])
    assert load_model("named_models:first") == ""
    assert sys.path[0] != ""
    assert sys.path[-1] == ""


def test_a_corrupt_pickle_is_one_error_even_when_allowed(tmp_path: Path) -> None:
    path = tmp_path / "broken.pkl"
    path.write_bytes(b"\x80\x05 nonsense")
    assert "unpickled" in refused(path, allow_pickle=True)


def test_files_too_large_for_the_machine_are_refused(
    data: Files, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.sysconf", lambda name: 1 if name == "SC_PAGE_SIZE" else 1000)
    with pytest.raises(LoadError, match="would take"):
        read_data(str(existing(data, "people.parquet")))
    pytest.importorskip("skops")
    bomb = tmp_path / "bomb.skops"
    bomb.write_bytes(zipped(schema__json=b" " * 10_000_000))
    assert "would take" in refused(bomb)


def test_a_folder_and_a_missing_file_are_named(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "nowhere.txt", tmp_path / "folder.txt"):
        if path.name == "folder.txt":
            path.mkdir()
        assert str(path) in refused(path)
        with pytest.raises(LoadError, match="DATA"):
            read_data(str(path))


# --- corrupt data ----------------------------------------------------------------------------------

BAD_DATA: dict[str, Callable[[Files], bytes]] = {
    "empty.csv": lambda _: b"",
    "header.csv": lambda _: b"a,b,c\n",
    "blank.csv": lambda _: b"\n\n\n",
    "binary.csv": lambda _: b"a,b\n\x00\x01,2\n",
    "latin.csv": lambda _: b"a,b\n\xe9\xff,2\n",
    "ragged.csv": lambda _: b"a,b\n1,2\n1,2,3,4\n",
    "quote.csv": lambda _: b'a,b\n"1,2\n3,4\n',
    "pickle.csv": lambda _: pickle.dumps(Bomb(Path(MARK))),
    "empty.parquet": lambda _: b"",
    "prose.parquet": lambda _: b"a,b\n1,2\n",
    "magic.parquet": lambda _: b"PAR1PAR1",
    "half.parquet": lambda f: half(f, "people.parquet"),
    "flipped.parquet": lambda f: flipped(f, "people.parquet", -5),
    "pickle.parquet": lambda _: pickle.dumps(Bomb(Path(MARK))),
    "prose.feather": lambda _: b"a,b\n1,2\n",
    "magic.feather": lambda _: b"ARROW1",
    "half.feather": lambda f: half(f, "people.feather"),
    "stream.arrow": lambda _: b"\xff\xff\xff\xff\xff\xff\xff\x7f",
    "half.arrow": lambda f: half(f, "people.arrow")[:300],
    "sheet.xlsx": lambda _: b"PK",
    "nosuffix": lambda _: b"a,b\n1,2\n",
}


@pytest.mark.parametrize("name", BAD_DATA)
def test_corrupt_data_is_refused(
    data: Files, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / name
    path.write_bytes(BAD_DATA[name](data))
    with pytest.raises(LoadError, match="`DATA`"):
        read_data(str(path))
    assert not (tmp_path / MARK).exists()


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".feather", ".arrow"])
def test_arrow_s_threads_need_no_python(suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a file object of Python's they would read on after an error, while Python ends, and end the process with it."""
    arrow = pytest.importorskip("pyarrow")
    from pyarrow import csv, feather, ipc, parquet

    given: list[Any] = []
    for module, name in (
        (csv, "read_csv"),
        (parquet, "ParquetFile"),
        (feather, "read_table"),
        (ipc, "open_stream"),
    ):
        ask = getattr(module, name)
        monkeypatch.setattr(
            module,
            name,
            lambda source, *more, ask=ask, **named: given.append(source) or ask(source, *more, **named),
        )
    path, table = tmp_path / f"rows{suffix}", arrow.table({"a": ["1", "2"]})
    if suffix == ".csv":
        path.write_text("a\n1\n2\n")
    elif suffix == ".parquet":
        parquet.write_table(table, path)
    elif suffix == ".feather":
        feather.write_feather(table, path)
    else:
        with ipc.new_stream(path, table.schema) as stream:
            stream.write_table(table)
    assert len(read_data(str(path)).frame) == 2
    assert isinstance(given[0], arrow.BufferReader)
