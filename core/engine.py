"""The whole engine: a session's position is its recorded steps played back into its strategy.

Knows no model, no store, no page: what answers a request and what keeps a step are passed in.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator, Sequence
from dataclasses import dataclass

from core.domain import Outcome
from core.steps import Answer, Request, Step, same_question

Moves = Generator[Request, Answer, Outcome]
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
    """The strategy waits for the answer to `request`, which will be step `position`."""

    position: int
    request: Request


@dataclass(frozen=True)
class Finished:
    """The strategy has ended after `position` steps."""

    position: int
    outcome: Outcome


Place = Pending | Finished


def advance(moves: Moves, position: int, answer: Answer | None) -> Place:
    """Send one answer (None starts the strategy) and say where it stands then."""
    try:
        request = moves.send(answer) if answer is not None else next(moves)
    except StopIteration as end:
        return Finished(position, end.value)
    return Pending(position, request)


def replay(moves: Moves, steps: Sequence[Step]) -> Place:
    """Play recorded steps into a fresh strategy. Raises HistoryMismatch."""
    place = advance(moves, 0, None)
    for position, step in enumerate(steps):
        if not isinstance(place, Pending) or not same_question(place.request, step.request):
            raise HistoryMismatch(position)
        place = advance(moves, position + 1, step.answer)
    return place


async def play(moves: Moves, steps: Sequence[Step], answer: Answerer, record: Recorder) -> Place:
    """Replay, then answer and record request by request until the end or an open gate.

    Each step is recorded before the next request is made. `answer` gives None for a gate that is
    left to a person. Raises what `answer` and `record` raise; all recorded steps stay.
    """
    place = replay(moves, steps)
    while isinstance(place, Pending):
        reply = await answer(place.position, place.request)
        if reply is None:
            return place
        await record(place.position, Step(place.request, reply))
        place = advance(moves, place.position + 1, reply)
    return place
