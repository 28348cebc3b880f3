"""The pure parts of the OpenAI-compatible backend: event frames, tokens, faults, thinking in replies."""

from __future__ import annotations

import json
from typing import Any

import pytest

from core.domain import Alternative, Token
from core.models.endpoint.chunks import Mender, mend, server_name, usage_of
from core.models.endpoint.faults import reported
from core.models.endpoint.sse import Frames
from core.models.endpoint.tokens import spelled
from core.models.protocol import Delta, Notice
from tests.fault_server import DONE, Play, event, says
from tests.openai_harness import ask

STREAM = 'event: a\ndata: {"x": "价🌍"}\n\n: note\n\ndata:one\ndata: two\n\ndata: [DONE]'.encode()


def frames_of(pieces: list[bytes]) -> list[tuple[str, str]]:
    frames = Frames()
    got = [frame for piece in pieces for frame in frames.feed(piece)]
    return [(frame.event, frame.data) for frame in [*got, *frames.close()]]


@pytest.mark.parametrize("line_end", [b"\n", b"\r\n", b"\r"])
def test_frames_are_the_same_wherever_the_bytes_are_cut(line_end: bytes) -> None:
    whole = STREAM.replace(b"\n", line_end)
    wanted = [("a", '{"x": "价🌍"}'), ("", "one\ntwo"), ("", "[DONE]")]
    for at in range(len(whole)):
        assert frames_of([whole[:at], whole[at:]]) == wanted
    assert frames_of([bytes([b]) for b in whole]) == wanted


def test_a_body_that_is_no_event_stream_is_kept_whole() -> None:
    frames = Frames()
    text = '{\n  "error": {"message": "é"}\n}'
    for byte in text.encode():
        assert frames.feed(bytes([byte])) == []
    frames.close()
    assert json.loads(frames.other) == {"error": {"message": "é"}}


def test_payloads_that_were_not_kept_apart_are_taken_line_by_line() -> None:
    run = ask([Play([says("a").replace(b"\n\n", b"\n"), says("b", finish="stop"), DONE])])
    assert run.text == "ab"


def test_lone_halves_become_replacement_characters() -> None:
    assert mend("a\ud83cb\udf0d\ud83c\udf0d") == "a\ufffdb\ufffd🌍"
    mender = Mender()
    assert [mender.feed("a\ud83c"), mender.feed("\udf0d"), mender.feed("\ud83c"), mender.rest()] == [
        "a", "🌍", "", "\ufffd",
    ]  # fmt: skip


def entry(text: str, logprob: object = -1.0, **more: object) -> dict[str, object]:
    return {"token": text, "logprob": logprob, "bytes": list(text.encode()), **more}


def texts(tokens: tuple[Token, ...]) -> list[str]:
    return [token.text for token in tokens]


def test_a_character_in_pieces_is_carried_by_the_piece_that_completes_it() -> None:
    raw = "🌍".encode()
    pieces: list[dict[str, object]] = [
        {"token": "?", "bytes": list(raw[:2])},
        {"token": "?", "bytes": list(raw[2:])},
        entry("!"),
    ]
    assert texts(spelled(pieces, "🌍!")) == ["", "🌍", "!"]
    assert texts(spelled([entry("x"), *pieces], "🌍!")) == ["", "🌍", "!"]


def test_only_tokens_that_spell_the_answer_are_kept() -> None:
    end = entry("<|eot_id|>")
    assert texts(spelled([entry("Hi"), end], "Hi")) == ["Hi"]
    assert texts(spelled([entry("Hi"), {"token": "", "bytes": []}], "Hi")) == ["Hi"]
    assert texts(spelled([{"token": "", "bytes": []}, entry("Hi")], "Hi")) == ["Hi"]
    assert texts(spelled([entry("8"), entry("+"), entry("8"), end], "8")) == ["8"]
    assert spelled([entry("So 8"), end], "8") == ()
    assert spelled([entry("Hi")], "Hi there") == ()
    assert spelled([entry("Hi")], "") == ()


def test_the_last_spelling_is_the_answer() -> None:
    tokens = spelled([entry("8", -1.0), entry("."), entry("8", -2.0)], "8")
    assert tokens == (Token("8", -2.0),)


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (-0.5, -0.5),
        (0.0, 0.0),
        (1e-6, 0.0),
        (-9999.0, None),
        (-100, None),
        (None, None),
        ("-1", None),
        (True, None),
    ],
)
def test_only_usable_logprobs_are_kept(given: object, kept: float | None) -> None:
    assert spelled([entry("a", given)], "a")[0].logprob == kept


def test_infinities_and_nan_in_the_json_are_no_logprobs() -> None:
    rows = json.loads('[{"token": "a", "logprob": -Infinity}, {"token": "b", "logprob": NaN}]')
    assert [token.logprob for token in spelled(rows, "ab")] == [None, None]


def test_alternatives_are_readable() -> None:
    top = [{"token": "?", "bytes": [0xE4, 0xBB], "logprob": -2.0}, {"token": "b", "logprob": -9999.0}]
    token = spelled([entry("a", top_logprobs=top)], "a")[0]
    assert token.alternatives == (Alternative("\\xE4\\xBB", -2.0), Alternative("b", None))


def thinking_chunk(text: str) -> bytes:
    return event({"choices": [{"index": 0, "delta": {"reasoning_content": text}}]})


def logged(*words: str) -> dict[str, Any]:
    return {"logprobs": {"content": [entry(word) for word in words]}}


def test_thinking_sent_apart_is_kept_apart_and_its_tokens_left_out() -> None:
    parts = [
        thinking_chunk("Hm"),
        thinking_chunk(" 8?"),
        says("8", **logged("Hm", " 8?", "8")),
        says(None, finish="stop"),
    ]
    run = ask([Play([*parts, DONE])])
    answer = run.good.completions[0]
    assert (answer.text, answer.thinking, texts(answer.tokens)) == ("8", "Hm 8?", ["8"])
    assert run.heard[:2] == [Notice("The model is thinking."), Delta(0, "8", answer.tokens)]


def test_thinking_in_the_text_is_not_streamed_as_answer() -> None:
    words = ["<think>", "a", "</think>", "\n\n", "The", " sum"]
    run = ask([Play([*(says(w, **logged(w)) for w in words), says(None, finish="stop"), DONE])])
    answer = run.good.completions[0]
    assert (answer.text, answer.thinking) == ("The sum", "a") and run.streamed == "The sum"
    assert texts(answer.tokens) == ["The", " sum"]


def test_thinking_that_never_ended_is_no_answer() -> None:
    run = ask([Play([says("<think>Let me"), says(None, finish="length"), DONE])])
    answer = run.good.completions[0]
    assert (answer.text, answer.thinking, answer.finish) == ("", "Let me", "length")


def test_tokens_that_do_not_spell_the_answer_are_refused_and_told() -> None:
    run = ask([Play([says("Hi", finish="stop", **logged("H", "o")), DONE])])
    assert run.good.completions[0].tokens == ()
    assert any("do not spell" in note for note in run.good.notes)


def test_probabilities_after_sampling_are_told() -> None:
    entries: dict[str, Any] = {"logprobs": {"content": [entry(c, 0.0) for c in "abc"]}}
    run = ask([Play([says("abc", finish="stop", **entries), DONE])])
    assert any("after sampling" in note for note in run.good.notes)


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("/srv/models/Big.gguf", "Big.gguf"),
        ("C:\\models\\Big.gguf", "Big.gguf"),
        ("models/Big.gguf", "Big.gguf"),
        ("org/model-7b", "org/model-7b"),
        (None, ""),
    ],
)
def test_a_local_path_is_never_a_models_name(said: object, shown: str) -> None:
    assert server_name(said) == shown


def test_cached_tokens_are_found_under_both_names() -> None:
    first = usage_of({"prompt_tokens": 5, "prompt_tokens_details": {"cached_tokens": 4}})
    second = usage_of({"prompt_tokens": 5, "prompt_cache_hit_tokens": 4})
    assert first == second and first is not None and first.cached_tokens == 4


@pytest.mark.parametrize(
    ("body", "status", "detail", "found"),
    [
        ({"error": "model not found"}, 404, "model not found", 404),
        ({"error": {"message": "slow", "code": "429"}}, None, "slow", 429),
        ({"error": {"message": "slow", "type": "rate_limit_error"}}, None, "slow", 429),
        ({"object": "error", "message": "bad", "code": 400}, None, "bad", 400),
        ({"error": {"message": "hm"}}, None, "hm", 500),
        ({"detail": "Not Found"}, 404, "Not Found", 404),
        ("<html><head><title>502 Bad Gateway</title></head></html>", 502, "502 Bad Gateway", 502),
        (None, 500, "", 500),
    ],
)
def test_error_bodies_of_many_shapes(body: object, status: int | None, detail: str, found: int) -> None:
    fault = reported(body, status, {})
    assert (fault.detail, fault.status) == (detail, found)
