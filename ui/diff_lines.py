"""Two texts compared line by line, for a page: the changed lines whole, with a few around them.

Knows neither presets nor sessions.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from core.diff import diff, line_ends_only

AROUND = 2
"""So many unchanged lines are shown before and after a change."""
ENDS = "Only the line ends differ."

Line = dict[str, Any]


def diff_lines(old: str, new: str) -> list[Line]:
    """The lines as {"parts": [[kind, text], ...]}; {"skipped": n} stands for n unchanged ones.

    Empty where the texts are equal.
    """
    if old == new:
        return []
    if line_ends_only(old, new):
        return [{"parts": [["same", ENDS]]}]
    lines = [*_lines(old, new)]
    near = _near([any(kind != "same" for kind, _ in parts) for parts in lines])
    return [*_shown(lines, near)]


def _lines(old: str, new: str) -> Iterator[list[list[str]]]:
    """The parts of each line, without their line ends."""
    line: list[list[str]] = []
    for piece in diff(old, new):
        *ended, last = piece.text.split("\n")
        for text in ended:
            yield [*line, [piece.kind, text]] if text or not line else line
            line = []
        line += [[piece.kind, last]] if last else []
    if line:
        yield line


def _near(changed: list[bool]) -> list[bool]:
    """Whether each line is changed or stands near one that is."""
    near = [False] * len(changed)
    for place in (place for place, is_changed in enumerate(changed) if is_changed):
        first = max(0, place - AROUND)
        near[first : place + AROUND + 1] = [True] * len(near[first : place + AROUND + 1])
    return near


def _shown(lines: list[list[list[str]]], near: list[bool]) -> Iterator[Line]:
    skipped = 0
    for parts, is_near in zip(lines, near, strict=True):
        if not is_near:
            skipped += 1
            continue
        if skipped:
            yield {"skipped": skipped}
        skipped = 0
        yield {"parts": parts}
    if skipped:
        yield {"skipped": skipped}
