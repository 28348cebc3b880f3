"""Promise: a session's prompts grow at their end only, so that a server need not read them again.

Usage: python benchmarks/prompt_cache.py. Sessions of three rounds with full history on the starter; a
seed whose critic is satisfied earlier is passed over. The last line holds cached prompt tokens / prompt
tokens from round 2 on; the goal is >= 0.6.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from core.domain import Decision, Recipe, Sampling, Settings, Task
from core.engine import Finished, Place
from core.models.protocol import Model
from core.models.starter import Starter
from core.running import Stop
from core.scoring.catalog import open_scorer
from core.sessions import Session
from core.steps import Ask, Replied
from core.workbench import Workbench
from storage.database import open_database
from storage.store import SqlStore

ROUNDS, SESSIONS, SEEDS = 3, 3, 30
PRESET = Path(__file__).resolve().parents[1] / "assets" / "presets" / "rewrite.yaml"
TASK = Task(
    "The food at the new restaurant down the street was really very fantastic, and we all enjoyed it very "
    "much. The staff were friendly and quick, and the prices were lower than we had expected them to be.",
    instruction="Make it shorter.",
)


def starter_workbench(folder: str) -> Workbench:
    """A workbench on the starter, with its sessions in `folder`."""
    home = Path(os.environ.get("REDRAFT_HOME") or "~/.local/share/redraft").expanduser()
    starter: Model = Starter(home)
    store = SqlStore(open_database(f"sqlite:///{folder}/redraft.db"))
    return Workbench(store, lambda _: starter, open_scorer)


async def run(bench: Workbench, seed: int) -> Session:
    """One session, in which a person accepts whatever comes."""
    sampling = Sampling(temperature=0.8, max_tokens=120, seed=seed * 1000)
    settings = Settings(rounds=ROUNDS, patience=0, sampling=sampling, critique_sampling=sampling)
    recipe = Recipe("self_refine", PRESET.read_text(encoding="utf-8"), "starter", settings)
    session = bench.start(TASK, recipe, "ask")
    place: Place = await bench.advance(session, lambda _: None, Stop())
    while not isinstance(place, Finished):
        bench.decide(session, place.position, Decision("accept", "benchmark"))
        place = await bench.advance(session, lambda _: None, Stop())
    return bench.store.load(session)


def later_calls(session: Session) -> Iterator[tuple[int, int]]:
    """(cached, all) prompt tokens of every call from round 2 on."""
    for step in session.steps:
        if isinstance(step.request, Ask) and isinstance(step.answer, Replied) and step.request.round >= 2:
            usage = step.answer.reply.usage
            assert usage.cached_tokens is not None and usage.prompt_tokens is not None
            yield usage.cached_tokens, usage.prompt_tokens


async def measure(bench: Workbench) -> None:
    """Sessions until enough have gone through all their rounds."""
    calls: list[tuple[int, int]] = []
    sessions = 0
    for seed in range(1, SEEDS + 1):
        found = list(later_calls(await run(bench, seed)))
        if len(found) == 2 * (ROUNDS - 1):
            print(f"seed {seed}: " + ", ".join(f"{cached} of {total}" for cached, total in found))
            calls, sessions = calls + found, sessions + 1
        if sessions == SESSIONS:
            break
    assert sessions == SESSIONS, f"only {sessions} of {SEEDS} seeds went through {ROUNDS} rounds"
    print(f"{sum(cached for cached, _ in calls) / sum(total for _, total in calls):.3f}")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as temporary:
        asyncio.run(measure(starter_workbench(temporary)))
