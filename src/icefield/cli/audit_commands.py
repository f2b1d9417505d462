"""Commands for pipelines: audits and contracts, whose exit codes say what was found."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from icefield.cli.help_pages import GroupedCommand
from icefield.cli.output import print_lines, print_written, show
from icefield.cli.shared_options import BY, FEATURES, list_option, output_option, question, with_outputs
from icefield.errors import InputError

EXIT_BROKEN = 4  # something that was asked for does not hold
EXIT_UNDECIDED = 5  # nothing is known to be broken, and not everything was decided
_MODEL_AND_DATA = (
    "MODEL is a model file, or package.module:object, which imports that module and so runs its code. "
    "DATA is a CSV, Parquet or Feather/Arrow file, or - for standard input."
)
_EXIT_CODES = f"{_MODEL_AND_DATA} Exit codes: 0 all requirements hold, 4 at least one does not, 5 at least one is undecided, 1 the request cannot be done."
SECONDS = click.option(
    "--time", "seconds", type=click.FloatRange(min=0), default=10.0, show_default=True, metavar="SECONDS",
    help="Time limit for the statements about every possible input.",
)  # fmt: skip


TO_FILE = click.Path(dir_okay=False)


def _question(epilog: str) -> Callable[[Callable[..., Any]], Any]:
    return lambda function: click.command(cls=GroupedCommand, epilog=epilog)(question(function))


def _write_text(text: str, path: str, quiet: bool) -> None:
    """To a file, or for ``-`` to standard output."""
    if path == "-":
        print_lines(text.rstrip("\n"))
        return
    from icefield.effect.whole_files import atomic_write

    with atomic_write(path) as file:
        file.write_text(text, encoding="utf-8", newline="\n")
    print_written(quiet, path)


@_question(_EXIT_CODES)
@FEATURES
@BY
@list_option("--increasing", help="Predictions must never fall along it")
@list_option("--decreasing", help="Predictions must never rise along it")
@click.option(
    "--undeclared", is_flag=True, help="Do not test the monotone constraints that the model was fitted with."
)
@click.option("--rows-only", is_flag=True, help="Test the given rows only, not every possible input.")
@SECONDS
@list_option("--flips", metavar="COLUMN", help="How many predictions change when only this column changes")
@click.option(
    "--threshold", type=float, help="Predictions of at least this count as positive decisions, for --flips."
)
@click.option("--bounds", is_flag=True, help="The lowest and the highest possible prediction.")
@with_outputs
def audit(
    explainer: Any,
    features: tuple[str, ...],
    increasing: tuple[str, ...],
    decreasing: tuple[str, ...],
    undeclared: bool,
    rows_only: bool,
    seconds: float,
    flips: tuple[str, ...],
    threshold: float | None,
    bounds: bool,
    **out: Any,
) -> None:
    """Whether predictions only rise or fall along features: with a proof, or with a row that shows they do not.

    \b
    Example:
      icefield audit model.txt loans.csv --increasing income --decreasing debt --time 60
    """
    result = explainer.audit(
        features or None, increasing=increasing, decreasing=decreasing, declared=not undeclared, everywhere=not rows_only,
        seconds=seconds, flips=flips or None, threshold=threshold, bounds=bounds,
    )  # fmt: skip
    document = out.pop("json_path")
    if document is not None:
        _write_text(json.dumps(result.document, indent=1, ensure_ascii=False), document, out["quiet"])
    if document is None or any(value for key, value in out.items() if key != "quiet"):
        show(result, json_path=None, **out)
    if document != "-" and out["csv_path"] != "-" and out["parquet_path"] != "-":
        print_lines(*result.failures, *(f"not decided: {statement}" for statement in result.undecided))
        print_lines(*(f"  {example}" for example in result.examples))
    if not result.ok:
        raise click.exceptions.Exit(EXIT_BROKEN)
    if result.undecided:
        raise click.exceptions.Exit(EXIT_UNDECIDED)


@_question(_MODEL_AND_DATA)
@FEATURES
@SECONDS
@output_option("Where to write; - is stdout.", default="-")
def expect(explainer: Any, features: tuple[str, ...], seconds: float, output: str, quiet: bool) -> None:
    """Draft a file of expectations from how the model behaves now.

    \b
    Example:
      icefield expect model.txt loans.csv > expectations.toml
    """
    _write_text(explainer.expectations(features or None, seconds=seconds), output, quiet)


def _expectations(_: click.Context, __: click.Parameter, path: str | None) -> Any:
    """The file of expectations, read before the model is: what is wrong with it is said at once."""
    from icefield.audit.expectations import read_expectations

    return None if path is None else read_expectations(path)


@_question(_EXIT_CODES)
@click.argument("expectations", required=False, type=click.Path(), callback=_expectations)
@click.option(
    "--against",
    type=click.Path(),
    metavar="FOLDER",
    help="A folder of effects that `icefield snapshot` wrote.",
)
@SECONDS
@click.option("--json", "json_path", type=click.Path(dir_okay=False, allow_dash=True), is_flag=False, flag_value="-",
              help="Write JSON to FILE, or to stdout.")  # fmt: skip
@click.option("--junit", type=TO_FILE, metavar="FILE", help="Write JUnit XML for a CI system.")
@click.option("--html", type=TO_FILE, metavar="FILE", help="Write the result as an HTML page.")
def check(
    explainer: Any,
    expectations: Any,
    against: str | None,
    seconds: float,
    json_path: str | None,
    junit: str | None,
    html: str | None,
    quiet: bool,
) -> None:
    """Check a model against expectations, the effects of an earlier model, or both.

    \b
    Examples:
      icefield check model.txt loans.csv expectations.toml --junit check.xml
      icefield check new.txt loans.csv --against effects/
    """
    from icefield.audit.checking import check as run_check

    if expectations is None and against is None:
        problem = "must be a file, unless --against names a folder"
        raise InputError.about("EXPECTATIONS", problem, ..., "draft one with: icefield expect MODEL DATA")
    result = run_check(explainer, expectations, against=against, seconds=seconds)
    for path, text in ((junit, result.to_junit), (html, result.to_html)):
        if path is not None:
            text(path)
            print_written(quiet, path)
    if json_path is not None:
        _write_text(result.to_json() or "", json_path, quiet)
    if json_path != "-":
        print_lines(repr(result), *(f"FAIL {failure}" for failure in result.failures))
    if not result.ok:
        raise click.exceptions.Exit(EXIT_BROKEN)


@_question(_MODEL_AND_DATA)
@output_option("Where to write.", folder=True, required=True, metavar="FOLDER")
@list_option(
    "--refit", "refits", metavar="MODEL", help="The same model refitted to other data, to estimate noise"
)
@click.option("--refits", "n", type=click.IntRange(min=2), metavar="N",
              help="Number of refits to make on halves of DATA instead; needs --y and a MODEL that can be fitted (a pickle, or package.module:object).")  # fmt: skip
def snapshot(explainer: Any, output: str, refits: tuple[str, ...], n: int | None, quiet: bool) -> None:
    """Write the model's effects to a folder of small files, to check the next model against.

    \b
    Examples:
      icefield snapshot model.txt loans.csv -o effects/ --refit refit1.txt --refit refit2.txt
      icefield snapshot mymodels:fitted loans.csv -o effects/ --y default --refits 10
    """
    from icefield.cli import loading

    if refits and n is not None:
        raise click.UsageError(
            "--refit and --refits contradict each other: give fitted models, or how many to make."
        )
    options = click.get_current_context().params
    safety = {name: options[name] for name in ("allow_pickle", "trust")}
    models = [loading.load_model(path, **safety) for path in refits]
    explainer.snapshot(Path(output), refits=models or n)
    print_written(quiet, output)
