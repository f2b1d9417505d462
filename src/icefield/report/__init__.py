"""The report: one self-contained HTML file about a model, for a person who did not write it.

`build` asks one model everything, or several, and answers with a `ReportPage`; `page` turns that into
HTML with an autoescaping template, a style sheet, and the script that `icefield.page` carries. Nothing from the
model or the data reaches the page other than through those two doors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from icefield import validate
from icefield.core.study import Study
from icefield.effect import Effect
from icefield.effect.storage import writable
from icefield.effect.whole_files import atomic_write
from icefield.errors import InputError
from icefield.report.contents import build
from icefield.report.page import page_html, page_template
from icefield.report.view_model import ReportPage
from icefield.threads import start_daemon

__all__ = ["Report", "ReportPage", "build", "page_html", "write_report"]

EXAMPLE = 'write "report.html"'


@dataclass(frozen=True)
class Report:
    """A report that was not written to a file: a notebook shows it in a frame of its own.

    Attributes
    ----------
    html : the whole page
    findings : what it says first, sentence by sentence
    """

    html: str
    findings: tuple[str, ...] = ()

    def _repr_html_(self) -> str:
        """The page in a frame as high as a screen; scripts run inside it, and nothing of the notebook is in their reach."""
        return (
            f'<iframe srcdoc="{escape(self.html)}" sandbox="allow-scripts allow-downloads allow-modals" title="icefield report" '
            'style="width:100%;height:min(90vh,900px);border:1px solid #8884;border-radius:3px"></iframe>'
        )

    def __repr__(self) -> str:
        return f"Report of {len(self.html) / 1e6:.1f} MB: the last line of a notebook's cell shows it, .save(path) writes it"

    def save(self, path: str | Path) -> Path:
        """Write the page."""
        target = writable(path, EXAMPLE)
        # The policy holds hashes of the scripts: line ends must stay as they were hashed.
        with atomic_write(target) as file:
            file.write_text(self.html, encoding="utf-8", newline="\n")
        return target


def write_report(
    studies: Study | Mapping[Any, Study],
    path: str | Path | None = None,
    *,
    static: bool = False,
    features: Iterable[Any] | None = None,
    individual: bool = False,
    title: str | None = None,
    rows: Any = None,
    data_name: str | None = None,
    intervals: Callable[[Any, Effect], Effect] | None = None,
    audit: Any = None,
    release: int | None = None,
    live: bool = False,
) -> Path | Report:
    """Write the report about a model, or about several side by side.

    Parameters
    ----------
    studies : the model and its data; several by name
    path : where to write
    static : no script: the same pictures as images

    The others are those of `build`.

    Returns
    -------
    the path written, or a `Report`
    """
    validate.flag("static", static)
    if path is not None:  # minutes of work should not be lost to a typing error
        writable(path, EXAMPLE)
    if static and live:
        problem = "needs a script, which static=True leaves out"
        raise InputError.about("live", problem, live, "leave one of them out")
    _, compiling = start_daemon(page_template, name="icefield page")  # while kernels count
    try:
        page = build(
            studies, features, individual=individual, title=title, rows=rows, data_name=data_name, intervals=intervals,
            audit=audit, release=release, live=live,
        )  # fmt: skip
    finally:
        compiling.join()
    text = page_html(page, static=static)
    return Report(text, tuple(_findings(page))) if path is None else Report(text).save(path)


def _findings(page: ReportPage) -> Iterator[str]:
    """The sentences that the page says before its tables, for `Report`."""
    yield page.lede
    for line in page.plain:
        for side in line.sides:  # of several models, each says its own
            yield f"{line.name}{', ' * bool(side.model)}{side.model}: {side.text}"
