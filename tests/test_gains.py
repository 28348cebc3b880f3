"""What refinement brought: baseline, result, and the price of each accepted improvement."""

from __future__ import annotations

from dataclasses import replace

import pytest

from core.domain import Outcome, Sampling, Settings
from core.gains import Gains, gains
from core.history import tell
from core.strategies import STRATEGIES
from tests.driving import PlainWords, Script, drive
from tests.values import TASK

SCORED = Settings(rounds=2, candidates=2, scorers=("s",), gate_scorer="s", sampling=Sampling(seed=1))


def found(strategy: str, replies: list[str], scores: dict[str, float | None]) -> Gains:
    outcome: Outcome
    outcome, steps = drive(STRATEGIES[strategy](TASK, PlainWords(), SCORED), Script(replies, scores).answer)
    return gains(tell(steps, (), source=TASK.input, strategy=strategy), outcome.draft, "s")


def test_each_accepted_improvement_has_its_share_of_calls_and_seconds() -> None:
    brought = found("self_refine", ["a", "p", "b", "p", "c"], {"a": 1, "b": 3, "c": 2})
    assert (brought.baseline, brought.result, brought.accepted) == (1, 3, 1)
    assert brought.calls == 4 and brought.seconds == pytest.approx(4 * 0.5) and brought.money is None


def test_without_an_improvement_there_is_no_price() -> None:
    brought = found("self_refine", ["a", "p", "b", "p", "c"], {"a": 5, "b": 3, "c": 2})
    assert (brought.accepted, brought.calls, brought.seconds) == (0, None, None)
    assert brought.baseline == brought.result == 5


def test_the_baseline_of_candidates_is_the_first_of_them() -> None:
    brought = found("best_of_n", ["a", "b"], {"a": 1, "b": 3})
    assert (brought.baseline, brought.result, brought.accepted) == (1, 3, 1)


def test_scores_of_another_condition_are_no_baseline() -> None:
    script = Script(["a", "b"], {"a": 1, "b": 3})
    outcome, steps = drive(STRATEGIES["best_of_n"](TASK, PlainWords(), SCORED), script.answer)
    assert outcome.draft is not None
    other = tuple(replace(score, condition="another judge") for score in outcome.draft.scores)
    story = tell(steps, (), source=TASK.input, strategy="best_of_n")
    assert gains(story, replace(outcome.draft, scores=other), "s").baseline is None
