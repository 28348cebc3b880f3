"""The transformers backend on tiny random models: exact scores, exact joins, streams, seeds, cancelling."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from core.domain import Message, Sampling, Token
from core.models import transformers_local
from core.models.decoding import Draw
from core.models.hardware import dtype_name
from core.models.hub import _cached_or_fetched, _progress
from core.models.protocol import Delta, Happening, ModelError, Notice
from core.models.transformers_local import TransformersModel
from core.models.writer import Writer
from tests.tiny_model import sentencepiece_tokenizer, write_model

PROMPT = [Message("user", "hello world, the food")]
TEXTS = [
    "The food was really fantastic.",
    "海洋の温度",
    "预算为500万元。",
    "🌍👩‍👩‍👧‍👦 é",
    "a",
    # The prompt ends in a newline too: read as one text, the two might share a token.
    "\n\t  two  spaces \u00a0\u200b",
    "<|im_end|> spelt out",
    "",
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_model(tmp_path_factory.mktemp("llama"))


@pytest.fixture(scope="module")
def model(folder: Path) -> TransformersModel:
    return TransformersModel(str(folder), exact=True)


def score(model: TransformersModel, texts: Sequence[str]) -> list[tuple[Token, ...]]:
    return asyncio.run(model.score(PROMPT, texts))


def by_hand(folder: Path, text: str) -> list[float]:
    """The definition, one token at a time: a whole forward pass for each, nothing shared."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer: Any = AutoTokenizer.from_pretrained(folder)
    network: Any = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    network.eval()
    chat = f"<|im_start|>user\n{PROMPT[0].content}<|im_end|>\n<|im_start|>assistant\n"
    ids = tokenizer(chat, add_special_tokens=False)["input_ids"]
    found = []
    for token in tokenizer(text, add_special_tokens=False)["input_ids"]:
        with torch.no_grad():
            logits = network(torch.tensor([ids]), use_cache=False).logits[0, -1]
        found.append(float(logits.double().log_softmax(0)[token]))
        ids = [*ids, token]
    return found


def test_scores_equal_the_definition_and_join_to_the_text(folder: Path, model: TransformersModel) -> None:
    for text, tokens in zip(TEXTS, score(model, TEXTS), strict=True):
        assert "".join(token.text for token in tokens) == text
        assert not any("�" in token.text for token in tokens)
        assert [t.logprob for t in tokens] == pytest.approx(by_hand(folder, text), abs=1e-4)


def test_an_empty_text_has_no_tokens_and_a_short_one_at_least_one(model: TransformersModel) -> None:
    empty, short = score(model, ["", "a"])
    assert empty == ()
    assert [token.text for token in short] == ["a"]


@pytest.mark.parametrize(
    ("family", "config"),
    [
        ("Mistral", {"sliding_window": 8}),
        ("Gemma2", {"head_dim": 8, "final_logit_softcapping": 5.0, "sliding_window": 8}),
        ("Mamba", {}),
    ],
)
def test_other_kinds_of_memory_and_head_score_alike(
    tmp_path: Path, family: str, config: dict[str, Any]
) -> None:
    made = write_model(tmp_path, family=family, **config)
    for text, tokens in zip(
        TEXTS[:4], score(TransformersModel(str(made), exact=True), TEXTS[:4]), strict=True
    ):
        assert [t.logprob for t in tokens] == pytest.approx(by_hand(made, text), abs=1e-4)


def test_sentencepiece_spelling_joins_exactly(tmp_path: Path) -> None:
    made = write_model(tmp_path, tokenizer=sentencepiece_tokenizer())
    texts = ["the hello", " the", "  the  a", "你好 🌍", "T"]
    found = score(TransformersModel(str(made), exact=True), texts)
    assert ["".join(token.text for token in tokens) for tokens in found] == texts
    assert [len(tokens) for tokens in found][3] == len("你好 🌍".encode()) + 1


def test_half_a_character_is_refused_in_plain_words(model: TransformersModel) -> None:
    with pytest.raises(ModelError, match="half of a character"):
        score(model, ["broken \ud83c text"])


def test_what_is_longer_than_the_context_is_refused_with_both_numbers(model: TransformersModel) -> None:
    with pytest.raises(ModelError, match=r"\d+ \+ \d{3} tokens long and .* reads 160"):
        score(model, ["a", "long " * 200])
    with pytest.raises(ModelError, match=r"the prompt is \d{3,} tokens long and .* reads 160"):
        asyncio.run(model.complete([Message("user", "z" * 400)], sampling=Sampling()))


def write(model: TransformersModel, n: int, **sampling: Any) -> tuple[list[str], list[Happening]]:
    heard: list[Happening] = []
    reply = asyncio.run(
        model.complete(PROMPT, n=n, sampling=Sampling(**{"max_tokens": 12, **sampling}), listen=heard.append)
    )
    for completion in reply.completions:
        assert "".join(token.text for token in completion.tokens) == completion.text
    return [completion.text for completion in reply.completions], heard


def test_candidates_stream_and_a_seed_repeats_them_whatever_runs_beside(model: TransformersModel) -> None:
    texts, heard = write(model, 3, seed=7)
    streamed = ["".join(d.text for d in heard if isinstance(d, Delta) and d.index == i) for i in range(3)]
    assert streamed == texts
    assert len(set(texts)) == 3
    assert write(model, 3, seed=7)[0] == texts
    assert write(model, 1, seed=7)[0] == texts[:1]
    assert write(model, 1, seed=8)[0] != texts[:1]


def test_temperature_0_takes_the_likeliest_and_a_tiny_top_p_does_too(model: TransformersModel) -> None:
    greedy = write(model, 1, temperature=0.0)[0]
    assert write(model, 1, temperature=1.5, top_p=1e-6, seed=3)[0] == greedy


def test_logprobs_are_the_models_own_whatever_the_temperature(model: TransformersModel) -> None:
    reply = asyncio.run(model.complete(PROMPT, sampling=Sampling(temperature=3.0, seed=2, max_tokens=1)))
    token = reply.completions[0].tokens[0]
    drawn = {a.text: a.logprob for a in token.alternatives}
    best = asyncio.run(
        model.complete(PROMPT, sampling=Sampling(temperature=0.0, max_tokens=1, top_logprobs=5))
    )
    assert drawn == {a.text: a.logprob for a in best.completions[0].tokens[0].alternatives}
    assert best.completions[0].tokens[0].logprob == max(v for v in drawn.values() if v is not None)


def test_the_end_token_ends_a_text_and_is_no_part_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = write_model(tmp_path)
    model = TransformersModel(str(made), exact=True)
    long = asyncio.run(model.complete(PROMPT, sampling=Sampling(temperature=0.0, max_tokens=6)))
    assert long.completions[0].finish == "length" and long.usage.completion_tokens == 6
    loaded = transformers_local._loaded[str(made), True]
    first = loaded.pieces.encode(long.completions[0].tokens[0].text)[0]
    ended = transformers_local.Loaded(
        loaded.model, loaded.tokenizer, loaded.pieces, loaded.context_tokens, frozenset(first)
    )
    monkeypatch.setitem(transformers_local._loaded, (str(made), True), ended)
    reply = asyncio.run(model.complete(PROMPT, sampling=Sampling(temperature=0.0, max_tokens=6)))
    assert (reply.completions[0].text, reply.completions[0].finish) == ("", "stop")


def test_cancelling_ends_the_work_at_once(model: TransformersModel) -> None:
    async def cancel_after_two() -> tuple[int, int]:
        heard: list[Happening] = []
        two = asyncio.Event()

        def listen(happening: Happening) -> None:
            heard.append(happening)
            if len(heard) == 2:
                two.set()

        call = asyncio.create_task(
            model.complete(PROMPT, sampling=Sampling(seed=1, max_tokens=120), listen=listen)
        )
        await two.wait()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        before = len(heard)
        await model.score(PROMPT, ["a"])  # the worker is free again, and nothing more was heard
        return before, len(heard)

    before, after = asyncio.run(cancel_after_two())
    assert before == after < 120


def test_the_first_call_says_that_it_loads(tmp_path: Path) -> None:
    _, heard = write(TransformersModel(str(write_model(tmp_path)), name="hf:tiny"), 1)
    assert heard[0] == Notice("loading hf:tiny")


def test_a_model_without_a_chat_template_reads_plain_text(tmp_path: Path) -> None:
    texts, _ = write(TransformersModel(str(write_model(tmp_path, chat=False))), 1, seed=1)
    assert len(texts) == 1


def test_a_folder_that_is_no_model_and_an_adapter_without_peft_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ModelError, match="could not be loaded"):
        score(TransformersModel(str(tmp_path)), ["a"])
    (tmp_path / "adapter_config.json").write_text("{}")
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(ModelError, match="pip install peft"):
        score(TransformersModel(str(tmp_path)), ["a"])


def test_the_number_format_follows_the_hardware() -> None:
    class Cuda:
        def __init__(self, there: bool, native: bool) -> None:
            self.is_available = lambda: there
            self.is_bf16_supported = lambda: native

    assert dtype_name(Cuda(False, False), frozenset({"avx2"})) == "float32"
    assert dtype_name(Cuda(False, False), frozenset({"avx512_bf16"})) == "bfloat16"
    assert dtype_name(Cuda(True, False), frozenset()) == "float16"
    assert dtype_name(Cuda(True, True), frozenset()) == "bfloat16"


def test_the_hub_is_asked_only_for_what_the_cache_lacks() -> None:
    said: list[str] = []
    assert _cached_or_fetched(lambda **_: Path("here"), "a/b", said.append) == Path("here")
    assert said == []


def test_without_a_network_it_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")  # nothing listens there

    def fetch(**keywords: object) -> Path:
        assert keywords == {"local_files_only": True}
        raise FileNotFoundError("not cached")

    with pytest.raises(ModelError, match=r"could not be downloaded .* give the path") as caught:
        _cached_or_fetched(fetch, "a/b", lambda _: None)
    assert caught.value.retryable


def test_download_progress_is_told_in_megabytes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.models.hub._EVERY_SECONDS", 0.0)
    said: list[str] = []
    bar = _progress(said.append)(total=4_000_000, unit="B")
    bar.update(1_000_000)
    bar.update(3_000_000)
    bar.close()
    assert said == ["downloading: 1 of 4 MB", "downloading: 4 of 4 MB"]


class Spelt:
    """Pieces whose ids are positions in a list of texts."""

    def __init__(self, *texts: str) -> None:
        self.texts = texts

    def piece(self, number: int, *, first: bool = False) -> bytes:
        return self.texts[number].encode()


def test_thinking_is_told_from_the_answer_and_not_streamed() -> None:
    texts = ("<think>", "Let me add.", "</think>", "\n\n", "The sum", " is 8.")
    writer = Writer(0, Spelt(*texts), finish="stop")  # type: ignore[arg-type]
    streamed = [writer.add(Draw(0, number, -0.5, ())).text for number in range(len(texts))]
    rest = writer.end()
    completion = writer.completion()
    assert "".join(streamed) + (rest.text if rest else "") == completion.text == "The sum is 8."
    assert completion.thinking == "Let me add."
    assert "".join(token.text for token in completion.tokens) == completion.text


def test_a_text_that_ends_while_thinking_is_no_answer() -> None:
    writer = Writer(0, Spelt("<think>", "Let me"), finish="length")  # type: ignore[arg-type]
    for number in range(2):
        writer.add(Draw(0, number, -0.5, ()))
    writer.end()
    completion = writer.completion()
    assert (completion.text, completion.tokens, completion.finish) == ("", (), "length")


def test_what_a_model_can_do_is_told_without_downloading_it() -> None:
    capabilities = asyncio.run(TransformersModel("nobody/no-such-model").capabilities())
    assert capabilities.scoring and capabilities.context_tokens is None
