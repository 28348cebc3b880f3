"""What a list of very many sessions needs: facts to filter and sort by, marks, and an index of all texts.

The facts of older sessions are only marked as behind here: folding 100,000 sessions takes minutes, and is
done some at a time while the app runs already (Store.fold_behind).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

import sqlalchemy as sa
from alembic import op

from storage.text_search import create_index

revision = "0004"
down_revision = "0003"

BATCH = 1000
NUMBER = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
MOMENT = sa.DateTime(timezone=True)
COUNTS = (
    "deleted", "behind", "starred", "steps", "rounds", "candidates", "policy_accepted", "policy_rejected",
    "person_accepted", "person_rejected", "person_edited", "overruled", "calls", "prompt_tokens",
    "completion_tokens", "tokens",
)  # fmt: skip
WORDS = ("preset", "strategy", "model", "mode", "scorer", "verifier", "flags")
SCORES = ("first_score", "last_score", "best_score", "change", "money")
ORDERS = (
    ("facts_by_time", "number"),
    ("facts_by_changed", "changed_at"),
    ("facts_by_change", "change"),
    ("facts_by_money", "money"),
    ("facts_by_tokens", "tokens"),
    ("facts_by_rounds", "rounds"),
)
# Not the model's tables: a migration meets the tables as they were at its own time.
SESSION = sa.table(
    "session",
    sa.column("id"),
    sa.column("created_at", MOMENT),
    sa.column("deleted_at", MOMENT),
    sa.column("ending"),
    sa.column("search"),
)
STEP = sa.table("step", sa.column("session_id"), sa.column("created_at", MOMENT))


def upgrade() -> None:
    facts = _facts()
    search = _search()
    _rounds()
    _marks()
    last = 0
    for rows in _batches(op.get_bind()):
        numbers = [last := max(_milliseconds(row.created_at), last + 1) for row in rows]
        kept = list(zip(rows, numbers, strict=True))
        op.bulk_insert(facts, [_fact(row, number) for row, number in kept])
        op.bulk_insert(search, [{"number": number, "text": row.search} for row, number in kept])
    for name, column in ORDERS:
        op.create_index(name, "session_facts", ["deleted", *dict.fromkeys((column, "number"))])
    _partial("facts_behind", "session_facts", ["behind", "number"], "behind = 1")
    _partial("session_by_deletion", "session", ["deleted_at"], "deleted_at is not null")
    create_index(op.get_bind())
    # In place: a copy of the table would drop the one that steps refer to.
    op.drop_column("session", "search")


def _facts() -> sa.Table:
    return op.create_table(
        "session_facts",
        sa.Column("number", NUMBER, primary_key=True, autoincrement=False),
        sa.Column("session_id", sa.Text(), sa.ForeignKey("session.id"), nullable=False, unique=True),
        sa.Column("changed_at", MOMENT, nullable=False),
        sa.Column("outcome", sa.Text(), nullable=False, server_default="open"),
        *(sa.Column(name, sa.Integer(), nullable=False, server_default="0") for name in COUNTS),
        *(sa.Column(name, sa.Text(), nullable=False, server_default="") for name in WORDS),
        *(sa.Column(name, sa.Double()) for name in SCORES),
        sa.Column("seconds", sa.Double(), nullable=False, server_default="0"),
        sa.CheckConstraint("deleted in (0, 1) and behind in (0, 1)", name="facts_marks"),
    )


def _partial(name: str, table: str, columns: list[str], where: str) -> None:
    condition = sa.text(where)
    op.create_index(name, table, columns, sqlite_where=condition, postgresql_where=condition)


def _number() -> sa.Column[Any]:
    return sa.Column("number", NUMBER, sa.ForeignKey("session_facts.number"), primary_key=True)


def _search() -> sa.Table:
    return op.create_table("session_search", _number(), sa.Column("text", sa.Text(), nullable=False))


def _rounds() -> None:
    counts = ("major", "minor", "unstated", "attempts", "calls", "tokens")
    scores = ("before", "after", "change", "verified_before", "verified_after", "money")
    op.create_table(
        "round_facts",
        _number(),
        sa.Column("round", sa.Integer(), primary_key=True),
        *(sa.Column(name, sa.Text(), nullable=False) for name in ("decision", "by", "flags")),
        sa.Column("policy", sa.Boolean()),
        *(sa.Column(name, sa.Boolean(), nullable=False) for name in ("overruled", "unchanged", "returned")),
        *(sa.Column(name, sa.Integer(), nullable=False) for name in counts),
        *(sa.Column(name, sa.Double()) for name in scores),
        sa.Column("seconds", sa.Double(), nullable=False),
    )


def _marks() -> None:
    op.create_table(
        "session_facet",
        sa.Column("facet", sa.Text(), primary_key=True),
        _number(),
        sqlite_with_rowid=False,
    )
    op.create_index("facet_by_session", "session_facet", ["number"])
    op.create_table(
        "session_tag",
        _number(),
        sa.Column("tag", sa.Text(), primary_key=True),
        sa.Column("added_at", MOMENT, nullable=False),
        sa.Column("removed_at", MOMENT),
    )
    op.create_index("tag_by_added", "session_tag", ["added_at"])
    _partial("tag_by_removed", "session_tag", ["removed_at"], "removed_at is not null")
    op.create_table(
        "session_star",
        _number(),
        sa.Column("step", sa.Integer(), primary_key=True),
        sa.CheckConstraint("step >= -1", name="star_place"),
    )
    op.create_table(
        "saved_filter",
        sa.Column("name", sa.Text(), primary_key=True),
        sa.Column("query", sa.Text(), nullable=False),
    )


def _batches(connection: sa.Connection) -> Iterator[Sequence[sa.Row[Any]]]:
    """The sessions in the order of their start, some at a time, with count and moment of their steps."""
    own = STEP.c.session_id == SESSION.c.id
    count = sa.select(sa.func.count()).select_from(STEP).where(own).scalar_subquery().label("steps")
    last = sa.select(sa.func.max(STEP.c.created_at)).where(own).scalar_subquery().label("last_at")
    key = sa.tuple_(SESSION.c.created_at, SESSION.c.id)
    query = sa.select(SESSION, count, last).order_by(SESSION.c.created_at, SESSION.c.id).limit(BATCH)
    rows = connection.execute(query).all()
    while rows:
        yield rows
        after = sa.tuple_(sa.bindparam("at", type_=MOMENT), sa.bindparam("id"))
        seen = {"at": rows[-1].created_at, "id": rows[-1].id}
        rows = connection.execute(query.where(key > after), seen).all()


def _fact(row: sa.Row[Any], number: int) -> dict[str, Any]:
    return {
        "number": number,
        "session_id": row.id,
        "changed_at": max(row.created_at, row.last_at or row.created_at),
        "deleted": int(row.deleted_at is not None),
        "behind": 1,
        "steps": row.steps,
    }


def _milliseconds(moment: datetime) -> int:
    """Of the moment, which is in UTC even where the database has forgotten so."""
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return int(aware.timestamp() * 1000)
