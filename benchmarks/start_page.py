"""Promise: `python app.py serve` is ready to be used about as soon as an empty Gradio page would be.

Usage: python benchmarks/start_page.py [TURNS]. The app and an empty Blocks mounted in the same way take
turns, each in a new process with a new browser page. The last line holds app / empty for the first
answer of / and for the first page that can be used (medians); the goal is <= 1.3 for the second.
"""

from __future__ import annotations

import http.client
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.browser.install import find

ROOT = Path(__file__).resolve().parents[1]
LONGEST = 60.0
EMPTY = """
import fastapi, gradio as gr, sys, uvicorn
with gr.Blocks() as page:
    gr.Button("Start", elem_id="start")
app = fastapi.FastAPI()
gr.mount_gradio_app(app, page, "/", ssr_mode=False, footer_links=[])
uvicorn.run(app, port=int(sys.argv[1]), log_level="warning")
"""
SIDES = {
    "empty": [sys.executable, "-c", EMPTY],
    "app": [sys.executable, str(ROOT / "app.py"), "serve", "--port"],
}


@dataclass(frozen=True)
class Took:
    """Seconds from the start of the process to the first answer of / and to a page that can be used."""

    answer: float
    usable: float


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def answers(port: int) -> bool:
    """Whether / is answered with 200."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=LONGEST)
    with suppress(ConnectionError):
        connection.request("GET", "/")
        return connection.getresponse().status == 200
    return False


def measure(command: Sequence[str], browser: Any) -> Took:
    """One start, in a data folder of its own."""
    port = free_port()
    with tempfile.TemporaryDirectory() as home:
        environment = {**os.environ, "REDRAFT_HOME": home, "GRADIO_ANALYTICS_ENABLED": "False"}
        began = time.perf_counter()
        with subprocess.Popen([*command, str(port)], env=environment, cwd=home) as server:
            try:
                return _wait(port, began, browser)
            finally:
                server.terminate()
                server.wait(LONGEST)


def _wait(port: int, began: float, browser: Any) -> Took:
    while not answers(port):
        assert time.perf_counter() - began < LONGEST, "it does not answer"
        time.sleep(0.01)
    answer = time.perf_counter() - began
    page = browser.new_page()
    page.goto(f"http://127.0.0.1:{port}/", wait_until="commit")
    page.wait_for_selector("#start:not([disabled])", state="visible", timeout=LONGEST * 1000)
    usable = time.perf_counter() - began
    page.close()
    return Took(answer, usable)


def main(arguments: Sequence[str]) -> None:
    """Both sides in turn; one turn to warm the caches of the disk does not count."""
    from playwright.sync_api import sync_playwright

    turns = int(arguments[0]) if arguments else 5
    found: dict[str, list[Took]] = {name: [] for name in SIDES}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find())
        for turn in range(turns + 1):
            for name in SIDES if turn % 2 else reversed(SIDES):
                took = measure(SIDES[name], browser)
                print(
                    f"{turn} {name}: / after {took.answer:.2f} s, usable after {took.usable:.2f} s",
                    flush=True,
                )
                found[name] += [took] if turn else []
        browser.close()
    answer = {name: statistics.median(took.answer for took in each) for name, each in found.items()}
    usable = {name: statistics.median(took.usable for took in each) for name, each in found.items()}
    print(f"{answer['app'] / answer['empty']:.2f} {usable['app'] / usable['empty']:.2f}")


if __name__ == "__main__":
    main(sys.argv[1:])
