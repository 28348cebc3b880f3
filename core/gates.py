"""What the gate's policy says of a revision, and which draft is the best so far. Pure rules.

The rules, in order:
- a flagged revision (about the text rather than the text) is never accepted by policy;
- an unflagged revision takes the place of a flagged draft;
- scores compare only where both are known and measured under one condition; a verifier, where there is
  one and it tells the two apart, comes before the gate's score.
A person's ruling outranks every score: a draft a person accepted or wrote is the best until a
person accepts another or a later one scores higher; a draft a person rejected is never the best.
"""

from __future__ import annotations

from dataclasses import dataclass

from core.domain import Decision, Draft, Mode, Ruling, Score, Settings, Verdict
from core.steps import CritiqueGate, Gate, PickGate

POLICY = "policy"
PUTS_IN_PLACE = {
    "accept": "accepted",
    "edit": "wrote",
    "hunks": "accepted in part",
    "pick": "picked",
    "merge": "put together",
}
"""The rulings after which another text is the current one, and what a person did by each."""


def verdict(current: Draft, proposed: Draft, settings: Settings) -> Verdict:
    """The policy's view of `proposed` in the place of `current`."""
    if proposed.flags:
        return Verdict(False, f"The revision is flagged: {', '.join(proposed.flags)}.")
    if settings.gate == "always":
        return Verdict(True, "Every revision is accepted.")
    if current.flags:
        return Verdict(True, f"The draft it replaces is flagged: {', '.join(current.flags)}.")
    return _by_score(current, proposed, settings)


def _by_score(current: Draft, proposed: Draft, settings: Settings) -> Verdict:
    name = _deciding(current, proposed, settings)
    if name is None:
        return Verdict(None, "No scorer was chosen, so nothing can be compared.")
    old, new = current.score(name), proposed.score(name)
    problem = _incomparable(old, new)
    if problem or old is None or new is None or old.value is None or new.value is None:
        return Verdict(None, f"{_spoken(name)} can't compare them: {problem}")
    margin = settings.margin if settings.gate == "margin" and name == settings.gate_scorer else 0.0
    accept = new.value >= old.value if not margin else new.value > old.value + margin
    needed = "at least the draft's" if not margin else f"more than the draft's plus {margin:g},"
    return Verdict(accept, f"{_spoken(name)} {new.value:.4g} against {old.value:.4g}; {needed} is needed.")


def _deciding(one: Draft, other: Draft, settings: Settings) -> str | None:
    """The scorer that tells the two apart: the verifier where it knows of a difference, else the gate's."""
    name = settings.verifier
    known = name is not None and not _incomparable(one.score(name), other.score(name))
    if name and known and (one.value(name) != other.value(name) or settings.gate_scorer is None):
        return name
    return settings.gate_scorer


def _spoken(scorer: str) -> str:
    return scorer.replace("_", "-")


def _incomparable(old: Score | None, new: Score | None) -> str:
    for which, score in (("the draft", old), ("the revision", new)):
        if score is None:
            return f"{which} was not scored."
        if score.value is None:
            return f"{which} is not scored: {score.why}"
    if old and new and old.condition != new.condition:
        return "their scores are conditioned on different prompts."
    return ""


@dataclass(frozen=True)
class Best:
    """The best draft so far and why it is."""

    draft: Draft
    why: str
    by_person: bool = False


def first_best(draft: Draft) -> Best:
    """The first draft is the best until something is better."""
    return Best(draft, "It is the first draft; nothing after it was found better.")


def better(best: Best, proposed: Draft, decision: Decision, settings: Settings) -> Best:
    """The best after a ruling on `proposed`."""
    by_person = decision.by != POLICY
    accepted = decision.ruling in PUTS_IN_PLACE
    if by_person and accepted:
        return Best(proposed, f"It is the text that {decision.by} {PUTS_IN_PLACE[decision.ruling]}.", True)
    if by_person or proposed.flags:
        return best
    if best.draft.flags and accepted and not best.by_person:
        return Best(proposed, "It is the first draft that is not flagged.")
    return _better_by_score(best, proposed, settings, accepted)


def _better_by_score(best: Best, proposed: Draft, settings: Settings, accepted: bool) -> Best:
    name = _deciding(best.draft, proposed, settings) or ""
    old, new = best.draft.score(name), proposed.score(name)
    if not _incomparable(old, new) and old and new and old.value is not None and new.value is not None:
        if new.value > old.value or (new.value == old.value and accepted):
            return Best(proposed, f"Its {_spoken(name)} of {new.value:.4g} beats the best before it.")
        return best
    if accepted and not best.by_person:
        return Best(proposed, "It is the last draft that was accepted; scores can't tell them apart.")
    return best


def ruling(gate: Gate, mode: Mode) -> Decision | None:
    """The policy's ruling where the mode lets it rule, or None: the gate is a person's."""
    if mode == "ask":
        return None
    if isinstance(gate, CritiqueGate):
        return Decision("accept", POLICY, "The critique is taken as it is.")
    if isinstance(gate, PickGate):
        verb: Ruling = "synthesise" if gate.synthesise else "pick"
        picked = Decision(verb, POLICY, gate.reason, picks=gate.advised)
        return picked if gate.sure or mode == "auto" else None
    if gate.verdict.accept:
        return Decision("accept", POLICY, gate.verdict.reason)
    return Decision("reject", POLICY, gate.verdict.reason) if mode == "auto" else None
