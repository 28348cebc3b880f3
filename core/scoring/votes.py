"""Which texts give the same answer: the equivalence classes that votes are counted over.

An answer is what core.scoring.answers finds. A task without any number in it is not answered by the last
number of a prose text: such texts agree when they are the same but for spelling (core.words.plain).
Knows no strategy.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence

from core.domain import Task
from core.scoring.answers import find_answer
from core.scoring.math_equivalence import equal
from core.steps import Grouped
from core.words import plain


async def group_answers(task: Task, texts: Sequence[str]) -> Grouped:
    """What each text answers and which agree; comparing expressions takes a process that can be killed."""
    return await asyncio.to_thread(_group, task, tuple(texts))


def _group(task: Task, texts: tuple[str, ...]) -> Grouped:
    counts = bool(re.search(r"\d", f"{task.input} {task.instruction}"))
    answers = tuple(_answer(text, counts) for text in texts)
    classes: list[list[int]] = []
    for number, answer in enumerate(answers):
        if not answer:
            continue
        # Compared with a class's first member: 50% equals both 50 and 1/2, which differ from each other.
        home = next((c for c in classes if _agree(answers[c[0]], answer)), None)
        if home is None:
            classes.append([number])
        else:
            home.append(number)
    return Grouped(answers, tuple(tuple(c) for c in classes))


def _answer(text: str, counts: bool) -> str:
    found = find_answer(text)
    if not found.answers or (found.rule == "last number" and not counts):
        return " ".join(text.split())
    return found.answers[-1]


def _agree(one: str, other: str) -> bool:
    if plain(one) == plain(other):
        return True
    return len(one) <= _LONGEST and len(other) <= _LONGEST and equal(one, other).verdict == "same"


_LONGEST = 300
"""Characters of the longest text that is compared as mathematics."""
