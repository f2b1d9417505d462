"""Checks of CSV files before they are parsed: text in UTF-8, distinct names, lines as long as the header.

Libraries differ in what they make of other files: a cell more than the header has shifts every column in one, a name that
comes twice is the first of them in another. Here such files are refused, with the line.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator

SEPARATORS = (",", ";", "\t", "|")
BOM = b"\xef\xbb\xbf"
HEAD = 65536  # bytes that tell how a file is written


class NotUtf8(ValueError):
    """A line that is no text in UTF-8."""

    def __init__(self, line: int) -> None:
        super().__init__(line)
        self.line = line


def separator_of(head: bytes, default: str = ",") -> str:
    """The separator of a CSV file, from its first bytes: `default`, unless only another one splits the header into columns.

    Examples
    --------
    >>> separator_of(b"a;b;c\\n1,5;2;3\\n"), separator_of(b"a\\n1\\n"), separator_of(b'"a;b",c\\n')
    (';', ',', ',')
    """
    first = head[:HEAD].removeprefix(BOM).splitlines()[:1]
    header = first[0].decode(errors="replace") if first else ""
    for separator in (default, *SEPARATORS):
        try:
            names = next(csv.reader([header], delimiter=separator), [])
        except csv.Error:
            continue
        if len(names) > 1 and (separator == default or all(name.strip() for name in names)):
            return separator
    return default


def records(lines: Iterable[bytes], separator: str) -> Iterator[tuple[int, list[str]]]:
    """The cells of each record, the header's too, with the number of its last line; without empty lines."""
    reader = csv.reader(_texts(lines), delimiter=separator, strict=True)
    for cells in reader:
        if cells:
            yield reader.line_num, cells


def _texts(lines: Iterable[bytes]) -> Iterator[str]:
    for number, line in enumerate(lines, start=1):
        try:
            yield (line.removeprefix(BOM) if number == 1 else line).decode()
        except UnicodeDecodeError:
            raise NotUtf8(number) from None


def problem_of(lines: Iterable[bytes], separator: str) -> tuple[str, str] | None:
    """The first problem of a CSV file and a hint, in words; None where no known problem is found.

    Examples
    --------
    >>> problem_of([b"a,b\\n", b"1,2\\n", b"3,4,\\n"], ",")[0]
    'has 3 cells in line 3 and 2 in its header'
    """
    line, names = 0, None
    try:
        for line, cells in records(lines, separator):
            if names is None:
                names = cells
                repeated = next((name for i, name in enumerate(names) if name in names[:i]), None)
                if repeated is not None:
                    return f"names two columns {repeated!r} in its header (line 1)", "rename one of them"
            if len(cells) != len(names):
                return (
                    f"has {len(cells)} cells in line {line} and {len(names)} in its header",
                    "write as many in every line; what follows a separator at the end of a line is a cell too",
                )
    except NotUtf8 as error:
        return f"holds bytes in line {error.line} that are no text in UTF-8", "save the file as UTF-8"
    except csv.Error as error:
        if "end of data" in str(error):
            return f"begins a quoted text after line {line} that does not end", "close the quotes"
    return None
