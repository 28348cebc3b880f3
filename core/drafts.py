"""Drafts out of replies and out of a person's hands. Asks nothing."""

from __future__ import annotations

from core.detect import flags
from core.domain import Decision, Draft
from core.fences import text_of
from core.models.protocol import Reply
from core.scoring.logprob import generation_logprob

GIVEN_TASK = "given the task prompt alone"
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
