"""The gate's rules as a table, the best draft, and who rules in which mode."""

from __future__ import annotations

import pytest

from core.domain import Critique, Decision, Draft, Flag, GateRule, Mode, Ruling, Score, Settings, Verdict
from core.gates import POLICY, Best, better, first_best, ruling, verdict
from core.steps import CritiqueGate, RevisionGate


def draft(
    value: float | None = None, *, flags: tuple[Flag, ...] = (), condition: str = "c", text: str = "t"
) -> Draft:
    """A draft with a score named s; None is a score that could not be had."""
    score = Score("s", value, "" if value is not None else "no model", condition)
    return Draft(text, flags=flags, scores=(score,))


def settings(gate: GateRule = "score", margin: float = 0.0, scorer: str | None = "s") -> Settings:
    return Settings(gate=gate, margin=margin, gate_scorer=scorer)


OLD = draft(-2.0)


@pytest.mark.parametrize(
    ("old", "new", "rules", "accept", "words"),
    [
        (OLD, draft(-1.0), settings(), True, "s -1 against -2; at least"),
        (OLD, draft(-2.0), settings(), True, "at least the draft's"),
        (OLD, draft(-2.5), settings(), False, "s -2.5 against -2"),
        (OLD, draft(-1.4), settings("margin", 0.5), True, "plus 0.5"),
        (OLD, draft(-1.5), settings("margin", 0.5), False, "more than the draft's plus 0.5"),
        (OLD, draft(-2.0), settings("margin", 0.0), True, "at least"),
        (OLD, draft(-1.9), settings("score", 0.5), True, "at least"),
        (OLD, draft(-9.0), settings("always"), True, "Every revision"),
        (OLD, draft(None), settings("always"), True, "Every revision"),
        (OLD, draft(None), settings(), None, "the revision is not scored: no model"),
        (draft(None), OLD, settings(), None, "the draft is not scored: no model"),
        (Draft("t"), OLD, settings(), None, "the draft was not scored"),
        (OLD, Draft("t"), settings(), None, "the revision was not scored"),
        (OLD, draft(-1.0), settings(scorer=None), None, "No scorer was chosen"),
        (OLD, draft(-1.0, condition="other"), settings(), None, "different prompts"),
        (OLD, draft(9.0, flags=("refusal",)), settings(), False, "flagged: refusal"),
        (OLD, draft(9.0, flags=("empty", "cut off")), settings("always"), False, "empty, cut off"),
        (
            draft(9.0, flags=("meta-text",)),
            draft(-9.0),
            settings(),
            True,
            "it replaces is flagged: meta-text",
        ),
        (draft(0.0), draft(0.0), settings(), True, "s 0 against 0"),
        (draft(-1.0), draft(0.0), settings(), True, "s 0 against -1"),
    ],
)
def test_the_policys_view(old: Draft, new: Draft, rules: Settings, accept: bool | None, words: str) -> None:
    found = verdict(old, new, rules)
    assert found.accept is accept
    assert words in found.reason


def decided(choice: Ruling, by: str = POLICY) -> Decision:
    return Decision(choice, by)


BEST = first_best(draft(-2.0, text="first"))
FLAGGED = first_best(draft(-2.0, text="first", flags=("empty",)))
CHOSEN = Best(draft(-2.0, text="first"), "Anna accepted it.", True)


@pytest.mark.parametrize(
    ("best", "new", "decision", "is_best", "why"),
    [
        (BEST, draft(-1.0), decided("accept"), True, "Its s of -1 beats the best before it."),
        (BEST, draft(-2.0), decided("accept"), True, "beats the best before it"),
        (BEST, draft(-2.0), decided("reject"), False, "first draft"),
        (BEST, draft(-3.0), decided("accept"), False, "first draft"),
        (BEST, draft(-1.9), decided("reject"), True, "beats the best before it"),
        (BEST, draft(None), decided("accept"), True, "scores can't tell them apart"),
        (BEST, draft(None), decided("reject"), False, "first draft"),
        (BEST, draft(9.0, flags=("refusal",)), decided("accept"), False, "first draft"),
        (FLAGGED, draft(-9.0), decided("accept"), True, "first draft that is not flagged"),
        (FLAGGED, draft(-9.0), decided("reject"), False, "first draft"),
        (BEST, draft(-9.0), decided("accept", "Anna"), True, "It is the text that Anna accepted."),
        (BEST, draft(-9.0, flags=("refusal",)), decided("accept", "Anna"), True, "text that Anna accepted."),
        (BEST, draft(-9.0), decided("edit", "Anna"), True, "text that Anna wrote."),
        (BEST, draft(-9.0), decided("hunks", "Anna"), True, "text that Anna accepted in part."),
        (BEST, draft(9.0), decided("reject", "Anna"), False, "first draft"),
        (CHOSEN, draft(-1.0), decided("accept"), True, "beats the best before it"),
        (CHOSEN, draft(-3.0), decided("accept"), False, "Anna accepted it."),
        (CHOSEN, draft(None), decided("accept"), False, "Anna accepted it."),
    ],
)
def test_the_best_so_far(best: Best, new: Draft, decision: Decision, is_best: bool, why: str) -> None:
    found = better(best, new, decision, settings())
    assert found.draft is (new if is_best else best.draft)
    assert why in found.why


def revision_gate(accept: bool | None) -> RevisionGate:
    return RevisionGate(1, OLD, draft(-1.0), Verdict(accept, "because"))


CRITIQUE_GATE = CritiqueGate(1, OLD, Critique((), None, "raw"))


@pytest.mark.parametrize(
    ("gate", "mode", "expected"),
    [
        (CRITIQUE_GATE, "ask", None),
        (CRITIQUE_GATE, "ask_on_fall", "accept"),
        (CRITIQUE_GATE, "auto", "accept"),
        (revision_gate(True), "ask", None),
        (revision_gate(True), "ask_on_fall", "accept"),
        (revision_gate(True), "auto", "accept"),
        (revision_gate(False), "ask_on_fall", None),
        (revision_gate(False), "auto", "reject"),
        (revision_gate(None), "ask_on_fall", None),
        (revision_gate(None), "auto", "reject"),
    ],
)
def test_who_rules(gate: CritiqueGate | RevisionGate, mode: Mode, expected: Ruling | None) -> None:
    found = ruling(gate, mode)
    assert (found.ruling if found else None) == expected
    assert found is None or (found.by == POLICY and found.why)
