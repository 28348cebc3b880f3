"""Flags a reply that is not the text that was asked for. Knows no model; reads English remarks only.

A remark (core.remarks) is looked for at the start of the first and the last sentences of a reply, never
inside one, and it counts only when the source text does not itself hold such a remark anywhere: a text about
reviews or a letter that declines something is no remark about the text. A reply in another language is never
flagged for its words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from core.domain import Finish, Flag
from core.fences import is_cut
from core.remarks import ONLY_LABEL, REFUSALS, REMARKS

LOOK = 4
"""Sentences read at either end of a reply; remarks stand at its ends."""

_BREAK = re.compile(r"(?<=[.!?:;])[\"”’')\]*_]*\s+|(?<=[.!?][\"”])\s+|\n+")
_LEAD = re.compile(r"^[\s\"“'‘(\[*_>#]*(?:(?:n/a|feedback|note|p\.?s\.?)(?: that)?\s?[:;,.\-–]+\s*)?", re.I)
_INVISIBLE = re.compile(r"[\s\u00ad\u200b-\u200f\u2060\ufeff]+")


def _plain(text: str) -> str:
    return text.replace("’", "'").replace("\u00a0", " ")


def _places(text: str) -> list[int]:
    """Where sentences start."""
    return [0, *(found.end() for found in _BREAK.finditer(text) if found.end() < len(text))]


def _starts(text: str, places: list[int]) -> Iterator[str]:
    """The sentences at these places from their start on, each with and without its lead."""
    for place in dict.fromkeys(places):
        sentence = text[place : place + 400]
        bare = sentence[_LEAD.match(sentence).end() :]  # type: ignore[union-attr]
        yield sentence
        if bare != sentence:
            yield bare


def _says(patterns: tuple[re.Pattern[str], ...], text: str, source: str) -> bool:
    """Whether a sentence at an end of the text is such a remark, of a kind that the source has nowhere."""
    places = _places(text)
    sentences = list(_starts(text, places[:LOOK] + places[-LOOK:]))
    said = [pattern for pattern in patterns if any(map(pattern.match, sentences))]
    own = list(_starts(source, _places(source))) if said else []
    return any(not any(map(pattern.match, own)) for pattern in said)


def _only_label(text: str, source: str) -> bool:
    return bool(ONLY_LABEL.fullmatch(text)) and not ONLY_LABEL.fullmatch(source)


def _ends(text: str, finish: Finish, source: str) -> Iterator[Flag]:
    if not _INVISIBLE.sub("", text):
        yield "empty"
    if finish in ("length", "stopped") or (is_cut(text) and not is_cut(source)):
        yield "cut off"
    if finish == "content_filter":
        yield "filtered"


def flags(text: str, *, finish: Finish, source: str) -> tuple[Flag, ...]:
    """What is wrong with a reply as a text; `source` is the text that it was written from.

    "cut off" covers a length limit, a person's stop and a code fence left open.
    """
    reply, origin = _plain(text), _plain(source)
    found: list[Flag] = list(_ends(text, finish, source))
    if _says(REFUSALS, reply, origin):
        found.append("refusal")
    if _only_label(reply, origin) or _says(REMARKS, reply, origin):
        found.append("meta-text")
    return tuple(found)
