"""Sessions as one table: what stands in which row, and that no text is a formula or breaks a row."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from datetime import UTC, datetime

from core.domain import Completion, Point
from core.interchange import Kept, Marks
from core.sessions import Session
from core.spreadsheet import csv_lines
from core.step_table import COLUMNS, step_table
from core.steps import Replied, Step
from tests.test_export import by, session
from tests.test_storage import NASTY, every_kind_of_step
from tests.values import TASK, ask, recipe, reply

AT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def kept(of: Session, marks: Marks = Marks()) -> Kept:  # noqa: B008 - frozen
    return Kept(of, tuple(AT for _ in of.steps), marks=marks)


def rows(*sessions: Kept) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO("".join(step_table(sessions)), newline="")))


def test_every_text_and_every_ruling_is_a_row() -> None:
    made, outcome = session([by("accept", points=(Point("too sweet", by="Anna"),)), by("edit", text="mine")])
    found = rows(kept(made))
    assert [(row["what"], row["text"], row["ruling"]) for row in found] == [
        ("draft", "a", ""),
        ("critique", "p", ""),
        ("ruling on the critique", "", "accept"),
        ("revision", "b", ""),
        ("ruling on the revision", "mine", "edit"),
    ]
    assert outcome.draft and outcome.draft.text == "mine"
    assert [row["stands"] for row in found] == ["0", "0", "0", "0", "1"]
    assert [row["by"] for row in found if row["ruling"]] == ["Anna", "Anna"]


def test_scores_stand_beside_the_text_they_are_of() -> None:
    made, _ = session([by("accept"), by("edit", text="mine")])
    made = replace(made, recipe=replace(made.recipe, settings=replace(made.recipe.settings, gate_scorer="s")))
    scored = {row["text"]: row for row in rows(kept(made)) if row["text"]}
    assert {text: row["score"] for text, row in scored.items()} == {
        "a": "1.0", "p": "", "b": "2.0", "mine": "3.0",
    }  # fmt: skip
    assert json.loads(scored["b"]["scores"])["s"] == 2.0


def test_what_has_no_score_says_why_and_costs_are_of_their_call() -> None:
    made = Session("ID", NASTY, AT, TASK, recipe(), "ask", tuple(every_kind_of_step()))
    draft, *rulings = rows(kept(made, Marks(("for me",), True, (0,))))
    assert json.loads(draft["scores"])["logprob"] == "no token" and draft["score"] == ""
    assert (draft["finish"], draft["seconds"], draft["star"]) == ("stopped by Anna", "0.5", "1")
    assert (draft["tags"], draft["starred"], draft["at"]) == ("for me", "1", "2026-01-02T03:04:05+00:00")
    assert [row["star"] for row in rulings] == ["0", "0"] and {row["seconds"] for row in rulings} == {""}


def test_what_stands_is_not_the_revision_that_brought_the_same_text_and_was_rejected() -> None:
    made, _ = session([by("accept"), by("reject"), by("stop")], texts=["same", "p", "same"])
    found = rows(kept(made))
    assert [(row["what"], row["stands"]) for row in found if row["text"] == "same"] == [
        ("draft", "1"),
        ("revision", "0"),
    ]


def test_several_texts_of_one_reply_are_rows_of_which_the_first_holds_what_is_known() -> None:
    first = every_kind_of_step()[0]
    assert isinstance(first.answer, Replied)
    two = Completion("another text", "length")
    reply = replace(first.answer.reply, completions=(*first.answer.reply.completions, two))
    steps = (replace(first, answer=replace(first.answer, reply=reply)), *every_kind_of_step()[1:])
    one, other = rows(kept(Session("ID", "", AT, TASK, recipe(), "ask", steps), Marks(stars=(0,))))[:2]
    assert (other["step"], other["text"]) == ("0", "another text")
    assert one["scores"] and one["star"] == "1" and one["seconds"]
    assert (other["scores"], other["star"], other["stands"], other["seconds"]) == ("", "0", "0", "")


def test_candidates_are_numbered_and_rounds_of_one_draft_are_not() -> None:
    asked = [replace(ask(f"{n}"), part=n) for n in range(2)]
    steps = [Step(each, Replied(reply("a"))) for each in asked]
    steps.append(Step(replace(ask("c"), role="critique", round=1), Replied(reply("weak"))))
    made = Session("ID", "", AT, TASK, replace(recipe(), strategy="best_of_n"), "ask", tuple(steps))
    found = rows(kept(made))
    assert [(row["what"], row["round"], row["candidate"]) for row in found] == [
        ("draft", "0", "1"),
        ("draft", "0", "2"),
        ("critique", "1", ""),
    ]


def test_texts_come_back_as_they_are() -> None:
    made = Session("ID", NASTY, AT, TASK, recipe(), "ask", tuple(every_kind_of_step()))
    found = rows(kept(made), kept(replace(made, id="OTHER")))
    assert [row["session"] for row in found] == ["ID"] * 3 + ["OTHER"] * 3
    assert found[2]["text"] == NASTY and found[2]["title"] == NASTY


def test_no_text_is_a_formula() -> None:
    values = ["=1+1", "+1", "-1", "@x", "\tx", "\rx", "a=1", -1, -0.5, ""]
    (header, row) = csv.reader(io.StringIO("".join(csv_lines(["n"], [values])), newline=""))
    assert header == ["n"]
    assert row == ["'=1+1", "'+1", "'-1", "'@x", "'\tx", "'\rx", "a=1", "-1", "-0.5", ""]


def test_a_table_of_nothing_has_its_header() -> None:
    assert "".join(step_table([])) == ",".join(COLUMNS) + "\r\n"
