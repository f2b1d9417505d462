"""From the report's dict to one HTML file that opens offline and trusts nothing it was given.

Names and values from the data reach the page in two ways only: through a template that escapes
everything, and through one block of JSON that the browser never reads as code. The content security
policy names the page's own scripts by hash, so nothing else can run and nothing can be fetched.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from icefield.counts import counted
from icefield.page import built
from icefield.plots.panels import Panel, Picture
from icefield.plots.schema import document

HERE = Path(__file__).parent
VERSION = 1  # of what a script draws, as `page/report.schema.json` says
PACKED = ("bands", "curves", "level", "pure")  # by far the longest lists
EXACT = 2.0**53  # whole numbers up to here are exact in a script

# What would end a script block or a line of script; JSON reads the escapes as the same characters.
_ESCAPES = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}


def page_html(report: dict[str, Any], *, static: bool = False) -> str:
    """The whole page.

    Parameters
    ----------
    report : what `icefield.report.contents` or `icefield.report.comparison` gives
    static : whether pictures are images in the file, so that it needs no script
    """
    script = "" if static else built("report.js")
    live = report.get("live")
    scripts = [one for one in (script, built("live.js") if live else "") if one]
    drawn: dict[str, Any] = {} if static else {**_drawn(report), "pictures": []}

    def still(panel: Panel) -> int:
        """The place of a picture among those that the script draws as they are."""
        drawn["pictures"].append(document(Picture((panel,))))
        return len(drawn["pictures"]) - 1

    environment = Environment(loader=FileSystemLoader(HERE), autoescape=True, undefined=StrictUndefined,
                              trim_blocks=True, lstrip_blocks=True)  # fmt: skip
    environment.filters["breakable"] = breakable
    environment.filters["counted"] = counted
    environment.globals["still"] = still
    if static:
        environment.globals.update(_images(report))
    return environment.get_template("template.html").render(
        report=report,
        static=static,
        policy=_policy(scripts),
        live=None
        if live is None
        else {"script": Markup(built("live.js")), "payload": Markup(payload_json(live))},
        style=Markup(_text("report.css")),
        script=Markup(script),
        payload=lambda: Markup(payload_json(drawn)),  # after the template asked for its pictures
    )


def _images(report: dict[str, Any]) -> dict[str, Any]:
    """What a template without a script asks for: panels of what the page holds, and images of panels."""
    from icefield.report import images

    what, bounds, several = report["what"], report["bounds"], len(report["outputs"]) > 1
    named = [f"{what} of {output}" if several else what for output in report["outputs"]]
    return {
        "image": images.image,
        "card_panel": lambda card, o=0, small=False: images.card_panel(
            card, o, named[o], bounds, report["groups"], small=small
        ),
        "region_panel": lambda region, o: images.region_panel(region["panel"], o, named[o]),
        "surface_panel": lambda pair, o: images.surface_panel(pair, o, named[o]),
    }


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


def _drawn(report: dict[str, Any]) -> dict[str, Any]:
    """The part of the report the script draws; the rest is in the page already."""
    words = ("readings", "strengths", "strength_words", "heterogeneities")
    cards = [{**_packed(card["panel"]), **{key: card[key] for key in words}} for card in report["features"]]
    return {
        "v": VERSION,
        "what": report["what"],
        "bounds": report["bounds"],
        "outputs": report["outputs"],
        "groups": report["groups"],
        "by": report["by"],
        "features": cards,
        "matrix": report["matrix"] or None,
        "surfaces": [_packed(surface) for surface in report["surfaces"]],
        "regions": [region["panel"] for region in report["regions"]],
        "shares": report["shares"]["outputs"] if report["shares"] and len(report["outputs"]) > 1 else None,
        "models": len(report["models"]) > 1,
    }


def _packed(panel: dict[str, Any]) -> dict[str, Any]:
    """The panel with its longest lists packed."""
    found = {key: packed(value) if key in PACKED else value for key, value in panel.items()}
    if "groups" in found:
        found["groups"] = [{**group, "average": packed(group["average"])} for group in found["groups"]]
    return found


def packed(values: Any) -> Any:
    """Nested lists of short decimals as whole numbers and how many places they have; the script divides.

    Examples
    --------
    >>> packed([[0.0893, None], [-2, 0.5]])
    {'places': 4, 'whole': [[893, None], [-20000, 5000]]}
    """
    flat = list(_flat(values))
    places = max(map(_places, flat), default=0)
    factor = 10**places
    # While both are exact, their quotient is the very number that was packed.
    exact = max([factor, *(abs(value) * factor for value in flat)]) < EXACT
    return {"places": places, "whole": _whole(values, factor)} if exact else values


def _flat(values: Any) -> Iterator[float]:
    for value in values:
        if isinstance(value, list):
            yield from _flat(value)
        elif value is not None:
            yield value


def _whole(values: Any, factor: int) -> Any:
    if isinstance(values, list):
        return [_whole(value, factor) for value in values]
    return None if values is None else round(values * factor)


def _places(value: float) -> int:
    if isinstance(value, int):
        return 0
    digits, _, exponent = repr(value).partition("e")
    return max(0, len(digits.partition(".")[2]) - int(exponent or 0))


def _policy(scripts: list[str]) -> str:
    return "; ".join(
        [
            "default-src 'none'",
            "script-src " + (" ".join(f"'{_hash(one)}'" for one in scripts) or "'none'"),
            "style-src 'unsafe-inline'",
            "img-src data: blob:",
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode()


@cache
def _text(name: str) -> str:
    return (HERE / name).read_text(encoding="utf-8")
