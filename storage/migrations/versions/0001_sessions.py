"""Sessions and their steps."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    op.create_table(
        "session",
        sa.Column("id", sa.Text(), primary_key=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("task", sa.Text(), nullable=False),
        sa.Column("recipe", sa.Text(), nullable=False),
        sa.Column("mode", sa.Text(), nullable=False),
        sa.Column("problem", sa.Text(), server_default="", nullable=False),
        sa.Column("ending", sa.Text(), server_default="", nullable=False),
        sa.Column("parent_id", sa.Text(), sa.ForeignKey("session.id")),
        sa.Column("parent_steps", sa.Integer()),
        sa.CheckConstraint("mode in ('ask', 'ask_on_fall', 'auto')", name="mode_known"),
        sa.CheckConstraint("(parent_id is null) = (parent_steps is null)", name="parent_whole"),
    )
    op.create_index("session_by_time", "session", ["created_at", "id"])
    op.create_table(
        "step",
        sa.Column("session_id", sa.Text(), sa.ForeignKey("session.id"), primary_key=True),
        sa.Column("position", sa.Integer(), primary_key=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("request", sa.Text(), nullable=False),
        sa.Column("answer", sa.Text(), nullable=False),
        sa.CheckConstraint("position >= 0", name="position_natural"),
    )
