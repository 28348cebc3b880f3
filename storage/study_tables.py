"""Rows of studies, and nothing but rows: what they mean is core.studies'.

What must never happen twice is a unique constraint here, whatever the code above does.
"""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import CheckConstraint, ForeignKey, Index, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from storage.tables import Base, UtcDateTime


def _study() -> Mapped[str]:
    return mapped_column(ForeignKey("study.id"))


class StudyRow(Base):
    """One study."""

    __tablename__ = "study"
    __table_args__ = (
        CheckConstraint("status in ('draft', 'open', 'paused', 'locked', 'unblinded')", name="status_known"),
    )

    id: Mapped[str] = mapped_column(Text, primary_key=True)
    created_at: Mapped[datetime] = mapped_column(UtcDateTime)
    name: Mapped[str] = mapped_column(Text)
    status: Mapped[str] = mapped_column(Text)
    protocol: Mapped[str] = mapped_column(Text)
    protocol_sha256: Mapped[str] = mapped_column(Text, default="")
    elsewhere: Mapped[bool] = mapped_column(default=False)


class SystemRow(Base):
    """An arm; the label stands for the name until the unblinding."""

    __tablename__ = "study_system"
    __table_args__ = (UniqueConstraint("study_id", "secret_name", name="system_once"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    study_id: Mapped[str] = _study()
    secret_name: Mapped[str] = mapped_column(Text)
    mask_label: Mapped[str] = mapped_column(Text, default="")


class ItemRow(Base):
    """A prompt."""

    __tablename__ = "study_item"
    __table_args__ = (
        UniqueConstraint("study_id", "key", name="item_once"),
        CheckConstraint("kind in ('item', 'practice', 'gold', 'attention')", name="kind_known"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    study_id: Mapped[str] = _study()
    key: Mapped[str] = mapped_column(Text)
    prompt: Mapped[str] = mapped_column(Text)
    original: Mapped[str | None] = mapped_column(Text)
    stratum: Mapped[str] = mapped_column(Text)
    kind: Mapped[str] = mapped_column(Text)
    expected: Mapped[str] = mapped_column(Text)
    source: Mapped[str] = mapped_column(Text)
    dropped: Mapped[bool] = mapped_column(default=False)


class OutputRow(Base):
    """One system's text for an item; `original` where something was taken out of it."""

    __tablename__ = "study_output"
    __table_args__ = (UniqueConstraint("item_id", "system_id", name="output_once"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    item_id: Mapped[int] = mapped_column(ForeignKey("study_item.id"))
    system_id: Mapped[int] = mapped_column(ForeignKey("study_system.id"))
    text: Mapped[str] = mapped_column(Text)
    original: Mapped[str | None] = mapped_column(Text)
    measures: Mapped[str] = mapped_column(Text)


class LeakRow(Base):
    """A name found in a text (place: output) or a prompt (place: item), and what was decided about it."""

    __tablename__ = "study_leak"
    __table_args__ = (
        UniqueConstraint("study_id", "part", "place", "alias", name="leak_once"),
        CheckConstraint("decision in ('open', 'redact', 'keep', 'drop')", name="decision_known"),
        CheckConstraint("part in ('text', 'prompt')", name="part_known"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    study_id: Mapped[str] = _study()
    part: Mapped[str] = mapped_column(Text)
    place: Mapped[int]
    item: Mapped[str] = mapped_column(Text)
    alias: Mapped[str] = mapped_column(Text)
    context: Mapped[str] = mapped_column(Text)
    times: Mapped[int]
    decision: Mapped[str] = mapped_column(Text)
    by: Mapped[str] = mapped_column(Text)


class PairingRow(Base):
    """Two texts of an item. `xy` and `yx`: showings that are voted on or reserved, x or y on the left; `live`
    is their sum, for the index that finds what was shown least."""

    __tablename__ = "study_pairing"
    __table_args__ = (
        UniqueConstraint("output_x", "output_y", name="pairing_once"),
        CheckConstraint("output_x <> output_y", name="two_texts"),
        CheckConstraint("xy >= 0 and yx >= 0 and live = xy + yx", name="showings_counted"),
        Index("pairing_by_showings", "study_id", "kind", "live", "id"),
        Index("pairing_by_item", "item_id"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    study_id: Mapped[str] = _study()
    item_id: Mapped[int] = mapped_column(ForeignKey("study_item.id"))
    output_x: Mapped[int] = mapped_column(ForeignKey("study_output.id"))
    output_y: Mapped[int] = mapped_column(ForeignKey("study_output.id"))
    identical: Mapped[bool]
    kind: Mapped[str] = mapped_column(Text)
    prompt: Mapped[int]
    pair: Mapped[int]
    xy: Mapped[int] = mapped_column(default=0)
    yx: Mapped[int] = mapped_column(default=0)
    live: Mapped[int] = mapped_column(default=0)


class RaterRow(Base):
    """One rater."""

    __tablename__ = "study_rater"
    __table_args__ = (UniqueConstraint("study_id", "code", name="rater_once"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    study_id: Mapped[str] = _study()
    code: Mapped[str] = mapped_column(Text)
    name: Mapped[str] = mapped_column(Text)
    crowd: Mapped[str] = mapped_column(Text)
    # The first of a platform's parameters, which says who it is.
    crowd_id: Mapped[str | None] = mapped_column(Text)
    consent_at: Mapped[datetime | None] = mapped_column(UtcDateTime)
    closing: Mapped[str | None] = mapped_column(Text)


class LinkRow(Base):
    """Where a link leads; of its token only the hash is known here. No rater: whoever comes becomes one."""

    __tablename__ = "study_link"

    token_hash: Mapped[str] = mapped_column(Text, primary_key=True)
    study_id: Mapped[str] = _study()
    rater_id: Mapped[int | None] = mapped_column(ForeignKey("study_rater.id"))


class AssignmentRow(Base):
    """A pairing given to a rater, sides fixed."""

    __tablename__ = "study_assignment"
    __table_args__ = (
        UniqueConstraint("rater_id", "pairing_id", "retest", name="given_once"),
        UniqueConstraint("rater_id", "seq", name="seq_once"),
        UniqueConstraint("token", name="token_once"),
        CheckConstraint("state in ('reserved', 'voted', 'skipped', 'expired')", name="state_known"),
        Index("assignment_by_expiry", "study_id", "state", "expires_at"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    study_id: Mapped[str] = _study()
    token: Mapped[str] = mapped_column(Text)
    rater_id: Mapped[int] = mapped_column(ForeignKey("study_rater.id"))
    pairing_id: Mapped[int] = mapped_column(ForeignKey("study_pairing.id"))
    x_left: Mapped[bool]
    seq: Mapped[int]
    state: Mapped[str] = mapped_column(Text)
    retest: Mapped[int]
    shown_at: Mapped[datetime] = mapped_column(UtcDateTime)
    expires_at: Mapped[datetime] = mapped_column(UtcDateTime)
    # The last vote's version and choice, 0 and none before the first.
    version: Mapped[int] = mapped_column(default=0)
    choice: Mapped[str | None] = mapped_column(Text)


class VoteRow(Base):
    """A vote, or (undone) its withdrawal, which is a version like any other. Never changed, never deleted."""

    __tablename__ = "study_vote"
    __table_args__ = (
        UniqueConstraint("client_uuid", name="vote_once"),
        CheckConstraint(
            "choice in ('left', 'right', 'tie', 'both_bad', 'skip', 'undone')", name="choice_known"
        ),
        CheckConstraint("strength in (0, 1, 2)", name="strength_known"),
    )

    assignment_id: Mapped[int] = mapped_column(ForeignKey("study_assignment.id"), primary_key=True)
    version: Mapped[int] = mapped_column(primary_key=True)
    client_uuid: Mapped[str] = mapped_column(Text)
    choice: Mapped[str] = mapped_column(Text)
    strength: Mapped[int]
    criteria: Mapped[str] = mapped_column(Text)
    reason: Mapped[str] = mapped_column(Text)
    active_ms: Mapped[int | None]
    submitted_at: Mapped[datetime] = mapped_column(UtcDateTime)


class MarkRow(Base):
    """An owner's exclusion; lifting it is a moment, not a deletion."""

    __tablename__ = "study_exclusion"
    __table_args__ = (CheckConstraint("target in ('rater', 'item', 'vote')", name="target_known"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    study_id: Mapped[str] = _study()
    target: Mapped[str] = mapped_column(Text)
    place: Mapped[int]
    why: Mapped[str] = mapped_column(Text)
    by: Mapped[str] = mapped_column(Text)
    at: Mapped[datetime] = mapped_column(UtcDateTime)
    lifted_at: Mapped[datetime | None] = mapped_column(UtcDateTime)


class UnblindingRow(Base):
    """The one unblinding of a study."""

    __tablename__ = "study_unblinding"

    study_id: Mapped[str] = mapped_column(ForeignKey("study.id"), primary_key=True)
    at: Mapped[datetime] = mapped_column(UtcDateTime)
    actor: Mapped[str] = mapped_column(Text)
    reason: Mapped[str] = mapped_column(Text)
    votes_sha256: Mapped[str] = mapped_column(Text)


class EventRow(Base):
    """The log; rows are only ever added. No study: something was sent that belongs to none."""

    __tablename__ = "study_event"
    __table_args__ = (Index("event_by_kind", "study_id", "kind"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    study_id: Mapped[str | None] = mapped_column(ForeignKey("study.id"))
    at: Mapped[datetime] = mapped_column(UtcDateTime)
    actor: Mapped[str] = mapped_column(Text)
    kind: Mapped[str] = mapped_column(Text)
    detail: Mapped[str] = mapped_column(Text)
