"""Sentences, axes, tables and the report call things by the names and units that were given."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from icefield import Effect, Explainer
from icefield.report import build
from icefield.statistics.regions import regions
from icefield.wording.labels import feature_label, quantity, subject_text, value_label
from icefield.wording.sentences import plain_words

SAID = {
    "names": {"dep": "departure", "plan": ("tariff", {1: "basic", 2: "plus", 3: "pro"})},
    "units": {"dep": "time of day", "temp": "°C", "delay": "min"},
    "target_name": "delay",
}


def frame(rows: int = 400) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    return pd.DataFrame(
        {
            "dep": np.round(rng.uniform(5, 23, rows) * 2) / 2,
            "plan": rng.integers(1, 4, rows),
            "month": rng.integers(1, 13, rows),
            "temp": rng.normal(10, 5, rows),
        }
    )


def delay(X: pd.DataFrame) -> np.ndarray:
    ramp = -4 + 22 * np.clip((X["dep"] - 8) / 10.5, 0, 1)
    late = np.where(X["plan"] == 2, 1.0, -1.0) * (X["temp"] - 10)
    return (ramp + late + 4 * np.abs(X["month"] - 7)).to_numpy()


@pytest.fixture(scope="module")
def explainer() -> Explainer:
    return Explainer(delay, frame(), row_by_row=True, **SAID)


def test_an_average_in_one_sentence(explainer):
    effect = explainer.ice("dep")
    words = plain_words(effect.reading, subject_text(effect, 0))
    assert words.startswith("predicted delay rises from ")
    assert (
        " min (before 8:30) to " in words
    )  # where it leaves its start by more than a twentieth of its range
    assert words.endswith(" min (after 18:00).")


def test_codes_get_no_ordinal_words(explainer):
    effect = explainer.partial_dependence("plan")
    assert effect.ordered == (False,)
    assert effect.reading.direction == "none"
    plain = Explainer(lambda X: X["plan"].to_numpy() * 1.0, frame()[["plan"]])
    assert plain.partial_dependence("plan").reading.direction == "increasing"
    coded = Explainer(lambda X: X["plan"].to_numpy() * 1.0, frame()[["plan"]], units={"plan": "code"})
    assert coded.partial_dependence("plan").reading.direction == "none"
    assert "highest for 3" in coded.partial_dependence("plan").reading.sentence


def test_months_by_name_without_being_told():
    X = frame()[["month"]]
    reading = Explainer(lambda X: X["month"].to_numpy() * 1.0, X).partial_dependence("month").reading
    assert "from January to December" in reading.sentence


def test_axes_carry_names_and_units(explainer):
    effect = explainer.partial_dependence("temp")
    assert quantity(effect, 0) == "predicted delay"
    assert value_label(effect, 0) == "predicted delay (min)"
    assert feature_label(effect.naming, "temp") == "temp (°C)"
    assert value_label(effect.center(), 0).startswith("change in predicted delay (min) from")
    ax = effect.plot()
    assert ax.get_xlabel() == "temp (°C)"
    assert ax.get_ylabel() == "predicted delay (min)"


def test_ticks_of_times_months_and_levels(explainer):
    ticks = [t.get_text() for t in explainer.partial_dependence("dep").plot().get_xticklabels()]
    assert "12:00" in ticks
    months = [t.get_text() for t in explainer.partial_dependence("month").plot().get_xticklabels()]
    assert months[:2] == ["Jan", "Mar"]
    levels = [
        t.get_text().split("\n")[0] for t in explainer.partial_dependence("plan").plot().get_xticklabels()
    ]
    assert levels == ["basic", "plus", "pro"]
    figure = explainer.partial_dependence("dep").plot(backend="plotly")
    assert "12:00" in figure.layout.xaxis.ticktext
    assert "departure: 8:00" in str(figure.data[-1].hovertext) + str(figure.data[-1].text)
    assert explainer.partial_dependence("plan", "temp").plot(backend="plotly").data


def test_tables_print_names_and_keep_labels(explainer):
    table = explainer.summary()
    assert "dep" in table["feature"].tolist()
    assert "departure" in repr(table)
    assert "tariff" in repr(explainer.importance())
    assert "tariff" in repr(explainer.interactions(rows=50))
    assert "departure" in repr(explainer.partial_dependence("dep"))
    assert "8:00" in repr(explainer.partial_dependence("dep", grid=[8.0, 9.0]))
    rules = regions(explainer.study, "temp")["rule"].tolist()
    assert set(rules) == {"tariff == plus", "tariff in {basic, pro}"}


def test_the_report_says_it_all_with_names(explainer):
    page = build(explainer.study)
    cards = {card.name: card for card in page.features}
    assert set(cards) == {"departure", "tariff", "month", "temp"}
    assert "predicted delay" in page.lede
    assert cards["temp"].partner == "tariff"
    assert cards["tariff"].panel.axis.ticks == ["basic", "plus", "pro"]
    assert (6.0, "6:00") in cards["departure"].panel.axis.named
    assert cards["departure"].panel.points[0].endswith(":00") or ":30" in cards["departure"].panel.points[0]
    assert page.regions
    for region in page.regions:  # splits that were made are named as the rules are
        first = next(cut.cut for cut in region.ledger if not cut.why_not)
        assert any(rule.rule.startswith(first) for rule in region.rules)
    assert page.what == "predicted delay"
    assert all(line.sides[0].text.startswith("predicted delay") for line in page.plain)


def test_names_travel_with_a_saved_effect(explainer, tmp_path):
    effect = explainer.partial_dependence("plan")
    effect.save(tmp_path / "plan.icefield")
    again = Effect.load(tmp_path / "plan.icefield")
    assert again.naming.level("plan", 2) == "plus"
    assert again.reading.sentence == effect.reading.sentence


def test_a_plural_target_has_plural_verbs():
    X = frame()
    effect = Explainer(delay, X, target_name="rentals").partial_dependence("dep")
    assert plain_words(effect.reading, subject_text(effect, 0)).startswith("predicted rentals rise from")


def test_classifiers_say_of_what_the_probability_is(explainer):
    from sklearn.linear_model import LogisticRegression

    X = frame()
    model = LogisticRegression().fit(X, delay(X) > 10)
    effect = Explainer(model, X, target_name="lateness", units={"lateness": "min"}).partial_dependence("dep")
    assert quantity(effect, 0) == "probability of lateness"
    assert value_label(effect, 0) == "probability of lateness"  # a probability has no unit
