"""What a scorer is to the rest of Redraft."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from core.domain import Message, Score, Task


class Scorer(Protocol):
    """Measures texts written for one task prompt."""

    @property
    def name(self) -> str:
        """The name it is asked for by, and that its scores carry."""
        ...

    async def measure(self, task: Task, prompt: Sequence[Message], texts: Sequence[str]) -> tuple[Score, ...]:
        """One score a text, in order. What can't be scored has value None and says why.

        Raises ModelError (retryable) where it may be had later.
        """
        ...
