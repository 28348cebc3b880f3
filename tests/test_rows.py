"""What the board is told of drafts and their changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from core.domain import Draft, Settings, Token
from core.history import tell, token_steps
from core.steps import Replied, Step
from tests.benches import CRITIQUE, Bench, recipe
from tests.test_workbench import advance
from tests.values import ask, reply
from ui.rows import LINE_ENDS, Drawing, View, rows


def drawn(tmp_path: Path, old: str, new: str) -> View:
    """The revision of a session that revised `old` to `new`."""
    bench = Bench(tmp_path, [old, CRITIQUE, new])
    session_id = bench.new("auto", recipe(rounds=1, scorer=None))
    advance(bench, session_id)
    session = bench.store.load(session_id)
    story = tell(session.steps, (), source=session.task.input)
    drawing = Drawing(Settings(), session.steps, token_steps(session.steps, session.task.input))
    row = rows(drawing, story, None, direct=False)["row 0"]
    assert row is not None
    found: View = row["attempts"][0]
    return found


def both_sides(pieces: Sequence[list[object]]) -> tuple[str, str]:
    """The two texts that the pieces hold."""

    def text(without: str) -> str:
        return "".join(c for kind, _, marks in pieces if kind != without for c, _ in marks)  # type: ignore[attr-defined]

    return text("added"), text("removed")


@pytest.mark.parametrize(
    ("old", "new", "symbols"),
    [
        ("a b", "a  b", "·"),
        ("    return x", "  return x", "·"),
        ("a\tb", "a    b", "⇥"),
        ("x\u00a0y", "x y", "⍽"),
        ("one two three", "one 2 three", ""),
    ],
)
def test_changes_of_space_are_shown_by_symbols_and_ordinary_spaces_are_not(
    tmp_path: Path, old: str, new: str, symbols: str
) -> None:
    pieces = drawn(tmp_path, old, new)["proposed"]["pieces"]
    assert both_sides(pieces) == (old, new)
    shown = {symbol for kind, _, marks in pieces if kind != "same" for _, symbol in marks if symbol}
    assert set(symbols) <= shown if symbols else not shown


def test_line_ends_alone_are_said_to_be_that(tmp_path: Path) -> None:
    attempt = drawn(tmp_path, "x\r\ny\r\n", "x\ny\n")
    assert attempt["remark"] == LINE_ENDS
    changed = "".join(
        c for kind, _, marks in attempt["proposed"]["pieces"] if kind != "same" for c, _ in marks
    )
    assert set(changed) <= {"\r", "\n"}


def test_any_other_change_has_no_such_remark(tmp_path: Path) -> None:
    assert drawn(tmp_path, "one", "two")["remark"] == ""


def test_equal_texts_share_their_tokens_under_each_label_once() -> None:
    token = Token("Same.", -0.1)
    asked = [replace(ask("x"), part=part) for part in range(3)]
    steps = tuple(Step(each, Replied(reply("Same.", (token,)))) for each in asked)
    drawing = Drawing(Settings(), steps, token_steps(steps, ""))
    assert drawing.draft(Draft("Same."))["heat"] == [{"step": 0, "which": 0, "label": "as generated"}]
