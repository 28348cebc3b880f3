"""Reads the JSON that models write: fenced, with a trailing comma, Python quotes and words, or cut.

Never evaluates anything. Knows nothing of critiques or ratings: it finds the objects and lists in a text and
says of each whether it was whole.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

Value = None | bool | int | float | str | list["Value"] | dict[str, "Value"]

DEEPEST = 40
_SPACE = re.compile(r"[\s\ufeff]*")
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?(?![\w./%])")
_WORD = re.compile(r"[A-Za-z_]\w*")
_WORDS: dict[str, Value] = {"true": True, "false": False, "null": None, "none": None}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_START = re.compile(r"[{\[]")


@dataclass(frozen=True)
class Found:
    """A value in a text; `whole` is False when it was cut or names one key twice."""

    value: Value
    whole: bool


class _Broken(Exception):
    """What stands here is no value."""


class _Reader:
    """One pass over one text; local to a call."""

    def __init__(self, text: str, place: int) -> None:
        self.text, self.place = text, place
        self.whole = True
        self.cut = False

    def skip(self) -> str:
        """Move to the next character that is no space and return it; "" at the end."""
        found = _SPACE.match(self.text, self.place)
        self.place = found.end() if found else self.place
        return self.text[self.place : self.place + 1]

    def end(self) -> None:
        self.cut, self.whole = True, False

    def value(self, depth: int) -> Value:
        here = self.skip()
        if depth > DEEPEST:
            raise _Broken
        if here == "{":
            return self.mapping(depth)
        if here == "[":
            return self.list(depth)
        if here in ('"', "'") and here:
            return self.string(here)
        return self.plain()

    def plain(self) -> Value:
        number = _NUMBER.match(self.text, self.place)
        word = _WORD.match(self.text, self.place)
        if number:
            self.place = number.end()
            digits = number[0]
            return int(digits) if digits.lstrip("+-").isdigit() and len(digits) < 20 else float(digits)
        if word and word[0].lower() in _WORDS:
            self.place = word.end()
            return _WORDS[word[0].lower()]
        if self.place >= len(self.text):
            self.end()
            return None
        raise _Broken

    def string(self, quote: str) -> str:
        self.place += 1
        parts: list[str] = []
        while self.place < len(self.text):
            char = self.text[self.place]
            self.place += 1
            if char == quote:
                return "".join(parts)
            parts.append(self.escaped() if char == "\\" else char)
        self.end()
        return "".join(parts)

    def escaped(self) -> str:
        char = self.text[self.place : self.place + 1]
        self.place += 1
        if char == "u":
            found = re.compile(r"[0-9a-fA-F]{4}").match(self.text, self.place)
            if found:
                self.place = found.end()
                return self.joined(int(found[0], 16))
        return _ESCAPES.get(char, char if char in "\"'\\/" else "\\" + char)

    def joined(self, code: int) -> str:
        """The character of a \\u escape, together with its second half where it is a surrogate."""
        low = re.compile(r"\\u([dD][c-fC-F][0-9a-fA-F]{2})").match(self.text, self.place)
        if 0xD800 <= code <= 0xDBFF and low:
            self.place = low.end()
            return chr(0x10000 + ((code - 0xD800) << 10) + int(low[1], 16) - 0xDC00)
        return "\ufffd" if 0xD800 <= code <= 0xDFFF else chr(code)

    def closes(self, mark: str) -> bool:
        """Whether the container ends here; a text that is over ends it too."""
        here = self.skip()
        if here == ",":
            self.place += 1
            here = self.skip()
        if not here:
            self.end()
        if here == mark:
            self.place += 1
        return not here or here == mark

    def list(self, depth: int) -> Value:
        self.place += 1
        items: list[Value] = []
        while not self.cut and not self.closes("]"):
            items.append(self.value(depth + 1))
        return items

    def mapping(self, depth: int) -> Value:
        self.place += 1
        pairs: dict[str, Value] = {}
        while not self.cut and not self.closes("}"):
            key = self.key()
            if not self.cut:
                self.whole = self.whole and key not in pairs
                pairs[key] = self.value(depth + 1)
        return pairs

    def key(self) -> str:
        here = self.skip()
        if here not in ('"', "'"):
            raise _Broken
        name = self.string(here)
        after = self.skip()
        if not after:
            self.end()
        elif after != ":":
            raise _Broken
        self.place += 1
        return name


def _read(text: str, place: int) -> tuple[Found, int] | None:
    reader = _Reader(text, place)
    try:
        value = reader.value(0)
    except _Broken:
        return None
    return Found(value, reader.whole), reader.place


def find_values(text: str) -> list[Found]:
    """The outermost objects and lists of a text in order; at most 50 places are tried."""
    found: list[Found] = []
    place = 0
    for _ in range(50):
        start = _START.search(text, place)
        if start is None:
            break
        read = _read(text, start.start())
        if read:
            found.append(read[0])
        place = read[1] if read else start.end()
    return found
