"""Rows, and nothing but rows: what they mean is core's."""

from __future__ import annotations

from datetime import UTC, datetime

from sqlalchemy import CheckConstraint, DateTime, ForeignKey, Index, Text
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
    # A copy of title and task, folded by core.words; may be as long as the task, so read only on request.
    search: Mapped[str] = mapped_column(Text, default="", server_default="", deferred=True)


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
