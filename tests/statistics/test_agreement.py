"""No two outputs contradict each other: random situations, every pair of statements about a feature compared."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from situations import situation

from icefield.report.contents import build
from icefield.statistics.thresholds import THRESHOLDS
from icefield.wording.sentences import UNKNOWN_DIFFERENCES

QUICK, ALL = 10, 100
SEEDS = range(10)


def contradictions(ex: Any) -> list[str]:
    """What two outputs of one Explainer say that cannot both be true."""
    summary, importance, page = ex.summary(), ex.importance(), build(ex.study)
    cards = {card["full"]: card for card in page["features"]}
    order = [str(name) for name in summary["feature"]]
    said = {str(name): reading for name, reading in summary.readings.items()}
    row = {str(name): i for i, name in enumerate(summary["feature"])}
    found = _ranking(ex, order, importance, page, summary)
    found += _opening(page, order, said, summary)
    for name, reading in said.items():
        words = {"table": summary["shape"][row[name]], "card": cards[name]["shape"]}
        if words["table"].lower() != words["card"].lower():
            found.append(f"{name}: {words}")
        if importance["shape"][row[name]].replace("flat where the data is", "flat") != words["table"]:
            found.append(
                f"{name}: importance says {importance['shape'][row[name]]}, the table {words['table']}"
            )
        found += _partners(name, reading, summary["partner"][row[name]], cards, page)
        found += _regions(ex, name, reading, summary["next"][row[name]])
        found += _readings(ex, name, reading)
        if (reading.heterogeneity or 0.0) >= 1.1 * THRESHOLDS["evident"] and not reading.curves_differ:
            found.append(f"{name}: rows differ by {reading.heterogeneity:.2f} SD, and nothing says so")
    return found


def _ranking(ex: Any, order: list[str], importance: Any, page: Any, summary: Any) -> list[str]:
    orders = {
        "importance": [str(name) for name in importance["feature"]],
        "cards": [card["full"] for card in page["features"]],
        "pictures": [str(ex.study.model.columns[i]) for i in ex._ranked()],
    }
    found = [f"{what} rank {other}, the table {order}" for what, other in orders.items() if other != order]
    if (np.diff(summary["movement"]) > 1e-12).any() or (
        importance["importance"] != summary["movement"]
    ).any():
        found.append("the printed number does not rank")
    return found


def _opening(page: Any, order: list[str], said: dict[str, Any], summary: Any) -> list[str]:
    responding = [name for name in order if said[name].responds]
    found = []
    if responding:
        most = responding[0]
        number = f"{summary['movement'][order.index(most)]:.2f}"
        if f"; {most} moves it most, by {number} of" not in page["lede"]:
            found.append(f"the opening says {page['lede']!r}, the table puts {most} first with {number}")
        if said[most].flat != ("though not on average" in page["lede"]) and not said[most].hidden:
            found.append(f"the opening says {page['lede']!r} of a flat {most}")
    counted = re.search(r"(\d+) of \d+ features? moves?", page["lede"])
    if (int(counted.group(1)) if counted else 0) != len(responding):
        found.append(f"the opening counts {page['lede']!r}, the table {len(responding)}")
    for line in page["plain"]:
        if line["name"] not in responding:
            found.append(f"{line['name']} is in the opening and flat in the table")
    return found


def _partners(name: str, reading: Any, partner: Any, cards: Any, page: Any) -> list[str]:
    found = []
    if cards[name]["partner"] != partner:
        found.append(f"{name}: the table names {partner}, the card {cards[name]['partner']}")
    for line in page["plain"]:
        named = re.search(r"depend(?:s|ing) on (\w+)", line["text"])
        if line["name"] == name and (None if named is None else named.group(1)) != partner:
            found.append(f"{name}: the table names {partner}, the words {line['text']!r}")
    matrix = page["matrix"]
    places = (
        {} if matrix is None else {page["features"][f]["full"]: i for i, f in enumerate(matrix["features"])}
    )
    if name in places:
        cells = {other: matrix["strength"][0][places[name]][i] for other, i in places.items()}
        strong = {
            other: size
            for other, size in cells.items()
            if size is not None and size >= THRESHOLDS["interaction"]
        }
        if strong and max(strong, key=strong.get) != partner:
            found.append(f"{name}: the table names {partner}, the matrix {strong}")
        if not strong and partner is not None:
            found.append(f"{name}: the table names {partner}, the matrix nobody")
    elif partner is not None:
        found.append(f"{name}: the table names {partner}, and there is no cell for it")
    return found


def _regions(ex: Any, name: str, reading: Any, steps: str | None) -> list[str]:
    table = ex.regions(name)
    split = [str(s.column) for s in table.splits]
    partners = [str(other) for other, _ in reading.interacts]
    found = []
    if split and partners and split[0] not in partners:
        found.append(f"{name}: regions split by {split[0]}, it interacts with {partners}")
    if (
        "the curves agree" in " ".join(table.notes)
        and reading.curves_differ
        and "differ" not in reading.borderline
    ):
        found.append(f"{name}: regions say the curves agree, the reading that they differ")
    if abs(table.heterogeneity - reading.heterogeneity) > 0.005:
        found.append(f"{name}: {table.heterogeneity} in regions, {reading.heterogeneity} in the table")
    if "partial_dependence(" in (steps or "") and f", {partners[0]!r})" not in steps:
        found.append(f"{name}: next says {steps}, it interacts with {partners}")
    return found


def _readings(ex: Any, name: str, decided: Any) -> list[str]:
    found = []
    for what, other in (("curve", ex.partial_dependence(name).reading), ("curves", ex.ice(name).reading)):
        sure = "shape" not in other.borderline and "shape" not in decided.borderline
        if {other.direction, decided.direction} == {"increasing", "decreasing"} and sure:
            found.append(f"{name}: the {what} say {other}, the table {decided}")
        elsewhere = (
            decided.read_to != other.read_to or decided.tails
        )  # what lies beyond a curve it does not tell
        if other.flat != decided.flat and sure and not elsewhere:
            found.append(f"{name}: the {what} say {other}, the table {decided}")
        silent = not other.hidden and UNKNOWN_DIFFERENCES not in other.sentence
        unsure = {"hidden", "differ", "shape"} & {*decided.borderline, *other.borderline}
        if decided.hidden and silent and not unsure and other.flat:
            found.append(f"{name}: the {what} are silent about what is hidden: {other} / {decided}")
        named = re.search(r"interaction with (\w+)", other.sentence)
        if named and decided.interacts and named.group(1) != str(decided.interacts[0][0]):
            found.append(f"{name}: the {what} name {named.group(1)}, the table {decided.interacts}")
    return found


@pytest.mark.parametrize("number", range(QUICK))
def test_no_two_outputs_contradict_each_other(number):
    assert contradictions(situation(number).explainer()) == []


@pytest.mark.slow
@pytest.mark.parametrize("number", range(QUICK, ALL))
def test_no_two_outputs_contradict_each_other_in_a_hundred_situations(number):
    assert contradictions(situation(number).explainer()) == []
