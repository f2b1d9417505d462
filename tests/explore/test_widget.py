"""The widget: the same answers as buffers, a state that restores it, and a picture for what shows no widgets."""

from __future__ import annotations

import base64

import numpy as np
import pytest
from explored import explainer

pytest.importorskip("anywidget", reason="needs anywidget: pip install -e '.[explore]'")


@pytest.fixture
def widget(monkeypatch):
    monkeypatch.setenv("ANYWIDGET_HMR", "0")
    one = explainer().explore(state={"feature": 1, "rule": [{"column": 0, "ge": 50}]})
    yield one
    one.close()


def test_a_message_is_answered_with_buffers(widget, monkeypatch):
    import threading

    heard, done = [], threading.Event()

    def send(head, buffers=None):
        heard.append((head, buffers))
        if head.get("done"):
            done.set()

    monkeypatch.setattr(widget, "send", send)
    widget._asked(widget, {"v": 1, "id": 3, "kind": "curve", "slot": "view", "feature": 0, "rule": []}, [])
    assert done.wait(60)
    head, buffers = heard[0]
    kind, shape, number = head["arrays"]["y"]
    assert kind == "f8"
    found = np.frombuffer(buffers[number]).reshape(shape)
    np.testing.assert_allclose(found, explainer().partial_dependence("age").average, rtol=1e-12)


def test_the_state_is_a_dict_and_gives_python(widget):
    assert widget.state["feature"] == 1
    assert "rows = " in widget.python
    assert "'income'" in widget.python


def test_a_picture_stands_in_its_place_where_no_widget_is_shown(widget):
    bundle, _ = widget._repr_mimebundle_()
    assert base64.b64decode(bundle["image/png"]).startswith(b"\x89PNG")
    assert "application/vnd.jupyter.widget-view+json" in bundle
