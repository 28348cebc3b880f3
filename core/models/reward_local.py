"""Reward models run in this process by transformers: any sequence classifier, by hub name or local folder.

The prompt and the text are read as a conversation where the model has a chat template, else as a pair. A
model with one output gives that number as it is; one of several classes the probability of the class that
counts, which is named after a # (hf:OWNER/NAME#positive) unless its own name says that it is the good one.
Knows no scorer. Its weights are read in the torch thread.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from core.domain import Message
from core.models.protocol import ModelError
from core.models.torch_worker import find_folder, in_worker, loading, prepared

GOOD = ("positive", "good", "chosen", "preferred", "acceptable", "accepted", "helpful", "correct")
"""Names of a class that counts without being named."""


@dataclass(frozen=True)
class Reward:
    """What the model says of one text: the number that counts, and all its classes if it has several."""

    value: float
    classes: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True)
class _Loaded:
    model: Any
    tokenizer: Any
    context_tokens: int
    classes: tuple[str, ...]


_loaded: dict[str, _Loaded] = {}  # touched by the worker thread alone


class RewardModel:
    """A sequence classifier by hub name or folder, the class that counts after a #."""

    def __init__(self, source: str) -> None:
        self._source, _, self._counts = source.partition("#")

    async def rate(self, messages: Sequence[Message], text: str) -> Reward:
        """What it says of the text as the answer to `messages`. Raises ModelError."""
        return await in_worker(partial(self._rate, list(messages), text))

    def _rate(self, messages: list[Message], text: str) -> Reward:
        loaded = _load(self._source, lambda _: None)
        place = _place(loaded.classes, self._counts)
        inputs = _inputs(loaded, messages, text)
        count = inputs["input_ids"].shape[1]
        if count > loaded.context_tokens:
            raise ModelError(
                f"prompt and text are {count} tokens long and {self._source} reads {loaded.context_tokens}: "
                "shorten the text, or use a reward model with a longer context"
            )
        return _reward(loaded, _logits(loaded.model, inputs), place)


def _place(classes: Sequence[str], counts: str) -> int:
    """Which output counts. Raises ModelError."""
    folded = [name.lower() for name in classes]
    if len(folded) == 1 and not counts:
        return 0
    if counts.lower() in folded:
        return folded.index(counts.lower())
    named = [place for place, name in enumerate(folded) if name in GOOD]
    if counts or len(named) != 1:
        first = f"there is no class {counts!r}" if counts else "it does not say which class counts"
        raise ModelError(
            f"this model has the classes {', '.join(classes)}, and {first}: name it after a #, "
            f"such as hf:NAME#{classes[-1]}"
        )
    return named[0]


def _inputs(loaded: _Loaded, messages: Sequence[Message], text: str) -> Any:
    """The prompt and the text as the model reads them: one row of ids."""
    from jinja2 import TemplateError

    tokenizer = loaded.tokenizer
    chat = [{"role": m.role, "content": m.content} for m in [*messages, Message("assistant", text)]]
    try:
        if tokenizer.chat_template:
            whole = tokenizer.apply_chat_template(chat, tokenize=False)
            return tokenizer(whole, add_special_tokens=False, return_tensors="pt")
        asked = "\n\n".join(message.content for message in messages)
        return tokenizer(asked, text, return_tensors="pt")
    except TemplateError as error:
        raise ModelError(f"this model's chat template refuses the conversation: {error}") from error
    except (UnicodeEncodeError, TypeError) as error:
        raise ModelError("the text holds half of a character (a lone surrogate); remove it") from error


def _logits(model: Any, inputs: Any) -> Any:
    import torch

    with torch.inference_mode():
        return model(**inputs.to(model.device)).logits[0].float().cpu()


def _reward(loaded: _Loaded, logits: Any, place: int) -> Reward:
    if len(loaded.classes) == 1:
        return Reward(float(logits[0]))
    several = loaded.model.config.problem_type == "multi_label_classification"
    odds = (logits.sigmoid() if several else logits.softmax(dim=0)).tolist()
    return Reward(odds[place], tuple(zip(loaded.classes, odds, strict=True)))


def _load(source: str, say: Callable[[str], None]) -> _Loaded:
    """The model of that name, loaded once in this process. Runs in the worker. Raises ModelError."""
    if source not in _loaded:
        _loaded[source] = _read_folder(source, say)
    return _loaded[source]


def _read_folder(source: str, say: Callable[[str], None]) -> _Loaded:
    folder = find_folder(source, say)
    device, kind = prepared(exact=False)
    import transformers

    auto: Any = transformers.AutoModelForSequenceClassification
    with loading(source):
        tokenizer: Any = transformers.AutoTokenizer.from_pretrained(folder)
        model, told = auto.from_pretrained(folder, dtype=kind, output_loading_info=True)
    if told["missing_keys"]:
        # It would be filled with random numbers: a model that writes has no head that rates.
        missing = ", ".join(sorted(told["missing_keys"])[:3])
        raise ModelError(f"{source} is no reward model: its weights lack {missing}")
    limits = (getattr(model.config, "max_position_embeddings", None), tokenizer.model_max_length)
    context = min(int(limit) for limit in limits if limit)
    classes = tuple(str(model.config.id2label[i]) for i in range(model.config.num_labels))
    return _Loaded(model.to(device).eval(), tokenizer, context, classes)
