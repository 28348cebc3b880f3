"""Strategies as pure generators: what they ask, when they stop, what they call the best."""

from __future__ import annotations

from dataclasses import replace

from core.domain import Budget, Decision, GateRule, Outcome, Point, Sampling, Settings, Verdict
from core.steps import Ask, CritiqueGate, Measure, RevisionGate, Step
from core.strategies import direct, self_refine
from tests.driving import PlainWords, Script, drive
from tests.values import TASK

SCORED = Settings(rounds=4, scorers=("s",), gate_scorer="s", patience=0, sampling=Sampling(seed=100))


def refine(script: Script, settings: Settings = SCORED) -> tuple[Outcome, list[Step]]:
    return drive(self_refine(TASK, PlainWords(), settings), script.answer)


def texts(script: Script) -> list[str]:
    return [message.content for message in script.asked[-1].messages]


def test_direct_asks_once_and_measures_once() -> None:
    outcome, steps = drive(
        direct(TASK, PlainWords(), SCORED), Script(["Good day."], {"Good day.": 1.0}).answer
    )
    assert [type(step.request) for step in steps] == [Ask, Measure]
    assert outcome.draft is not None and outcome.draft.text == "Good day."


def test_the_best_is_kept_when_later_rounds_are_worse() -> None:
    script = Script(["a", "p", "b", "p", "c"], {"a": 40, "b": 90, "c": 60})
    outcome, _ = refine(script, replace(SCORED, rounds=2))
    assert outcome.draft is not None and outcome.draft.text == "b"
    assert "90" in outcome.why_best and outcome.reason == "the rounds are used up"


def test_with_every_revision_accepted_the_best_is_still_apart_from_the_current() -> None:
    script = Script(["a", "p", "b", "p", "c"], {"a": 40, "b": 90, "c": 60})
    outcome, _ = refine(script, replace(SCORED, rounds=2, gate="always"))
    assert outcome.draft is not None and outcome.draft.text == "b"
    assert all(gate.verdict.accept for gate in script.gates if isinstance(gate, RevisionGate))


def test_equal_scores_are_accepted_and_a_margin_asks_for_more() -> None:
    cases: tuple[tuple[GateRule, float, bool], ...] = (
        ("score", 0.0, True),
        ("margin", 0.5, False),
        ("margin", 0.0, True),
    )
    for gate, margin, accepted in cases:
        script = Script(["a", "p", "b"], {"a": 1.0, "b": 1.0})
        refine(script, replace(SCORED, rounds=1, gate=gate, margin=margin))
        assert isinstance(script.gates[1], RevisionGate)
        assert script.gates[1].verdict.accept is accepted, (gate, margin)


def test_flat_rounds_end_it_after_the_stated_number() -> None:
    script = Script(
        ["a", "p", "b", "p", "c", "p", "d", "p", "e"], dict(zip("abcde", (32, 82, 82, 82, 82), strict=True))
    )
    outcome, _ = refine(script, replace(SCORED, patience=2))
    assert outcome.reason == "nothing was gained for 2 rounds"
    assert len(script.asked) == 7


def test_the_last_round_is_evaluated_and_can_reach_the_target() -> None:
    script = Script(["a", "p", "b"], {"a": 1, "b": 9})
    outcome, steps = refine(script, replace(SCORED, rounds=1, target_score=9))
    assert outcome.reason == "the target is reached: s 9 of 9"
    assert sum(isinstance(step.request, Measure) for step in steps) == 2


def test_a_target_reached_by_the_first_draft_asks_nothing_more() -> None:
    script = Script(["a"], {"a": 9})
    outcome, _ = refine(script, replace(SCORED, target_score=8))
    assert len(script.asked) == 1 and "target" in outcome.reason


def test_done_ends_it_but_a_missed_target_outranks_the_word_done() -> None:
    outcome, _ = refine(Script(["a", "done"], {"a": 70}))
    assert outcome.reason == "the critic says it is done"
    script = Script(["a", "done", "b"], {"a": 70, "b": 85})
    outcome, _ = refine(script, replace(SCORED, target_score=80))
    assert outcome.reason.startswith("the target is reached")


def test_an_unchanged_revision_ends_it_as_no_change() -> None:
    script = Script(["a", "p", "a"], {"a": 1})
    outcome, _ = refine(script)
    assert outcome.reason == "the revision is the same as its draft"
    gate = script.gates[-1]
    assert isinstance(gate, RevisionGate) and gate.verdict == Verdict(False, outcome.reason)


def test_a_return_to_an_earlier_text_ends_it() -> None:
    script = Script(["a", "p", "b", "p", "a"], {"a": 1, "b": 2})
    outcome, _ = refine(script, replace(SCORED, gate="always"))
    assert outcome.reason == "the revision returns to a text of round 0"


def test_a_person_may_go_on_after_a_repeat() -> None:
    rulings = [
        Decision("accept", "Anna"),
        Decision("reject", "Anna", why="again the same"),
        Decision("stop", "Anna"),
    ]
    script = Script(["a", "p", "a", "q"], {"a": 1}, rulings)
    outcome, _ = refine(script)
    assert outcome.reason == "stopped by Anna"
    assert "again the same" in texts(script)[-1]


def test_unknown_scores_are_never_compared() -> None:
    script = Script(["a", "p", "b"], {"a": None, "b": 5})
    outcome, _ = refine(script, replace(SCORED, rounds=1))
    gate = script.gates[-1]
    assert isinstance(gate, RevisionGate) and gate.verdict.accept is None
    assert "not scored" in gate.verdict.reason
    assert outcome.draft is not None and outcome.draft.text == "a"


def test_a_person_outranks_the_score() -> None:
    rulings = [
        Decision("accept", "Anna"),
        Decision("accept", "Anna"),
        Decision("accept", "Anna"),
        Decision("reject", "Anna"),
    ]
    script = Script(["a", "p", "b", "p", "c"], {"a": 5, "b": 1, "c": 9}, rulings)
    outcome, _ = refine(script, replace(SCORED, rounds=2))
    assert outcome.draft is not None and outcome.draft.text == "b"
    assert outcome.why_best == "It is the text that Anna accepted."


def test_an_edit_is_the_persons_text_and_is_scored() -> None:
    rulings = [Decision("accept", "Anna"), Decision("edit", "Anna", text="mine")]
    script = Script(["a", "p", "b"], {"a": 5, "b": 6, "mine": 2}, rulings)
    outcome, _ = refine(script, replace(SCORED, rounds=1))
    assert outcome.draft is not None
    assert (outcome.draft.text, outcome.draft.by, outcome.draft.value("s")) == ("mine", "Anna", 2)


def test_a_retry_asks_again_with_the_note_and_not_the_attempt() -> None:
    rulings = [
        Decision("accept", "Anna"),
        Decision("retry", "Anna", note="shorter"),
        Decision("accept", "Anna"),
    ]
    script = Script(["a", "p", "b", "c"], {}, rulings)
    outcome, _ = refine(script, replace(SCORED, rounds=1))
    assert texts(script)[-1] == "Revise. shorter" and "b" not in texts(script)
    assert outcome.draft is not None and outcome.draft.text == "c"


def test_only_the_agreed_points_are_in_the_revise_prompt() -> None:
    mine = Point("say thanks", by="Anna")
    rulings = [Decision("accept", "Anna", points=(Point("too long"), mine)), Decision("accept", "Anna")]
    script = Script(["a", "too long\ntoo loud", "b"], {}, rulings)
    refine(script, replace(SCORED, rounds=1))
    assert "- too long\n- say thanks" in texts(script)
    assert not any("too loud" in text for text in texts(script))


def test_no_point_left_is_the_persons_done() -> None:
    script = Script(["a", "too long"], {}, [Decision("accept", "Anna", points=())])
    outcome, _ = refine(script)
    assert outcome.reason == "Anna says it is done"


def test_the_prompts_grow_at_their_end_only() -> None:
    script = Script(["a", "p", "b", "q", "c", "r", "d"], {"a": 1, "b": 2, "c": 1, "d": 3})
    refine(script, replace(SCORED, rounds=3))
    for before, after in zip(script.asked, script.asked[1:], strict=False):
        assert after.messages[: len(before.messages)] == before.messages
    roles = [message.role for message in script.asked[-1].messages]
    assert roles == ["system"] + ["user", "assistant"] * 6 + ["user"]


def test_the_critic_is_told_that_a_revision_was_not_kept() -> None:
    script = Script(["a", "p", "b", "q", "c"], {"a": 5, "b": 1, "c": 6})
    refine(script, replace(SCORED, rounds=2))
    request = script.asked[3].messages[-1].content
    assert "Not kept" in request and "It reads: a" in request


def test_history_latest_shows_only_the_current_draft() -> None:
    script = Script(["a", "p", "b", "q", "c"], {"a": 5, "b": 1, "c": 6})
    refine(script, replace(SCORED, rounds=2, history="latest"))
    assert texts(script)[2:] == ["a", "Criticise (specific).", "q", "Revise."]


def test_a_history_too_long_for_the_context_is_cut_oldest_first_and_says_so() -> None:
    long = ["a" * 400, "p" * 400, "b" * 400, "q" * 400, "c" * 400]
    script = Script(list(long), {long[0]: 1, long[2]: 2, long[4]: 3})
    refine(script, replace(SCORED, rounds=2, context_tokens=900, sampling=Sampling(max_tokens=400)))
    last = script.asked[-1]
    assert last.notes == ("The first 1 rounds were left out of the prompt to fit the context of 500 tokens.",)
    contents = [message.content for message in last.messages]
    assert long[1] not in contents and contents[2] == long[2]
    assert script.asked[1].notes == ()


def test_feedback_none_asks_for_no_critique() -> None:
    script = Script(["a", "b"], {"a": 1, "b": 2})
    refine(script, replace(SCORED, rounds=1, feedback="none"))
    assert [ask.role for ask in script.asked] == ["draft", "revise"]
    assert not any(isinstance(gate, CritiqueGate) for gate in script.gates)


def test_every_call_has_a_seed_of_its_own() -> None:
    script = Script(["a", "p", "b"], {"a": 1, "b": 2})
    refine(script, replace(SCORED, rounds=1, critique_sampling=Sampling(seed=100)))
    assert [ask.sampling.seed for ask in script.asked] == [100, 101, 102]


def test_an_empty_reply_is_asked_again_once_and_then_said() -> None:
    outcome, _ = refine(Script(["", " "]))
    assert outcome.reason == "the model gave no text, twice"
    script = Script(["", "a", "done"], {"a": 1})
    outcome, _ = refine(script)
    assert outcome.draft is not None and outcome.draft.text == "a"


def test_a_flagged_revision_is_not_accepted_whatever_its_score() -> None:
    refusal = "I'm sorry, but I cannot assist with that request."
    script = Script(["A fine day.", "p", refusal], {"A fine day.": 1, refusal: 9})
    outcome, _ = refine(script, replace(SCORED, rounds=1, gate="always"))
    gate = script.gates[-1]
    assert (
        isinstance(gate, RevisionGate) and gate.verdict.accept is False and "refusal" in gate.verdict.reason
    )
    assert outcome.draft is not None and outcome.draft.text == "A fine day."


def test_the_budget_ends_it_before_the_call_that_would_exceed_it() -> None:
    for budget, words in (
        (Budget(calls=2), "2 of 2 calls"),
        (Budget(tokens=30), "30 of 30 tokens"),
        (Budget(seconds=1.0), "1 of 1 seconds"),
    ):
        script = Script(["a", "p", "b"], {"a": 1})
        outcome, _ = refine(script, replace(SCORED, budget=budget))
        assert words in outcome.reason and len(script.asked) == 2


def test_strategies_hold_nothing_between_runs() -> None:
    first = refine(Script(["a", "p", "b", "done"], {"a": 1, "b": 2}))
    second = refine(Script(["a", "p", "b", "done"], {"a": 1, "b": 2}))
    assert first == second


def test_hunks_taken_over_make_a_text_of_both_that_is_scored() -> None:
    old, new = "The food was good and the staff was rude.", "The meal was good and the staff was kind."
    mixed = "The meal was good and the staff was rude."
    rulings = [Decision("accept", "Anna"), Decision("hunks", "Anna", hunks=(0,), text=mixed)]
    script = Script([old, "p", new], {old: 1, new: 2, mixed: 3}, rulings)
    outcome, _ = refine(script, replace(SCORED, rounds=1))
    assert outcome.draft is not None
    assert (outcome.draft.text, outcome.draft.value("s")) == (mixed, 3)
    assert outcome.draft.by == "model, in part by Anna"


def test_a_draft_edited_at_the_critique_is_scored_and_criticised_anew() -> None:
    rulings = [Decision("edit", "Anna", text="mine"), Decision("accept", "Anna"), Decision("accept", "Anna")]
    script = Script(["a", "p", "q", "b"], {"a": 5, "mine": 6, "b": 7}, rulings)
    outcome, steps = refine(script, replace(SCORED, rounds=1))
    assert [ask.role for ask in script.asked] == ["draft", "critique", "critique", "revise"]
    assert "mine" in texts(script) and "a" not in texts(script)
    gate = steps[-1].request
    assert isinstance(gate, RevisionGate) and gate.current.text == "mine" and gate.current.by == "Anna"
    assert outcome.draft is not None and outcome.draft.text == "b"
