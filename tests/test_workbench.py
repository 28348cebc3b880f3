"""The use cases on a real store: gates, decisions, failures, stops, forks."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from core.checks import BadDecision, BadTask
from core.domain import Decision, Point, Recipe, Sampling, Score, Settings, Task
from core.engine import Finished, Pending, Place
from core.models.protocol import Delta, ModelError
from core.running import Began, Event, Recorded, Stop
from core.sessions import StaleStep
from core.steps import (
    Answer,
    Ask,
    CritiqueGate,
    Measure,
    Measured,
    Replied,
    Request,
    RevisionGate,
    Ruled,
)
from core.strategies import self_refine
from core.workbench import CannotChange, GateClosed
from tests.benches import CRITIQUE, Bench, recipe
from tests.driving import PlainWords, Script, drive
from tests.values import TASK

TEXTS = ["A good meal.", CRITIQUE, "A splendid meal."]
SCORES = {"A good meal.": -2.0, "A splendid meal.": -1.0, "mine": -3.0}


def advance(bench: Bench, session_id: str, heard: list[Event] | None = None) -> Place:
    watch = heard.append if heard is not None else lambda _: None
    return asyncio.run(bench.advance(session_id, watch, Stop()))


def test_a_session_runs_to_its_first_gate_and_waits(tmp_path: Path) -> None:
    bench, heard = Bench(tmp_path, TEXTS, scores=SCORES), list[Event]()
    session_id = bench.new()
    place = advance(bench, session_id, heard)
    assert isinstance(place, Pending) and isinstance(place.request, CritiqueGate)
    assert place.request.critique.points == (Point("too weak", 'write "splendid"', "good", "major"),)
    assert "".join(e.text for e in heard if isinstance(e, Delta)) == "A good meal." + CRITIQUE
    assert [e.position for e in heard if isinstance(e, Recorded)] == [0, 1, 2]
    assert len(bench.store.load(session_id).steps) == 3


def test_decisions_carry_it_to_its_end(tmp_path: Path) -> None:
    bench = Bench(tmp_path, TEXTS, scores=SCORES)
    session_id = bench.new(made_by=recipe(rounds=1))
    place = advance(bench, session_id)
    bench.decide(session_id, place.position, Decision("accept", "Anna"))
    place = advance(bench, session_id)
    assert isinstance(place, Pending) and isinstance(place.request, RevisionGate)
    assert place.request.verdict.accept is True
    bench.decide(session_id, place.position, Decision("accept", "Anna"))
    place = advance(bench, session_id)
    assert isinstance(place, Finished) and place.outcome.draft is not None
    assert place.outcome.draft.text == "A splendid meal."
    assert bench.store.recent(1)[0].ending == "the rounds are used up"


def test_a_second_decision_on_a_gate_is_refused_and_one_is_recorded(tmp_path: Path) -> None:
    bench = Bench(tmp_path, TEXTS, scores=SCORES)
    session_id = bench.new()
    place = advance(bench, session_id)
    other = Bench(tmp_path, TEXTS)  # another process on the same database
    bench.decide(session_id, place.position, Decision("accept", "Anna"))
    with pytest.raises(StaleStep, match="already decided"):
        other.decide(session_id, place.position, Decision("stop", "Ben"))
    decisions = [s.answer for s in bench.store.load(session_id).steps[place.position :]]
    assert len(decisions) == 1 and "Anna" in repr(decisions[0])


def test_decisions_that_fit_no_gate_are_refused(tmp_path: Path) -> None:
    bench = Bench(tmp_path, TEXTS, scores=SCORES)
    session_id = bench.new()
    with pytest.raises(BadDecision, match="waiting for a model"):
        bench.decide(session_id, 0, Decision("accept", "Anna"))
    place = advance(bench, session_id)
    with pytest.raises(GateClosed):
        bench.decide(session_id, place.position + 1, Decision("accept", "Anna"))
    with pytest.raises(BadDecision, match="critique"):
        bench.decide(session_id, place.position, Decision("reject", "Anna"))
    bench.decide(session_id, place.position, Decision("accept", "Anna"))
    place = advance(bench, session_id)
    with pytest.raises(BadDecision, match="No change is ticked"):
        bench.decide(session_id, place.position, Decision("hunks", "Anna"))
    with pytest.raises(BadDecision, match="no change number 7"):
        bench.decide(session_id, place.position, Decision("hunks", "Anna", hunks=(7,)))
    with pytest.raises(BadDecision, match="empty"):
        bench.decide(session_id, place.position, Decision("edit", "Anna", text="  "))
    assert len(bench.store.load(session_id).steps) == place.position


def test_a_failed_call_leaves_it_resumable_at_the_same_step(tmp_path: Path) -> None:
    bench = Bench(tmp_path, ["A good meal.", ModelError("out of reach"), CRITIQUE], scores=SCORES)
    session_id = bench.new()
    with pytest.raises(ModelError, match="out of reach"):
        advance(bench, session_id)
    session = bench.store.load(session_id)
    assert (len(session.steps), session.problem) == (2, "out of reach")
    place = advance(bench, session_id)
    assert isinstance(place, Pending) and isinstance(place.request, CritiqueGate)
    assert bench.store.load(session_id).problem == ""
    assert [len(asked.messages) for asked in bench.model.asks][1:] == [len(bench.model.asks[1].messages)] * 2


def test_a_score_that_cannot_be_had_says_why(tmp_path: Path) -> None:
    bench = Bench(tmp_path, TEXTS)
    session_id = bench.new("auto", recipe(rounds=1))
    place = advance(bench, session_id)
    assert isinstance(place, Finished) and place.outcome.draft is not None
    score = place.outcome.draft.score("logprob")
    assert score is not None and score.value is None and "cannot score" in score.why


def test_the_mode_is_read_at_every_gate(tmp_path: Path) -> None:
    scores = {**SCORES, "A splendid meal.": -9.0}
    bench = Bench(tmp_path, TEXTS, scores=scores)
    session_id = bench.new("ask", recipe(rounds=1))
    advance(bench, session_id)
    bench.store.set_mode(session_id, "ask_on_fall")
    place = advance(bench, session_id)
    assert isinstance(place, Pending) and isinstance(place.request, RevisionGate)
    bench.store.set_mode(session_id, "auto")
    place = advance(bench, session_id)
    assert isinstance(place, Finished) and place.outcome.draft is not None
    assert place.outcome.draft.text == "A good meal."


def test_a_stop_keeps_the_partial_text_and_asks_nothing_more(tmp_path: Path) -> None:
    bench = Bench(tmp_path, ["one two three four", CRITIQUE], scores=SCORES)
    session_id = bench.new()

    async def stopped() -> Place:
        stop = Stop()

        def watch(event: Event) -> None:
            if isinstance(event, Delta) and "two" in event.text:
                stop.ask("Anna")

        return await bench.advance(session_id, watch, stop)

    place = asyncio.run(stopped())
    assert isinstance(place, Finished) and place.outcome.reason == "stopped by Anna"
    answer = bench.store.load(session_id).steps[0].answer
    assert isinstance(answer, Replied)
    assert answer.reply.completions[0].text.startswith("one two")
    assert (answer.reply.completions[0].finish, answer.stopped_by) == ("stopped", "Anna")
    assert len(bench.model.asks) == 1


def test_a_stop_before_the_first_token(tmp_path: Path) -> None:
    bench = Bench(tmp_path, TEXTS, pace=30.0)
    session_id = bench.new()

    async def stopped() -> Place:
        stop = Stop()
        stop.ask("Anna")
        return await bench.advance(session_id, lambda _: None, stop)

    place = asyncio.run(stopped())
    assert isinstance(place, Finished) and place.outcome.draft is None


def test_a_fork_goes_its_own_way(tmp_path: Path) -> None:
    bench = Bench(tmp_path, [*TEXTS, "Another meal."], scores={**SCORES, "Another meal.": -4.0})
    session_id = bench.new()
    place = advance(bench, session_id)
    bench.decide(session_id, place.position, Decision("accept", "Anna"))
    advance(bench, session_id)
    fork = bench.store.fork(session_id, place.position + 1)
    place = advance(bench, fork)
    assert isinstance(place, Pending) and isinstance(place.request, RevisionGate)
    assert place.request.proposed.text == "Another meal."


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no text"),
        (" \n\t", "no text"),
        ("a\0b", "NUL character at character 2"),
        ("ab\ud83c", "surrogate pair at character 3"),
        ("x" * 1_000_001, "1,000,001 characters"),
    ],
)
def test_bad_tasks_are_refused_in_words(tmp_path: Path, text: str, words: str) -> None:
    bench = Bench(tmp_path, [])
    with pytest.raises(BadTask, match=words):
        bench.new(task=Task(text))
    assert bench.store.recent(1) == []


def test_a_task_too_long_for_the_model_is_refused_with_both_numbers(tmp_path: Path) -> None:
    bench = Bench(tmp_path, [])
    made_by = recipe()
    small = replace(made_by, settings=replace(made_by.settings, context_tokens=4096))
    with pytest.raises(BadTask, match=r"5,0\d\d tokens.*4,096"):
        bench.new(made_by=small, task=Task("word " * 4000))


@pytest.mark.parametrize(
    "text", ["مرحبا بالعالم", "👩‍👩‍👧 🌍", "<script>alert(1)</script>", "${x} {{y}} \\u0041 C:\\users"]
)
def test_any_other_text_is_kept_exactly(tmp_path: Path, text: str) -> None:
    bench = Bench(tmp_path, [text], scores={text: -1.0})
    session_id = bench.new("auto", recipe(strategy="direct"), Task(text))
    place = advance(bench, session_id)
    assert isinstance(place, Finished) and place.outcome.draft is not None
    assert place.outcome.draft.text == text
    first = bench.store.load(session_id).steps[0].request
    assert isinstance(first, Ask) and text in first.messages[-1].content


def test_settings_change_in_mid_run_where_the_recorded_steps_allow_it(tmp_path: Path) -> None:
    bench = Bench(tmp_path, [*TEXTS, "VERDICT: done"], scores=SCORES)
    session_id = bench.new("auto", recipe(rounds=1))
    assert isinstance(advance(bench, session_id), Finished)

    def rounds(number: int) -> Callable[[Recipe], Recipe]:
        return lambda r: replace(r, settings=replace(r.settings, rounds=number))

    bench.change(session_id, rounds(2))
    place = bench.place(bench.store.load(session_id))
    assert isinstance(place, Pending) and bench.store.recent(1)[0].ending == ""
    assert isinstance(advance(bench, session_id), Finished)
    with pytest.raises(CannotChange, match="Fork the session"):
        bench.change(session_id, rounds(0))
    assert bench.store.load(session_id).recipe.settings.rounds == 2


def test_another_model_may_take_the_next_step(tmp_path: Path) -> None:
    bench = Bench(tmp_path, TEXTS, scores=SCORES)
    session_id = bench.new()
    place = advance(bench, session_id)
    bench.change(session_id, lambda r: replace(r, models=(("revise", "other"),)))
    bench.decide(session_id, place.position, Decision("accept", "Anna"))
    place = advance(bench, session_id)
    assert isinstance(place, Pending) and isinstance(place.request, RevisionGate)
    assert bench.opened[-2:] == ["other", "scripted"]


def test_a_family_is_all_forks_of_forks(tmp_path: Path) -> None:
    bench = Bench(tmp_path, TEXTS, scores=SCORES)
    root = bench.new()
    advance(bench, root)
    child = bench.store.fork(root, 2)
    grandchild = bench.store.fork(child, 1)
    other = bench.new()
    for each in (root, child, grandchild):
        assert [s.id for s in bench.store.family(each)] == [root, child, grandchild]
    assert [s.id for s in bench.store.family(other)] == [other]


def test_another_first_draft_is_a_new_session_with_another_seed(tmp_path: Path) -> None:
    bench = Bench(tmp_path, ["A good meal.", "Another meal."])
    made_by = recipe(strategy="direct", scorer=None)
    seeded = replace(made_by, settings=replace(made_by.settings, sampling=Sampling(seed=7)))
    first = bench.new("auto", seeded)
    advance(bench, first)
    second = bench.again(first)
    advance(bench, second)
    assert bench.store.load(second).parent == (first, 0)
    seeds = [asked.sampling.seed for asked in bench.model.asks]
    assert seeds[0] == 7 and seeds[1] != 7


def test_settings_changed_while_it_runs_hold_from_the_next_step_and_break_nothing(tmp_path: Path) -> None:
    texts = [f"meal {i}." for i in range(9)]
    script = [texts[0]]
    for text in texts[1:]:
        script += [CRITIQUE, text]
    bench = Bench(tmp_path, script, scores={text: float(i - 20) for i, text in enumerate(texts)})
    session_id = bench.new("auto", recipe(rounds=8))

    async def shortened() -> Place:
        def watch(event: Event) -> None:
            if isinstance(event, Began) and event.request.round == 2 and isinstance(event.request, Ask):
                bench.change(session_id, lambda r: replace(r, settings=replace(r.settings, rounds=2)))

        return await bench.advance(session_id, watch, Stop())

    place = asyncio.run(shortened())
    assert isinstance(place, Finished) and place.outcome.reason == "the rounds are used up"
    session = bench.store.load(session_id)
    assert bench.place(session) == place and max(s.request.round for s in session.steps) == 2


def test_a_reply_that_new_settings_have_no_use_for_is_let_go(tmp_path: Path) -> None:
    bench = Bench(tmp_path, [*TEXTS, CRITIQUE], scores=SCORES)
    session_id = bench.new("auto", recipe(rounds=3))

    async def ended() -> Place:
        def watch(event: Event) -> None:
            if isinstance(event, Delta) and bench.model.left == 0:
                bench.change(session_id, lambda r: replace(r, settings=replace(r.settings, rounds=1)))

        return await bench.advance(session_id, watch, Stop())

    place = asyncio.run(ended())
    assert isinstance(place, Finished)
    assert bench.place(bench.store.load(session_id)) == place


def test_another_model_is_used_from_the_next_step_of_a_run(tmp_path: Path) -> None:
    bench = Bench(tmp_path, TEXTS, scores=SCORES)
    session_id = bench.new("auto", recipe(rounds=1))

    async def changed() -> None:
        def watch(event: Event) -> None:
            if (
                isinstance(event, Began)
                and isinstance(event.request, Ask)
                and event.request.role == "critique"
            ):
                bench.change(session_id, lambda r: replace(r, model="other"))

        await bench.advance(session_id, watch, Stop())

    asyncio.run(changed())
    assert bench.opened[:3] == ["scripted", "scripted", "scripted"] and set(bench.opened[3:]) == {"other"}


def test_scores_of_another_model_are_measured_again_before_they_are_compared() -> None:
    old = Score("s", -0.5, condition="by one")

    def answer(request: Request) -> Answer:
        if isinstance(request, Measure):
            known = old if request.round == 0 and not asked_again else Score("s", -4.0, condition="by two")
            new = Score("s", -3.0, condition="by two")
            asked_again.append(request.texts[0])
            return Measured(((known if request.texts == ("a",) else new,),))
        return script.answer(request)

    asked_again: list[str] = []
    script = Script(["a", "p", "b"])
    settings = Settings(rounds=1, scorers=("s",), gate_scorer="s")
    outcome, steps = drive(self_refine(TASK, PlainWords(), settings), answer)
    gate = steps[-1].request
    assert isinstance(gate, RevisionGate)
    assert gate.verdict.accept is True and "-3 against -4" in gate.verdict.reason
    assert outcome.draft is not None and outcome.draft.text == "b"


def test_an_outage_while_scoring_leaves_it_resumable(tmp_path: Path) -> None:
    bench = Bench(tmp_path, ["A good meal.", ModelError("out of reach", retryable=True), "yes"])
    session_id = bench.new("auto", recipe(strategy="direct", scorer="self_evaluation"))
    with pytest.raises(ModelError, match="out of reach"):
        advance(bench, session_id)
    assert len(bench.store.load(session_id).steps) == 1
    assert isinstance(advance(bench, session_id), Finished)


def test_after_a_stop_undo_goes_on_from_the_step_that_was_stopped(tmp_path: Path) -> None:
    bench = Bench(
        tmp_path, ["one two three four", "one two three four", CRITIQUE], scores={"one two three four": -1}
    )
    session_id = bench.new()

    async def stopped() -> None:
        stop = Stop()
        await bench.advance(session_id, lambda e: stop.ask("Anna") if isinstance(e, Delta) else None, stop)

    asyncio.run(stopped())
    resumed = bench.undo(session_id)
    assert bench.store.load(resumed).steps == ()
    place = advance(bench, resumed)
    assert isinstance(place, Pending) and isinstance(place.request, CritiqueGate)


def test_parts_taken_over_keep_their_text_whatever_later_diffs_number(tmp_path: Path) -> None:
    bench = Bench(tmp_path, ["The food was good.", CRITIQUE, "The meal was splendid."])
    session_id = bench.new(made_by=recipe(rounds=1, scorer=None))
    place = advance(bench, session_id)
    bench.decide(session_id, place.position, Decision("accept", "Anna"))
    place = advance(bench, session_id)
    bench.decide(session_id, place.position, Decision("hunks", "Anna", hunks=(0,)))
    answer = bench.store.load(session_id).steps[-1].answer
    assert isinstance(answer, Ruled) and answer.decision.text == "The meal was good."


def test_settings_changed_just_as_a_step_is_recorded_are_not_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = Bench(tmp_path, TEXTS, scores=SCORES)
    session_id = bench.new()
    real, tries = bench.store.set_recipe, list[int]()

    def set_recipe(session: str, made_by: Recipe, steps: int) -> None:
        tries.append(steps)
        if len(tries) == 1:
            advance(bench, session)
        real(session, made_by, steps)

    monkeypatch.setattr(bench.store, "set_recipe", set_recipe)
    bench.change(session_id, lambda r: replace(r, model="other"))
    assert tries == [0, 3] and bench.store.load(session_id).recipe.model == "other"
