"""The report's data: what the page will say, checked against the statistics it came from."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from handling import as_json

from icefield import Explainer
from icefield.report import ReportPage, build, page_html, write_report
from icefield.report.card_data import feature_panel, short_curves, surface_panel
from icefield.report.page import payload_json
from icefield.report.plain import weighted_bands
from icefield.report.stills import spark
from icefield.report.view_model import packed


def linear(rows: Any) -> Any:
    return 10 + 3 * rows[:, 0] + 2 * rows[:, 1] * (rows[:, 2] > 0)


@pytest.fixture(scope="module")
def explainer() -> Explainer:
    rng = np.random.default_rng(1)
    return Explainer(linear, rng.normal(size=(150, 3)))


@pytest.fixture(scope="module")
def plain(explainer: Explainer) -> ReportPage:
    return build(explainer.study)


def test_everything_is_plain_json(built: ReportPage) -> None:
    again = json.loads(as_json(built))
    assert set(again) == {own.name for own in fields(built)}
    assert again["features"][1]["panel"]["average"] == built.features[1].panel.average
    assert again["plane"]["picture"]["panels"][0]["look"] == "square"


def test_cards_hold_the_explainers_own_numbers(explainer: Explainer, plain: ReportPage) -> None:
    card = plain.features[0]
    assert card.name == "0"
    effect = explainer.partial_dependence(0)
    np.testing.assert_allclose(card.panel.average, effect.average, rtol=1e-4, atol=1e-12)
    np.testing.assert_allclose(card.panel.x, effect.grid[0], rtol=1e-9)
    local = explainer.ale(0)
    np.testing.assert_allclose(card.panel.ale.y, local.average, rtol=1e-4, atol=1e-4)


def test_bands_are_of_what_rows_do_and_not_of_where_they_stand(plain: ReportPage) -> None:
    alike = np.array(plain.features[0].panel.bands[0])
    np.testing.assert_allclose(alike[4] - alike[0], 0, atol=1e-3)  # parallel curves, however far apart
    differing = np.array(plain.features[1].panel.bands[0])
    assert (np.diff(differing, axis=0) >= 0).all()
    assert (differing[4] - differing[0]).max() > 1


def test_rows_stay_out_unless_asked_for(plain: ReportPage, built: ReportPage) -> None:
    assert plain.individual == 0
    assert all(card.panel.curves is None and card.panel.rows is None for card in plain.features)
    assert "averages, quantiles and counts only" in page_html(plain)
    assert built.individual > 0
    shown = built.features[0].panel
    assert np.array(shown.curves).shape[1] == len(shown.rows) == built.individual
    assert "contains the ICE curves of" in page_html(built)


def test_every_group_has_a_reading_of_its_own() -> None:
    pd = pytest.importorskip("pandas")
    x = np.tile(np.linspace(0, 1, 40), 2)
    frame = pd.DataFrame({"x": x, "side": np.repeat(["up", "down"], 40)})
    explainer = Explainer(lambda f: np.where(f["side"] == "up", f["x"], -f["x"]), frame, by="side")
    effect = explainer.partial_dependence("x")
    texts = [group.readings for group in feature_panel(effect, None, None).groups]
    by_name = dict(zip(effect.groups, texts, strict=True))
    assert {name: len(found) for name, found in by_name.items()} == {"up": 1, "down": 1}
    assert "increasing" in by_name["up"][0].lower()
    assert "decreasing" in by_name["down"][0].lower()


def test_a_log_axis_needs_positive_values_over_a_wide_span() -> None:
    x = np.logspace(0, 3, 60)
    rows = np.column_stack([x, x - 1, np.linspace(10, 30, 60), -x])
    explainer = Explainer(lambda r: r.sum(axis=1), rows)
    found = [feature_panel(explainer.partial_dependence(i), None, None).log for i in range(4)]
    assert found == [True, False, False, False]


def test_the_interacting_pair_is_found_and_its_pure_part_sums_to_nothing(
    explainer: Explainer, plain: ReportPage
) -> None:
    pair = plain.surfaces[0]
    assert sorted(pair.names) == ["1", "2"]
    share, pure = np.array(pair.share), np.array(pair.pure[0])
    assert abs((share * pure).sum()) < 0.02 * np.abs(pure).max()
    effect = explainer.partial_dependence(*(int(n) for n in pair.names))
    np.testing.assert_allclose(pair.level, effect.average, rtol=1e-4, atol=1e-4)


def test_matrix_is_symmetric_in_units_of_the_predictions(explainer: Explainer, plain: ReportPage) -> None:
    matrix = plain.matrix
    values = np.array(matrix.strength[0], dtype=float)
    np.testing.assert_array_equal(np.isnan(values), np.eye(len(values), dtype=bool))
    np.testing.assert_allclose(values, values.T)
    table = explainer.interactions().pairs()
    unit = float(explainer.partial_dependence(0).output_std[0])
    assert np.nanmax(values) == pytest.approx(table["strength"].max() / unit, rel=1e-2)


def test_regions_are_the_explainers(built: ReportPage) -> None:
    found = next(r for r in built.regions if r.name == "length")
    assert any("petals" in rule.rule for rule in found.rules)
    assert sum(rule.share for rule in found.rules) == pytest.approx(1.0, abs=0.01)


def test_the_opening_says_what_was_done(built: ReportPage) -> None:
    facts = {fact.term: fact.text for fact in built.facts}
    assert "300 rows" in facts["Data"]
    assert "1 with missing values" in facts["Data"]
    assert facts["Computed"] == "by asking the model itself, over every row"
    assert facts["Engine"].startswith("brute: ")
    assert [fact.term for fact in built.opening] == ["Model", "Data", "Computed", "Made"]
    assert "place" in facts["Subgroups"]
    assert built.plain[0].name in [card.name for card in built.features]
    assert built.groups == ["hill", "shore"]


def test_levels_beyond_forty_are_left_out_and_counted() -> None:
    pd = pytest.importorskip("pandas")
    levels = [f"level {i:03d}" for i in range(100) for _ in range(1 + i % 3)]
    effect = Explainer(lambda frame: frame["a"].str[6:].astype(float), pd.DataFrame({"a": levels, "b": 0.0})
                       ).partial_dependence("a")  # fmt: skip
    panel = feature_panel(effect, None, None)
    assert len(panel.x) == 40
    assert panel.left_out == 60
    assert spark(effect, 0, 1.0).kind == "bars"


def test_masked_cells_have_no_data_around() -> None:
    X = np.column_stack([np.arange(40.0), np.arange(40.0)])
    explainer = Explainer(lambda rows: rows.sum(axis=1), X)
    effect = explainer.partial_dependence(0, 1)
    singles = tuple(explainer.partial_dependence(i, grid=g) for i, g in enumerate(effect.grid))
    panel = surface_panel(effect, singles, {})
    low = np.array(panel.low, dtype=bool)
    assert low[0, -1]
    assert low[-1, 0]
    assert not np.diagonal(low).any()
    np.testing.assert_allclose(panel.pure, 0, atol=1e-8)  # a sum has no interaction


def test_payload_cannot_end_its_script() -> None:
    hostile = "</script><!--\u2028\u2029&<![CDATA[ \ud800"
    text = payload_json({"a": hostile})
    assert not set("<>&\u2028\u2029") & set(text)
    assert json.loads(text) == {"a": hostile}


@pytest.mark.parametrize("scale", [1e-12, 1e-5, 1.0, 123.0, 1e9])
def test_packed_numbers_come_back_as_they_were(scale: float) -> None:
    values = short_curves(scale * np.random.default_rng(4).normal(size=(2, 3, 50)))
    found = packed(values)
    assert (np.array(found["whole"]) / 10 ** found["places"]).tolist() == np.array(values).tolist()
    assert len(json.dumps(found)) < 30 + len(json.dumps(values))


def test_numbers_that_cannot_be_packed_stay() -> None:
    assert packed([[1.5, 1e-20]]) == [[1.5, 1e-20]]
    assert packed([None, []]) == {"places": 0, "whole": [None, []]}


def test_rounding_is_relative_to_the_largest() -> None:
    assert short_curves(np.array([[0.123456, 0.000123456, np.nan], [0.0, 0.0, 0.0]])) == [
        [0.1235, 0.0001, None],
        [0, 0, 0],
    ]
    assert short_curves(np.array([[1e-310, 1e300]]))[0][1] == 1e300


def test_policy_names_the_scripts_by_hash(plain: ReportPage) -> None:
    page = page_html(plain)
    policy = page.split('Content-Security-Policy" content="')[1].split('"')[0]
    assert "default-src &#39;none&#39;" in policy
    assert policy.count("sha256-") == 1
    assert "unsafe-eval" not in policy
    assert "unsafe-inline" not in policy.split("style-src")[0]


def test_weak_effects_have_short_bars(plain: ReportPage) -> None:
    for movement, width in ((0.01, "5.0"), (0.8, "100.0")):
        models = [replace(plain.features[0].models[0], movement=movement)]
        cards = [replace(card, models=models) for card in plain.features]
        shown = page_html(replace(plain, features=cards, rows=cards))
        assert shown.count(f'style="width:{width}%"') == len(cards)


def test_the_file_is_small_and_names_no_address(explainer: Explainer, tmp_path: Path) -> None:
    page = write_report(explainer.study, tmp_path / "report.html")
    assert page.stat().st_size < 300_000
    text = page.read_text(encoding="utf-8").replace(
        "http://www.w3.org/2000/svg", ""
    )  # a name, not an address
    assert "http:" not in text
    assert "https:" not in text


def test_bad_requests_are_clear(explainer: Explainer, tmp_path: Path, complains: Any) -> None:
    with complains("path", "folder"):
        explainer.report(tmp_path)
    with complains("path", "does not exist"):
        explainer.report(tmp_path / "nowhere" / "a.html")
    with complains("path"):
        explainer.report(3)
    with complains("title"):
        explainer.report(tmp_path / "a.html", title=3)
    with complains("individual"):
        explainer.report(tmp_path / "a.html", individual="yes")
    assert list(tmp_path.iterdir()) == []


def test_an_older_report_survives_a_failure(
    explainer: Explainer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import icefield.report as report

    path = tmp_path / "report.html"
    path.write_text("older")
    monkeypatch.setattr(report, "page_html", lambda *_, **__: "new\ud800")  # cannot be written
    monkeypatch.setattr(report, "build", lambda *_, **__: {})
    with pytest.raises(UnicodeEncodeError):
        explainer.report(path)
    assert path.read_text() == "older"
    assert [p.name for p in tmp_path.iterdir()] == ["report.html"]


def test_one_feature_has_a_report_too(tmp_path: Path) -> None:
    explainer = Explainer(lambda rows: rows[:, 0] ** 2, np.linspace(-1, 1, 50).reshape(-1, 1))
    found = build(explainer.study)
    assert found.matrix is None
    assert found.surfaces == []
    assert 'id="interactions"' not in page_html(found)


def test_levels_shown_stand_side_by_side_with_their_own_names() -> None:
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(2)
    levels = [f"level {i:03d}" for i in range(60) for _ in range(1 + (i % 7 == 0) * 20)]
    frame = pd.DataFrame({"a": levels, "b": rng.normal(size=len(levels))})
    explainer = Explainer(lambda rows: rows["a"].str[6:].astype(float) + rows["b"], frame)
    panel = feature_panel(explainer.partial_dependence("a"), explainer.ale("a"), None)
    assert panel.x == list(range(40))
    assert panel.axis.ticks == panel.points
    values = dict(zip(panel.points, panel.average[0]))
    assert values["level 056"] - values["level 007"] == pytest.approx(49, rel=1e-3)
    assert {"level 000", "level 059"} <= set(values)  # which words name, however rare
    local = dict(zip(panel.ale.values, panel.ale.x))
    assert all(panel.points[int(x)] == name for name, x in local.items())


def test_nothing_is_asked_for_twice(rental_explainer: Explainer, monkeypatch: pytest.MonkeyPatch) -> None:
    from icefield.core import effects
    from icefield.report import ranked
    from icefield.statistics import ice_sample as curved
    from icefield.statistics import interactions as pairs

    study = rental_explainer.study
    fresh = Explainer(study.model.native, study.sample.table.native, y=study.sample.y).study
    asked: dict[str, list[Any]] = {"compute": [], "averages_at_rows": [], "ales": []}

    def counted(home: Any, name: str, key: Any) -> None:
        real = getattr(home, name)

        def call(*given: Any, **options: Any) -> Any:
            asked[name].append(key(given))
            return real(*given, **options)

        monkeypatch.setattr(home, name, call)

    for home in (effects, curved):
        counted(
            home,
            "compute",
            lambda given: [(s, one.kind, str(one.grid)) for one in given[1] for s in one.sets],
        )
    counted(pairs, "averages_at_rows", lambda given: list(given[1]))
    counted(ranked, "ales", lambda given: sorted(given[1]))
    found = build(fresh)
    curves = [one for sets in asked["compute"] for one in sets]
    assert len(curves) == len({str(one) for one in curves})
    # For decisions, for surfaces, and for cards with the curves that surfaces are made of.
    assert len(asked["compute"]) == 3
    assert len(asked["averages_at_rows"]) == 1  # H
    assert asked["ales"] == [sorted(study.model.columns)]  # of all features at once
    assert found.surfaces
    assert found.quantile_rows == 600


def test_bands_come_from_thousands_of_curves_in_any_memory() -> None:
    from sklearn.ensemble import HistGradientBoostingRegressor

    X = np.random.default_rng(0).normal(size=(5_300, 4))
    model = HistGradientBoostingRegressor(max_iter=8, random_state=0).fit(X, X[:, 0] * X[:, 1] + X[:, 2])
    found = build(Explainer(model, X).study)
    assert found.quantile_rows == 5_000
    # A budget that holds one feature's curves at a time gives the same bands.
    little = build(Explainer(model, X, memory=9_000_000).study)
    assert [c.panel.bands for c in little.features] == [c.panel.bands for c in found.features]
    facts = {fact.term: fact.text for fact in found.facts}
    assert facts["Spread"].endswith("from the curves of 5000 rows")


def test_observed_means_far_from_the_curve_are_a_finding() -> None:
    rng = np.random.default_rng(0)
    a = rng.normal(size=2000)
    rows = np.column_stack([a, a + 0.1 * rng.normal(size=2000)])
    truth = rows[:, 0] + rows[:, 1]
    along = build(
        Explainer(lambda r: r[:, 0] + r[:, 1], rows, truth, target_name="delay", units={"delay": "min"}).study
    )
    for card in along.features:  # each curve has half the slope that is seen along it
        assert card.far.startswith("Observed means are far from this curve (around ")
        assert "min observed" in card.far
        assert "Other features change along with this one" in card.far
    assert all(line.cautions for line in along.plain)
    assert "Observed means are far from this curve" in page_html(along)
    own = rng.normal(size=(2000, 2))
    right = build(Explainer(lambda r: r[:, 0] + r[:, 1], own, own.sum(axis=1)).study)
    assert [card.far for card in right.features] == ["", ""]
    wrong = build(Explainer(lambda r: r[:, 0] + r[:, 1], own, own[:, 0] + own[:, 1] ** 2).study)
    assert any("The model does not fit these rows" in card.far for card in wrong.features)
    assert all(card.far == "" for card in build(Explainer(lambda r: r[:, 0], own).study).features)


@pytest.mark.parametrize("rows", [1, 2, 19, 20, 101])
def test_bands_are_the_quantiles_of_rows(rows: int) -> None:
    curves, shares = np.random.default_rng(rows).normal(size=(2, rows, 4)), (0.05, 0.1, 0.25, 0.5, 0.9, 0.95)
    curves[1, -1, 2], curves[0, 0, 1] = np.nan, np.inf
    expected = np.moveaxis(np.quantile(curves, shares, axis=1, method="inverted_cdf"), 0, 1)
    assert np.array_equal(weighted_bands(curves, None, shares), expected, equal_nan=True)
