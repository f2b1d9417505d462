"""The command line: `commands` are what a shell can ask, `loading` reads models and data, `output` writes what is found."""

from icefield.cli.commands import run

__all__ = ["run"]
