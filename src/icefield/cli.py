"""The command line: a model file and a data file in, curves, tables, pictures and reports out.

Every command is the same few steps as in Python: load, build an `Explainer`, ask, show. Errors are
one readable block and an exit code; a traceback appears only with ``--debug``.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import click

from icefield.errors import IcefieldError, InputError, complaint, did_you_mean

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
        _complain(str(error))
        raise SystemExit(EXIT_ERROR) from None
    except Exception as error:
        if debug:
            raise
        _complain(f"Unexpected {type(error).__name__}: {error}\nRun again with --debug for the traceback.")
        raise SystemExit(EXIT_BUG) from None


def _complain(text: str) -> None:
    from rich.console import Console
    from rich.text import Text

    console = Console(stderr=True)
    console.print(Text("Error: ", style="bold red") + Text(printable(text), style=""), soft_wrap=True)


def printable(text: str) -> str:
    r"""Text without control characters: a name from a file must not steer the terminal.

    Examples
    --------
    >>> print(printable("a\x1b[31mb"))
    a\x1b[31mb
    """
    return "".join(c if c in "\n\t" or c.isprintable() else f"\\x{ord(c):02x}" for c in text)


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
    click.option("--by", help="A column: one curve per group."),
    click.option("--weights", help="A column of row weights."),
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


def _file_option(name: str, what: str) -> Callable[[Any], Any]:
    """``--csv`` alone prints, ``--csv out.csv`` writes."""
    return click.option(
        f"--{name}", f"{name}_path", type=click.Path(dir_okay=False, allow_dash=True), is_flag=False, flag_value="-",
        help=f"Print {what}, or write it to the file named next.",
    )  # fmt: skip


_OUTPUTS: list[Callable[[Any], Any]] = [
    click.option(
        "--plot", type=click.Path(dir_okay=False), help="Draw to this .png, .pdf, .svg or .html file."
    ),
    _file_option("csv", "CSV"),
    _file_option("json", "JSON"),
    _file_option("parquet", "Parquet"),
]
_FEATURES = click.option(
    "-f", "--feature", "features", multiple=True, metavar="NAME", help="Only this feature; repeat for more."
)


def _question(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command MODEL, DATA and the shared options; call it with an Explainer."""

    @wraps(function)
    def command(model: str, data: str, **options: Any) -> Any:
        options.pop("debug")  # read by `run`, before click parses
        return function(_explainer(model, data, options), **options)

    for option in reversed(_SHARED):
        command = option(command)
    # click applies decorators from the inside out: the outermost argument is the first on the line.
    command = click.argument("data", type=click.Path(allow_dash=True))(command)
    return click.argument("model", type=click.Path())(command)


def _with_outputs(function: Callable[..., Any]) -> Callable[..., Any]:
    for option in reversed(_OUTPUTS):
        function = option(function)
    return function


def _explainer(model: str, data: str, options: dict[str, Any]) -> Any:
    from icefield import Explainer
    from icefield.loading import load_model, read_data, with_categories

    if options["quiet"]:
        _without_progress()

    loaded = load_model(model, allow_pickle=options.pop("allow_pickle"), trust=options.pop("trust"))
    frame = with_categories(loaded, read_data(data))
    y = options.pop("y")
    observed = None
    if y is not None:
        if y not in list(frame.columns):
            raise InputError(
                complaint("--y", "names a column the data does not have", y, did_you_mean(y, frame.columns))
            )
        observed = frame[y]
    explainer = Explainer(
        loaded,
        frame,
        observed,
        target=_number_if_number(options.pop("target")),
        scale=options.pop("scale"),
        by=options.pop("by"),
        weights=options.pop("weights"),
        engine=options.pop("engine"),
        threads=options.pop("threads"),
        seed=options.pop("seed"),
    )
    if options.pop("verbose"):
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


@main.command()
@_question
@click.argument("features", nargs=-1, required=True)
@click.option("--grid", "grid", help="Number of points, or the values separated by commas.")
@click.option("--rows", type=int, help="Average over a sample of this many rows.")
@_with_outputs
def pd(explainer: Any, features: tuple[str, ...], grid: str | None, rows: int | None, **show: Any) -> None:
    """Partial dependence of one or several FEATURES.

    \b
    Examples:
      icefield pd model.txt titanic.csv age --by sex --plot age.png
      icefield pd model.txt titanic.csv age fare --csv -
    """
    effect = explainer.partial_dependence(*features, grid=_grid(grid, features), rows=rows)
    _show_effect(effect, **show)


@main.command()
@_question
@click.argument("features", nargs=-1, required=True)
@click.option("--grid", "grid", help="Number of points, or the values separated by commas.")
@click.option(
    "--rows", type=int, default=200, show_default=True, help="Whose curves to keep: a sample of this size."
)
@click.option("--center", is_flag=True, help="Show the change from the first grid value.")
@_with_outputs
def ice(
    explainer: Any, features: tuple[str, ...], grid: str | None, rows: int, center: bool, **show: Any
) -> None:
    """Individual curves (ICE) of one or two FEATURES.

    \b
    Example:
      icefield ice model.txt titanic.csv age --center --plot ice.png
    """
    effect = explainer.ice(*features, grid=_grid(grid, features), rows=rows)
    _show_effect(effect.center() if center else effect, individual=True, **show)


@main.command()
@_question
@click.argument("features", nargs=-1, required=True)
@click.option("--bins", type=int, help="Number of bins.")
@_with_outputs
def ale(explainer: Any, features: tuple[str, ...], bins: int | None, **show: Any) -> None:
    """Accumulated local effects of one or two FEATURES.

    \b
    Example:
      icefield ale model.txt titanic.csv age --csv -
    """
    chosen = {} if bins is None else {"bins": bins}
    _show_effect(explainer.ale(*features, **chosen), **show)


@main.command()
@_question
@_FEATURES
@_with_outputs
def importance(explainer: Any, features: tuple[str, ...], **show: Any) -> None:
    """How much each feature moves the prediction.

    \b
    Example:
      icefield importance model.txt titanic.csv --y survived --plot importance.png
    """
    _show_table(explainer.importance(features or None), **show)


@main.command()
@_question
@_FEATURES
@_with_outputs
def interactions(explainer: Any, features: tuple[str, ...], **show: Any) -> None:
    """Friedman's H for every pair of features.

    \b
    Example:
      icefield interactions model.txt titanic.csv -f age -f fare -f sex --csv
    """
    _show_table(explainer.interactions(features or None), **show)


@main.command()
@_question
@_FEATURES
@_with_outputs
def summary(explainer: Any, features: tuple[str, ...], **show: Any) -> None:
    """Ranked features, their shapes in words, and warnings.

    \b
    Example:
      icefield summary model.json titanic.parquet
    """
    _show_table(explainer.summary(features or None), **show)


@main.command()
@_question
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
    """Fit a model on 336,776 real flights and explain it."""
    from icefield.demo import main as demo_main

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


def _show_effect(
    effect: Any, *, individual: bool = False, plot: str | None, quiet: bool, **files: Any
) -> None:
    if plot is not None:
        _draw(effect, plot)
    written = _write(effect.to_frame(individual=individual), **files)
    if plot is None and not written:
        click.echo(printable(repr(effect)))
    elif not quiet:
        _say_written(plot, files)


def _show_table(table: Any, *, plot: str | None, quiet: bool, **files: Any) -> None:
    if plot is not None:
        _draw(table, plot)
    written = _write(table.to_frame(), **files)
    if plot is None and not written:
        click.echo(printable(repr(table)))
    elif not quiet:
        _say_written(plot, files)


def _draw(drawable: Any, path: str) -> None:
    if path.lower().endswith((".html", ".htm")):
        drawable.plot(backend="plotly").write_html(path)
        return
    import matplotlib

    matplotlib.use("Agg")
    drawn = drawable.plot()
    figure = drawn if hasattr(drawn, "savefig") else drawn.figure
    try:
        figure.savefig(path, dpi=150)
    except ValueError as error:
        raise InputError(
            complaint("--plot", "must end in .png, .pdf, .svg or .html", path, str(error))
        ) from error


def _write(frame: Any, csv_path: str | None, json_path: str | None, parquet_path: str | None) -> bool:
    import narwhals as nw

    table = nw.from_native(frame, eager_only=True)
    if csv_path == "-":
        click.echo(table.write_csv(), nl=False)
    elif csv_path is not None:
        table.write_csv(csv_path)
    if json_path is not None:
        text = _json_text(table.rows(named=True))
        if json_path == "-":
            click.echo(text)
        else:
            Path(json_path).write_text(text + "\n", encoding="utf-8")
    if parquet_path == "-":
        buffer = io.BytesIO()
        table.write_parquet(buffer)
        sys.stdout.buffer.write(buffer.getvalue())
    elif parquet_path is not None:
        table.write_parquet(parquet_path)
    return bool(csv_path or json_path or parquet_path)


def _json_text(rows: list[dict[str, Any]]) -> str:
    import json
    import math

    def plain(value: Any) -> Any:
        if hasattr(value, "item"):
            value = value.item()
        if isinstance(value, float) and not math.isfinite(value):
            return None
        return value

    return json.dumps([{k: plain(v) for k, v in row.items()} for row in rows], default=str, indent=1)


def _say_written(plot: str | None, files: dict[str, Any]) -> None:
    for path in (plot, *files.values()):
        if path is not None and path != "-":
            click.echo(f"wrote {path}", err=True)
