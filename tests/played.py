"""Sessions that were played through with a person at the gates, for the pages that look back on them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from core.domain import Decision, Recipe, Task
from core.engine import Pending, Place
from core.running import Stop
from tests.benches import CRITIQUE, Bench, recipe
from tests.values import TASK

FIRST = "The food was good and the staff was rude. 味は良い。😀"
SECOND = "The meal was good and the staff was kind. 味は良い。😀"
PARTLY = "The meal was good and the staff was rude. 味は良い。😀"
THIRD = "The meal was fine and the staff was rude. 味は良い。😀"
OWN = "The meal was fine and our waiter was rude. 味は良い。😀"
SCORES = {FIRST: -3.0, SECOND: -2.0, PARTLY: -2.5, THIRD: -1.0, OWN: -1.5}
TEXTS = (FIRST, CRITIQUE, SECOND, CRITIQUE, THIRD)
PERSON = "Anna"
RULINGS = (
    Decision("accept", PERSON),
    Decision("hunks", PERSON, hunks=(0,)),
    Decision("accept", PERSON),
    Decision("edit", PERSON, text=OWN),
)
"""The first of two changes is taken over; the second revision is rewritten in part."""


def bench_in(folder: Path, times: int = 1, texts: Sequence[str] = TEXTS) -> Bench:
    """A workbench whose model writes these texts, as many times over."""
    return Bench(folder, list(texts) * times, scores=SCORES)


def played(
    bench: Bench,
    rulings: Sequence[Decision] = RULINGS,
    made_by: Recipe | None = None,
    task: Task = TASK,
) -> str:
    """The id of a session that was run to its end, or to the first gate without a ruling."""
    session_id = bench.new("ask", made_by or recipe(rounds=2), task)
    for decision in rulings:
        place = advance(bench, session_id)
        assert isinstance(place, Pending)
        bench.decide(session_id, place.position, decision)
    advance(bench, session_id)
    return session_id


def advance(bench: Bench, session_id: str) -> Place:
    """Run the session on, in a thread of its own: a browser test's thread has a loop already."""

    def run() -> Place:
        return asyncio.run(bench.advance(session_id, lambda _: None, Stop()))

    with ThreadPoolExecutor(1) as thread:
        return thread.submit(run).result()
