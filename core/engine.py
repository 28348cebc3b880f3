"""The whole engine: a session's position is its recorded steps played back into its strategy.

Knows no model, no store, no page: what answers a request and what keeps a step are passed in.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Generator, Sequence
from dataclasses import dataclass

from core.domain import Outcome
from core.steps import Answer, Fan, Request, Step, same_question

Moves = Generator[Request | Fan, Answer | tuple[Answer, ...], Outcome]
Answerer = Callable[[int, Request], Awaitable[Answer | None]]
Recorder = Callable[[int, Step], Awaitable[None]]


class HistoryMismatch(Exception):
    """The recorded steps are not those this strategy would have taken."""

    def __init__(self, position: int) -> None:
        super().__init__(
            f"Step {position} of this session was recorded by a different version of its strategy or preset. "
            "It can be read but not continued: continue as a new session from one of its drafts."
        )
        self.position = position


@dataclass(frozen=True)
class Pending:
    """The strategy waits for the answer to `request`, which will be step `position`.

    Of a `fan` it waits for every ask that has no answer yet; `request` is the first of them.
    """

    position: int
    request: Request
    fan: Fan | None = None
    answers: tuple[Answer | None, ...] = ()

    @property
    def open(self) -> tuple[Request, ...]:
        """All that is waited for."""
        if self.fan is None:
            return (self.request,)
        return tuple(ask for ask, answer in zip(self.fan.asks, self.answers, strict=True) if answer is None)


@dataclass(frozen=True)
class Finished:
    """The strategy has ended after `position` steps."""

    position: int
    outcome: Outcome


Place = Pending | Finished


def begin(moves: Moves) -> Place:
    """Where a fresh strategy stands."""
    return _reached(moves, 0, None)


def take(moves: Moves, place: Place, step: Step) -> Place:
    """Where the strategy stands after one more step. Raises HistoryMismatch for a step it did not ask for."""
    if not isinstance(place, Pending):
        raise HistoryMismatch(place.position)
    if place.fan is not None:
        return _take_part(moves, place, place.fan, step)
    if not same_question(place.request, step.request):
        raise HistoryMismatch(place.position)
    return _reached(moves, place.position + 1, step.answer)


def _take_part(moves: Moves, place: Pending, fan: Fan, step: Step) -> Place:
    """One ask of a fan answered; the strategy goes on when it was the last."""
    unanswered = [i for i, answer in enumerate(place.answers) if answer is None]
    asked = next((i for i in unanswered if same_question(fan.asks[i], step.request)), None)
    if asked is None:
        raise HistoryMismatch(place.position)
    answers = (*place.answers[:asked], step.answer, *place.answers[asked + 1 :])
    whole = tuple(answer for answer in answers if answer is not None)
    if len(whole) == len(fan.asks):
        return _reached(moves, place.position + 1, whole)
    return _in_fan(place.position + 1, fan, answers)


def _reached(moves: Moves, position: int, answer: Answer | tuple[Answer, ...] | None) -> Place:
    try:
        request = moves.send(answer) if answer is not None else next(moves)
    except StopIteration as end:
        return Finished(position, end.value)
    if isinstance(request, Fan):
        return _in_fan(position, request, (None,) * len(request.asks))
    return Pending(position, request)


def _in_fan(position: int, fan: Fan, answers: tuple[Answer | None, ...]) -> Pending:
    first = next(ask for ask, answer in zip(fan.asks, answers, strict=True) if answer is None)
    return Pending(position, first, fan, answers)


def replay(moves: Moves, steps: Sequence[Step]) -> Place:
    """Play recorded steps into a fresh strategy. Raises HistoryMismatch."""
    place = begin(moves)
    for step in steps:
        place = take(moves, place, step)
    return place


async def play(moves: Moves, steps: Sequence[Step], answer: Answerer, record: Recorder) -> Place:
    """Replay, then answer and record request by request until the end or an open gate.

    Each step is recorded before the next request is made. `answer` gives None for a gate that is
    left to a person. Raises what `answer` and `record` raise; all recorded steps stay.
    """
    place = replay(moves, steps)
    while isinstance(place, Pending):
        if place.fan is not None:
            place = await _side_by_side(moves, place, answer, record)
            continue
        reply = await answer(place.position, place.request)
        if reply is None:
            return place
        step = Step(place.request, reply)
        await record(place.position, step)
        place = take(moves, place, step)
    return place


async def _side_by_side(moves: Moves, place: Pending, answer: Answerer, record: Recorder) -> Place:
    """Every open ask of a fan at once. What fails is raised when the others, paid for too, have come home."""
    reached: Place = place
    turn = asyncio.Lock()

    async def bring(ask: Request) -> None:
        nonlocal reached
        reply = await answer(place.position, ask)
        assert reply is not None, "only gates are left to a person"
        async with turn:
            step = Step(ask, reply)
            await record(reached.position, step)
            reached = take(moves, reached, step)

    ended = await asyncio.gather(*map(bring, place.open), return_exceptions=True)
    for problem in ended:
        if problem is not None:
            raise problem
    return reached
