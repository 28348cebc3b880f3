"""Rows, and nothing but rows: what they mean is core's."""

from __future__ import annotations

from datetime import UTC, datetime

from sqlalchemy import BigInteger, CheckConstraint, DateTime, ForeignKey, Index, Integer, Text, text
from sqlalchemy.engine import Dialect
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column
from sqlalchemy.types import TypeDecorator


class UtcDateTime(TypeDecorator[datetime]):
    """A moment in UTC; SQLite forgets the zone even of DateTime(timezone=True)."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Only moments with a zone are taken."""
        if value is not None and value.tzinfo is None:
            raise ValueError("a moment without a time zone")
        return value.astimezone(UTC) if value else None

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """What comes back is in UTC."""
        return value.replace(tzinfo=UTC) if value and value.tzinfo is None else value


class Base(DeclarativeBase):
    """The schema."""


class SessionRow(Base):
    """One session; its position is not here: it is the replay of its steps."""

    __tablename__ = "session"
    __table_args__ = (
        CheckConstraint("mode in ('ask', 'ask_on_fall', 'auto')", name="mode_known"),
        CheckConstraint("(parent_id is null) = (parent_steps is null)", name="parent_whole"),
        Index("session_by_time", "created_at", "id"),
        # Of those alone that have the mark: a planner that knows no numbers would look up all others by it.
        Index(
            "session_by_deletion",
            "deleted_at",
            sqlite_where=text("deleted_at is not null"),
            postgresql_where=text("deleted_at is not null"),
        ),
    )

    id: Mapped[str] = mapped_column(Text, primary_key=True)
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)
    title: Mapped[str] = mapped_column(Text)
    task: Mapped[str] = mapped_column(Text)
    recipe: Mapped[str] = mapped_column(Text)
    mode: Mapped[str] = mapped_column(Text)
    problem: Mapped[str] = mapped_column(Text, default="", server_default="")
    # A copy of the outcome's reason for lists; the replay is the truth.
    ending: Mapped[str] = mapped_column(Text, default="", server_default="")
    parent_id: Mapped[str | None] = mapped_column(ForeignKey("session.id"))
    parent_steps: Mapped[int | None]
    # A mark: nothing is ever really deleted, so every deletion can be undone.
    deleted_at: Mapped[datetime | None] = mapped_column(UtcDateTime)


class StepRow(Base):
    """One request with its answer. The primary key is what refuses a second answer."""

    __tablename__ = "step"
    __table_args__ = (CheckConstraint("position >= 0", name="position_natural"),)

    session_id: Mapped[str] = mapped_column(ForeignKey("session.id"), primary_key=True)
    position: Mapped[int] = mapped_column(primary_key=True)
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)
    kind: Mapped[str] = mapped_column(Text)
    request: Mapped[str] = mapped_column(Text)
    answer: Mapped[str] = mapped_column(Text)


# SQLite makes a table's own order of an integer key, but only of one that is called so.
NUMBER = BigInteger().with_variant(Integer(), "sqlite")


class FactsRow(Base):
    """What lists and figures know of a session (core.facts.Facts): a copy, made anew from its steps at will.

    `number` is the moment of the session's start in milliseconds, made unique: lists, tags and the index of
    texts are in its order. `behind` marks that steps came after the last fold. `starred` counts stars.
    """

    __tablename__ = "session_facts"
    __table_args__ = (
        CheckConstraint("deleted in (0, 1) and behind in (0, 1)", name="facts_marks"),
        Index("facts_by_time", "deleted", "number"),
        Index("facts_by_changed", "deleted", "changed_at", "number"),
        Index("facts_by_change", "deleted", "change", "number"),
        Index("facts_by_money", "deleted", "money", "number"),
        Index("facts_by_tokens", "deleted", "tokens", "number"),
        Index("facts_by_rounds", "deleted", "rounds", "number"),
        Index(
            "facts_behind",
            "behind",
            "number",
            sqlite_where=text("behind = 1"),
            postgresql_where=text("behind = 1"),
        ),
    )

    number: Mapped[int] = mapped_column(NUMBER, primary_key=True, autoincrement=False)
    session_id: Mapped[str] = mapped_column(ForeignKey("session.id"), unique=True)
    changed_at: Mapped[datetime] = mapped_column(UtcDateTime)
    deleted: Mapped[int] = mapped_column(default=0)
    behind: Mapped[int] = mapped_column(default=0)
    starred: Mapped[int] = mapped_column(default=0)
    steps: Mapped[int] = mapped_column(default=0)
    preset: Mapped[str] = mapped_column(Text, default="")
    strategy: Mapped[str] = mapped_column(Text, default="")
    model: Mapped[str] = mapped_column(Text, default="")
    mode: Mapped[str] = mapped_column(Text, default="")
    outcome: Mapped[str] = mapped_column(Text, default="open")
    scorer: Mapped[str] = mapped_column(Text, default="")
    verifier: Mapped[str] = mapped_column(Text, default="")
    rounds: Mapped[int] = mapped_column(default=0)
    candidates: Mapped[int] = mapped_column(default=0)
    policy_accepted: Mapped[int] = mapped_column(default=0)
    policy_rejected: Mapped[int] = mapped_column(default=0)
    person_accepted: Mapped[int] = mapped_column(default=0)
    person_rejected: Mapped[int] = mapped_column(default=0)
    person_edited: Mapped[int] = mapped_column(default=0)
    overruled: Mapped[int] = mapped_column(default=0)
    first_score: Mapped[float | None]
    last_score: Mapped[float | None]
    best_score: Mapped[float | None]
    change: Mapped[float | None]
    flags: Mapped[str] = mapped_column(Text, default="")
    calls: Mapped[int] = mapped_column(default=0)
    prompt_tokens: Mapped[int] = mapped_column(default=0)
    completion_tokens: Mapped[int] = mapped_column(default=0)
    tokens: Mapped[int] = mapped_column(default=0)
    seconds: Mapped[float] = mapped_column(default=0.0)
    money: Mapped[float | None]


class RoundFactsRow(Base):
    """What figures know of a round (core.facts.RoundFacts); flags are joined by commas."""

    __tablename__ = "round_facts"

    number: Mapped[int] = mapped_column(ForeignKey("session_facts.number"), primary_key=True)
    round: Mapped[int] = mapped_column(primary_key=True)
    decision: Mapped[str] = mapped_column(Text)
    by: Mapped[str] = mapped_column(Text)
    policy: Mapped[bool | None]
    overruled: Mapped[bool]
    before: Mapped[float | None]
    after: Mapped[float | None]
    change: Mapped[float | None]
    verified_before: Mapped[float | None]
    verified_after: Mapped[float | None]
    major: Mapped[int]
    minor: Mapped[int]
    unstated: Mapped[int]
    attempts: Mapped[int]
    flags: Mapped[str] = mapped_column(Text)
    unchanged: Mapped[bool]
    returned: Mapped[bool]
    calls: Mapped[int]
    tokens: Mapped[int]
    seconds: Mapped[float]
    money: Mapped[float | None]


class FacetRow(Base):
    """A value that sessions are filtered by, such as "preset:rewrite"; derived from facts, tags and stars."""

    __tablename__ = "session_facet"
    __table_args__ = (Index("facet_by_session", "number"), {"sqlite_with_rowid": False})

    facet: Mapped[str] = mapped_column(Text, primary_key=True)
    number: Mapped[int] = mapped_column(ForeignKey("session_facts.number"), primary_key=True)


class TagRow(Base):
    """A person's tag on a session; one that was taken off keeps the moment, so that it can be undone."""

    __tablename__ = "session_tag"
    __table_args__ = (
        Index("tag_by_added", "added_at"),
        Index(
            "tag_by_removed",
            "removed_at",
            sqlite_where=text("removed_at is not null"),
            postgresql_where=text("removed_at is not null"),
        ),
    )

    number: Mapped[int] = mapped_column(ForeignKey("session_facts.number"), primary_key=True)
    tag: Mapped[str] = mapped_column(Text, primary_key=True)
    added_at: Mapped[datetime] = mapped_column(UtcDateTime)
    removed_at: Mapped[datetime | None] = mapped_column(UtcDateTime)


class StarRow(Base):
    """A person's star on a session (step -1) or on the candidate that a step wrote."""

    __tablename__ = "session_star"
    __table_args__ = (CheckConstraint("step >= -1", name="star_place"),)

    number: Mapped[int] = mapped_column(ForeignKey("session_facts.number"), primary_key=True)
    step: Mapped[int] = mapped_column(primary_key=True)


class SavedFilterRow(Base):
    """A filter of the History page under a name."""

    __tablename__ = "saved_filter"

    name: Mapped[str] = mapped_column(Text, primary_key=True)
    query: Mapped[str] = mapped_column(Text)


class SearchRow(Base):
    """A copy of title, task and drafts, folded by core.words, for storage.text_search alone.

    On SQLite triggers bring every change into the full-text index `session_fts`.
    """

    __tablename__ = "session_search"

    number: Mapped[int] = mapped_column(ForeignKey("session_facts.number"), primary_key=True)
    text: Mapped[str] = mapped_column(Text)
