"""Counts and sums over the facts of all sessions, in SQL: core.insight.InsightStore. Knows no question."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Engine,
    Subquery,
    and_,
    case,
    func,
    or_,
    select,
)
from sqlalchemy.orm import aliased

from core.insight import FULL_SCALE, By, Changes, Listed, RoundCell, Scope, SessionCell
from storage.insight_rounds import (
    ACCEPTED,
    BY,
    DROPPED,
    FULL,
    Condition,
    F,
    R,
    counted_rounds,
    round_cells,
    within,
)
from storage.insight_votes import unblindings, votes_for_persons
from storage.tables import SessionRow, TagRow

AT_A_TIME = 500
_LISTED = [name for name in Listed.__dataclass_fields__ if name != "title"]


class SqlInsightStore:
    """core.insight.InsightStore on one database."""

    def __init__(self, engine: Engine) -> None:
        self._read = engine

    def scorers(self, scope: Scope) -> list[tuple[str, int]]:
        """The gates' scorers, the most frequent first."""
        count = func.count()
        rows = select(F.scorer, count).where(*within(scope)).group_by(F.scorer)
        with self._read.connect() as connection:
            found = connection.execute(rows.order_by(count.desc(), F.scorer))
            return [(name, number) for name, number in found]

    def rounds(self, scope: Scope, by: By, scorer: str) -> list[RoundCell]:
        """Sums of every group, round and worst kind of point."""
        with self._read.connect() as connection:
            return round_cells(connection, scope, by, scorer)

    def sessions(self, scope: Scope, by: By, scorer: str) -> list[SessionCell]:
        """Sums of every group."""
        with self._read.connect() as connection:
            each = _each_session(connection, scope)
            sums = [column.label(name) for name, column in _session_sums(each, scorer).items()]
            key = BY[by].label("a")
            rows = select(key, *sums).select_from(F).join(SessionRow, SessionRow.id == F.session_id)
            rows = rows.outerjoin(each, each.c.number == F.number).where(*within(scope)).group_by("a")
            return [SessionCell(*row) for row in connection.execute(rows)]

    def changes(self, scope: Scope, by: By, scorer: str, most: int) -> Changes:
        """The single values, where they are few."""
        own = F.scorer == scorer
        kept = case((R.decision == "accept", R.change), (R.decision.in_(DROPPED), 0.0))
        changed = select(BY[by], F.change).where(*within(scope), own, F.change.is_not(None)).limit(most + 1)
        with self._read.connect() as connection:
            rows = counted_rounds(connection, scope, BY[by], R.round, R.change, kept)
            rows = rows.where(own, R.change.is_not(None)).limit(most + 1)
            rounds = [tuple(row) for row in connection.execute(rows)]
            sessions = [tuple(row) for row in connection.execute(changed)]
        if len(rounds) > most or len(sessions) > most:
            return Changes()
        return Changes(tuple(rounds), tuple(sessions), whole=True)

    def behind(self) -> int:
        """How many sessions have steps that are not counted yet."""
        rows = select(func.count()).where(F.behind == 1, F.deleted == 0)
        with self._read.connect() as connection:
            return connection.scalar(rows) or 0

    def stamp(self) -> str:
        """Changes whenever anything that is counted here may have."""
        rows = select(func.count(), func.max(F.changed_at), func.sum(F.deleted), func.sum(F.behind))
        tags = select(func.max(TagRow.added_at), func.max(TagRow.removed_at), func.count(TagRow.removed_at))
        with self._read.connect() as connection:
            counted, tagged = connection.execute(rows).one(), connection.execute(tags).one()
            return " ".join(map(str, (*counted, *tagged, unblindings(connection))))

    def votes_for_persons(self, scope: Scope) -> tuple[int, int]:
        """How many votes side with persons who overruled the policy, of how many on both texts."""
        with self._read.connect() as connection:
            return votes_for_persons(connection, scope)

    def listed(self, ids: Sequence[str]) -> list[Listed]:
        """The sessions of these ids, in that order."""
        columns = [getattr(F, name) for name in _LISTED]
        rows = select(SessionRow.title, *columns).join(SessionRow, SessionRow.id == F.session_id)
        found: dict[str, Listed] = {}
        with self._read.connect() as connection:
            for begin in range(0, len(ids), AT_A_TIME):
                part = rows.where(F.session_id.in_(ids[begin : begin + AT_A_TIME]), F.deleted == 0)
                found |= {row.session_id: Listed(**row._mapping) for row in connection.execute(part)}
        return [found[each] for each in ids if each in found]


# -- sums of sessions ---------------------------------------------------------------------------


def _count(condition: Condition) -> ColumnElement[int]:
    return func.coalesce(func.sum(case((condition, 1), else_=0)), 0)


def _sums(name: str, value: Any, condition: Condition) -> dict[str, Any]:
    """How many, their sum, and the sum of their squares."""
    known = and_(condition, value.is_not(None))
    total = func.coalesce(func.sum(case((known, value), else_=0.0)), 0.0)
    squares = func.coalesce(func.sum(case((known, value * value), else_=0.0)), 0.0)
    return {f"{name}_n": _count(known), f"{name}_sum": total, f"{name}_squares": squares}


def _each_session(connection: Connection, scope: Scope) -> Subquery:
    """For each session with rounds that are its own: what they took and brought."""
    better = and_(R.decision.in_(ACCEPTED), R.change > 0)
    columns = (
        R.number.label("number"),
        _count(better).label("m"),
        func.sum(R.seconds).label("s"),
        func.sum(R.tokens).label("t"),
        func.sum(R.money).label("c"),
    )
    return counted_rounds(connection, scope, *columns).where(R.attempts > 0).group_by(R.number).subquery()


def _session_sums(each: Subquery, scorer: str) -> dict[str, Any]:
    own = F.scorer == scorer
    gained, s, t, c = (func.coalesce(each.c[name], 0) * 1.0 for name in "mstc")
    # Where nobody counted what the calls took, as in imported sessions, an improvement has no price.
    counted = or_(s > 0, t > 0)
    m = case((counted, gained), else_=0.0)
    priced = each.c.c.is_not(None)
    paid = case((priced, m), else_=0.0)
    known = and_(own, F.best_score.is_not(None), F.last_score.is_not(None))
    return {
        "sessions": func.count(),
        "forks": _count(SessionRow.parent_id.is_not(None)),
        **_sums("change", F.change, own),
        **_full_sums(own),
        "fell_n": _count(known),
        "fallen": _count(and_(known, F.last_score < F.best_score)),
        "refined": _count(counted),
        "m": func.sum(m),
        "mm": func.sum(m * m),
        "s": func.sum(s),
        "ss": func.sum(s * s),
        "sm": func.sum(s * m),
        "t": func.sum(t),
        "tt": func.sum(t * t),
        "tm": func.sum(t * m),
        "priced": _count(priced),
        "pm": func.sum(paid),
        "pmm": func.sum(paid * paid),
        "c": func.sum(c),
        "cc": func.sum(c * c),
        "cm": func.sum(c * paid),
    }


def _full_sums(own: Condition) -> dict[str, Any]:
    """Which texts reached the full score; a text without a score did not."""
    counted = and_(own, F.scorer.in_(FULL_SCALE))
    r = aliased(R)
    mine = r.number == F.number
    tried = and_(mine, r.attempts > 0)
    last = select(r.after).where(tried).order_by(r.round.desc()).limit(1).scalar_subquery()
    highest = select(func.max(r.after)).where(tried).scalar_subquery()
    unknown = select(func.count()).where(tried, r.after.is_(None)).scalar_subquery()
    rounds = select(func.count()).where(tried).scalar_subquery()
    last_attempt = case((rounds > 0, last), else_=F.first_score)
    return {
        "full_n": _count(counted),
        "first_full": _count(and_(counted, F.first_score >= FULL)),
        "last_full": _count(and_(counted, last_attempt >= FULL)),
        "stands_full": _count(and_(counted, F.last_score >= FULL)),
        "any_full": _count(and_(counted, or_(F.first_score >= FULL, highest >= FULL))),
        "unscored": _count(and_(counted, or_(F.first_score.is_(None), unknown > 0))),
    }
