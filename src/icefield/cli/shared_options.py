"""What every question of the command line shares: MODEL, DATA and options in, an Explainer out.

`question` gives a command these arguments and calls it with the Explainer they make; `with_outputs` adds where the
answer goes. What cannot be written, and what does not fit together, is refused before anything is computed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import partial, wraps
from typing import Any

import click

from icefield.cli.missing import NO_NUMBER, MissingCells
from icefield.cli.name_options import named_models
from icefield.cli.output import PICTURES, check_outputs, printable, stdout_for_answers
from icefield.cli.refitting import refitting

_SHARED: list[Callable[[Any], Any]] = [
    click.option("--target", help="Class label or output name, else a position; 'all' for every output."),
    click.option("--scale", type=click.Choice(["response", "raw"]), default="response", show_default=True,
                 help="Predictions, or the margin before the link function."),
    click.option("--missing", multiple=True, metavar="TEXT",
                 help="Text in DATA that marks a missing value; repeat for more. Empty cells are always missing. "
                 f"Without this option, so are {', '.join(NO_NUMBER)}, in columns of numbers only."),
    click.option("--weights", metavar="COLUMN", help="Column of row weights."),
    click.option("--cluster", metavar="COLUMN", help="Rows with the same value of this column count as one observation in standard errors."),
    click.option("--y", "y", metavar="COLUMN", help="Column of observed targets."),
    click.option("--name", "names", multiple=True, metavar="COLUMN=TEXT",
                 help="What a column is called, or with COLUMN[VALUE]=TEXT one of its values; repeat for more."),
    click.option("--unit", "units", multiple=True, metavar="COLUMN=UNIT",
                 help="Unit of a column, or of --target-name: km, month, weekday, 'time of day', code; repeat for more."),
    click.option("--target-name", metavar="TEXT", help="What is predicted, for sentences and axes."),
    click.option("--engine", type=click.Choice(["auto", "trees", "gpu", "brute"]), default="auto", show_default=True,
                 help="How averages are computed. All engines give the same numbers; 'auto' takes the fastest."),
    click.option("--row-by-row", is_flag=True,
                 help="Declare that the model predicts each row independently of the others; streams of an unknown model need it."),
    click.option("--checkpoint", type=click.Path(dir_okay=False), metavar="FILE",
                 help="File to resume a long run over several files from, after an interruption."),
    click.option("--storage-option", "storage_options", multiple=True, metavar="NAME=VALUE",
                 help="How the store of a URL is reached, such as endpoint_url=http://host:9000; repeat for more. Credentials are better "
                 "left to the environment: other users of a machine can see command lines."),
    click.option("--on", type=click.Choice(["spark", "dask", "ray"]),
                 help="Start this engine on this machine, let it read the Parquet files of DATA, and stop it at the end."),
    click.option("--threads", type=click.IntRange(min=1), help="How many threads."),
    click.option("--seed", type=int, default=0, show_default=True, help="Seed of all random samples."),
    click.option("--allow-pickle", is_flag=True, help="Load pickle and joblib files. They can run any code."),
    click.option("--trust", multiple=True, metavar="TYPE", help="Another type that a skops file may contain."),
    click.option("-q", "--quiet", is_flag=True, help="Print results and errors only."),
    click.option("-v", "--verbose", is_flag=True, help="Say which engine was used and why."),
    click.option("--debug", is_flag=True, help="Show the traceback of an error."),
]  # fmt: skip


_PLAIN = (
    "scale",
    "engine",
    "threads",
    "seed",
    "row_by_row",
    "target_name",
    "verbose",
)  # which are taken as they are
BY = click.option("--by", metavar="COLUMN", help="One curve per value of this column.")


def _file_option(name: str, what: str) -> Callable[[Any], Any]:
    """``--csv`` alone prints, ``--csv out.csv`` writes."""

    def check_path(_: click.Context, __: click.Parameter, path: str | None) -> str | None:
        # "--csv age fare" means two features and must not write a file called age.
        if path is None or path == "-" or "/" in path or os.sep in path or path.endswith(f".{name}"):
            return path
        raise click.BadParameter(
            f"{path!r} is no .{name} file. Put --{name} last to print, or name a file: --{name} {path}.{name}, "
            f"or ./{path} to have just that name."
        )

    return click.option(
        f"--{name}", f"{name}_path", type=click.Path(dir_okay=False, allow_dash=True), is_flag=False, flag_value="-",
        callback=check_path, help=f"Write {what} to FILE.{name}, or to stdout.",
    )  # fmt: skip


_OUTPUTS: list[Callable[[Any], Any]] = [
    click.option(
        "--plot", type=click.Path(dir_okay=False), help=f"Draw to this file: {', '.join(PICTURES)}."
    ),
    _file_option("csv", "CSV"),
    _file_option("json", "JSON"),
    _file_option("parquet", "Parquet"),
]


def list_option(
    *names: str, help: str, metavar: str = "FEATURE", required: bool = False
) -> Callable[[Any], Any]:
    """An option that may be given several times."""
    return click.option(
        *names, multiple=True, metavar=metavar, required=required, help=f"{help}; repeat for more."
    )


def output_option(help: str, folder: bool = False, **more: Any) -> Callable[[Any], Any]:
    """``-o``: the one file or folder that a command writes."""
    default = more.get("default")
    kind = click.Path(file_okay=not folder, dir_okay=folder, allow_dash=default == "-")
    return click.option("-o", "--output", type=kind, help=help, show_default=default is not None, **more)


FEATURES = list_option("-f", "--feature", "features", help="Only this feature")


def question(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command MODEL, DATA and the shared options; call it with an Explainer."""

    @wraps(function)
    def command(model: str, data: str, **options: Any) -> Any:
        with stdout_for_answers():
            return run_question(model, data, options)

    def run_question(model: str, data: str, options: dict[str, Any]) -> Any:
        from icefield.cli.data_files import check_columns
        from icefield.cli.loading import check_model_file, is_imported
        from icefield.cli.streamed_data import check_paths, is_streamed

        options.pop("debug")  # read by `run`, before click parses
        files = _all_data(data, options)
        if options["quiet"] and options["verbose"]:
            raise click.UsageError("-q and -v contradict each other: give one of them.")
        models = named_models(model, options.pop("other_models", ()))
        check_outputs(options, (model, *files, *models.values()))
        for path in models.values() or [model]:
            if not is_imported(path):
                check_model_file(path)
        if is_streamed(files):
            check_paths(files)
        elif options["on"] is None:
            check_columns(data, options)
        refitted = refitting(options)
        if models:
            if options["on"] is not None:
                raise click.UsageError("--on is for one model: leave it out where several are compared.")
            return function(_explainers_of(models, data, files, options), **options)
        with _open_explainer(model, data, files, options) as explainer:
            return function(refitted(explainer), **options)

    for option in reversed(_SHARED):
        command = option(command)
    if not any(isinstance(arg, click.Argument) for arg in getattr(function, "__click_params__", ())):
        command = click.argument("more", metavar="[DATA...]", nargs=-1)(command)
    # click applies decorators from the inside out: the outermost argument is the first on the line.
    command = click.argument("data", type=click.Path(allow_dash=True))(command)
    return click.argument("model", type=click.Path())(command)


def _explainers_of(
    models: dict[str, str], data: str, files: tuple[str, ...], options: dict[str, Any]
) -> dict[str, Any]:
    """An Explainer of every model by name, all with the same options; the shared ones are removed from `options`."""
    explainers, remaining = {}, options
    if data == "-":
        raise click.UsageError(
            "Standard input can be read once: write DATA to a file to compare models on it."
        )
    for name, model in models.items():
        remaining = dict(options)
        with _open_explainer(model, data, files, remaining) as explainers[name]:
            pass
    for used in set(options) - set(remaining):
        del options[used]
    return explainers


@contextmanager
def _open_explainer(model: str, data: str, files: tuple[str, ...], options: dict[str, Any]) -> Iterator[Any]:
    """An Explainer made of MODEL, DATA and the shared options, which are removed from `options`; an error of the model names the row at fault."""
    from icefield.cli.loading import load_model
    from icefield.cli.model_data import explain_refusals
    from icefield.cli.name_options import given_units
    from icefield.cli.streamed_data import is_streamed
    from icefield.models.targets import ShellTarget

    streamed = options["on"] is not None or is_streamed(files)
    if not streamed and options["checkpoint"] is not None:
        raise click.UsageError(
            "--checkpoint is for DATA that is streamed: a folder, a glob, several files or a URL."
        )
    if not streamed and options["storage_options"]:
        raise click.UsageError("--storage-option is for DATA in a store: a URL such as s3://bucket/rows.")
    if options["quiet"]:
        _without_progress()
    loaded = load_model(model, allow_pickle=options.pop("allow_pickle"), trust=options.pop("trust"))
    rows = _streamed_rows(loaded, files, options) if streamed else _rows_in_memory(loaded, data, options)
    target, checkpoint = options.pop("target"), options.pop("checkpoint")
    settings = {
        **rows, **{name: options.pop(name) for name in _PLAIN}, "model": loaded, "target": None if target is None else ShellTarget(target),
        "units": given_units(options.pop("units")), "checkpoint": checkpoint,
    }  # fmt: skip
    with nullcontext() if streamed else explain_refusals(loaded, rows["X"]):
        yield _explainer(**settings)


def _storage_options(texts: tuple[str, ...]) -> dict[str, str] | None:
    """``NAME=VALUE`` as a mapping; errors name the option's position, because a value may be a secret."""
    settings = {}
    for number, text in enumerate(texts, start=1):
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise click.UsageError(f"--storage-option number {number} is not NAME=VALUE.")
        settings[name] = value
    return settings or None


def with_outputs(function: Callable[..., Any]) -> Callable[..., Any]:
    for option in reversed(_OUTPUTS):
        function = option(function)
    return function


def _all_data(data: str, options: dict[str, Any]) -> tuple[str, ...]:
    """DATA and the files a shell made of a glob: those that come before the first feature."""
    further = tuple(options.pop("more", ()))
    if not further and isinstance(options.get("features"), tuple):
        from icefield.cli.streamed_data import further_files

        features = options["features"]
        count = further_files(features)
        further, options["features"] = features[:count], features[count:]
    return data, *further


def _streamed_rows(model: Any, files: tuple[str, ...], options: dict[str, Any]) -> dict[str, Any]:
    """Rows that are streamed, as an Explainer takes them; columns beside the features go by name."""
    from icefield.cli.name_options import given_names
    from icefield.cli.streamed_data import streamed_data
    from icefield.rows.source import Origin, first_rows

    missing, engine = MissingCells(options.pop("missing")), options.pop("on")
    storage_options = _storage_options(options.pop("storage_options"))
    if engine is None:
        source: Origin = streamed_data(model, files, missing, storage_options)
    else:
        if storage_options is not None:
            raise click.UsageError(
                "--storage-option is not for --on: the engine reads with its own settings."
            )
        from icefield.cli.on_engine import data_on

        source = data_on(engine, model, files, options["threads"])
    head = source.table(first_rows(source, source.schema.names))
    columns = {name: options.pop(name, None) for name in ("y", "by", "weights", "cluster")}
    return {"X": source, "names": given_names(options.pop("names"), head), "tell_columns": False, **columns}


def _rows_in_memory(model: Any, data: str, options: dict[str, Any]) -> dict[str, Any]:
    """The rows of a file as an Explainer takes them, once they fit the model."""
    from icefield import validate
    from icefield.cli.data_files import read_data
    from icefield.cli.model_data import check_numbers, column_names, columns_for, fitted_data
    from icefield.cli.name_options import given_names
    from icefield.data.frame import table_of

    del options["on"], options["storage_options"]
    file = read_data(data)
    beside = {name: options.pop(name, None) for name in ("y", "by", "weights", "cluster")}
    columns = columns_for(model, column_names(file.frame), **beside)
    fitted = fitted_data(model, file, MissingCells(options.pop("missing")), columns)
    whole = table_of(fitted.frame, "DATA")
    for option, column in beside.items():
        if column is not None:
            whole.check(column, f"--{option}")
    table = whole if len(columns) == len(whole.names) else whole.select(columns)
    check_numbers(model, table)
    if not options["quiet"]:
        for remark in fitted.remarks:
            click.echo(printable(remark), err=True)
    y, by, weights, cluster = beside.values()
    return {
        "X": table,
        "y": None if y is None else fitted.frame[y],
        # Columns kept away from the model go by their values.
        "by": by if by in (None, *table.names) else fitted.frame[by],
        "cluster": None if cluster is None else fitted.frame[cluster],
        "weights": weights if weights in table.names else validate.weights(weights, whole),
        "names": given_names(options.pop("names"), table),
        # Such columns are told apart by their number alone: the user is to see whether that went right.
        "tell_columns": table is not whole and not options["quiet"],
    }


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
    """Show no progress bar until this command is over."""
    from icefield import progress

    restored = partial(setattr, progress, "PATIENCE", progress.PATIENCE)
    click.get_current_context().call_on_close(restored)
    progress.PATIENCE = float("inf")
