"""Tags put on and taken off, stars, deletions undone: parts of one transaction. Knows no list."""

from __future__ import annotations

from datetime import UTC, datetime

from sqlalchemy import Connection, insert, select, update

from core.listing import NotAllowed
from storage.facts import set_marks
from storage.tables import FactsRow, SessionRow, StepRow, TagRow

AT_A_TIME = 500
"""Sessions that one transaction changes at most, so that others can write meanwhile."""


def put_on(connection: Connection, numbers: list[int], tag: str, moment: datetime) -> list[int]:
    """The sessions that have the tag now and had it not."""
    rows = select(TagRow.number, TagRow.removed_at).where(TagRow.number.in_(numbers), TagRow.tag == tag)
    there = {number: removed for number, removed in connection.execute(rows)}
    again = [number for number, removed in there.items() if removed is not None]
    own = update(TagRow).where(TagRow.number.in_(again), TagRow.tag == tag)
    connection.execute(own.values(added_at=moment, removed_at=None))
    new = [number for number in numbers if number not in there]
    if new:
        rows_new = [{"number": number, "tag": tag, "added_at": moment} for number in new]
        connection.execute(insert(TagRow), rows_new)
    return again + new


def take_off(connection: Connection, numbers: list[int], tag: str, moment: datetime) -> list[int]:
    """The sessions that had the tag."""
    own = TagRow.number.in_(numbers), TagRow.tag == tag, TagRow.removed_at.is_(None)
    having = list(connection.scalars(select(TagRow.number).where(*own)))
    connection.execute(update(TagRow).where(*own).values(removed_at=moment))
    return having


def restore(connection: Connection, moment: datetime) -> int:
    """Bring back some of those deleted at this moment; how many."""
    rows = select(SessionRow.id).where(SessionRow.deleted_at == moment).limit(AT_A_TIME)
    ids = list(connection.scalars(rows))
    connection.execute(update(SessionRow).where(SessionRow.id.in_(ids)).values(deleted_at=None))
    connection.execute(update(FactsRow).where(FactsRow.session_id.in_(ids)).values(deleted=0))
    return len(ids)


def undo_tags(connection: Connection, kind: str, moment: datetime) -> int:
    """Take back some of the tags that were put on, or off, at this moment; how many."""
    column = TagRow.added_at if kind == "tag" else TagRow.removed_at
    at_once = column == moment, TagRow.removed_at.is_(None) if kind == "tag" else TagRow.tag != ""
    numbers = list(connection.scalars(select(TagRow.number).where(*at_once).limit(AT_A_TIME)))
    own = update(TagRow).where(TagRow.number.in_(numbers), *at_once)
    connection.execute(own.values(removed_at=datetime.now(UTC) if kind == "tag" else None))
    for number in numbers:
        set_marks(connection, number)
    return len(numbers)


def check_step(connection: Connection, session_id: str, step: int | None) -> None:
    """Raises NotAllowed where the step wrote no text."""
    if step is None:
        return
    own = StepRow.session_id == session_id, StepRow.position == step
    if connection.scalar(select(StepRow.kind).where(*own)) != "ask":
        raise NotAllowed("There is no candidate to put a star on at this step.")
