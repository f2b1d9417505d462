"""The command line: a model file and a data file in, curves, tables, pictures and reports out.

Every command is the same few steps as in Python: load, build an `Explainer`, ask, show. Errors are
one readable block and an exit code; a traceback appears only with ``--debug``.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from functools import partial, wraps
from pathlib import Path
from typing import Any

import click

from icefield.cli.output import PICTURES, check_outputs, printable, show, with_groups
from icefield.errors import IcefieldError, InputError, complaint

EXIT_ERROR = 1  # something in the request cannot be done; click itself uses 2 for wrong usage
EXIT_BUG = 3
EXIT_INTERRUPTED = 130


def run(arguments: list[str] | None = None) -> None:
    """Entry point of the ``icefield`` command."""
    debug = "--debug" in (sys.argv if arguments is None else arguments)
    try:
        main(args=arguments, standalone_mode=False)
    except click.exceptions.Exit as stop:
        raise SystemExit(stop.exit_code) from None
    except click.exceptions.Abort:
        _complain("Interrupted.")
        raise SystemExit(EXIT_INTERRUPTED) from None
    except click.ClickException as error:
        error.show()
        raise SystemExit(error.exit_code) from None
    except KeyboardInterrupt:
        _complain("Interrupted.")
        raise SystemExit(EXIT_INTERRUPTED) from None
    except BrokenPipeError:
        # The reader has seen enough; what is left in the buffer has nowhere to go.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(0) from None
    except (IcefieldError, OSError) as error:
        if debug:
            raise
        _complain(as_asked(str(error)))
        raise SystemExit(EXIT_ERROR) from None
    except Exception as error:
        if debug:
            raise
        _complain(f"Unexpected {type(error).__name__}: {error}\nRun again with --debug for the traceback.")
        raise SystemExit(EXIT_BUG) from None


def _complain(text: str) -> None:
    from rich.console import Console
    from rich.text import Text

    # rich keeps bold where NO_COLOR is set; who asks for no colour wants plain text.
    style = "" if os.environ.get("NO_COLOR") else "bold red"
    Console(stderr=True).print(Text.assemble(("Error: ", style), printable(text)), soft_wrap=True)


_OPTIONS = ("by", "weights", "y", "target", "scale", "engine", "threads", "seed", "grid", "rows", "bins", "js", "title", "individual")  # fmt: skip
_ON_THE_LINE = {"X": "DATA", "model": "MODEL", "features": "FEATURE", "path": "-o", "points": "--grid"} | {
    name: f"--{name}" for name in _OPTIONS
}


def as_asked(text: str) -> str:
    """An error in the words of the command line: its arguments and options, and plain numbers.

    Examples
    --------
    >>> print(as_asked("Argument `by` names a column that X does not have, got 'X'. Hint: write rows=9."))
    --by names a column that DATA does not have, got 'X'. Hint: write --rows 9.
    """
    text = re.sub(r"Argument `([^`]+)`", lambda found: _ON_THE_LINE.get(found[1], found[1]), text)
    text = re.sub(rf"`({'|'.join(_ON_THE_LINE)})`", lambda found: _ON_THE_LINE[found[1]], text)
    text = re.sub(r"\bnp\.\w+\(([^()]*)\)", r"\1", text)
    text = re.sub(rf"\bwrite ({'|'.join(_OPTIONS)})=", r"write --\1 ", text)
    # What stands in quotes is somebody's name or value; the X of Python calls is not.
    return re.sub(r"""((?<!\w)'[^']*'|"[^"]*")|\bX\b""", lambda found: found[1] or "DATA", text)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="icefield")
def main() -> None:
    """How a fitted model responds to its features.

    MODEL is a LightGBM .txt, XGBoost .json/.ubj, CatBoost .cbm/.json, ONNX or skops file, a pickle (only with
    --allow-pickle), or package.module:object, which imports, and so runs, that module. DATA is a CSV, Parquet or
    Feather/Arrow file, or - for standard input.

    \b
    Examples:
      icefield demo
      icefield report model.txt flights.parquet -o report.html
      icefield pd model.txt titanic.csv age --by sex --plot age.png
      icefield summary model.json data.csv
      cat data.csv | icefield importance model.cbm - --csv

    \b
    Exit codes: 0 done, 1 the request cannot be done, 2 wrong usage, 3 a bug, 130 interrupted.
    Completion in bash: eval "$(_ICEFIELD_COMPLETE=bash_source icefield)"; zsh and fish likewise.
    """


# --- options every question shares ---------------------------------------------------------------

_SHARED: list[Callable[[Any], Any]] = [
    click.option("--target", help="Class label, output name or position; 'all' for every output."),
    click.option("--scale", type=click.Choice(["response", "raw"]), default="response", show_default=True,
                 help="What predict gives, or the margin before the link."),
    click.option("--weights", metavar="COLUMN", help="A column of row weights."),
    click.option("--y", "y", metavar="COLUMN", help="The column of observed targets, if the data holds it."),
    click.option("--engine", type=click.Choice(["auto", "trees", "brute"]), default="auto", show_default=True,
                 help="'auto' only picks a faster way to the same numbers."),
    click.option("--threads", type=click.IntRange(min=1), help="How many threads."),
    click.option("--seed", type=int, default=0, show_default=True, help="For everything sampled."),
    click.option("--allow-pickle", is_flag=True, help="Load pickle and joblib files. They can run any code."),
    click.option("--trust", multiple=True, metavar="TYPE", help="A further type a skops file may hold."),
    click.option("-q", "--quiet", is_flag=True, help="Print results and errors only."),
    click.option("-v", "--verbose", is_flag=True, help="Say which engine answered and why."),
    click.option("--debug", is_flag=True, help="Show the traceback of an error."),
]  # fmt: skip


_BY = click.option("--by", metavar="COLUMN", help="A column: one curve per group.")


def _file_option(name: str, what: str) -> Callable[[Any], Any]:
    """``--csv`` alone prints, ``--csv out.csv`` writes."""

    def checked(_: click.Context, __: click.Parameter, path: str | None) -> str | None:
        # "--csv age fare" means two features and must not write a file called age.
        if path is None or path == "-" or "/" in path or os.sep in path or path.endswith(f".{name}"):
            return path
        raise click.BadParameter(
            f"{path!r} is no .{name} file. Put --{name} last to print, or name a file: --{name} {path}.{name}, "
            f"or ./{path} to have just that name."
        )

    return click.option(
        f"--{name}", f"{name}_path", type=click.Path(dir_okay=False, allow_dash=True), is_flag=False, flag_value="-",
        callback=checked, help=f"Print {what}, or write it to the .{name} file named next.",
    )  # fmt: skip


_OUTPUTS: list[Callable[[Any], Any]] = [
    click.option(
        "--plot", type=click.Path(dir_okay=False), help=f"Draw to this file: {', '.join(PICTURES)}."
    ),
    _file_option("csv", "CSV"),
    _file_option("json", "JSON"),
    _file_option("parquet", "Parquet"),
]
_FEATURES = click.option(
    "-f",
    "--feature",
    "features",
    multiple=True,
    metavar="FEATURE",
    help="Only this feature; repeat for more.",
)


def _question(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command MODEL, DATA and the shared options; call it with an Explainer."""

    @wraps(function)
    def command(model: str, data: str, **options: Any) -> Any:
        from icefield.cli.loading import refusals_explained

        options.pop("debug")  # read by `run`, before click parses
        if options["quiet"] and options["verbose"]:
            raise click.UsageError("-q and -v contradict each other: give one of them.")
        check_outputs(options, (model, data))
        explain = _prepared(model, data, options)
        with refusals_explained(explain.keywords["model"], explain.keywords["X"]):
            return function(explain(), **options)

    for option in reversed(_SHARED):
        command = option(command)
    # click applies decorators from the inside out: the outermost argument is the first on the line.
    command = click.argument("data", type=click.Path(allow_dash=True))(command)
    return click.argument("model", type=click.Path())(command)


def _with_outputs(function: Callable[..., Any]) -> Callable[..., Any]:
    for option in reversed(_OUTPUTS):
        function = option(function)
    return function


def _prepared(model: str, data: str, options: dict[str, Any]) -> partial[Any]:
    """A call that makes the Explainer, once model and data are loaded and fit each other."""
    from icefield import validate
    from icefield.cli.loading import check_numbers, load_model, read_data, rows_for, with_categories
    from icefield.data.frame import table_of

    if options["quiet"]:
        _without_progress()

    loaded = load_model(model, allow_pickle=options.pop("allow_pickle"), trust=options.pop("trust"))
    frame = with_categories(loaded, read_data(data))
    whole = table_of(frame, "DATA")
    y, by, weights = options.pop("y"), options.pop("by", None), options.pop("weights")
    for option, column in (("--y", y), ("--by", by), ("--weights", weights)):
        if column is not None:
            whole.check(column, option)
    table = rows_for(loaded, whole, y=y, weights=weights, by=by)
    check_numbers(loaded, table)
    return partial(
        _explainer,
        model=loaded,
        X=table,
        y=None if y is None else frame[y],
        # Columns kept away from the model go by their values.
        by=by if by in (None, *table.names) else frame[by],
        weights=weights if weights in table.names else validate.weights(weights, whole),
        target=_number_if_number(options.pop("target")),
        verbose=options.pop("verbose"),
        # Such columns are told apart by their number alone: the user is to see whether that went right.
        tell_columns=table is not whole and not options["quiet"],
        **{name: options.pop(name) for name in ("scale", "engine", "threads", "seed")},
    )


def _explainer(*, verbose: bool, tell_columns: bool, **settings: Any) -> Any:
    from icefield import Explainer

    explainer = Explainer(**settings)
    if tell_columns:
        columns = ", ".join(map(str, explainer.model.columns))
        click.echo(printable(f"MODEL knows no column names. It gets, in this order: {columns}"), err=True)
    if verbose:
        click.echo(
            printable(f"{explainer!r}\n{explainer.plan.engine.name} engine: {explainer.plan.why}"), err=True
        )
    return explainer


def _without_progress() -> None:
    """No bar, however long the work, until this command is over."""
    from icefield import progress

    patience = progress.PATIENCE
    progress.PATIENCE = float("inf")

    def restored() -> None:
        progress.PATIENCE = patience

    click.get_current_context().call_on_close(restored)


def _number_if_number(text: str | None) -> Any:
    """``--target 2`` means the class 2 or the position 2; a label that looks like a number is one."""
    if text is None:
        return None
    try:
        return int(text)
    except ValueError:
        return text


# --- commands ------------------------------------------------------------------------------------

_MODEL_AND_DATA = (
    "MODEL is a model file, or package.module:object, which imports that module and so runs its code. "
    "DATA is a CSV, Parquet or Feather/Arrow file, or - for standard input."
)


@main.command(epilog=_MODEL_AND_DATA)
@_question
@click.argument("features", metavar="FEATURE...", nargs=-1, required=True)
@_BY
@click.option("--grid", "grid", help="Number of points, or the values separated by commas.")
@click.option("--rows", type=int, help="Average over a sample of this many rows.")
@_with_outputs
def pd(explainer: Any, features: tuple[str, ...], grid: str | None, rows: int | None, **out: Any) -> None:
    """Partial dependence of one or several features.

    \b
    Examples:
      icefield pd model.txt titanic.csv age --by sex --plot age.png
      icefield pd model.txt titanic.csv age fare --csv -
    """
    _check_picture(features, out["plot"])
    effect = explainer.partial_dependence(*features, grid=_grid(grid, features), rows=rows)
    show(effect, **out)


@main.command(epilog=_MODEL_AND_DATA)
@_question
@click.argument("features", metavar="FEATURE...", nargs=-1, required=True)
@_BY
@click.option("--grid", "grid", help="Number of points, or the values separated by commas.")
@click.option(
    "--rows", type=int, default=200, show_default=True, help="Whose curves to keep: a sample of this size."
)
@click.option("--center", is_flag=True, help="Show the change from the first grid value.")
@_with_outputs
def ice(
    explainer: Any, features: tuple[str, ...], grid: str | None, rows: int, center: bool, **out: Any
) -> None:
    """Individual curves (ICE) of one or two features.

    \b
    Example:
      icefield ice model.txt titanic.csv age --center --plot ice.png
    """
    _check_picture(features, out["plot"])
    effect = explainer.ice(*features, grid=_grid(grid, features), rows=rows)
    effect = effect.center() if center else effect
    show(effect, table=lambda: with_groups(effect.to_frame(individual=True), explainer), **out)


@main.command(epilog=_MODEL_AND_DATA)
@_question
@click.argument("features", metavar="FEATURE...", nargs=-1, required=True)
@_BY
@click.option("--bins", type=int, help="Number of bins.")
@_with_outputs
def ale(explainer: Any, features: tuple[str, ...], bins: int | None, **out: Any) -> None:
    """Accumulated local effects of one or two features.

    \b
    Example:
      icefield ale model.txt titanic.csv age --csv -
    """
    chosen = {} if bins is None else {"bins": bins}
    show(explainer.ale(*features, **chosen), **out)


@main.command(epilog=_MODEL_AND_DATA)
@_question
@_FEATURES
@_with_outputs
def importance(explainer: Any, features: tuple[str, ...], **out: Any) -> None:
    """How much each feature moves the prediction.

    \b
    Example:
      icefield importance model.txt titanic.csv --y survived --plot importance.png
    """
    show(explainer.importance(features or None), **out)


@main.command(epilog=_MODEL_AND_DATA)
@_question
@_FEATURES
@_with_outputs
def interactions(explainer: Any, features: tuple[str, ...], **out: Any) -> None:
    """Friedman's H for every pair of features.

    \b
    Example:
      icefield interactions model.txt titanic.csv -f age -f fare -f sex --csv
    """
    show(explainer.interactions(features or None), **out)


@main.command(epilog=_MODEL_AND_DATA)
@_question
@_FEATURES
@_with_outputs
def summary(explainer: Any, features: tuple[str, ...], **out: Any) -> None:
    """Ranked features, their shapes in words, and warnings.

    \b
    Example:
      icefield summary model.json titanic.parquet
    """
    show(explainer.summary(features or None), **out)


@main.command(epilog=_MODEL_AND_DATA)
@_question
@_BY
@click.option("-o", "--output", default="report.html", show_default=True, type=click.Path(dir_okay=False))
@click.option("--js", type=click.Choice(["inline", "cdn"]), default="inline", show_default=True,
              help="'cdn' makes a small file that needs a network to open.")  # fmt: skip
@click.option("--individual", is_flag=True, help="Include a sample of rows' own curves; left out otherwise.")
@click.option("--title", help="Heading of the page.")
@_FEATURES
def report(
    explainer: Any,
    output: str,
    js: str,
    individual: bool,
    title: str | None,
    features: tuple[str, ...],
    quiet: bool,
) -> None:
    """One offline, interactive HTML file about the model.

    \b
    Example:
      icefield report model.txt flights.parquet --by origin -o report.html
    """
    explainer.report(output, js=js, individual=individual, title=title, features=features or None)
    if not quiet:
        click.echo(f"wrote {output}", err=True)


@main.command()
@click.option("--small", is_flag=True, help="A few seconds' version.")
@click.option("-o", "--output", default="demo_output", show_default=True, type=click.Path(file_okay=False))
@click.option("--debug", is_flag=True, hidden=True)
def demo(small: bool, output: str, debug: bool) -> None:
    """Fit a model on 336,776 real flights and explain it.

    \b
    Example:
      icefield demo --small -o demo_output
    """
    from icefield.cli.demo import main as demo_main

    demo_main(Path(output), small=small)


# --- showing -------------------------------------------------------------------------------------


def _grid(text: str | None, features: tuple[str, ...]) -> Any:
    """``--grid 50`` or ``--grid 0,5,10``; values apply to a single feature."""
    if text is None:
        return None
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if len(parts) == 1 and parts[0].isdigit():
        return int(parts[0])
    if len(features) > 1:
        raise InputError(
            complaint("--grid", "as values works for one feature", text, "give a number of points")
        )
    return [_value(part) for part in parts]


def _value(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _check_picture(features: tuple[str, ...], plot: str | None) -> None:
    if plot is not None and len(features) > 2:
        raise InputError(
            complaint("--plot", "draws one or two features", features, "leave it out, or use --csv")
        )
