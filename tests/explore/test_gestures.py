"""Every gesture on a served page, its numbers beside the Explainer's."""

from __future__ import annotations

import pytest
from explored import rich_explainers
from gestures import GESTURES, Hand
from test_page import ExplorerServer

from icefield.explore import Controller


@pytest.fixture(scope="module")
def hand(browser):
    with ExplorerServer(Controller(rich_explainers())) as server:
        browser.look(width=1400, height=1300)
        browser.visit(server.url)
        yield Hand(browser)
        assert all(url.startswith(f"http://127.0.0.1:{server.port}/") for url in browser.requests)
        browser.visit("about:blank")


@pytest.mark.parametrize("gesture", GESTURES, ids=lambda one: one.__name__)
def test_a_gesture(hand, gesture):
    hand.begin()
    gesture(hand)
    assert hand.browser.problems == []
