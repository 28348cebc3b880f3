"""Promise: the Refine page is hardly heavier than an empty Gradio page, and is usable about as soon.

Usage: python benchmarks/page_weight.py [TURNS]. Both are mounted the same way, in processes that are warm,
and opened in turn by a new browser context (nothing cached). Counted are requests and bytes as they came over
the wire; the time is that until the text box can be typed into. The last line holds app / empty for bytes,
for requests and for the time (medians).
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.serving import load
from benchmarks.start_page import SIDES, answers, free_port
from tests.browser.conftest import ARGUMENTS
from tests.browser.install import find

EMPTY = SIDES["empty"][2].replace(
    'gr.Button("Start", elem_id="start")', 'gr.Textbox(elem_id="text"); gr.Button()'
)
COMMANDS = {**SIDES, "empty": [sys.executable, "-c", EMPTY]}
LATEST = 1.0
"""Seconds that a page may go on loading after its input is usable; what comes then is counted too."""


@dataclass(frozen=True)
class Weight:
    """One opening of a page: bytes and requests, and seconds until it could be used."""

    size: int
    requests: int
    seconds: float


@contextmanager
def serving(command: Sequence[str]) -> Iterator[str]:
    """The address of a server of that command, in a data folder of its own."""
    port = free_port()
    with tempfile.TemporaryDirectory() as home:
        environment = {**os.environ, "REDRAFT_HOME": home, "GRADIO_ANALYTICS_ENABLED": "False"}
        with subprocess.Popen([*command, str(port)], env=environment, cwd=home) as process:
            try:
                while not answers(port):
                    time.sleep(0.1)
                yield f"http://127.0.0.1:{port}/"
            finally:
                process.terminate()


def opened(browser: Any, url: str) -> Weight:
    """One opening with empty caches."""
    context = browser.new_context()
    page = context.new_page()
    sizes: list[int] = []
    network = context.new_cdp_session(page)
    network.send("Network.enable")
    network.on("Network.loadingFinished", lambda event: sizes.append(int(event["encodedDataLength"])))
    began = time.perf_counter()
    page.goto(url, wait_until="commit")
    page.wait_for_selector("#text textarea:not([disabled])", state="visible")
    seconds = time.perf_counter() - began
    page.wait_for_timeout(LATEST * 1000)
    context.close()
    return Weight(sum(sizes), len(sizes), seconds)


def measure(browser: Any, urls: Mapping[str, str], turns: int) -> dict[str, list[Weight]]:
    """Both pages in turn; the first turn warms the servers and does not count."""
    found: dict[str, list[Weight]] = {name: [] for name in urls}
    for turn in range(turns + 1):
        for name in urls if turn % 2 else reversed(list(urls)):
            weight = opened(browser, urls[name])
            found[name] += [weight] if turn else []
    return found


def medians(weights: Sequence[Weight]) -> tuple[float, float, float]:
    """Of bytes, requests and seconds."""
    sides = zip(*((w.size, w.requests, w.seconds) for w in weights), strict=True)
    size, requests, seconds = (statistics.median(side) for side in sides)
    return size, requests, seconds


def main(arguments: Sequence[str]) -> None:
    """Measure and print."""
    from playwright.sync_api import sync_playwright

    turns = int(arguments[0]) if arguments else 10
    print(load())
    with ExitStack() as stack, sync_playwright() as playwright:
        urls = {name: stack.enter_context(serving(command)) for name, command in COMMANDS.items()}
        browser = playwright.chromium.launch(executable_path=find(), args=ARGUMENTS)
        found = measure(browser, urls, turns)
        browser.close()
    middle = {name: medians(weights) for name, weights in found.items()}
    for name, (size, requests, seconds) in middle.items():
        print(f"{name}: {size / 1024:,.0f} KiB in {requests:.0f} requests, usable after {seconds:.2f} s")
    print(" ".join(f"{a / b:.2f}" for a, b in zip(middle["app"], middle["empty"], strict=True)))


if __name__ == "__main__":
    main(sys.argv[1:])
