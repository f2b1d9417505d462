"""The server: who may connect, what is refused, limits, several clients, and an end."""

from __future__ import annotations

import json
import random
from collections import deque
from contextlib import contextmanager

import numpy as np
import pytest
from explored import explainer

from icefield.explore import Controller
from icefield.explore.messages import unpacked

pytest.importorskip("starlette", reason="needs starlette: pip install -e '.[serve]'")
pytest.importorskip("uvicorn", reason="needs uvicorn: pip install -e '.[serve]'")
pytest.importorskip("websockets", reason="needs websockets: pip install -e '.[serve]'")

from http.client import HTTPConnection

from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from icefield.errors import InputError
from icefield.explore.server import RATE, ExplorerServer, pause, serve


@pytest.fixture(scope="module")
def controller():
    return Controller(explainer())


@pytest.fixture(scope="module")
def server(controller):
    with ExplorerServer(controller) as one:
        yield one


def opened(server, **headers):
    origin = headers.pop("origin", f"http://127.0.0.1:{server.port}")
    return connect(
        f"ws://127.0.0.1:{server.port}/live",
        origin=origin,
        additional_headers=headers,
        max_size=None,
        proxy=None,
    )


@contextmanager
def entered(server):
    with opened(server) as one:
        one.send(server.token)
        assert json.loads(one.recv(timeout=20))["hello"] == "icefield"
        yield one


def asked(socket, **message):
    socket.send(json.dumps({"v": 1, **message}))
    parts = []
    while True:
        head, arrays = unpacked(socket.recv(timeout=60))
        if head["re"] == message.get("id"):
            parts.append((head, arrays))
            if head.get("done"):
                return parts


def fetched(server, path="/", **headers):
    connection = HTTPConnection("127.0.0.1", server.port, timeout=20)
    connection.request("GET", path, headers={"Host": f"127.0.0.1:{server.port}", **headers})
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return answer


def test_the_page_comes_with_a_policy_and_without_the_secret(server):
    answer = fetched(server)
    assert answer.status == 200
    policy = answer.getheader("Content-Security-Policy")
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert answer.getheader("X-Content-Type-Options") == "nosniff"
    assert fetched(server, "/explore.js").status == 200
    assert fetched(server, "/../pyproject.toml").status == 404
    assert server.token in server.url.partition("#")[2]


def test_another_name_for_this_machine_is_not_served(server):
    assert fetched(server, Host="evil.example").status == 421
    assert fetched(server, Host=f"evil.example:{server.port}").status == 421


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", None, "http://127.0.0.1:1", "https://127.0.0.1"]
)
def test_a_foreign_page_cannot_connect(server, origin):
    with pytest.raises(InvalidStatus), opened(server, origin=origin):
        pass


@pytest.mark.parametrize("token", ["", "wrong", "é" * 40])
def test_without_the_token_nothing_is_answered(server, token):
    with opened(server) as socket:
        socket.send(token)
        with pytest.raises(ConnectionClosed):
            socket.recv(timeout=20)


def test_two_clients_are_answered_by_themselves(server):
    with entered(server) as one, entered(server) as two:
        about = asked(one, id=1, kind="open")[0][0]
        assert about["n_rows"] == 600
        first = asked(
            one, id=2, kind="rows", slot="filter", feature=0, rule=[{"column": 0, "ge": 60}], want=["curve"]
        )
        second = asked(
            two, id=2, kind="rows", slot="filter", feature=0, rule=[{"column": 0, "le": 30}], want=["curve"]
        )
        assert first[0][0]["rows"] != second[0][0]["rows"]
        assert not np.array_equal(first[1][1]["y"], second[1][1]["y"])


def test_bad_messages_are_answered_and_large_ones_end_the_connection(server):
    with entered(server) as socket:
        for text in ("", "{", "[1]", '"x"', "[" * 5000, '{"v":1,"id":1,"kind":"open","slot":9}', b"\xff\xfe"):
            socket.send(text)
            head, _ = unpacked(socket.recv(timeout=20))
            assert head["error"]["kind"] == "input", text
        assert asked(socket, id=5, kind="open")[0][0]["part"] == "about"
        socket.send("x" * 70_000)
        with pytest.raises(ConnectionClosed):
            socket.recv(timeout=20)
    with entered(server) as again:
        assert asked(again, id=1, kind="open")[0][0]["part"] == "about"


def test_a_thousand_malformed_messages_leave_the_connection_alive(server, monkeypatch):
    monkeypatch.setattr("icefield.explore.server.RATE", 10**6)
    chance = random.Random(5)
    whole = json.dumps(
        {
            "v": 1,
            "id": 4,
            "kind": "whatif",
            "slot": "row",
            "row": 3,
            "values": {"0": 30},
            "rule": [{"column": 2, "in": [0]}],
        }
    )
    with entered(server) as socket:
        told = 0
        for _ in range(1000):
            letters = list(whole)
            for _ in range(chance.randint(1, 4)):
                at = chance.randrange(len(letters))
                letters[at : at + chance.randint(0, 3)] = chance.choice(
                    ['"', "{", "]", "null", "1e999", "-", "", ":", "\\ud800", "\0", "true"]
                )
            text = "".join(letters)
            socket.send(text if chance.random() < 0.8 else text.encode())
            while True:
                head, _ = unpacked(socket.recv(timeout=60))
                if head.get("done"):
                    break
            told += head.get("error", {}).get("kind") == "input"
            assert head.get("error", {}).get("kind") != "bug"
        assert told > 800
        assert asked(socket, id=5, kind="open")[0][0]["part"] == "about"


def test_a_secret_from_the_environment_is_kept_and_never_shown_when_wrong(controller, monkeypatch):
    monkeypatch.setenv("ICEFIELD_TOKEN", "k" * 40)
    server = serve(controller, browser=False, block=False)
    try:
        assert server.url.endswith(f"#{'k' * 40}")
        with entered(server):
            pass
    finally:
        server.close()
    monkeypatch.setenv("ICEFIELD_TOKEN", "hunter2&x")
    with pytest.raises(InputError, match="at least 32") as caught:
        serve(controller, browser=False, block=False)
    assert "hunter2" not in str(caught.value)


def test_an_idle_connection_is_closed(controller):
    with ExplorerServer(controller, idle=0.2) as server, entered(server) as socket:
        with pytest.raises(ConnectionClosed) as caught:
            socket.recv(timeout=20)
        assert caught.value.rcvd.code == 4408


def test_closing_ends_clients_and_frees_the_port(controller):
    server = ExplorerServer(controller).start()
    with entered(server) as socket:
        server.close()
        with pytest.raises(ConnectionClosed):
            socket.recv(timeout=20)
    again = ExplorerServer(controller, port=server.port)
    again.start()
    again.close()
    assert not server._sessions


def test_who_asks_too_much_is_slowed():
    recent = deque([10.0 + 0.001 * i for i in range(RATE)], maxlen=RATE)
    assert pause(recent, 10.1) == pytest.approx(0.9)
    assert pause(recent, 11.5) == 0.0
    assert pause(deque([10.0], maxlen=RATE), 10.0) == 0.0


def test_wrong_addresses_are_told(controller, complains):
    with complains("port", "0 to 65535"):
        ExplorerServer(controller, port=70_000)
    with complains("host"):
        ExplorerServer(controller, host="")
