"""Models run in this process by transformers: any hub name or local folder, on CPU or CUDA.

Everything that touches torch runs in one worker thread: torch and the loaded models are not for two
threads at once, and the event loop must stay free. A reply's logprobs are those of the model's own
distribution: temperature 1, before top_p, whatever the sampling was. Knows no scorer and no page.

`score` encodes the prompt (chat template with the generation prompt) and the answer separately: the
border between them never lies inside a token, so no token of the prompt is counted and an answer has
at least one token, even where the tokenizer would have merged the two.
"""

from __future__ import annotations

import asyncio
import codecs
import contextlib
import os
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from core.domain import Alternative, Completion, Finish, Message, Sampling, Token, Usage
from core.models.answers import ThinkingFilter, split_thinking
from core.models.decoding import Draw, draws
from core.models.forced_scoring import answer_logprobs, plain_attention
from core.models.hardware import cpu_flags, dtype_name, use_physical_cores
from core.models.hub import hub_folder, is_cached
from core.models.pieces import Pieces
from core.models.protocol import Capabilities, Delta, Happening, Listener, ModelError, Notice, Reply, unheard
from core.models.tokens import readable, tokens_of_part, usable

Result = TypeVar("Result")

DEFAULT_MAX_TOKENS = 1024
"""The length of a reply when the sampling names none: a CPU would be busy for an hour with a full context."""

_worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="torch")


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
        loaded = await _in_worker(partial(_load, self._source, self._exact, _silent))
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
        call = _Call(asyncio.get_running_loop(), listen)
        if (self._source, self._exact) not in _loaded:
            listen(Notice(f"loading {self._name}"))
        try:
            return await _in_worker(partial(self._complete, list(messages), n, sampling, call))
        finally:
            call.over.set()

    def _complete(self, messages: list[Message], n: int, sampling: Sampling, call: _Call) -> Reply:
        began = time.monotonic()
        loaded = _load(self._source, self._exact, lambda text: call.tell(Notice(text)))
        prompt = _prompt_ids(loaded, messages)
        room = loaded.context_tokens - len(prompt)
        if room < 1:
            raise ModelError(
                f"the prompt is {len(prompt)} tokens long and {self._name} reads {loaded.context_tokens}: "
                "shorten it, or use a model with a longer context"
            )
        limit = min(room, sampling.max_tokens or DEFAULT_MAX_TOKENS)
        writers = _write(loaded, prompt, n, sampling, limit, call)
        written = sum(writer.drawn for writer in writers)
        usage = Usage(prompt_tokens=len(prompt), completion_tokens=written, cached_tokens=0)
        texts = tuple(writer.completion() for writer in writers)
        return Reply(texts, usage, time.monotonic() - began, self._source)

    async def score(self, messages: Sequence[Message], texts: Sequence[str]) -> list[tuple[Token, ...]]:
        """The tokens of each text with their natural logprob after the prompt. Raises ModelError."""
        return await _in_worker(partial(self._score, list(messages), list(texts)))

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


async def _in_worker(work: Callable[[], Result]) -> Result:
    return await asyncio.get_running_loop().run_in_executor(_worker, work)


def _silent(_: str) -> None:
    """Nobody is waiting to be told."""


@dataclass
class _Call:
    """One request as the worker sees it: whom to tell, and whether anyone still wants it."""

    loop: asyncio.AbstractEventLoop
    listen: Listener
    over: threading.Event = field(default_factory=threading.Event)

    def tell(self, happening: Happening) -> None:
        """Let the listener hear it on the event loop, unless the call is over by then."""
        with contextlib.suppress(RuntimeError):  # the loop was closed while the last token was computed
            self.loop.call_soon_threadsafe(self._deliver, happening)

    def _deliver(self, happening: Happening) -> None:
        if not self.over.is_set():
            self.listen(happening)


@dataclass
class _Writer:
    """A candidate as it grows."""

    index: int
    pieces: Pieces
    tokens: list[Token] = field(default_factory=list)
    finish: Finish = "length"
    drawn: int = 0
    shown: ThinkingFilter = field(default_factory=ThinkingFilter)
    decoder: Any = field(default_factory=lambda: codecs.getincrementaldecoder("utf-8")("replace"))

    def add(self, draw: Draw) -> Delta:
        """The text that this token completes."""
        self.drawn += 1
        text = self.decoder.decode(self.pieces.piece(draw.id, first=not self.tokens))
        others = tuple(Alternative(readable(self.pieces.piece(i)), usable(lp)) for i, lp in draw.top)
        self.tokens.append(Token(text, usable(draw.logprob), others))
        shown = self.shown.feed(text)
        return Delta(self.index, shown, (self.tokens[-1],) if shown == text else ())

    def end(self) -> Delta | None:
        """What is left when a text ends inside a character or was held back."""
        rest = self.decoder.decode(b"", True)
        if rest:
            last = self.tokens[-1]
            self.tokens[-1] = Token(last.text + rest, last.logprob, last.alternatives)
        shown = self.shown.feed(rest) + self.shown.rest()
        return Delta(self.index, shown) if shown else None

    def completion(self) -> Completion:
        """The finished candidate, its thinking apart from its answer."""
        thinking, answer = split_thinking("".join(token.text for token in self.tokens))
        tokens = tokens_of_part(self.tokens, answer) if thinking else tuple(self.tokens)
        return Completion(answer, self.finish, tokens, thinking)


def _write(
    loaded: Loaded, prompt: list[int], n: int, sampling: Sampling, limit: int, call: _Call
) -> list[_Writer]:
    writers = [_Writer(i, loaded.pieces) for i in range(n)]
    # A memory that is more than keys and values can't be copied for several rows.
    groups = [list(range(n))] if plain_attention(loaded.model) else [[i] for i in range(n)]
    for indices in groups:
        steps = draws(
            loaded.model, prompt, indices=indices, sampling=sampling, limit=limit, stop_ids=loaded.stop_ids
        )
        while not call.over.is_set() and (drawn := next(steps, None)) is not None:
            for draw in drawn:
                _record(writers[draw.index], draw, loaded.stop_ids, call)
    for writer in writers:
        if rest := writer.end():
            call.tell(rest)
    return writers


def _record(writer: _Writer, draw: Draw, stop_ids: frozenset[int], call: _Call) -> None:
    if draw.id in stop_ids:
        writer.drawn += 1
        writer.finish = "stop"
    else:
        call.tell(writer.add(draw))


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
        local = Path(source).expanduser()
        folder = local if local.is_dir() else hub_folder(source, say)
        _loaded[source, exact] = _read_folder(folder, source, exact)
    return _loaded[source, exact]


def _read_folder(folder: Path, source: str, exact: bool) -> Loaded:
    # Threads that spin while they wait stall for seconds a token when anything else runs on the machine;
    # sleeping ones cost nothing measurable. Only heeded before torch is first imported.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    import torch
    import transformers

    _check_adapter(folder)
    _quieten(transformers)
    use_physical_cores(torch)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    kind = torch.float32 if exact else getattr(torch, dtype_name(torch.cuda, cpu_flags()))
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
        model: Any = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=kind)
    except (OSError, ValueError, KeyError, ImportError, RuntimeError) as error:
        first = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise ModelError(f"{source} could not be loaded as a transformers model: {first}") from error
    model = model.to(device).eval()
    return Loaded(model, tokenizer, Pieces(tokenizer), _context(model.config), _stop_ids(model, tokenizer))


def _check_adapter(folder: Path) -> None:
    from importlib.util import find_spec

    if (folder / "adapter_config.json").exists() and find_spec("peft") is None:
        raise ModelError(f"{folder} is a LoRA adapter, which needs the package peft: pip install peft")


def _quieten(transformers: Any) -> None:
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()


def _context(config: Any) -> int:
    return int(getattr(config.get_text_config(), "max_position_embeddings", None) or 2**31)


def _stop_ids(model: Any, tokenizer: Any) -> frozenset[int]:
    named = getattr(model.generation_config, "eos_token_id", None)
    ids = named if isinstance(named, list) else [named]
    return frozenset(int(i) for i in [*ids, tokenizer.eos_token_id] if i is not None)
