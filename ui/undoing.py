"""What "Undo the last decision" will undo, in words. Says it only; core/workbench.py does it."""

from __future__ import annotations

from collections.abc import Sequence

from core.gates import POLICY
from core.steps import Ruled, Step
from core.workbench import was_stopped
from ui.rows import ruled

WHERE = {
    "critique gate": "the points of round {}",
    "revision gate": "the revision of round {}",
    "pick gate": "the candidates",
}
KEPT = "This session stays as it is."


def undo_words(steps: Sequence[Step]) -> str:
    """What will be undone, or "" where nothing was decided yet."""
    if was_stopped(steps):
        return f"Makes a copy that stands before the stop. {KEPT}"
    rulings = [step for step in steps if isinstance(step.answer, Ruled)]
    own = [step for step in rulings if not _by_policy(step)]
    return _words(own[-1]) if own else _words(rulings[-1]) if rulings else ""


def _by_policy(step: Step) -> bool:
    return isinstance(step.answer, Ruled) and step.answer.decision.by == POLICY


def _words(step: Step) -> str:
    assert isinstance(step.answer, Ruled)
    where = WHERE.get(step.request.kind, "round {}").format(step.request.round)
    return f"Makes a copy that stands before the decision on {where} ({ruled(step.answer.decision)}). {KEPT}"
