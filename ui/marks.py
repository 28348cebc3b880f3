"""The changes between two texts as a page marks them, with symbols for what can't be seen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from core.diff import Piece, diff, visible


def pieces(old: str, new: str) -> tuple[list[Any], ...]:
    """The diff as [kind, number of the change, [[characters, symbol], ...]]; same pieces have number -1.

    A tuple: sent once, as a whole (ui/sharing.py).
    """
    marked: list[list[Any]] = []
    number, before = -1, "same"
    found = diff(old, new)
    for place, piece in enumerate(found):
        if piece.kind != "same" and (before, piece.kind) != ("removed", "added"):
            number += 1
        before = piece.kind
        same = piece.kind == "same"
        marks = [(piece.text, "")] if same else _marks(piece.text, last=_ends(found[place:]))
        marked.append([piece.kind, -1 if same else number, [list(mark) for mark in marks]])
    return tuple(marked)


def _ends(pieces: Sequence[Piece]) -> bool:
    """Whether nothing of its own text follows the first of these pieces."""
    kind = pieces[0].kind
    return not any(piece.kind in ("same", kind) for piece in pieces[1:])


def _marks(text: str, *, last: bool) -> list[tuple[str, str]]:
    """What can't be seen in a changed piece, by symbols: all of it where the change is space alone.

    Between other pieces a single space at an edge is an ordinary one.
    """
    if not text.strip():
        return list(visible(text, every_space=True))
    before, after = "x", "" if last else "x"
    marks = list(visible(before + text + after))
    first, first_symbol = marks[0]
    marks[0] = (first[1:], first_symbol)
    if after:
        final, final_symbol = marks[-1]
        marks[-1] = (final[:-1], final_symbol)
    return [mark for mark in marks if mark[0]]
