"""The widget: the same answers as buffers, a state that restores it, and a picture for what shows no widgets."""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path

import numpy as np
import pytest
from explored import data, explainer

pytest.importorskip("anywidget", reason="needs anywidget: pip install -e '.[explore]'")

from icefield.explore.widget import widget_class


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
    widget._receive(widget, {"v": 1, "id": 3, "kind": "curve", "slot": "view", "feature": 0, "rule": []}, [])
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


def test_the_class_is_made_once_and_python_writes_any_state(widget):
    other = explainer().explore()
    assert widget_class() in type(other).__mro__
    assert widget_class() in type(widget).__mro__
    assert other.python.startswith("ex.partial_dependence('age'")
    other.close()


# --- saved notebooks, where no Python answers --------------------------------------------------------

# What a notebook's manager does with a widget that was saved: import the module, give it the traits, carry no message.
MANAGER = """<!doctype html><html data-ready="yes"><meta charset="utf-8"><body><div id="home"></div><script type="module">
const state = JSON.parse(%s), heard = {};
const model = {get: (name) => state[name], set: (name, value) => { state[name] = value; (heard[`change:${name}`] || []).forEach((f) => f()); }, save_changes() {},
  send() {}, on: (name, f) => (heard[name] ||= []).push(f), off() {}};
const module = await import(URL.createObjectURL(new Blob([state._esm], {type: "text/javascript"})));
module.default.render({model, el: document.getElementById("home")});
</script></body></html>"""


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A notebook that was run, with the state of its widgets."""
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    source = f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r})\nfrom explored import explainer\nexplainer().explore()"
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source)])
    nbclient.NotebookClient(book, timeout=120, kernel_name="python3", store_widget_state=True).execute()
    return book


def converted(book):
    nbconvert = pytest.importorskip("nbconvert")
    try:
        return nbconvert.HTMLExporter().from_notebook_node(book)[0]
    except ValueError as error:
        pytest.skip(f"nbconvert's templates are not where it looks: {str(error)[:60]}")


@pytest.mark.look
@pytest.mark.filterwarnings("ignore:IPython3 lexer unavailable:UserWarning", "ignore::DeprecationWarning")
def test_a_converted_notebook_shows_a_picture_with_and_without_saved_widgets(saved, browser, tmp_path):
    held = converted(saved)
    (states,) = re.findall(
        r'<script type="application/vnd.jupyter.widget-state\+json">\s*(.*?)\s*</script>', held, re.S
    )
    (own,) = (one["state"] for one in json.loads(states)["state"].values() if "_esm" in one["state"])
    assert base64.b64decode(own["picture"]).startswith(b"\x89PNG")
    page = tmp_path / "saved.html"
    page.write_text(MANAGER % json.dumps(json.dumps(own)).replace("</", "<\\/"), encoding="utf-8")
    browser.look()
    browser.open(page)
    root = "document.getElementById('home').shadowRoot"
    browser.wait(f"{root}?.querySelector('img')?.naturalWidth > 300")
    browser.wait(f"{root}.querySelector('.first').textContent.includes('Python does not answer')")
    assert browser.problems == []
    del saved.metadata["widgets"]
    without = tmp_path / "without.html"
    without.write_text(
        re.sub(r"<script.*?</script>", "", converted(saved), flags=re.S).replace(
            "<html", '<html data-ready="yes"', 1
        )
    )
    browser.open(without)
    assert browser.run("document.querySelector('.jp-OutputArea img').naturalWidth") > 300


@pytest.mark.look
def test_a_state_set_in_python_is_shown(widget, browser, tmp_path):
    """The page hears its trait change; Python's answers are played from here."""
    heard = []
    widget.send = lambda head, buffers=None: heard.append(
        (head, [base64.b64encode(b).decode() for b in buffers or []])
    )
    page = tmp_path / "live.html"
    traits = {"_esm": widget._esm, "state": widget.state, "letters": True, "picture": ""}
    text = MANAGER % json.dumps(json.dumps(traits)).replace("</", "<\\/")
    page.write_text(
        text.replace("send() {}", "send: (m) => window.asked.push(m)")
        .replace("const state", "window.asked = []; const state")
        .replace("const module", "Object.assign(window, {model, heard}); const module"),
        encoding="utf-8",
    )
    browser.look()
    browser.open(page)
    app = "document.getElementById('home').explorer"

    def answered():
        for _ in range(400):
            for message in (
                browser.run("window.asked.splice(0)") if browser.run("Boolean(window.asked)") else []
            ):
                widget._receive(widget, message, [])
            for head, buffers in [heard.pop(0) for _ in range(len(heard))]:
                browser.run(
                    f"heard['msg:custom'].forEach((f) => f({json.dumps(head)}, {json.dumps(buffers)}.map((t) => new DataView(Uint8Array.from(atob(t), (c) => c.charCodeAt(0)).buffer))))"
                )
            if browser.run(
                f"Boolean({app}?.home.dataset.settled) && {app}.asker.quiet('filter') && {app}.asker.quiet('row')"
            ):
                return
            browser._page.wait_for_timeout(25)
        raise AssertionError("never settled")

    answered()
    assert browser.run(f"{app}.state.feature") == 1
    browser.run("model.set('state', {feature: 3, rule: [{column: 2, in: [1]}]}); 0")
    answered()
    assert browser.run(f"{app}.state.feature") == 3
    assert browser.run(f"{app}.data.count") == int((data()[0]["town"] == "b").sum())
    assert browser.run(f"{app}.store.past.length") == 1
    assert browser.problems == []
