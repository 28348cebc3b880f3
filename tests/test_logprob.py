"""Scores from probabilities: the arithmetic, and that what is unknown stays unknown and says why."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence

import pytest

from core.domain import Alternative, Completion, Message, Sampling, Score, Task, Token, Usage
from core.models.protocol import Capabilities, Listener, ModelError, Reply, unheard
from core.scoring.logprob import (
    AFTER_SAMPLING,
    GIVEN_PROMPT,
    LogprobScorer,
    SelfEvaluation,
    generation_logprob,
    summary,
)

TASK = Task("shorten this")
PROMPT = (Message("user", "Shorten this."),)


def tokens(*logprobs: float | None) -> tuple[Token, ...]:
    return tuple(Token("x", value) for value in logprobs)


class Fake:
    """A model that scores by a table and answers with one given first token; it keeps what it was asked."""

    name = "fake"

    def __init__(self, table: dict[str, tuple[Token, ...]] | None = None, first: Token | None = None) -> None:
        self.table = table or {}
        self.first = first
        self.asked: list[tuple[Sequence[Message], Sampling]] = []
        self.scorings = 0

    async def capabilities(self) -> Capabilities:
        return Capabilities(True, True, True, True, True, True)

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        n: int = 1,
        sampling: Sampling,
        listen: Listener = unheard,
    ) -> Reply:
        self.asked.append((messages, sampling))
        given = (self.first,) if self.first else ()
        return Reply((Completion("".join(t.text for t in given), tokens=given),), Usage(), 0.0, "fake")

    async def score(self, messages: Sequence[Message], texts: Sequence[str]) -> list[tuple[Token, ...]]:
        self.scorings += 1
        for text in texts:
            if text not in self.table:
                raise ModelError(f"{text} can't be scored", retryable=text == "offline")
        return [self.table[text] for text in texts]


def measure(model: Fake, *texts: str) -> tuple[Score, ...]:
    return asyncio.run(LogprobScorer(model).measure(TASK, PROMPT, texts))


def evaluate(first: Token | None, text: str = "short") -> Score:
    return asyncio.run(SelfEvaluation(Fake(first=first)).measure(TASK, PROMPT, [text]))[0]


def test_the_worked_example_of_joint_sums() -> None:
    found = summary(tokens(-9.69, -0.77, -4.09, -0.30, -1.78))
    assert found.total == pytest.approx(-16.63)
    assert found.mean == pytest.approx(-3.326)


def test_a_score_carries_its_numbers_its_condition_and_its_tokens() -> None:
    (score,) = measure(Fake({"good": tokens(-1.0, -3.0)}), "good")
    assert (score.scorer, score.value, score.condition) == ("logprob", -2.0, f"{GIVEN_PROMPT}, by fake")
    assert dict(score.details) == {"sum": -4.0, "tokens": 2, "left out": 0}
    assert min(t.logprob for t in score.tokens if t.logprob is not None) == -3.0


@pytest.mark.parametrize("bad", [None, math.nan, -math.inf, math.inf, -9999.0, -100.0])
def test_an_unusable_number_is_left_out_and_counted(bad: float | None) -> None:
    (score,) = measure(Fake({"text": tokens(-1.0, bad, -2.0)}), "text")
    assert score.value == -1.5
    assert dict(score.details)["left out"] == 1


def test_without_a_usable_number_the_score_is_unknown_and_says_so() -> None:
    (score,) = measure(Fake({"text": tokens(None, -math.inf)}), "text")
    assert score.value is None
    assert score.why == "none of the 2 tokens has a usable probability"


def test_an_empty_text_is_unknown_not_zero() -> None:
    (score,) = measure(Fake({"": ()}), "")
    assert (score.value, score.why) == (None, "nothing to score: the text is empty")


def test_one_text_that_fails_keeps_no_other_from_its_score() -> None:
    good, bad = measure(Fake({"good": tokens(-1.0)}), "good", "bad")
    assert good.value == -1.0
    assert (bad.value, bad.why) == (None, "bad can't be scored")


def test_a_model_out_of_reach_is_not_asked_again_for_each_text() -> None:
    model = Fake({"good": tokens(-1.0)})
    # It may be had later: the step is not recorded, and is asked again.
    with pytest.raises(ModelError, match="offline"):
        measure(model, "good", "offline")
    assert model.scorings == 1


def test_generation_logprobs_name_their_condition() -> None:
    score = generation_logprob(tokens(-0.5, None, -1.5), "given the draft and its critique")
    assert (score.scorer, score.value) == ("generation_logprob", -1.0)
    assert score.condition == "given the draft and its critique"


def test_probabilities_after_sampling_are_no_score() -> None:
    assert generation_logprob(tokens(0.0, 0.0), "c").why == AFTER_SAMPLING
    assert generation_logprob(tokens(0.0, 0.0), "c").value is None
    assert generation_logprob(tokens(0.0, -1.0), "c").value == -0.5


def test_no_tokens_or_none_with_a_number_is_unknown() -> None:
    assert generation_logprob((), "c").why == "the backend gave no probabilities for this text"
    assert generation_logprob(tokens(None), "c").value is None


def test_p_yes_adds_up_every_spelling_and_counts_the_drawn_token_once() -> None:
    first = Token(
        "Yes",
        math.log(0.3),
        (
            Alternative("Yes", math.log(0.3)),
            Alternative(" yes", math.log(0.1)),
            Alternative("NO\n", math.log(0.2)),
            Alternative("Maybe", math.log(0.4)),
            Alternative("no", -math.inf),
        ),
    )
    score = evaluate(first)
    assert score.value == pytest.approx(0.4 / 0.6)
    assert dict(score.details) == pytest.approx({"yes": 0.4, "no": 0.2})


def test_neither_yes_nor_no_is_unknown_and_tells_what_was_heard() -> None:
    score = evaluate(Token("Well", -0.1, (Alternative("The", -2.0),)))
    assert score.value is None
    assert "'The', 'Well'" in score.why


def test_no_probabilities_and_an_empty_text_are_unknown() -> None:
    assert evaluate(Token("yes", None)).why == "the model gave no probabilities for its first word"
    assert evaluate(None).value is None
    assert evaluate(Token("yes", -0.1), text=" \n").why == "nothing to score: the text is empty"


def test_self_evaluation_asks_for_one_token_after_the_task_and_the_text() -> None:
    model = Fake(first=Token("yes", -0.1))
    asyncio.run(SelfEvaluation(model).measure(TASK, PROMPT, ["short"]))
    messages, sampling = model.asked[0]
    assert [m.role for m in messages] == ["user", "assistant", "user"]
    assert messages[1].content == "short"
    assert (sampling.max_tokens, sampling.temperature, sampling.top_p) == (1, 1.0, 1.0)
    assert sampling.top_logprobs > 1


def test_a_failed_question_is_an_unknown_score() -> None:
    class Broken(Fake):
        async def complete(
            self,
            messages: Sequence[Message],
            *,
            n: int = 1,
            sampling: Sampling,
            listen: Listener = unheard,
        ) -> Reply:
            raise ModelError("no such model: choose another")

    (score,) = asyncio.run(SelfEvaluation(Broken()).measure(TASK, PROMPT, ["short"]))
    assert (score.value, score.why) == (None, "no such model: choose another")
