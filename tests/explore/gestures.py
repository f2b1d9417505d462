"""Every gesture of the explorer, made in a real browser, with its numbers beside the Explainer's.

The same list is played on a served page, in JupyterLab and in marimo: `Hand` finds the explorer wherever it is shown, in a shadow
root too. Each gesture begins at the first state.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from explored import rich_data, rich_explainers

APP = """(window.icefieldApp ||= (() => { const seek = (root) => { for (const one of root.querySelectorAll('*')) {
    if (one.explorer) return one.explorer; if (one.shadowRoot) { const found = seek(one.shadowRoot); if (found) return found; } } return null; };
    return seek(document); })())"""


class Hand:
    """Gestures on one explorer of `rich_explainers`, and its numbers."""

    def __init__(self, browser: Any) -> None:
        self.browser = browser
        self.page = browser._page
        self.explainers = rich_explainers()
        self.ex = self.explainers["large"]
        self.X, self.y = rich_data()
        self.wait("app?.home.dataset.settled && app.data.whatif", 120)
        self.root = self.page.locator(".icefield-explorer")

    def run(self, code: str) -> Any:
        return self.browser.run(f"(() => {{ const app = {APP}; return {code}; }})()")

    def wait(self, condition: str, seconds: float = 60) -> None:
        self.browser.wait(f"(() => {{ const app = {APP}; return {condition}; }})()", seconds)

    def numbers(self, code: str) -> np.ndarray:
        found = json.loads(self.run(f"JSON.stringify(Array.from({code}))"))
        return np.array([np.nan if v is None else v for v in found], float)

    def quiet(self) -> None:
        """Until everything that was asked is answered."""
        self.wait(
            "['filter', 'row', 'view', 'points', 'pinned'].every((slot) => app.asker.quiet(slot)) && !app.queue?.length && app.data.whatif && !app.timers.commit"
        )

    def begin(self) -> None:
        """The first state, of row 7."""
        self.run("(app.timers.commit = null, app.show({row: 7}))")
        self.quiet()

    def button(self, name: str) -> Any:
        return self.root.get_by_role("button", name=name, exact=True).first

    def box(self, found: Any) -> tuple[float, float, float, float]:
        found.evaluate("(one) => one.scrollIntoView({block: 'center'})")
        self.page.wait_for_timeout(60)
        held = found.bounding_box()
        return held["x"], held["y"], held["width"], held["height"]

    def at(self, found: Any, x: float, y: float = 0.5) -> tuple[float, float]:
        left, top, width, height = self.box(found)
        return left + x * width, top + y * height

    def drag(self, found: Any, start: tuple[float, float], end: tuple[float, float]) -> None:
        """From one place of an element to another, in shares of its size."""
        left, top, width, height = self.box(found)
        self.page.mouse.move(left + start[0] * width, top + start[1] * height)
        self.page.mouse.down()
        for share in (0.3, 0.7, 1.0):
            self.page.mouse.move(
                left + (start[0] + share * (end[0] - start[0])) * width,
                top + (start[1] + share * (end[1] - start[1])) * height,
            )
        self.page.mouse.up()

    @property
    def rows(self) -> np.ndarray:
        """The mask of the rows that the shown rule keeps, from the data."""
        kept = np.ones(len(self.X), bool)
        for one in self.run("app.state.rule"):
            if one["column"] in ("observed", "predicted"):
                values = (
                    self.ex.study.predictions()[:, 0]
                    if one["column"] == "predicted"
                    else (self.y == "high").astype(float)
                )
            else:
                values = self.X.iloc[:, one["column"]]
            if "in" in one:
                kept &= np.asarray(values.cat.codes.isin(one["in"]))
                continue
            inside = np.ones(len(self.X), bool)
            if "ge" in one or "le" in one:
                inside = np.asarray((values >= one.get("ge", -np.inf)) & (values <= one.get("le", np.inf)))
            else:
                inside[:] = False
            kept &= inside | np.asarray(np.isnan(np.asarray(values, float))) if one.get("missing") else inside
        return kept

    def check_filter(self) -> None:
        """The count, every curve and the plane are those of the rule's rows."""
        self.quiet()
        rows = self.rows
        assert 0 < rows.sum() < len(rows)
        assert self.run("app.data.count") == rows.sum()
        assert f"{rows.sum()}" in self.root.locator(".count").text_content()
        effects = self.ex.effects(rows=rows)
        np.testing.assert_allclose(
            self.numbers("app.data.curves"),
            np.concatenate([e.average for e in effects.values()], axis=1).ravel(),
            rtol=1e-9,
        )
        table = self.ex.importance(rows=rows, permutation=False)
        of = {f: v for f, o, v in zip(table["feature"], table["output"], table["movement"]) if o == "high"}
        np.testing.assert_allclose(
            self.numbers("app.data.plane.movement"), [of[f] for f in effects], rtol=1e-9
        )

    def check_row(self, **changed: Any) -> None:
        """The prediction and a curve of the shown row are the model's."""
        self.quiet()
        row = self.run("app.state.row")
        frame = self.X.iloc[[row]].assign(**{k: v for k, v in changed.items() if k != "town"})
        if "town" in changed:
            frame["town"] = (
                self.X["town"]
                .cat.categories[[self.X["town"].cat.categories.get_loc(changed["town"])]]
                .astype(self.X["town"].dtype)
            )
        np.testing.assert_allclose(
            self.numbers("app.data.whatif.predicted"), self.ex.model.native.predict_proba(frame)[0], rtol=1e-9
        )
        curve = self.ex.ice("income", rows=[row], changed=changed).individual[0, 0]
        np.testing.assert_allclose(self.numbers("app.whatifCurve(1)"), curve, rtol=1e-9)


def choose_a_feature(hand: Hand) -> None:
    hand.root.locator(".features button", has_text="income").click()
    hand.quiet()
    assert hand.run("app.state.feature") == 1
    np.testing.assert_allclose(
        hand.numbers("app.curveOf(1)"), hand.ex.partial_dependence("income").average[0], rtol=1e-9
    )
    assert "income" in hand.root.locator("h2.feature").text_content()


def find_and_sort_features(hand: Hand) -> None:
    names = lambda: hand.root.locator(".features .name").all_text_contents()  # noqa: E731
    table = hand.ex.importance(permutation=False)
    of = {f: v for f, o, v in zip(table["feature"], table["output"], table["movement"]) if o == "high"}
    assert names() == sorted(of, key=lambda f: -of[f])
    hand.root.get_by_label("Sort features").select_option("name")
    assert names() == sorted(of)
    hand.root.get_by_label("Find a feature").fill("CA")
    assert names() == ["cars"]
    hand.root.get_by_label("Find a feature").fill("")


def click_the_plane(hand: Hand) -> None:
    left, top, *_ = hand.box(hand.root.locator(".planestage .plot"))
    other = hand.run(
        "Array.from(app.data.plane.movement.keys()).filter((i) => i).sort((a, b) => app.data.plane.movement[b] - app.data.plane.movement[a])[0]"
    )
    x, y = hand.run(
        f"app.planeView.drawing.on.at(app.data.plane.strength[{other}], app.data.plane.heterogeneity[{other}])"
    )
    hand.page.mouse.click(left + x, top + y)
    hand.quiet()
    assert hand.run("app.state.feature") == other


def brush_a_histogram(hand: Hand) -> None:
    hand.drag(hand.root.locator(".histogram svg").first, (0.5, 0.5), (0.9, 0.5))
    hand.check_filter()
    assert hand.root.locator(".curve .layer-ghost").count() == 1
    hand.button("Undo").click()
    hand.wait("!app.state.rule.length")
    hand.button("Redo").click()
    hand.check_filter()


def click_levels(hand: Hand) -> None:
    hand.page.mouse.click(*hand.at(hand.root.locator(".histogram svg").nth(2), 1 / 6))
    hand.check_filter()
    assert hand.run("app.state.rule") == [{"column": 2, "in": [0]}]


def click_the_missing_chip(hand: Hand) -> None:
    hand.root.locator(".histogram").nth(1).get_by_role("button", name="missing").click()
    hand.check_filter()
    assert hand.rows.sum() == hand.X["income"].isna().sum()


def brush_the_scatter(hand: Hand) -> None:
    hand.drag(hand.root.locator(".scatter .plot"), (0.4, 0.2), (0.8, 0.7))
    hand.check_filter()
    assert len(hand.run("app.state.rule")) == 2


def click_the_scatter(hand: Hand) -> None:
    left, top, *_ = hand.box(hand.root.locator(".scatter .plot"))
    known = hand.run(
        "Array.from(app.data.points.px.keys()).filter((i) => app.data.points.px[i] === app.data.points.px[i] && app.data.points.py[i] === app.data.points.py[i])[30]"
    )
    x, y = hand.run(f"app.filterView.drawing.on.at(app.data.points.px[{known}], app.data.points.py[{known}])")
    hand.page.mouse.click(left + x, top + y)
    hand.wait("app.state.row !== 7")
    hand.check_row()
    points = hand.run("[app.data.points.x, app.data.points.y]")
    row = hand.X.iloc[hand.run("app.state.row")]
    place = hand.run(f"app.filterView.drawing.on.at({row.iloc[points[0]]}, {row.iloc[points[1]]})")
    assert np.hypot(place[0] - x, place[1] - y) < 14


def walk_the_scatter_by_keys(hand: Hand) -> None:
    hand.root.locator(".scatter .plot").evaluate("(one) => one.focus()")
    for key in ("ArrowRight", "ArrowRight", "ArrowUp"):
        hand.page.keyboard.press(key)
    row = hand.run("app.data.points.row[app.filterView.at]")
    assert f"Row {row}:" in hand.root.locator("[role=status].hiddentext").text_content()
    hand.page.keyboard.press("Enter")
    hand.wait(f"app.state.row === {row}")
    hand.check_row()


def show_observed_against_predicted(hand: Hand) -> None:
    hand.button("Observed against predicted").click()
    hand.wait("app.data.points.x === 'predicted' && app.data.points.y === 'observed'")
    at = hand.numbers("app.data.points.row").astype(int)
    np.testing.assert_allclose(
        hand.numbers("app.data.points.px"),
        hand.ex.model.native.predict_proba(hand.X)[at, 0].astype(np.float32),
        rtol=1e-6,
    )
    np.testing.assert_array_equal(hand.numbers("app.data.points.py"), (hand.y[at] == "high"))


def keep_and_compare_a_named_cohort(hand: Hand) -> None:
    hand.page.mouse.click(*hand.at(hand.root.locator(".histogram svg").nth(2), 1 / 6))
    hand.check_filter()
    rows = hand.rows
    hand.root.get_by_label("Name of the cohort").fill("town a")
    hand.button("Keep as cohort").click()
    hand.button("All rows").click()
    hand.quiet()
    hand.button("compare").click()
    hand.wait("app.data.cohort")
    assert hand.root.locator(".cohorts").text_content().startswith("town a")
    np.testing.assert_allclose(
        hand.numbers("app.data.cohort.curve"),
        hand.ex.partial_dependence("age", rows=rows, spread=False).average[0],
        rtol=1e-9,
    )
    assert hand.root.locator(".curve .layer-cohort").count() == 1


def drag_the_dot_out_of_the_data(hand: Hand) -> None:
    plot = hand.box(hand.root.locator(".curve .plot").first)
    left, top, width, height = hand.box(hand.root.locator(".dot"))
    far = 0.95 if hand.X["age"][7] < 50 else 0.12
    hand.page.mouse.move(left + width / 2, top + height / 2)
    hand.page.mouse.down()
    for share in (0.4, 0.8, 1.0):
        hand.page.mouse.move(left + width / 2 + share * (plot[0] + far * plot[2] - left), top + height / 2)
    hand.page.mouse.up()
    hand.wait("'0' in app.state.values")
    hand.quiet()
    hand.check_row(age=hand.run("app.state.values['0']"))
    assert "extrapolation" in hand.root.locator(".badge.out").text_content()
    hand.button("Back").click()
    hand.check_row()
    assert hand.root.locator(".badge.out").count() == 0


def type_values_and_pin(hand: Hand) -> None:
    values = hand.root.locator("ul.values")
    values.get_by_label("cars").fill("4")
    hand.page.keyboard.press("Enter")
    other = "a" if hand.X["town"][7] != "a" else "b"
    values.get_by_label("town").select_option(label=other)
    hand.wait("'2' in app.state.values")
    hand.check_row(town=other, **({} if hand.X["cars"][7] == 4 else {"cars": 4}))
    hand.button("Pin").click()
    hand.button("Back").click()
    hand.check_row()
    hand.wait("app.home.querySelectorAll('.curve .layer-pinned').length === 1")


def pick_rows(hand: Hand) -> None:
    predicted = hand.ex.model.native.predict_proba(hand.X)[:, 0]
    hand.button("Worst error").click()
    hand.wait(f"app.state.row === {int(np.abs(predicted - (hand.y == 'high')).argmax())}")
    hand.button("Typical").click()
    hand.wait(f"app.state.row === {int(np.argsort(predicted, kind='stable')[len(predicted) // 2])}")
    before = hand.run("app.state.row")
    hand.button("Random").click()
    hand.wait(f"app.state.row !== {before}")
    hand.check_row()
    find = hand.root.get_by_label("Row number or values")
    find.fill("12")
    hand.page.keyboard.press("Enter")
    hand.wait("app.state.row === 12")
    find.fill("age 40, town = b, cars 3")
    hand.page.keyboard.press("Enter")
    wide = {name: hand.X[name].std(ddof=0) for name in ("age", "cars")}
    far = (
        ((hand.X["age"] - 40) / wide["age"]) ** 2
        + ((hand.X["cars"] - 3) / wide["cars"]) ** 2
        + 9.0 * (hand.X["town"] != "b")
    )
    hand.wait(f"app.state.row === {int(np.argmin(far))}")
    hand.check_row()


def show_ale_and_observed(hand: Hand) -> None:
    hand.root.locator("input[data-shown=ale]").check()
    hand.root.locator("input[data-shown=observed]").check()
    hand.wait("app.data.ale && app.data.observed")
    np.testing.assert_allclose(hand.numbers("app.data.ale.y"), hand.ex.ale("age").average[0], rtol=1e-9)
    table = hand.ex.conditional("age")
    own = [o == "high" for o in table["output"]]
    np.testing.assert_allclose(hand.numbers("app.data.observed.observed"), table["observed"][own], rtol=1e-9)


def switch_the_audit_on(hand: Hand) -> None:
    hand.root.locator("input[data-shown=audit]").check()
    hand.wait("!app.audit.hidden")
    found = hand.ex.audit(["age"], everywhere=False)
    first = next(i for i, output in enumerate(found["output"]) if output == "high")
    told = hand.run("app.audit.textContent")
    assert "decided at every threshold" in told
    for word, text in (("rises", "only rise"), ("falls", "only fall"), ("both", "do both")):
        share = found[word][first]
        assert (f"{text} for {100 * share:.3g} % of rows" in told) == (share > 0)


def drop_a_feature_on_the_plot(hand: Hand) -> None:
    hand.box(hand.root.locator(".curve .stage").first)
    hand.root.locator(".features button", has_text="income").drag_to(hand.root.locator(".curve .stage").first)
    hand.wait("app.data.surface && app.home.querySelector('.layer-surface')")
    assert hand.run("app.state.second") == 1
    np.testing.assert_allclose(
        hand.numbers("app.data.surface.y"),
        hand.ex.partial_dependence("age", "income").average.ravel(),
        rtol=1e-9,
    )


def check_regions(hand: Hand) -> None:
    hand.wait("!app.regions.hidden")
    low, high = hand.run("app.state.regions")
    grid = hand.ex.partial_dependence("age").grid[0]
    rules = hand.ex.regions("age", grid=grid[(grid >= low) & (grid <= high)])
    shown = [text.split(" — ")[0] for text in hand.root.locator(".regions li").all_text_contents()]
    assert shown == list(rules["rule"])


def ask_why_rows_differ_in_a_stretch(hand: Hand) -> None:
    hand.drag(hand.root.locator(".curve .plot").first, (0.3, 0.3), (0.7, 0.3))
    hand.button("Why do rows differ here?").click()
    check_regions(hand)


def choose_a_stretch_by_keys(hand: Hand) -> None:
    hand.root.locator(".curve .plot").first.evaluate("(one) => one.focus()")
    hand.page.keyboard.press("Enter")
    low, high = hand.run("app.curveView.brush")
    hand.page.keyboard.press("Shift+ArrowRight")
    assert hand.run("app.curveView.brush[0]") > low
    assert hand.run("app.curveView.brush[1]") == high
    hand.button("Why do rows differ here?").click()
    check_regions(hand)
    hand.root.locator(".curve .plot").first.evaluate("(one) => one.focus()")
    hand.page.keyboard.press("Escape")
    assert hand.run("app.curveView.brush") is None


def switch_class_scale_and_model(hand: Hand) -> None:
    from icefield import Explainer

    hand.run("app.change(3, 4)")
    grid = hand.ex.partial_dependence("age").grid[0]
    hand.root.get_by_label("Output").select_option(label="mid")
    hand.quiet()
    np.testing.assert_allclose(
        hand.numbers("app.curveOf(0)"), hand.ex.partial_dependence("age").average[2], rtol=1e-9
    )
    hand.root.get_by_label("Scale").select_option("raw")
    hand.quiet()
    raw = Explainer(hand.ex.model.native, hand.X, target="all", scale="raw")
    np.testing.assert_allclose(
        hand.numbers("app.curveOf(0)"), raw.partial_dependence("age", grid=grid).average[2], rtol=1e-9
    )
    changed = {} if hand.X["cars"][7] == 4 else {"cars": 4}
    curve = raw.ice("age", grid=grid, rows=[7], changed=changed).individual[2, 0]
    np.testing.assert_allclose(hand.numbers("app.whatifCurve(0)"), curve, rtol=1e-9)
    hand.root.get_by_label("Scale").select_option("response")
    hand.root.get_by_label("Model").select_option(label="small")
    hand.quiet()
    np.testing.assert_allclose(
        hand.numbers("app.curveOf(0)"),
        hand.explainers["small"].partial_dependence("age", grid=grid).average[2],
        rtol=1e-9,
    )
    hand.root.get_by_label("side by side").check()
    hand.wait("app.data.compared")
    np.testing.assert_allclose(
        hand.numbers("app.data.compared.curves[0]"), hand.ex.partial_dependence("age").average[2], rtol=1e-9
    )


def copy_code(hand: Hand) -> None:
    hand.page.mouse.click(*hand.at(hand.root.locator(".histogram svg").nth(2), 0.5))
    hand.check_filter()
    hand.wait("app.code.textContent.includes('rows = ')")
    hand.button("Copy code").click()
    hand.wait("app.home.dataset.copied")
    models = hand.run("app.about.models")
    names: dict[str, Any] = {"X": hand.X, "explainers": dict(zip(models, hand.explainers.values()))}
    lines = hand.run("app.home.dataset.copied").splitlines()
    for line in (one for one in lines if not one.startswith("explainers")):
        exec(line, names)
    np.testing.assert_array_equal(names["rows"], hand.rows)
    shown = eval(next(one for one in lines if one.startswith("explainers")).removesuffix(".plot()"), names)
    np.testing.assert_allclose(hand.numbers("app.curveOf(0)"), shown.average[0], rtol=1e-9)


def change_the_theme(hand: Hand) -> None:
    paper = "getComputedStyle(app.home).backgroundColor"
    before = hand.run(paper)
    hand.button("Dark").click()
    assert hand.run(paper) != before
    hand.button("Light").click()
    assert hand.run(paper) == before


GESTURES = [
    choose_a_feature, find_and_sort_features, click_the_plane, brush_a_histogram, click_levels, click_the_missing_chip, brush_the_scatter,
    click_the_scatter, walk_the_scatter_by_keys, show_observed_against_predicted, keep_and_compare_a_named_cohort,
    drag_the_dot_out_of_the_data, type_values_and_pin, pick_rows, show_ale_and_observed, switch_the_audit_on, drop_a_feature_on_the_plot,
    ask_why_rows_differ_in_a_stretch, choose_a_stretch_by_keys, switch_class_scale_and_model, copy_code, change_the_theme,
]  # fmt: skip


def play_all(browser: Any, own: str) -> None:
    """Every gesture one after another; nothing goes to another address than `own`, and the explorer tells the console nothing."""
    hand = Hand(browser)
    browser.problems.clear()  # those of the notebook's own start
    for gesture in GESTURES:
        hand.begin()
        try:
            gesture(hand)
        except Exception as error:
            raise AssertionError(f"{gesture.__name__}: {error}; problems: {browser.problems}") from error
    # marimo preloads pictures for its own page that it then does not use.
    assert [told for told in browser.problems if "was preloaded using link preload" not in told] == []
    assert [url for url in browser.requests if not url.startswith(own)] == []
