"""Counts and sums over the facts of all sessions, in SQL: core.insight.InsightStore. Knows no question.

A fork has copies of its first rounds: a round that is its parent's, down to the seconds it took, is counted
once, with the parent.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Connection,
    Engine,
    Select,
    Subquery,
    and_,
    case,
    func,
    literal,
    or_,
    select,
    true,
)
from sqlalchemy.orm import aliased

from core.gates import POLICY
from core.importing.making import THE_RUN
from core.insight import FULL_SCALE, VERIFIERS, By, Changes, Listed, RoundCell, Scope, SessionCell
from storage.facts import milliseconds
from storage.tables import FactsRow, RoundFactsRow, SessionRow

FULL = 1 - 1e-9
AT_A_TIME = 500
F, R = FactsRow, RoundFactsRow
Condition = ColumnElement[bool]
_BY: dict[By, Any] = {"preset": F.preset, "strategy": F.strategy, "model": F.model}
_LISTED = [name for name in Listed.__dataclass_fields__ if name != "title"]


class SqlInsightStore:
    """core.insight.InsightStore on one database."""

    def __init__(self, engine: Engine) -> None:
        self._read = engine

    def scorers(self, scope: Scope) -> list[tuple[str, int]]:
        """The gates' scorers, the most frequent first."""
        count = func.count()
        rows = select(F.scorer, count).where(*_within(scope)).group_by(F.scorer)
        with self._read.connect() as connection:
            found = connection.execute(rows.order_by(count.desc(), F.scorer))
            return [(name, number) for name, number in found]

    def rounds(self, scope: Scope, by: By, scorer: str) -> list[RoundCell]:
        """Sums of every group, round and worst kind of point."""
        keys = (_BY[by].label("a"), R.round.label("b"), _worst().label("c"))
        sums = [column.label(name) for name, column in _round_sums(scorer).items()]
        with self._read.connect() as connection:
            rows = _rounds(connection, scope, *keys, *sums).group_by("a", "b", "c")
            return [RoundCell(*row) for row in connection.execute(rows)]

    def sessions(self, scope: Scope, by: By, scorer: str) -> list[SessionCell]:
        """Sums of every group."""
        with self._read.connect() as connection:
            each = _each_session(connection, scope)
            sums = [column.label(name) for name, column in _session_sums(each, scorer).items()]
            key = _BY[by].label("a")
            rows = select(key, *sums).select_from(F).join(SessionRow, SessionRow.id == F.session_id)
            rows = rows.outerjoin(each, each.c.number == F.number).where(*_within(scope)).group_by("a")
            return [SessionCell(*row) for row in connection.execute(rows)]

    def changes(self, scope: Scope, by: By, scorer: str, most: int) -> Changes:
        """The single values, where they are few."""
        own = F.scorer == scorer
        kept = case((_kept(), R.change), (_dropped(), 0.0))
        changed = select(_BY[by], F.change).where(*_within(scope), own, F.change.is_not(None)).limit(most + 1)
        with self._read.connect() as connection:
            rows = _rounds(connection, scope, _BY[by], R.round, R.change, kept)
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


# -- which rows ---------------------------------------------------------------------------------


def _within(scope: Scope) -> list[Condition]:
    found: list[Condition] = [F.deleted == 0]
    named = ((F.preset, scope.preset), (F.strategy, scope.strategy), (F.model, scope.model))
    found += [column == value for column, value in (*named, (F.scorer, scope.scorer)) if value]
    found += [F.number >= milliseconds(scope.since)] if scope.since else []
    return found + ([F.number < milliseconds(scope.until)] if scope.until else [])


def _rounds(connection: Connection, scope: Scope, *columns: Any) -> Select[Any]:
    """Columns of the rounds in question, each round once."""
    rows = select(*columns).select_from(R).join(F, F.number == R.number).where(*_within(scope))
    if not _any_fork(connection):
        return rows
    copied = _copied().subquery()
    same = and_(copied.c.number == R.number, copied.c.round == R.round)
    return rows.outerjoin(copied, same).where(copied.c.number.is_(None))


def _any_fork(connection: Connection) -> bool:
    """Whether there is a fork at all: without one nothing is copied."""
    return (
        connection.scalar(select(SessionRow.id).where(SessionRow.parent_id.is_not(None)).limit(1)) is not None
    )


def _copied() -> Any:
    """The rounds that forks have from their parents."""
    own, theirs, theirs_facts = aliased(F), aliased(R), aliased(F)
    mine = aliased(R)
    same = (
        (theirs.round == mine.round)
        & (theirs.decision == mine.decision)
        & (theirs.by == mine.by)
        & (theirs.seconds == mine.seconds)
        & (theirs.tokens == mine.tokens)
        & (theirs.attempts == mine.attempts)
    )
    return (
        select(mine.number, mine.round)
        .select_from(SessionRow)
        .join(own, own.session_id == SessionRow.id)
        .join(theirs_facts, (theirs_facts.session_id == SessionRow.parent_id) & (theirs_facts.deleted == 0))
        .join(mine, mine.number == own.number)
        .join(theirs, (theirs.number == theirs_facts.number) & same)
        .where(SessionRow.parent_id.is_not(None), own.deleted == 0)
    )


# -- sums of rounds -----------------------------------------------------------------------------


def _worst() -> ColumnElement[str]:
    return case((R.major > 0, "major"), (R.minor > 0, "minor"), (R.unstated > 0, "unstated"), else_="none")


def _count(condition: Condition) -> ColumnElement[int]:
    return func.coalesce(func.sum(case((condition, 1), else_=0)), 0)


def _sums(name: str, value: Any, condition: Condition) -> dict[str, Any]:
    """How many, their sum, and the sum of their squares."""
    known = and_(condition, value.is_not(None))
    total = func.coalesce(func.sum(case((known, value), else_=0.0)), 0.0)
    squares = func.coalesce(func.sum(case((known, value * value), else_=0.0)), 0.0)
    return {f"{name}_n": _count(known), f"{name}_sum": total, f"{name}_squares": squares}


def _accepted() -> Condition:
    return R.decision.in_(("accept", "hunks"))


def _kept() -> Condition:
    return R.decision == "accept"


def _dropped() -> Condition:
    return R.decision.in_(("reject", "retry"))


def _ruled() -> Condition:
    return R.decision.in_(("accept", "hunks", "edit", "reject", "retry"))


def _person() -> Condition:
    return R.by.not_in(("", POLICY, THE_RUN))


def _flagged(flag: str) -> Condition:
    """Flags are joined by commas."""
    return (literal(",") + R.flags + literal(",")).contains(f",{flag},")


def _verified(which: str) -> ColumnElement[float]:
    """The verifier's value before or after, or the gate's where that is a verifier."""
    named, gate = getattr(R, f"verified_{which}"), getattr(R, which)
    return case((F.verifier != "", named), (F.scorer.in_(VERIFIERS), gate))


def _round_sums(scorer: str) -> dict[str, Any]:
    tried, own = R.attempts > 0, F.scorer == scorer
    before, after = _verified("before"), _verified("after")
    policy, person = and_(tried, _ruled(), R.by == POLICY), and_(tried, _ruled(), _person())
    wrong, right = and_(before < FULL, after.is_not(None)), and_(before >= FULL, after.is_not(None))
    would, would_not = and_(person, R.policy.is_(True)), and_(person, R.policy.is_(False))
    whole = R.decision.in_(("accept", "reject", "retry"))
    kept = case((_kept(), R.change), else_=0.0 * R.change)
    return {
        "tried": _count(tried),
        "policy_ruled": _count(policy),
        "policy_accepted": _count(and_(policy, _accepted())),
        "person_ruled": _count(person),
        "person_accepted": _count(and_(person, _accepted())),
        **_sums("gain", R.change, and_(tried, own)),
        **_sums("kept", kept, and_(tried, own, or_(_kept(), _dropped()))),
        "wrong": _count(wrong),
        "righted": _count(and_(wrong, after >= FULL)),
        "right": _count(right),
        "wronged": _count(and_(right, after < FULL)),
        "returned": _count(R.returned.is_(true())),
        "unchanged": _count(R.unchanged.is_(true())),
        "remarks": _count(_flagged("meta-text")),
        "refusals": _count(_flagged("refusal")),
        "broken": _count(or_(_flagged("empty"), _flagged("cut off"))),
        "would_accept": _count(and_(would, whole)),
        "not_accepted": _count(and_(would, _dropped())),
        "would_reject": _count(and_(would_not, whole)),
        "not_rejected": _count(and_(would_not, _kept())),
    }


# -- sums of sessions ---------------------------------------------------------------------------


def _each_session(connection: Connection, scope: Scope) -> Subquery:
    """For each session with rounds that are its own: what they took and brought."""
    better = and_(_accepted(), R.change > 0)
    columns = (
        R.number.label("number"),
        _count(better).label("m"),
        func.sum(R.seconds).label("s"),
        func.sum(R.tokens).label("t"),
        func.sum(R.money).label("c"),
    )
    return _rounds(connection, scope, *columns).where(R.attempts > 0).group_by(R.number).subquery()


def _session_sums(each: Subquery, scorer: str) -> dict[str, Any]:
    own = F.scorer == scorer
    m, s, t, c = (func.coalesce(each.c[name], 0) * 1.0 for name in "mstc")
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
        "refined": _count(each.c.number.is_not(None)),
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
