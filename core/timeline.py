"""A session step by step: every text that a step brought, with all that was measured of it.

Knows no page. core.history folds the same steps into rounds; here nothing is folded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from core.domain import Draft, Score
from core.drafts import GIVEN_CANDIDATES, GIVEN_CRITIQUE, GIVEN_TASK, draft_from
from core.sessions import Session
from core.steps import Ask, Measured, Replied, Ruled, Step

CONDITIONS = {"draft": GIVEN_TASK, "synthesise": GIVEN_CANDIDATES, "revise": GIVEN_CRITIQUE}
"""What a text was conditioned on when a model wrote it in that role."""

ONE_BY_ONE = ("direct", "self_refine")
"""Strategies that have one draft at a time, and no candidates."""


@dataclass(frozen=True)
class Text:
    """A text as step `step` brought it, with every score that was measured of it at any time."""

    step: int
    name: str
    draft: Draft


def texts_of(session: Session) -> tuple[Text, ...]:
    """Every text of the session in the order of its steps: models' replies and what persons wrote."""
    source, found = session.task.input, measured_of(session.steps)
    several = session.recipe.strategy not in ONE_BY_ONE
    return tuple(
        Text(position, _name(step, several=several), replace(draft, scores=_scores(draft, found)))
        for position, step in enumerate(session.steps)
        if (draft := draft_of(step, source)) is not None
    )


def draft_of(step: Step, source: str) -> Draft | None:
    """The draft that a step brought, as far as the step alone tells, or None; `source` is the task's."""
    request, answer = step.request, step.answer
    if isinstance(request, Ask) and isinstance(answer, Replied) and request.role in CONDITIONS:
        return draft_from(answer.reply, request.round, source, CONDITIONS[request.role])
    if isinstance(answer, Ruled) and answer.decision.text is not None:
        return Draft(answer.decision.text, by=answer.decision.by, round=request.round)
    return None


def measured_of(steps: Sequence[Step]) -> dict[str, dict[str, Score]]:
    """What was measured last of each text, by the scorers' names."""
    found: dict[str, dict[str, Score]] = {}
    for step in steps:
        if not isinstance(step.answer, Measured) or step.request.kind != "measure":
            continue
        for text, scores in zip(step.request.texts, step.answer.scores, strict=False):
            found.setdefault(text, {}).update({score.scorer: score.bare() for score in scores})
    return found


def _scores(draft: Draft, found: dict[str, dict[str, Score]]) -> tuple[Score, ...]:
    return (*draft.scores, *found.get(draft.text, {}).values())


def _name(step: Step, *, several: bool) -> str:
    """What the text of a step is called."""
    request, answer = step.request, step.answer
    where = f"Round {request.round}: " if request.round else ""
    if isinstance(answer, Ruled):
        return f"{where}{_by_hand(step)} by {answer.decision.by}"
    assert isinstance(request, Ask)
    if several and request.role != "synthesise":
        what = "candidate" if request.role == "draft" else "revision"
        return f"{where}{what} {request.part + 1}" if where else f"Candidate {request.part + 1}"
    if request.role == "synthesise":
        return "Written from the candidates"
    return f"{where}revision" if request.role == "revise" else "First draft"


def _by_hand(step: Step) -> str:
    assert isinstance(step.answer, Ruled)
    made = {"hunks": "accepted in part", "merge": "put together"}
    return made.get(step.answer.decision.ruling, "written")
