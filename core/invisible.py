"""Symbols for the characters of a text that can't be seen. Knows no page: it only names what is there."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

_SYMBOLS = {
    "\t": "⇥", "\n": "↵", "\r": "␍", "\u00a0": "⍽", "\u202f": "⍽", "\u00ad": "[SHY]", "\u200b": "[ZWSP]",
    "\u200c": "[ZWNJ]", "\u200d": "[ZWJ]", "\u200e": "[LRM]", "\u200f": "[RLM]", "\u061c": "[ALM]",
    "\u2028": "[LS]", "\u2029": "[PS]", "\u0085": "[NEL]", "\u2060": "[WJ]", "\ufeff": "[BOM]",
    "\u202a": "[LRE]", "\u202b": "[RLE]", "\u202c": "[PDF]", "\u202d": "[LRO]", "\u202e": "[RLO]",
    "\u2066": "[LRI]", "\u2067": "[RLI]", "\u2068": "[FSI]", "\u2069": "[PDI]", "\x7f": "␡",
}  # fmt: skip
_HIDDEN = ("Cc", "Cf", "Cs", "Zs", "Zl", "Zp", "Co")
_SPACES = re.compile(r"(?:^|(?<=\n))[ ]+| {2,}| +(?=[\r\n]|$)")
_CANDIDATE = re.compile(r"[^!-~¡-¬®-ʯ\u0370-\u03ff\u0400-\u052f\u4e00-\u9fff ]")


def _joins(text: str, place: int) -> bool:
    """Whether a joiner stands between two characters of a script or an emoji that need it there."""
    around = text[max(place - 1, 0) : place] + text[place + 1 : place + 2]
    return len(around) == 2 and all(ord(char) > 0x2FF and char.isprintable() for char in around)


def _symbol(text: str, place: int) -> str:
    char = text[place]
    if char in "\u200c\u200d" and _joins(text, place):
        return ""
    known = _SYMBOLS.get(char)
    if known or unicodedata.category(char) not in _HIDDEN:
        return known or ""
    return chr(0x2400 + ord(char)) if ord(char) < 0x20 else f"[U+{ord(char):04X}]"


def _marked(text: str, every_space: bool) -> Iterator[tuple[int, str]]:
    spaces = re.compile(" ") if every_space else _SPACES
    for found in spaces.finditer(text):
        yield from ((place, "·") for place in range(found.start(), found.end()))
    for found in _CANDIDATE.finditer(text):
        symbol = _symbol(text, found.start())
        if symbol:
            yield found.start(), symbol


def visible(text: str, *, every_space: bool = False) -> tuple[tuple[str, str], ...]:
    """The text in pieces of (characters, symbol); the symbol is "" where the characters show themselves.

    The characters join to exactly the text. A single space between words shows itself unless `every_space`.
    """
    pieces: list[tuple[str, str]] = []
    done = 0
    for place, symbol in sorted(_marked(text, every_space)):
        if place > done:
            pieces.append((text[done:place], ""))
        pieces.append((text[place], symbol))
        done = place + 1
    return (*pieces, (text[done:], "")) if done < len(text) else tuple(pieces)
