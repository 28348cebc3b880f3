"""Trajectories as the Self-Refine project published them for sentiment reversal: one JSON object an attempt.

A record's attempts are its drafts in their order; `feedback` is the critique that the next one followed. The
label that an attempt reached is what `transferred_review_sentiment` states after "sentiment is"; where it
states none of the five labels, the attempt is not scored. Source: Madaan et al. 2023, Self-Refine.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePath

from core.domain import Score, Task
from core.importing.making import Attempt, Trajectory
from core.importing.tables import rows_in
from core.interchange import ImportProblem
from core.studies.table_files import TableRow

LABELS = ("very negative", "negative", "neutral", "positive", "very positive")
MARKS = ("record_id", "attempt", "review", "target_sentiment", "transferred_review", "feedback")
"""The columns by which such a file is known."""

SCORER = "label"
_STATED = re.compile(
    rf"sentiment (?:of the review )?is ({'|'.join(sorted(LABELS, key=len, reverse=True))})\b(?! to\b)", re.I
)


def read_trajectories(data: bytes, name: str, model: str = "") -> tuple[Trajectory, ...]:
    """The trajectories of a file, in the order of their first rows. Raises ImportProblem."""
    records: dict[str, dict[int, TableRow]] = {}
    for row in rows_in(data):
        attempts = records.setdefault(_text(row, "record_id"), {})
        number = _number(row)
        known = attempts.setdefault(number, row)
        if known.values != row.values:
            raise ImportProblem(
                row.place,
                f"attempt {number} of record {_text(row, 'record_id')} is in {known.place} already.",
            )
    source = PurePath(name).name
    return tuple(
        _trajectory(
            source, key, [rows[number] for number in sorted(rows)], model or f"imported:{PurePath(name).stem}"
        )
        for key, rows in records.items()
    )


def _trajectory(source: str, key: str, rows: Sequence[TableRow], model: str) -> Trajectory:
    review, target = _text(rows[0], "review"), _text(rows[0], "target_sentiment")
    for row in rows:
        if (_text(row, "review"), _text(row, "target_sentiment")) != (review, target):
            raise ImportProblem(
                row.place, f"record {key} has another review or target than in {rows[0].place}."
            )
    attempts = tuple(_attempt(row, target) for row in rows)
    task = Task(review, instruction="Rewrite the review so that it has the target sentiment.", target=target)
    return Trajectory(source, key, task, attempts, model, LABELS)


def _attempt(row: TableRow, target: str) -> Attempt:
    return Attempt(
        text=_text(row, "transferred_review"),
        place=row.place,
        critique=_text(row, "feedback"),
        score=label_score(_text(row, "transferred_review_sentiment", needed=False), target),
        notes=(f"Record {_text(row, 'record_id')}, attempt {_number(row)}.",),
    )


def label_score(statement: str, target: str) -> Score:
    """How near the stated label is to the target, from 0 to 1, as core.scoring.label counts it."""
    condition = f"the label that the file states, on {' < '.join(LABELS)}; target {target.lower()}"
    found = _STATED.search(statement)
    if found is None or target.lower() not in LABELS:
        return Score(SCORER, None, "the file states no label of the scale", condition, notes=(statement,))
    place, wanted = LABELS.index(found[1].lower()), LABELS.index(target.lower())
    value = 1 - abs(place - wanted) / (len(LABELS) - 1)
    return Score(SCORER, value, "", condition, notes=(f"label: {LABELS[place]}", statement))


def _text(row: TableRow, name: str, *, needed: bool = True) -> str:
    """A column's text; a number is taken where it is an id."""
    value = row.values.get(name)
    if name == "record_id" and isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if value is None and not needed:
        return ""
    if not isinstance(value, str):
        raise ImportProblem(
            row.place, f"{name} must be a text." if value is not None else f"{name} is missing."
        )
    return value


def _number(row: TableRow) -> int:
    value = row.values.get("attempt")
    if isinstance(value, bool) or not isinstance(value, int):
        raise ImportProblem(row.place, "attempt must be a whole number.")
    return value
