"""A model is checked: reached, asked what it can do, one line scored; and what is said when that fails."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence

import pytest

from core.domain import Completion, Message, Token
from core.models.check import PROMPT, SAMPLING, Report, check_model
from core.models.openai_compatible import OpenAICompatible, Patience
from core.models.protocol import ModelError
from core.models.scripted import ScriptedModel
from tests.fake_chat import Chat
from tests.fault_server import Ask, FaultServer, Play, refusal
from tests.test_openai_scoring import Vllm

LINE = "Hello there, friend."


def checked(answer: Callable[[Ask], Play]) -> tuple[Report, FaultServer]:
    """The report on a model at an endpoint that answers so, after a first call without patience."""
    with FaultServer(answer) as server:
        patient = OpenAICompatible("x:m", base_url=server.url, model="m")
        first = OpenAICompatible("x:m", base_url=server.url, model="m", patience=Patience(retries=0))
        return asyncio.run(check_model(patient, first=first)), server


def vllm(ask: Ask) -> Play:
    """Chats, and scores given text."""
    return Vllm()(ask) if "prompt_logprobs" in ask.body else Chat()(ask)


def test_a_model_that_scores_is_scored_given_the_prompt() -> None:
    model = ScriptedModel([LINE], scores={LINE: -0.5})
    report = asyncio.run(check_model(model))
    assert (report.reply, report.reached_as, report.notes) == (LINE, "scripted", ())
    assert report.condition == "given the prompt alone" and report.mean_logprob == pytest.approx(-0.5)
    assert "".join(token.text for token in report.tokens) == LINE
    assert (model.asks[0].messages, model.asks[0].sampling) == (PROMPT, SAMPLING)


def test_a_model_that_only_writes_shows_what_it_wrote_unscored() -> None:
    report = asyncio.run(check_model(ScriptedModel([LINE])))
    assert (report.condition, report.tokens, report.mean_logprob) == ("", (), None)


def test_tokens_of_writing_are_no_score_of_given_text() -> None:
    tokens = (Token("Hello", -0.1), Token(".", -0.2))
    report = asyncio.run(check_model(ScriptedModel([Completion("Hello.", tokens=tokens)])))
    assert (report.condition, report.tokens, report.mean_logprob) == ("as it was written", tokens, None)


def test_an_endpoint_is_asked_whether_it_scores() -> None:
    report, _ = checked(vllm)
    assert report.capabilities.scoring is True and report.condition == "given the prompt alone"
    assert "".join(token.text for token in report.tokens) == report.reply
    assert report.mean_logprob is not None and report.mean_logprob < 0
    without, _ = checked(Chat())
    assert without.capabilities.scoring is False and without.condition == "as it was written"


def test_a_first_call_that_fails_is_the_answer() -> None:
    first = ScriptedModel([ModelError("no such host", retryable=True)])
    patient = ScriptedModel([LINE])
    with pytest.raises(ModelError, match="no such host"):
        asyncio.run(check_model(patient, first=first))
    assert patient.left == 1, "the patient model was not asked"


def test_scoring_that_cannot_be_asked_about_is_a_note() -> None:
    def busy(ask: Ask) -> Play:
        return refusal("busy", 503) if "prompt_logprobs" in ask.body else Chat()(ask)

    report, _ = checked(busy)
    assert report.reply and report.capabilities.scoring is False
    (note,) = report.notes
    assert (
        note.startswith("Whether it scores given text could not be found out.") and "busy (503)" not in note
    )
    assert "busy" in note


class CannotScoreAfterAll(ScriptedModel):
    """Says that it scores, and fails to."""

    async def score(self, messages: Sequence[Message], texts: Sequence[str]) -> list[tuple[Token, ...]]:
        raise ModelError("the weights are damaged")


def test_scoring_that_fails_is_a_note() -> None:
    report = asyncio.run(check_model(CannotScoreAfterAll([LINE], scores={})))
    assert report.notes == ("The line could not be scored. the weights are damaged",)
    assert (report.reply, report.condition) == (LINE, "")


def test_an_empty_answer_is_reported_as_one() -> None:
    report = asyncio.run(check_model(ScriptedModel([""], scores={"": 0.0})))
    assert (report.reply, report.condition, report.mean_logprob) == ("", "", None)


def test_a_report_is_json_as_it_stands() -> None:
    tokens = (Token("Hi", -0.25), Token("!", None))
    report = asyncio.run(check_model(ScriptedModel([Completion("Hi!", tokens=tokens)])))
    written = json.loads(json.dumps(report.as_json(), allow_nan=False))
    assert written["tokens"] == [["Hi", -0.25], ["!", None]]
    assert written["capabilities"]["context_tokens"] is None and written["notes"] == []
