"""Drives strategies by hand: answers to requests without any model, store or clock."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from core.domain import Critique, Decision, Feedback, Message, Outcome, Point, Score, Task
from core.engine import Finished, Moves, begin, take
from core.gates import ruling
from core.scoring.votes import group_answers
from core.steps import (
    Answer,
    Ask,
    Gate,
    Group,
    Measure,
    Measured,
    Replied,
    Request,
    Ruled,
    Step,
)
from tests.values import reply


class PlainWords:
    """A Prompting of few words; a critique reply "done" says done, any other is one point a line."""

    def system_and_task(self, task: Task, step_by_step: bool = False) -> tuple[Message, ...]:
        return (Message("system", "You write."), Message("user", f"{task.instruction}: {task.input}"))

    def critique_request(
        self, task: Task, *, feedback: Feedback, kept_reason: str = "", current: str = ""
    ) -> str:
        kept = f" Not kept: {kept_reason}. It reads: {current}" if kept_reason else ""
        return f"Criticise ({feedback}).{kept}"

    def revise_request(
        self, task: Task, *, feedback: Feedback, points: Sequence[Point], note: str = ""
    ) -> str:
        return f"Revise.{' ' + note if note else ''}"

    def render_points(self, points: Sequence[Point]) -> str:
        return "\n".join(f"- {point.problem}" for point in points)

    def read_critique(self, task: Task, raw: str, text: str = "") -> Critique:
        if raw == "done":
            return Critique((), True, raw)
        return Critique(tuple(Point(line) for line in raw.splitlines()), None, raw)

    def synthesis_request(self, task: Task, candidates: Sequence[tuple[str, int]]) -> str:
        return "\n".join(["Make one of these:", *(f"{count}x {text}" for text, count in candidates)])

    def audit_request(self, task: Task, points: Sequence[Point]) -> str:
        return "\n".join(["Met?", *(point.problem for point in points)])

    def read_audit(self, raw: str, count: int) -> tuple[bool | None, ...]:
        said = {"yes": True, "no": False}
        return tuple(said.get(word) for word in [*raw.split(), *[""] * count][:count])


@dataclass
class Script:
    """Answers asks from a list, measures from a table, gates by policy or from a list of rulings."""

    replies: list[str]
    scores: dict[str, float | None] = field(default_factory=dict)
    rulings: list[Decision] = field(default_factory=list)
    asked: list[Ask] = field(default_factory=list)
    gates: list[Gate] = field(default_factory=list)

    def answer(self, request: Request) -> Answer:
        if isinstance(request, Ask):
            self.asked.append(request)
            return Replied(reply(self.replies.pop(0)))
        if isinstance(request, Measure):
            values = [self.scores.get(text) for text in request.texts]
            return Measured(
                tuple((Score(request.scorers[0], value, "" if value else "?"),) for value in values)
            )
        if isinstance(request, Group):
            return asyncio.run(group_answers(request.task, request.texts))
        self.gates.append(request)
        if self.rulings:
            return Ruled(self.rulings.pop(0))
        decision = ruling(request, "auto")
        assert decision is not None
        return Ruled(decision)


def drive(moves: Moves, answer: Callable[[Request], Answer]) -> tuple[Outcome, list[Step]]:
    """Run a strategy to its end; its outcome and its steps."""
    steps: list[Step] = []
    place = begin(moves)
    while not isinstance(place, Finished):
        steps.append(Step(place.request, answer(place.request)))
        place = take(moves, place, steps[-1])
    return place.outcome, steps
