"""Who wrote what: every run of characters of a text with the one who wrote it last.

Pure, on two texts at a time (core.diff). Knows no session; core/evolution.py plays one through.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from core.diff import diff


@dataclass(frozen=True)
class Author:
    """A model or a person, by name, with the round and the step in which they wrote."""

    name: str
    person: bool
    round: int
    step: int


@dataclass(frozen=True)
class Run:
    """Characters that stand together and have one author; never empty."""

    text: str
    by: Author


Runs = tuple[Run, ...]


def written(text: str, by: Author) -> Runs:
    """A text that one author wrote as a whole."""
    return (Run(text, by),) if text else ()


def joined(runs: Iterable[Run]) -> str:
    """The text that the runs make."""
    return "".join(run.text for run in runs)


def rewritten(runs: Runs, text: str, by: Author) -> Runs:
    """The runs of `text`, which `by` made of the text before; what is unchanged keeps its authors."""
    return _merged(_rewritten(list(reversed(runs)), text, by, joined(runs)))


def _rewritten(left: list[Run], text: str, by: Author, before: str) -> Iterator[Run]:
    for piece in diff(before, text):
        if piece.kind == "added":
            yield Run(piece.text, by)
            continue
        taken = _take(left, len(piece.text))
        if piece.kind == "same":
            yield from taken


def _take(left: list[Run], count: int) -> list[Run]:
    """The next `count` characters, taken off the runs that are left (the next one last)."""
    taken = []
    while count > 0:
        run = left.pop()
        if len(run.text) > count:
            left.append(Run(run.text[count:], run.by))
            run = Run(run.text[:count], run.by)
        taken.append(run)
        count -= len(run.text)
    return taken


def _merged(runs: Iterable[Run]) -> Runs:
    """Neighbours by one author made one."""
    whole: list[tuple[Author, list[str]]] = []
    for run in runs:
        if not whole or whole[-1][0] != run.by:
            whole.append((run.by, []))
        whole[-1][1].append(run.text)
    return tuple(Run("".join(texts), by) for by, texts in whole)
