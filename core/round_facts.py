"""What figures need to know of a round of critique and revision, as one flat value. Knows no SQL."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from core.domain import Draft, Score
from core.gates import POLICY
from core.history import Round, Story
from core.sessions import Session
from core.spending import Spent
from core.steps import PickGate, RevisionGate, Ruled, Step


@dataclass(frozen=True)
class RoundFacts:
    """One round of critique and revision.

    `decision` is the last ruling on a revision and `by` whose it was ("" while there is none). `before` and
    `after` are the gate's score of the draft and of the last revision, `change` their difference where they
    compare; `verified_*` are the verifier's. `policy` is what the policy would have ruled. `major`, `minor`
    and `unstated` count the points that the revision was asked to follow. `returned`: it is an earlier text.
    """

    number: int
    decision: str = ""
    by: str = ""
    policy: bool | None = None
    overruled: bool = False
    before: float | None = None
    after: float | None = None
    change: float | None = None
    verified_before: float | None = None
    verified_after: float | None = None
    major: int = 0
    minor: int = 0
    unstated: int = 0
    attempts: int = 0
    flags: tuple[str, ...] = ()
    unchanged: bool = False
    returned: bool = False
    calls: int = 0
    tokens: int = 0
    seconds: float = 0.0
    money: float | None = None


def round_facts(session: Session, story: Story, scorer: str) -> tuple[RoundFacts, ...]:
    """The facts of every round of the story, by the scores of `scorer`."""
    verifier = session.recipe.settings.verifier or ""
    earlier: set[str] = set()
    found = []
    for each in story.rounds:
        found.append(_round(each, session.steps, scorer, verifier, frozenset(earlier)))
        earlier |= {each.base.text, *(attempt.proposed.text for attempt in each.attempts)}
    return tuple(found)


def _round(
    each: Round, steps: Sequence[Step], scorer: str, verifier: str, earlier: frozenset[str]
) -> RoundFacts:
    last = each.attempts[-1] if each.attempts else None
    proposed = last.proposed if last else Draft("")
    decision = last.decision if last else None
    severities = [point.severity for point in each.points]
    old, new = each.base.score(scorer), proposed.score(scorer)
    spent = _spent(steps, each.number)
    gate = steps[last.gate] if last and last.gate is not None and last.gate < len(steps) else None
    return RoundFacts(
        number=each.number,
        decision=decision.ruling if decision else "",
        by=decision.by if decision else "",
        policy=last.verdict.accept if last and last.verdict else None,
        overruled=gate is not None and overruled_at(gate),
        before=value_of(old),
        after=value_of(new),
        change=change_between(old, new),
        verified_before=each.base.value(verifier),
        verified_after=proposed.value(verifier),
        major=severities.count("major"),
        minor=severities.count("minor"),
        unstated=severities.count("unstated"),
        attempts=len(each.attempts),
        flags=flags_of([attempt.proposed for attempt in each.attempts]),
        unchanged=last is not None and proposed.text == each.base.text,
        returned=last is not None and proposed.text != each.base.text and proposed.text in earlier,
        calls=spent.calls,
        tokens=spent.tokens,
        seconds=spent.seconds,
        money=spent.money if spent.priced else None,
    )


def _spent(steps: Sequence[Step], number: int) -> Spent:
    """What the calls of one round took."""
    spent = Spent()
    for step in steps:
        if step.request.round == number:
            spent = spent.after(step.answer)
    return spent


# -- words that whole sessions share -------------------------------------------------------------


def overruled_at(step: Step) -> bool:
    """Whether a person ruled otherwise than the policy would have."""
    if not isinstance(step.answer, Ruled) or step.answer.decision.by == POLICY:
        return False
    decision, gate = step.answer.decision, step.request
    if isinstance(gate, RevisionGate):
        ruled = {"accept": True, "reject": False, "retry": False}.get(decision.ruling)
        return None not in (ruled, gate.verdict.accept) and ruled != gate.verdict.accept
    if isinstance(gate, PickGate):
        return decision.ruling == "pick" and gate.sure and set(decision.picks) != set(gate.advised)
    return False


def value_of(score: Score | None) -> float | None:
    """The number, where it is known."""
    return score.value if score else None


def change_between(old: Score | None, new: Score | None) -> float | None:
    """The difference, where both are known and measured under one condition."""
    if old is None or new is None or old.value is None or new.value is None:
        return None
    return new.value - old.value if old.condition == new.condition else None


def flags_of(drafts: Sequence[Draft]) -> tuple[str, ...]:
    """The flags that any of the drafts has."""
    return tuple(sorted({flag for draft in drafts for flag in draft.flags}))
