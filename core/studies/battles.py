"""Votes out of files that others wrote: FastChat and MT-Bench battles, and tables of votes.

A row has two systems (model_a and model_b, or system_a and system_b), a winner, who judged, and, where there
is one, an item. The first system is taken as the left one. MT-Bench's pairs of games, in which a model judged
both orders, become two votes. Knows no store; raises BadStudy with the row that is wrong.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

from core.studies.protocol import BadStudy
from core.studies.table_files import TableRow, read_rows
from core.studies.votes import Choice
from core.studies.votes_elsewhere import ForeignVote

LEFT = ("model_a", "system_a", "model_1", "system_left")
RIGHT = ("model_b", "system_b", "model_2", "system_right")
RATER = ("rater", "judge", "annotator", "user")
ITEM = ("question_id", "item", "id", "key")
_CHOICES: dict[str, Choice] = {
    "model_a": "left", "system_a": "left", "model_1": "left", "a": "left", "left": "left",
    "model_b": "right", "system_b": "right", "model_2": "right", "b": "right", "right": "right",
    "tie": "tie", "draw": "tie", "tie (bothbad)": "both_bad", "bothbad": "both_bad", "both_bad": "both_bad",
    "skip": "skip",
}  # fmt: skip
_TURNED: dict[Choice, Choice] = {"left": "right", "right": "left"}


def read_votes(data: bytes) -> tuple[ForeignVote, ...]:
    """The votes in a file, in its order. Raises BadStudy."""
    rows = read_rows(data)
    games = any("g1_winner" in row.values for row in rows)
    return tuple(vote for row in rows for vote in (_games(row) if games else [_vote(row)]))


def holds_votes(data: bytes) -> bool:
    """Whether the rows of a file have two systems and a winner. Raises BadStudy."""
    columns = set(read_rows(data)[0].values)
    return bool(columns & set(LEFT) and columns & set(RIGHT) and columns & {"winner", "g1_winner"})


def _vote(row: TableRow) -> ForeignVote:
    left, right = _needed(row, LEFT), _needed(row, RIGHT)
    prompt, text_left = _spoken(row, "a")
    _, text_right = _spoken(row, "b")
    return ForeignVote(
        row=row.place,
        rater=_rater(row),
        item=_item(row),
        system_left=left,
        system_right=right,
        choice=_choice(row, "winner", left, right),
        prompt=row.text("prompt") or prompt,
        text_left=row.text("text_a", "answer_a", "response_a") or text_left,
        text_right=row.text("text_b", "answer_b", "response_b") or text_right,
        stratum=row.text("stratum", "category", "language"),
        at=_moment(row),
    )


def _games(row: TableRow) -> Iterator[ForeignVote]:
    """Two votes of one judge: the models as named, and turned. A game that failed is a skip."""
    left, right = _needed(row, LEFT), _needed(row, RIGHT)
    first, second = (_game(row, name, left, right) for name in ("g1_winner", "g2_winner"))
    common = (row.place, _rater(row), _item(row))
    yield ForeignVote(*common, left, right, first, at=_moment(row))
    yield ForeignVote(*common, right, left, _TURNED.get(second, second), at=_moment(row))


def _game(row: TableRow, column: str, left: str, right: str) -> Choice:
    return "skip" if row.text(column) == "error" else _choice(row, column, left, right)


def _choice(row: TableRow, column: str, left: str, right: str) -> Choice:
    said = row.text(column).strip()
    named: dict[str, Choice] = {left: "left", right: "right"}
    found = named.get(said) or _CHOICES.get(said.lower())
    if found is None:
        raise BadStudy(f"{row.place}: {column} can't be {said!r}. It is a system, model_a, model_b, "
                       "tie, tie (bothbad) or skip. Nothing was added.")  # fmt: skip
    return found


def _needed(row: TableRow, names: Sequence[str]) -> str:
    found = row.text(*names)
    if not found:
        raise BadStudy(f"{row.place} has none of {', '.join(names)}. Nothing was added.")
    return found


def _rater(row: TableRow) -> str:
    """Who judged; without it nothing can be said about how raters differ, so it is needed."""
    judge = row.values.get("judge")
    if isinstance(judge, list):
        return " ".join(map(str, judge))
    return _needed(row, RATER)


def _item(row: TableRow) -> str:
    """The item, a turn of a conversation being one; a battle without a name is an item of its own."""
    named, turn = row.text(*ITEM), row.text("turn")
    if not named:
        return row.place
    return f"{named}/{turn}" if turn else named


def _spoken(row: TableRow, side: str) -> tuple[str, str]:
    """What was asked up to the judged turn, and the answer in that turn."""
    talk = row.values.get(f"conversation_{side}")
    if not isinstance(talk, list):
        return "", ""
    asked, answers = ([_said(m) for m in talk if _by(m) == who] for who in ("user", "assistant"))
    turn = int(row.text("turn")) if row.text("turn").isdecimal() else len(answers)
    place = max(min(turn, len(answers)), 1)
    return "\n\n".join(asked[:place]), answers[place - 1] if answers else ""


def _by(message: Any) -> str:
    return str(message.get("role", "")) if isinstance(message, dict) else ""


def _said(message: Any) -> str:
    content = message.get("content")
    return content if isinstance(content, str) else ""


def _moment(row: TableRow) -> datetime | None:
    """When it was judged: seconds since 1970, or a moment in ISO form; in UTC where no zone is given."""
    said = row.text("tstamp", "at", "timestamp", "submitted_at")
    if not said:
        return None
    try:
        if said.replace(".", "", 1).isdecimal():
            return datetime.fromtimestamp(float(said), UTC)
        moment = datetime.fromisoformat(said)
    except (ValueError, OverflowError, OSError) as error:
        raise BadStudy(f"{row.place}: {said!r} is no moment. Nothing was added.") from error
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
