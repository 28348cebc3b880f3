"""Whether the parts of a session from elsewhere fit together, so that pages can show it. Replays nothing."""

from __future__ import annotations

import re

from core.interchange import LARGEST_NUMBER, ImportProblem, Kept
from core.listing import NotAllowed, tag_of
from core.steps import Ask, Gate, Grouped, Measure, Measured, PickGate, Replied, Request, Ruled, Step
from core.strategies import STRATEGIES

_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")


def check_kept(place: str, kept: Kept) -> None:
    """Raises ImportProblem for a session whose parts don't fit together, so that no page could show it."""
    session = kept.session
    if not _ID.fullmatch(session.id):
        raise ImportProblem(place, f"the id {session.id[:80]!r} is none.")
    if session.recipe.strategy not in STRATEGIES:
        raise ImportProblem(place, f"there is no strategy {session.recipe.strategy[:80]!r}.")
    if session.parent and (session.parent[0] == session.id or session.parent[1] < 0):
        raise ImportProblem(place, "it can't have been forked from what it names.")
    for position, step in enumerate(session.steps):
        if why := misfit(step):
            raise ImportProblem(place, f"step {position}: {why}")
        _check_scores(place, position, step)
    _check_marks(place, kept)


def _check_scores(place: str, position: int, step: Step) -> None:
    """Raises ImportProblem for a score that figures can't be made of."""
    if isinstance(step.answer, Measured):
        for score in (each for scores in step.answer.scores for each in scores):
            if score.value is not None and not abs(score.value) <= LARGEST_NUMBER:
                raise ImportProblem(place, f"step {position}: {score.value:g} is too large for a score.")


def _check_marks(place: str, kept: Kept) -> None:
    """Raises ImportProblem for a tag that could not be put on here, or a star on what wrote no text."""
    for tag in kept.marks.tags:
        try:
            fits = tag_of(tag) == tag
        except NotAllowed:
            fits = False
        if not fits:
            raise ImportProblem(place, f"there can't be a tag {tag[:80]!r}.")
    steps = kept.session.steps
    for number in kept.marks.stars:
        if not 0 <= number < len(steps) or steps[number].request.kind != "ask":
            raise ImportProblem(place, f"step {number} wrote no text that could have a star.")


def misfit(step: Step) -> str:
    """Why the answer can't be one to the request, or ""."""
    request, answer = step.request, step.answer
    if not isinstance(answer, _ANSWERS[request.kind]):
        return f"a {request.kind} is not answered by {answer.kind}."
    if isinstance(answer, Replied) and not answer.reply.completions:
        return "the reply has no text."
    if isinstance(request, Measure) and isinstance(answer, Measured):
        return (
            "" if len(answer.scores) == len(request.texts) else "there are more or fewer scores than texts."
        )
    if isinstance(answer, Grouped):
        return _misgrouped(request, answer)
    return _misruled(request, answer) if isinstance(answer, Ruled) else ""


_ANSWERS: dict[str, type[Replied] | type[Measured] | type[Grouped] | type[Ruled]] = {
    "ask": Replied,
    "measure": Measured,
    "group": Grouped,
    "critique gate": Ruled,
    "revision gate": Ruled,
    "pick gate": Ruled,
}


def _misgrouped(request: Request, answer: Grouped) -> str:
    assert not isinstance(request, Ask | Measure | Gate)
    numbers = [number for each in answer.classes for number in each]
    good = len(answer.answers) == len(request.texts) and len(set(numbers)) == len(numbers)
    fits = good and all(answer.classes) and all(0 <= number < len(request.texts) for number in numbers)
    return "" if fits else "the classes don't fit the texts."


def _misruled(request: Request, answer: Ruled) -> str:
    decision = answer.decision
    among = isinstance(request, PickGate)
    if decision.ruling in ("pick", "merge", "synthesise") and not among:
        return f"a {request.kind} can't be ruled by {decision.ruling!r}."
    if among and decision.ruling in ("accept", "reject", "hunks"):
        return f"a pick gate can't be ruled by {decision.ruling!r}."
    count = len(request.candidates) if isinstance(request, PickGate) else 0
    if any(not 0 <= number < count for number in decision.picks):
        return "a candidate is picked that there is not."
    if decision.ruling in ("pick", "merge") and not decision.picks:
        return "no candidate is picked."
    return (
        ""
        if decision.text is not None or decision.ruling not in ("edit", "merge")
        else "the text is missing."
    )
