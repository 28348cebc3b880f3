"""Promise: Stop pressed in a second page ends a run everywhere within a second.

Usage: python benchmarks/stop_latency.py [STOPS]. A draft streams at 20 tokens a second into two pages in
Chromium; Stop is clicked in the second. The time is from the click until both pages say that it was stopped
and the endpoint has seen its client leave: the latest of the three. The last line holds the 95th percentile
in seconds.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from playwright.sync_api import Browser, expect, sync_playwright

from benchmarks.serving import App, app, load
from core.recipes import Wishes
from tests.browser.conftest import ARGUMENTS
from tests.browser.install import find
from tests.browser.pages import RefinePage
from tests.fake_chat import Chat
from tests.fault_server import FaultServer

GOAL = 1.0
RATE = 20.0
WAIT = 10.0
WATCH = """() => {
    const board = document.querySelector(".rd-board");
    window.stopped = new Promise((done) => {
        const look = () => board.dataset.state === "ended"
            && board.querySelector(".rd-doing").textContent.includes("stopped by")
            ? done(Date.now() / 1000) : setTimeout(look, 2);
        look();
    });
}"""
CLICK = '() => { document.querySelector(".rd-stop").click(); return Date.now() / 1000; }'


@dataclass(frozen=True)
class Times:
    """Seconds after the click until each had stopped."""

    here: float
    there: float
    endpoint: float

    @property
    def all(self) -> float:
        """Until the last of them had."""
        return max(self.here, self.there, self.endpoint)


def opened(browser: Browser, served: App, session: str) -> RefinePage:
    """A page on the session."""
    return RefinePage(browser.new_page(), served.server.url).open(f"?session={session}")


def one(browser: Browser, served: App, endpoint: FaultServer, pool: ThreadPoolExecutor) -> Times:
    """One stop."""
    session = served.new("One text.", Wishes("direct", scorer="none", max_tokens=2000))
    pages = [opened(browser, served, session) for _ in range(2)]
    served.post(session, "run")
    for tab in pages:
        expect(tab.board.locator(".rd-stream")).to_contain_text("word word word")
        tab.page.evaluate(WATCH)
    left = pool.submit(gone, endpoint, endpoint.disconnects + 1)
    clicked = float(pages[1].page.evaluate(CLICK))
    there, here = (float(tab.page.evaluate("stopped")) for tab in pages)
    for tab in pages:
        tab.page.close()
    return Times(here - clicked, there - clicked, left.result() - clicked)


def gone(endpoint: FaultServer, disconnects: int) -> float:
    """The time at which the endpoint had seen so many clients leave."""
    assert endpoint.wait_for(disconnects=disconnects, seconds=WAIT), "the endpoint still sends"
    return time.time()


def measure(wanted: int) -> list[Times]:
    """The times of so many stops after one that does not count."""
    answer = Chat(answer=lambda _: "word " * 1000, rate=RATE)
    with (
        FaultServer(answer) as endpoint,
        app(endpoint.url) as served,
        sync_playwright() as playwright,
        ThreadPoolExecutor(1) as pool,
    ):
        browser: Any = playwright.chromium.launch(executable_path=find(), args=ARGUMENTS)
        found = [one(browser, served, endpoint, pool) for _ in range(wanted + 1)]
        browser.close()
    return found[1:]


def p95(values: Sequence[float]) -> float:
    """The 95th percentile."""
    return statistics.quantiles(values, n=20)[18]


def main(arguments: Sequence[str]) -> None:
    """Measure and print."""
    print(load())
    found = measure(int(arguments[0]) if arguments else 20)
    for name in ("here", "there", "endpoint", "all"):
        values = [getattr(times, name) for times in found]
        middle, high = statistics.median(values), p95(values)
        print(f"{name}: p50 {middle:.3f} s, p95 {high:.3f} s, worst {max(values):.3f} s")
    print(f"{len(found)} stops, goal {GOAL:g} s; {load()}")
    print(f"{p95([times.all for times in found]):.2f}")


if __name__ == "__main__":
    main(sys.argv[1:])
