"""Candidates folded from steps: what a person sees of them while they are written, and after the choice."""

from __future__ import annotations

from dataclasses import replace

from core.domain import Decision, Sampling, Settings
from core.engine import Pending, replay
from core.history import Story, tell
from core.steps import PickGate, Step
from core.strategies import STRATEGIES
from tests.driving import PlainWords, Script, drive
from tests.values import TASK

SCORED = Settings(rounds=1, candidates=3, scorers=("s",), gate_scorer="s", sampling=Sampling(seed=1))
SCORES: dict[str, float | None] = {"a": 1, "b": 3, "c": 2, "new": 4, "d": 5}


def steps_of(strategy: str, script: Script, settings: Settings = SCORED) -> list[Step]:
    return drive(STRATEGIES[strategy](TASK, PlainWords(), settings), script.answer)[1]


def told(strategy: str, steps: list[Step], settings: Settings = SCORED) -> Story:
    place = replay(STRATEGIES[strategy](TASK, PlainWords(), settings), steps)
    waiting = place.open if isinstance(place, Pending) else ()
    return tell(steps, waiting, source=TASK.input, strategy=strategy)


def test_candidates_come_one_by_one_whatever_their_order() -> None:
    steps = steps_of("best_of_n", Script(["a", "b", "c"], SCORES))
    pool = told("best_of_n", [steps[2]]).pools[0]
    assert (sorted(pool.candidates), pool.asked) == ([2], (0, 1))
    assert pool.candidates[2].draft.text == "c" and pool.candidates[2].position == 0
    assert pool.choice is None and pool.open


def test_a_choice_shows_the_scores_who_chose_and_what_stands() -> None:
    story = told("best_of_n", steps_of("best_of_n", Script(["a", "b", "c"], SCORES)))
    pool = story.pools[0]
    assert [each.draft.value("s") for each in pool.candidates.values()] == [1, 3, 2]
    assert pool.decision is not None and pool.decision.by == "policy" and not pool.open
    assert [each.position for each in pool.candidates.values()] == [0, 1, 2] and pool.gate == 4
    assert story.current is not None and story.current.text == "b"
    assert story.first is not None and story.first.text == "a"  # what one generation alone would have given


def test_a_text_put_together_stands_with_its_own_score() -> None:
    merge = Decision("merge", "Anna", picks=(0,), merged=((1, 0),), text="new")
    story = told("best_of_n", steps_of("best_of_n", Script(["a", "b", "c"], SCORES, [merge])))
    assert story.current is not None and story.current.value("s") == 4
    assert story.current.by == "model, put together by Anna"
    assert story.pools[0].candidates[0].draft.value("s") == 1


def test_a_synthesis_joins_the_pool_it_was_written_from() -> None:
    story = told("synthesise", steps_of("synthesise", Script(["a", "b", "c", "new"], SCORES)))
    assert [each.made for each in story.pools[0].candidates.values()] == ["draft"] * 3 + ["synthesis"]
    assert len(story.pools) == 1 and story.current is not None and story.current.text == "new"


def test_votes_are_shown_with_their_members() -> None:
    settings = replace(SCORED, scorers=(), gate_scorer=None)
    steps = steps_of("self_consistency", Script(["1/2", "0.5", "3"], {}), settings)
    grouped = told("self_consistency", steps, settings).pools[0].grouped
    assert grouped is not None and grouped.classes == ((0, 1),) and grouped.answers == ("1/2", "0.5")


def test_each_round_of_a_beam_is_a_pool_with_the_critiques_of_its_children() -> None:
    settings = replace(SCORED, candidates=1, width=1, children=2)
    steps = steps_of("beam", Script(["a", "p", "q", "c", "d"], SCORES), settings)
    story = told("beam", steps, settings)
    first, second, last = story.pools
    assert [c.made for c in second.candidates.values()] == ["kept", "child", "child"]
    assert [c.critique for c in second.candidates.values()] == ["", "p", "q"]
    assert last.final and not first.final and story.current is not None and story.current.text == "d"
    middle = next(i for i, step in enumerate(steps) if getattr(step.request, "role", "") == "critique")
    asked = told("beam", steps[: middle + 1], settings).pools[1]
    assert asked.asked == (1,) and asked.candidates[0].critique == "p"


def test_after_the_choice_the_rounds_go_on_from_it_and_the_end_looks_at_all() -> None:
    steps = steps_of("best_of_n+self_refine", Script(["a", "b", "c", "p", "d"], SCORES))
    story = told("best_of_n+self_refine", steps)
    assert story.rounds[0].base.text == "b" and story.rounds[0].base.value("s") == 3
    assert story.pools[-1].final and story.pools[-1].gate == len(steps) - 1
    assert story.current is not None and story.current.text == "d"
    gate = steps[-1].request
    assert isinstance(gate, PickGate)
    before_end = told("best_of_n+self_refine", steps[:-1])
    assert before_end.current is not None and before_end.current.text == "d"
