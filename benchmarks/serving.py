"""What the page's benchmarks share: the app as a process on a data folder of its own, and its event streams.

Knows the app's HTTP routes; knows nothing of what is measured.
"""

from __future__ import annotations

import http.client
import json
import os
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from core.config import read_config
from core.domain import Mode, Task
from core.models.catalog import Models
from core.models.protocol import Capabilities
from core.presets import read_preset
from core.recipes import Wishes, make_recipe
from core.scoring.catalog import open_scorer
from core.workbench import Workbench
from storage.database import open_database
from storage.store import SqlStore
from tests.browser.conftest import Server, configure

ROOT = Path(__file__).resolve().parents[1]
MODEL = "fake:tiny-chat"
UNASKED = Capabilities(None, None, scoring=False, seed=None, n=None, streaming=True)
"""What is known of an endpoint before its first call."""
FRAMING = 4
"""Bytes around an HTTP chunk besides its length: two line ends."""
TICKS = os.sysconf("SC_CLK_TCK")
Json = dict[str, Any]


@dataclass(frozen=True)
class App:
    """A running app; sessions are put into its database directly, as its command line would."""

    server: Server
    bench: Workbench

    def new(self, text: str, wishes: Wishes, mode: Mode = "ask") -> str:
        """A new session's id; nothing runs yet."""
        preset = read_preset(ROOT / "assets" / "presets" / "rewrite.yaml")
        made = make_recipe(preset, MODEL, UNASKED, wishes)
        return self.bench.start(Task(text, instruction="Make it longer."), made, mode)

    def post(self, session: str, what: str, body: Json | None = None) -> Json:
        """The answer to a post."""
        request = urllib.request.Request(
            f"{self.server.url}api/sessions/{session}/{what}",
            json.dumps(body or {}).encode(),
            {"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=30) as answer:
            found: Json = json.loads(answer.read())
        return found

    def get(self, session: str, what: str) -> bytes:
        """The bytes of an answer."""
        with urllib.request.urlopen(f"{self.server.url}api/sessions/{session}/{what}", timeout=60) as answer:
            found: bytes = answer.read()
        return found

    @property
    def pid(self) -> int:
        """The server's process."""
        assert self.server.process is not None
        return self.server.process.pid

    def cpu(self) -> float:
        """Seconds of CPU time that the server has used."""
        return cpu_seconds(self.pid)

    def rss(self) -> int:
        """Bytes of memory that the server holds."""
        pages = int(Path(f"/proc/{self.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")


def cpu_seconds(pid: int) -> float:
    """Seconds of CPU time, user and system, that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


@contextmanager
def app(endpoint_url: str) -> Iterator[App]:
    """The app, served until the block ends, with the endpoint as `fake`."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        home = Path(folder)
        configure(home, endpoint_url)
        environment = {"REDRAFT_HOME": str(home)}
        config = read_config(environment)
        models = Models(config, environment)
        server = Server(home).start()
        bench = Workbench(SqlStore(open_database(config.database_url)), models.open, open_scorer)
        try:
            yield App(server, bench)
        finally:
            server.stop()


@contextmanager
def endpoint(answer: str, rate: float) -> Iterator[str]:
    """The URL of an ordinary endpoint in a process of its own: `answer` is MODULE:FUNCTION of messages."""
    command = [sys.executable, "-m", "tests.fault_server", "--rate", str(rate), "--answer", answer]
    with subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


@dataclass(frozen=True)
class Heard:
    """One event of a stream, with the bytes of its HTTP chunk, framing included."""

    kind: str
    data: Any
    size: int


PING = Heard("", None, 0)


def listen(server: Server, session: str) -> Iterator[Heard]:
    """The events of a session's stream as they come; pings have the kind ""."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    connection.request("GET", f"/api/sessions/{session}/events")
    response = connection.getresponse()
    heard = PING
    try:
        for line in iter(response.readline, b""):
            heard = replace(heard, size=heard.size + len(line))
            name, _, value = line.decode().rstrip("\n").partition(": ")
            if name == "event":
                heard = replace(heard, kind=value)
            elif name == "data":
                heard = replace(heard, kind=heard.kind or "text", data=json.loads(value))
            elif not name:
                yield replace(heard, size=heard.size + len(f"{heard.size:x}") + FRAMING)
                heard = PING
    finally:
        connection.close()


def until(events: Iterator[Heard], done: Callable[[Json], bool]) -> list[Heard]:
    """The events up to the view whose head is `done`."""
    seen: list[Heard] = []
    for heard in events:
        seen.append(heard)
        if heard.kind == "view" and "head" in heard.data and done(heard.data["head"]):
            break
    return seen


def load() -> str:
    """How busy the machine is, to be read beside the figures."""
    return f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"
