"""Items out of sessions: what was drafted first against what came out, and one recipe against another."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from core.domain import Decision, Task
from core.engine import Finished
from core.running import Stop
from core.studies.from_sessions import from_recipes, from_sessions
from core.studies.protocol import BadStudy
from tests.benches import CRITIQUE, Bench, recipe
from tests.values import TASK

TEXTS = ["A good meal.", CRITIQUE, "A splendid meal."]
SCORES = {"A good meal.": -2.0, "A splendid meal.": -1.0}


def finished(bench: Bench, task: Task = TASK, rounds: int = 1) -> str:
    """A session that was carried to its end, every gate accepted."""
    session = bench.new(made_by=recipe(rounds=rounds), task=task)
    while True:
        place = asyncio.run(bench.advance(session, lambda _: None, Stop()))
        if isinstance(place, Finished):
            return session
        bench.decide(session, place.position, Decision("accept", "Anna"))


def test_the_first_draft_against_the_outcome(tmp_path: Path) -> None:
    bench = Bench(tmp_path, TEXTS, scores=SCORES)
    session = finished(bench)
    (entry,) = from_sessions(bench, [session, session])
    assert entry.key == session and entry.source == TASK.input
    assert entry.texts == (("first draft", "A good meal."), ("outcome", "A splendid meal."))
    assert TASK.instruction in entry.prompt and TASK.input in entry.prompt


def test_a_session_that_waits_has_no_outcome(tmp_path: Path) -> None:
    bench = Bench(tmp_path, TEXTS, scores=SCORES)
    with pytest.raises(BadStudy, match="has not ended yet"):
        from_sessions(bench, [bench.new()])


def test_two_recipes_on_the_same_tasks(tmp_path: Path) -> None:
    bench = Bench(tmp_path, [*TEXTS, "A meal.", *TEXTS], scores={**SCORES, "A meal.": -5.0})
    refined, plain = finished(bench), finished(bench, rounds=0)
    (entry,) = from_recipes(bench, {"refined": [refined], "plain": [plain]})
    assert entry.texts == (("refined", "A splendid meal."), ("plain", "A meal."))
    other = finished(bench, task=replace(TASK, input="Another text."))
    for arms, words in (
        ({"refined": [refined, other], "plain": [plain]}, "'plain' has no session on the task"),
        ({"refined": [refined, plain], "plain": []}, "is the second of 'refined'"),
        ({"refined": [refined]}, "Two arms at least"),
    ):
        with pytest.raises(BadStudy, match=words):
            from_recipes(bench, arms)
