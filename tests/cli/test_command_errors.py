"""What the command line says no to, and in which words: bad data, outputs it cannot write, options that contradict."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_commands import Files, Here, asked, command, installed, model

from icefield.cli import commands as cli
from icefield.cli import output as cli_output
from model_files import people, write_data, write_models


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    folder = tmp_path_factory.mktemp("files")
    found = write_data(folder) | write_models(folder)
    frame, target = people()

    def at(name: str) -> Path:
        found[name] = folder / name
        return found[name]

    broken = frame.astype({"age": object})
    broken.loc[150, "age"] = "abc"
    broken.to_csv(at("broken.csv"), index=False)
    broken.drop(columns="sex").to_csv(at("broken_numbers.csv"), index=False)
    more = frame.assign(target=target, weight=np.arange(200) + 1)
    more[["age", "siblings", "sex", "weight", "target"]].to_csv(at("more.csv"), index=False)
    more[["age", "siblings", "weight"]].to_csv(at("weighed.csv"), index=False)
    (folder / "picky_models.py").write_text(
        "def picky(rows):\n"
        "    if len(rows) > 5:\n"
        "        raise {'value': ValueError, 'lookup': KeyError}[KIND]('not these')\n"
        "    return rows['age'] * 1.0\n"
        "import os\n"
        "KIND = os.environ.get('KIND', 'value')\n"
    )
    (folder / "noisy_models.py").write_text(
        "import os\n"
        "def noisy(rows):\n"
        "    print('noise in Python')\n"
        "    os.write(1, b'noise in C\\n')\n"
        "    return rows['age'] * 1.0\n"
    )
    found["folder"] = folder
    return found


@pytest.fixture
def linear(files: Files) -> tuple[str, ...]:
    return str(model(files, "linear.pkl")), str(files["numbers.csv"]), "--allow-pickle"


def refused(*arguments: Any, code: int = cli.EXIT_ERROR, run: Here = installed, **options: Any) -> str:
    """What the command says on its way out."""
    done = run(*arguments, **options)
    assert done.returncode == code, done.stderr
    assert done.stdout == ""
    assert "Unexpected" not in done.stderr
    assert "Traceback" not in done.stderr
    return done.stderr


def said(capfd: pytest.CaptureFixture[str], *arguments: Any, code: int = cli.EXIT_ERROR) -> str:
    """The same in this process, which is quicker."""
    with pytest.raises(SystemExit) as stop:
        cli.run([str(a) for a in arguments])
    printed = capfd.readouterr()
    assert stop.value.code == code, printed.err
    return printed.err


# --- bad data ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "name", "data"),
    [
        ("pd", "lightgbm.txt", "broken.csv"),
        ("ale", "xgboost.json", "broken.csv"),
        ("summary", "catboost.cbm", "broken.csv"),
        ("pd", "linear.onnx", "broken_numbers.csv"),
        ("report", "lightgbm.txt", "broken.csv"),
    ],
)
def test_text_among_numbers_is_found_before_the_model_sees_it(
    files: Files, tmp_path: Path, question: str, name: str, data: str, here: Here
) -> None:
    extra = {"report": ("-o", tmp_path / "report.html"), "summary": ()}.get(question, ("siblings",))
    text = refused(question, model(files, name), files[data], *extra, run=here)
    assert text.startswith(
        "Error: DATA must hold numbers in the column 'age', which the model takes as numbers"
    )
    assert "line 152 " in text
    assert "'abc'" in text
    assert "--missing abc" in text


@pytest.mark.parametrize("question", ["pd", "importance"])
def test_text_among_numbers_that_a_model_refuses_is_found(
    files: Files, question: str, tmp_path: Path, here: Here
) -> None:
    # What a pipeline of other people's steps takes is for them to say.
    pipeline = pytest.importorskip("sklearn.pipeline").make_pipeline(
        pytest.importorskip("sklearn.preprocessing").StandardScaler(),
        pickle.loads(model(files, "linear.pkl").read_bytes()),
    )
    frame, target = people()
    (tmp_path / "pipeline.pkl").write_bytes(pickle.dumps(pipeline.fit(frame[["age", "siblings"]], target)))
    extra = ("age",) if question == "pd" else ()
    text = refused(
        question, tmp_path / "pipeline.pkl", files["broken_numbers.csv"], "--allow-pickle", *extra, run=here
    )
    assert text.startswith("Error: MODEL refused these rows of DATA: ValueError")
    assert "column 'age' is mostly numbers" in text
    assert "row 151 " in text
    assert "'abc'" in text


def test_text_in_the_first_rows_is_named_too(files: Files, tmp_path: Path, capfd: Any) -> None:
    lines = files["numbers.csv"].read_text().splitlines()
    lines[2] = "x,1"
    (tmp_path / "early.csv").write_text("\n".join(lines))
    text = said(capfd, "pd", model(files, "linear.pkl"), tmp_path / "early.csv", "age", "--allow-pickle")
    assert "line 3 " in text
    assert "'x'" in text


def test_numbers_stored_as_text_are_told(files: Files, tmp_path: Path, capfd: Any) -> None:
    pytest.importorskip("pyarrow")
    frame, _ = people()
    frame.assign(age=frame["age"].astype(str)).to_parquet(tmp_path / "texts.parquet")
    text = said(capfd, "pd", model(files, "lightgbm.txt"), tmp_path / "texts.parquet", "age")
    assert "column 'age'" in text
    assert "row 1 " in text


@pytest.mark.parametrize(("kind", "name"), [("value", "ValueError"), ("lookup", "KeyError")])
def test_an_error_of_the_model_is_no_bug(
    files: Files, kind: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KIND", kind)
    text = refused("pd", "picky_models:picky", files["people.csv"], "age", cwd=files["folder"])
    assert f"MODEL refused these rows of DATA: {name}: " in text
    assert "not these" in text


# --- columns beside the features -----------------------------------------------------------------


def test_a_model_without_names_does_not_get_the_columns_options_name(files: Files, here: Here) -> None:
    done = here("pd", model(files, "linear.onnx"), files["more.csv"], "siblings", "--grid", "0,1", "--json",
                     "--y", "target", "--by", "sex", "--weights", "weight")  # fmt: skip
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)
    assert {row["group"] for row in rows} == {None, "female", "male"}
    assert rows[1]["average"] - rows[0]["average"] == pytest.approx(1.0, abs=0.1)
    assert done.stderr == "MODEL knows no column names. It gets, in this order: age, siblings\n"
    whole = {row["group"]: row["weight"] for row in rows if row["siblings"] == 1}
    assert whole["female"] + whole["male"] == pytest.approx(whole[None])


def test_columns_are_kept_only_where_there_is_room(files: Files, tmp_path: Path, capfd: Any) -> None:
    onnx = model(files, "linear.onnx")
    both = asked("pd", onnx, files["numbers.csv"], "age", "--by", "siblings", "--grid", "2", "--json")
    assert {row["group"] for row in json.loads(both.stdout)} == {None, *"012345"}
    ambiguous = ("pd", onnx, files["weighed.csv"], "age", "--by", "siblings", "--weights", "weight")
    assert "'siblings' and 'weight'" in said(capfd, *ambiguous)
    # The target is never a feature, even if the number of columns would be right with it.
    text = said(capfd, "pd", onnx, files["numbers.csv"], "age", "--y", "siblings")
    assert "DATA has 1 columns, but the model was fitted on 2" in text
    assert "sex" not in said(capfd, "pd", onnx, files["more.csv"], "age", "--y", "target")
    text = said(
        capfd, "pd", onnx, files["more.csv"], "age", "--y", "target", "--by", "weight", "--weights", "sex"
    )
    assert "--weights names a categorical column" in text


def test_by_is_offered_where_it_means_something(files: Files, capfd: Any) -> None:
    for name in ("importance", "interactions", "summary"):
        assert "No such option" in said(capfd, name, "m.txt", "d.csv", "--by", "sex", code=2)
    for name in ("pd", "ice", "ale", "report"):
        assert "--by" in asked(name, "--help").output


def test_individual_curves_come_with_their_group(files: Files, tmp_path: Path, here: Here) -> None:
    pd = pytest.importorskip("pandas")
    frame, _ = people()
    out = {kind: tmp_path / f"out.{kind}" for kind in ("csv", "json", "parquet")}
    done = here("ice", model(files, "lightgbm.txt"), files["people.csv"], "age", "--by", "sex", "--rows", "20",
                     "--grid", "3", *(word for kind, path in out.items() for word in (f"--{kind}", path)))  # fmt: skip
    assert done.returncode == 0, done.stderr
    for found in (pd.read_csv(out["csv"]), pd.read_json(out["json"]), pd.read_parquet(out["parquet"])):
        assert len(found) == 60
        assert found["group"].tolist() == frame["sex"].to_numpy()[found["row"]].tolist()


# --- outputs -------------------------------------------------------------------------------------


@pytest.fixture
def not_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail if a model is loaded: what is wrong was to be found before."""
    monkeypatch.setattr(
        "icefield.cli.loading.load_model", lambda *_, **__: pytest.fail("the model was loaded")
    )


@pytest.mark.usefixtures("not_loaded")
@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("pd", "m.txt", "d.csv", "age", "--plot", "p.xyz"), 1, "--plot must end in .png, .pdf, .svg or .html, got 'p.xyz'.\n"),
        (("pd", "m.txt", "d.csv", "age", "--plot", "no/p.png"), 1, "--plot lies in a folder that does not exist"),
        (("summary", "m.txt", "d.csv", "--json", "no/p.json"), 1, "--json lies in a folder that does not exist"),
        (("report", "m.txt", "d.csv", "-o", "no/r.html"), 1, "-o lies in a folder that does not exist"),
        (("expect", "m.txt", "d.csv", "-o", "d.csv"), 1, "-o would overwrite what is read"),
        (("report", "m.txt", "d.csv", "-o", "d.csv"), 2, "is no .html file"),
        (("pd", "m.txt", "d.csv", "age", "--csv", "m.csv", "--json", "./m.csv"), 1, "--json names the file of --csv too"),
        (("pd", "m.txt", "d.csv", "--csv", "age", "fare"), 2, "'age' is no .csv file"),
        (("pd", "m.txt", "d.csv", "--json", "age", "fare"), 2, "'age' is no .json file"),
        (("pd", "m.txt", "d.csv", "--parquet=age", "fare"), 2, "'age' is no .parquet file"),
        (("pd", "m.txt", "d.csv", "age", "-q", "-v"), 2, "-q and -v"),
    ],
)  # fmt: skip
def test_what_cannot_be_written_is_found_before_anything_is_loaded(
    arguments: tuple[str, ...], code: int, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    (tmp_path / "d.csv").write_text("age,fare\n1,2\n")
    assert words in said(capfd, *arguments, code=code)
    assert [path.name for path in tmp_path.iterdir()] == ["d.csv"]


@pytest.mark.usefixtures("not_loaded")
@pytest.mark.parametrize(
    ("data", "out", "words"),
    [
        (("days",), "days/1.csv", "would overwrite what is read"),
        (("days",), "days/deep/3.csv", "would overwrite what is read"),
        (("days",), "days/../days/1.csv", "would overwrite what is read"),
        (("days",), "link.csv", "would overwrite what is read"),
        (("days",), "twin.csv", "would overwrite what is read"),
        (("days/*.csv",), "days/1.csv", "would overwrite what is read"),
        (("days/**/*.csv",), "days/deep/3.csv", "would overwrite what is read"),
        (("days/1.csv", "days/2.csv"), "days/2.csv", "would overwrite what is read"),
        (("days",), "days/new.csv", "would be read as one of them"),
        (("days",), "days/deep/new.csv", "would be read as one of them"),
        (("days/*.csv",), "days/new.csv", "would be read as one of them"),
        (("days/**/*.csv",), "days/new.csv", "would be read as one of them"),
        (("days/**/*.csv",), "days/deep/new.csv", "would be read as one of them"),
    ],
)
def test_no_file_of_a_folder_or_glob_is_written_to(
    data: tuple[str, ...], out: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "days" / "deep").mkdir(parents=True)
    for name in ("1.csv", "days/1.csv", "days/2.csv", "days/deep/3.csv"):
        (tmp_path / name).write_text("age,fare\n1,2\n")
    (tmp_path / "link.csv").symlink_to("days/1.csv")
    os.link(tmp_path / "days" / "1.csv", tmp_path / "twin.csv")
    text = said(capfd, "pd", "m.txt", *data, "age", "--csv", out)
    assert f"--csv {words}" in text or f"--csv lies among the files of DATA, and {words}" in text


@pytest.mark.parametrize("out", ["days/new.json", "new.csv", "days/deep/new.csv"])
def test_outputs_may_lie_beside_what_is_read(
    out: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "days" / "deep").mkdir(parents=True)
    (tmp_path / "days" / "1.csv").write_text("age,fare\n1,2\n")
    cli_output.check_outputs({"csv_path": out}, ("m.txt", "days/*.csv"))


def test_a_folder_that_is_closed_is_told(files: Files, tmp_path: Path, capfd: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(cli_output.os, "access", lambda *_: False)  # root may write anywhere
    text = said(capfd, "pd", "m.txt", "d.csv", "age", "--plot", tmp_path / "p.png")
    assert "--plot cannot be written" in text


def test_three_features_are_not_drawn(linear: tuple[str, ...], tmp_path: Path, capfd: Any) -> None:
    for name in ("pd", "ice"):
        text = said(capfd, name, *linear, "age", "siblings", "age", "--plot", tmp_path / "p.png")
        assert "--plot draws one or two features" in text


def test_a_file_may_have_any_name_when_it_is_a_path(
    linear: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert asked("pd", *linear, "age", "--csv", "./age", "-q").output == ""
    assert (tmp_path / "age").read_text().startswith("output,age,average")


@pytest.mark.parametrize("out", [("--csv", "-"), ("--json", "-"), ("--parquet", "-"), ()])
def test_what_models_print_is_no_part_of_an_answer(
    files: Files, out: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, capsysbinary: Any
) -> None:
    monkeypatch.syspath_prepend(files["folder"])
    monkeypatch.setattr(os, "write", lambda *_: None)
    cli.main(["pd", "noisy_models:noisy", str(files["people.csv"]), "age", *out], standalone_mode=False)
    printed = capsysbinary.readouterr()
    assert b"noise in Python" in printed.err
    assert b"noise" not in printed.out
    starts = {"--csv": b"output,age", "--json": b"[", "--parquet": b"PAR1"}
    assert printed.out.startswith(starts[out[0]] if out else b"Partial dependence")


@pytest.mark.slow
def test_what_libraries_write_themselves_is_no_part_of_an_answer(files: Files) -> None:
    done = installed(
        "pd", "noisy_models:noisy", files["people.csv"], "age", "--csv", "-", cwd=files["folder"]
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("output,age")
    assert "noise" not in done.stdout
    assert "noise in C" in done.stderr
    assert "noise in Python" in done.stderr


# --- words ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("extra", "words"),
    [
        (("agee",), "FEATURE names a column that DATA does not have, got 'agee'"),
        (("age", "--by", "agee"), "--by names a column that DATA does not have, got 'agee'"),
        (("age", "--weights", "agee"), "--weights names a column that DATA does not have, got 'agee'"),
        (("age", "--grid", "abc"), "--grid must hold values of the float column 'age'"),
        (("age", "--rows", "0"), "--rows must be at least 1, got 0"),
        (("age", "--target", "x"), "--target names an output the model does not have"),
    ],
)
def test_errors_speak_of_the_command_line(
    linear: tuple[str, ...], extra: tuple[str, ...], words: str, capfd: Any
) -> None:
    text = said(capfd, "pd", *linear, *extra)
    assert text.startswith(f"Error: {words}")
    assert "np." not in text
    assert "`" not in text


@pytest.mark.skipif(sys.platform == "win32", reason="no pseudo-terminals there")
@pytest.mark.parametrize("plain", [False, True])
def test_on_a_terminal_only_the_label_is_coloured(plain: bool) -> None:
    import pty

    ours, theirs = pty.openpty()
    environment = {k: v for k, v in os.environ.items() if k != "NO_COLOR"} | {"TERM": "xterm-256color"}
    if plain:
        environment["NO_COLOR"] = "1"
    try:
        subprocess.run(
            [command(), "pd", "nowhere.txt", "nowhere.csv", "age"],
            stderr=theirs, stdout=subprocess.DEVNULL, env=environment, timeout=60, check=False,
        )  # fmt: skip
        text = os.read(ours, 10_000).decode()
    finally:
        os.close(ours)
        os.close(theirs)
    if plain:
        assert "\x1b" not in text
        assert text.startswith("Error: MODEL is a file that does not exist")
    else:
        assert text.startswith("\x1b[1;31mError: \x1b[0m")
        assert "\x1b" not in text.removeprefix("\x1b[1;31mError: \x1b[0m")
    assert "runs that module's code" in text
