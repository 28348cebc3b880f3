"""Drafts out of replies and out of a person's hands. Asks nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from core.detect import flags
from core.domain import Decision, Draft, Score
from core.fences import text_of
from core.models.protocol import Reply
from core.scoring.logprob import generation_logprob
from core.steps import Measured

GIVEN_TASK = "given the task prompt alone"
GIVEN_CANDIDATES = "given the task and the candidates"
GIVEN_CRITIQUE = "given the task, the earlier drafts and the critique"


def draft_from(reply: Reply, number: int, source: str, condition: str) -> Draft:
    """The draft that a reply's first completion holds, with its flags."""
    completion = reply.completions[0]
    text = text_of(completion.text, source)
    found = flags(text, finish=completion.finish, source=source)
    score = generation_logprob(completion.tokens, condition)
    return Draft(text, round=number, flags=found, scores=(score.bare(),))


def by_hand(proposed: Draft, decision: Decision) -> Draft:
    """What a person made of a revision: their own text, or the changes of it that they took over."""
    by = decision.by if decision.ruling == "edit" else f"{proposed.by}, in part by {decision.by}"
    return Draft(decision.text or "", by=by, round=proposed.round)


def put_together(drafts: Sequence[Draft], decision: Decision) -> Draft:
    """What a person made of candidates: their own text, or parts of several."""
    by = decision.by if decision.ruling == "edit" else f"model, put together by {decision.by}"
    return Draft(decision.text or "", by=by, round=max(draft.round for draft in drafts))


def with_scores(drafts: Sequence[Draft], texts: Sequence[str], measured: Measured) -> tuple[Draft, ...]:
    """The drafts with what was measured of their texts in the place of older scores of those scorers."""
    found = dict(zip(texts, measured.scores, strict=True))
    return tuple(_rescored(draft, found[draft.text]) if draft.text in found else draft for draft in drafts)


def _rescored(draft: Draft, found: Sequence[Score]) -> Draft:
    names = {score.scorer for score in found}
    kept = tuple(score for score in draft.scores if score.scorer not in names)
    return replace(draft, scores=kept + tuple(score.bare() for score in found))
