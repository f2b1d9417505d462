"""CSV that is no table is refused, with its line, by the reader of one file and by that of many."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from icefield.cli import data_files
from icefield.cli.data_files import read_data
from icefield.cli.model_data import column_names
from icefield.errors import IcefieldError
from icefield.rows.csv_text import problem_of, separator_of
from icefield.rows.files import files_of

pytest.importorskip("pyarrow")

MANY = 70_000  # lines, more than Arrow takes at a time


def one_file(path: Path) -> list[list[Any]]:
    frame = read_data(str(path)).frame
    return [column_names(frame), *([str(cell) for cell in row] for row in zip(*(frame[n].tolist() for n in column_names(frame))))]  # fmt: skip


def a_folder(path: Path) -> list[list[Any]]:
    source = files_of(str(path.parent))
    names = source.schema.names
    rows = [row for batch in source.batches(names, 1_000) for row in batch.to_pylist()]
    return [names, *([str(row[name]) for name in names] for row in rows)]


def without_arrow(path: Path) -> list[list[Any]]:
    with pytest.MonkeyPatch.context() as patch:
        known = data_files.optional
        patch.setattr(
            data_files, "optional", lambda name: None if name.startswith("pyarrow") else known(name)
        )
        return one_file(path)


def standard_input(path: Path) -> list[list[Any]]:
    class Stdin:
        buffer = io.BytesIO(path.read_bytes())

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdin", Stdin)
        frame = read_data("-").frame
    return [column_names(frame), *frame.to_numpy().tolist()]


READERS = [one_file, a_folder, without_arrow, standard_input]

REFUSED = {
    "one cell more": (b"a,b\n1,2\n3,4,\n", "has 3 cells in line 3 and 2 in its header"),
    "a cell more everywhere": (b"a,b\n1,2,\n3,4,\n", "has 3 cells in line 2 and 2 in its header"),
    "names of rows": (b"a,b\nx,1,2\ny,3,4\n", "has 3 cells in line 2"),
    "one cell less": (b"a,b\n1,2\n3\n", "has 1 cells in line 3"),
    "after an empty line": (b"a,b\n1,2\n\n3,4,5\n", "in line 4"),
    "after a cell of two lines": (b'a,b\n1,"x\ny"\n3,4,5\n', "in line 4"),
    "far down": (b"a,b\n" + b"1,2\n" * 300 + b"3,4,5\n", "in line 302"),
    "a name twice": (b"a,b,a\n1,2,3\n", "names two columns 'a' in its header"),
    "no name twice": (b"a,,b,\n1,2,3,4\n", "names two columns ''"),
    "a name twice, semicolons": (b"a;b;a\n1;2;3\n", "names two columns 'a'"),
    "latin 1": ("a,b\n1,x\n2,grün\n".encode("latin1"), "holds bytes in line 3 that are no text in UTF-8"),
    "latin 1 header": ("a,grün\n1,2\n".encode("latin1"), "holds bytes in line 1 that are no text in UTF-8"),
    "utf 16": ("a,b\n1,2\n".encode("utf-16"), "UTF-"),
    "open quotes": (b'a,b\n1,2\n3,"x\n4,5\n', "begins a quoted text after line 2 that does not end"),
}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_table_is_refused_with_its_line(
    name: str, reader: Callable[[Path], Any], tmp_path: Path
) -> None:
    content, words = REFUSED[name]
    (tmp_path / "a.csv").write_bytes(content)
    with pytest.raises(IcefieldError) as caught:
        reader(tmp_path / "a.csv")
    assert words in str(caught.value)


@pytest.mark.parametrize("reader", [one_file, without_arrow, standard_input])
@pytest.mark.parametrize("content", [b"\n", b"\r\n\r\n", b"  \n", b"\xef\xbb\xbf", b"\xef\xbb\xbf\n"])
def test_a_file_of_nothing_is_empty(content: bytes, reader: Callable[[Path], Any], tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(content)
    with pytest.raises(IcefieldError, match="`DATA` is empty"):
        reader(tmp_path / "a.csv")


@pytest.mark.parametrize("suffix", ["csv", "parquet", "feather"])
def test_arrow_s_threads_hold_nothing_of_python_s(suffix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """After an error they go on for a while; letting go of Python's bytes while the interpreter ends would abort it."""
    import pyarrow as pa

    content = b"a,b\n" + b"1,x\n" * 100
    given = []
    reader = pa.BufferReader
    monkeypatch.setattr(pa, "BufferReader", lambda memory: given.append(memory) or reader(memory))
    before = sys.getrefcount(content)
    with suppress(Exception):
        data_files._parse(content, f".{suffix}", "a file")
    assert sys.getrefcount(content) == before
    assert [type(memory) for memory in given] == [pa.Buffer]


@pytest.mark.parametrize(
    "bad", [b"3,4,5\n", b"3,\xff\n", b'3,"4\n'], ids=["a cell more", "latin 1", "open quotes"]
)
@pytest.mark.parametrize("reader", [one_file, a_folder])
def test_lines_are_found_beyond_the_first_block(
    bad: bytes, reader: Callable[[Path], Any], tmp_path: Path
) -> None:
    (tmp_path / "a.csv").write_bytes(b"a,b\n" + b"123456,text text text\n" * MANY + bad)
    with pytest.raises(IcefieldError, match=f"line {MANY + 2}|after line {MANY + 1}"):
        reader(tmp_path / "a.csv")


TAKEN = {
    "commas": b"a,b\n1,x\n2,y\n",
    "semicolons": b"a;b\n1;x\n2;y\n",
    "tabs": b"a\tb\n1\tx\n2\ty\n",
    "bars": b"a|b\n1|x\n2|y\n",
    "a mark of its order": b"\xef\xbb\xbfa,b\n1,x\n2,y\n",
    "other ends of lines": b"a,b\r\n1,x\r\n2,y\r\n",
    "old ends of lines": b"a,b\r1,x\r2,y\r",
    "quotes": b'"a","b"\n"1","x"\n2,y\n',
    "no last end": b"a,b\n1,x\n2,y",
}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("name", TAKEN)
def test_the_usual_ways_to_write_a_table_are_one(
    name: str, reader: Callable[[Path], Any], tmp_path: Path
) -> None:
    (tmp_path / "a.csv").write_bytes(TAKEN[name])
    assert reader(tmp_path / "a.csv") == [["a", "b"], ["1", "x"], ["2", "y"]]


def test_files_of_a_folder_may_be_written_in_several_ways(tmp_path: Path) -> None:
    (tmp_path / "1.csv").write_bytes(b"a;b\n1;x\n")
    (tmp_path / "2.csv").write_bytes(b"a,b\n2,y\n")
    assert a_folder(tmp_path / "1.csv") == [["a", "b"], ["1", "x"], ["2", "y"]]


@pytest.mark.parametrize(
    ("head", "usual", "found"),
    [
        (b"a,b", ",", ","),
        (b"a;b", ",", ";"),
        (b"a,b", "\t", ","),
        (b"price;EUR,b", ",", ","),
        (b'"a;b"', ",", ","),
        (b"a", ",", ","),
        (b"a;", ",", ","),
        (b"", ",", ","),
    ],
)
def test_separators_are_told_by_the_header(head: bytes, usual: str, found: str) -> None:
    assert separator_of(head, usual) == found


def test_what_readers_know_better_is_left_to_them() -> None:
    assert problem_of([b"a,b\n", b'1,x"y\n'], ",") is None
    assert problem_of([b"a\n", b"x" * 200_000 + b"\n"], ",") is None
    assert problem_of([], ",") is None
