"""Telling a reasoning model's thinking from its answer. Pure text; knows no backend.

The rules. A block that opens the text is thinking up to its closing tag, or to the end where the
tag never comes (no answer then). A whole block at the start of a line is thinking too. A closing
tag without an opening one ends thinking that began in the prompt template, unless the tag is used
as a word of a sentence (blanks or quotation marks on both sides). Tags in code are text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

TAGS = (("<think>", "</think>"), ("[THINK]", "[/THINK]"))
CODE = re.compile(
    r"^ {0,3}(?P<fence>`{3,}|~{3,})[^\n]*(?:\n.*?(?:^ {0,3}(?P=fence)[`~]*[ \t]*$|\Z)|\Z)"
    r"|(?<!`)(?P<tick>`+)(?!`)(?:(?!\n[ \t]*\n).)+?(?<!`)(?P=tick)(?!`)",
    re.DOTALL | re.MULTILINE,
)
AROUND = " \t\"'“”‘’«»„"


def split_thinking(text: str) -> tuple[str, str]:
    """The thinking ("" where there is none) and the answer; without thinking the text is untouched."""
    thoughts: list[str] = []
    answer = text
    while (parts := _once(answer)) is not None:
        thoughts.append(parts[0].strip())
        answer = parts[1]
    return "\n\n".join(filter(None, thoughts)), answer


def _once(text: str) -> tuple[str, str] | None:
    """Takes one piece of thinking out, or says that there is none."""
    return _leading(text) or _block(text) or _orphan(text)


def _leading(text: str) -> tuple[str, str] | None:
    body = text.lstrip()
    for opening, closing in TAGS:
        if body.startswith(opening):
            rest = body.removeprefix(opening)
            # Thinking may hold half a code fence, so a tag that seems to be in code still counts
            # where there is no other.
            at = next(_outside_code(rest, closing), rest.find(closing))
            return (rest, "") if at < 0 else (rest[:at], rest[at + len(closing) :].lstrip())
    return None


def _block(text: str) -> tuple[str, str] | None:
    for opening, closing in TAGS:
        for at in _outside_code(text, opening):
            end = text.find(closing, at)
            if end >= 0 and not text[text.rfind("\n", 0, at) + 1 : at].strip():
                rest = text[end + len(closing) :]
                return text[at + len(opening) : end], text[:at].rstrip() + "\n\n" + rest.lstrip()
    return None


def _orphan(text: str) -> tuple[str, str] | None:
    for opening, closing in TAGS:
        found = [at for at in _outside_code(text, closing) if not _a_word(text, at, at + len(closing))]
        if found and not any(_outside_code(text[: found[-1]], opening)):
            return text[: found[-1]], text[found[-1] + len(closing) :].lstrip()
    return None


def _a_word(text: str, start: int, end: int) -> bool:
    return text[start - 1 : start] in tuple(AROUND) and text[end : end + 1] in tuple(AROUND)


def _outside_code(text: str, tag: str) -> Iterator[int]:
    at = text.find(tag)
    spans = [match.span() for match in CODE.finditer(text)] if at >= 0 else []
    while at >= 0:
        if not any(start <= at < end for start, end in spans):
            yield at
        at = text.find(tag, at + 1)


class ThinkingFilter:
    """Keeps a thinking block that opens the text out of what is shown while it streams.

    Good for display only: thinking without an opening tag can't be known before it ends.
    """

    def __init__(self) -> None:
        self._held = ""
        self._closing = ""
        self._strip = False
        self._open = True

    @property
    def thinking(self) -> bool:
        """Whether the text is inside a thinking block now."""
        return bool(self._closing)

    def feed(self, text: str) -> str:
        """What of the text so far can be shown and has not been."""
        if not self._open:
            return text
        self._held += text
        return self._thinking() if self._closing else self._undecided()

    def rest(self) -> str:
        """What was held back at the end of the text, where it is answer."""
        held, self._held = ("" if self._closing or self._strip else self._held), ""
        return held

    def _undecided(self) -> str:
        body = self._held.lstrip()
        for opening, closing in TAGS:
            if body.startswith(opening):
                self._held, self._closing = body.removeprefix(opening), closing
                return self._thinking()
            if opening.startswith(body):
                return ""
        self._open = False
        shown, self._held = (body if self._strip else self._held), ""
        return shown

    def _thinking(self) -> str:
        _, tag, after = self._held.partition(self._closing)
        if not tag:
            self._held = self._held[1 - len(self._closing) :]
            return ""
        self._held, self._closing, self._strip = after, "", True
        return self._undecided()
