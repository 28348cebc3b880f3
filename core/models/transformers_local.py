"""Models run in this process by transformers: any hub name or local folder, on CPU or CUDA.

Everything that touches torch runs in one worker thread (torch_worker). Calls that wait there for the same
prompt and sampling, seeds apart, are written as one batch. A seed gives the same text alone and in a batch,
as far as the last bits of the arithmetic allow: a token may come out differently where two are equally near.
A reply's logprobs are those of the model's own distribution: temperature 1, before top_p, whatever the
sampling was. Knows no scorer and no page.

`score` encodes the prompt (chat template with the generation prompt) and the answer separately: the
border between them never lies inside a token, so no token of the prompt is counted and an answer has
at least one token, even where the tokenizer would have merged the two.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from core.domain import Message, Sampling, Token, Usage
from core.models.decoding import Draw, Reader, Row, draws
from core.models.forced_scoring import answer_logprobs, plain_attention
from core.models.hub import is_cached
from core.models.pieces import Pieces
from core.models.protocol import Capabilities, Listener, ModelError, Notice, Reply, unheard
from core.models.tokens import usable
from core.models.torch_worker import find_folder, in_worker, loading, prepared
from core.models.waiting import Call, Waiting
from core.models.writer import Writer

DEFAULT_MAX_TOKENS = 1024
"""The length of a reply when the sampling names none: a CPU would be busy for an hour with a full context."""
_waiting = Waiting()


@dataclass(frozen=True)
class Loaded:
    """A model ready to run."""

    model: Any
    tokenizer: Any
    pieces: Pieces
    context_tokens: int
    stop_ids: frozenset[int]


_loaded: dict[tuple[str, bool], Loaded] = {}  # touched by the worker thread alone


class TransformersModel:
    """A causal language model by hub name or folder; `exact` keeps float32 whatever the processor offers."""

    def __init__(self, source: str, *, name: str | None = None, exact: bool = False) -> None:
        self._source = source
        self._exact = exact
        self._name = name or f"hf:{source}"

    @property
    def name(self) -> str:
        """The name it was asked for by."""
        return self._name

    async def capabilities(self) -> Capabilities:
        """What it can do; loads the model, unless it is to be downloaded first. Raises ModelError."""
        if not Path(self._source).expanduser().is_dir() and not is_cached(self._source):
            # A download is for the first call, which tells how it goes and can be stopped.
            return Capabilities(True, True, True, True, True, True)
        loaded = await in_worker(partial(_load, self._source, self._exact, _silent))
        return Capabilities(True, True, True, True, True, True, loaded.context_tokens)

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        n: int = 1,
        sampling: Sampling,
        listen: Listener = unheard,
    ) -> Reply:
        """Write n texts. Cancelling ends the work within a token. Raises ModelError."""
        if (self._source, self._exact) not in _loaded:
            listen(Notice(f"loading {self._name}"))
        job = _Job(self._source, self._exact, tuple(messages), replace(sampling, seed=None))
        return await _waiting.answer(Call(job, n, sampling.seed, listen), partial(self._serve, job))

    def _serve(self, job: _Job, call: Call) -> None:
        """Answer the call, and with it those that wait for the same; nothing where that has been done."""
        if call.reply is not None or call.over.is_set():
            return
        loaded = _load(self._source, self._exact, lambda text: call.tell(Notice(text)))
        prompt = _prompt_ids(loaded, job.messages)
        room = loaded.context_tokens - len(prompt)
        if room < 1:
            raise ModelError(
                f"the prompt is {len(prompt)} tokens long and {self._name} reads {loaded.context_tokens}: "
                "shorten it, or use a model with a longer context"
            )
        limit = min(room, job.sampling.max_tokens or DEFAULT_MAX_TOKENS)
        _Batch(loaded, self._source, prompt, job.sampling, limit).answer(call)

    async def score(self, messages: Sequence[Message], texts: Sequence[str]) -> list[tuple[Token, ...]]:
        """The tokens of each text with their natural logprob after the prompt. Raises ModelError."""
        return await in_worker(partial(self._score, list(messages), list(texts)))

    def _score(self, messages: list[Message], texts: list[str]) -> list[tuple[Token, ...]]:
        loaded = _load(self._source, self._exact, _silent)
        prompt = _prompt_ids(loaded, messages)
        coded = [loaded.pieces.encode(text) for text in texts]
        longest = max((len(ids) for ids, _ in coded), default=0)
        if len(prompt) + longest > loaded.context_tokens:
            raise ModelError(
                f"prompt and answer are {len(prompt)} + {longest} tokens long and {self._name} reads "
                f"{loaded.context_tokens}: shorten the text, or score with a model of a longer context"
            )
        found = answer_logprobs(loaded.model, prompt, [ids for ids, _ in coded])
        return [
            tuple(Token(text, usable(value)) for text, value in zip(spelt, values, strict=True))
            for (_, spelt), values in zip(coded, found, strict=True)
        ]


def _silent(_: str) -> None:
    """Nobody is waiting to be told."""


@dataclass(frozen=True)
class _Job:
    """What calls have in common that are written as one batch: all but their seeds and their number."""

    source: str
    exact: bool
    messages: tuple[Message, ...]
    sampling: Sampling


@dataclass(frozen=True)
class _Row:
    """A text that is being written for a call."""

    call: Call
    writer: Writer


class _Batch:
    """One prompt, and the texts written after it, for one call or several."""

    def __init__(
        self, loaded: Loaded, source: str, prompt: list[int], sampling: Sampling, limit: int
    ) -> None:
        self._loaded, self._source, self._prompt = loaded, source, prompt
        self._sampling, self._limit = sampling, limit
        self._began = time.monotonic()
        self._texts: dict[Call, list[Writer]] = {}

    def answer(self, leader: Call) -> None:
        """Answer the call and those that wait beside it, each as soon as its own texts are complete."""
        reader = Reader(self._loaded.model, self._prompt)
        calls = _waiting.take(leader)  # also those that came while the prompt was read
        self._texts = {call: [Writer(i, self._loaded.pieces) for i in range(call.n)] for call in calls}
        rows = [_Row(call, writer) for call, writers in self._texts.items() for writer in writers]
        if plain_attention(self._loaded.model):
            self._write(reader, rows)
            return
        # A memory that is more than keys and values can't be copied for several rows.
        for row in rows:
            self._write(Reader(self._loaded.model, self._prompt), [row])

    def _write(self, reader: Reader, rows: Sequence[_Row]) -> None:
        steps = draws(
            reader,
            [Row(row.call.seed, row.writer.index) for row in rows],
            sampling=self._sampling,
            limit=self._limit,
            stop_ids=self._loaded.stop_ids,
            wanted=lambda place: not rows[place].call.over.is_set(),
        )
        for drawn in steps:
            for draw in drawn:
                self._record(rows[draw.index], draw)

    def _record(self, row: _Row, draw: Draw) -> None:
        call, writer = row.call, row.writer
        if draw.id in self._loaded.stop_ids:
            writer.stop()
        else:
            call.tell(writer.add(draw))
        if self._ended(writer):
            if rest := writer.end():
                call.tell(rest)
            if all(self._ended(each) for each in self._texts[call]):
                call.finish(self._reply(self._texts[call]))

    def _ended(self, writer: Writer) -> bool:
        return writer.finish == "stop" or writer.drawn == self._limit

    def _reply(self, writers: Sequence[Writer]) -> Reply:
        written = sum(writer.drawn for writer in writers)
        usage = Usage(prompt_tokens=len(self._prompt), completion_tokens=written, cached_tokens=0)
        texts = tuple(writer.completion() for writer in writers)
        return Reply(texts, usage, time.monotonic() - self._began, self._source)


def _prompt_ids(loaded: Loaded, messages: Sequence[Message]) -> list[int]:
    """The ids of the prompt, ready for an answer; a model without a chat template reads plain text."""
    from jinja2 import TemplateError

    chat = [{"role": m.role, "content": m.content} for m in messages]
    special = not loaded.tokenizer.chat_template
    try:
        text = (
            "\n\n".join(m.content for m in messages) + "\n\n"
            if special
            else loaded.tokenizer.apply_chat_template(chat, tokenize=False, add_generation_prompt=True)
        )
        ids = loaded.tokenizer(text, add_special_tokens=special)["input_ids"]
    except TemplateError as error:
        raise ModelError(f"this model's chat template refuses the conversation: {error}") from error
    except (UnicodeEncodeError, TypeError) as error:
        raise ModelError("the prompt holds half of a character (a lone surrogate); remove it") from error
    return [int(i) for i in ids]


def _load(source: str, exact: bool, say: Callable[[str], None]) -> Loaded:
    """The model of that name, loaded once in this process. Runs in the worker. Raises ModelError."""
    if (source, exact) not in _loaded:
        _loaded[source, exact] = _read_folder(find_folder(source, say), source, exact)
    return _loaded[source, exact]


def _read_folder(folder: Path, source: str, exact: bool) -> Loaded:
    device, kind = prepared(exact)
    import transformers

    _check_adapter(folder)
    with loading(source):
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
        model: Any = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=kind)
    model = model.to(device).eval()
    return Loaded(model, tokenizer, Pieces(tokenizer), _context(model.config), _stop_ids(model, tokenizer))


def _check_adapter(folder: Path) -> None:
    from importlib.util import find_spec

    if (folder / "adapter_config.json").exists() and find_spec("peft") is None:
        raise ModelError(f"{folder} is a LoRA adapter, which needs the package peft: pip install peft")


def _context(config: Any) -> int:
    return int(getattr(config.get_text_config(), "max_position_embeddings", None) or 2**31)


def _stop_ids(model: Any, tokenizer: Any) -> frozenset[int]:
    named = getattr(model.generation_config, "eos_token_id", None)
    ids = named if isinstance(named, list) else [named]
    return frozenset(int(i) for i in [*ids, tokenizer.eos_token_id] if i is not None)
