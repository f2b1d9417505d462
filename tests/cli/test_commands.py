"""The command line: breadth through click's runner, and the installed command itself where it matters."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from icefield import progress
from icefield.cli import commands as cli
from icefield.errors import InputError
from model_files import people, write_data, write_models

Files = dict[str, Path]
Here = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    folder = tmp_path_factory.mktemp("files")
    found = write_data(folder) | write_models(folder)
    (folder / "my_models.py").write_text("def half(rows):\n    return rows['age'] / 2\n")
    found["folder"] = folder
    return found


def command() -> str:
    """The installed ``icefield``, beside the running Python."""
    path = shutil.which(
        "icefield", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    )
    if path is None:
        pytest.skip("the icefield command is not installed: pip install -e .")
    return path


def installed(
    *arguments: Any, stdin: bytes | None = None, cwd: Path | None = None
) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [command(), *map(str, arguments)], input=stdin, capture_output=True, timeout=180, cwd=cwd, check=False
    )
    return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())


def asked(*arguments: Any) -> Result:
    """A command in this process; errors come out as exceptions."""
    return CliRunner().invoke(cli.main, [str(a) for a in arguments], catch_exceptions=False)


def model(files: Files, name: str) -> Path:
    if name not in files:
        pytest.skip(f"the library that writes {name} is not installed")
    return files[name]


@pytest.fixture
def linear(files: Files) -> tuple[str, ...]:
    """A quick model for the questions that do not depend on the format."""
    return str(model(files, "linear.pkl")), str(files["numbers.csv"]), "--allow-pickle"


# --- every model format, and every data format -------------------------------------------------------

FORMATS = [
    ("xgboost.json", "people.parquet", ()),
    ("xgboost.ubj", "people.tsv", ()),
    ("catboost.cbm", "people.feather", ()),
    ("catboost.json", "people.arrow", ()),
    ("linear.onnx", "numbers.csv", ()),
    ("linear.joblib", "numbers.csv", ("--allow-pickle",)),
]


@pytest.mark.parametrize(("name", "data", "options"), FORMATS)
def test_every_format_gives_the_slope_it_was_trained_on(
    files: Files, name: str, data: str, options: tuple[str, ...], here: Here
) -> None:
    gives_the_slope(files, name, data, options, here)


def test_the_installed_command_gives_it(files: Files) -> None:
    gives_the_slope(files, "lightgbm.txt", "people.csv", (), installed)


def gives_the_slope(files: Files, name: str, data: str, options: tuple[str, ...], run: Here) -> None:
    done = run("pd", model(files, name), model(files, data), "siblings", "--grid", "0,5", "--json", *options)
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)
    assert rows[1]["average"] - rows[0]["average"] > 1  # a few trees already see that siblings count
    assert done.stderr == ""


def test_standard_input_and_an_imported_function(files: Files) -> None:
    done = installed(
        "pd", "my_models:half", "-", "age", "--grid", "10,20", "--csv",
        stdin=files["people.csv"].read_bytes(), cwd=files["folder"],
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].startswith("output,age,average")
    assert [float(line.split(",")[2]) for line in lines[1:]] == [5.0, 10.0]


def test_a_forest_in_a_skops_file_needs_no_trust(files: Files, here: Here) -> None:
    done = here(
        "pd", model(files, "forest.skops"), files["numbers.csv"], "siblings", "--grid", "0,5", "--json"
    )
    assert done.returncode == 0, done.stderr
    low, high = (row["average"] for row in json.loads(done.stdout))
    assert high - low > 1


def test_names_and_units_reach_the_answer(files: Files) -> None:
    said = (
        "--name", "age=Alter", "--name", "sex=gender", "--name", "sex[male]=men", "--unit", "age=years", "--unit", "score=points",
        "--target-name", "score",
    )  # fmt: skip
    done = asked("summary", model(files, "lightgbm.txt"), files["people.csv"], *said)
    assert "Alter" in done.output
    assert "gender" in done.output
    assert "levels, highest men" in done.output
    curve = asked("pd", model(files, "lightgbm.txt"), files["people.csv"], "age", "--grid", "30,40", *said)
    assert "Partial dependence of predicted score on Alter" in curve.output
    assert "30 years" in curve.output


@pytest.mark.parametrize(
    ("option", "words"),
    [
        (("--name", "age"), "--name"),
        (("--name", "ages=Alter"), "'age'"),
        (("--name", "sex[men]=x"), "does not have"),
        (("--unit", "age=month"), "from 1 to 12"),
    ],
)
def test_names_and_units_that_cannot_be(
    files: Files, option: tuple[str, ...], words: str, here: Here
) -> None:
    done = here("summary", model(files, "lightgbm.txt"), files["people.csv"], *option)
    assert done.returncode == cli.EXIT_ERROR
    assert words in done.stderr


def test_report_is_written(files: Files, tmp_path: Path, here: Here) -> None:
    out = tmp_path / "report.html"
    done = here(
        "report",
        model(files, "lightgbm.txt"),
        files["people.csv"],
        "--by",
        "sex",
        "-o",
        out,
        "--title",
        "Of people",
    )
    assert done.returncode == 0, done.stderr
    assert f"wrote {out}" in done.stderr
    text = out.read_text(encoding="utf-8")
    assert "<h1>Of people</h1>" in text
    assert "female" in text


def test_an_error_is_one_block_without_traceback(files: Files) -> None:
    done = installed("pd", model(files, "linear.pkl"), files["numbers.csv"], "age")
    assert done.returncode == cli.EXIT_ERROR
    assert done.stdout == ""
    assert done.stderr.startswith("Error: ")
    assert "--allow-pickle" in done.stderr
    assert "Traceback" not in done.stderr
    assert "\x1b" not in done.stderr, "colour is for terminals"


def test_debug_shows_the_traceback(files: Files) -> None:
    done = installed("pd", files["folder"] / "nowhere.txt", files["people.csv"], "age", "--debug")
    assert done.returncode != 0
    assert "Traceback" in done.stderr


def test_a_closed_pipe_is_no_error(files: Files) -> None:
    line = f"'{command()}' pd my_models:half '{files['people.csv']}' age --csv | head -1"
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", line], capture_output=True, cwd=files["folder"], check=False
    )
    assert done.stdout.startswith(b"output,age")
    assert b"Traceback" not in done.stderr
    assert b"Error" not in done.stderr


# --- in this process: every command and option -------------------------------------------------------


def test_help_everywhere_with_examples() -> None:
    top = asked("--help")
    assert top.exit_code == 0
    for name, sub in cli.main.commands.items():
        assert name in top.output
        text = asked(name, "--help").output
        assert f"  icefield {name} " in text, f"{name} has no example"
        if any(parameter.name == "model" for parameter in sub.params):
            assert "package.module:object, which imports that module and so runs its code" in " ".join(
                text.split()
            )
        assert sub.help
    assert "Exit codes" in top.output
    assert asked("--version").output.startswith("icefield") or "version" in asked("--version").output


def test_completion_is_offered(monkeypatch: pytest.MonkeyPatch) -> None:
    for shell in ("bash", "zsh", "fish"):
        found = CliRunner().invoke(
            cli.main, [], prog_name="icefield", env={"_ICEFIELD_COMPLETE": f"{shell}_source"}
        )
        assert "_ICEFIELD_COMPLETE" in found.output
    words = {
        "_ICEFIELD_COMPLETE": "bash_complete",
        "COMP_WORDS": "icefield pd m d --scale ",
        "COMP_CWORD": "5",
    }
    found = CliRunner().invoke(cli.main, [], prog_name="icefield", env=words)
    assert "plain,response" in found.output
    assert "plain,raw" in found.output


def test_pd_prints_a_curve_and_a_surface(linear: tuple[str, ...]) -> None:
    assert "Partial dependence" in asked("pd", *linear, "age").output
    assert "age x siblings" in asked("pd", *linear, "age", "siblings", "--grid", "5").output


def test_pd_by_group_and_weights(files: Files, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(files["folder"])
    done = asked("pd", "my_models:half", files["people.csv"], "age", "--by", "sex", "--weights", "siblings",
                 "--grid", "10,20", "--csv")  # fmt: skip
    assert "female" in done.output
    assert "male" in done.output


@pytest.mark.parametrize("name", ["pd", "ice", "ale"])
def test_effects_as_files(linear: tuple[str, ...], tmp_path: Path, name: str) -> None:
    pd = pytest.importorskip("pandas")
    out = {kind: tmp_path / f"out.{kind}" for kind in ("csv", "json", "parquet", "png", "html", "svg", "pdf")}
    done = asked(name, *linear, "age", "--csv", out["csv"], "--json", out["json"], "--parquet", out["parquet"],
                 "--plot", out["png"])  # fmt: skip
    assert done.exit_code == 0
    assert done.stdout == ""
    assert str(out["csv"]) in done.stderr
    csv, parquet = pd.read_csv(out["csv"]), pd.read_parquet(out["parquet"])
    assert len(csv) == len(parquet) == len(json.loads(out["json"].read_text()))
    assert out["png"].read_bytes().startswith(b"\x89PNG")
    if name == "pd":
        for kind in ("html", "svg", "pdf"):
            assert asked(name, *linear, "age", "--plot", out[kind], "-q").output == ""
            assert out[kind].stat().st_size > 1000


def test_ice_centres_and_limits_rows(linear: tuple[str, ...]) -> None:
    rows = json.loads(asked("ice", *linear, "age", "--rows", "7", "--center", "--grid", "3", "--json").stdout)
    assert len({row["row"] for row in rows}) == 7
    assert all(row["prediction"] == 0 for row in rows if row["age"] == rows[0]["age"])


def test_tables_print_and_convert(linear: tuple[str, ...], tmp_path: Path) -> None:
    for name in ("importance", "interactions", "summary"):
        assert "age" in asked(name, *linear).output
        rows = json.loads(asked(name, *linear, "--json").stdout)
        assert rows
    assert asked("importance", *linear, "--plot", tmp_path / "bars.png").exit_code == 0
    only = json.loads(asked("importance", *linear, "-f", "age", "--json").stdout)
    assert [row["feature"] for row in only] == ["age"]


def test_regions_print_convert_and_draw(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pd = pytest.importorskip("pandas")
    steps = range(160)
    data = pd.DataFrame({"age": [float(i % 10) for i in steps], "siblings": [float(i % 2) for i in steps]})
    data.to_csv(tmp_path / "crossed.csv", index=False)
    (tmp_path / "crossing.py").write_text(
        "def crossed(rows):\n    return rows['age'] * (2 * rows['siblings'] - 1)\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    given = ("crossing:crossed", tmp_path / "crossed.csv", "age")
    assert "siblings" in asked("regions", *given).output
    rows = json.loads(asked("regions", *given, "--depth", "1", "--json").stdout)
    assert len(rows) == 2
    assert all("siblings" in row["rule"] for row in rows)
    assert asked("regions", *given, "--plot", tmp_path / "regions.png").exit_code == 0
    assert (tmp_path / "regions.png").stat().st_size > 1000


def test_models_are_compared(files: Files, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pd = pytest.importorskip("pandas")
    data = tmp_path / "people.csv"
    pd.DataFrame({"age": [1.0, 2.0, 4.0], "siblings": [0.0, 1.0, 1.0]}).to_csv(data, index=False)
    (tmp_path / "two.py").write_text(
        "def once(rows):\n    return rows['age'] + rows['siblings']\ndef twice(rows):\n    return 2 * rows['age']\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    given = ("two:once", data, "age", "--with", "double=two:twice")
    printed = asked("compare", *given).output
    assert "Comparison of 2 effects of age: two:once, double" in printed
    assert "furthest apart at 4: two:once 4.667, double 8" in printed
    rows = json.loads(asked("compare", *given, "--grid", "1,2", "--json").stdout)
    assert [(row["model"], row["age"], row["average"]) for row in rows] == [
        ("two:once", 1.0, pytest.approx(1 + 2 / 3)), ("two:once", 2.0, pytest.approx(2 + 2 / 3)),
        ("double", 1.0, 2.0), ("double", 2.0, 4.0),
    ]  # fmt: skip
    assert asked("compare", *given, "--plot", tmp_path / "both.png").exit_code == 0
    assert (tmp_path / "both.png").stat().st_size > 1000
    html = tmp_path / "both.html"
    asked("compare", *given, "--target-name", "speed", "--unit", "speed=knots", "--plot", html)
    assert "predicted speed (knots)" in html.read_text(encoding="utf-8")


def test_what_compare_refuses(files: Files, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "one.py").write_text("def once(rows):\n    return rows['age']\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert asked("compare", "one:once", files["people.csv"], "age").exit_code == 2
    with pytest.raises(InputError, match="same model twice"):
        asked("compare", "one:once", files["people.csv"], "age", "--with", "one:once", "--with", "one:once")
    refused = asked("compare", "one:once", "-", "age", "--with", "b=one:once")
    assert refused.exit_code == 2
    assert "Standard input can be read once" in refused.output
    again = tmp_path / "model.txt"
    again.write_text("tree\n")
    with pytest.raises(InputError, match="would overwrite what is read"):
        asked("compare", "one:once", files["people.csv"], "age", "--with", again, "--csv", f"{again}")


def test_observed_targets_give_permutation_importance(files: Files, tmp_path: Path) -> None:
    frame, target = people()
    path = tmp_path / "with_target.csv"
    frame.assign(target=target)[["age", "siblings", "target"]].to_csv(path, index=False)
    model_path = model(files, "linear.pkl")
    rows = json.loads(
        asked("importance", model_path, path, "--allow-pickle", "--y", "target", "--json").stdout
    )
    assert all(row["permutation"] > 0 for row in rows)


def test_verbose_says_which_engine(linear: tuple[str, ...]) -> None:
    done = asked("pd", *linear, "age", "-v")
    assert "engine:" in done.stderr
    assert "Explainer(" in done.stderr


def test_quiet_shows_no_bar_and_leaves_no_trace(
    linear: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []
    monkeypatch.setattr(cli, "show", lambda *_, **__: seen.append(progress.PATIENCE))
    before = progress.PATIENCE
    asked("pd", *linear, "age", "-q")
    assert seen == [float("inf")]
    assert before == progress.PATIENCE


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        ((), 2, "Usage"),
        (("pdd",), 2, "No such command"),
        (("pd",), 2, "Missing argument"),
        (("pd", "m.txt", "d.csv"), 2, "FEATURE..."),
        (("pd", "m.txt", "d.csv", "a", "--scale", "log"), 2, "response"),
        (("pd", "m.txt", "d.csv", "a", "--threads", "0"), 2, "threads"),
        (("pd", "m.txt", "d.csv", "a"), 1, "does not exist"),
        (("pd", "m.xyz", "d.csv", "a"), 1, "does not exist"),
    ],
)
def test_exit_codes(
    arguments: tuple[str, ...], code: int, words: str, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stop:
        cli.run(list(arguments))
    assert stop.value.code == code
    printed = capfd.readouterr()
    assert words in printed.err + printed.out


def test_a_module_that_is_not_there(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "d.csv").write_text("a\n1\n2\n")
    with pytest.raises(SystemExit) as stop:
        cli.run(["pd", "no_such_module:thing", str(tmp_path / "d.csv"), "a"])
    assert stop.value.code == 1
    assert "cannot be imported" in capfd.readouterr().err


@pytest.mark.parametrize(
    ("extra", "words"),
    [
        (("agee",), "age"),
        (("age", "--y", "agee"), "'age'"),
        (("age", "--by", "nothing"), "nothing"),
        (("age", "--target", "7"), "target"),
        (("age", "--grid", "a,b"), "grid"),
        (("age", "siblings", "--grid", "1,2"), "number of points"),
        (("age", "--plot", "out.xyz"), ".png"),
        (("age", "--engine", "trees"), "trees"),
    ],
)
def test_wrong_requests_are_told_apart(
    linear: tuple[str, ...], extra: tuple[str, ...], words: str, capfd: pytest.CaptureFixture[str], tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as stop:
        cli.run(["pd", *linear, *extra])
    assert stop.value.code == cli.EXIT_ERROR
    text = capfd.readouterr().err
    assert text.startswith("Error: ")
    assert words in text


def test_a_bug_says_so_and_interrupts_have_their_code(
    linear: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    for error, code in ((RuntimeError("boom"), cli.EXIT_BUG), (KeyboardInterrupt(), cli.EXIT_INTERRUPTED)):

        def fail(*_: Any, error: BaseException = error, **__: Any) -> None:
            raise error

        monkeypatch.setattr(cli, "show", fail)
        with pytest.raises(SystemExit) as stop:
            cli.run(["pd", *linear, "age"])
        assert stop.value.code == code
    assert "--debug" in capfd.readouterr().err


def test_names_cannot_steer_the_terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    frame, _ = people()
    (tmp_path / "names.csv").write_text("\x1b[31mred,b\n" + "\n".join(f"{v},1" for v in frame["age"]))
    (tmp_path / "escape_models.py").write_text("def first(rows):\n    return rows.iloc[:, 0]\n")
    monkeypatch.syspath_prepend(tmp_path)
    done = asked("pd", "escape_models:first", tmp_path / "names.csv", "\x1b[31mred")
    assert "\x1b" not in done.output
    assert "red" in done.output


def test_change_and_slope(linear: tuple[str, ...]) -> None:
    found = json.loads(asked("change", *linear, "age", "--from", 30, "--to", 50, "--json").stdout)
    slope = json.loads(asked("slope", *linear, "age", "--given", "siblings", "--json").stdout)
    assert found[0]["estimate"] == pytest.approx(20 * slope[0]["estimate"], rel=1e-6)
    own = json.loads(asked("change", *linear, "age", "--plus", 20, "--level", 0.8, "--json").stdout)
    assert own[0]["estimate"] == pytest.approx(found[0]["estimate"], rel=1e-6)
    assert "a causal reading given siblings" in asked("change", *linear, "age", "--times", 1.1, "--given", "siblings").stdout  # fmt: skip
