"""What is asked of an endpoint after it has refused something, and the warning of a cut prompt."""

from __future__ import annotations

from typing import Any

import pytest

from core.domain import Message, Sampling, Usage
from core.models.endpoint.faults import Fault
from core.models.endpoint.request import adaptation, body_for, front_dropped
from tests.fault_server import DONE, Ask, Play, body, event, refusal, says, stream
from tests.openai_harness import ask

FULL = Sampling(temperature=0.5, top_p=0.9, max_tokens=50, seed=3, top_logprobs=2)
TURNS = [Message("system", "Be kind."), Message("user", "A text."), Message("user", "Shorten it.")]


def picky(*refused: str) -> Any:
    """A server that refuses these parameters, one at a time, in OpenAI's words."""

    def answer(asked: Ask) -> Play:
        for name in refused:
            if name in asked.body:
                words = f"Unsupported parameter: '{name}' is not supported with this model."
                words += " Use 'max_completion_tokens' instead." if name == "max_tokens" else ""
                return refusal(words, code="unsupported_parameter", param=name)
        return stream("Hi")

    return answer


@pytest.mark.parametrize(
    "name",
    ["logprobs", "top_logprobs", "seed", "stream_options", "temperature", "top_p", "max_tokens", "stream"],
)
def test_a_refused_parameter_costs_one_request_once_and_is_told(name: str) -> None:
    run = ask(picky(name), sampling=FULL, times=2)
    assert [name in asked for asked in run.bodies] == [True, False, False]
    assert any(name in note or "stream" in note for note in run.good.notes)
    if name == "max_tokens":
        assert run.bodies[-1]["max_completion_tokens"] == 50
    if name == "logprobs":
        assert "top_logprobs" not in run.bodies[-1]
    assert run.text == "Hi"


def test_several_refusals_in_turn_cost_one_request_each() -> None:
    run = ask(picky("max_tokens", "logprobs", "temperature"), sampling=FULL, times=2)
    assert len(run.bodies) == 5 and run.text == "Hi"
    assert len([note for note in run.good.notes if "refuses" in note]) == 3


def test_n_is_refused_by_its_name_of_one_letter() -> None:
    for words in ("Unknown parameter: 'n'.", "only n=1 is supported", "n > 1 is not supported"):
        assert adaptation(Fault("status", words, 400), body_for("m", TURNS, 3, FULL, ())) == "n"
    assert ask(picky("n"), n=2).good.completions[1].text == "Hi"


def test_fields_refused_as_a_list_are_found_by_their_place() -> None:
    detail = [{"loc": ["body", "seed"], "msg": "Extra inputs are not permitted", "input": "top_p"}]
    run = ask([body({"detail": detail}, 422), stream("Hi")], sampling=FULL)
    assert "seed" not in run.bodies[1] and "top_p" in run.bodies[1]


def alternating(asked: Ask) -> Play:
    roles = [turn["role"] for turn in asked.body["messages"]]
    if "system" in roles or roles != ["user", "assistant"][: len(roles)]:
        return refusal("Conversation roles must alternate user/assistant/user/assistant/...")
    return stream("Hi")


def test_turns_are_merged_and_system_text_folded_where_the_order_is_refused() -> None:
    run = ask(alternating, messages=TURNS, times=2)
    assert run.bodies[-1]["messages"] == [{"role": "user", "content": "Be kind.\n\nA text.\n\nShorten it."}]
    assert len(run.bodies) == 4 and run.bodies[2] == run.bodies[3]
    assert len([note for note in run.good.notes if "turn" in note]) == 2


def test_a_refused_system_turn_is_folded_at_once() -> None:
    fault = Fault("status", "System role not supported", 400)
    assert adaptation(fault, body_for("m", TURNS, 1, FULL, ())) == "fold system"
    alone = body_for("m", TURNS[:1], 1, FULL, {"fold system"})
    assert alone["messages"] == [{"role": "user", "content": "Be kind."}]


def test_notes_are_only_of_what_changed_this_request() -> None:
    run = ask(picky("seed"), sampling=Sampling(seed=1), times=1)
    assert any("seed" in note for note in run.good.notes)
    assert not any("seed" in note for note in ask(picky("seed"), sampling=Sampling()).good.notes)


@pytest.mark.parametrize("words", ["Bad request", "Unsupported parameter: 'seed', 'n', 'temperature'"])
def test_a_server_that_always_refuses_ends_in_an_error(words: str) -> None:
    run = ask(lambda _: refusal(words), sampling=FULL)
    assert words in str(run.failure) and len(run.bodies) <= 3


def test_a_wrong_value_of_max_tokens_is_not_taken_for_a_refusal() -> None:
    words = "max_tokens is too large: 9000. This model supports at most 4096 completion tokens."
    assert (
        adaptation(Fault("status", words, 400, param="max_tokens"), body_for("m", TURNS, 1, FULL, ())) is None
    )


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("Field 'n': Value must be between 1 <= value <= 2, but got 3", "n"),
        ("Requested sample logprobs of 20, which is greater than max allowed: 5", "top_logprobs"),
        ("temperature must be between 0 and 2", None),
    ],
)
def test_a_count_beyond_the_servers_limit_is_done_without(words: str, name: str | None) -> None:
    assert adaptation(Fault("status", words, 400), body_for("m", TURNS, 3, FULL, ())) == name


def test_a_temperature_out_of_range_is_for_the_person_to_put_right() -> None:
    fault = Fault("status", "temperature must be between 0 and 2", 400, param="temperature")
    assert adaptation(fault, body_for("m", TURNS, 1, FULL, ())) is None


def usage(prompt: int | None) -> Usage:
    return Usage(prompt_tokens=prompt)


LONG = [Message("user", "word " * 6000)]


@pytest.mark.parametrize(("counted", "warned"), [(2048, True), (4096, True), (6000, False), (7500, False)])
def test_a_prompt_that_lost_its_front_is_warned_of(counted: int, warned: bool) -> None:
    assert bool(front_dropped(LONG, usage(counted))) == warned


def test_other_scripts_short_prompts_and_silence_about_counts() -> None:
    assert front_dropped([Message("user", "海洋温度很高" * 1000)], usage(6000)) == ""
    assert front_dropped([Message("user", "word " * 1000)], usage(1)) == ""
    assert front_dropped([Message("user", "word " * 2000)], usage(None)) == ""
    assert "can't be told" in front_dropped(LONG, usage(None))


def test_the_warning_is_in_the_reply() -> None:
    counted = event({"choices": [], "usage": {"prompt_tokens": 2048, "completion_tokens": 1}})
    run = ask([Play([says("Hi", finish="stop"), counted, DONE])], messages=LONG)
    assert any("did not see the whole prompt" in note for note in run.good.notes)
