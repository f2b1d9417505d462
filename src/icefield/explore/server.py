"""The explorer in a browser: one page and one WebSocket, on this machine only unless told otherwise.

The page's address holds a secret after ``#``, which browsers send to nobody; the page sends it as the first message. Host and
Origin must be the server's own, so that no other page can connect, whatever name it resolves to. Requests have limits of size, rate and work, an
idle connection is closed, and a request that cannot be understood is answered with what is wrong with it.
"""

from __future__ import annotations

import asyncio
import hmac
import importlib.util
import json
import os
import re
import secrets
import socket
import threading
import time
import webbrowser
from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from icefield.errors import InputError, InputTypeError, MissingDependencyError
from icefield.explore.controller import Controller
from icefield.explore.messages import LARGEST, VERSION, AnswerPart, BadMessage, parsed
from icefield.explore.session import Session
from icefield.explore.slots import error_part
from icefield.page import built

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.websockets import WebSocket

TOKEN = "ICEFIELD_TOKEN"
RATE = 60  # requests a second
IDLE = 15 * 60.0  # seconds
HANDSHAKE = 10.0  # seconds until the token must be there
MOST_CLIENTS = 16
WAITING = 64  # answers that may wait for a slow client
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src data: blob:; connect-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY, "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin", "Cache-Control": "no-store",
}  # fmt: skip
PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>icefield explorer</title><link rel="icon" href="data:,"><script type="module" src="serve.js"></script></head>
<body><noscript>The explorer needs JavaScript.</noscript></body></html>
"""
START = 'import {serve} from "./explore.js";\nserve(document.body, location);\n'


def check_installed() -> None:
    """An error that says what to install."""
    missing = [n for n in ("starlette", "uvicorn", "websockets") if importlib.util.find_spec(n) is None]
    if missing:
        raise MissingDependencyError(
            f'The explorer in a browser needs {", ".join(missing)}. Hint: pip install "icefield[serve]".'
        )


class ExplorerServer:
    """A running explorer: `url` is its address, `close` ends it.

    Parameters
    ----------
    controller : what answers
    host, port : where to listen; port 0 takes any that is free
    token : the secret of the address; a new one by default
    """

    def __init__(
        self, controller: Controller, host: str = "127.0.0.1", port: int = 0, *, token: str | None = None, idle: float = IDLE
    ) -> None:  # fmt: skip
        check_installed()
        import uvicorn

        if not isinstance(host, str) or not host:
            raise InputTypeError.about(
                "host", "must be an address to listen on", host, 'write host="127.0.0.1"'
            )
        if isinstance(port, bool) or not isinstance(port, int) or not 0 <= port < 65536:
            raise InputError.about(
                "port", "must be a number from 0 to 65535", port, "write port=0 for any that is free"
            )
        self.controller, self.host, self.idle = controller, host, idle
        self.token = secrets.token_urlsafe(32) if token is None else token
        self._sessions: set[Session] = set()
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self._socket = socket.socket(family, socket.SOCK_STREAM)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            self._socket.bind((host, port))
        except OSError as error:
            self._socket.close()
            raise InputError.about(
                "port", f"cannot be listened on: {error.strerror or error}", port, "write port=0"
            ) from error
        self.port: int = self._socket.getsockname()[1]
        config = uvicorn.Config(
            self.app(), log_level="warning", lifespan="off", ws="websockets-sansio", ws_max_size=LARGEST, ws_ping_interval=20.0, access_log=False,
            timeout_graceful_shutdown=1, server_header=False, date_header=False,
        )  # fmt: skip
        self._server = uvicorn.Server(config)
        self._thread: threading.Thread | None = None

    @property
    def url(self) -> str:
        """The address with its secret."""
        return f"http://{self._authority()}/#{self.token}"

    def _authority(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        shown = {"0.0.0.0": "127.0.0.1", "[::]": "[::1]"}.get(host, host)
        return f"{shown}:{self.port}"

    def start(self) -> ExplorerServer:
        """Serve from a thread of its own; returns once connections are taken."""
        self._thread = threading.Thread(target=self._serve, name="icefield-serve", daemon=True)
        self._thread.start()
        while not self._server.started and self._thread.is_alive():
            time.sleep(0.005)
        return self

    def wait(self) -> None:
        """Stay until interrupted, then end it."""
        try:
            with suppress(KeyboardInterrupt):
                while self._thread is not None and self._thread.is_alive():
                    self._thread.join(0.2)
        finally:
            self.close()

    def close(self) -> None:
        """Stop the server: clients get a message, their work is cancelled."""
        self._server.should_exit = True
        for session in list(self._sessions):
            session.close()
        if self._thread is not None:
            self._thread.join(10)
        self._socket.close()

    def __enter__(self) -> ExplorerServer:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"ExplorerServer({self.url})"

    def _serve(self) -> None:
        loop = asyncio.new_event_loop()
        try:
            loop.run_until_complete(self._server.serve(sockets=[self._socket]))
        finally:
            loop.close()

    # --- what is served --------------------------------------------------------------------------

    def app(self) -> Starlette:
        """The application, for a server of one's own."""
        from starlette.applications import Starlette
        from starlette.responses import Response
        from starlette.routing import Route, WebSocketRoute

        kinds = {
            "/": (PAGE, "text/html"),
            "/serve.js": (START, "text/javascript"),
            "/explore.js": (built("explore.js"), "text/javascript"),
        }

        async def page(request: Request) -> Response:
            if not self._is_own(request.headers.get("host", "")):
                return Response("This address is not the explorer's.", 421, HEADERS, "text/plain")
            text, kind = kinds[request.url.path]
            return Response(text, 200, HEADERS, f"{kind}; charset=utf-8")

        routes: list[Any] = [Route(path, page, methods=["GET"]) for path in kinds]
        return Starlette(routes=[*routes, WebSocketRoute("/live", self._live)])

    def _is_own(self, host: str) -> bool:
        """Whether a Host header names this server: by the address it listens at, or as localhost where that is this machine."""
        names = {self._authority()}
        if self.host in ("127.0.0.1", "0.0.0.0", "localhost"):
            names |= {f"127.0.0.1:{self.port}", f"localhost:{self.port}"}
        elif self.host in ("::", "::1"):
            names |= {f"[::1]:{self.port}", f"localhost:{self.port}"}
        if self.host in ("0.0.0.0", "::"):
            # Told to listen everywhere: whoever reaches it by a plain address means it; names could be rebound.
            name, _, port = host.rpartition(":")
            name = name.strip("[]")
            plain = name.replace(".", "").replace(":", "").isalnum()  # no scope of an address
            if port == str(self.port) and plain and _is_address(name):
                return True
        return host in names

    async def _live(self, websocket: WebSocket) -> None:
        from starlette.websockets import WebSocketDisconnect

        host, origin = websocket.headers.get("host", ""), websocket.headers.get("origin", "")
        full = len(self._sessions) >= MOST_CLIENTS
        if full or not self._is_own(host) or origin != f"http://{host}":
            await websocket.close(4403)
            return
        await websocket.accept()
        try:
            first = await asyncio.wait_for(websocket.receive_text(), HANDSHAKE)
            if not hmac.compare_digest(first.encode(), self.token.encode()):
                await websocket.close(4401)
                return
            await websocket.send_text(json.dumps({"hello": "icefield", "v": VERSION}))
            await self._converse(websocket)
        except (TimeoutError, WebSocketDisconnect, KeyError, RuntimeError):
            return  # gone, late, or bytes where the token should be

    async def _converse(self, websocket: WebSocket) -> None:
        loop, session = asyncio.get_running_loop(), self.controller.open()
        waiting: asyncio.Queue[AnswerPart] = asyncio.Queue()

        def send(answer: AnswerPart) -> None:
            if not loop.is_closed():
                loop.call_soon_threadsafe(waiting.put_nowait, answer)

        async def write() -> None:
            while True:
                answer = await waiting.get()
                frame = await asyncio.to_thread(answer.frame) if len(answer.arrays) > 2 else answer.frame()
                await websocket.send_bytes(frame)

        self._sessions.add(session)
        writer = asyncio.create_task(write())
        recent: deque[float] = deque(maxlen=RATE)
        try:
            while True:
                message = await asyncio.wait_for(websocket.receive(), self.idle)
                if message["type"] == "websocket.disconnect":
                    return
                if wait := pause(recent, time.monotonic()):
                    await asyncio.sleep(wait)  # and nothing is read meanwhile
                recent.append(time.monotonic())
                if waiting.qsize() > WAITING:
                    await websocket.close(4408)
                    return
                text = message.get("text")
                try:
                    request = parsed(text if text is not None else message.get("bytes") or b"")
                except BadMessage as error:
                    send(error_part(-1, "input", str(error)))
                    continue
                session.ask(request, send)
        except TimeoutError:
            await websocket.close(4408)
        finally:
            writer.cancel()
            self._sessions.discard(session)
            session.close()


def pause(recent: deque[float], now: float) -> float:
    """Rate limit: seconds until a client that sent requests at these times is served again; 0 where it is below the limit."""
    return max(0.0, 1.0 - (now - recent[0])) if len(recent) == RATE else 0.0


def _is_address(name: str) -> bool:
    import ipaddress

    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def given_token() -> str | None:
    """The secret that ``ICEFIELD_TOKEN`` holds, so that an address outlives a restart; None for a new one.

    From the environment and never from the command line, which other users of the machine can read.
    """
    token = os.environ.get(TOKEN)
    if token is not None and not re.fullmatch(r"[A-Za-z0-9_-]{32,}", token):
        raise InputError(
            f"`{TOKEN}` must be at least 32 letters, digits, - or _. It has {len(token)} characters. "
            'Hint: python -c "import secrets; print(secrets.token_urlsafe(32))" makes one.'
        )
    return token


def serve(
    controller: Controller,
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    browser: bool = True,
    block: bool = True,
) -> ExplorerServer:
    """Start the server, print its address, open a browser there, and stay until interrupted; see `Explainer.serve`."""
    server = ExplorerServer(controller, host, port, token=given_token()).start()
    print(f"The explorer is at {server.url}", flush=True)
    if browser:
        webbrowser.open(server.url)
    if block:
        server.wait()
    return server
