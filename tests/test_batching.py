"""Calls side by side to a model in this process: written as one batch, yet each has its own text and end."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest

from core.domain import Message, Sampling
from core.models import transformers_local
from core.models.decoding import Draw, Reader
from core.models.protocol import Delta, Happening, ModelError, Reply, unheard
from core.models.transformers_local import TransformersModel
from core.models.waiting import MOST_ROWS
from core.models.writer import Writer
from tests.tiny_model import write_model

PROMPT = [Message("user", "hello world, the food")]
SECONDS = 20.0
"""The longest that the worker is held up: only where the test fails."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_model(tmp_path_factory.mktemp("llama"))


@pytest.fixture(scope="module")
def model(folder: Path) -> TransformersModel:
    return TransformersModel(str(folder), exact=True)


@pytest.fixture
def batches(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The number of rows of each batch that is begun."""
    begun: list[int] = []
    spread = Reader.spread

    def counted(self: Reader, rows: int) -> object:
        begun.append(rows)
        return spread(self, rows)

    monkeypatch.setattr(Reader, "spread", counted)
    return begun


def together(model: TransformersModel, samplings: Sequence[Sampling]) -> list[str]:
    async def ask() -> list[Reply]:
        return await asyncio.gather(*(model.complete(PROMPT, sampling=s) for s in samplings))

    return [reply.completions[0].text for reply in asyncio.run(ask())]


def alone(model: TransformersModel, sampling: Sampling) -> str:
    return together(model, [sampling])[0]


def seeded(seed: int, tokens: int = 12) -> Sampling:
    return Sampling(temperature=0.9, top_p=0.95, max_tokens=tokens, seed=seed)


def test_calls_that_differ_in_their_seeds_are_one_batch_and_write_what_they_write_alone(
    model: TransformersModel, batches: list[int]
) -> None:
    samplings = [seeded(seed) for seed in (1, 2, 3, 3)]
    texts = together(model, samplings)
    assert batches == [4]
    assert texts == [alone(model, sampling) for sampling in samplings]
    assert len(set(texts)) == 3


def test_calls_that_differ_in_more_are_batches_of_their_own(
    model: TransformersModel, batches: list[int]
) -> None:
    together(model, [seeded(1), seeded(1, tokens=5), Sampling(temperature=0.5, max_tokens=12), seeded(2)])
    assert sorted(batches) == [1, 1, 2]


def test_a_call_for_several_texts_is_batched_with_others(
    model: TransformersModel, batches: list[int]
) -> None:
    async def ask() -> tuple[Reply, Reply]:
        several = model.complete(PROMPT, n=3, sampling=seeded(1))
        return await asyncio.gather(several, model.complete(PROMPT, sampling=seeded(2)))

    three, one = asyncio.run(ask())
    assert batches == [4]
    assert (len(three.completions), len(one.completions)) == (3, 1)
    assert three.completions[0].text == alone(model, seeded(1))
    for reply in (three, one):  # the token that ends a text is written too
        written = [len(each.tokens) + (each.finish == "stop") for each in reply.completions]
        assert reply.usage.completion_tokens == sum(written)


def test_no_batch_grows_beyond_its_bound_and_nobody_is_left_out(
    model: TransformersModel, batches: list[int]
) -> None:
    texts = together(model, [seeded(seed, tokens=2) for seed in range(MOST_ROWS + 3)])
    assert batches == [MOST_ROWS, 3]
    assert len(texts) == MOST_ROWS + 3


def test_each_streams_its_own_text_to_its_own_listener(model: TransformersModel) -> None:
    heard: list[list[Happening]] = [[], []]

    async def ask() -> list[Reply]:
        calls = [
            model.complete(PROMPT, sampling=seeded(seed), listen=heard[seed].append) for seed in range(2)
        ]
        return await asyncio.gather(*calls)

    for reply, said in zip(asyncio.run(ask()), heard, strict=True):
        assert "".join(h.text for h in said if isinstance(h, Delta)) == reply.completions[0].text


def hold_up(monkeypatch: pytest.MonkeyPatch, drawn: int) -> threading.Event:
    """Lets the worker write so many tokens of a text and no more until the event is set."""
    go_on, add = threading.Event(), Writer.add

    def held(self: Writer, draw: Draw) -> Delta:
        if self.drawn == drawn:
            assert go_on.wait(SECONDS), "the worker was held up in vain"
        return add(self, draw)

    monkeypatch.setattr(Writer, "add", held)
    return go_on


def test_a_text_that_ends_early_is_told_before_the_others_have_ended(
    model: TransformersModel, monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    first, second = (alone(model, seeded(seed, tokens=1)) for seed in (6, 2))
    assert first.isascii() and second.isascii() and first != second
    loaded = transformers_local._loaded[str(folder), True]
    ends = frozenset(loaded.pieces.encode(first)[0])
    ended = transformers_local.Loaded(
        loaded.model, loaded.tokenizer, loaded.pieces, loaded.context_tokens, ends
    )
    monkeypatch.setitem(transformers_local._loaded, (str(folder), True), ended)
    go_on = hold_up(monkeypatch, 1)

    async def ask() -> tuple[Reply, Reply]:
        long = asyncio.create_task(model.complete(PROMPT, sampling=seeded(2)))
        short = await model.complete(PROMPT, sampling=seeded(6))
        assert not long.done()
        go_on.set()
        return short, await long

    short, long = asyncio.run(ask())
    assert (short.completions[0].text, short.completions[0].finish) == ("", "stop")
    assert long.completions[0].text.startswith(second)


@pytest.mark.parametrize("gone", [0, 1])
def test_cancelling_one_leaves_the_others_and_frees_its_row(
    model: TransformersModel, monkeypatch: pytest.MonkeyPatch, gone: int
) -> None:
    rows: list[int] = []
    read = Reader.go_on

    def counted(self: Reader, ids: Sequence[int], alive: Sequence[int], before: int) -> object:
        rows.append(len(ids))
        return read(self, ids, alive, before)

    monkeypatch.setattr(Reader, "go_on", counted)
    go_on = hold_up(monkeypatch, 3)
    heard: list[Happening] = []

    async def ask() -> str:
        two = asyncio.Event()

        def listen(happening: Happening) -> None:
            heard.append(happening)
            if len(heard) == 2:
                two.set()

        calls = [
            asyncio.create_task(
                model.complete(PROMPT, sampling=seeded(seed), listen=listen if seed == gone else unheard)
            )
            for seed in range(2)
        ]
        await two.wait()
        calls[gone].cancel()
        with pytest.raises(asyncio.CancelledError):
            await calls[gone]
        go_on.set()
        return (await calls[1 - gone]).completions[0].text

    left = asyncio.run(ask())
    assert rows[0] == 2 and rows[-1] == 1 and len(rows) == 11
    assert len(heard) <= 3
    monkeypatch.undo()
    assert left == alone(model, seeded(1 - gone))


def test_a_fault_of_the_prompt_is_told_to_each(model: TransformersModel) -> None:
    async def ask() -> list[object]:
        calls = [model.complete([Message("user", "z" * 400)], sampling=seeded(seed)) for seed in range(3)]
        return list(await asyncio.gather(*calls, return_exceptions=True))

    assert [type(answer) for answer in asyncio.run(ask())] == [ModelError] * 3


def test_a_model_whose_memory_cannot_be_shared_answers_all_the_same(tmp_path: Path) -> None:
    mamba = TransformersModel(str(write_model(tmp_path, family="Mamba")), exact=True)
    samplings = [seeded(seed) for seed in range(3)]
    assert together(mamba, samplings) == [alone(mamba, sampling) for sampling in samplings]


def test_who_wants_no_alternatives_gets_none(model: TransformersModel) -> None:
    reply = asyncio.run(model.complete(PROMPT, sampling=Sampling(max_tokens=3, seed=1, top_logprobs=-1)))
    assert [token.alternatives for token in reply.completions[0].tokens] == [(), (), ()]
