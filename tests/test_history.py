"""Steps folded into rounds: what was asked, answered and ruled, for every kind of step."""

from __future__ import annotations

from dataclasses import replace

import pytest

from core.domain import Decision, Point, Settings, Token
from core.engine import Pending, replay
from core.history import Story, tell, tokens_at
from core.steps import CritiqueGate, Measure, Measured, Replied, RevisionGate, Step
from core.strategies import direct, self_refine
from tests.driving import PlainWords, Script, drive
from tests.values import TASK, ask, reply

SETTINGS = Settings(rounds=2, scorers=("s",), gate_scorer="s", patience=0)
TWO_ROUNDS = ["a", "p", "b", "q", "c"]


def steps_of(script: Script, settings: Settings = SETTINGS) -> list[Step]:
    """The steps of a whole refinement."""
    return drive(self_refine(TASK, PlainWords(), settings), script.answer)[1]


def told(steps: list[Step], settings: Settings = SETTINGS) -> Story:
    """The story of these steps and of the request that follows them."""
    place = replay(self_refine(TASK, PlainWords(), settings), steps)
    return tell(steps, place.open if isinstance(place, Pending) else (), source=TASK.input)


def by(ruling: str, **more: object) -> Decision:
    return Decision(ruling, "Anna", **more)  # type: ignore[arg-type]


def test_nothing_is_no_story() -> None:
    story = told([])
    assert (story.first, story.rounds, story.notes) == (None, (), ())
    assert story.spent.calls == 0


def test_a_whole_session() -> None:
    script = Script(list(TWO_ROUNDS), {"a": 1.0, "b": 2.0, "c": 1.5})
    story = told(steps_of(script))
    assert story.first is not None and (story.first.text, story.first.value("s")) == ("a", 1.0)
    first, second = story.rounds
    assert (first.number, first.base.text, first.raw_critique) == (1, "a", "p")
    assert first.critique is not None and first.critique.points == (Point("p"),)
    assert first.agreed is not None and first.agreed.ruling == "accept"
    (attempt,) = first.attempts
    assert (attempt.proposed.text, attempt.proposed.value("s"), attempt.settled.text) == ("b", 2.0, "b")
    assert attempt.verdict is not None and attempt.verdict.accept is True
    assert second.base.text == "b"
    (attempt,) = second.attempts
    assert attempt.proposed.text == "c"
    assert attempt.verdict is not None and attempt.verdict.accept is False
    assert attempt.decision is not None and attempt.decision.ruling == "reject"


def test_the_draft_of_a_direct_session_is_scored() -> None:
    _, steps = drive(direct(TASK, PlainWords(), SETTINGS), Script(["a"], {"a": 3.0}).answer)
    story = tell(steps, (), source="")
    assert story.first is not None and story.first.value("s") == 3.0 and story.rounds == ()


def test_at_every_point_of_a_session_the_story_is_a_beginning_of_the_whole() -> None:
    steps = steps_of(Script(list(TWO_ROUNDS), {"a": 1.0, "b": 2.0, "c": 1.5}))
    whole = told(steps)
    for count in range(1, len(steps)):
        story = told(steps[:count])
        assert story.first is not None and story.first.text == "a"
        assert len(story.rounds) <= len(whole.rounds)
        for ours, theirs in zip(story.rounds, whole.rounds, strict=False):
            assert (ours.number, ours.base) == (theirs.number, theirs.base), count
            assert ours.raw_critique in ("", theirs.raw_critique)
            assert [a.proposed.text for a in ours.attempts] in (
                [],
                [a.proposed.text for a in theirs.attempts],
            )


def test_an_open_gate_shows_what_it_is_about() -> None:
    steps = steps_of(Script(list(TWO_ROUNDS), {"a": 1.0, "b": 2.0, "c": 1.5}))
    gates = [at for at, step in enumerate(steps) if isinstance(step.request, CritiqueGate | RevisionGate)]
    at_critique, at_revision = told(steps[: gates[0]]), told(steps[: gates[1]])
    (round_,) = at_critique.rounds
    assert round_.critique is not None and round_.agreed is None and round_.attempts == ()
    (attempt,) = at_revision.rounds[0].attempts
    assert attempt.verdict is not None and attempt.verdict.accept is True and attempt.decision is None


def test_a_revision_asked_for_again_is_kept_beside_the_next() -> None:
    rulings = [by("accept"), by("retry", note="shorter"), by("accept")]
    script = Script(["a", "p", "b", "c"], {"a": 1.0, "b": 2.0, "c": 3.0}, rulings)
    story = told(steps_of(script, replace(SETTINGS, rounds=1)), replace(SETTINGS, rounds=1))
    first, second = story.rounds[0].attempts
    assert (first.proposed.text, second.proposed.text) == ("b", "c")
    assert first.decision is not None and first.decision.note == "shorter"
    assert first.position < second.position
    assert (first.proposed.value("s"), second.proposed.value("s")) == (2.0, 3.0)


def test_a_critique_asked_for_again_takes_the_place_of_the_first() -> None:
    rulings = [by("retry", note="look at the end"), by("accept"), by("accept")]
    script = Script(["a", "p", "other", "b"], {"a": 1.0, "b": 2.0}, rulings)
    one = replace(SETTINGS, rounds=1)
    (round_,) = told(steps_of(script, one), one).rounds
    assert round_.raw_critique == "other"
    assert round_.agreed is not None and round_.agreed.ruling == "accept"


def test_a_persons_own_text_stands_beside_what_was_proposed() -> None:
    script = Script(
        ["a", "p", "b"], {"a": 1.0, "b": 2.0, "mine": 5.0}, [by("accept"), by("edit", text="mine")]
    )
    one = replace(SETTINGS, rounds=1)
    (round_,) = told(steps_of(script, one), one).rounds
    (attempt,) = round_.attempts
    assert attempt.proposed.text == "b" and attempt.proposed.value("s") == 2.0
    assert attempt.written is attempt.settled and attempt.written is not None
    assert (attempt.written.text, attempt.written.by) == ("mine", "Anna")
    assert attempt.written.value("s") == 5.0


def test_the_next_round_begins_with_the_persons_own_text() -> None:
    rulings = [by("accept"), by("edit", text="mine"), by("stop")]
    script = Script(["a", "p", "b", "q"], {"a": 1.0, "b": 2.0, "mine": 5.0}, rulings)
    base = told(steps_of(script)).rounds[1].base
    assert (base.text, base.value("s")) == ("mine", 5.0)


def test_a_draft_written_at_its_critique_replaces_it_in_the_round() -> None:
    rulings = [by("edit", text="mine"), by("accept"), by("accept")]
    script = Script(["a", "p", "q", "b"], {"a": 1.0, "b": 2.0, "mine": 1.5}, rulings)
    one = replace(SETTINGS, rounds=1)
    (round_,) = told(steps_of(script, one), one).rounds
    assert (round_.base.text, round_.base.by, round_.base.value("s")) == ("mine", "Anna", 1.5)
    assert [draft.text for draft in round_.replaced] == ["a"]
    assert round_.raw_critique == "q"


def test_changes_taken_over_in_part_make_a_text_of_their_own() -> None:
    rulings = [by("accept"), by("hunks", hunks=(0,), text="uno two three")]
    texts: dict[str, float | None] = {"one two three": 1.0, "uno two tres": 2.0, "uno two three": 3.0}
    script = Script(["one two three", "p", "uno two tres"], texts, rulings)
    one = replace(SETTINGS, rounds=1)
    (attempt,) = told(steps_of(script, one), one).rounds[0].attempts
    assert attempt.settled.text == "uno two three" and attempt.settled.value("s") == 3.0
    assert attempt.settled.by == "model, in part by Anna"


def test_points_that_a_person_chose_are_kept_with_the_ruling() -> None:
    rulings = [by("accept", points=(Point("mine", by="Anna"),)), by("stop")]
    script = Script(["a", "p", "b"], {"a": 1.0, "b": 2.0}, rulings)
    (round_,) = told(steps_of(script)).rounds
    assert round_.critique is not None and round_.critique.points == (Point("p"),)
    assert round_.agreed is not None and round_.agreed.points == (Point("mine", by="Anna"),)


def test_a_stop_in_the_middle_of_each_kind_of_call_leaves_its_partial_text() -> None:
    steps = steps_of(Script(list(TWO_ROUNDS), {"a": 1.0, "b": 2.0, "c": 1.5}))
    for at, step in enumerate(steps[:7]):
        if isinstance(step.answer, Replied):
            cut = [*steps[:at], Step(step.request, Replied(reply("par"), stopped_by="Anna"))]
            story = told(cut)
            shown = [story.first.text if story.first else "", *(r.raw_critique for r in story.rounds)]
            shown += [a.proposed.text for r in story.rounds for a in r.attempts]
            assert "par" in shown, at
        if isinstance(step.answer, Measured):
            story = told([*steps[:at], Step(step.request, replace(step.answer, stopped_by="Anna"))])
            assert story.first is not None and story.first.text == "a"


def test_a_critic_that_is_done_leaves_a_round_without_a_revision() -> None:
    (round_,) = told(steps_of(Script(["a", "done"], {"a": 1.0}))).rounds
    assert round_.critique is not None and round_.critique.done is True and round_.attempts == ()


def test_without_feedback_a_round_is_its_revision() -> None:
    bare = replace(SETTINGS, feedback="none")
    story = told(steps_of(Script(["a", "b", "c"], {"a": 1.0, "b": 2.0, "c": 3.0}), bare), bare)
    assert [(r.raw_critique, r.attempts[0].proposed.text) for r in story.rounds] == [("", "b"), ("", "c")]
    assert [r.base.text for r in story.rounds] == ["a", "b"]


def test_costs_and_notes_are_gathered_with_their_steps() -> None:
    asked = replace(ask(), notes=("left out",))
    answer = Replied(replace(reply("a"), notes=("retried",)), money=25.0)
    story = tell([Step(ask(), Replied(reply("x"), money=15.0)), Step(asked, answer)], (), source="")
    assert story.notes == ((1, "left out"), (1, "retried"))
    assert (story.spent.calls, story.spent.prompt_tokens, story.spent.completion_tokens) == (2, 20, 10)
    assert story.spent.money == pytest.approx(40.0)


def test_the_tokens_of_a_step_spell_its_text() -> None:
    tokens = (Token("```\n", -1.0), Token("Good", -2.0), Token(" day.", -3.0), Token("\n```", -4.0))
    step = Step(ask(), Replied(reply("```\nGood day.\n```", tokens)))
    assert [(t.text, t.logprob) for t in tokens_at([step], 0, "")] == [("Good", -2.0), (" day.", -3.0)]
    plain = Step(ask(), Replied(reply("Good day.")))
    assert tokens_at([plain], 0, "") == ()
    measured = steps_of(Script(["a", "done"], {"a": 1.0}))[1]
    assert isinstance(measured.request, Measure) and tokens_at([measured], 0, "") == ()


def test_the_first_draft_asked_for_again_is_the_second() -> None:
    story = told(steps_of(Script(["", "a", "done"], {"a": 1.0})))
    assert story.first is not None and story.first.text == "a"
