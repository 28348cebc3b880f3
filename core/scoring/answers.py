r"""Takes the answer out of a text that ends in one. Knows neither the task nor what is right.

Tried in this order; the first that finds something decides and is named:
1. what follows #### on a line of its own (the first: a model that goes on writes further questions);
2. \boxed{...} before that line: all of them, in order, equal ones once;
3. what follows "answer is", "answer:" or "answer =" (the last of these);
4. a text that is nothing but an answer: one line of at most eighty characters and at most two words;
5. the last number, with the sign of money and thousands taken off.
Nothing found is a result of its own, not a wrong answer.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Found:
    """The answers of a text, the last one last, and the rule that found them; none is an empty tuple."""

    answers: tuple[str, ...]
    rule: str


LONGEST_SAID = 300
"""Characters after "answer is" that are looked at."""

_BOX = re.compile(r"\\(?:f?boxed|fbox)(?![A-Za-z])[ \t]*(?:\{|([-+]?\d+(?:[.,]\d+)*))")
_HASHES = re.compile(r"^[ \t]*####[ \t]*(\S[^\n]*?)[ \t]*$", re.MULTILINE)
_SAID = re.compile(r"\banswer\b[*_ \t]*(?:(?:is|are)\b[*_ \t]*:?|:|=)[*_ \t]*", re.IGNORECASE)
_NUMBER = re.compile(
    r"(?<![\w.])[-−+]?\s?\\?[$€£¥]?\s?(\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+\s+\d+/\d+|\d+(?:\.\d+)?(?:/\d+)?|\.\d+)(?:\s?\\?%)?"
)
_MATH = re.compile(r"\$\$?(?P<a>[^$]+)\$\$?|\\\((?P<b>.+?)\\\)|\\\[(?P<c>.+?)\\\]")
_LETTER = re.compile(r"(?:option|choice)?\s*(\([A-Ja-j]\)|[A-J])(?=[\s.,:;)*]|$)")
_VALUE = re.compile(r"\\?[$€£¥]?[-+−]?\s?\d[\d,]*(?:\.\d+)?(?:\s*/\s*\d+|\s+\d+/\d+)?(?:\s?\\?%)?")


def boxes(text: str) -> tuple[str, ...]:
    """The contents of all LaTeX boxes that hold something, in order; linear in the length of the text."""
    partner = _partners(text)
    found = []
    for box in _BOX.finditer(text):
        end = partner.get(box.end() - 1)
        content = box[1] or (text[box.end() : end] if end is not None else "")
        if content.strip():
            found.append(content.strip())
    return tuple(found)


def _partners(text: str) -> dict[int, int]:
    """The place of the closing brace for each opening one that has one."""
    opened: list[int] = []
    partner = {}
    for brace in re.finditer(r"\\.|[{}]", text, re.DOTALL):
        if brace.group() == "{":
            opened.append(brace.start())
        elif brace.group() == "}" and opened:
            partner[opened.pop()] = brace.start()
    return partner


def find_answer(text: str) -> Found:
    """The answer or answers that the text ends in, and the rule that found them."""
    hashes = _HASHES.search(text)
    if hashes and not re.match(r"[-+$€£\\\d.(\[{]|[A-J]\b", hashes[1]):
        hashes = None  # a heading of the fourth level
    head = text[: hashes.start()] if hashes else text
    boxed = tuple(dict.fromkeys(boxes(head)))
    if hashes and not boxed:
        return Found((_plain(hashes[1]),), "after ####")
    if boxed:
        return Found(boxed, "boxed" if len(boxed) == 1 else f"{len(boxed)} boxes")
    return _said(text) or _alone(text) or _last_number(text)


def _said(text: str) -> Found | None:
    """What the last "answer is" is followed by."""
    for found in reversed(list(_SAID.finditer(text))):
        answer = _short(text[found.end() : found.end() + LONGEST_SAID].split("\n")[0])
        if answer:
            return Found((answer,), 'after "answer"')
    return None


def _short(rest: str) -> str:
    """The answer that a sentence goes on with: mathematics, a letter, a number, or its few words."""
    rest = rest.strip(" *_`").removeprefix(":").strip()
    for shape in (_MATH, _LETTER, _VALUE):
        found = shape.match(rest)
        if found:
            inner = next((group for group in found.groups() if group), found.group()).strip(" .")
            goes_on = shape is _VALUE and re.match(r"\s*[-+*^/=(\w\\]", rest[found.end() :])
            if not goes_on:
                return _plain(inner)
    words = re.split(r"(?<=[^\d])\.(?:\s|$)|\.$|[*`]|;\s", rest)[0].strip(" .,*_`")
    return words if len(words) <= 80 else ""


def _alone(text: str) -> Found | None:
    line = text.strip()
    if not line or "\n" in line or len(line) > 80:
        return None
    if re.search(r"\\f?box|[!?]\s*$", line) and not re.search(r"\d!$", line):
        return None
    words = re.findall(r"[^\W\d_]{2,}", re.sub(r"\\text\{[^{}]*\}|\\[A-Za-z]+", " ", line))
    most = 1 if "=" in line or not re.search(r"\d", line) else 2
    return Found((line,), "the whole text") if len(words) <= most else None


def _last_number(text: str) -> Found:
    last = None
    for last in _NUMBER.finditer(text):  # noqa: B007  (the last one is what is wanted)
        pass
    return Found((_plain(last.group()),), "last number") if last else Found((), "not found")


def _plain(text: str) -> str:
    """A number without the sign of money and thousands; anything else as it is."""
    bare = re.sub(r"^([-+−]?)\s?\\?[$€£¥]\s?", r"\1", text.strip().strip("*").strip())
    number = re.fullmatch(r"[-+−]?\d{1,3}(?:,\d{3})+(?:\.\d+)?|[-+−]?\s?\d+(?:\.\d+)?", bare)
    return bare.replace(",", "").replace("−", "-").replace(" ", "") if number else text.strip()
