"""Promise: after a click on Accept the next step's first words are on the page in 250 ms (95th percentile).

Usage: python benchmarks/accept_latency.py [CLICKS]. A person in Chromium accepts revisions, five rounds a
session; the endpoint sends the first token of everything at once and goes on at 20 a second. The time is
taken in the page, from the click to the frame that shows the first text of the next critique. The last
line holds the 95th percentile / 250 ms.
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from playwright.sync_api import Page, sync_playwright

from benchmarks.serving import App, app, load
from core.recipes import Wishes
from tests.browser.conftest import ARGUMENTS
from tests.browser.install import find
from tests.browser.pages import RefinePage
from tests.fault_server import DONE, Ask, FaultServer, Part, Play, body, says

GOAL = 250.0
ROUNDS = 5
PAUSE = 0.05
CRITIQUE = '- [minor] "text" | too plain | write "prose"\nVERDICT: revise'
CLICK = """() => new Promise((done) => {
    const board = document.querySelector(".rd-board");
    const round = board.querySelectorAll(".rd-round").length;
    const there = () => {
        const next = board.querySelectorAll(".rd-round")[round];
        return next?.querySelector(".rd-stream")?.textContent || next?.querySelector(".rd-edit-points");
    };
    const accept = [...board.querySelectorAll("button")].filter((b) => b.textContent === "Accept").pop();
    const began = performance.now();
    const look = () => there()
        ? requestAnimationFrame(() => done(performance.now() - began)) : requestAnimationFrame(look);
    accept.click();
    look();
})"""


def at_once(ask: Ask) -> Play:
    """An answer whose first token comes without any wait."""
    if ask.method == "GET":
        return body({"data": [{"id": "tiny-chat"}]})
    messages: Sequence[Mapping[str, str]] = ask.body["messages"]
    critic = "critic" in messages[-1]["content"]
    text = CRITIQUE if critic else f"This is text number {len(messages)} with some words to stream."
    parts: list[Part] = []
    for word in text.split(" "):
        parts += [says(f"{word} "), PAUSE]
    return Play([*parts[:-1], says(None, finish="stop"), DONE])


def clicks(page: Page, served: App, wanted: int) -> Iterator[float]:
    """Milliseconds from each click to the first text."""
    while wanted > 0:
        wishes = Wishes(rounds=ROUNDS + 1, scorer="none", history="latest")
        session = served.new("One text.", wishes)
        tab = RefinePage(page, served.server.url).open(f"?session={session}")
        tab.press("Continue")
        for number in range(1, min(ROUNDS, wanted) + 1):
            tab.at_critique(number)
            tab.press("Revise with the ticked points")
            tab.at_revision(number)
            page.wait_for_timeout(200)
            yield float(page.evaluate(CLICK))
        wanted -= ROUNDS


def measure(wanted: int) -> list[float]:
    """The times of so many clicks after two that do not count."""
    with FaultServer(at_once) as endpoint, app(endpoint.url) as served, sync_playwright() as playwright:
        browser: Any = playwright.chromium.launch(executable_path=find(), args=ARGUMENTS)
        page = browser.new_page()
        list(clicks(page, served, 2))
        found = list(clicks(page, served, wanted))
        browser.close()
    return found


def main(arguments: Sequence[str]) -> None:
    """Measure and print."""
    print(load())
    found = measure(int(arguments[0]) if arguments else 50)
    cuts = statistics.quantiles(found, n=20)
    print(f"{len(found)} clicks: p50 {cuts[9]:.0f} ms, p95 {cuts[18]:.0f} ms, worst {max(found):.0f} ms")
    print(load())
    print(f"{cuts[18] / GOAL:.2f}")


if __name__ == "__main__":
    main(sys.argv[1:])
