"""Puts the chunks of an answer together, candidate by candidate. Pure; knows no HTTP.

Providers send chunks without choices, choices without delta, content that is null or a list of
parts, usage on any chunk, and halves of a surrogate pair in two deltas: all of it is taken as it comes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath, PureWindowsPath

from core.domain import Finish, Usage
from core.models.endpoint.faults import Failed, Fault

Entry = Mapping[str, object]
FINISHES: Mapping[str, Finish] = {
    "stop": "stop",
    "eos": "stop",
    "end_turn": "stop",
    "stop_sequence": "stop",
    "length": "length",
    "max_tokens": "length",
    "content_filter": "content_filter",
    "safety": "content_filter",
    "abort": "stopped",
    "cancelled": "stopped",
}


def mend(text: str) -> str:
    """The text without lone surrogates: pairs joined, halves replaced by U+FFFD."""
    if not any("\ud800" <= char <= "\udfff" for char in text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


class Mender:
    """Mends text that comes in pieces: half a pair at the end of a piece waits for its other half."""

    def __init__(self) -> None:
        self._half = ""

    def feed(self, text: str) -> str:
        """The piece, with the half that waited, without a half at its end."""
        text = self._half + text
        self._half = text[-1:] if "\ud800" <= text[-1:] <= "\udbff" else ""
        return mend(text.removesuffix(self._half))

    def rest(self) -> str:
        """What waited in vain."""
        half, self._half = self._half, ""
        return mend(half)


@dataclass
class Candidate:
    """One choice while it is being written."""

    content: str = ""
    thinking: str = ""
    entries: list[Entry] = field(default_factory=list)
    finish: Finish | None = None
    answer_mender: Mender = field(default_factory=Mender)
    thinking_mender: Mender = field(default_factory=Mender)


@dataclass(frozen=True)
class Piece:
    """What one chunk added to the answer of one candidate."""

    index: int
    text: str
    entries: tuple[Entry, ...]
    thinking: bool = False


@dataclass
class Gathering:
    """Everything one request has brought so far."""

    candidates: dict[int, Candidate] = field(default_factory=dict)
    usage: Usage = field(default_factory=Usage)
    model: str = ""

    @property
    def finished(self) -> bool:
        """Whether every candidate that began has said why it ended."""
        return bool(self.candidates) and all(c.finish for c in self.candidates.values())

    @property
    def partial(self) -> str:
        """The text of the first candidate that has any."""
        return next((c.content for _, c in sorted(self.candidates.items()) if c.content), "")

    def take(self, chunk: Mapping[str, object]) -> list[Piece]:
        """Adds a chunk, or a whole answer that came without streaming."""
        self.usage = usage_of(chunk.get("usage")) or self.usage
        self.model = self.model or server_name(chunk.get("model"))
        choices = chunk.get("choices")
        rows = choices if isinstance(choices, list) else []
        return [self._choice(row, at) for at, row in enumerate(rows) if isinstance(row, Mapping)]

    def close(self) -> list[Piece]:
        """Adds what waited for more that never came."""
        pieces: list[Piece] = []
        for index, candidate in self.candidates.items():
            candidate.thinking += candidate.thinking_mender.rest()
            text = candidate.answer_mender.rest()
            candidate.content += text
            pieces.append(Piece(index, text, ()))
        return pieces

    def _choice(self, choice: Mapping[str, object], position: int) -> Piece:
        index = choice.get("index")
        index = index if isinstance(index, int) else position
        candidate = self.candidates.setdefault(index, Candidate())
        answer, thinking = texts_of(choice.get("delta") or choice.get("message"))
        candidate.thinking += candidate.thinking_mender.feed(thinking)
        entries = entries_of(choice.get("logprobs"))
        candidate.entries += entries
        candidate.finish = candidate.finish or finish_of(choice.get("finish_reason"))
        text = candidate.answer_mender.feed(answer)
        candidate.content += text
        return Piece(index, text, entries, thinking=bool(thinking))


def texts_of(message: object) -> tuple[str, str]:
    """What a delta or a message adds to the answer and to the thinking."""
    if not isinstance(message, Mapping):
        return "", ""
    answer, thinking = _parts(message.get("content"))
    said = answer or _string(message.get("refusal"))
    apart = _string(message.get("reasoning_content")) or _string(message.get("reasoning"))
    return said, thinking + apart


def _string(value: object) -> str:
    return value if isinstance(value, str) else ""


def _parts(content: object) -> tuple[str, str]:
    """Content as one text, or as a list of parts of which some are thinking."""
    if not isinstance(content, list):
        return _string(content), ""
    answer = thinking = ""
    for part in content:
        if isinstance(part, Mapping) and part.get("type") == "thinking":
            thinking += "".join(_parts(part.get("thinking")))
        elif isinstance(part, Mapping):
            answer += _string(part.get("text"))
    return answer, thinking


def entries_of(logprobs: object) -> tuple[Entry, ...]:
    """The per-token entries of a choice's logprobs; () where the server gave none."""
    rows = logprobs.get("content") if isinstance(logprobs, Mapping) else None
    return tuple(row for row in rows if isinstance(row, Mapping)) if isinstance(rows, list) else ()


def finish_of(said: object) -> Finish | None:
    """Why a candidate ended; None while it has not. Raises Failed where it ended in an error."""
    if said is None or said == "":
        return None
    if said == "error":
        raise Failed(Fault("status", "the provider ended the answer with an error", 502))
    return FINISHES.get(str(said).lower(), "unknown")


def usage_of(said: object) -> Usage | None:
    """The token counts of a usage object, or None where it holds none."""
    if not isinstance(said, Mapping):
        return None
    details = said.get("prompt_tokens_details")
    cached = details.get("cached_tokens") if isinstance(details, Mapping) else None
    hit = cached if cached is not None else said.get("prompt_cache_hit_tokens")
    usage = Usage(_count(said.get("prompt_tokens")), _count(said.get("completion_tokens")), _count(hit))
    return None if usage == Usage() else usage


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def server_name(said: object) -> str:
    """The name a server gives its model; of a file's path only the last part."""
    name = _string(said).strip()
    if re.match(r"[A-Za-z]:[\\/]|\\\\", name):
        return PureWindowsPath(name).name
    is_path = name.startswith(("/", "./", "../", "~", "file:")) or name.endswith((".gguf", ".safetensors"))
    return PurePosixPath(name).name if is_path else name
