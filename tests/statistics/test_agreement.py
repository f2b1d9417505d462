"""No two outputs contradict each other: random situations, every pair of statements about a feature compared.

The outputs are the opening and the plain words, the cards, the table, the matrix and the surfaces, regions, importance,
interactions, the readings of curves, the labels and captions of pictures, and the shell.
"""

from __future__ import annotations

import json
import pickle
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from situations import Situation, mixed, situation

from icefield import Explainer
from icefield.cli.commands import main
from icefield.plots.compose import effect_picture
from icefield.plots.options import Options
from icefield.plots.summaries import importance_picture, regions_picture
from icefield.report import build
from icefield.statistics.thresholds import THRESHOLDS
from icefield.wording.labels import feature_label
from icefield.wording.names import page_sentence
from icefield.wording.sentences import UNKNOWN_DIFFERENCES, strength_word
from icefield.wording.values import sd_text

QUICK, ALL = (0, 3, 5, 7, 9, 11), 100
QUICK_MIXED, ALL_MIXED = (0, 1, 2, 3), 40
CROSSED = 4  # features of which interactions are asked for by themselves


def contradictions(ex: Any) -> list[str]:
    """What two outputs of one Explainer say that cannot both be true."""
    summary, importance, page = ex.summary(), ex.importance(), build(ex.study)
    labels = summary["feature"].tolist()
    pairs = ex.interactions(labels[:CROSSED], overall=False) if len(labels) > 1 else None
    called = {label: str(ex.study.naming.name(label)) for label in labels}
    cards = {card.full: card for card in page.features}
    found = _ranking(ex, labels, called, importance, page, summary)
    found += _opening(page, labels, called, summary)
    ranked = list(zip(importance["feature"].tolist(), importance["output"].tolist()))
    for row, label in enumerate(labels):
        name, reading, card = called[label], summary.readings[label], cards[called[label]]
        there = ranked.index((label, reading.output))
        shapes = {
            "table": summary["shape"][row],
            "card": card.models[0].shape.removesuffix(f" ({reading.output})")
            if reading.several
            else card.models[0].shape,
            "importance": importance["shape"][there],
        }
        said = {words.lower().replace("flat where the data is", "flat") for words in shapes.values()}
        if len(said) > 1:
            found.append(f"{name}: {shapes}")
        if reading.several and summary["output"][row] != reading.output:
            found.append(
                f"{name}: the table speaks of {summary['output'][row]}, its reading of {reading.output}"
            )
        partner = summary["partner"][row]
        partner = None if partner is None else called.get(partner, partner)
        found += _partners(name, partner, reading, card, page)
        found += _interactions(ex, label, reading, pairs)
        parts = ex.regions(label)
        found += _regions(parts, label, summary.decisions[label], summary["next"][row])
        found += _readings(ex, label, reading, card.best)
        found += _labels(ex, label, name, reading, card, page)
        found += _captions(ex, label, reading, parts)
        if (reading.heterogeneity or 0.0) >= 1.1 * THRESHOLDS["evident"] and not reading.curves_differ:
            found.append(f"{name}: rows differ by {reading.heterogeneity:.2f} SD, and nothing says so")
        if importance["direction"][there] != reading.direction:
            found.append(
                f"{name}: importance says {importance['direction'][there]}, the table {reading.direction}"
            )
    return found


def _ranking(
    ex: Any, labels: list[Any], called: dict[Any, str], importance: Any, page: Any, summary: Any
) -> list[str]:
    names = [called[label] for label in labels]
    bars, *others = importance_picture(importance, "importance", Options.of({})).panels
    orders = {
        "importance": [called[label] for label in dict.fromkeys(importance["feature"].tolist())],
        "cards": [card.full for card in page.features],
        "pictures": [called[ex.study.model.columns[i]] for i in ex._feature_order()],
        "bars": names if others else list(bars.x.ticks),  # each output has bars of its own
    }
    found = [f"{what} rank {other}, the table {names}" for what, other in orders.items() if other != names]
    printed = [sd_text(size) for size in summary["movement"]]
    sizes = dict(
        zip(zip(importance["feature"].tolist(), importance["output"].tolist()), importance["importance"])
    )
    own = [sizes[label, summary.readings[label].output] for label in labels]
    if (np.diff(summary["movement"]) > 1e-12).any() or (own != summary["movement"]).any():
        found.append("the printed number does not rank")
    if printed != [sd_text(card.models[0].movement) for card in page.features]:
        found.append("the cards print another number than the table")
    return found


def _opening(page: Any, labels: list[Any], called: dict[Any, str], summary: Any) -> list[str]:
    responding = [label for label in labels if summary.readings[label].responds]
    found = []
    if responding:
        most, movement = responding[0], [summary["movement"][labels.index(one)] for one in responding]
        tied = sum(size >= 0.95 * movement[0] for size in movement)
        first = re.search(r"noticeably[^.]*(?:\.\d[^.]*)*\. (.*)", page.lede)
        if first is None or (tied <= 3 and not first.group(1).startswith(called[most])):
            found.append(f"the opening says {page.lede!r}, the table puts {most} first")
        if (tied > 1) != ("about equally" in page.lede):
            found.append(f"the opening says {page.lede!r}, the table {movement}")
        if any(summary.readings[one].hidden for one in responding[:3]) != ("not on average" in page.lede):
            found.append(f"the opening says {page.lede!r} of {summary.readings[most]}")
        sizes = [
            float(size)
            for size in re.findall(r"(?:by |\(|, )([\d.]+) (?:robust )?SD\b(?! (?:higher|lower))", page.lede)
        ]
        if sizes and [sd_text(size) for size in movement[: len(sizes)]] != [sd_text(size) for size in sizes]:
            found.append(f"the opening says {page.lede!r}, the table {movement}")
    if page.lede != page_sentence(summary.opening):
        found.append(f"the report opens {page.lede!r}, the summary {summary.opening!r}")
    counted = re.search(r"(\d+)(?: of \d+)? features moves?", page.lede)
    if (int(counted.group(1)) if counted else 0) != len(responding):
        found.append(f"the opening counts {page.lede!r}, the table {len(responding)}")
    told = [line.name for line in page.plain]
    if told != [called[label] for label in responding][: len(told)] or (responding and not told):
        found.append(f"the plain words tell of {told}, the table of {responding}")
    return found


def _partners(name: str, partner: str | None, reading: Any, card: Any, page: Any) -> list[str]:
    found = []
    own, refused = card.best, {str(reading.naming.name(other)) for other in reading.unsupported}
    if card.partner != partner:
        found.append(f"{name}: the table names {partner}, the card {card.partner}")
    for line in page.plain:
        named = re.search(r"depend(?:s|ing) on (\w+)", line.sides[0].text)
        if line.name == name and (None if named is None else named.group(1)) != partner:
            found.append(f"{name}: the table names {partner}, the words {line.sides[0].text!r}")
        if line.name == name and ("held-out rows do not support" in line.sides[0].text) != (
            partner in refused
        ):
            found.append(f"{name}: {line.sides[0].text!r}, although held-out rows do not support {refused}")
    named = re.search(r"it interacts with (\w+) \(([^)]*)", card.panel.readings[own])
    if (None if named is None else named.group(1)) != partner:
        found.append(f"{name}: the table names {partner}, its reading {card.panel.readings[own]!r}")
    if named is not None and ("not supported" in named.group(2)) != (partner in refused):
        found.append(f"{name}: {card.panel.readings[own]!r}, although held-out rows do not support {refused}")
    matrix = page.matrix
    places = {} if matrix is None else {page.features[f].full: i for i, f in enumerate(matrix.features)}
    least = THRESHOLDS["interaction"]
    if name in places:
        cells = {other: matrix.strength[own][places[name]][i] for other, i in places.items()}
        strong = {other: size for other, size in cells.items() if size is not None and size >= least}
        # Those that held-out rows do not support stand last.
        first = {other: size for other, size in strong.items() if other not in refused} or strong
        if strong and (partner is None or first.get(partner, 0.0) < max(first.values()) - 1e-9):
            found.append(f"{name}: the table names {partner}, the matrix {strong}")
        if not strong and partner is not None:
            found.append(f"{name}: the table names {partner}, the matrix nobody")
        for pair in page.surfaces:
            if name == pair.names[0] and abs(cells[pair.names[1]] - pair.strengths[own]) > 1e-9:
                found.append(f"{pair.names}: {pair.strengths[own]} below the surface, {cells} in the matrix")
    elif partner is not None:
        found.append(f"{name}: the table names {partner}, and there is no cell for it")
    return found


def _interactions(ex: Any, name: Any, reading: Any, pairs: Any) -> list[str]:
    """What `interactions()` says by itself."""
    if pairs is None or name not in pairs.features:
        return []
    unit = reading.unit
    said = {}
    supported = pairs.columns.get("supported", np.full(len(pairs["output"]), None))
    for names, output, size, told in zip(pairs["features"], pairs["output"], pairs["strength"], supported):
        if len(names) == 2 and name in names and output == reading.output:
            other = names[1] if names[0] == name else names[0]
            said[other] = (size / unit, told)
    found = []
    for (other, size), told in zip(reading.interacts or (), (*reading.interactions_supported, *[None] * 99)):
        if other in said and (abs(said[other][0] - size) > 0.005 or said[other][1] != told):
            found.append(
                f"{name}: {size} and {told} with {other} in the table, {said[other]} in interactions()"
            )
    least = 1.02 * THRESHOLDS["interaction"]
    named = {other for other, _ in reading.interacts or ()}
    strong = {other for other, (size, _) in said.items() if size >= least}
    if not strong <= named:
        found.append(f"{name}: interactions() finds {strong}, the table {named}")
    return found


def _captions(ex: Any, name: Any, reading: Any, table: Any) -> list[str]:
    """What stands below pictures."""
    found = []
    effect = ex.partial_dependence(name, support=True)
    for panel in effect_picture(effect, Options.of({})).panels:
        parallel = "run parallel" in panel.note
        if parallel and reading.curves_differ:
            found.append(f"{name}: {panel.note!r} below the picture of {reading}")
        faint = effect.support is not None and effect.support.low.any()
        if "faint" in panel.note and not faint:
            found.append(f"{name}: {panel.note!r} although the data supports all of it")
        rows = re.search(r"over ([\d,]+) rows", panel.note)
        if rows and int(rows.group(1).replace(",", "")) != effect.n_rows:
            found.append(f"{name}: {panel.note!r} of {effect.n_rows} rows")
    titles = [
        panel.title for panel in regions_picture(table.effect, table.effect.groups, Options.of({})).panels
    ]
    for title, rule, rows in zip(titles, table["rule"].tolist(), table["rows"].tolist(), strict=True):
        if not title.startswith(rule[:20]) or not title.endswith(f"({rows}\u00a0rows)"):
            found.append(f"{name}: a picture is called {title!r}, the region {rule!r} of {rows} rows")
    return found


def _regions(table: Any, name: Any, decision: Any, steps: str | None) -> list[str]:
    reading, notes = decision.reading, " ".join(table.notes)
    partners = [str(other) for other, _ in reading.interacts or ()]
    found = _split_columns(table, name, decision)
    if partners and ("the curves agree" in notes or ("no rule" in notes and "apart well" not in notes)):
        found.append(f"{name}: regions say {notes!r}, it interacts with {partners}")
    if reading.several and not all(
        said.endswith(f" ({reading.output})") for said in table["effect"].tolist()
    ):
        found.append(f"{name}: regions say {table['effect'].tolist()}, the table speaks of {reading.output}")
    own = {str(split.column) for split in table.splits}
    told = table.removed >= 0.5
    if told and own <= {*partners} and "accounts for little" in reading.sentence and not reading.several:
        found.append(f"{name}: {reading.sentence!r}, regions by {own} remove {table.removed:.2f}")
    if told and len(own) == 1 and "no single feature" in reading.sentence and not reading.several:
        found.append(f"{name}: {reading.sentence!r}, regions by {own} remove {table.removed:.2f}")
    if (
        "the curves agree" in notes
        and reading.curves_differ
        and not reading.several  # regions are of all outputs together
        and "differ" not in reading.borderline
    ):
        found.append(f"{name}: regions say the curves agree, the reading that they differ")
    if not reading.several and abs(table.heterogeneity - reading.heterogeneity) > 0.005:
        found.append(f"{name}: {table.heterogeneity} in regions, {reading.heterogeneity} in the table")
    of_group = (steps or "").startswith(
        "partial_dependence({"
    )  # columns that are one feature are read as one
    if (
        "partial_dependence(" in (steps or "")
        and not of_group
        and f", {[*partners, None][0]!r})" not in steps
    ):
        found.append(f"{name}: next says {steps}, it interacts with {partners}")
    if "regions(" in (steps or "") and not reading.curves_differ:
        found.append(f"{name}: next says {steps}, the curves agree")
    return found


def _split_columns(table: Any, name: Any, decision: Any) -> list[str]:
    """Rules are on the features that its reading names; where they are on others too, notes say how these are related, and rightly."""
    found, called = [], decision.reading.naming.name
    partners = {
        reading.output: [str(other) for other, _ in reading.interacts or ()] for reading in decision.readings
    }
    own = partners[decision.reading.output]
    for column in dict.fromkeys(str(split.column) for split in table.splits):
        if column in own or not any(partners.values()):
            continue
        word = re.escape(str(called(column)))
        elsewhere = [
            note for note in table.notes if re.match(rf"{word}: .* interacts with it in outputs? ", note)
        ]
        weaker = [
            re.search(r"explain only (\d+) %|no rule on (?:that|those) alone()", note)
            for note in table.notes
            if re.match(rf"[^:]*\b{word}\b[^:]*: not among ", note)
        ]
        outputs = [str(output) for output, others in partners.items() if column in others]
        if outputs and not (elsewhere and all(output in elsewhere[0] for output in outputs)):
            found.append(f"{name}: regions split by {column}, its partner in {outputs}: {table.notes}")
        if not outputs and not (weaker and weaker[0] and int(weaker[0].group(1) or 0) < 100 * table.removed):
            found.append(f"{name}: regions split by {column}, it interacts with {own}: {table.notes}")
    return found


def _readings(ex: Any, name: Any, decided: Any, output: int) -> list[str]:
    found = []
    for what, effect in (("curve", ex.partial_dependence(name)), ("curves", ex.ice(name))):
        other = effect.reading.each[output]
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
    word = card.panel.strength_words[card.best]
    if word != strength_word(reading.strength):
        found.append(f"{name}: {word} beside a strength of {reading.strength}")
    for line in page.plain:
        if line.name == name and line.grade != ("hidden" if reading.hidden else word):
            found.append(f"{name}: {line.grade} in plain words, {word} on the card")
        if line.name == name and reading.several and f" {reading.output} " not in line.sides[0].text:
            found.append(f"{name}: {line.sides[0].text!r} does not say that it is of {reading.output}")
        if line.name == name and reading.one_directional:
            rises = " rise" in line.sides[0].text.split(";")[0]
            if rises != (reading.direction == "increasing"):
                found.append(f"{name}: {line.sides[0].text!r}, the table {reading.direction}")
    written = re.search(r"strength (\S+) (?:robust )?SD", card.panel.readings[card.best])
    said = card.panel.readings[card.best]
    if written is None or (
        written.group(1) != f"{card.models[0].strength:.2f}" and "where known" not in said
    ):
        found.append(f"{name}: {said!r} beside {card.models[0].strength:.2f}")
    differ = re.search(r"differ by (?:at least )?(\S+) SD", card.panel.readings[card.best])
    if differ is not None and differ.group(1) != f"{card.models[0].heterogeneity:.2f}":
        found.append(f"{name}: {card.panel.readings[0]!r} beside {card.models[0].heterogeneity:.2f}")
    effect = ex.partial_dependence(label)
    panel = effect_picture(effect, Options.of({})).panels[0]
    if not panel.x.label.startswith(name) or not card.panel.axis.label.startswith(name):
        found.append(f"{name}: an axis is called {panel.x.label}, on the card {card.panel.axis.label}")
    if panel.x.label.split("\u2002")[0] != feature_label(effect.naming, label):
        found.append(f"{name}: an axis is called {panel.x.label}")
    if not reading.several and page.what not in panel.y.label:
        found.append(f"{name}: the axis shows {panel.y.label}, the page {page.what}")
    return found


@pytest.mark.parametrize("number", QUICK)
def test_no_two_outputs_contradict_each_other(number):
    assert contradictions(situation(number).explainer()) == []


@pytest.mark.parametrize("number", QUICK_MIXED)
def test_no_two_outputs_contradict_each_other_with_missing_values_outputs_and_classes(number):
    assert contradictions(mixed(number, 150).explainer()) == []


def shell(folder: Path, given: Situation) -> list[str]:
    """What the shell says otherwise than Python: of the same model and rows, from files."""
    model, data = folder / "model.pkl", folder / "rows.csv"
    model.write_bytes(pickle.dumps(given.model))
    ex, extra = given.explainer(), [] if given.y is None else ["--y", "target"]
    frame = given.X if given.y is None else given.X.assign(target=given.y)
    frame.to_csv(data, index=False)

    def asked(command: str, *more: str) -> str:
        done = CliRunner().invoke(
            main, [command, str(model), str(data), "--allow-pickle", "--row-by-row", *extra, *more]
        )
        assert done.exit_code == 0, (done.output, done.exception)
        return done.stdout

    found = []
    summary, pairs = ex.summary(), ex.interactions()
    words = " ".join(asked("summary").split())
    if " ".join(summary.opening.split()) not in words:
        found.append(f"the shell does not open with {summary.opening!r}: {words!r}")
    for command, table, columns in (
        ("summary", summary, ("feature", "movement", "shape", "partner", "next")),
        ("importance", ex.importance(), ("feature", "movement", "shape", "direction")),
        ("interactions", pairs, ("order", "strength", "h")),
    ):
        printed = json.loads(asked(command, "-q", "--json", "-"))
        for column in columns:
            own = table[column].tolist()
            other = [row[column] for row in printed]
            same = np.allclose(own, other, rtol=1e-6) if isinstance(own[0], float) else own == other
            if not same:
                found.append(f"{command}, {column}: {other} in the shell, {own} in Python")
    return found


@pytest.mark.parametrize(
    "given", [situation(0, 100), mixed(0, 100), mixed(2, 100)], ids=["function", "missing", "classes"]
)
def test_the_shell_says_what_python_says(tmp_path, given):
    assert shell(tmp_path, given) == []


@pytest.mark.slow
@pytest.mark.parametrize("number", range(1, 20))
def test_the_shell_says_what_python_says_of_many(tmp_path, number):
    for given in (situation(number), mixed(number)):
        if not given.said and given.weights is None and np.ndim(given.y) < 2:
            assert shell(tmp_path, given) == []


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
@pytest.mark.parametrize("number", sorted({*range(ALL)} - {*QUICK}))
def test_no_two_outputs_contradict_each_other_in_a_hundred_situations(number):
    assert contradictions(situation(number).explainer()) == []


@pytest.mark.slow
@pytest.mark.parametrize("number", sorted({*range(ALL_MIXED)} - {*QUICK_MIXED}))
def test_no_two_outputs_contradict_each_other_in_forty_mixed_situations(number):
    assert contradictions(mixed(number).explainer()) == []


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
    """800 rows with all columns and what was observed; levels and missing values as they are, where the model takes them."""
    X, y = _real(name)
    classes = name == "titanic"
    assert contradictions(Explainer(_fitted(kind, classes).fit(X, y), X, y=y)) == []


def _real(name: str) -> tuple[Any, Any]:
    import icefield

    if name == "flights":
        demo = pytest.importorskip("icefield.cli.demo")
        try:
            X, y = demo.flights()
        except (FileNotFoundError, ImportError) as error:
            pytest.skip(f"the data is not here: {error}")
        X, y = X[y.notna()], y[y.notna()]
    else:
        target = {"titanic": "survived", "bikes": "cnt", "housing": "median_house_value"}[name]
        data = getattr(icefield.datasets, name)("pandas")
        if name == "titanic":
            data = data[["survived", "pclass", "sex", "age", "sibsp", "parch", "fare", "embarked"]]
        if name == "bikes":
            data = data.drop(columns=["casual", "registered", "instant", "dteday"], errors="ignore")
        X, y = data.drop(columns=target), data[target]
    rows = np.sort(np.random.default_rng(0).permutation(len(X))[:800])
    X = X.iloc[rows].reset_index(drop=True)
    for column in X.select_dtypes(exclude=["number", "bool"]).columns:
        X[column] = X[column].astype(str).where(X[column].notna()).astype("category")
    return X, y.iloc[rows].to_numpy()


def _fitted(kind: str, classes: bool) -> Any:
    from sklearn.compose import make_column_selector, make_column_transformer
    from sklearn.ensemble import (
        HistGradientBoostingClassifier,
        HistGradientBoostingRegressor,
        RandomForestClassifier,
        RandomForestRegressor,
    )
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LinearRegression, LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    if kind == "boosted":
        boosted = HistGradientBoostingClassifier if classes else HistGradientBoostingRegressor
        return boosted(max_iter=60, categorical_features="from_dtype", random_state=0)
    numbers = make_pipeline(SimpleImputer(), StandardScaler())
    prepared = make_column_transformer(
        (numbers, make_column_selector(dtype_include="number")),
        (OneHotEncoder(handle_unknown="ignore"), make_column_selector(dtype_include="category")),
        remainder="passthrough",
    )
    if kind == "forest":
        forest = RandomForestClassifier if classes else RandomForestRegressor
        return make_pipeline(prepared, forest(20, max_depth=6, random_state=0))
    return make_pipeline(prepared, LogisticRegression(max_iter=500) if classes else LinearRegression())
