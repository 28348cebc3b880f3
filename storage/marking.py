"""Tags put on and taken off, stars, deletions undone: parts of one transaction. Knows no list."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from sqlalchemy import Connection, insert, select, update

from core.interchange import Marks
from core.listing import NotAllowed
from storage.facts import WHOLE, set_marks
from storage.tables import FactsRow, SessionRow, StarRow, StepRow, TagRow

AT_A_TIME = 500
"""Sessions that one transaction changes at most, so that others can write meanwhile."""


def put_on(connection: Connection, numbers: list[int], tag: str, moment: datetime) -> list[int]:
    """The sessions that have the tag now and had it not."""
    rows = select(TagRow.number, TagRow.removed_at).where(TagRow.number.in_(numbers), TagRow.tag == tag)
    there = {number: removed for number, removed in connection.execute(rows)}
    again = [number for number, removed in there.items() if removed is not None]
    if again:
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


def tags_of(connection: Connection, numbers: Sequence[int]) -> dict[int, tuple[str, ...]]:
    """The tags of each of these sessions that has any, in the order of the alphabet."""
    rows = select(TagRow.number, TagRow.tag).where(TagRow.number.in_(numbers), TagRow.removed_at.is_(None))
    found: dict[int, tuple[str, ...]] = {}
    for number, tag in connection.execute(rows.order_by(TagRow.tag)):
        found[number] = (*found.get(number, ()), tag)
    return found


def marks_of(connection: Connection, numbers: Sequence[int]) -> dict[int, Marks]:
    """What people put on each of these sessions."""
    rows = select(StarRow.number, StarRow.step).where(StarRow.number.in_(numbers)).order_by(StarRow.step)
    stars: dict[int, tuple[int, ...]] = {}
    for number, step in connection.execute(rows):
        stars[number] = (*stars.get(number, ()), step)
    tags = tags_of(connection, numbers)
    return {number: _marks(tags.get(number, ()), stars.get(number, ())) for number in numbers}


def _marks(tags: tuple[str, ...], stars: tuple[int, ...]) -> Marks:
    return Marks(tags, WHOLE in stars, tuple(step for step in stars if step != WHOLE))


def add_marks(connection: Connection, number: int, marks: Marks, moment: datetime) -> None:
    """Put on the session what it does not have of these marks."""
    if marks == Marks():
        return
    for tag in marks.tags:
        put_on(connection, [number], tag, moment)
    wanted = [*marks.stars, *([WHOLE] if marks.starred else [])]
    there = set(connection.scalars(select(StarRow.step).where(StarRow.number == number)))
    new = [{"number": number, "step": step} for step in dict.fromkeys(wanted) if step not in there]
    if new:
        connection.execute(insert(StarRow), new)
    set_marks(connection, number)


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
