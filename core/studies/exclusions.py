"""Which votes the rules said beforehand, and the owner later, leave out. Marks only: nothing is deleted.

A check that could not be made is unknown and leaves nothing out.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from core.studies.material import EXPECTED_CHOICES
from core.studies.protocol import Exclusion, ExclusionRule, StudyProtocol
from core.studies.records import Mark
from core.studies.rows import Row

Verdict = Literal["pass", "fail", "unknown"]
ENOUGH_SIDED = 10
BY_OWNER, LEAK_KEPT = "owner", "a name was kept"


@dataclass(frozen=True)
class Check:
    """A rule held against one rater; `value` is what the limit is compared with, None where unknown."""

    rater: str
    rule: ExclusionRule
    verdict: Verdict
    value: float | None
    limit: float


def checks(rows: Sequence[Row], protocol: StudyProtocol) -> tuple[Check, ...]:
    """Every rule about raters held against every rater with an answer."""
    by_rater: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        by_rater[row.rater.code].append(row)
    rules = [rule for rule in protocol.exclusions if rule.rule != "too_fast"]
    return tuple(_check(code, by_rater[code], rule) for code in sorted(by_rater) for rule in rules)


def _check(code: str, rows: Sequence[Row], exclusion: Exclusion) -> Check:
    rule, limit = exclusion.rule, exclusion.limit
    value = _value(rows, rule)
    if value is None:
        return Check(code, rule, "unknown", None, limit)
    fits = value <= limit if rule in ("attention", "one_sided") else value >= limit
    return Check(code, rule, "pass" if fits else "fail", value, limit)


def _value(rows: Sequence[Row], rule: ExclusionRule) -> float | None:
    if rule == "gold":
        right = right_answers(rows, "gold")
        return sum(right) / len(right) if right else None
    if rule == "attention":
        right = right_answers(rows, "attention")
        return float(right.count(False)) if right else None
    if rule == "retest":
        same = same_again(rows)
        return sum(same) / len(same) if same else None
    if rule == "one_sided":
        sides = [row.vote.ballot.choice for row in rows if row.main and row.winner]
        most = max(sides.count("left"), sides.count("right"))
        return most / len(sides) if len(sides) >= ENOUGH_SIDED else None
    return float(sum(row.main and row.vote.ballot.choice != "skip" for row in rows))


def right_answers(rows: Iterable[Row], kind: Literal["gold", "attention"]) -> list[bool]:
    """Of every answered item of that kind, whether the answer was the expected one."""
    answered = [row for row in rows if row.item.kind == kind and row.vote.ballot.choice != "skip"]
    return [_as_expected(row) for row in answered]


def _as_expected(row: Row) -> bool:
    if row.item.expected in (row.system_left.name, row.system_right.name):
        return row.winner is not None and row.winner.name == row.item.expected
    return row.item.expected in EXPECTED_CHOICES and row.vote.ballot.choice == row.item.expected


def same_again(rows: Sequence[Row]) -> list[bool]:
    """Of every retest, whether the same system was chosen, or the same answer besides a side was given."""
    own = [row for row in rows if row.item.kind == "item" and row.vote.ballot.choice != "skip"]
    first = {(row.rater.id, row.vote.pairing): row for row in own if row.vote.retest == 0}
    pairs = [(first.get((row.rater.id, row.vote.pairing)), row) for row in own if row.vote.retest]
    return [_answer(before) == _answer(again) for before, again in pairs if before]


def _answer(row: Row) -> object:
    return row.winner.id if row.winner else row.vote.ballot.choice


def exclusions(
    rows: Sequence[Row], protocol: StudyProtocol, marks: Iterable[Mark]
) -> Mapping[int, tuple[str, ...]]:
    """By assignment, the rules that leave its vote out; those that nothing leaves out are not in it."""
    failed: dict[str, set[str]] = defaultdict(set)
    for check in checks(rows, protocol):
        if check.verdict == "fail":
            failed[check.rater].add(check.rule)
    fast = max((e.limit for e in protocol.exclusions if e.rule == "too_fast"), default=0.0)
    standing: set[tuple[str, int]] = {(mark.target, mark.place) for mark in marks if mark.lifted_at is None}
    found = {row.vote.assignment: _rules(row, failed[row.rater.code], fast, standing) for row in rows}
    return {assignment: rules for assignment, rules in found.items() if rules}


def _rules(row: Row, failed: set[str], fast: float, standing: set[tuple[str, int]]) -> tuple[str, ...]:
    rules = set(failed)
    time = row.vote.ballot.active_ms
    if time is not None and time < 1000 * fast:
        rules.add("too_fast")
    places = {("rater", row.rater.id), ("item", row.item.id), ("vote", row.vote.assignment)}
    if places & standing:
        rules.add(BY_OWNER)
    if row.leak_kept:
        rules.add(LEAK_KEPT)
    return tuple(sorted(rules))
