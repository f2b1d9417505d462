"""The report: one self-contained HTML file about a model, for a person who did not write it.

`build` asks one model everything, or several, and answers with a `ReportPage`; `page` turns that into
HTML with an autoescaping template, a style sheet, and the script that `icefield.page` carries. Nothing from the
model or the data reaches the page other than through those two doors.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from icefield import validate
from icefield.effect.whole_files import written_beside
from icefield.errors import InputError, InputTypeError, complaint
from icefield.report.contents import build
from icefield.report.page import page_html
from icefield.report.view_model import ReportPage

if TYPE_CHECKING:
    from icefield.core.study import Study
    from icefield.effect import Effect

__all__ = ["Report", "ReportPage", "build", "page_html", "write_report"]


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
        target = _checked_path(path)
        _write_whole(target, self.html)
        return target


def write_report(
    studies: Study | Mapping[Any, Study],
    path: str | Path | None = None,
    *,
    features: Iterable[Any] | None = None,
    individual: bool = False,
    title: str | None = None,
    rows: Any = None,
    data_name: str | None = None,
    static: bool = False,
    intervals: Callable[[Any, Effect], Effect] | None = None,
    audit: Any = None,
    live: bool = False,
    release: int | None = None,
) -> Path | Report:
    """Write the report about a model, or about several side by side.

    Parameters
    ----------
    studies : the model and its data; several by name
    intervals : a feature and its effect to that effect with intervals of its learner

    The others are those of `icefield.Explainer.report`; of several models only those of `icefield.Comparison.report`.

    Returns
    -------
    the path written, or a `Report`
    """
    validate.flag("individual", individual)
    target = _checked(path, title, data_name, static)
    validate.flag("live", live)
    if live and static:
        raise InputError(
            complaint("live", "needs a script, which static=True leaves out", live, "leave one of them out")
        )
    _check_release(release, {"individual": individual, "live": live, "audit": audit})
    found = build(
        studies,
        features,
        individual=individual,
        title=title,
        rows=rows,
        data_name=data_name,
        audit=audit,
        intervals=intervals,
        release=release,
        live=live,
    )
    text = page_html(found, static=static)
    if target is None:
        return Report(text, tuple(_findings(found)))
    _write_whole(target, text)
    return target


def _findings(found: ReportPage) -> Iterator[str]:
    """What the page says before its tables, one sentence after another."""
    yield found.lede
    for line in found.plain:
        for side in line.sides:  # of several models, each says its own
            yield f"{line.name}{', ' * bool(side.model)}{side.model}: {side.text}"


def _checked(path: Any, title: Any, data_name: Any, static: Any) -> Path | None:
    """Where to write, with everything in order: minutes of work should not be lost to a typing error."""
    validate.flag("static", static)
    for name, value, example in (("title", title, "Arrival delay"), ("data_name", data_name, "test 2024")):
        if value is not None and not isinstance(value, str):
            raise InputTypeError(complaint(name, "must be text", value, f'write {name}="{example}"'))
    return None if path is None else _checked_path(path)


def _check_release(release: Any, others: Mapping[str, Any]) -> None:
    validate.count("release", release, least=2, optional=True)
    for name, value in others.items():
        if release is not None and value is not None and value is not False:
            told = f"is for files that tell of no single row, which {name} does"
            raise InputError(complaint("release", told, release, f"leave out {name}=..."))


def _checked_path(path: Any) -> Path:
    if not isinstance(path, (str, os.PathLike)):
        raise InputTypeError(complaint("path", "must be a file path", path, 'write "report.html"'))
    target = Path(path)
    if target.is_dir():
        raise InputError(complaint("path", "is a folder", str(path), 'write "report.html"'))
    if not target.parent.is_dir():
        raise InputError(complaint("path", "lies in a folder that does not exist", str(path)))
    return target


def _write_whole(target: Path, text: str) -> None:
    # The policy holds hashes of the scripts: line ends must stay as they were hashed.
    with written_beside(target) as file:
        file.write_text(text, encoding="utf-8", newline="\n")
