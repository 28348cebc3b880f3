"""How a study goes: progress, pace, balance, quality, raters. Never who wins: no system stands in it.

Counts by side and by rater do not tell systems apart, since sides were drawn; what does (votes by system,
gold answers by system) is left to the report.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from core.studies.allocation import Slot
from core.studies.desks import OwnerDesk, StudyStore
from core.studies.exclusions import Check, checks, right_answers, same_again
from core.studies.figures import Undefined
from core.studies.raters import RaterRow, rater_rows
from core.studies.records import Assignment, Rater, Status
from core.studies.results import Results, read, votes_of
from core.studies.rows import Row
from core.studies.votes import Vote, tabulate

HOUR, DAY = timedelta(hours=1), timedelta(days=1)


@dataclass(frozen=True)
class Pace:
    """Votes of the last hour and day, and when the target is reached at the pace of the day."""

    last_hour: int
    last_day: int
    ready_at: datetime | Undefined


@dataclass(frozen=True)
class Coverage:
    """Pairings by how many votes they have; `full` reached their target; `identical` are not asked."""

    pairings: int
    full: int
    least: int
    most: int
    identical: int
    dropped_items: int


@dataclass(frozen=True)
class Quality:
    """Shares over all raters, or why there is none; `checks` are the protocol's rules, rater by rater."""

    gold_right: float | Undefined
    attention_right: float | Undefined
    same_again: float | Undefined
    skipped: int
    withdrawn: int
    excluded: int
    refused: int
    checks: tuple[Check, ...]


@dataclass(frozen=True)
class RaterProgress:
    """One rater; `answers` None before the first; `crowd` are a platform's parameters."""

    code: str
    name: str
    crowd: tuple[tuple[str, str], ...]
    state: str
    last_seen: datetime | None
    answers: RaterRow | None


@dataclass(frozen=True)
class Monitor:
    """A study under way. `left` of `decided` votes went left; `side_gap` is the largest difference between
    the two orders of a pairing; `names_open` names wait in the leak queue."""

    study: str
    name: str
    status: Status
    protocol_sha256: str
    votes: int
    wanted: int
    reserved: int
    pace: Pace
    coverage: Coverage
    left: int
    decided: int
    side_gap: int
    quality: Quality
    raters: tuple[RaterProgress, ...]
    names_open: int


def monitor(store: StudyStore, study_id: str) -> Monitor:
    """How the study goes now. Raises UnknownStudy."""
    return store.look(study_id, _monitor)


def _monitor(desk: OwnerDesk) -> Monitor:
    found, slots, given = read(desk), desk.showings(), desk.assignments()
    own = [slot for slot in slots if slot.kind == "item"]
    main = [row for row in found.rows if row.main and row.vote.ballot.choice != "skip"]
    target = desk.study.protocol.target
    wanted = len(main) if desk.study.elsewhere else target * len(own)
    return Monitor(
        study=desk.study.id,
        name=desk.study.name,
        status=desk.study.status,
        protocol_sha256=desk.study.sha256,
        votes=len(main),
        wanted=wanted,
        reserved=sum(one.state == "reserved" for one in given),
        pace=_pace(main, wanted, desk.now),
        coverage=_coverage(found, own, main, target),
        left=sum(row.vote.ballot.choice == "left" for row in main),
        decided=sum(row.winner is not None for row in main),
        side_gap=max((abs(slot.xy - slot.yx) for slot in own), default=0),
        quality=_quality(desk, found, given),
        raters=_raters(found, given),
        names_open=sum(leak.decision == "open" for leak in found.contents.leaks),
    )


def _pace(main: Sequence[Row], wanted: int, now: datetime) -> Pace:
    ages = [now - row.vote.submitted_at for row in main]
    hour, day = sum(age <= HOUR for age in ages), sum(age <= DAY for age in ages)
    missing = max(wanted - len(main), 0)
    since = min(DAY, max(ages, default=DAY))
    if not missing or not day or since < timedelta(minutes=1):
        return Pace(hour, day, Undefined("no vote is missing" if not missing else "too few votes so far"))
    return Pace(hour, day, now + since / day * missing)


def _coverage(found: Results, own: Sequence[Slot], main: Sequence[Row], target: int) -> Coverage:
    votes = Counter(row.vote.pairing for row in main)
    often = [votes[slot.pairing] for slot in own]
    return Coverage(
        pairings=len(own),
        full=sum(n >= target for n in often),
        least=min(often, default=0),
        most=max(often, default=0),
        identical=sum(pairing.identical for pairing in found.contents.pairings),
        dropped_items=sum(item.dropped for item in found.contents.items),
    )


def _quality(desk: OwnerDesk, found: Results, given: Sequence[Assignment]) -> Quality:
    return Quality(
        gold_right=_share(right_answers(found.rows, "gold"), "no gold item was answered"),
        attention_right=_share(right_answers(found.rows, "attention"), "no attention item was answered"),
        same_again=_share(same_again(found.rows), "no pair was answered again"),
        skipped=sum(one.state == "skipped" for one in given),
        withdrawn=sum(one.choice == "undone" for one in given),
        excluded=len(found.excluded),
        refused=desk.count_events("refused"),
        checks=checks(found.rows, desk.study.protocol),
    )


def _share(found: Sequence[bool], otherwise: str) -> float | Undefined:
    return sum(found) / len(found) if found else Undefined(otherwise)


def _raters(found: Results, given: Sequence[Assignment]) -> tuple[RaterProgress, ...]:
    answers = {row.rater: row for row in rater_rows(tabulate(_unnamed(found)).main())}
    seen: dict[int, datetime] = {}
    for one in given:
        seen[one.rater] = max(one.shown_at, seen.get(one.rater, one.shown_at))
    return tuple(
        RaterProgress(
            rater.code,
            rater.name,
            rater.crowd,
            _state(rater, rater.id in seen),
            seen.get(rater.id),
            answers.get(rater.code),
        )
        for rater in found.raters
    )


def _unnamed(found: Results) -> list[Vote]:
    """The votes with their sides in the place of their systems."""
    return [replace(vote, system_left="left", system_right="right") for vote in votes_of(found)]


def _state(rater: Rater, began: bool) -> str:
    if rater.closing is not None:
        return "closed"
    return "began" if began else "agreed" if rater.consent_at else "invited"
