"""Help of a command: its options under headings, those of the command first."""

from __future__ import annotations

import click

GROUPS = {
    "Output": (
        "output",
        "plot",
        "csv_path",
        "json_path",
        "parquet_path",
        "junit",
        "html",
        "quiet",
        "verbose",
    ),
    "Data": ("y", "by", "weights", "cluster", "missing", "storage_options"),
    "Learner intervals": ("fit", "n_refits"),
    "Prediction": ("target", "scale"),
    "Names and units": ("names", "units", "target_name"),
    "Computation": ("engine", "threads", "seed", "row_by_row", "checkpoint", "on"),
    "Safety and help": ("allow_pickle", "trust", "debug", "help"),
}


class GroupedCommand(click.Command):
    """A command whose options are listed under headings."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        options = [param for param in self.get_params(ctx) if isinstance(param, click.Option)]
        names = ["help" if "--help" in option.opts else option.name for option in options]
        entries = [(name, option.get_help_record(ctx)) for name, option in zip(names, options)]
        grouped = {name for names in GROUPS.values() for name in names}
        ungrouped = [record for name, record in entries if record is not None and name not in grouped]
        sections = {"Options": ungrouped}
        for title, group in GROUPS.items():
            sections[title] = [record for name, record in entries if record is not None and name in group]
        for title, records in sections.items():
            if records:
                with formatter.section(title):
                    formatter.write_dl(records)
