"""Which rounds are counted, and their counts by group, round and kind of point. Knows no question.

A fork has copies of its first rounds: a round that is its parent's, down to the seconds it took, is counted
once, with the parent. Rounds are counted by kind in SQL; the kinds, few however many rounds there are, are
summed up here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, and_, case, func, select
from sqlalchemy.orm import aliased

from core.gates import POLICY
from core.importing.making import THE_RUN
from core.importing.words import NAME as IMPORTED
from core.insight import VERIFIERS, By, Points, RoundCell, Scope
from storage.facts import milliseconds
from storage.tables import FacetRow, FactsRow, RoundFactsRow, SessionRow

FULL = 1 - 1e-9
F, R = FactsRow, RoundFactsRow
Condition = ColumnElement[bool]
BY: dict[By, Any] = {"preset": F.preset, "strategy": F.strategy, "model": F.model}


def round_cells(connection: Connection, scope: Scope, by: By, scorer: str) -> list[RoundCell]:
    """The counts of every group, round and worst kind of point; gains are of gates with this scorer."""
    rows = counted_rounds(connection, scope, *_alike(by, scorer), *_ALIKE_SUMS)
    return _summed(connection.execute(rows.group_by(*_ALIKE_NAMES)))


# -- which rows ---------------------------------------------------------------------------------


def within(scope: Scope) -> list[Condition]:
    found: list[Condition] = [F.deleted == 0]
    named = ((F.preset, scope.preset), (F.strategy, scope.strategy), (F.model, scope.model))
    found += [column == value for column, value in (*named, (F.scorer, scope.scorer)) if value]
    if scope.tag:
        tagged = select(FacetRow.number).where(FacetRow.facet == f"tag:{scope.tag}")
        found.append(F.number.in_(tagged))
    found += [F.number >= milliseconds(scope.since)] if scope.since else []
    return found + ([F.number < milliseconds(scope.until)] if scope.until else [])


def counted_rounds(connection: Connection, scope: Scope, *columns: Any) -> Select[Any]:
    """Columns of the rounds in question, each round once."""
    rows = select(*columns).select_from(R).join(F, F.number == R.number).where(*within(scope))
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

_ALIKE_NAMES = tuple("abcdefghijklm")
_ALIKE_SUMS = (
    func.count(),
    func.coalesce(func.sum(R.change), 0.0),
    func.coalesce(func.sum(R.change * R.change), 0.0),
)
RULED, ACCEPTED = {"accept", "hunks", "edit", "reject", "retry"}, {"accept", "hunks"}
DROPPED, WHOLE = {"reject", "retry"}, {"accept", "reject", "retry"}


def _alike(by: By, scorer: str) -> list[Any]:
    """What rounds are sorted by before they are counted: few kinds, however many rounds there are."""
    columns = (
        BY[by],
        R.round,
        case((R.major > 0, "major"), (R.minor > 0, "minor"), (R.unstated > 0, "unstated"), else_="none"),
        # What an import says was gone on with was ruled on by nobody.
        case(
            (R.by.in_(("", THE_RUN)), 0),
            (and_(R.by == POLICY, F.preset == IMPORTED), 0),
            (R.by == POLICY, 1),
            else_=2,
        ),
        R.decision,
        R.policy,
        R.flags,
        R.returned,
        R.unchanged,
        and_(F.scorer == scorer, R.change.is_not(None)),
        _verified("before") >= FULL,
        _verified("after") >= FULL,
        R.attempts > 0,
    )
    return [column.label(name) for column, name in zip(columns, _ALIKE_NAMES, strict=True)]


def _verified(which: str) -> ColumnElement[float]:
    """The verifier's value before or after, or the gate's where that is a verifier."""
    named, gate = getattr(R, f"verified_{which}"), getattr(R, which)
    return case((F.verifier != "", named), (F.scorer.in_(VERIFIERS), gate))


def _summed(rows: Iterable[Any]) -> list[RoundCell]:
    """The kinds of rounds summed up by group, round and worst kind of point."""
    found: dict[tuple[str, int, Points], Counter[str]] = {}
    for group, number, points, *kind, n, total, squares in rows:
        counts = found.setdefault((group, number, points), Counter())
        if kind[-1]:
            counts.update(dict.fromkeys(_belongs(*kind[:-1]), n))
            counts.update(_changes(kind[1], kind[6], n, total, squares))
    return [RoundCell(*key, **dict[str, Any](counts)) for key, counts in found.items()]


def _belongs(
    by: int, decision: str, policy: bool | None, flags: str, returned: bool, unchanged: bool, _: bool,
    before: bool | None, after: bool | None,
) -> Iterator[str]:  # fmt: skip
    """The counts of a RoundCell that rounds of this kind belong to."""
    yield "tried"
    who = {1: "policy", 2: "person"}.get(by)
    if who and decision in RULED:
        yield f"{who}_ruled"
        yield from [f"{who}_accepted"] * (decision in ACCEPTED)
    if who == "person" and decision in WHOLE and policy is not None:
        yield "would_accept" if policy else "would_reject"
        yield from ["not_accepted"] * (policy and decision in DROPPED)
        yield from ["not_rejected"] * (not policy and decision == "accept")
    if before is not None and after is not None:
        yield "right" if before else "wrong"
        yield from [("wronged" if before else "righted")] * (before != after)
    named = {"returned": returned, "unchanged": unchanged, **_flagged(flags.split(","))}
    yield from (name for name, holds in named.items() if holds)


def _flagged(flags: Sequence[str]) -> dict[str, bool]:
    return {
        "remarks": "meta-text" in flags,
        "refusals": "refusal" in flags,
        "broken": "empty" in flags or "cut off" in flags,
    }


def _changes(decision: str, known: bool, n: int, total: float, squares: float) -> dict[str, float]:
    """The sums of changes; what was not accepted changed nothing."""
    if not known:
        return {}
    sums = {"gain_n": n, "gain_sum": total, "gain_squares": squares}
    if decision == "accept":
        return {**sums, "kept_n": n, "kept_sum": total, "kept_squares": squares}
    return {**sums, "kept_n": n} if decision in DROPPED else sums
