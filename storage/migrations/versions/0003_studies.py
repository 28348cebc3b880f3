"""Blind preference studies: what is compared, who rates it, every vote in every version."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.create_table(
        "study",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("protocol", sa.Text(), nullable=False),
        sa.Column("protocol_sha256", sa.Text(), nullable=False),
        sa.Column("elsewhere", sa.Boolean(), nullable=False),
        sa.CheckConstraint(
            "status in ('draft', 'open', 'paused', 'locked', 'unblinded')", name="status_known"
        ),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_table(
        "study_event",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("study_id", sa.Text(), nullable=True),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("detail", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["study_id"], ["study.id"]),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("event_by_kind", "study_event", ["study_id", "kind"], unique=False)
    op.create_table(
        "study_exclusion",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("study_id", sa.Text(), nullable=False),
        sa.Column("target", sa.Text(), nullable=False),
        sa.Column("place", sa.Integer(), nullable=False),
        sa.Column("why", sa.Text(), nullable=False),
        sa.Column("by", sa.Text(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("lifted_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint("target in ('rater', 'item', 'vote')", name="target_known"),
        sa.ForeignKeyConstraint(["study_id"], ["study.id"]),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_table(
        "study_item",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("study_id", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("prompt", sa.Text(), nullable=False),
        sa.Column("original", sa.Text(), nullable=True),
        sa.Column("stratum", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("expected", sa.Text(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("dropped", sa.Boolean(), nullable=False),
        sa.CheckConstraint("kind in ('item', 'practice', 'gold', 'attention')", name="kind_known"),
        sa.ForeignKeyConstraint(["study_id"], ["study.id"]),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("study_id", "key", name="item_once"),
    )
    op.create_table(
        "study_leak",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("study_id", sa.Text(), nullable=False),
        sa.Column("part", sa.Text(), nullable=False),
        sa.Column("place", sa.Integer(), nullable=False),
        sa.Column("item", sa.Text(), nullable=False),
        sa.Column("alias", sa.Text(), nullable=False),
        sa.Column("context", sa.Text(), nullable=False),
        sa.Column("times", sa.Integer(), nullable=False),
        sa.Column("decision", sa.Text(), nullable=False),
        sa.Column("by", sa.Text(), nullable=False),
        sa.CheckConstraint("decision in ('open', 'redact', 'keep', 'drop')", name="decision_known"),
        sa.CheckConstraint("part in ('text', 'prompt')", name="part_known"),
        sa.ForeignKeyConstraint(["study_id"], ["study.id"]),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("study_id", "part", "place", "alias", name="leak_once"),
    )
    op.create_table(
        "study_rater",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("study_id", sa.Text(), nullable=False),
        sa.Column("code", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("crowd", sa.Text(), nullable=False),
        sa.Column("crowd_id", sa.Text(), nullable=True),
        sa.Column("consent_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("closing", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["study_id"], ["study.id"]),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("study_id", "code", name="rater_once"),
    )
    op.create_table(
        "study_system",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("study_id", sa.Text(), nullable=False),
        sa.Column("secret_name", sa.Text(), nullable=False),
        sa.Column("mask_label", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["study_id"], ["study.id"]),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("study_id", "secret_name", name="system_once"),
    )
    op.create_table(
        "study_unblinding",
        sa.Column("study_id", sa.Text(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("votes_sha256", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["study_id"], ["study.id"]),
        sa.PrimaryKeyConstraint("study_id"),
    )
    op.create_table(
        "study_link",
        sa.Column("token_hash", sa.Text(), nullable=False),
        sa.Column("study_id", sa.Text(), nullable=False),
        sa.Column("rater_id", sa.Integer(), nullable=True),
        sa.ForeignKeyConstraint(["rater_id"], ["study_rater.id"]),
        sa.ForeignKeyConstraint(["study_id"], ["study.id"]),
        sa.PrimaryKeyConstraint("token_hash"),
    )
    op.create_table(
        "study_output",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("item_id", sa.Integer(), nullable=False),
        sa.Column("system_id", sa.Integer(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("original", sa.Text(), nullable=True),
        sa.Column("measures", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(["item_id"], ["study_item.id"]),
        sa.ForeignKeyConstraint(["system_id"], ["study_system.id"]),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("item_id", "system_id", name="output_once"),
    )
    op.create_table(
        "study_pairing",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("study_id", sa.Text(), nullable=False),
        sa.Column("item_id", sa.Integer(), nullable=False),
        sa.Column("output_x", sa.Integer(), nullable=False),
        sa.Column("output_y", sa.Integer(), nullable=False),
        sa.Column("identical", sa.Boolean(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("prompt", sa.Integer(), nullable=False),
        sa.Column("pair", sa.Integer(), nullable=False),
        sa.Column("xy", sa.Integer(), nullable=False),
        sa.Column("yx", sa.Integer(), nullable=False),
        sa.Column("live", sa.Integer(), nullable=False),
        sa.CheckConstraint("output_x <> output_y", name="two_texts"),
        sa.CheckConstraint("xy >= 0 and yx >= 0 and live = xy + yx", name="showings_counted"),
        sa.ForeignKeyConstraint(["item_id"], ["study_item.id"]),
        sa.ForeignKeyConstraint(["output_x"], ["study_output.id"]),
        sa.ForeignKeyConstraint(["output_y"], ["study_output.id"]),
        sa.ForeignKeyConstraint(["study_id"], ["study.id"]),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("output_x", "output_y", name="pairing_once"),
    )
    op.create_index("pairing_by_item", "study_pairing", ["item_id"], unique=False)
    op.create_index("pairing_by_showings", "study_pairing", ["study_id", "kind", "live", "id"], unique=False)
    op.create_table(
        "study_assignment",
        sa.Column("id", sa.Integer(), nullable=False),
        sa.Column("study_id", sa.Text(), nullable=False),
        sa.Column("token", sa.Text(), nullable=False),
        sa.Column("rater_id", sa.Integer(), nullable=False),
        sa.Column("pairing_id", sa.Integer(), nullable=False),
        sa.Column("x_left", sa.Boolean(), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("retest", sa.Integer(), nullable=False),
        sa.Column("shown_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("choice", sa.Text(), nullable=True),
        sa.CheckConstraint("state in ('reserved', 'voted', 'skipped', 'expired')", name="state_known"),
        sa.ForeignKeyConstraint(["pairing_id"], ["study_pairing.id"]),
        sa.ForeignKeyConstraint(["rater_id"], ["study_rater.id"]),
        sa.ForeignKeyConstraint(["study_id"], ["study.id"]),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("rater_id", "pairing_id", "retest", name="given_once"),
        sa.UniqueConstraint("rater_id", "seq", name="seq_once"),
        sa.UniqueConstraint("token", name="token_once"),
    )
    op.create_index(
        "assignment_by_expiry", "study_assignment", ["study_id", "state", "expires_at"], unique=False
    )
    op.create_table(
        "study_vote",
        sa.Column("assignment_id", sa.Integer(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("client_uuid", sa.Text(), nullable=False),
        sa.Column("choice", sa.Text(), nullable=False),
        sa.Column("strength", sa.Integer(), nullable=False),
        sa.Column("criteria", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("active_ms", sa.Integer(), nullable=True),
        sa.Column("submitted_at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint(
            "choice in ('left', 'right', 'tie', 'both_bad', 'skip', 'undone')", name="choice_known"
        ),
        sa.CheckConstraint("strength in (0, 1, 2)", name="strength_known"),
        sa.ForeignKeyConstraint(["assignment_id"], ["study_assignment.id"]),
        sa.PrimaryKeyConstraint("assignment_id", "version"),
        sa.UniqueConstraint("client_uuid", name="vote_once"),
    )
