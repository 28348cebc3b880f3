"""Promise: 20 sessions run at once, each on a page, no page falls behind by a second, and memory stays flat.

Usage: python benchmarks/many_sessions.py [--minutes 10] [--sessions 20]. An endpoint in a process of its own
streams 50 tokens a second to each session; the words of a draft are the times at which they are sent, so
that a page knows how old they are when they arrive. Every session is refined without a person (three rounds
of 500 tokens); at its end the page goes on with a new one. The last line holds the oldest text / 1 second,
and the growth of the server's memory in MiB a minute (a straight line through the second half).
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.serving import App, app, cpu_seconds, listen, load
from core.recipes import Wishes
from tests.fault_server import DONE, Ask, FaultServer, Part, Play, body, says

RATE = 50.0
TOKENS = 500
ROUNDS = 3
EVERY = 2.0
"""Seconds between two looks at the server's memory."""
CRITIQUE = '- [minor] "text" | too plain | write "prose"\nVERDICT: revise'


def timed(ask: Ask) -> Play:
    """A critique, or a text of the times at which its words are sent."""
    if ask.method == "GET":
        return body({"data": [{"id": "tiny-chat"}]})
    if "critic" in ask.body["messages"][-1]["content"]:
        return Play([1.0, says(CRITIQUE), says(None, finish="stop"), DONE])
    return Play(_words())


def _words() -> Iterator[Part]:
    due = time.monotonic()
    for _ in range(TOKENS):
        due += 1 / RATE
        yield max(0.0, due - time.monotonic())
        yield says(f"{time.time():.3f} ")
    yield says(None, finish="stop")
    yield DONE


@contextmanager
def endpoint() -> Iterator[tuple[str, int]]:
    """URL and process of the endpoint, which is this file in another process."""
    command = [sys.executable, __file__, "--endpoint"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip(), process.pid
        finally:
            process.terminate()


@dataclass
class Watch:
    """What one page saw: how old each piece of text was, and how many sessions it saw end."""

    ages: list[float] = field(default_factory=list)
    ended: int = 0
    problems: list[str] = field(default_factory=list)

    def follow(self, served: App, until: float) -> None:
        """One session after the other, until that time."""
        while time.monotonic() < until:
            wishes = Wishes(
                rounds=ROUNDS, scorer="none", gate="always", history="latest", max_tokens=2 * TOKENS
            )
            self._one(served, served.new("One text.", wishes, "auto"), until)

    def _one(self, served: App, session: str, until: float) -> None:
        stream = listen(served.server, session)
        next(stream)
        served.post(session, "run")
        for heard in stream:
            if heard.kind == "text":
                self._date(heard.data[2])
            head = heard.data.get("head", {}) if heard.kind == "view" else {}
            self.problems += [head["problem"]] if head.get("problem") else []
            if head.get("state") == "ended":
                self.ended += 1
                return
            if time.monotonic() > until:
                return

    def _date(self, text: str) -> None:
        """The age of the oldest whole word, which waited longest."""
        words = text.split()
        if words and words[0].replace(".", "").isdigit():
            self.ages.append(time.time() - float(words[0]))


def slope(points: list[tuple[float, float]]) -> float:
    """MiB a minute of the second half."""
    half = points[len(points) // 2 :]
    line = statistics.linear_regression([t for t, _ in half], [size for _, size in half])
    return line.slope * 60 / 2**20


def run(served: App, minutes: float, sessions: int) -> tuple[list[Watch], list[tuple[float, float]]]:
    """All pages at once; what they saw, and the server's memory over time."""
    began = time.monotonic()
    until = began + 60 * minutes
    watches = [Watch() for _ in range(sessions)]
    threads = [threading.Thread(target=watch.follow, args=(served, until)) for watch in watches]
    for thread in threads:
        thread.start()
        time.sleep(TOKENS / RATE / sessions)  # so that they are not all at the same step
    memory = []
    while any(thread.is_alive() for thread in threads):
        memory.append((time.monotonic() - began, float(served.rss())))
        time.sleep(EVERY)
    return watches, memory


def main() -> None:
    """Measure and print, or be the endpoint."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--sessions", type=int, default=20)
    parser.add_argument("--endpoint", action="store_true", help="be the endpoint instead")
    chosen = parser.parse_args()
    if chosen.endpoint:
        server = FaultServer(timed)
        print(server.url, flush=True)
        return server.serve()
    print(load())
    with endpoint() as (url, process), app(url) as served:
        watches, memory = run(served, chosen.minutes, chosen.sessions)
        busy = [spent / (60 * chosen.minutes) for spent in (served.cpu(), cpu_seconds(process))]
    report(watches, memory, busy)


def report(watches: list[Watch], memory: list[tuple[float, float]], busy: list[float]) -> None:
    """The figures, and the last line."""
    ages = sorted(age for watch in watches for age in watch.ages)
    cuts = statistics.quantiles(ages, n=1000)
    late = sum(age > 1 for age in ages)
    print(
        f"{len(watches)} pages, {sum(w.ended for w in watches)} sessions ended, {len(ages):,} pieces of text"
    )
    print(
        f"age: p50 {cuts[499]:.3f} s, p99 {cuts[989]:.3f} s, p99.9 {cuts[998]:.3f} s, worst {ages[-1]:.3f} s"
    )
    print(f"older than 1 s: {late} pieces; problems: {sorted({p for w in watches for p in w.problems})}")
    print(f"CPU: app {busy[0]:.0%} of a core, endpoint {busy[1]:.0%}; {load()}")
    sizes = [f"{size / 2**20:.0f}" for _, size in memory[:: max(1, len(memory) // 12)]]
    print(f"memory in MiB: {' '.join(sizes)}")
    print(f"{ages[-1]:.2f} {slope(memory):.2f}")


if __name__ == "__main__":
    main()
