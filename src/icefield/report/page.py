"""From a `ReportPage` to one HTML file that opens offline and trusts nothing it was given.

Names and values from the data reach the page in two ways only: through a template that escapes
everything, and through one block of JSON that the browser never reads as code. The content security
policy names the page's own scripts by hash, so nothing else can run and nothing can be fetched.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markupsafe import Markup

from icefield.counts import counted
from icefield.page import built
from icefield.report.view_model import ReportPage, plain

HERE = Path(__file__).parent

# What would end a script block or a line of script; JSON reads the escapes as the same characters.
_ESCAPES = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}


@cache
def page_template() -> Template:
    """The page's template, compiled once a process: that takes a tenth of a second."""
    environment = Environment(loader=FileSystemLoader(HERE), autoescape=True, undefined=StrictUndefined,
                              trim_blocks=True, lstrip_blocks=True)  # fmt: skip
    environment.filters["breakable"] = breakable
    environment.filters["counted"] = counted
    environment.filters["payload"] = lambda value: Markup(payload_json(plain(value)))
    return environment.get_template("template.html")


def page_html(report: ReportPage, *, static: bool = False) -> str:
    """The whole page.

    Parameters
    ----------
    report : what `icefield.report.build` gives
    static : whether pictures are images in the file, so that it needs no script
    """
    script, live_script = "" if static else built("report.js"), built("live.js") if report.live else ""
    drawn: dict[str, Any] = {}
    if static:
        from icefield.report import images

        of = [f" of {output}" for output in report.outputs] if len(report.outputs) > 1 else [""]
        drawn = {"images": images, "titles": [report.what + output for output in of]}
    return page_template().render(
        **drawn,
        report=report,
        static=static,
        policy=_policy([text for text in (script, live_script) if text]),
        live_script=Markup(live_script),
        style=Markup((HERE / "report.css").read_text(encoding="utf-8")),
        script=Markup(script),
    )


def payload_json(value: Any) -> str:
    """JSON that is safe inside a script element.

    Examples
    --------
    >>> payload_json({"name": "</script>"})
    '{"name":"\\\\u003c/script\\\\u003e"}'
    """
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    for character, escape in _ESCAPES.items():
        text = text.replace(character, escape)
    return text


def breakable(text: str) -> Markup:
    """Text whose long names may break where a capital starts a word, and after an underscore.

    Examples
    --------
    >>> str(breakable("How RandomForest <works>"))
    'How Random<wbr>Forest &lt;works&gt;'
    >>> str(breakable("amount_in_euros"))
    'amount_<wbr>in_<wbr>euros'
    """
    return Markup("<wbr>").join(re.split(r"(?<=[a-z])(?=[A-Z])|(?<=_)(?!_|$)", text))


def _policy(scripts: list[str]) -> str:
    allowed = " ".join(f"'{_hash(script)}'" for script in scripts) or "'none'"
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data: blob:; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode()
