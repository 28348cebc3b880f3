"""Judges: the total is computed, every verdict is kept, disagreement and what can't be read are told."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from core.domain import Message, Sampling, Score, Settings, Task
from core.models.protocol import Listener, ModelError, Reply, unheard
from core.models.scripted import Line, ScriptedModel
from core.presets import BUILT_IN, Preset, read_preset
from core.rubric import Dimension, Rubric
from core.scoring.judge import Judge

TASK = Task("The food was fantastic.", instruction="Make it negative.")
RUBRIC = Rubric((Dimension("clear", "Is it clear?"), Dimension("kind", "Is it kind?", 1, 5)))
PRESET = replace(read_preset(Path(BUILT_IN) / "rewrite.yaml"), rubric=RUBRIC)
SETTINGS = Settings(sampling=Sampling(seed=40), critique_sampling=Sampling(max_tokens=120))


def verdict(clear: float, kind: float, total: float | None = None) -> str:
    told = f"\nTOTAL: {total:g}" if total is not None else ""
    return f"clear: {clear:g} | plain words\nkind: {kind:g} | a bit cold{told}"


def measure(
    scripts: dict[str, Sequence[Line] | Callable[[Sequence[Message]], Line]],
    texts: Sequence[str] = ("The food was bad.",),
    samples: int = 1,
    preset: Preset = PRESET,
) -> tuple[tuple[Score, ...], list[ScriptedModel]]:
    models = [ScriptedModel(script, name=name) for name, script in scripts.items()]
    judge = Judge(preset, models, replace(SETTINGS, judge_samples=samples))
    return asyncio.run(judge.measure(TASK, (Message("user", "secret head"),), texts)), models


def one(*verdicts: Line, samples: int | None = None) -> Score:
    (score,), _ = measure({"j": verdicts}, samples=samples or len(verdicts))
    return score


def test_the_total_is_the_sum_and_every_rating_is_told_with_its_reason() -> None:
    score = one(verdict(7, 3, 10))
    assert score.value == 10.0
    assert dict(score.details) == {"clear": 7.0, "kind": 3.0}
    assert score.notes == ("clear 7: plain words", "kind 3: a bit cold")
    assert score.replies == (verdict(7, 3, 10),)


def test_several_verdicts_give_their_mean_and_their_spread() -> None:
    score = one(verdict(6, 2), verdict(8, 2), verdict(10, 5))
    assert score.value == pytest.approx((8 + 10 + 15) / 3)
    assert dict(score.details) == pytest.approx({"clear": 8.0, "kind": 3.0, "spread": 13**0.5})
    assert len(score.replies) == 3
    assert "j, verdict 3: kind 5: a bit cold" in score.notes


def test_a_stated_total_that_differs_from_the_sum_is_flagged_and_not_used() -> None:
    score = one(verdict(7, 3, 20))
    assert score.value == 10.0
    assert score.notes[0] == "the stated total 20 differs from the sum 10"


def test_what_cannot_be_read_is_kept_counted_and_left_out_of_the_mean() -> None:
    bad = ["I like it.", "clear: 7 | fine", "clear: 11\nkind: 2"]
    score = one(verdict(6, 2), *bad, verdict(8, 2))
    assert score.value == 9.0
    assert "3 of 5 verdicts could not be read (j)." in score.notes
    assert score.replies[1:4] == tuple(bad)


def test_a_text_without_any_readable_verdict_has_no_score() -> None:
    score = one("Fine!", "Nice.")
    assert (score.value, score.why) == (None, "None of the 2 verdicts could be read.")
    assert score.replies == ("Fine!", "Nice.")


def test_each_judge_rates_each_text_so_often_with_seeds_of_their_own() -> None:
    scores, models = measure(
        {"a": [verdict(7, 3)] * 4, "b": [verdict(5, 1)] * 4}, texts=("one", "two"), samples=2
    )
    for model in models:
        assert sorted((ask.sampling.seed or 0) for ask in model.asks) == [40, 40, 41, 41]
        assert all(ask.sampling.temperature for ask in model.asks)
    assert [score.value for score in scores] == [8.0, 8.0]
    details = dict(scores[0].details)
    assert (details["by a"], details["by b"]) == (10.0, 6.0)
    assert [len(score.replies) for score in scores] == [4, 4]


def test_asked_once_a_judge_says_what_it_finds_likeliest() -> None:
    _, (model,) = measure({"j": [verdict(7, 3)]})
    assert (model.asks[0].sampling.temperature, model.asks[0].sampling.seed) == (0.0, 40)
    # The room for a critique would cut a verdict on many dimensions short.
    assert model.asks[0].sampling.max_tokens == 260


def test_a_judge_sees_task_and_text_alone() -> None:
    _, models = measure({"jay": [verdict(7, 3)] * 2, "kay": [verdict(7, 3)] * 2}, texts=("first", "second"))
    seen = {model.name: [" ".join(m.content for m in ask.messages) for ask in model.asks] for model in models}
    assert seen["jay"] == seen["kay"]
    for text, other, asked in (("first", "second", seen["jay"][0]), ("second", "first", seen["jay"][1])):
        assert text in asked and TASK.instruction in asked and TASK.input in asked
        assert other not in asked and "secret head" not in asked
        assert not {"jay", "kay", "draft", "revision", "candidate", "model"} & set(asked.split())


def agreement_of(scores: Sequence[Score]) -> str:
    return next(note for note in scores[0].notes if "apart" in note)


def judge_by_text(**totals: float) -> Callable[[Sequence[Message]], Line]:
    """A judge whose kindness is 1 and whose clearness depends on the text."""

    def rate(messages: Sequence[Message]) -> Line:
        return verdict(next(v for text, v in totals.items() if text in messages[-1].content), 1)

    return rate


def test_judges_of_several_texts_are_compared() -> None:
    same = judge_by_text(alpha=2, beta=8)
    scores, _ = measure({"a": same, "b": same}, texts=("alpha", "beta"))
    assert agreement_of(scores) == (
        "The 2 judges are 0 apart on average; Krippendorff's alpha (interval) is 1.00."
    )
    scores, _ = measure({"a": same, "b": judge_by_text(alpha=4, beta=10)}, texts=("alpha", "beta"))
    assert "2 apart" in agreement_of(scores)
    assert agreement_of(scores) == agreement_of(scores[1:])


def test_agreement_that_is_undefined_says_why() -> None:
    scores, _ = measure({"a": [verdict(7, 3)], "b": [verdict(5, 3)]})
    assert "2 apart" in agreement_of(scores) and "undefined: it needs two texts" in agreement_of(scores)
    scores, _ = measure({"a": [verdict(7, 3)] * 2, "b": [verdict(7, 3)] * 2}, texts=("one", "two"))
    assert "undefined: every rating is the same" in agreement_of(scores)


def test_the_verdicts_of_one_judge_are_compared_too() -> None:
    scores, _ = measure({"a": judge_by_text(alpha=2, beta=8)}, texts=("alpha", "beta"), samples=3)
    assert agreement_of(scores).startswith("The 3 verdicts are 0 apart")


def test_scores_compare_by_one_rubric_and_the_judges_that_were_heard() -> None:
    good, bad = [verdict(7, 3)], ["?"]
    (both,), _ = measure({"a": good, "b": good})
    (again,), _ = measure({"a": [verdict(1, 1)], "b": good})
    (half,), _ = measure({"a": good, "b": bad})
    (alone,), _ = measure({"a": good})
    asked = replace(RUBRIC.dimensions[0], question="Is it as clear as water?")
    (other,), _ = measure(
        {"a": good, "b": good}, preset=replace(PRESET, rubric=Rubric((asked, RUBRIC.dimensions[1])))
    )
    assert both.condition == again.condition
    assert "clear 0 to 10, kind 1 to 5" in both.condition and "by a and b" in both.condition
    assert len({both.condition, half.condition, other.condition}) == 3
    assert half.condition == alone.condition


def test_without_a_rubric_or_a_text_there_is_no_score_and_no_call() -> None:
    (score,), (model,) = measure({"j": []}, preset=replace(PRESET, rubric=None))
    assert score.value is None and "no rubric" in score.why
    (score,), (model,) = measure({"j": []}, texts=(" \n",))
    assert (score.value, model.asks) == (None, []) and "empty" in score.why


def test_a_call_that_may_succeed_later_fails_the_measure_and_ends_the_others() -> None:
    def fails(messages: Sequence[Message]) -> Line:
        return ModelError("busy", retryable=True)

    slow = ScriptedModel(lambda _: verdict(7, 3), name="slow", pace=30.0)
    judge = Judge(PRESET, [slow, ScriptedModel(fails, name="busy")], SETTINGS)

    async def measured() -> int:
        with pytest.raises(ModelError, match="busy"):
            await judge.measure(TASK, (), ["text"])
        return len(asyncio.all_tasks()) - 1

    assert asyncio.run(measured()) == 0


def test_a_call_that_cannot_succeed_leaves_its_text_without_a_score_alone() -> None:
    def rate(messages: Sequence[Message]) -> Line:
        return ModelError("too long") if "long" in messages[-1].content else verdict(7, 3)

    scores, _ = measure({"j": rate}, texts=("long", "short"))
    assert [(score.value, score.why) for score in scores] == [(None, "too long"), (10.0, "")]


def test_verdicts_are_asked_for_side_by_side() -> None:
    class Meeting(ScriptedModel):
        """Answers nobody before five ask at the same time."""

        def __init__(self) -> None:
            super().__init__(lambda _: verdict(7, 3), name="j")
            self.here, self.all_here = 0, asyncio.Event()

        async def complete(
            self,
            messages: Sequence[Message],
            *,
            n: int = 1,
            sampling: Sampling,
            listen: Listener = unheard,
        ) -> Reply:
            self.here += 1
            if self.here == 5:
                self.all_here.set()
            await asyncio.wait_for(self.all_here.wait(), 5)
            return await super().complete(messages, n=n, sampling=sampling, listen=listen)

    judge = Judge(PRESET, [Meeting()], replace(SETTINGS, judge_samples=5))
    (score,) = asyncio.run(judge.measure(TASK, (), ["text"]))
    assert score.value == 10.0
