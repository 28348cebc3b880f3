"""Code fences around and inside a reply: takes off a wrapper, tells an unclosed one.

Knows neither models nor languages. The rules:

- A wrapper is taken off only when the fence that opens on the first line closes on the last one;
  everything between stays byte for byte. In any doubt the reply stays as it is: a fence too many can be
  edited away, lost code can't be brought back.
- A fence with a language after it always opens a block, also inside another one. Markdown itself reads it
  otherwise, but replies that wrap a document with code in it are written this way.
- When the text that the reply stands in for is itself one fenced block, its fence is part of the text.
- Quotation marks around a reply and lead-ins ("Here is ...") are words: they are never taken off here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_FENCE = re.compile(r"[ \t]*(?P<marks>`{3,}|~{3,})(?P<info>[^\r\n]*)\r?$")


@dataclass(frozen=True)
class _Fence:
    line: int
    mark: str
    length: int
    bare: bool


def _fence(number: int, line: str) -> _Fence | None:
    found = _FENCE.match(line)
    if found is None:
        return None
    marks, info = found["marks"], found["info"].strip()
    if marks[0] == "`" and "`" in info:
        return None
    return _Fence(number, marks[0], len(marks), not info)


def _closed_by(fence: _Fence, opened: list[_Fence]) -> int | None:
    """The place in `opened` of the block that this fence closes: one of its own length before others."""
    if not fence.bare:
        return None
    same = [place for place, other in enumerate(opened) if other.mark == fence.mark]
    exact = [place for place in same if opened[place].length == fence.length]
    shorter = [place for place in same if opened[place].length < fence.length]
    fitting = exact or shorter
    return fitting[-1] if fitting else None


def _blocks(lines: list[str]) -> tuple[dict[int, int], list[_Fence]]:
    """The closing line of each block's opening line, and what is left open at the end."""
    closed: dict[int, int] = {}
    opened: list[_Fence] = []
    for number, line in enumerate(lines):
        fence = _fence(number, line)
        if fence is None:
            continue
        place = _closed_by(fence, opened)
        if place is None:
            opened.append(fence)
        else:
            closed[opened[place].line] = number
            del opened[place:]
    return closed, opened


def _filled(lines: list[str]) -> list[int]:
    return [number for number, line in enumerate(lines) if line.strip()]


def is_wrapped(text: str) -> bool:
    """Whether the whole text is one fenced block."""
    lines = text.split("\n")
    filled = _filled(lines)
    return len(filled) > 1 and _blocks(lines)[0].get(filled[0]) == filled[-1]


def unwrap(text: str, like: str = "") -> str:
    """The text without an outer fence; untouched where there is none or where `like` has one too."""
    if not is_wrapped(text) or is_wrapped(like):
        return text
    lines = text.split("\n")
    filled = _filled(lines)
    inner = "\n".join(lines[filled[0] + 1 : filled[-1]])
    return inner.removesuffix("\r")


def is_cut(text: str) -> bool:
    """Whether a fenced block is still open at the end of the text."""
    return bool(_blocks(text.split("\n"))[1])


FINAL = "FINAL TEXT:"
"""What stands before the text proper where a model was asked to think step by step first."""
_FINAL = re.compile(r"^[ \t*_#>]*FINAL TEXT:[*_]*[ \t]*", re.M)


def text_of(reply: str, source: str) -> str:
    """The text proper of a reply to a task whose input was `source`.

    What stands before the last line that begins with FINAL TEXT: is thinking, unless the source has
    such a line; an outer fence is packing, unless the source is fenced itself.
    """
    marks = list(_FINAL.finditer(reply))
    if marks and FINAL not in source:
        reply = reply[marks[-1].end() :].strip()
    return unwrap(reply, like=source)
