"""Commands for pipelines: audits and contracts, whose exit codes say what was found."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from icefield.cli.asking import BY, FEATURES, question, with_outputs
from icefield.cli.help_pages import GroupedCommand
from icefield.cli.output import aloud, printable, show
from icefield.errors import InputError, complaint

EXIT_BROKEN = 4  # something that was asked for does not hold
EXIT_UNDECIDED = 5  # nothing is known to be broken, and not everything was decided
_MODEL_AND_DATA = (
    "MODEL is a model file, or package.module:object, which imports that module and so runs its code. "
    "DATA is a CSV, Parquet or Feather/Arrow file, or - for standard input."
)
_FOUND = f"{_MODEL_AND_DATA} Exit codes: 0 all requirements hold, 4 at least one does not, 5 at least one is undecided, 1 the request cannot be done."
SECONDS = click.option(
    "--time", "seconds", type=click.FloatRange(min=0), default=10.0, show_default=True, metavar="SECONDS",
    help="Time limit for the statements about every possible input.",
)  # fmt: skip


def _print(text: str) -> None:
    with aloud():
        click.echo(printable(text))


def _say(path: str, quiet: bool) -> None:
    if not quiet:
        click.echo(f"wrote {path}", err=True)


def _write_text(text: str, path: str, quiet: bool) -> None:
    """To a file, or for ``-`` to standard output."""
    if path == "-":
        _print(text.rstrip("\n"))
        return
    from icefield.effect.whole_files import written_beside

    with written_beside(path) as file:
        file.write_text(text, encoding="utf-8", newline="\n")
    _say(path, quiet)


@click.command(cls=GroupedCommand, epilog=_FOUND)
@question
@FEATURES
@BY
@click.option(
    "--increasing",
    multiple=True,
    metavar="FEATURE",
    help="Predictions must never fall along it; repeat for more.",
)
@click.option(
    "--decreasing",
    multiple=True,
    metavar="FEATURE",
    help="Predictions must never rise along it; repeat for more.",
)
@click.option(
    "--undeclared", is_flag=True, help="Do not test the monotone constraints that the model was fitted with."
)
@click.option("--rows-only", is_flag=True, help="Test the given rows only, not every possible input.")
@SECONDS
@click.option(
    "--flips",
    multiple=True,
    metavar="COLUMN",
    help="How many predictions change when only this column changes; repeat for more.",
)
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
    found = explainer.audit(
        features or None, increasing=increasing, decreasing=decreasing, declared=not undeclared, everywhere=not rows_only,
        seconds=seconds, flips=flips or None, threshold=threshold, bounds=bounds,
    )  # fmt: skip
    document = out.pop("json_path")
    if document is not None:
        _write_text(json.dumps(found.document, indent=1, ensure_ascii=False), document, out["quiet"])
    if document is None or any(value for key, value in out.items() if key != "quiet"):
        show(found, json_path=None, **out)
    if document != "-" and out["csv_path"] != "-" and out["parquet_path"] != "-":
        for line in (*found.failures, *(f"not decided: {one}" for one in found.undecided)):
            _print(line)
        for example in found.examples:
            _print(f"  {example}")
    if not found.ok:
        raise click.exceptions.Exit(EXIT_BROKEN)
    if found.undecided:
        raise click.exceptions.Exit(EXIT_UNDECIDED)


@click.command(cls=GroupedCommand, epilog=_MODEL_AND_DATA)
@question
@FEATURES
@SECONDS
@click.option(
    "-o",
    "--output",
    default="-",
    show_default=True,
    type=click.Path(dir_okay=False, allow_dash=True),
    help="Where to write; - is stdout.",
)
def expect(explainer: Any, features: tuple[str, ...], seconds: float, output: str, quiet: bool) -> None:
    """Draft a file of expectations from what holds now.

    \b
    Example:
      icefield expect model.txt loans.csv > expectations.toml
    """
    _write_text(explainer.expectations(features or None, seconds=seconds), output, quiet)


def _expectations(_: click.Context, __: click.Parameter, path: str | None) -> Any:
    """The file of expectations, read before the model is: what is wrong with it is said at once."""
    from icefield.audit.expectations import read_expectations

    return None if path is None else read_expectations(path)


@click.command(cls=GroupedCommand, epilog=_FOUND)
@question
@click.argument("expectations", required=False, type=click.Path(), callback=_expectations)
@click.option(
    "--against",
    type=click.Path(),
    metavar="FOLDER",
    help="A folder of effects that `icefield snapshot` wrote.",
)
@SECONDS
@click.option(
    "--json",
    "json_path",
    type=click.Path(dir_okay=False, allow_dash=True),
    is_flag=False,
    flag_value="-",
    help="Write JSON to FILE, or to stdout.",
)
@click.option(
    "--junit", type=click.Path(dir_okay=False), metavar="FILE", help="Write JUnit XML for a CI system."
)
@click.option(
    "--html", type=click.Path(dir_okay=False), metavar="FILE", help="Write the result as an HTML page."
)
def check(
    explainer: Any,
    expectations: Any,
    against: str | None,
    seconds: float,
    json_path: str | None,
    junit: str | None,
    html: str | None,
    quiet: bool,
) -> None:  # fmt: skip
    """Hold a model to expectations, to the effects of an earlier model, or to both.

    \b
    Examples:
      icefield check model.txt loans.csv expectations.toml --junit check.xml
      icefield check new.txt loans.csv --against effects/
    """
    from icefield.audit.contracts import check as checked

    if expectations is None and against is None:
        raise InputError(
            complaint(
                "EXPECTATIONS",
                "must be a file, unless --against names a folder",
                ...,
                "draft one with: icefield expect MODEL DATA",
            )
        )
    found = checked(explainer, expectations, against=against, seconds=seconds)
    for path, text in ((junit, found.to_junit), (html, found.to_html)):
        if path is not None:
            text(path)
            _say(path, quiet)
    if json_path is not None:
        _write_text(found.to_json() or "", json_path, quiet)
    if json_path != "-":
        _print(repr(found))
        for one in found.failures:
            _print(
                f"FAIL {one.feature} {one.expectation}: expected {one.expected}, found {one.found}. {one.detail}".rstrip()
            )
    if not found.ok:
        raise click.exceptions.Exit(EXIT_BROKEN)


@click.command(cls=GroupedCommand, epilog=_MODEL_AND_DATA)
@question
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(file_okay=False),
    metavar="FOLDER",
    help="Where to write.",
)
@click.option(
    "--refit",
    "refits",
    multiple=True,
    metavar="MODEL",
    help="The same model refitted to other data, to estimate noise; repeat for more.",
)
@click.option(
    "--refits",
    "made",
    type=click.IntRange(min=2),
    metavar="N",
    help="Number of refits to make on halves of DATA instead; needs --y and a MODEL that can be fitted (a pickle, or package.module:object).",
)
def snapshot(explainer: Any, output: str, refits: tuple[str, ...], made: int | None, quiet: bool) -> None:
    """Write the model's effects to a folder of small files, to check the next model against.

    \b
    Examples:
      icefield snapshot model.txt loans.csv -o effects/ --refit refit1.txt --refit refit2.txt
      icefield snapshot mymodels:fitted loans.csv -o effects/ --y default --refits 10
    """
    from icefield.cli import loading

    if refits and made is not None:
        raise click.UsageError(
            "--refit and --refits contradict each other: give fitted models, or how many to make."
        )
    given = click.get_current_context().params
    models = [
        loading.load_model(path, allow_pickle=given["allow_pickle"], trust=given["trust"]) for path in refits
    ]
    explainer.snapshot(Path(output), refits=models or made)
    _say(output, quiet)
