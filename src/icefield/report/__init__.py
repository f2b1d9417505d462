"""The report: one self-contained HTML file about a model, for a person who did not write it.

`build` asks the Explainer everything and answers with a plain dict; `page` turns that dict into
HTML with an autoescaping template, a style sheet, and the script that `icefield.page` carries. Nothing from the
model or the data reaches the page other than through those two doors.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from icefield import validate
from icefield.errors import InputError, InputTypeError, Setting, complaint, worded
from icefield.report.comparison import build_comparison
from icefield.report.contents import build
from icefield.report.page import page_html

if TYPE_CHECKING:
    from icefield.study import Study

__all__ = ["build", "build_comparison", "page_html", "write_comparison", "write_report"]


def write_report(
    study: Study,
    path: str | Path,
    *,
    features: Iterable[Any] | None = None,
    individual: bool = False,
    title: str | None = None,
    rows: Any = None,
) -> Path:
    """Write the report about a model.

    Parameters
    ----------
    study : the model and its data
    path : where to write; ``.html`` is usual
    features : which features; all of the model's by default
    individual : put a sample of rows' own curves into the file. Without it the file holds averages,
        quantiles and counts only, and says so
    title : heading of the page
    rows : average over these rows; by default all, or a seeded sample where each row costs predictions

    Returns
    -------
    the path written
    """
    validate.flag("individual", individual)
    target = _checked(path, title)
    found = build(study, features, individual=individual, title=title, rows=rows)
    _write_whole(target, page_html(found))
    return target


def write_comparison(
    studies: Mapping[Any, Study],
    path: str | Path,
    *,
    features: Iterable[Any] | None = None,
    title: str | None = None,
    rows: Any = None,
) -> Path:
    """Write the report about several models side by side, with the options of `write_report`."""
    target = _checked(path, title)
    _write_whole(target, page_html(build_comparison(studies, features, title=title, rows=rows)))
    return target


def _checked(path: Any, title: Any) -> Path:
    """Where to write, with everything in order: minutes of work should not be lost to a typing error."""
    if title is not None and not isinstance(title, str):
        raise InputTypeError(
            complaint(
                "title",
                "must be text",
                title,
                worded("write ", Setting("title", "Arrival delay", python='title="Arrival delay"')),
            )
        )
    if not isinstance(path, (str, os.PathLike)):
        raise InputTypeError(complaint("path", "must be a file path", path, 'write "report.html"'))
    target = Path(path)
    if target.is_dir():
        raise InputError(complaint("path", "is a folder", str(path), 'write "report.html"'))
    if not target.parent.is_dir():
        raise InputError(complaint("path", "lies in a folder that does not exist", str(path)))
    return target


def _write_whole(target: Path, text: str) -> None:
    """Write to a neighbour first: an interrupted write leaves no half report, and an older one intact."""
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".part")
    try:
        # The policy holds hashes of the scripts: line ends must stay as they were hashed.
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as stream:
            stream.write(text)
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(name, 0o666 & ~umask)
        os.replace(name, target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
