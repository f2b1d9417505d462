"""``--fit``: what the learner is, for answers with its intervals."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from icefield.errors import InputError

_OPTIONS: list[Callable[[Any], Any]] = [
    click.option("--fit", metavar="LEARNER",
                 help="Intervals of this learner, by refits on random halves of DATA: package.module:object, an estimator or a function "
                 "of rows and targets, or a .skops or pickle file, whose estimator is fitted anew. Needs --y; keeps clusters whole."),
    click.option("--refits", "n_refits", type=click.IntRange(min=8), default=15, show_default=True, help="How many refits."),
]  # fmt: skip


def with_fit(function: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command ``--fit`` and ``--refits``; `question` makes Refits of its Explainer by them."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


def refitting(options: dict[str, Any]) -> Callable[[Any], Any]:
    """A call that makes an Explainer's Refits where ``--fit`` asks for them, and leaves it as it is otherwise.

    Takes both options away; a learner that cannot be had is an error before anything is read.
    """
    path, count = options.pop("fit", None), options.pop("n_refits", None)
    if path is None:
        return lambda explainer: explainer
    if options["y"] is None:
        raise click.UsageError("--fit needs --y COLUMN: what the learner is fitted to.")
    learner = _learner(path, options)
    return lambda explainer: explainer.refits(learner, None, n=count)


def _learner(path: str, options: dict[str, Any]) -> Any:
    from icefield.cli.loading import PICKLES, check_model_file, is_imported, load_model
    from icefield.refits.fitting import check_fit, is_estimator

    if not is_imported(path):
        check_model_file(path, "--fit")
        if Path(path).suffix.lower() not in (".skops", *PICKLES):
            raise InputError.about("--fit", "holds a fitted model, and not how it was fitted", path,
                                "write package.module:object, an estimator or a function of rows and targets")  # fmt: skip
    learner = load_model(path, allow_pickle=options["allow_pickle"], trust=options["trust"], option="--fit")
    if not is_estimator(learner) and not callable(learner):
        raise InputError.about("--fit", "is neither an estimator nor a function of rows and targets", type(learner).__name__,
                            "name an object with a method fit")  # fmt: skip
    check_fit(learner)
    return learner
