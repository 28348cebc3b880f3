"""The heuristic score: an answer in a box, else any number, and brevity. Knows no model and no task.

It says nothing of whether an answer is right; it tells an answer that ends in a result from one that rambles.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from core.domain import Message, Score, Task
from core.scoring.answers import boxes

BOXED, NUMBER, BREVITY, SCALE = 2.0, 1.0, 1.5, 500
"""Worth of a boxed answer, of any number, of an empty text's brevity; characters to 1/e of that."""


def boxed(text: str) -> str | None:
    """The content of the last LaTeX box that holds something; None when no box does."""
    found = boxes(text)
    return found[-1] if found else None


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
