"""A small HTTP endpoint on loopback that plays exact bytes and keeps a record.

For tests, and by itself with the ordinary chat API of tests/fake_chat.py:
`python -m tests.fault_server --port 8001 --log asks.jsonl` prints its URL and writes a line of JSON for
each request, completion and disconnect. Knows nothing of the app.
"""

from __future__ import annotations

import json
import math
import select
import socket
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

Json = dict[str, Any]
Part = bytes | float | threading.Event
"""What a response is made of: bytes to send, seconds to pause, or an event to wait for."""

SSE = {"Content-Type": "text/event-stream"}
JSON = {"Content-Type": "application/json"}
DONE = b"data: [DONE]\n\n"


@dataclass(frozen=True)
class Play:
    """One response. `cut` breaks the connection off instead of ending the body."""

    parts: Iterable[Part] = ()
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=lambda: SSE)
    cut: bool = False


@dataclass(frozen=True)
class Ask:
    """One request as it came in."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: Json


Answering = Callable[[Ask], Play]


def event(payload: object) -> bytes:
    """A payload as a server-sent event."""
    return b"data: " + json.dumps(payload, ensure_ascii=False).encode() + b"\n\n"


def says(text: str | None, index: int = 0, finish: str | None = None, **more: object) -> bytes:
    """A chunk that adds `text` to a candidate; `more` goes into the choice."""
    choice = {"index": index, "delta": {"content": text}, "finish_reason": finish, **more}
    return event({"choices": [choice]})


def stream(*texts: str) -> Play:
    """A whole, ordinary streamed answer."""
    return Play([*(says(text) for text in texts), says(None, finish="stop"), DONE])


def body(payload: object, status: int = 200, **headers: str) -> Play:
    """A JSON response; headers by keyword, with underscores for dashes."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Play([json.dumps(payload).encode()], status, {**JSON, **named})


def refusal(message: str, status: int = 400, **more: object) -> Play:
    """An OpenAI-style error response."""
    return body({"error": {"message": message, **more}}, status)


class FaultServer:
    """Plays responses in turn, or what a function makes of each request; use it in a `with`."""

    def __init__(
        self,
        responses: Sequence[Play] | Answering,
        *,
        port: int = 0,
        tell: Callable[[Json], None] = lambda _: None,
    ) -> None:
        self._answer = responses if callable(responses) else _in_turn(responses)
        self._tell = tell
        self._changed = threading.Condition()
        self.asks: list[Ask] = []
        self.completed = 0
        self.disconnects = 0
        self.connections = 0
        self._server = ThreadingHTTPServer(("127.0.0.1", port), _handler(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    @property
    def url(self) -> str:
        """The base URL for a client, with /v1."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    @property
    def bodies(self) -> list[Json]:
        """The JSON of each request that had some."""
        return [ask.body for ask in self.asks if ask.body]

    def __enter__(self) -> FaultServer:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def serve(self) -> None:
        """Serves in this thread until interrupted."""
        self._server.serve_forever()

    def wait_for(
        self, *, asks: int = 0, completed: int = 0, disconnects: int = 0, seconds: float = 10
    ) -> bool:
        """Waits until at least so many have been seen; False where they were not in time."""
        with self._changed:
            return self._changed.wait_for(
                lambda: (
                    len(self.asks) >= asks and self.completed >= completed and self.disconnects >= disconnects
                ),
                seconds,
            )

    def connected(self) -> None:
        """Records that a client has opened a connection."""
        with self._changed:
            self.connections += 1

    def begin(self, ask: Ask) -> Play:
        """Records a request and says what to play."""
        with self._changed:
            self.asks.append(ask)
            self._changed.notify_all()
            number = len(self.asks)
            play = self._answer(ask)
        self._tell({"event": "ask", "number": number, "path": ask.path, "body": ask.body})
        return play

    def end(self, *, whole: bool) -> None:
        """Records that a response was sent whole, or that the client went away before."""
        with self._changed:
            self.completed += whole
            self.disconnects += not whole
            self._changed.notify_all()
            counts = {"completed": self.completed, "disconnects": self.disconnects}
        self._tell({"event": "completed" if whole else "disconnect", **counts})


def _in_turn(responses: Sequence[Play]) -> Answering:
    left = list(responses)
    return lambda _: left.pop(0) if left else refusal("the test's script of responses ran out", 418)


def _handler(server: FaultServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def setup(self) -> None:
            server.connected()
            super().setup()

        def do_GET(self) -> None:
            self._play(server.begin(Ask("GET", self.path, dict(self.headers), {})))

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers.get("Content-Length", "0")))
            self._play(server.begin(Ask("POST", self.path, dict(self.headers), json.loads(raw or b"{}"))))

        def log_message(self, format: str, *args: object) -> None:
            """Silent: the record is kept by the server."""

        def _play(self, play: Play) -> None:
            try:
                self._send(play)
            except OSError:
                self.close_connection = True
                server.end(whole=False)
                return
            server.end(whole=True)
            if play.cut:
                self.close_connection = True
                self.connection.shutdown(socket.SHUT_RDWR)

        def _send(self, play: Play) -> None:
            self.send_response_only(play.status)
            for name, value in play.headers.items():
                self.send_header(name, value)
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            for part in play.parts:
                if isinstance(part, bytes):
                    self.wfile.write(b"%x\r\n%b\r\n" % (len(part), part) if part else b"")
                else:
                    _pause(self.connection, part)
            if not play.cut:
                self.wfile.write(b"0\r\n\r\n")

    return Handler


def _pause(connection: socket.socket, until: float | threading.Event) -> None:
    """Waits so many seconds or for an event. Raises ConnectionError once the client has gone."""
    end = time.monotonic() + until if isinstance(until, int | float) else math.inf
    while not (until.is_set() if isinstance(until, threading.Event) else time.monotonic() >= end):
        step = max(0.0, min(0.01, end - time.monotonic()))
        if select.select([connection], [], [], step)[0] and not connection.recv(1, socket.MSG_PEEK):
            raise ConnectionError("the client has gone")


if __name__ == "__main__":
    from tests.fake_chat import main

    main()
