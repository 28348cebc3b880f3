"""Scoring given text at a server that answers as vLLM's chat API is documented to."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass

import pytest

from core.domain import Message
from core.models.endpoint.tokens import forced
from core.models.openai_compatible import OpenAICompatible
from core.models.protocol import ModelError
from tests.fake_chat import Chat
from tests.fault_server import Ask, FaultServer, Json, Play, body, refusal

PROMPT = [Message("user", "Name a city.")]


@dataclass(frozen=True)
class Vllm:
    """Renders a chat template, cuts it into tokens and tells their logprobs where asked.

    Format: prompt_logprobs is a list with null for the first token and then one mapping a token, from
    its id to logprob, rank and decoded_token; -inf is clamped to -9999. A generation prompt and an open
    last turn exclude each other.
    """

    opening: str = "<|assistant|>\n"
    closes_turn: bool = False

    def __call__(self, ask: Ask) -> Play:
        asked = ask.body
        if asked["add_generation_prompt"] and asked["continue_final_message"]:
            return refusal("Cannot set both `continue_final_message` and `add_generation_prompt` to True.")
        tokens = cut(self._rendered(asked))
        rows = [None, *({str(number(t)): told(t)} for t in tokens[1:])]
        choice = {"index": 0, "message": {"content": "x"}, "finish_reason": "length"}
        return body({"choices": [choice], "prompt_logprobs": rows if asked["prompt_logprobs"] == 0 else None})

    def _rendered(self, asked: Json) -> str:
        turns = "".join(
            f"{self.opening if m['role'] == 'assistant' else '<|user|>'}{m['content']}"
            for m in asked["messages"]
        )
        if asked["add_generation_prompt"]:
            return turns + "<|assistant|>\n"
        return turns + ("<|end|>" if self.closes_turn else "")


def cut(text: str) -> list[bytes]:
    """Words, template marks, and the globe in two halves."""
    words = re.findall(r"<\|\w+\|>|\n|\s?[^\s<]+|\s", text)
    return [half for word in words for half in _halves(word)]


def _halves(word: str) -> list[bytes]:
    raw = word.encode()
    return [raw[:3], raw[3:]] if "🌍" in word else [raw]


def number(token: bytes) -> int:
    return sum(token) * 31 + len(token)


def told(token: bytes) -> Json:
    shown = token.decode("utf-8", "replace")
    return {"logprob": -9999.0 if shown == " never" else -len(token) / 4, "rank": 1, "decoded_token": shown}


def model_at(server: FaultServer) -> OpenAICompatible:
    return OpenAICompatible("x", base_url=server.url, model="m")


def test_the_tokens_of_each_text_join_to_it_and_leave_the_prompt_out() -> None:
    with FaultServer(Vllm()) as server:
        model = model_at(server)
        texts = ["Paris is one", "", "🌍 never"]
        first, empty, third = asyncio.run(model.score(PROMPT, texts))
        assert [(t.text, t.logprob) for t in first] == [("Paris", -1.25), (" is", -0.75), (" one", -1.0)]
        assert empty == ()
        assert [(t.text, t.logprob) for t in third] == [("", -0.75), ("🌍", -0.25), (" never", None)]
        assert asyncio.run(model.capabilities()).scoring


def test_the_server_is_probed_once() -> None:
    with FaultServer(Vllm()) as server:
        model = model_at(server)
        assert not asyncio.run(model.capabilities()).scoring
        assert asyncio.run(model.can_score()) and asyncio.run(model.can_score())
        assert len(server.asks) == 2


@pytest.mark.parametrize("server_plays", [Chat(), lambda _: refusal("Unknown parameter: prompt_logprobs")])
def test_a_server_without_prompt_logprobs_cannot_score(server_plays: Chat) -> None:
    with FaultServer(server_plays) as server:
        model = model_at(server)
        for _ in range(2):
            with pytest.raises(ModelError, match="cannot score given text"):
                asyncio.run(model.score(PROMPT, ["Paris"]))
        assert not asyncio.run(model.capabilities()).scoring
        assert len(server.asks) == 1


@pytest.mark.parametrize("server_plays", [Vllm(opening="<|assistant|>"), Vllm(closes_turn=True)])
def test_a_template_that_does_not_leave_the_turn_open_is_no_score(server_plays: Vllm) -> None:
    with FaultServer(server_plays) as server:
        assert not asyncio.run(model_at(server).can_score())


def test_a_server_that_could_not_be_asked_is_not_remembered_as_unable() -> None:
    with FaultServer([refusal("busy", 503), *map(Vllm(), _probe())]) as server:
        model = model_at(server)
        with pytest.raises(ModelError, match="busy"):
            asyncio.run(model.can_score())
        assert asyncio.run(model.can_score())


def _probe() -> list[Ask]:
    said = [{"role": "user", "content": "Hi"}]
    open_turn = {"add_generation_prompt": False, "continue_final_message": True, "prompt_logprobs": 0}
    none_yet = {"add_generation_prompt": True, "continue_final_message": False, "prompt_logprobs": 0}
    answered = [*said, {"role": "assistant", "content": "Hello"}]
    return [
        Ask("POST", "", {}, {"messages": answered, **open_turn}),
        Ask("POST", "", {}, {"messages": said, **none_yet}),
    ]


def test_nothing_to_score_asks_nothing() -> None:
    with FaultServer([]) as server:
        assert asyncio.run(model_at(server).score(PROMPT, ["", ""])) == [(), ()]
        assert server.asks == []


@pytest.mark.parametrize(
    ("words", "text", "joined"),
    [
        (["a", " b"], "a b", ["a", " b"]),
        (["\ufffd", "\ufffd", "x"], "é" + "x", ["", "é", "x"]),
        ([" \ufffd", "\ufffd", "\ufffd", "!"], " 🌍é!", ["", "", " 🌍é", "!"]),
        (["\ufffd"], "\ufffd", ["\ufffd"]),
        (["a", " c"], "a b", []),
        (["Paris"], " Paris", []),
        (["a", "b"], "abc", []),
    ],
)
def test_decoded_tokens_spell_the_text_or_are_refused(words: list[str], text: str, joined: list[str]) -> None:
    rows = [{"decoded_token": word, "logprob": -1.0} for word in words]
    assert [token.text for token in forced(rows, text)] == joined


def test_prompt_logprobs_of_another_shape_are_no_score() -> None:
    two = {"1": {"logprob": -1.0}, "2": {"logprob": -2.0}}
    odd = body({"choices": [{"message": {"content": "x"}}], "prompt_logprobs": [None, two]})
    with FaultServer([odd]) as server:
        assert not asyncio.run(model_at(server).can_score())
