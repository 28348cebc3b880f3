"""The OpenAI-compatible backend against a server that plays exact bytes."""

from __future__ import annotations

import pytest

from core.domain import Sampling, Usage
from core.models.openai_compatible import Patience
from core.models.protocol import Delta, Notice, Restart
from tests.fake_chat import Chat
from tests.fault_server import DONE, Ask, Play, body, event, refusal, says, stream
from tests.openai_harness import ask

USAGE = {"prompt_tokens": 3, "completion_tokens": 1}
ODD_CHUNKS = [
    event({"choices": [], "prompt_filter_results": []}),
    event({"choices": [{"index": 0, "finish_reason": None, "content_filter_offsets": {}}]}),
    event({"choices": None}),
    b": a comment\n\n",
    says(None),
]


@pytest.mark.parametrize("at", range(4))
@pytest.mark.parametrize("odd", ODD_CHUNKS)
def test_chunks_without_choice_delta_or_content_change_nothing(odd: bytes, at: int) -> None:
    parts = [says("H"), says("i"), says(None, finish="stop"), event({"choices": [], "usage": USAGE})]
    run = ask([Play([*parts[:at], odd, *parts[at:], DONE])])
    assert (run.text, run.streamed, run.good.completions[0].finish) == ("Hi", "Hi", "stop")
    assert run.good.usage == Usage(3, 1)


def test_usage_may_come_on_a_content_chunk_or_not_at_all() -> None:
    choice = {"index": 0, "delta": {"content": "Hi"}, "finish_reason": "stop"}
    run = ask([Play([event({"choices": [choice], "usage": USAGE}), DONE])])
    assert run.good.usage == Usage(3, 1)
    assert ask([stream("Hi")]).good.usage == Usage()


ANSWER = "价格…5€ 🌍 ь"


def wire_bytes(line_end: bytes = b"\n") -> bytes:
    texts = [ANSWER[:2], ANSWER[2:5], ANSWER[5:7], ANSWER[7:9], ANSWER[9:]]
    whole = b"".join([*(says(text) for text in texts), says(None, finish="stop"), DONE])
    return whole.replace(b"\n", line_end)


def test_an_answer_is_the_same_wherever_the_network_cuts_it() -> None:
    whole = wire_bytes()
    plays = [Play([bytes([b]) for b in whole])]
    plays += [Play([whole[:at], whole[at:]]) for at in range(0, len(whole), 29)]
    plays += [Play([wire_bytes(b"\r\n")]), Play([whole])]
    for play in plays:
        assert ask([play]).text == ANSWER


def test_surrogate_halves_in_two_deltas_become_one_character() -> None:
    def half(escape: bytes) -> bytes:
        return b'data: {"choices":[{"index":0,"delta":{"content":"' + escape + b'"}}]}\n\n'

    run = ask([Play([half(rb"\ud83c"), half(rb"\udf0d!"), half(rb"\ud83c"), DONE])])
    assert run.text == run.streamed == "🌍!\ufffd"


@pytest.mark.parametrize(
    ("play", "words"),
    [
        (body({"id": "g1", "error": {"message": "Upstream overloaded", "code": 502}}), "Upstream overloaded"),
        (body({"choices": None, "error": {"message": "Too many", "code": 429}}), "Too many"),
        (Play([says("Half an "), event({"error": {"code": 429, "message": "daily limit"}})]), "daily limit"),
        (Play([b'event: error\ndata: {"message": "went wrong"}\n\n']), "went wrong"),
        (refusal("overloaded", 503), "overloaded"),
        (refusal("broken", 500), "broken"),
        (Play([says("Half "), says(None, finish="error")]), "ended the answer with an error"),
    ],
)
def test_an_error_in_any_place_is_retried_and_told(play: Play, words: str) -> None:
    run = ask(lambda _: play, patience=Patience(retries=2))
    assert words in str(run.failure) and run.failure.retryable
    assert len(run.bodies) == 3 and run.waits == [1.0, 2.0]
    assert "Error" not in str(run.failure) and "'choices'" not in str(run.failure)


def test_text_before_an_error_is_kept_as_partial_and_taken_back_before_a_retry() -> None:
    broken = Play([says("Half an "), event({"error": {"code": 429, "message": "daily limit"}})])
    run = ask([broken, stream("Whole")])
    assert run.heard == [
        Delta(0, "Half an "),
        Notice("retrying in 1 s, 1 of 5: daily limit (429)"),
        Restart(),
        Delta(0, "Whole"),
    ]
    assert "Asked again after: daily limit (429)." in run.good.notes
    assert ask([broken], patience=Patience(retries=0)).failure.partial == "Half an "


@pytest.mark.parametrize(
    ("play", "partial"),
    [
        (Play([says("Half")], cut=True), "Half"),
        (Play([says("Half")]), "Half"),
        (Play([]), ""),
        (Play([says("Half"), b'data: {"choices": [{"ind\n\n']), "Half"),
        (Play([says("Half"), b"data: <html>\n\n", DONE]), "Half"),
        (Play([event({"choices": []}), DONE]), ""),
        (body({"choices": []}), ""),
    ],
)
def test_what_is_cut_or_malformed_is_never_an_answer(play: Play, partial: str) -> None:
    run = ask(lambda _: play, patience=Patience(retries=1))
    assert run.failure.retryable and run.failure.partial == partial
    assert len(run.bodies) == 2


def test_a_line_that_breaks_after_the_end_was_told_is_an_answer() -> None:
    assert ask([Play([says("Hi", finish="stop")], cut=True)]).text == "Hi"


def test_retry_after_is_honoured_in_seconds_and_as_a_date() -> None:
    told = body({"error": "slow"}, 429, Retry_After="8")
    date = {"Date": "Mon, 02 Mar 2026 10:00:00 GMT", "Retry-After": "Mon, 02 Mar 2026 10:00:07 GMT"}
    run = ask([told, Play([b"{}"], 503, date), stream("Hi")])
    assert run.waits == [8.0, 7.0]
    assert run.heard[0] == Notice("retrying in 8 s, 1 of 5: slow (429)")


def test_a_wait_of_an_hour_is_left_to_the_person() -> None:
    run = ask([body({"error": "slow"}, 429, Retry_After="3600")])
    assert "asks to wait 3600 seconds" in str(run.failure) and run.waits == []


def test_a_server_that_is_not_there_is_named_after_two_quick_tries() -> None:
    run = ask([], base_url="http://127.0.0.1:9/v1")
    assert run.waits == [0.25, 0.25]
    assert run.heard[0] == Notice("retrying in 0.25 s, 1 of 2: nothing listens at its address")
    assert str(run.failure).startswith("http://127.0.0.1:9/v1 could not be reached: nothing listens there")
    assert "Error" not in str(run.failure)


def test_an_address_that_has_no_server_is_no_refusal() -> None:
    run = ask([], base_url="http://nowhere.invalid/v1", patience=Patience(retries=1))
    assert run.waits == [1.0] and "could not be reached" in str(run.failure)


def test_silence_in_mid_stream_ends_in_a_time_out() -> None:
    run = ask([Play([says("Half"), 5.0])], read_timeout=0.2, patience=Patience(retries=0))
    assert "sent nothing in time" in str(run.failure) and run.failure.partial == "Half"


@pytest.mark.parametrize(
    ("play", "words"),
    [
        (refusal("Incorrect key", 401), "The key was refused (401)"),
        (refusal("no", 403), "Access was refused (403)"),
        (refusal("model 'm' not found", 404), "Check the model's name"),
        (refusal("bad", 400), "refused (400)"),
        (refusal("maximum context length is 4096 tokens; reduce max_tokens", 400), "does not fit"),
        (refusal("You exceeded your quota", 429, code="insufficient_quota"), "no credit left"),
        (Play([b"<html><title>Hello</title></html>"], headers={"Content-Type": "text/html"}), "base URL"),
    ],
)
def test_what_a_retry_would_not_cure_is_told_at_once(play: Play, words: str) -> None:
    run = ask([play], api_key="sk-secret-1")
    assert words in str(run.failure) and not run.failure.retryable
    assert len(run.bodies) == 1 and run.waits == []


def test_a_missing_key_is_asked_for() -> None:
    assert "Set OPENAI_API_KEY or enter a key" in str(ask([refusal("who?", 401)]).failure)


@pytest.mark.parametrize("reason", ["length", "content_filter"])
def test_the_finish_reason_is_kept(reason: str) -> None:
    assert ask([Play([says("Hi", finish=reason), DONE])]).good.completions[0].finish == reason


def test_an_unknown_or_missing_finish_reason_is_unknown() -> None:
    assert ask([Play([says("Hi", finish="tool_calls"), DONE])]).good.completions[0].finish == "unknown"
    assert ask([Play([says("Hi"), DONE])]).good.completions[0].finish == "unknown"


def test_candidates_that_come_interleaved_are_kept_apart() -> None:
    parts = [
        says("a", 0),
        says("x", 1),
        says("y", 1),
        says("b", 0),
        says(None, 1, "stop"),
        says(None, 0, "length"),
    ]
    run = ask([Play([*parts, DONE])], n=2)
    assert [(c.text, c.finish) for c in run.good.completions] == [("ab", "length"), ("xy", "stop")]


def test_a_server_that_ignores_n_is_asked_for_each_answer_with_a_seed_of_its_own() -> None:
    def one(asked: Ask) -> Play:
        return stream(f"seed {asked.body['seed']}")

    run = ask(one, n=3, sampling=Sampling(seed=7), times=2)
    assert [c.text for c in run.good.completions] == ["seed 7", "seed 8", "seed 9"]
    assert ["n" in asked for asked in run.bodies] == [True] + 5 * [False]
    assert any("several answers at once" in note for note in run.good.notes)


def test_a_restart_of_one_candidate_shows_the_others_again() -> None:
    broken = Play([says("Ha")], cut=True)
    failed: list[int] = []

    def answer(asked: Ask) -> Play:
        if asked.body["seed"] == 2 and not failed:
            failed.append(1)
            return broken
        return stream(f"text {asked.body['seed']}")

    run = ask(answer, n=2, sampling=Sampling(seed=1))
    after = run.heard[run.heard.index(Restart()) + 1 :]
    assert after == [Delta(0, "text 1"), Delta(1, "text 2")]


def test_a_whole_answer_without_streaming_is_taken_too() -> None:
    choice = {"message": {"role": "assistant", "content": "Hi"}, "finish_reason": "stop"}
    run = ask([body({"choices": [choice], "usage": USAGE, "model": "/home/anna/models/Big-7B.gguf"})])
    assert (run.text, run.streamed, run.good.usage) == ("Hi", "Hi", Usage(3, 1))
    assert run.good.model == "Big-7B.gguf"


def test_empty_content_is_an_empty_answer() -> None:
    assert ask([Play([says("", finish="stop"), DONE])]).text == ""


def test_an_ordinary_endpoint_gives_tokens_that_join_to_the_text() -> None:
    run = ask(Chat(), n=2, sampling=Sampling(top_logprobs=3))
    for completion in run.good.completions:
        assert completion.text and "".join(t.text for t in completion.tokens) == completion.text
        assert all(len(t.alternatives) == 3 for t in completion.tokens)
    assert run.good.notes == () and run.good.usage.completion_tokens
    assert run.good.seconds > 0
