"""Turns an endpoint's logprob entries into tokens that spell exactly the shown answer, or into none.

Servers mix in end-of-turn tokens and thinking, and merge the pieces of a character: what counts is
that the texts of the tokens join to the answer.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from core.domain import Alternative, Token
from core.models.endpoint.chunks import Entry, mend
from core.models.tokens import join_bytes, readable, usable


def spelled(entries: Sequence[Entry], answer: str) -> tuple[Token, ...]:
    """The tokens that spell `answer`, its last occurrence where there are several; () if none do."""
    pieces = [bytes_of(entry) for entry in entries]
    texts = join_bytes(pieces)
    span = _span(pieces, texts, answer)
    return tuple(_token(entries[at], texts[at]) for at in range(*span)) if span else ()


def _span(pieces: Sequence[bytes], texts: Sequence[str], answer: str) -> tuple[int, int] | None:
    """Which tokens spell the answer; a token without any byte is never its first or last."""
    starts = [0]
    for text in texts:
        starts.append(starts[-1] + len(text))
    whole, bounds = "".join(texts), set(starts)
    at = whole.rfind(answer) if answer else -1
    while at >= 0 and not {at, at + len(answer)} <= bounds:
        at = whole.rfind(answer, 0, at + len(answer) - 1)
    if at < 0:
        return None
    first = next(i for i, start in enumerate(starts) if start == at and pieces[i])
    return first, starts.index(at + len(answer))


def bytes_of(entry: Entry) -> bytes:
    """The token's bytes where the server gave them, else those of its text."""
    given = entry.get("bytes")
    if isinstance(given, list) and all(isinstance(b, int) and 0 <= b < 256 for b in given):
        return bytes(given)
    token = entry.get("token")
    return mend(token).encode() if isinstance(token, str) else b""


def number(value: object) -> float | None:
    """A usable logprob, or None."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return usable(float(value))


def _token(entry: Entry, text: str) -> Token:
    rows = entry.get("top_logprobs")
    others = tuple(row for row in rows if isinstance(row, Mapping)) if isinstance(rows, list) else ()
    alternatives = tuple(Alternative(readable(bytes_of(row)), number(row.get("logprob"))) for row in others)
    return Token(text, number(entry.get("logprob")), alternatives)


def prompt_ids(rows: Sequence[object]) -> list[tuple[str, Mapping[str, object]]]:
    """The prompt's tokens as (id, entry), from vLLM's prompt_logprobs asked for with 0 alternatives.

    Each row maps one token id to logprob, rank and decoded_token; the first token has no row (None).
    [] where the rows are of another shape.
    """
    found: list[tuple[str, Mapping[str, object]]] = []
    for row in rows:
        items = list(row.items()) if isinstance(row, Mapping) else [("", {})]
        if len(items) != 1 or not isinstance(items[0][1], Mapping):
            return []
        found.append((str(items[0][0]), items[0][1]))
    return found


def forced(rows: Sequence[Mapping[str, object]], text: str) -> tuple[Token, ...]:
    """The tokens of a given text, or () where the decoded tokens do not spell it exactly.

    decoded_token shows a token that ends inside a character as U+FFFD: what a run of those spells is
    known from the text around it.
    """
    words = [str(row.get("decoded_token") or "") for row in rows]
    match = re.fullmatch(_pattern(words), text, re.DOTALL)
    if not match:
        return ()
    texts = _aligned(words, list(match.groups()))
    return tuple(Token(t, number(row.get("logprob"))) for t, row in zip(texts, rows, strict=True))


def _pattern(words: Sequence[str]) -> str:
    """A pattern for the text: clean tokens as they are, each run of broken ones as a group."""
    parts: list[str] = []
    broken = False
    for word in words:
        if "\ufffd" not in word:
            parts.append(re.escape(word))
        elif not broken:
            parts.append("(.+?)")
        broken = "\ufffd" in word
    return "".join(parts)


def _aligned(words: Sequence[str], runs: list[str]) -> list[str]:
    """The text of each token: that of a broken run goes to the run's last token."""
    texts: list[str] = []
    for at, word in enumerate(words):
        broken = "\ufffd" in word
        ends = at + 1 == len(words) or "\ufffd" not in words[at + 1]
        texts.append((runs.pop(0) if ends else "") if broken else word)
    return texts
