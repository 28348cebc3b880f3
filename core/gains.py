"""What refinement brought: the result beside the baseline, and what an accepted improvement cost.

The baseline is the first draft, which one generation alone would have given. Knows no page.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from core.domain import Draft
from core.gates import PUTS_IN_PLACE
from core.history import Story


@dataclass(frozen=True)
class Gains:
    """Baseline and result on one score (None where unknown or measured differently), and the price of a gain.

    `accepted` counts the texts that took another's place with a higher score; calls, seconds and money are
    those of the whole session, its first draft left out, for each of them; None where there was none.
    """

    scorer: str
    baseline: float | None
    result: float | None
    accepted: int
    calls: float | None
    seconds: float | None
    money: float | None


def gains(story: Story, result: Draft | None, scorer: str) -> Gains:
    """The gains of a session by this score."""
    first, last = _compared(story.first, result, scorer)
    accepted = _rises(story, scorer)
    spent = story.spent
    calls = spent.calls - 1
    share = calls / spent.calls if spent.calls else 0.0
    each = (lambda total: total / accepted) if accepted else (lambda total: None)
    return Gains(
        scorer,
        first,
        last,
        accepted,
        calls=each(calls),
        seconds=each(spent.seconds * share),
        money=each(spent.money * share) if spent.priced else None,
    )


def _compared(first: Draft | None, last: Draft | None, scorer: str) -> tuple[float | None, float | None]:
    one, other = (draft.score(scorer) if draft else None for draft in (first, last))
    if one is None or other is None or one.condition != other.condition:
        return None, other.value if other else None
    return one.value, other.value


def _rises(story: Story, scorer: str) -> int:
    """How often a text with a higher score took the place of another."""
    stood = [story.first]
    for pool in story.pools:
        stood += [] if pool.final else list(pool.chosen[:1])
    for each in story.rounds:
        stood.append(each.base)
        stood += [a.settled for a in each.attempts if a.decision and a.decision.ruling in PUTS_IN_PLACE]
    values = [draft.value(scorer) for draft in stood if draft is not None]
    return sum(1 for old, new in pairwise(values) if old is not None and new is not None and new > old)
