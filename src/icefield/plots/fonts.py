"""Text as matplotlib can draw it: never markup, always in fonts that have its characters.

A feature called ``$\\frac$`` is a name, not a formula; one in a script the current font lacks is
drawn with an installed font that has it. Characters that no installed font has are written as their
code points: levels stay distinguishable, and drawing raises no warning.
"""

from __future__ import annotations

from contextlib import suppress
from functools import lru_cache
from typing import Any

import matplotlib as mpl
from matplotlib import font_manager
from matplotlib.font_manager import FontProperties

# The current settings change in place; names are put together here, which their type forbids.
SETTINGS: Any = mpl.rcParams

_GENERIC = ("serif", "sans-serif", "cursive", "fantasy", "monospace")
_LATEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#",
    "_": r"\_", "%": r"\%", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
}  # fmt: skip


def literal(text: str) -> str:
    """The text such that matplotlib shows it as it is, under the current settings."""
    if SETTINGS["text.usetex"]:
        return "".join(_LATEX.get(c, c) for c in text)
    if not SETTINGS["text.parse_math"]:
        return text
    return text.replace("$", r"\$")


def drawable(text: str) -> tuple[str, list[str] | None]:
    """The text with characters no font has spelled out, and the font families it needs beyond the usual."""
    if text.isascii() or SETTINGS["text.usetex"]:
        return literal(text), None
    usual = _usual_fonts(
        tuple(SETTINGS["font.family"]), tuple(tuple(SETTINGS[f"font.{generic}"]) for generic in _GENERIC)
    )
    extra: list[str] = []
    out = []
    for character in text:
        if character == "\n" or any(_has(path, character) for path in usual):
            out.append(character)
            continue
        family = _family_with(character)
        out.append(character if family is not None else f"\\u{ord(character):04x}")
        if family is not None and family not in extra:
            extra.append(family)
    return literal("".join(out)), [*SETTINGS["font.family"], *extra] if extra else None


def set_text(artist: Any, text: str) -> None:
    """Give a Text artist its words, and fonts that have them."""
    words, families = drawable(text)
    artist.set_text(words)
    if families is not None:
        artist.set_fontfamily(families)


@lru_cache(maxsize=16)
def _usual_fonts(families: tuple[str, ...], settings: tuple[tuple[str, ...], ...]) -> tuple[str, ...]:
    """The font files matplotlib itself tries for the current settings."""
    expansions = dict(zip(_GENERIC, settings))
    names = [name for family in families for name in expansions.get(family, (family,))]
    paths: dict[str, None] = {}
    for name in names:
        with suppress(ValueError):
            paths[str(font_manager.findfont(FontProperties(family=[name]), fallback_to_default=False))] = None
    return tuple(paths) or (str(font_manager.findfont(FontProperties())),)


@lru_cache(maxsize=4096)
def _has(path: str, character: str) -> bool:
    return bool(font_manager.get_font(path).get_char_index(ord(character)))


@lru_cache(maxsize=4096)
def _family_with(character: str) -> str | None:
    for family, path in _regular_fonts():
        with suppress(OSError, RuntimeError):  # an unreadable font file on this machine
            if _has(path, character):
                return family
    return None


@lru_cache(maxsize=1)
def _regular_fonts() -> tuple[tuple[str, str], ...]:
    """Installed upright fonts, those made for reading first; never the one that draws only boxes."""
    fonts = [
        (entry.name, entry.fname)
        for entry in font_manager.fontManager.ttflist
        if entry.style == "normal" and "Last Resort" not in entry.name and "Math" not in entry.name
    ]
    return tuple(sorted(set(fonts), key=lambda f: ("Noto" not in f[0], "Sans" not in f[0], f[0], f[1])))
