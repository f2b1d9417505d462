"""Names as text: any label as one harmless line for a picture or a page.

Feature names, levels and class labels come from other people's data: empty, hundreds of
characters long, with line breaks, control characters or marks that reverse the reading
direction. Everything drawn passes through here first. What a drawing library or a browser would read as
markup (math text, HTML) is that side's business and is escaped where it is written.
"""

from __future__ import annotations

import re
import textwrap
import unicodedata
from collections.abc import Sequence
from functools import cache
from typing import Any

from icefield.data.columns import is_missing_value

MISSING = "missing"
NAME_LIMIT = 60  # letters of a name in a picture
PAGE_LIMIT = 80  # ... and on a page, where there is more room
TITLE_LIMIT = 200
SENTENCE_LIMIT = 600
BRACKETED = re.compile(r"\([^()]{1,16}\)")  # such as a unit behind what it is of
TIED = "\ue000"  # stands for a space at which no line ends

_WORDS = re.compile(r"[^\s_\-/.,:]+[\s_\-/.,:]*|[\s_\-/.,:]+")  # each with what separates it from the next

# Marks that reorder the text around them, and would reorder the rest of a label with them.
_REORDERING = frozenset("\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def name_text(name: Any, limit: int = NAME_LIMIT) -> str:
    """A name as one drawable line.

    Examples
    --------
    >>> name_text("age\\n(years)"), name_text(""), name_text("a\\0b"), name_text(3)
    ('age (years)', '(empty)', 'a\\\\x00b', '3')
    """
    if is_missing_value(name):
        return MISSING
    if isinstance(name, tuple):
        return abbreviated(" × ".join(name_text(part, limit) for part in name), limit)
    text = " ".join("".join(_drawable(c) for c in str(name)).split())
    return abbreviated(text, limit) if text else "(empty)"


@cache
def _drawable(character: str) -> str:
    category = unicodedata.category(character)
    if character.isspace():
        return " "
    if category in ("Cc", "Cs", "Cn", "Co") or character in _REORDERING:
        code = ord(character)
        return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" if code < 65536 else f"\\U{code:08x}"
    return character


def title_text(title: Any) -> str:
    """A heading the user wrote, whose line breaks are meant.

    Examples
    --------
    >>> title_text("Bikes\\nby hour"), title_text(None)
    ('Bikes\\nby hour', '')
    """
    if title is None:
        return ""
    return "\n".join(name_text(line, TITLE_LIMIT) if line.strip() else "" for line in str(title).split("\n"))


def page_name(name: Any, limit: int = PAGE_LIMIT) -> str:
    """A feature, level or output name on a page."""
    return name_text(name, limit)


def page_sentence(text: str, name: Any = None) -> str:
    """A sentence that may hold names from the data; `name` in front of a colon is taken off.

    Examples
    --------
    >>> page_sentence("age: flat on average.", "age")
    'Flat on average.'
    """
    if name is not None:
        text = text.removeprefix(f"{name}: ")
    text = name_text(text, SENTENCE_LIMIT)
    return text[:1].upper() + text[1:]


def abbreviated(text: str, limit: int) -> str:
    """Cut in the middle, where names that share a prefix or a suffix stay distinguishable.

    Examples
    --------
    >>> abbreviated("number_of_open_credit_lines", 15)
    'number_…t_lines'
    """
    if len(text) <= limit:
        return text
    head = (limit - 1) // 2
    return f"{text[:head].rstrip()}…{text[len(text) - (limit - 1 - head) :].lstrip()}"


def distinct_texts(texts: Sequence[str], limit: int) -> list[str]:
    """Texts cut to about `limit`, which keep what tells them apart where cutting the middle would lose it.

    Words that long ones begin and end with alike are left out first; `shared_words` says which.

    Examples
    --------
    >>> distinct_texts(["Municipality of Ale in the north", "Municipality of Alo in the north"], 14)
    ['…Ale…', '…Alo…']
    >>> distinct_texts(["short", "number_of_open_credit_lines"], 15)
    ['short', 'number_…t_lines']
    """
    short = _cut_apart(_without(texts, *_alike(texts, limit)), limit)
    if len(set(short)) < len(set(texts)):  # what differs is itself too long
        place = {text: number for number, text in enumerate(dict.fromkeys(texts), start=1)}
        each = zip(short, texts)
        short = [cut if short.count(cut) == 1 else f"{cut} ({place[text]})" for cut, text in each]
    return short


def shared_words(texts: Sequence[str], limit: int) -> str:
    """What `distinct_texts` leaves out of texts because they all have it; empty where it leaves out nothing.

    Examples
    --------
    >>> shared_words(["Municipality of Ale in the north", "Municipality of Alo in the north"], 14)
    'Municipality of … in the north'
    """
    head, tail = _alike(texts, limit)
    return f"{head.rstrip()} … {tail.strip()}".strip() if head or tail else ""


def _alike(texts: Sequence[str], limit: int) -> tuple[str, str]:
    """The words with which all texts that are too long begin, and with which they end."""
    long = [_WORDS.findall(text) for text in dict.fromkeys(texts) if len(text) > limit]
    if len(long) < 2:
        return "", ""
    most = min(map(len, long)) - 1
    first = next((at for at in range(most) if len({words[at] for words in long}) > 1), most)
    most -= first
    last = next((at for at in range(most) if len({words[-1 - at] for words in long}) > 1), most)
    words = long[0]
    head, tail = "".join(words[:first]), "".join(words[len(words) - last :])
    return (head, tail) if len(head) + len(tail) >= limit // 3 else ("", "")


def _without(texts: Sequence[str], head: str, tail: str) -> list[str]:
    """Texts with dots for what they begin and end with, where they do."""
    if not head and not tail:
        return list(texts)
    begin, end = "…" if head else "", "…" if tail else ""

    def shortened(text: str) -> str:
        alike = len(text) > len(head) + len(tail) and text.startswith(head) and text.endswith(tail)
        return begin + text[len(head) : len(text) - len(tail)].strip() + end if alike else text

    return list(map(shortened, texts))


def _cut_apart(texts: Sequence[str], limit: int) -> list[str]:
    """Each cut in its middle; those that then read alike by what differs in them."""
    alike: dict[str, list[str]] = {}
    for text in dict.fromkeys(texts):
        alike.setdefault(abbreviated(text, limit), []).append(text)
    written: dict[str, str] = {}
    for cut, members in alike.items():
        written |= {members[0]: cut} if len(members) == 1 else _by_their_difference(members, limit)
    return [written[text] for text in texts]


def _by_their_difference(members: Sequence[str], limit: int) -> dict[str, str]:
    """Each by a little of how all begin, and by what follows from the first letter in which they differ."""
    differ = [at for at, letters in enumerate(zip(*members)) if len(set(letters)) > 1]
    begin = differ[0] if differ else min(map(len, members))
    head = members[0][: max(1, limit // 3)].rstrip()
    room = limit - len(head) - 1

    def cut(text: str) -> str:
        rest = text[begin:]
        return f"{head}…{rest if len(rest) <= room else rest[: room - 1].rstrip() + '…'}"

    return {text: cut(text) for text in members}


def longest_piece(text: str) -> int:
    """Letters of the longest part that `wrapped` can keep whole.

    Examples
    --------
    >>> longest_piece("light rain or snow"), longest_piece("number_of_rooms")
    (5, 7)
    """
    pieces = text.split() if " " in text or "\n" in text else re.findall(r"[^_\-]*[_\-]?", text)
    return max(map(len, pieces), default=0)


def wrapped(text: str, width: int) -> str:
    """Broken into lines of about `width`, at spaces and, failing those, at underscores; a unit in brackets stays whole.

    Examples
    --------
    >>> wrapped("change in probability of survived", 22)
    'change in probability\\nof survived'
    >>> wrapped("predicted rentals (per hour)", 24)
    'predicted rentals\\n(per hour)'
    """
    if "\n" in text:
        return "\n".join(wrapped(line, width) for line in text.split("\n"))
    if len(text) <= width:
        return text
    spaced = text if " " in text else text.replace("_", "_\u200b").replace("-", "-\u200b")
    for unit in BRACKETED.findall(spaced):
        spaced = spaced.replace(unit, unit.replace(" ", TIED)) if len(unit) <= width else spaced
    lines = textwrap.wrap(spaced.replace("\u200b", " \u200b"), width) or [text]
    return "\n".join(
        line.replace(" \u200b", "").replace("\u200b", "").replace(TIED, " ").rstrip() for line in lines
    )
