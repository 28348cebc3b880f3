"""Kept votes as the statistics read them, and the report of them, from one state of a study.

Before the lock there is no report; before the unblinding the systems are their masks in it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import datetime

from core.studies.desks import OwnerDesk, StudyStore
from core.studies.exclusions import exclusions
from core.studies.guesses import Guess
from core.studies.protocol import BadStudy
from core.studies.records import Contents, KeptVote, Mark, Rater, Study, System, Unblinding
from core.studies.report import Report, Rules, report
from core.studies.rows import Row, rows_of
from core.studies.votes import Vote


@dataclass(frozen=True)
class Results:
    """A study with everything that was answered in it, read at one moment. `excluded`: by assignment, the
    rules that leave its vote out."""

    study: Study
    contents: Contents
    raters: tuple[Rater, ...]
    rows: tuple[Row, ...]
    marks: tuple[Mark, ...]
    excluded: Mapping[int, tuple[str, ...]]
    unblinding: Unblinding | None

    @property
    def masked(self) -> bool:
        """Whether the systems' names are still secret."""
        return self.study.status != "unblinded"

    def label(self, system: System) -> str:
        """How the system is named now: by its mask, or by its name once unblinded."""
        return system.mask if self.masked else system.name

    def item(self, row: Row) -> str:
        """How the item is named now: by a number that says nothing, or by its key."""
        return f"item {row.item.id}" if self.masked else row.item.key


def results(store: StudyStore, study_id: str) -> Results:
    """All answers of a study that is locked. Raises BadStudy before, UnknownStudy."""
    found = store.look(study_id, read)
    if found.study.status not in ("locked", "unblinded"):
        raise BadStudy(
            f"The study is {found.study.status}: votes and report can be had once it is locked. Until then "
            "the monitor says how it goes."
        )
    return found


def read(desk: OwnerDesk) -> Results:
    """The same whatever the status: for the monitor, which tells less than it knows."""
    contents, raters, marks = desk.contents(), desk.raters(), desk.marks()
    rows = tuple(rows_of(contents, desk.votes(), raters))
    excluded = exclusions(rows, desk.study.protocol, marks)
    return Results(desk.study, contents, raters, rows, marks, excluded, desk.unblinding())


def votes_of(found: Results) -> tuple[Vote, ...]:
    """The votes for the statistics; systems by their masks, whether or not the study is unblinded."""
    return tuple(
        Vote(
            rater=row.rater.code,
            item=str(row.item.id),
            system_left=row.system_left.mask,
            system_right=row.system_right.mask,
            choice=row.vote.ballot.choice,  # type: ignore[arg-type]  # a withdrawn vote is no row
            strength=row.vote.ballot.strength,
            stratum=row.item.stratum,
            active_ms=row.vote.ballot.active_ms,
            left_chars=row.left.measures.characters,
            right_chars=row.right.measures.characters,
            retest=row.vote.retest,
            kind=row.item.kind,
            excluded=found.excluded.get(row.vote.assignment, ()),
        )
        for row in found.rows
    )


def report_of(found: Results) -> Report:
    """The study's report, under masked labels until it is unblinded."""
    protocol = found.study.protocol
    systems = {system.mask for system in found.contents.compared}
    names = None if found.masked else {system.mask: system.name for system in found.contents.systems}
    rules = Rules(protocol.preference, protocol.power, protocol.draws, protocol.seed, protocol.both_bad)
    votes = [v for v in votes_of(found) if {v.system_left, v.system_right} <= systems]
    return report(votes, rules, systems=systems, names=names, guesses=guesses(found))


def guesses(found: Results) -> tuple[Guess, ...]:
    """What raters said to the closing question, held against the truth."""
    rows = {row.vote.assignment: row for row in found.rows}
    given = []
    for rater in found.raters:
        row = rows.get(rater.closing.assignment or 0) if rater.closing else None
        if rater.closing is None or row is None:
            continue
        side = {"left": row.system_left.name, "right": row.system_right.name}.get(rater.closing.guess)
        right = side == found.study.protocol.closing_system
        given.append(Guess(rater.code, "unsure" if side is None else "right" if right else "wrong"))
    return tuple(given)


def votes_hash(votes: Iterable[KeptVote]) -> str:
    """SHA-256 over all votes that stand, one a line as JSON, in the order of their assignments."""
    lines = [
        json.dumps(asdict(vote), sort_keys=True, separators=(",", ":"), default=datetime.isoformat)
        for vote in sorted(votes, key=lambda vote: vote.assignment)
    ]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()
