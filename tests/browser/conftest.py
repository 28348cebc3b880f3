"""A real Chromium, a real server process, and an endpoint that answers by rule."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from urllib.error import URLError

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from tests.browser.install import find
from tests.fake_chat import Chat
from tests.fault_server import FaultServer

ROOT = Path(__file__).parent.parent.parent
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
START_SECONDS = 60.0
CRITIQUE = """- [major] "text" | too plain | write "prose"
- [minor] "one" | too loud | be quiet
VERDICT: revise"""


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    path = find()
    assert path, "no Chromium: run `make browser`"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield browser
        browser.close()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@dataclass
class Server:
    """The app as a process of its own, on a data folder of its own."""

    home: Path
    environment: Mapping[str, str] = field(default_factory=dict)
    port: int = field(default_factory=free_port)
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/"

    @property
    def log(self) -> Path:
        return self.home / "server.log"

    def start(self) -> Server:
        """Start it and wait until it answers."""
        environment = {**os.environ, "REDRAFT_HOME": str(self.home), **self.environment}
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "app.py", "serve", "--port", str(self.port)],
                cwd=ROOT,
                env=environment,
                stdout=log,
                stderr=log,
            )
        deadline = time.monotonic() + START_SECONDS
        while not self._answers():
            assert self.process.poll() is None, self.log.read_text()
            assert time.monotonic() < deadline, self.log.read_text()
            time.sleep(0.1)
        return self

    def _answers(self) -> bool:
        try:
            with urllib.request.urlopen(self.url, timeout=5) as answer:
                return bool(answer.status == 200)
        except (URLError, OSError):
            return False

    def kill(self) -> None:
        """kill -9."""
        assert self.process is not None
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self) -> None:
        """An ordinary end."""
        assert self.process is not None
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait(timeout=20)


def by_rule(messages: Sequence[Mapping[str, str]]) -> str:
    """A critique of two points, or a text whose number tells how much was said before it."""
    asked = messages[-1]["content"]
    if "critic" in asked:
        return CRITIQUE
    return f"This is text number {len(messages) // 2}, and it has a few words to stream."


@dataclass
class Rule:
    """The endpoint's answer, which a test may replace, and its rate in tokens a second.

    With `by_seed` the answer depends on the seed alone, so that candidates differ.
    """

    answer: Callable[[Sequence[Mapping[str, str]]], str] = by_rule
    rate: float = 0.0
    by_seed: Callable[[int], str] | None = None


@pytest.fixture(scope="session")
def rule() -> Rule:
    return Rule()


@pytest.fixture(scope="session")
def endpoint(rule: Rule) -> Iterator[FaultServer]:
    def play(ask):  # type: ignore[no-untyped-def]
        seeded = rule.by_seed
        answer = rule.answer if seeded is None else lambda _: seeded(int(ask.body.get("seed") or 0))
        return Chat(answer=answer, rate=rule.rate)(ask)

    with FaultServer(play) as server:
        yield server


@pytest.fixture(autouse=True)
def ordinary_rule(request: pytest.FixtureRequest) -> Iterator[None]:
    """Each test begins with the ordinary rule."""
    yield
    if "rule" in request.fixturenames:
        given: Rule = request.getfixturevalue("rule")
        given.answer, given.rate, given.by_seed = by_rule, 0.0, None


def configure(home: Path, endpoint_url: str) -> None:
    """A data folder with the endpoint as `fake`."""
    home.mkdir(parents=True, exist_ok=True)
    text = f'[endpoints.fake]\nbase_url = "{endpoint_url}"\nmodels = ["tiny-chat"]\n'
    (home / "config.toml").write_text(text)


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory, endpoint: FaultServer) -> Iterator[Server]:
    """One server for all tests that leave it running."""
    home = tmp_path_factory.mktemp("home")
    configure(home, endpoint.url)
    running = Server(home).start()
    yield running
    running.stop()


@dataclass
class Watched:
    """A browser context whose pages may neither complain nor ask another host.

    `outage` says that the test takes the server down.
    """

    context: BrowserContext
    complaints: list[str] = field(default_factory=list)
    outage: bool = False

    def watch(self, page: Page) -> Page:
        page.on("console", lambda m: self._complained(m.text) if m.type == "error" else None)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("request", lambda request: self._foreign(request.url))
        return page

    def _complained(self, text: str) -> None:
        """A request that fails is no complaint while the test has the server down."""
        if not (self.outage and ("ERR_" in text or "Failed to load" in text)):
            self.complaints.append(text)

    def _foreign(self, url: str) -> None:
        if not url.startswith(("http://127.0.0.1:", "data:", "blob:")):
            self.complaints.append(f"asked another host: {url}")

    def page(self) -> Page:
        return self.watch(self.context.new_page())


@pytest.fixture
def watched(chromium: Browser) -> Iterator[Watched]:
    context = chromium.new_context(viewport={"width": 1440, "height": 900})
    context.set_default_timeout(20_000)
    found = Watched(context)
    yield found
    context.close()
    assert found.complaints == []
