"""What strategies need of a preset: its requests, and how its critics are read. Knows no YAML."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from core.domain import Critique, Feedback, Message, Point, Task


class Prompting(Protocol):
    """The words of a preset: what to ask, and how to read what comes back."""

    def system_and_task(self, task: Task, step_by_step: bool = False) -> tuple[Message, ...]:
        """The beginning of every prompt; ends with the person's task."""
        ...

    def critique_request(
        self, task: Task, *, feedback: Feedback, kept_reason: str = "", current: str = ""
    ) -> str:
        """The turn that asks for a critique of the text that stands last in the chat."""
        ...

    def revise_request(
        self, task: Task, *, feedback: Feedback, points: Sequence[Point], note: str = ""
    ) -> str:
        """The turn that asks for a revision after the critique."""
        ...

    def render_points(self, points: Sequence[Point]) -> str:
        """Agreed points in the form in which the critic writes them."""
        ...

    def read_critique(self, task: Task, raw: str, text: str = "") -> Critique:
        """A critic's reply on the draft `text` as points and verdict; some rules look at the text."""
        ...

    def synthesis_request(self, task: Task, candidates: Sequence[tuple[str, int]]) -> str:
        """What follows the task where one answer is to be made of candidates, each a text with its count."""
        ...

    def audit_request(self, task: Task, points: Sequence[Point]) -> str:
        """The turn after a revision that asks which of the points it meets."""
        ...

    def read_audit(self, raw: str, count: int) -> tuple[bool | None, ...]:
        """For each of `count` points whether it is met; None where the reply does not say."""
        ...
