"""The scripted model says its lines, keeps a record, and runs out loudly."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from core.domain import Completion, Message, Sampling, Usage
from core.models.protocol import Delta, Happening, Model, ModelError, Reply
from core.models.scripted import ScriptedModel, ScriptRanOut

HELLO = [Message("user", "Say hello")]


def complete(model: Model, n: int = 1) -> tuple[Reply, list[Happening]]:
    heard: list[Happening] = []
    return asyncio.run(model.complete(HELLO, n=n, sampling=Sampling(), listen=heard.append)), heard


def test_lines_are_said_in_turn_and_streamed_by_words() -> None:
    model = ScriptedModel(["Hello  there\n", Completion("cut", "length")])
    reply, heard = complete(model, n=2)
    assert reply.completions == (Completion("Hello  there\n"), Completion("cut", "length"))
    assert heard == [Delta(0, "Hello"), Delta(0, "  there"), Delta(0, "\n"), Delta(1, "cut")]
    assert model.left == 0


def test_a_reply_answers_a_whole_request() -> None:
    whole = Reply((Completion("a"), Completion("b")), Usage(1, 2), 3.0, "m")
    assert complete(ScriptedModel([whole]), n=2)[0] == whole


def test_an_error_in_the_script_is_raised_and_the_next_line_comes_after() -> None:
    model = ScriptedModel([ModelError("no", retryable=True), "yes"])
    with pytest.raises(ModelError, match="no"):
        complete(model)
    assert complete(model)[0].completions[0].text == "yes"


def test_a_function_answers_from_the_messages() -> None:
    def answer(messages: Sequence[Message]) -> str:
        return messages[-1].content.upper()

    assert complete(ScriptedModel(answer))[0].completions[0].text == "SAY HELLO"


def test_every_ask_is_recorded_and_running_out_is_an_error() -> None:
    model = ScriptedModel(["only one"])
    complete(model)
    with pytest.raises(ScriptRanOut, match="asked 2 times"):
        complete(model)
    assert [asked.messages for asked in model.asks] == [tuple(HELLO)] * 2


def test_a_reply_is_refused_among_single_lines() -> None:
    with pytest.raises(ScriptRanOut, match="whole Reply"):
        complete(ScriptedModel(["a", Reply((), Usage(), 0.0, "m")]), n=2)


def test_scores_are_tokens_that_join_to_the_text() -> None:
    model = ScriptedModel([], scores={"a good text": -1.5})
    first, empty = asyncio.run(model.score(HELLO, ["a good text", ""]))
    assert "".join(token.text for token in first) == "a good text" and empty == ()
    assert {token.logprob for token in first} == {-1.5}
    with pytest.raises(ModelError, match="no score"):
        asyncio.run(model.score(HELLO, ["another"]))


def test_scoring_is_a_capability_only_where_scores_were_given() -> None:
    bare = ScriptedModel([])
    assert not asyncio.run(bare.capabilities()).scoring
    assert asyncio.run(ScriptedModel([], scores={}).capabilities()).scoring
    with pytest.raises(ModelError):
        asyncio.run(bare.score(HELLO, ["a"]))


def test_a_pace_lets_others_stop_it_in_mid_text() -> None:
    async def stopped() -> list[Happening]:
        heard: list[Happening] = []
        model = ScriptedModel(["one two three"], pace=60.0)
        task = asyncio.create_task(model.complete(HELLO, sampling=Sampling(), listen=heard.append))
        while not heard:
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        return heard

    assert asyncio.run(stopped()) == [Delta(0, "one")]
