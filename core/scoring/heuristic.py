"""The heuristic score: an answer in a box, else any number, and brevity. Knows no model and no task.

It says nothing of whether an answer is right; it tells an answer that ends in a result from one that rambles.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from core.domain import Message, Score, Task

BOXED, NUMBER, BREVITY, SCALE = 2.0, 1.0, 1.5, 500
"""Worth of a boxed answer, of any number, of an empty text's brevity; characters to 1/e of that."""

_BOX = re.compile(r"\\(?:f?boxed|fbox)(?![A-Za-z])\s*")
_BARE = re.compile(r"[-+]?\d+(?:[.,]\d+)*")


def _braced(text: str, start: int) -> str | None:
    """What stands between the brace at `start` and its partner; None when it has none."""
    depth, place = 0, start
    while place < len(text):
        if text[place] == "\\":
            place += 1
        elif text[place] in "{}":
            depth += 1 if text[place] == "{" else -1
            if depth == 0:
                return text[start + 1 : place]
        place += 1
    return None


def _content(text: str, start: int) -> str | None:
    if text[start : start + 1] == "{":
        return _braced(text, start)
    bare = _BARE.match(text, start)
    return bare[0] if bare else None


def boxed(text: str) -> str | None:
    """The content of the last LaTeX box that holds something; None when no box does."""
    for found in reversed(list(_BOX.finditer(text))):
        content = _content(text, found.end())
        if content is not None and content.strip():
            return content.strip()
    return None


def heuristic(text: str) -> Score:
    """Boxed answer +2, else any number +1, plus 1.5*exp(-characters/500); an empty text has no score."""
    if not text.strip():
        return Score("heuristic", None, why="The text is empty: there is nothing to score.")
    parts: list[tuple[str, float]] = []
    if boxed(text) is not None:
        parts.append(("boxed answer", BOXED))
    elif re.search(r"\d", text):
        parts.append(("a number", NUMBER))
    parts.append(("brevity", BREVITY * math.exp(-len(text) / SCALE)))
    total = math.fsum(value for _, value in parts)
    return Score("heuristic", total, condition="the text alone", details=tuple(parts))


class Heuristic:
    """The heuristic as a scorer."""

    name = "heuristic"

    async def measure(self, task: Task, prompt: Sequence[Message], texts: Sequence[str]) -> tuple[Score, ...]:
        """The heuristic score of each text; neither the task nor the prompt matters to it."""
        return tuple(heuristic(text) for text in texts)
