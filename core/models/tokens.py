"""Tokens as bytes joined to text: no character is ever shown in halves. Knows no backend."""

from __future__ import annotations

import codecs
import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

from core.domain import Token

FLOOR = -99.0
"""Servers clamp impossible tokens to values such as -100 or -9999; none below this is a measurement."""


def usable(logprob: float | None) -> float | None:
    """The logprob when it is a measurement (finite, above the floor), clamped to <= 0; else None."""
    if logprob is None or not math.isfinite(logprob) or logprob <= FLOOR:
        return None
    return min(logprob, 0.0)


def join_bytes(pieces: Iterable[bytes]) -> list[str]:
    """The text that each token's bytes complete: "" inside a character, the whole of it at its end.

    Bytes that are no UTF-8 become U+FFFD, as a server's own text would show them.
    """
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    texts = [decoder.decode(piece) for piece in pieces]
    rest = decoder.decode(b"", True)
    if rest and texts:
        texts[-1] += rest
    return texts


def readable(piece: bytes) -> str:
    """An alternative's bytes for display: text where they are text, else its bytes in hex."""
    try:
        return piece.decode("utf-8")
    except UnicodeDecodeError:
        return "".join(f"\\x{byte:02X}" for byte in piece)


def tokens_of_part(tokens: Sequence[Token], part: str) -> tuple[Token, ...]:
    """The tokens that spell `part` of their joined text, cut at its ends; () where it is not in it.

    A token that `part` begins or ends inside keeps its logprob and only the text within `part`.
    """
    start = "".join(token.text for token in tokens).find(part)
    if start < 0 or not part:
        return ()
    kept, position, end = [], 0, start + len(part)
    for token in tokens:
        begins, position = position, position + len(token.text)
        text = token.text[max(start - begins, 0) : max(end - begins, 0)]
        if text or (not token.text and start < position < end):
            kept.append(replace(token, text=text))
    return tuple(kept)
