"""Promise: eight candidates from an endpoint with eight places take hardly longer than one.

Usage: python benchmarks/candidates.py. The endpoint streams 100 tokens at 50 a second, to as many at once
as ask, in a process of its own. A session of eight drafts, each kept in SQLite as it completes, is measured
against a session of one. The last line holds the ratio (median of the rounds); the goal is <= 1.15.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.serving import MODEL, ROOT, UNASKED, endpoint, load
from core.config import Config, Endpoint
from core.domain import Task
from core.engine import Finished
from core.models.catalog import Models
from core.presets import read_preset
from core.recipes import Wishes, make_recipe
from core.running import Stop
from core.scoring.catalog import open_scorer
from core.workbench import Workbench
from storage.database import open_database
from storage.store import SqlStore

CALLS = 8
TOKENS, RATE = 100, 50.0
ROUNDS = 5


def story(_: Sequence[Mapping[str, str]]) -> str:
    """A text of TOKENS words, each a token."""
    return " ".join(f"word{number}" for number in range(TOKENS))


async def seconds(bench: Workbench, strategy: str) -> float:
    """How long a session of that strategy takes, without a score, to its end."""
    preset = read_preset(ROOT / "assets" / "presets" / "rewrite.yaml")
    wishes = Wishes(strategy=strategy, candidates=CALLS, scorer="none")
    session = bench.start(Task("Tell a story."), make_recipe(preset, MODEL, UNASKED, wishes), "auto")
    began = time.perf_counter()
    place = await bench.advance(session, lambda _: None, Stop())
    taken = time.perf_counter() - began
    assert isinstance(place, Finished) and place.outcome.draft is not None
    return taken


async def measure(bench: Workbench) -> list[float]:
    """The ratio of each round."""
    await seconds(bench, "best_of_n")  # the client is made, its connections stand
    ratios = []
    for _ in range(ROUNDS):
        one, eight = await seconds(bench, "direct"), await seconds(bench, "best_of_n")
        ratios.append(eight / one)
        print(f"one {one:.2f} s, {CALLS} side by side {eight:.2f} s; {load()}")
    return ratios


def main() -> None:
    """Some rounds, and their median."""
    with endpoint("benchmarks.candidates:story", RATE) as url, tempfile.TemporaryDirectory() as folder:
        models = Models(Config(Path(folder), "sqlite://", (Endpoint("fake", url, slots=CALLS),)), {})
        store = SqlStore(open_database(f"sqlite:///{folder}/redraft.db"))
        ratios = asyncio.run(measure(Workbench(store, models.open, open_scorer)))
    print(f"{statistics.median(ratios):.3f}")


if __name__ == "__main__":
    main()
