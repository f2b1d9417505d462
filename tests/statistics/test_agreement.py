"""No two outputs contradict each other: random situations, every pair of statements about a feature compared.

The outputs are the opening and the plain words, the cards, the table, the matrix and the surfaces, regions, importance, the
readings of curves, and the labels of pictures.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from situations import situation

from icefield import Explainer
from icefield.plots.compose import effect_picture
from icefield.plots.options import Options
from icefield.plots.summaries import importance_picture
from icefield.report.contents import build
from icefield.statistics.thresholds import THRESHOLDS
from icefield.wording.labels import feature_label
from icefield.wording.names import page_sentence
from icefield.wording.sentences import UNKNOWN_DIFFERENCES, strength_word
from icefield.wording.values import sd_text

QUICK, ALL = 10, 100


def contradictions(ex: Any) -> list[str]:
    """What two outputs of one Explainer say that cannot both be true."""
    summary, importance, page = ex.summary(), ex.importance(), build(ex.study)
    labels = summary["feature"].tolist()
    called = {label: str(ex.study.naming.name(label)) for label in labels}
    cards = {card["full"]: card for card in page["features"]}
    found = _ranking(ex, labels, called, importance, page, summary)
    found += _opening(page, labels, called, summary)
    for row, label in enumerate(labels):
        name, reading, card = called[label], summary.readings[label], cards[called[label]]
        shapes = {
            "table": summary["shape"][row],
            "card": card["shape"],
            "importance": importance["shape"][row],
        }
        said = {words.lower().replace("flat where the data is", "flat") for words in shapes.values()}
        if len(said) > 1:
            found.append(f"{name}: {shapes}")
        partner = summary["partner"][row]
        found += _partners(name, None if partner is None else called.get(partner, partner), cards, page)
        found += _regions(ex, label, reading, summary["next"][row])
        found += _readings(ex, label, reading)
        found += _labels(ex, label, name, reading, card, page)
        if (reading.heterogeneity or 0.0) >= 1.1 * THRESHOLDS["evident"] and not reading.curves_differ:
            found.append(f"{name}: rows differ by {reading.heterogeneity:.2f} SD, and nothing says so")
        if importance["direction"][row] != reading.direction:
            found.append(
                f"{name}: importance says {importance['direction'][row]}, the table {reading.direction}"
            )
    return found


def _ranking(
    ex: Any, labels: list[Any], called: dict[Any, str], importance: Any, page: Any, summary: Any
) -> list[str]:
    names = [called[label] for label in labels]
    (bars,) = importance_picture(importance, "importance", Options()).panels
    orders = {
        "importance": [called[label] for label in importance["feature"].tolist()],
        "cards": [card["full"] for card in page["features"]],
        "pictures": [called[ex.study.model.columns[i]] for i in ex._ranked()],
        "bars": list(bars.x.ticks),
    }
    found = [f"{what} rank {other}, the table {names}" for what, other in orders.items() if other != names]
    printed = [sd_text(size) for size in summary["movement"]]
    if (np.diff(summary["movement"]) > 1e-12).any() or (
        importance["importance"] != summary["movement"]
    ).any():
        found.append("the printed number does not rank")
    if printed != [sd_text(card["movement"]) for card in page["features"]]:
        found.append("the cards print another number than the table")
    return found


def _opening(page: Any, labels: list[Any], called: dict[Any, str], summary: Any) -> list[str]:
    responding = [label for label in labels if summary.readings[label].responds]
    found = []
    if responding:
        most, movement = responding[0], [summary["movement"][labels.index(one)] for one in responding]
        tied = sum(size >= 0.95 * movement[0] for size in movement)
        first = re.search(r"noticeably[^.]*(?:\.\d[^.]*)*\. (.*)", page["lede"])
        if first is None or (tied <= 3 and not first.group(1).startswith(called[most])):
            found.append(f"the opening says {page['lede']!r}, the table puts {most} first")
        if (tied > 1) != ("about equally" in page["lede"]):
            found.append(f"the opening says {page['lede']!r}, the table {movement}")
        if any(summary.readings[one].hidden for one in responding[:3]) != ("not on average" in page["lede"]):
            found.append(f"the opening says {page['lede']!r} of {summary.readings[most]}")
    if page["lede"] != page_sentence(summary.opening):
        found.append(f"the report opens {page['lede']!r}, the summary {summary.opening!r}")
    counted = re.search(r"(\d+) of \d+ features moves?", page["lede"])
    if (int(counted.group(1)) if counted else 0) != len(responding):
        found.append(f"the opening counts {page['lede']!r}, the table {len(responding)}")
    told = [line["name"] for line in page["plain"]]
    if told != [called[label] for label in responding][: len(told)] or (responding and not told):
        found.append(f"the plain words tell of {told}, the table of {responding}")
    return found


def _partners(name: str, partner: str | None, cards: Any, page: Any) -> list[str]:
    found = []
    if cards[name]["partner"] != partner:
        found.append(f"{name}: the table names {partner}, the card {cards[name]['partner']}")
    for line in page["plain"]:
        named = re.search(r"depend(?:s|ing) on (\w+)", line["text"])
        if line["name"] == name and (None if named is None else named.group(1)) != partner:
            found.append(f"{name}: the table names {partner}, the words {line['text']!r}")
    named = re.search(r"it interacts with (\w+)", cards[name]["readings"][0])
    if (None if named is None else named.group(1)) != partner:
        found.append(f"{name}: the table names {partner}, its reading {cards[name]['readings'][0]!r}")
    matrix = page["matrix"]
    places = (
        {} if matrix is None else {page["features"][f]["full"]: i for i, f in enumerate(matrix["features"])}
    )
    least = THRESHOLDS["interaction"]
    if name in places:
        cells = {other: matrix["strength"][0][places[name]][i] for other, i in places.items()}
        strong = {other: size for other, size in cells.items() if size is not None and size >= least}
        if strong and (partner is None or strong.get(partner, 0.0) < max(strong.values()) - 1e-9):
            found.append(f"{name}: the table names {partner}, the matrix {strong}")
        if not strong and partner is not None:
            found.append(f"{name}: the table names {partner}, the matrix nobody")
        for pair in page["surfaces"]:
            if name == pair["names"][0] and abs(cells[pair["names"][1]] - pair["strengths"][0]) > 1e-9:
                found.append(
                    f"{pair['names']}: {pair['strengths'][0]} below the surface, {cells} in the matrix"
                )
    elif partner is not None:
        found.append(f"{name}: the table names {partner}, and there is no cell for it")
    return found


def _regions(ex: Any, name: Any, reading: Any, steps: str | None) -> list[str]:
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
    if "regions(" in (steps or "") and not reading.curves_differ:
        found.append(f"{name}: next says {steps}, the curves agree")
    return found


def _readings(ex: Any, name: Any, decided: Any) -> list[str]:
    found = []
    for what, other in (("curve", ex.partial_dependence(name).reading), ("curves", ex.ice(name).reading)):
        sure = "shape" not in other.borderline and "shape" not in decided.borderline
        if {other.direction, decided.direction} == {"increasing", "decreasing"} and sure:
            found.append(f"{name}: the {what} say {other}, the table {decided}")
        if other.flat != decided.flat and sure:
            found.append(f"{name}: the {what} say {other}, the table {decided}")
        silent = not other.hidden and UNKNOWN_DIFFERENCES not in other.sentence
        unsure = {"hidden", "differ", "shape"} & {*decided.borderline, *other.borderline}
        if decided.hidden and silent and not unsure and other.flat:
            found.append(f"{name}: the {what} are silent about what is hidden: {other} / {decided}")
        named = re.search(r"look for an interaction with (\w+)", other.sentence)
        if named and decided.interacts:
            partner = str(other.naming.name(decided.interacts[0][0]))
            if named.group(1) != partner:
                found.append(f"{name}: the {what} name {named.group(1)}, the table {decided.interacts}")
    return found


def _labels(ex: Any, label: Any, name: str, reading: Any, card: Any, page: Any) -> list[str]:
    """Words, numbers and axes that stand beside a picture."""
    found = []
    if card["word"] != strength_word(reading.strength) or card["strength_words"][0] != card["word"]:
        found.append(f"{name}: {card['word']} beside a strength of {reading.strength}")
    for line in page["plain"]:
        if line["name"] == name and line["strength"] != ("hidden" if reading.hidden else card["word"]):
            found.append(f"{name}: {line['strength']} in plain words, {card['word']} on the card")
        if line["name"] == name and reading.one_directional:
            rises = " rise" in line["text"].split(";")[0]
            if rises != (reading.direction == "increasing"):
                found.append(f"{name}: {line['text']!r}, the table {reading.direction}")
    written = re.search(r"strength (\S+) (?:robust )?SD", card["readings"][0])
    if written is None or (written.group(1) != f"{card['strength']:.2f}" and not reading.missing_moves):
        found.append(f"{name}: {card['readings'][0]!r} beside {card['strength']:.2f}")
    differ = re.search(r"differ by (?:at least )?(\S+) SD", card["readings"][0])
    if differ is not None and differ.group(1) != f"{card['heterogeneity']:.2f}":
        found.append(f"{name}: {card['readings'][0]!r} beside {card['heterogeneity']:.2f}")
    effect = ex.partial_dependence(label)
    (panel,) = effect_picture(effect, Options()).panels
    if not panel.x.label.startswith(name) or not card["panel"]["axis"]["label"].startswith(name):
        found.append(
            f"{name}: an axis is called {panel.x.label}, on the card {card['panel']['axis']['label']}"
        )
    if panel.x.label.split("\u2002")[0] != feature_label(effect.naming, label):
        found.append(f"{name}: an axis is called {panel.x.label}")
    if page["what"] not in panel.y.label:
        found.append(f"{name}: the axis shows {panel.y.label}, the page {page['what']}")
    return found


@pytest.mark.parametrize("number", range(QUICK))
def test_no_two_outputs_contradict_each_other(number):
    assert contradictions(situation(number).explainer()) == []


def test_a_contradiction_would_be_noticed(monkeypatch):
    from icefield.report import contents

    explainer = situation(0).explainer()
    monkeypatch.setattr(
        contents, "opening_of", lambda *given: "Over 400 rows, no feature moves it noticeably."
    )
    monkeypatch.setattr(contents, "strength_word", lambda size: "enormous")
    said = " ".join(contradictions(explainer))
    assert "the opening counts" in said
    assert "enormous beside a strength of" in said


@pytest.mark.slow
@pytest.mark.parametrize("number", range(QUICK, ALL))
def test_no_two_outputs_contradict_each_other_in_a_hundred_situations(number):
    assert contradictions(situation(number).explainer()) == []


@pytest.mark.slow
def test_statements_do_not_depend_on_the_seed():
    from benchmarks.seeds import BORDERLINE, FLIPS, compared

    statements, flips, borderline = compared(range(5))
    assert flips <= FLIPS * statements
    assert borderline <= BORDERLINE


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["boosted", "forest", "line"])
@pytest.mark.parametrize("name", ["titanic", "bikes", "housing", "flights"])
def test_no_two_outputs_contradict_each_other_on_real_data(name, kind):
    """The three kinds of model are fitted to the predictions of the first, so that each has something to say."""
    import pandas as pd
    from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LinearRegression
    from sklearn.pipeline import make_pipeline

    said = pytest.importorskip("benchmarks.said")
    pytest.importorskip("lightgbm")
    try:
        given = getattr(said, name)()
    except (FileNotFoundError, ImportError) as error:
        pytest.skip(f"the data is not here: {error}")
    study = given.study
    rows = np.random.default_rng(0).permutation(study.sample.n_rows)[:800]
    table = study.sample.table.take(np.sort(rows))
    columns = {c: table.column(c) for c in study.model.columns}
    X = pd.DataFrame(
        {c: own.to_float() for c, own in columns.items() if own.kind in ("integer", "float", "boolean")}
    )
    y = study.predictions(np.sort(rows))[:, 0]
    model = {
        "boosted": HistGradientBoostingRegressor(max_iter=60, random_state=0),
        "forest": RandomForestRegressor(20, max_depth=6, random_state=0),
        "line": make_pipeline(SimpleImputer(), LinearRegression()),
    }[kind]
    assert contradictions(Explainer(model.fit(X, y), X)) == []
