"""Keeps what lists know of each session: facts, facets and the text that is searched. Knows no list."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, delete, func, insert, select, update
from sqlalchemy.orm import aliased

from core.domain import Task
from core.facts import Facts, draft_texts, facts_of
from core.round_facts import RoundFacts
from core.sessions import Session, UnknownSession
from core.words import plain, searchable
from storage.reading import whole_session
from storage.tables import FacetRow, FactsRow, RoundFactsRow, SearchRow, StarRow, StepRow, TagRow
from storage.text_search import END

STARRED = "starred"
WHOLE = -1
"""The step of a star that a session has itself."""
# Made once: a statement that is made anew is looked up anew, which takes as long as the database with it.
_NEW_FACTS, _NEW_ROUNDS = insert(FactsRow), insert(RoundFactsRow)
_NEW_FACETS, _NEW_TEXT = insert(FacetRow), insert(SearchRow)


@dataclass(frozen=True)
class Known:
    """What lists know of a session, before it has a number: worked out without a database."""

    session_id: str
    began: datetime
    changed: datetime
    steps: int
    facts: Facts
    text: str


def known_of(session: Session, ending: str, last: datetime) -> Known:
    """What lists know of a session with this ending; `last` is the moment of its last step."""
    changed, facts = max(session.created_at, last), facts_of(session, ending)
    return Known(session.id, session.created_at, changed, len(session.steps), facts, _searched(session))


def begin(connection: Connection, session_id: str) -> None:
    """Let lists know of a session that was just put into the table of sessions, with all its steps."""
    session, ending = whole_session(connection, session_id)
    own = select(func.max(StepRow.created_at)).where(StepRow.session_id == session_id)
    put_new(connection, known_of(session, ending, connection.scalar(own) or session.created_at))


def put_new(connection: Connection, known: Known) -> None:
    """Let lists know of a session that was just put into the table of sessions."""
    number = _free_number(connection, known.began)
    listed = {"number": number, "session_id": known.session_id, "steps": known.steps}
    row = {**facts_values(known.facts), **listed, "changed_at": known.changed}
    # One statement a table and none that looks: an import is little else than this.
    connection.execute(_NEW_FACTS, row)
    _insert_rounds(connection, number, known.facts)
    _insert_facets(connection, number, facet_names(known.facts))
    connection.execute(_NEW_TEXT, {"number": number, "text": known.text})


def fold(connection: Connection, session_id: str) -> None:
    """Bring what lists know of the session up to its last step. Raises UnknownSession."""
    session, ending = whole_session(connection, session_id)
    _put(connection, number_of(connection, session_id), session, ending)


def grown(connection: Connection, session_id: str, steps: int, at: datetime) -> None:
    """A step was added: lists know when and how many there are, and that the rest is behind."""
    own = update(FactsRow).where(FactsRow.session_id == session_id)
    connection.execute(own.values(steps=steps, changed_at=at, behind=1))


def fall_behind(connection: Connection, session_id: str) -> None:
    """Something that lists tell of has changed."""
    connection.execute(update(FactsRow).where(FactsRow.session_id == session_id).values(behind=1))


def leave(connection: Connection, session_id: str) -> None:
    """Nothing more can be known of the session."""
    connection.execute(update(FactsRow).where(FactsRow.session_id == session_id).values(behind=0))


def behind(connection: Connection, most: int) -> list[str]:
    """Sessions that lists are behind of, newest first."""
    rows = select(FactsRow.session_id).where(FactsRow.behind == 1)
    return list(connection.scalars(rows.order_by(FactsRow.number.desc()).limit(most)))


def number_of(connection: Connection, session_id: str) -> int:
    """The number of a session. Raises UnknownSession."""
    number = connection.scalar(select(FactsRow.number).where(FactsRow.session_id == session_id))
    if number is None:
        raise UnknownSession(session_id)
    return number


def milliseconds(moment: datetime) -> int:
    """The moment as a number that sessions are ordered by."""
    return int(moment.astimezone(UTC).timestamp() * 1000)


def _free_number(connection: Connection, moment: datetime) -> int:
    """The first number from that moment on that no session has."""
    wanted = milliseconds(moment)
    taken = select(FactsRow.number).where(FactsRow.number == wanted)
    if connection.scalar(taken) is None:
        return wanted
    after = aliased(FactsRow)
    gap = select(FactsRow.number).outerjoin(after, after.number == FactsRow.number + 1)
    gap = gap.where(FactsRow.number >= wanted, after.number.is_(None)).order_by(FactsRow.number).limit(1)
    return connection.scalars(gap).one() + 1


# -- one session --------------------------------------------------------------------------------


def _put(connection: Connection, number: int, session: Session, ending: str) -> None:
    facts = facts_of(session, ending)
    own = update(FactsRow).where(FactsRow.number == number)
    connection.execute(own.values(**facts_values(facts), steps=len(session.steps), behind=0))
    connection.execute(delete(RoundFactsRow).where(RoundFactsRow.number == number))
    _insert_rounds(connection, number, facts)
    set_facets(connection, number, facet_names(facts), of_facts=True)
    _set_text(connection, number, _searched(session))


def _insert_rounds(connection: Connection, number: int, facts: Facts) -> None:
    if facts.each_round:
        connection.execute(_NEW_ROUNDS, [round_values(number, each) for each in facts.each_round])


def _insert_facets(connection: Connection, number: int, facets: set[str]) -> None:
    if facets:
        rows = [{"facet": facet, "number": number} for facet in sorted(facets)]
        connection.execute(_NEW_FACETS, rows)


def _searched(session: Session) -> str:
    return search_text(session.title, session.task, draft_texts(session))


def facts_values(facts: Facts) -> dict[str, Any]:
    """The columns of session_facts that facts fill."""
    values = {name: value for name, value in vars(facts).items() if name not in ("models", "each_round")}
    return {**values, "flags": ",".join(facts.flags), "tokens": facts.tokens}


def round_values(number: int, each: RoundFacts) -> dict[str, Any]:
    """A row of round_facts."""
    values = dict(vars(each))
    return {**values, "number": number, "round": values.pop("number"), "flags": ",".join(each.flags)}


def facet_names(facts: Facts) -> set[str]:
    """The facets that follow from the facts; those of tags and stars do not."""
    named = {f"preset:{facts.preset}", f"strategy:{facts.strategy}", f"outcome:{facts.outcome}"}
    named |= {f"model:{name}" for name in facts.models}
    return named | {f"decision:{each}" for each in facts.decisions} | {f"flag:{each}" for each in facts.flags}


def search_text(title: str, task: Task, drafts: Collection[str]) -> str:
    """What a search through the session looks at, each text on its own line."""
    lines = [searchable(title, task), *map(plain, drafts)]
    return "\n".join(dict.fromkeys(filter(None, lines))) + END


def _of_marks(facet: str) -> bool:
    return facet == STARRED or facet.startswith("tag:")


def set_facets(connection: Connection, number: int, wanted: set[str], *, of_facts: bool) -> None:
    """Make these the session's facets of facts, or (of_facts False) those of tags and stars."""
    rows = connection.scalars(select(FacetRow.facet).where(FacetRow.number == number))
    there = {facet for facet in rows if _of_marks(facet) != of_facts}
    own = delete(FacetRow).where(FacetRow.number == number)
    if there - wanted:
        connection.execute(own.where(FacetRow.facet.in_(sorted(there - wanted))))
    _insert_facets(connection, number, wanted - there)


def set_marks(connection: Connection, number: int) -> None:
    """Bring the facets of tags and stars, and the count of stars, up to what there is."""
    tags = select(TagRow.tag).where(TagRow.number == number, TagRow.removed_at.is_(None))
    stars = connection.scalar(select(func.count()).where(StarRow.number == number)) or 0
    marks = {f"tag:{tag}" for tag in connection.scalars(tags)} | ({STARRED} if stars else set())
    set_facets(connection, number, marks, of_facts=False)
    connection.execute(update(FactsRow).where(FactsRow.number == number).values(starred=stars))


def _set_text(connection: Connection, number: int, text: str) -> None:
    there = connection.scalar(select(SearchRow.text).where(SearchRow.number == number))
    if there is None:
        connection.execute(_NEW_TEXT, {"number": number, "text": text})
    elif there != text:
        connection.execute(update(SearchRow).where(SearchRow.number == number).values(text=text))
