"""Sessions of known texts, scores and rulings, for tests of training data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from core.domain import Decision, Settings, Task
from core.sessions import Session
from core.strategies import STRATEGIES
from tests.driving import PlainWords, Script, drive
from tests.values import recipe

MADE = datetime(2026, 3, 4, tzinfo=UTC)
SOUP = Task("The soup was cold.", instruction="Make it positive.")


def played(
    replies: Sequence[str],
    scores: dict[str, float | None],
    rulings: Sequence[Decision] = (),
    *,
    strategy: str = "self_refine",
    scorer: str = "label",
    session_id: str = "S1",
    task: Task = SOUP,
    **more: Any,
) -> Session:
    """A session in which the model wrote these replies and one scorer gave these scores."""
    usual: dict[str, Any] = {"rounds": 1, "scorers": (scorer,), "gate_scorer": scorer, "patience": 0}
    settings = Settings(**{**usual, "candidates": 3, **more})
    script = Script(list(replies), dict(scores), list(rulings))
    _, steps = drive(STRATEGIES[strategy](task, PlainWords(), settings), script.answer)
    kept = replace(recipe(), strategy=strategy, settings=settings)
    return Session(session_id, "A title", MADE, task, kept, "ask", tuple(steps))


def by(ruling: str, **more: Any) -> Decision:
    """A ruling of Anna's."""
    return Decision(ruling, "Anna", **more)  # type: ignore[arg-type]
