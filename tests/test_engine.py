"""The engine: replay gives the same place again, whatever stands after it is refused."""

from __future__ import annotations

import asyncio

import pytest

from core.engine import Finished, HistoryMismatch, Pending, play, replay
from core.steps import Answer, Ask, Request, RevisionGate, Step
from core.strategies import self_refine
from tests.driving import PlainWords, Script, drive
from tests.test_strategies import SCORED
from tests.values import TASK, step


def script() -> Script:
    return Script(["a", "p", "b", "q", "c", "done"], {"a": 1, "b": 2, "c": 1})


def test_every_prefix_replays_to_the_request_that_followed_it() -> None:
    outcome, steps = drive(self_refine(TASK, PlainWords(), SCORED), script().answer)
    for length in range(len(steps)):
        place = replay(self_refine(TASK, PlainWords(), SCORED), steps[:length])
        assert place == Pending(length, steps[length].request)
    assert replay(self_refine(TASK, PlainWords(), SCORED), steps) == Finished(len(steps), outcome)


def test_a_history_of_another_strategy_is_refused_with_its_step() -> None:
    _, steps = drive(self_refine(TASK, PlainWords(), SCORED), script().answer)
    with pytest.raises(HistoryMismatch, match=r"Step 2 .*continue as a new session"):
        replay(self_refine(TASK, PlainWords(), SCORED), [*steps[:2], step()])
    with pytest.raises(HistoryMismatch):
        replay(self_refine(TASK, PlainWords(), SCORED), [*steps, step()])


def test_play_records_each_step_before_it_asks_the_next() -> None:
    events: list[str] = []
    answers = script()

    async def answer(position: int, request: Request) -> Answer:
        events.append(f"ask {position}")
        return answers.answer(request)

    async def record(position: int, _: Step) -> None:
        events.append(f"record {position}")

    place = asyncio.run(play(self_refine(TASK, PlainWords(), SCORED), [], answer, record))
    assert isinstance(place, Finished)
    assert events == [f"{what} {i}" for i in range(place.position) for what in ("ask", "record")]


def test_play_stops_at_a_gate_that_nobody_answers_and_goes_on_after_it() -> None:
    answers, recorded = script(), list[Step]()

    async def answer(_: int, request: Request) -> Answer | None:
        return None if isinstance(request, RevisionGate) else answers.answer(request)

    async def record(position: int, step: Step) -> None:
        assert position == len(recorded)
        recorded.append(step)

    moves = self_refine(TASK, PlainWords(), SCORED)
    place = asyncio.run(play(moves, [], answer, record))
    assert isinstance(place, Pending) and isinstance(place.request, RevisionGate)
    asked = len(answers.asked)
    recorded.append(Step(place.request, answers.answer(place.request)))
    asyncio.run(play(self_refine(TASK, PlainWords(), SCORED), list(recorded), answer, record))
    assert asked == 3 and [a.role for a in answers.asked] == [
        "draft",
        "critique",
        "revise",
        "critique",
        "revise",
    ]
    assert isinstance(recorded[0].request, Ask)
