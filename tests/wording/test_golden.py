"""Every sentence of `golden.txt` is still generated, word for word; what changes is read line by line."""

from __future__ import annotations

import re

import pytest
import real
from golden import FILE, sentences

KNOWN = FILE.read_text(encoding="utf-8").splitlines()
ODD = (
    "asked of rows", "tells another story", "trust that", "interacts with nobody", "right angle", "of its standard deviations",
    "less than nothing", "individual curves differ", "goes with", "faint", "(squared)", "accounts for it:", ") (a borderline", "nan", "None", " 0.00 to 0.00", "  ", "..", ";;", "up to up to",
)  # fmt: skip


def test_sentences_are_those_that_were_read():
    assert list(sentences()) == KNOWN


def test_there_are_enough_of_them():
    assert len(KNOWN) >= 400
    assert sum(line.startswith(tuple(real.DATA)) and ", " in line.split(" | ")[0] for line in KNOWN) >= 150
    assert len(set(KNOWN)) == len(KNOWN)


@pytest.mark.parametrize("odd", ODD)
def test_no_sentence_is_odd(odd):
    assert [line for line in KNOWN if odd in line] == []


def test_numbers_have_few_digits():
    for line in KNOWN:
        text = re.sub(
            r"\d{4}-\d\d-\d\d( \d\d:\d\d)?|\d+:\d\d|\bs\d\d\b|from the curves of [\d,]+",
            "",
            line.split("|")[-1],
        )
        for number in re.findall(r"(?<![\w.])\d+(?:,\d{3})*(?:\.\d+)?(?:e[+−]\d+)?", text):
            digits = re.sub(r"e.*|[.,]", "", number).strip("0")
            # Years, codes, counts and values below 10,000 keep their whole part.
            assert len(digits) <= 3 or re.fullmatch(r"\d{4}", number), (number, line)
