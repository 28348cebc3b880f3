"""Strategies of several candidates: what they ask, what they choose, and that ties and gaps are said."""

from __future__ import annotations

from dataclasses import replace

from core.domain import Budget, Completion, Decision, Outcome, Sampling, Score, Settings, Task, Usage
from core.engine import Moves, Pending, replay
from core.models.protocol import Reply
from core.steps import Answer, Ask, Group, Measure, Measured, PickGate, Replied, Request, RevisionGate, Step
from core.strategies import STRATEGIES
from tests.driving import PlainWords, Script, drive
from tests.values import TASK

SCORED = Settings(rounds=2, candidates=4, scorers=("s",), gate_scorer="s", sampling=Sampling(seed=100))
BLIND = replace(SCORED, scorers=(), gate_scorer=None)
COUNTING = Task("How many halves make 3 sixths?")


def moves(strategy: str, settings: Settings = SCORED, task: Task = TASK) -> Moves:
    return STRATEGIES[strategy](task, PlainWords(), settings)


def run(strategy: str, script: Script, settings: Settings = SCORED, task: Task = TASK) -> Outcome:
    return drive(moves(strategy, settings, task), script.answer)[0]


def text(outcome: Outcome) -> str:
    assert outcome.draft is not None
    return outcome.draft.text


def picks(script: Script) -> list[PickGate]:
    return [gate for gate in script.gates if isinstance(gate, PickGate)]


# -- best of n ----------------------------------------------------------------------------------


def test_best_of_n_asks_n_times_with_seeds_of_their_own_and_measures_once() -> None:
    script = Script(["a", "b", "c", "d"], {"a": 1, "b": 3, "c": 2, "d": 0})
    outcome, steps = drive(moves("best_of_n"), script.answer)
    assert text(outcome) == "b" and "3 is the highest of 4" in outcome.why_best
    assert [ask.sampling.seed for ask in script.asked] == [100, 101, 102, 103]
    assert [type(step.request) for step in steps] == [Ask, Ask, Ask, Ask, Measure, PickGate]
    assert len({ask.messages for ask in script.asked}) == 1


def test_a_tie_is_said_and_left_to_a_person_who_asked_for_it() -> None:
    script = Script(["a", "b", "c", "d"], {"a": 1, "b": 3, "c": 3, "d": 0})
    outcome = run("best_of_n", script)
    assert text(outcome) == "b" and "2 candidates tie at s 3" in outcome.why_best
    assert not picks(script)[0].sure


def test_unknown_scores_are_said_and_never_taken_for_the_first_one_silently() -> None:
    script = Script(["a", "b", "c", "d"], {})
    outcome = run("best_of_n", script)
    assert text(outcome) == "a" and "No candidate has a known s" in outcome.why_best
    assert not picks(script)[0].sure
    known = Script(["a", "b", "c", "d"], {"a": None, "b": -5, "c": None, "d": None})
    assert text(run("best_of_n", known)) == "b"


def test_a_flagged_candidate_is_not_chosen_whatever_its_score() -> None:
    refusal = "I'm sorry, but I can't help with that."
    script = Script([refusal, "b", "c", "d"], {refusal: 9, "b": 1, "c": 2, "d": 0})
    assert text(run("best_of_n", script)) == "c"
    assert picks(script)[0].candidates[0].flags == ("refusal",)


def test_a_cut_candidate_is_shown_as_that() -> None:
    script = Script(["a", "b", "c", "d"], {"a": 1, "b": 3, "c": 2, "d": 0})

    def cut(request: Request) -> Answer:
        answer = script.answer(request)
        if isinstance(answer, Replied) and answer.reply.completions[0].text == "b":
            return Replied(Reply((Completion("b", "length"),), Usage(), 0.1, "m"))
        return answer

    outcome, _ = drive(moves("best_of_n"), cut)
    assert text(outcome) == "c" and picks(script)[0].candidates[1].flags == ("cut off",)


def test_a_verifier_comes_before_the_score() -> None:
    class Two(Script):
        def answer(self, request: Request) -> Answer:
            answer = super().answer(request)
            if not isinstance(answer, Measured) or not isinstance(request, Measure):
                return answer
            verified = [Score("v", float(text == "c")) for text in request.texts]
            return Measured(tuple((*own, v) for own, v in zip(answer.scores, verified, strict=True)))

    script = Two(["a", "b", "c", "d"], {"a": 1, "b": 3, "c": 2, "d": 0})
    assert text(run("best_of_n", script, replace(SCORED, verifier="v"))) == "c"


def test_the_budget_cuts_the_fan_and_the_step_says_so() -> None:
    script = Script(["a", "b"], {"a": 1, "b": 3})
    outcome = run("best_of_n", script, replace(SCORED, budget=Budget(calls=2)))
    assert text(outcome) == "b" and len(script.asked) == 2
    assert script.asked[0].notes == ("2 of 4 candidates were asked for: the budget has no more calls.",)


# -- a person among the candidates --------------------------------------------------------------


def ruled(*rulings: Decision) -> Script:
    return Script(["a b", "a c", "x", "y"], {"a b": 1, "a c": 3}, list(rulings))


TWO = replace(SCORED, candidates=2)


def test_a_person_picks_another_than_the_best_and_is_named() -> None:
    outcome = run("best_of_n", ruled(Decision("pick", "Anna", picks=(0,))), TWO)
    assert text(outcome) == "a b" and outcome.why_best == "It is the text that Anna picked."


def test_a_person_asks_for_more_and_the_new_ones_join_the_old() -> None:
    script = ruled(Decision("retry", "Anna", note="shorter"), Decision("pick", "Anna", picks=(3,)))
    assert text(run("best_of_n", script, TWO)) == "y"
    assert [len(gate.candidates) for gate in picks(script)] == [2, 4]
    assert script.asked[-1].messages[-1].content.endswith("\n\nshorter") and script.asked[-1].part == 3


def test_parts_of_several_are_put_together_and_scored() -> None:
    script = ruled(Decision("merge", "Anna", picks=(0,), merged=((1, 0),), text="a c b"))
    script.scores["a c b"] = 7
    outcome = run("best_of_n", script, TWO)
    assert outcome.draft is not None and outcome.draft.value("s") == 7
    assert outcome.draft.by == "model, put together by Anna"


def test_ticked_candidates_are_synthesised_and_join_the_rest() -> None:
    script = ruled(Decision("synthesise", "Anna", picks=(1,)), Decision("pick", "Anna", picks=(2,)))
    assert text(run("best_of_n", script, TWO)) == "x"
    assert script.asked[-1].role == "synthesise"
    assert script.asked[-1].messages[-1].content.endswith("Make one of these:\n1x a c")


def test_stop_while_candidates_are_written_keeps_those_that_are_whole() -> None:
    script = Script(["a", "b", "c", "d"], {})

    def stopped(request: Request) -> Answer:
        answer = script.answer(request)
        part = request.part if isinstance(request, Ask) else 0
        assert isinstance(answer, Replied)
        return replace(answer, stopped_by="Ben") if part in (0, 3) else answer

    outcome, steps = drive(moves("best_of_n"), stopped)
    assert outcome.reason == "stopped by Ben" and text(outcome) == "b" and len(steps) == 4


# -- self-consistency ---------------------------------------------------------------------------


def test_votes_are_counted_over_classes_of_equal_answers() -> None:
    script = Script(["0.5", "0.6", "1/2", "50%"], {})
    outcome = run("self_consistency", script, BLIND, COUNTING)
    assert text(outcome) == "0.5" and outcome.why_best == "3 of 4 candidates answer 0.5."
    assert len(script.asked) == 4


def test_it_stops_as_soon_as_an_answer_has_more_than_half() -> None:
    script = Script(["0.5", "1/2", "50%", "never asked"], {})
    run("self_consistency", script, BLIND, COUNTING)
    assert len(script.asked) == 3
    late = Script(["1", "2", "3", "2", "2", "2", "never asked"], {})
    run("self_consistency", late, replace(BLIND, candidates=7), COUNTING)
    assert len(late.asked) == 6  # four at first, then two: no fewer could have given one answer four votes
    none = Script(["1", "2", "3", "4", "5", "6", "7"], {})
    run("self_consistency", none, replace(BLIND, candidates=7), COUNTING)
    assert len(none.asked) == 7


def test_a_tie_is_shown_and_broken_by_the_mean_score() -> None:
    script = Script(["1/2", "3", "0.5", "3.0"], {"1/2": 1, "0.5": 2, "3": 1, "3.0": 5})
    outcome = run("self_consistency", script, SCORED, COUNTING)
    assert text(outcome) == "3.0"
    assert outcome.why_best == "Tie: 1/2, 3 have 2 votes each. The mean score of 3 is the highest."
    blind = Script(["1/2", "3", "0.5", "3.0"], {})
    outcome = run("self_consistency", blind, BLIND, COUNTING)
    assert "Tie" in outcome.why_best and "No score tells them apart" in outcome.why_best
    assert not picks(blind)[0].sure


def test_no_answer_at_all_is_said() -> None:
    flat = replace(BLIND, candidates=2)
    script = Script(["", "I do not know", ""], {})
    outcome = run("self_consistency", script, flat, COUNTING)
    assert text(outcome) == "I do not know"


def test_equal_answers_are_not_grouped_twice() -> None:
    script = Script(["0.5", "1/2", "50%"], {})
    _, steps = drive(moves("self_consistency", BLIND, COUNTING), script.answer)
    assert sum(isinstance(step.request, Group) for step in steps) == 1


# -- synthesis ----------------------------------------------------------------------------------


def test_synthesis_may_answer_what_no_candidate_has() -> None:
    script = Script(["a", "b", "b", "c", "quite new"], {"a": 1, "b": 2, "c": 0, "quite new": 2})
    outcome = run("synthesise", script)
    assert text(outcome) == "quite new" and "none of them scores higher" in outcome.why_best
    asked = script.asked[-1]
    assert asked.role == "synthesise" and asked.part == 4
    assert asked.messages[-1].content.endswith("Make one of these:\n1x a\n2x b\n1x c")
    assert [message.role for message in asked.messages] == ["system", "user"]


def test_synthesis_never_worsens_the_best_candidate() -> None:
    script = Script(["a", "b", "c", "d", "new"], {"a": 1, "b": 2, "c": 0, "d": 0, "new": 1})
    outcome = run("synthesise", script)
    assert text(outcome) == "b" and "scores lower" in outcome.why_best
    assert not picks(script)[-1].sure


def test_without_scores_the_synthesis_is_the_outcome() -> None:
    assert text(run("synthesise", Script(["a", "b", "c", "d", "new"], {}), BLIND)) == "new"


def test_candidates_that_do_not_fit_the_context_are_left_out_and_said() -> None:
    long = ["a" * 900, "b" * 900, "c" * 900, "d" * 900]
    script = Script([*long, "new"], {})
    run("synthesise", script, replace(BLIND, context_tokens=700, sampling=Sampling(max_tokens=100)))
    asked = script.asked[-1]
    assert asked.notes and "were left out of the prompt" in asked.notes[0]
    assert "a" * 900 in asked.messages[-1].content and "d" * 900 not in asked.messages[-1].content


# -- beam ---------------------------------------------------------------------------------------


def test_beam_keeps_m_of_parents_and_children() -> None:
    settings = replace(SCORED, candidates=2, width=2, children=2, rounds=1)
    replies = ["a", "b", *["p"] * 4, "c", "d", "e", "f"]
    script = Script(replies, {"a": 5, "b": 1, "c": 2, "d": 7, "e": 0, "f": 3})
    outcome = run("beam", script, settings)
    first, second, last = picks(script)
    assert (first.keep, second.keep, last.keep) == (2, 2, 1)
    assert [second.candidates[i].text for i in second.advised] == ["d", "a"]
    assert text(outcome) == "d" and outcome.draft is not None and outcome.draft.round == 1
    assert [ask.role for ask in script.asked] == ["draft"] * 2 + ["critique"] * 4 + ["revise"] * 4


def test_beam_never_loses_the_best() -> None:
    settings = replace(SCORED, candidates=2, width=1, children=1, rounds=2)
    script = Script(["a", "b", "p", "c", "p", "d"], {"a": 9, "b": 1, "c": 2, "d": 3})
    assert text(run("beam", script, settings)) == "a"


def test_beam_ends_when_every_critic_is_done() -> None:
    settings = replace(SCORED, candidates=1, width=1, children=2, rounds=2)
    outcome = run("beam", Script(["a", "done", "done"], {"a": 9}), settings)
    assert outcome.reason == "the critic says of every draft that it is done"


def test_a_look_ahead_ranks_a_child_by_what_becomes_of_it() -> None:
    settings = replace(SCORED, candidates=1, width=1, children=2, rounds=1, lookahead=True)
    replies = ["a", "p", "p", "c", "d", "p", "p", "c2", "d2"]
    script = Script(replies, {"a": 1, "c": 3, "d": 2, "c2": 0, "d2": 9})
    outcome = run("beam", script, settings)
    kept = picks(script)[1]
    assert kept.candidates[kept.advised[0]].text == "d" and kept.candidates[2].value("lookahead") == 9
    assert text(outcome) == "d2"  # the best of all that was seen


# -- compositions -------------------------------------------------------------------------------


def test_candidates_are_refined_and_all_that_was_seen_is_looked_at_again() -> None:
    script = Script(["a", "b", "p", "c", "p", "d"], {"a": 1, "b": 5, "c": 4, "d": 6})
    settings = replace(SCORED, candidates=2)
    outcome = run("best_of_n+self_refine", script, settings)
    assert text(outcome) == "d" and outcome.reason == "the rounds are used up"
    last = picks(script)[-1]
    assert [draft.text for draft in last.candidates] == ["a", "b", "c", "d"] and last.round == 3
    assert [gate.current.text for gate in script.gates if isinstance(gate, RevisionGate)] == ["b", "b"]


def test_a_persons_choice_stays_the_best_at_the_end() -> None:
    pick = Decision("pick", "Anna", picks=(0,))
    script = Script(["a", "b", "done"], {"a": 1, "b": 5}, [pick])

    def answer(request: Request) -> Answer:
        return script.answer(request)

    outcome, _ = drive(moves("best_of_n+self_refine", replace(SCORED, candidates=2)), answer)
    assert text(outcome) == "a" and "Anna" in outcome.why_best


def test_every_prefix_of_every_strategy_replays_to_the_request_that_followed_it() -> None:
    for strategy in STRATEGIES:
        replies = ["a", "b", "c", "d", *["p", "q", "r", "s"] * 20]
        scores: dict[str, float | None] = {"a": 1, "b": 2, "c": 3, "d": 4, "q": 5, "r": 6, "s": 7, "p": 0}
        _, steps = drive(moves(strategy), Script(replies, scores).answer)
        for length in range(len(steps)):
            place = replay(moves(strategy), steps[:length])
            assert isinstance(place, Pending) and steps[length].request in place.open, (strategy, length)


def test_parts_of_a_fan_replay_in_any_order() -> None:
    script = Script(["a", "b", "c", "d"], {"a": 1, "b": 3, "c": 2, "d": 0})
    _, steps = drive(moves("best_of_n"), script.answer)
    shuffled: list[Step] = [steps[2], steps[0], steps[3], steps[1], *steps[4:]]
    assert replay(moves("best_of_n"), shuffled) == replay(moves("best_of_n"), steps)
