"""Promise: Insight answers all its questions about 100,000 sessions within seconds, and again at once.

Usage: python benchmarks/insight_scale.py [--sessions 100000] [--keep FOLDER]

The databases are those of benchmarks/history_scale.py, and are shared with it by --keep. Printed: seconds
and processor seconds, medians of 3, for each thing that is counted and for all answers. To see what has
changed is all that it takes to give an answer again. Last, the seconds of all answers.
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

from benchmarks.history_scale import SMALL, filled
from core.insight import MOST_DRAWN, Scope
from core.questions import insight
from storage.database import open_database
from storage.insight_store import SqlInsightStore

TIMES = 3
ALL = Scope()
SCORER = "logprob"
COUNTED: dict[str, Callable[[SqlInsightStore], object]] = {
    "rounds": lambda store: store.rounds(ALL, "strategy", SCORER),
    "sessions": lambda store: store.sessions(ALL, "strategy", SCORER),
    "single changes": lambda store: store.changes(ALL, "strategy", SCORER, MOST_DRAWN),
    "votes on rulings": lambda store: store.votes_for_persons(ALL),
    "what has changed": lambda store: store.stamp(),
    "all answers": lambda store: insight(store, ALL, "strategy"),
}


def took(work: Callable[[], object]) -> tuple[float, float]:
    """Seconds, and seconds of the processor: medians; the first time fills the caches."""
    work()
    walls, cpus = [], []
    for _ in range(TIMES):
        wall, cpu = time.perf_counter(), time.process_time()
        work()
        walls.append(time.perf_counter() - wall)
        cpus.append(time.process_time() - cpu)
    return statistics.median(walls), statistics.median(cpus)


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
        for count in (SMALL, chosen.sessions):
            filled(kept, count)
        report(kept, chosen.sessions)


def report(folder: Path, sessions: int) -> None:
    """A line for each thing that is counted; the seconds of all answers last."""
    stores = [
        SqlInsightStore(open_database(f"sqlite:///{folder}/history-{count}.db"))
        for count in (SMALL, sessions)
    ]
    whole = (0.0, 0.0)
    print(f"{'':20}{SMALL:>18,}{sessions:>18,} sessions")
    for name, count in COUNTED.items():
        small, whole = (took(lambda count=count, store=store: count(store)) for store in stores)  # type: ignore[misc]
        print(f"{name:20}{small[0]:>9.3f} s, {small[1]:.3f}{whole[0]:>9.3f} s, {whole[1]:.3f} of CPU")
    print(f"all answers about {sessions:,} sessions: {whole[0]:.1f} s ({whole[1]:.1f} s of CPU)")


if __name__ == "__main__":
    main()
