"""What lists know of a session: decisions, scores, rounds, and the kind of its end."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from core.domain import Decision, Draft, Score, Verdict
from core.facts import OUTCOMES, draft_texts, facts_of, outcome_of, preset_name
from core.running import Stop
from core.sessions import Session
from core.steps import PickGate, RevisionGate, Ruled, Step
from tests.benches import CRITIQUE, Bench, recipe
from tests.values import step

TEXTS = ["A good meal.", CRITIQUE, "A splendid meal.", CRITIQUE, "I'm sorry, but I can't help with that."]
SCORES = {TEXTS[0]: -2.0, TEXTS[2]: -1.0, TEXTS[4]: -3.0}


def played(folder: Path, *decisions: Decision, rounds: int = 2) -> Session:
    """A session on the scripted texts; with decisions a person makes them, else the policy."""
    bench = Bench(folder, list(TEXTS), scores=SCORES)
    session_id = bench.new("ask" if decisions else "auto", recipe(rounds))

    async def run() -> None:
        await bench.advance(session_id, lambda _: None, Stop())
        for decision in decisions:
            position = len(bench.store.load(session_id).steps)
            bench.decide(session_id, position, decision)
            await bench.advance(session_id, lambda _: None, Stop())

    asyncio.run(run())
    return bench.store.load(session_id)


def test_the_policys_decisions_scores_and_flags_are_told(tmp_path: Path) -> None:
    facts = facts_of(played(tmp_path), "the rounds are used up")
    assert (facts.policy_accepted, facts.policy_rejected, facts.person_accepted) == (1, 1, 0)
    assert (facts.first_score, facts.last_score, facts.best_score, facts.change) == (-2.0, -1.0, -1.0, 1.0)
    assert facts.flags == ("refusal",) and facts.outcome == "rounds" and facts.preset == "rewrite"
    assert facts.decisions == ("accepted by policy", "rejected by policy")
    one, two = facts.each_round
    assert (one.decision, one.by, one.policy, one.overruled) == ("accept", "policy", True, False)
    assert (one.before, one.after, one.change) == (-2.0, -1.0, 1.0)
    assert (two.before, two.after, two.change, two.flags) == (-1.0, -3.0, -2.0, ("refusal",))
    assert (one.major, one.minor, one.unstated, one.attempts, one.calls) == (1, 0, 0, 1, 2)


def test_a_person_overrules_the_policy(tmp_path: Path) -> None:
    agree, no = Decision("accept", "Anna"), Decision("reject", "Anna")
    facts = facts_of(played(tmp_path, agree, no, agree, agree), "the rounds are used up")
    assert (facts.person_accepted, facts.person_rejected, facts.overruled) == (1, 1, 2)
    assert [each.overruled for each in facts.each_round] == [True, True]
    assert facts.last_score == -3.0 and facts.change == -1.0 and facts.best_score == -1.0
    assert "policy overruled" in facts.decisions


def test_a_text_of_ones_own_is_an_edit(tmp_path: Path) -> None:
    agree, edit = Decision("accept", "Anna"), Decision("edit", "Anna", text="A good meal.")
    session = played(tmp_path, agree, edit, rounds=1)
    facts = facts_of(session, "")
    assert (facts.person_edited, facts.person_accepted, facts.overruled) == (1, 0, 0)
    assert facts.each_round[0].decision == "edit" and facts.outcome == "open"
    assert draft_texts(session) == ("A good meal.", "A splendid meal.")


def test_points_that_were_not_agreed_on_are_not_counted(tmp_path: Path) -> None:
    facts = facts_of(played(tmp_path, Decision("accept", "Anna", points=())), "")
    assert facts.each_round[0].major == 0


def test_a_gate_that_is_open_is_no_decision(tmp_path: Path) -> None:
    facts = facts_of(played(tmp_path, Decision("accept", "Anna")), "")
    assert facts.each_round[0].decision == "" and facts.decisions == ()
    assert facts.each_round[0].change == 1.0


def picked(decision: Decision, *, sure: bool = True) -> int:
    gate = PickGate(0, (Draft("a"), Draft("b")), (0,), "why", sure=sure)
    session = played_with(Step(gate, Ruled(decision)))
    return facts_of(session, "").overruled


def played_with(*steps: Step) -> Session:
    from datetime import UTC, datetime

    from tests.values import TASK

    made = replace(recipe(), strategy="best_of_n")
    return Session("x", "X", datetime(2026, 1, 1, tzinfo=UTC), TASK, made, "ask", steps)


def test_another_pick_than_the_advised_overrules_only_a_policy_that_was_sure() -> None:
    assert picked(Decision("pick", "Anna", picks=(1,))) == 1
    assert picked(Decision("pick", "Anna", picks=(0,))) == 0
    assert picked(Decision("pick", "Anna", picks=(1,)), sure=False) == 0
    assert picked(Decision("pick", "policy", picks=(1,))) == 0


def test_scores_of_different_conditions_have_no_difference() -> None:
    old, new = (Draft(text, scores=(Score("logprob", -1.0, condition=text),)) for text in "ab")
    gate = RevisionGate(1, old, new, Verdict(None, ""))
    session = replace(played_with(step(), Step(gate, Ruled(Decision("accept", "Anna")))), recipe=recipe())
    facts = facts_of(session, "")
    assert facts.change is None


def test_steps_in_an_order_that_no_run_makes_are_counted_at_least() -> None:
    gate = RevisionGate(1, Draft("a"), Draft("b"), Verdict(True, ""))
    session = replace(played_with(Step(gate, Ruled(Decision("accept", "Anna"))), step()), recipe=recipe())
    facts = facts_of(session, "")
    assert (facts.person_accepted, facts.calls, facts.each_round) == (1, 1, ())


@pytest.mark.parametrize(
    ("ending", "kind"),
    [
        ("", "open"),
        ("the critic says it is done", "done"),
        ("one draft was asked for", "done"),
        ("the choice is made", "done"),
        ("the critic says of every draft that it is done", "done"),
        ("the rounds are used up", "rounds"),
        ("the target is reached: logprob -1 of -2", "target"),
        ("nothing was gained for 2 rounds", "no gain"),
        ("the revision is the same as its draft", "no gain"),
        ("the revision returns to a text of round 1", "no gain"),
        ("stopped by Anna", "stopped"),
        ("the budget is spent: 3 of 3 calls", "budget"),
        ("the model gave no text, twice", "failed"),
    ],
)
def test_the_kind_of_an_end(ending: str, kind: str) -> None:
    assert outcome_of(ending, "") == kind and kind in OUTCOMES
    assert outcome_of(ending, "no reach") == (kind if ending else "failed")


def test_every_reason_that_core_can_end_by_is_told_by_its_beginning() -> None:
    """Reasons are worded where they arise: a wording that changes there has to change here."""
    core = Path(__file__).parent.parent / "core"
    worded = "".join(
        (core / f"{name}.py").read_text() for name in ("asking", "work", "candidates", "spending")
    )
    worded += (core / "strategies.py").read_text()
    for words in ("stopped by ", "the budget is spent", "the target is reached", "the rounds are used up",
                  "nothing was gained", "the revision returns", "the revision is the same",
                  "the model gave no text"):  # fmt: skip
        assert words in worded
        assert outcome_of(words, "") != "done"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("name: rewrite\n", "rewrite"),
        ("# x\ntitle: y\nname: 'my preset'  # mine\n", "my preset"),
        ('name: "a"', "a"),
        ("title: none", ""),
        ("  name: indented", ""),
        ("", ""),
    ],
)
def test_a_presets_name_is_read_from_its_text(text: str, name: str) -> None:
    assert preset_name(text) == name
