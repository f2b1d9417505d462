"""The command line: a model file and a data file in, curves, tables, pictures and reports out.

Every command is the same few steps as in Python: load, build an `Explainer`, ask, show. Errors are
one readable block and an exit code; a traceback appears only with ``--debug``.
"""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import click

from icefield import __version__
from icefield.cli.audit_commands import audit, check, expect, snapshot
from icefield.cli.help_pages import GroupedCommand
from icefield.cli.output import printable, show, show_report, with_groups
from icefield.cli.refitting import with_fit
from icefield.cli.shared_options import BY, FEATURES, list_option, output_option, question, with_outputs
from icefield.cli.shell_errors import for_shell
from icefield.errors import IcefieldError, InputError

EXIT_ERROR = 1  # something in the request cannot be done; click itself uses 2 for wrong usage
EXIT_BUG = 3
EXIT_INTERRUPTED = 130


def run(arguments: list[str] | None = None) -> None:
    """Entry point of the ``icefield`` command."""
    debug = "--debug" in (sys.argv if arguments is None else arguments)
    try:
        code = main(args=arguments, standalone_mode=False)
    except click.exceptions.Exit as stop:
        raise SystemExit(stop.exit_code) from None
    except click.ClickException as error:
        error.show()
        raise SystemExit(error.exit_code) from None
    except (click.exceptions.Abort, KeyboardInterrupt):
        _print_error("Interrupted.")
        raise SystemExit(EXIT_INTERRUPTED) from None
    except BrokenPipeError:
        # The reader has seen enough; what is left in the buffer has nowhere to go.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(0) from None
    except (IcefieldError, OSError) as error:
        if debug:
            raise
        _print_error(for_shell(error))
        raise SystemExit(EXIT_ERROR) from None
    except Exception as error:
        if debug:
            raise
        _print_error(f"Unexpected {type(error).__name__}: {error}\nRun again with --debug for the traceback.")
        raise SystemExit(EXIT_BUG) from None
    if isinstance(code, int) and code:  # an audit or a check that found something
        raise SystemExit(code)


def _print_error(text: str) -> None:
    from rich.console import Console
    from rich.text import Text

    # rich keeps bold where NO_COLOR is set; who asks for no colour wants plain text.
    style = "" if os.environ.get("NO_COLOR") else "bold red"
    Console(stderr=True).print(Text.assemble(("Error: ", style), printable(text)), soft_wrap=True)


class _Commands(click.Group):
    """Commands, each listed with its whole first paragraph; their options are grouped by subject."""

    command_class = GroupedCommand

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        texts = {name: inspect.cleandoc(self.commands[name].help or "") for name in self.list_commands(ctx)}
        with formatter.section("Commands"):
            formatter.write_dl([(name, text.split("\n\n")[0]) for name, text in texts.items()])


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="icefield")
def main() -> None:
    """How a fitted model responds to its features.

    MODEL is a LightGBM .txt, XGBoost .json/.ubj, CatBoost .cbm/.json, ONNX or skops file, a pickle (only with
    --allow-pickle), or package.module:object, which imports, and so runs, that module. DATA is a CSV, Parquet or
    Feather/Arrow file, or - for standard input; a folder, a glob, several files, a URL (s3://, gs://, abfs://, https://) and a Delta or
    Iceberg table are streamed.

    \b
    Examples:
      icefield demo
      icefield report model.txt flights.parquet -o report.html
      icefield pd model.txt titanic.csv age --by sex --plot age.png
      icefield summary model.json data.csv
      cat data.csv | icefield importance model.cbm - --csv

    \b
    Exit codes: 0 done, 1 the request cannot be done, 2 wrong usage, 3 a bug, 4 a requirement of an audit or a check
    does not hold, 5 an audit left one undecided, 130 interrupted.
    Completion in bash: eval "$(_ICEFIELD_COMPLETE=bash_source icefield)"; zsh and fish likewise.
    """


# --- commands ------------------------------------------------------------------------------------


def _page(_: click.Context, __: click.Parameter, path: str | None) -> str | None:
    """The path of a report; an error for a picture or a PDF, before anything is loaded."""
    if path is None or Path(path).suffix.lower() in (".html", ".htm", ""):
        return path
    raise click.BadParameter(
        f"{path!r} is no .html file. A report is a page: write -o {Path(path).with_suffix('.html')}; a browser prints it to PDF."
    )


_MODEL_AND_DATA = (
    "MODEL is a model file, or package.module:object, which imports that module and so runs its code. "
    "DATA is a CSV, Parquet or Feather/Arrow file, or - for standard input; a folder, a glob, several files and a URL are streamed."
)


_with = partial(list_option, "--with", "other_models", metavar="[NAME=]MODEL")


def _question(function: Callable[..., Any]) -> Any:
    """A command that is asked of MODEL and DATA."""
    return main.command(epilog=_MODEL_AND_DATA)(question(function))


@_question
@click.argument("features", metavar="FEATURE...", nargs=-1, required=True)
@BY
@click.option("--grid", "grid", help="Number of points, or the values separated by commas.")
@click.option("--rows", type=int, help="Average over a random sample of this many rows.")
@with_fit
@with_outputs
def pd(explainer: Any, features: tuple[str, ...], grid: str | None, rows: int | None, **out: Any) -> None:
    """Partial dependence of one or several features.

    \b
    Examples:
      icefield pd model.txt titanic.csv age --by sex --plot age.png
      icefield pd model.txt titanic.csv age fare --csv -
    """
    _check_picture(features, out["plot"])
    effect = explainer.partial_dependence(*features, grid=_grid(grid, features, explainer), rows=rows)
    show(effect, record=explainer.record, **out)


@_question
@click.argument("features", metavar="FEATURE...", nargs=-1, required=True)
@BY
@click.option("--grid", "grid", help="Number of points, or the values separated by commas.")
@click.option("--rows", type=int, default=200, show_default=True,
              help="Number of ICE curves to keep, for a random sample of rows.")  # fmt: skip
@click.option("--center", is_flag=True, help="Show the change from the first grid value.")
@with_fit
@with_outputs
def ice(
    explainer: Any, features: tuple[str, ...], grid: str | None, rows: int, center: bool, **out: Any
) -> None:
    """Individual curves (ICE) of one or two features.

    \b
    Example:
      icefield ice model.txt titanic.csv age --center --plot ice.png
    """
    _check_picture(features, out["plot"])
    effect = explainer.ice(*features, grid=_grid(grid, features, explainer), rows=rows)
    effect = effect.center() if center else effect
    table = partial(effect.to_frame, individual=True)
    show(effect, table=lambda: with_groups(table(), explainer), record=explainer.record, **out)


@_question
@click.argument("features", metavar="FEATURE...", nargs=-1, required=True)
@BY
@click.option("--bins", type=int, help="Number of bins.")
@with_fit
@with_outputs
def ale(explainer: Any, features: tuple[str, ...], bins: int | None, **out: Any) -> None:
    """Accumulated local effects of one or two features.

    \b
    Example:
      icefield ale model.txt titanic.csv age --csv -
    """
    options = {} if bins is None else {"bins": bins}
    show(explainer.ale(*features, **options), record=explainer.record, **out)


@_question
@click.argument("features", metavar="[FEATURE...]", nargs=-1)
@output_option(
    "Write a report of what changed between the models; needs no FEATURE.",
    metavar="FILE.html",
    callback=_page,
)
@_with(required=True, help="Another model, named after its file or by NAME")
@click.option("--grid", "grid", help="Number of points, or the values separated by commas.")
@click.option("--rows", type=int, help="Average over a random sample of this many rows.")
@with_outputs
def compare(
    explainers: dict[str, Any],
    features: tuple[str, ...],
    output: str | None,
    grid: str | None,
    rows: int | None,
    **out: Any,
) -> None:
    """Two or more models side by side: partial dependence of features, or with -o a report of what changed.

    \b
    Examples:
      icefield compare old.txt flights.parquet departure --with new.txt --plot both.png
      icefield compare old.txt flights.parquet --with new.txt -o changes.html
    """
    from icefield.compare import compare as compare_models

    models = compare_models(explainers)
    if output is not None:
        show_report(models.report(features=features or None, rows=rows), output, out["quiet"])
        return
    if not features:
        raise click.UsageError(
            "Name a FEATURE to compare, or write a report of all of them: -o changes.html."
        )
    _check_picture(features, out["plot"])
    points = _grid(grid, features, next(iter(explainers.values())))
    show(models.partial_dependence(*features, grid=points, rows=rows), **out)


_LEVEL = click.option("--level", type=click.FloatRange(0, 1, min_open=True, max_open=True),
                      help="Confidence level of the intervals (default: 0.95, and 0.9 with --fit).")  # fmt: skip
_GIVEN = click.option(
    "--given", multiple=True, metavar="COLUMN",
    help="A column that a causal interpretation adjusts for; repeat for more. A note names the columns left out.",
)  # fmt: skip


@_question
@click.argument("feature", metavar="FEATURE")
@click.option("--from", "start", metavar="VALUE",
              help="Set the feature to this value first, in all rows; default: each row's own value.")  # fmt: skip
@click.option("--to", "end", metavar="VALUE", help="Then set it to this value, in all rows.")
@click.option("--plus", type=float, help="Add this to each row's own value.")
@click.option("--times", type=float, help="Multiply each row's own value by this.")
@BY
@_GIVEN
@_LEVEL
@click.option("--rows", type=int, help="Average over a random sample of this many rows.")
@with_fit
@with_outputs
def change(
    explainer: Any,
    feature: str,
    start: str | None,
    end: str | None,
    plus: float | None,
    times: float | None,
    given: tuple[str, ...],
    level: float | None,
    rows: int | None,
    **out: Any,
) -> None:
    """How predictions change when a feature changes by a stated amount: mean, standard error and spread over rows.

    \b
    Examples:
      icefield change model.txt titanic.csv age --from 30 --to 50 --by sex
      icefield change model.txt titanic.csv fare --plus 10 --csv -
      icefield change model.skops titanic.csv age --from 30 --to 50 --fit model.skops --y survived --plot age.png
    """
    values = [... if text is None else _single_value(explainer, feature, text) for text in (start, end)]
    table = explainer.change(feature, *values, plus=_whole(plus), times=times, **_common(given, level, rows))
    show(table, record=explainer.record, **out)


@_question
@click.argument("feature", metavar="FEATURE")
@click.option("--step", type=float, help="Step of the central difference, in units of the feature.")
@BY
@_GIVEN
@_LEVEL
@click.option("--rows", type=int, help="Average over a random sample of this many rows.")
@with_fit
@with_outputs
def slope(
    explainer: Any,
    feature: str,
    step: float | None,
    given: tuple[str, ...],
    level: float | None,
    rows: int | None,
    **out: Any,
) -> None:
    """The average slope of predictions along a feature, at rows' own values.

    \b
    Example:
      icefield slope model.txt titanic.csv age --by sex
    """
    table = explainer.slope(feature, step=_whole(step), **_common(given, level, rows))
    show(table, record=explainer.record, **out)


@_question
@FEATURES
@with_fit
@with_outputs
def importance(explainer: Any, features: tuple[str, ...], **out: Any) -> None:
    """Features ranked by how far predictions move with them.

    \b
    Example:
      icefield importance model.txt titanic.csv --y survived --plot importance.png
    """
    show(explainer.importance(features or None), record=explainer.record, **out)


@_question
@FEATURES
@with_fit
@with_outputs
def interactions(explainer: Any, features: tuple[str, ...], **out: Any) -> None:
    """Friedman's H for every pair of features.

    \b
    Example:
      icefield interactions model.txt titanic.csv -f age -f fare -f sex --csv
    """
    show(explainer.interactions(features or None), record=explainer.record, **out)


@_question
@click.argument("feature", metavar="FEATURE")
@click.option("--depth", type=int, default=2, show_default=True, help="Levels of splits.")
@with_outputs
def regions(explainer: Any, feature: str, depth: int, **out: Any) -> None:
    """Subgroups of rows that respond alike to a feature, as rules on other features.

    \b
    Example:
      icefield regions model.txt bikes.csv temp --plot regions.png
    """
    show(explainer.regions(feature, depth=depth), record=explainer.record, **out)


@_question
@FEATURES
@with_outputs
def summary(explainer: Any, features: tuple[str, ...], **out: Any) -> None:
    """Features ranked by importance, each described in words, with warnings.

    \b
    Example:
      icefield summary model.json titanic.parquet
    """
    show(explainer.summary(features or None), record=explainer.record, **out)


@_question
@BY
@output_option("Where to write the page.", default="report.html", callback=_page)
@click.option(
    "--individual",
    is_flag=True,
    help="Include ICE curves of a sample of rows (default: averages and quantiles only).",
)
@click.option(
    "--live",
    is_flag=True,
    help="Embed the model and five rows, so that a row can be changed in the page, offline.",
)
@click.option(
    "--release", type=int, metavar="K",
    help="For publishing: show no value that fewer than K rows have; numbers are rounded, rare levels merged.",
)  # fmt: skip
@click.option("--title", help="Heading of the page.")
@FEATURES
@with_fit
def report(
    explainer: Any,
    output: str,
    individual: bool,
    live: bool,
    release: int | None,
    title: str | None,
    features: tuple[str, ...],
    quiet: bool,
) -> None:
    """One offline, interactive HTML file about the model; with --y also how well it fits. Its findings are printed.

    \b
    Example:
      icefield report model.txt flights.parquet --y delay --by origin -o report.html
    """
    page = explainer.report(
        individual=individual, title=title, features=features or None, live=live, release=release
    )
    show_report(page, output, quiet)


@_question
@_with(help="Another model to compare with, named after its file or by NAME")
@click.option(
    "--host", default="127.0.0.1", show_default=True, help="Where to listen; this machine only by default."
)
@click.option(
    "--port", type=click.IntRange(0, 65535), default=0, show_default=True, help="0 takes any free port."
)
@click.option("--title", help="Heading of the page.")
@click.option("--no-rows", is_flag=True, help="Show averages only: no single rows, no what-if.")
@click.option("--no-browser", is_flag=True, help="Print the address only.")
def serve(
    explainer: Any, host: str, port: int, title: str | None, no_rows: bool, no_browser: bool, quiet: bool
) -> None:
    """The live explorer in a browser: brush rows, drag values, see the curves change.

    Its address contains a secret, new at each start; with --port and the variable ICEFIELD_TOKEN it survives restarts.

    \b
    Example:
      icefield serve model.txt flights.parquet --y delay
    """
    explainers = explainer if isinstance(explainer, dict) else {"": explainer}
    first, *rest = explainers.values()
    beside = dict(zip(list(explainers)[1:], rest))
    first.serve(beside=beside, title=title, rows=not no_rows, host=host, port=port, browser=not no_browser)


@main.command()
@click.option("--small", is_flag=True, help="Use fewer flights and trees; takes a few seconds.")
@click.option(
    "--serve", "served", is_flag=True, help="Open the live explorer on the model instead of a report."
)
@click.option("--timings", is_flag=True, help="Also time every kind of result, relative to one predict.")
@output_option("Folder for the report.", folder=True, default="demo_output")
@click.option("--debug", is_flag=True, hidden=True)
def demo(small: bool, served: bool, timings: bool, output: str, debug: bool) -> None:
    """Fit a model on 336,776 real flights and explain it.

    \b
    Example:
      icefield demo --small -o demo_output
    """
    from icefield.cli.demo import main as demo_main

    demo_main(Path(output), small=small, timings=timings, serve=served)


for command in (audit, expect, check, snapshot):
    main.add_command(command)


# --- what the line gives -------------------------------------------------------------------------


def _grid(text: str | None, features: tuple[str, ...], explainer: Any) -> Any:
    """``--grid 50`` or ``--grid 0,5,10``; values apply to a single feature, levels are those so written."""
    if text is None:
        return None
    parts = [part.strip() for part in text.split(",") if part.strip()]
    levels = _levels(explainer, features[0]) if len(features) == 1 else {}
    if len(parts) == 1 and parts[0].isdigit() and parts[0] not in levels:
        return int(parts[0])
    if len(features) > 1:
        raise InputError.about("--grid", "as values works for one feature", text, "give a number of points")
    return [levels.get(part, part if levels else _value(part)) for part in parts]


def _single_value(explainer: Any, feature: str, text: str) -> Any:
    """One value of a feature as it is written on the line."""
    levels = _levels(explainer, feature)
    return levels.get(text, text if levels else _value(text))


def _whole(number: float | None) -> float | int | None:
    """A number as an int where it is whole: columns of integers take no fractions."""
    return int(number) if number is not None and number.is_integer() else number


def _common(adjusted: tuple[str, ...], level: float | None, rows: int | None) -> dict[str, Any]:
    """The keywords that changes and slopes share; without a level, an Explainer and Refits use their own default."""
    return {"given": list(adjusted) or None, "rows": rows} | ({} if level is None else {"level": level})


def _levels(explainer: Any, feature: str) -> dict[str, Any]:
    """The levels of a feature of categories, by how they are written; empty for others."""
    if feature not in explainer.table.names:
        return {}  # the Explainer says so
    column = explainer.table.column(feature)
    return {str(level): level for level in column.levels.tolist()} if column.kind == "categorical" else {}


def _value(text: str) -> Any:
    for kind in (int, float):
        with suppress(ValueError):
            return kind(text)
    return text


def _check_picture(features: tuple[str, ...], plot: str | None) -> None:
    if plot is not None and len(features) > 2:
        raise InputError.about("--plot", "draws one or two features", features, "leave it out, or use --csv")
