"""Promise: with 100,000 sessions lists, searches, filters and opening take at most twice as long as with 100.

Usage: python benchmarks/history_scale.py [--sessions 100000] [--keep FOLDER]

Makes two databases of synthetic sessions (benchmarks/synthetic_sessions.py, one session in ten with its
steps), then asks both the same questions in turn, as the History page does: a page of 50, with one more to
know whether there are others. Printed: the median of each question on both and its ratio; the process's
memory before and after all questions; last, how many questions keep the goal of 2, and the largest ratio.
With --keep the databases stay in that folder, and are taken from there when they are complete.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.synthetic_sessions import COMMON, LAST, PAIR, RARE, fill
from core.listing import Filter, Order
from storage.database import open_database
from storage.store import SqlStore

SMALL, PAGE, TIMES, GOAL = 100, 51, 25, 2.0
Question = Callable[[SqlStore], object]


def asks(wanted: Filter, order: Order = Order(), *, deep: bool = False) -> Question:  # noqa: B008 - frozen
    """A page of a list; `deep`: the one after the first half of those there are, up to 1,000 of them."""

    def ask(store: SqlStore) -> object:
        after = _middle(store, wanted, order) if deep else None
        return store.listing.find(wanted, order, PAGE, after)

    return ask


_MIDDLES: dict[tuple[int, Filter, Order], str] = {}


def _middle(store: SqlStore, wanted: Filter, order: Order) -> str:
    key = id(store), wanted, order
    if key not in _MIDDLES:
        found = store.listing.find(wanted, order, 1000)
        _MIDDLES[key] = found[len(found) // 2].id
    return _MIDDLES[key]


def _open(store: SqlStore) -> object:
    # One session in ten has its steps.
    found = store.listing.find(Filter(), Order(), 20)
    return [store.load(summary.id) for summary in found]


GAINED = Order("change")
QUESTIONS: dict[str, Question] = {
    "list": asks(Filter()),
    "list, a page far on": asks(Filter(), deep=True),
    "search: a word of few": asks(Filter(RARE)),
    "search: a common word": asks(Filter(COMMON)),
    "search: a common word, far on": asks(Filter(COMMON), deep=True),
    "search: two words": asks(Filter(f"{COMMON} {RARE}")),
    "search: two characters (Japanese)": asks(Filter(PAIR)),
    "search: nothing has it": asks(Filter("qqqzqqq")),
    "preset": asks(Filter(preset="rewrite")),
    "strategy": asks(Filter(strategy="self_refine")),
    "model": asks(Filter(model="starter")),
    "outcome": asks(Filter(outcome="done")),
    "decision": asks(Filter(decision="accepted by policy")),
    "tag": asks(Filter(tag="good")),
    "tag of few": asks(Filter(tag="paper")),
    "star (few)": asks(Filter(starred=True)),
    "score change": asks(Filter(change_least=0.0)),
    "cost": asks(Filter(cost_least=0.001)),
    "dates": asks(Filter(until=LAST)),
    "order: last changed": asks(Filter(), Order("changed")),
    "order: largest gain": asks(Filter(), GAINED),
    "order: largest gain, far on": asks(Filter(), GAINED, deep=True),
    "order: highest cost": asks(Filter(), Order("cost")),
    "order: most rounds": asks(Filter(), Order("rounds")),
    "a common word by gain": asks(Filter(COMMON), GAINED),
    "a word of few by gain": asks(Filter(RARE), GAINED),
    "preset, model and gain": asks(Filter(preset="rewrite", model="starter", change_least=0.0)),
    "a common word, strategy and cost": asks(Filter(COMMON, strategy="self_refine", cost_least=0.001)),
    "the values to filter by": lambda store: store.listing.choices(),
    "count up to 1,000": lambda store: store.listing.count(Filter()),
    "count a common word up to 1,000": lambda store: store.listing.count(Filter(COMMON)),
    "open 20 sessions": _open,
}
COUNTS = ("count up to 1,000", "count a common word up to 1,000")
"""These look at ten times as many rows where there are so many, so no ratio is promised."""


def filled(folder: Path, count: int) -> SqlStore:
    """A store with that many sessions; says how long it took to make."""
    path = folder / f"history-{count}.db"
    engine = open_database(f"sqlite:///{path}")
    store = SqlStore(engine)
    if len(store.recent(1)) == 0:
        began, busy = time.monotonic(), time.process_time()
        fill(engine, count, steps_every=10)
        took, cpu = time.monotonic() - began, time.process_time() - busy
        size = path.stat().st_size / 2**20
        print(f"{count:,} sessions made in {took:.0f} s ({cpu:.0f} s of CPU), {size:,.0f} MiB")
    return store


def medians(stores: tuple[SqlStore, SqlStore], question: Question) -> tuple[float, float]:
    """Milliseconds on each store, asked in turn so that other work on the machine blurs both alike."""
    times: tuple[list[float], list[float]] = ([], [])
    for turn in range(TIMES + 2):
        for store, taken in zip(stores, times, strict=True):
            began = time.perf_counter()
            question(store)
            if turn > 1:  # the first ones fill the caches
                taken.append(1000 * (time.perf_counter() - began))
    small, large = map(statistics.median, times)
    return small, large


def resident() -> float:
    """MiB of this process (Linux)."""
    with open("/proc/self/status") as status:
        line = next(line for line in status if line.startswith("VmRSS"))
    return int(line.split()[1]) / 1024


def main() -> None:
    """Make, ask, print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sessions", type=int, default=100_000)
    parser.add_argument("--keep", type=Path)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        kept = chosen.keep or Path(folder)
        stores = filled(kept, SMALL), filled(kept, chosen.sessions)
        report(stores, chosen.sessions)


def report(stores: tuple[SqlStore, SqlStore], sessions: int) -> None:
    """One line a question, and the ratios last."""
    before = resident()
    ratios: dict[str, float] = {}
    print(f"{'':36}{SMALL:>10,}{sessions:>12,}    ratio")
    for name, question in QUESTIONS.items():
        small, large = medians(stores, question)
        ratios[name] = large / small
        print(f"{name:36}{small:>7.1f} ms{large:>9.1f} ms{ratios[name]:>9.2f}", flush=True)
    print(f"memory: {before:.0f} MiB before, {resident():.0f} MiB after all questions")
    promised = {name: ratio for name, ratio in ratios.items() if name not in COUNTS}
    kept = sum(ratio <= GOAL for ratio in promised.values())
    worst = max(promised, key=lambda name: promised[name])
    print(
        f"goal of {GOAL:g} kept by {kept} of {len(promised)}; largest ratio {promised[worst]:.2f} ({worst})"
    )


if __name__ == "__main__":
    main()
