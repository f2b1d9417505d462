"""The same panels by matplotlib, plotly and the page: axes, ranges, labels and legends agree."""

from __future__ import annotations

import html
import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest
from examples import gallery

from browser import Browser
from icefield import plots
from icefield.page import built
from icefield.plots import matplotlib as by_matplotlib
from icefield.plots import plotly as by_plotly
from icefield.plots.options import Options
from icefield.plots.panels import Field, Panel, Picture
from icefield.plots.schema import document

PAGE = '<!doctype html><html data-ready="yes"><meta charset="utf-8"><body style="margin:0"><div id="here" style="position:relative;width:900px;height:520px"></div></body></html>'


@pytest.fixture(scope="module")
def page(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Browser:
    """An empty page that has the drawing module as its own."""
    path = tmp_path_factory.mktemp("page") / "empty.html"
    path.write_text(PAGE, encoding="utf-8")
    browser.look()
    browser.open(path)
    text = json.dumps(built("draw.js"))
    browser.run(
        f"import(URL.createObjectURL(new Blob([{text}], {{type: 'text/javascript'}}))).then((module) => {{ window.page = module; }})"
    )
    return browser


def drawn_cases() -> Iterator[tuple[str, Any]]:
    """Every kind of picture in the gallery, of the first study that has it."""
    seen = {"axes"}  # which is drawn into the caller's own
    for study in ("iris", "cases", "titanic", *gallery.MAKERS):
        for name, draw in gallery.MAKERS[study]():
            if name not in seen:
                seen.add(name)
                yield name, draw


def plain(text: str) -> str:
    return " ".join(html.unescape(text.replace("<br>", " ")).split())


def on_page(page: Browser, picture: Picture) -> list[dict[str, Any]]:
    sent = json.dumps(document(picture), allow_nan=False)
    return list(
        page.run(
            f"(() => {{ document.getElementById('here').remove(); const here = document.createElement('div'); here.id = 'here';"
            " here.style.cssText = 'position:relative;width:900px;height:520px'; document.body.append(here);"
            f" return page.drawPicture(here, page.decode({sent})).map(({{axes, panel}}) => ({{axes, legend: [...page.legendOf(panel).keys()]}})); }})()"
        )
    )


def plotly_range(axis: Any) -> list[float]:
    low, high = axis.range
    if axis.type == "date":
        return [
            float(np.datetime64(str(v)).astype("datetime64[us]").astype(np.int64) / 86_400e6)
            for v in (low, high)
        ]
    return [10.0**low, 10.0**high] if axis.type == "log" else [float(low), float(high)]


def same_axes(name: str, panel: Panel, own: dict[str, Any], ax: Any, across: Any, up: Any) -> None:
    """`ax` is matplotlib's, `across` and `up` are plotly's."""
    axes = own["axes"]
    if panel.flip:
        pairs = {"y": (ax.get_xlim(), across), "x": (ax.get_ylim(), up)}
    else:
        pairs = {"x": (ax.get_xlim(), across), "y": (ax.get_ylim(), up)}
    for letter, (limits, theirs) in pairs.items():
        expected = sorted(axes[letter]["range"])
        scale = max(abs(v) for v in expected)
        np.testing.assert_allclose(
            sorted(limits), expected, atol=2e-6 * scale, err_msg=f"{name} {letter}: matplotlib"
        )
        np.testing.assert_allclose(
            sorted(plotly_range(theirs)), expected, atol=2e-6 * scale, err_msg=f"{name} {letter}: plotly"
        )
    labels = {"x": panel.x.label, "y": panel.y.label}
    for letter, label in labels.items():
        assert axes[letter]["label"] == label, name
        theirs = pairs[letter][1].title.text
        if theirs:  # panels side by side name a shared axis once
            assert plain(theirs) == plain(label), name
    mine = {plain(ax.get_xlabel()), plain(ax.get_ylabel())} - {""}
    assert mine <= {plain(label) for label in labels.values()}, name


def compared(
    page: Browser, name: str, picture: Picture, options: Options, sent: Picture | None = None
) -> None:
    """Draw a picture three times and compare; `sent` is what the page is given, where that is another."""
    with plt.rc_context({"figure.max_open_warning": 0}):
        mine = by_matplotlib.draw(picture, options)
    figure = mine if hasattr(mine, "savefig") else mine.get_figure()
    theirs = by_plotly.draw(picture, options)
    shown = on_page(page, sent or picture)
    assert len(shown) == len(picture.panels)
    legend = {plain(text) for own in shown for text in own["legend"]}
    named = {plain(t.name) for t in theirs.data if t.showlegend}
    assert named == legend, name
    texts = [text for ax in figure.axes if ax.get_legend() for text in ax.get_legend().get_texts()]
    texts += [text for one in figure.legends for text in one.get_texts()]
    assert {plain(text.get_text()) for text in texts} == legend, name
    solid = any(isinstance(m, Field) and m.style == "surface" for p in picture.panels for m in p.marks)
    own_axes = [ax for ax in figure.axes if ax.get_label() != "<colorbar>"]
    for number, (panel, own) in enumerate(zip(picture.panels, shown)):
        if not solid:  # which the page draws as contours
            suffix = "" if number == 0 else str(number + 1)
            across, up = (theirs.layout[f"{letter}axis{suffix}"] for letter in "xy")
            same_axes(name, panel, own, own_axes[number], across, up)
    plt.close(figure)


@pytest.fixture
def caught(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Picture, Options]]:
    """What `plot` would draw, instead of its being drawn."""
    found: list[tuple[Picture, Options]] = []
    monkeypatch.setattr(plots, "draw", lambda picture, options: found.append((picture, options)))
    return found


def test_every_case_of_the_gallery(page: Browser, caught: list[tuple[Picture, Options]]) -> None:
    count = 0
    for name, draw in drawn_cases():
        caught.clear()
        draw()
        assert caught, name
        for picture, options in caught:
            count += 1
            compared(page, name, picture, options)
    assert count > 40
    assert page.problems == []


def spoilt(picture: Picture) -> Iterator[tuple[str, Picture]]:
    """The picture with another range, another label, and without a name in its legend."""
    panel = picture.panels[0]
    high = float(panel.y.high or 1.0)
    yield "range", replace(picture, panels=(replace(panel, y=replace(panel.y, high=high + abs(high) + 1.0)),))
    yield "label", replace(picture, panels=(replace(panel, x=replace(panel.x, label="another")),))
    unnamed = tuple(replace(mark, label=None) if hasattr(mark, "label") else mark for mark in panel.marks)
    yield "legend", replace(picture, panels=(replace(panel, marks=unnamed),))


def test_a_difference_is_noticed(page: Browser, caught: list[tuple[Picture, Options]]) -> None:
    dict(gallery.classes())["classes"]()
    ((picture, options),) = caught
    compared(page, "classes", picture, options)
    for what, other in spoilt(picture):
        with pytest.raises(AssertionError):
            compared(page, what, picture, options, sent=other)
