"""One transaction on one study, the owner's part (core.studies.desks) as SQL. Decides nothing."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from sqlalchemy import delete, insert, select, update

from core.studies.allocation import Slot
from core.studies.leaks import Leak, LeakDecision
from core.studies.material import Entry, Measures
from core.studies.protocol import StudyProtocol, canonical
from core.studies.records import (
    Ballot,
    Contents,
    Event,
    KeptVote,
    Mark,
    NewPairing,
    Rater,
    Status,
    Unblinding,
)
from storage import codec, study_rows
from storage.study_desk import RaterSqlDesk
from storage.study_rows import AnyRow
from storage.study_tables import (
    AssignmentRow,
    EventRow,
    ItemRow,
    LeakRow,
    LinkRow,
    MarkRow,
    OutputRow,
    PairingRow,
    RaterRow,
    StudyRow,
    SystemRow,
    UnblindingRow,
    VoteRow,
)

T = TypeVar("T")


class SqlDesk(RaterSqlDesk):
    """All of a transaction: the owner's part on top of the raters'."""

    def set_status(self, status: Status) -> None:
        self._set_study(status=status)
        self.study = replace(self.study, status=status)

    def set_protocol(self, protocol: StudyProtocol, sha256: str) -> None:
        self._set_study(protocol=canonical(protocol), protocol_sha256=sha256)
        self.study = replace(self.study, protocol=protocol, sha256=sha256)

    def set_elsewhere(self) -> None:
        self._set_study(elsewhere=True)
        self.study = replace(self.study, elsewhere=True)

    def _set_study(self, **values: object) -> None:
        self.connection.execute(update(StudyRow).where(StudyRow.id == self.study.id).values(**values))

    # -- what is compared --------------------------------------------------------------------

    def contents(self) -> Contents:
        items = select(ItemRow.id).where(ItemRow.study_id == self.study.id)
        return Contents(
            systems=self._all(SystemRow, study_rows.system_of),
            items=self._all(ItemRow, study_rows.item_of),
            outputs=self._all(OutputRow, study_rows.output_of, OutputRow.item_id.in_(items)),
            pairings=self._all(PairingRow, study_rows.pairing_of),
            leaks=self._all(LeakRow, study_rows.leak_of),
        )

    def _all(self, table: Any, value: Callable[[AnyRow], T], which: Any = None) -> tuple[T, ...]:
        """Every row of the study in this table, in the order in which they were added."""
        wanted = table.study_id == self.study.id if which is None else which
        query = select(table.__table__).where(wanted).order_by(table.id)
        return tuple(value(row) for row in self.connection.execute(query))

    def add_entries(self, entries: Sequence[tuple[Entry, Mapping[str, Measures]]]) -> None:
        systems = self._systems({name for entry, _ in entries for name, _ in entry.texts})
        keys = {item.key: item.id for item in self._all(ItemRow, study_rows.item_of)}
        self._insert(ItemRow, [self._item(entry) for entry, _ in entries if entry.key not in keys])
        keys = {item.key: item.id for item in self._all(ItemRow, study_rows.item_of)}
        items = OutputRow.item_id.in_(select(ItemRow.id).where(ItemRow.study_id == self.study.id))
        there = {(o.item, o.system) for o in self._all(OutputRow, study_rows.output_of, items)}
        rows = [
            {
                "item_id": keys[entry.key],
                "system_id": systems[name],
                "text": text,
                "measures": codec.dump(measures[name], Measures),
            }
            for entry, measures in entries
            for name, text in entry.texts
            if (keys[entry.key], systems[name]) not in there
        ]
        self._insert(OutputRow, rows)

    def _systems(self, names: Iterable[str]) -> dict[str, int]:
        """The numbers of the systems; those that are not there yet are made."""
        there = {system.name for system in self._all(SystemRow, study_rows.system_of)}
        new = [{"secret_name": name, "study_id": self.study.id} for name in sorted(set(names) - there)]
        self._insert(SystemRow, new)
        return {system.name: system.id for system in self._all(SystemRow, study_rows.system_of)}

    def _item(self, entry: Entry) -> dict[str, object]:
        names = ("key", "prompt", "stratum", "kind", "expected", "source")
        return {"study_id": self.study.id, **{name: getattr(entry, name) for name in names}}

    def _insert(self, table: Any, rows: Sequence[Mapping[str, object]]) -> None:
        if rows:
            self.connection.execute(insert(table), rows)

    def set_masks(self, masks: Mapping[int, str]) -> None:
        for system, label in masks.items():
            query = update(SystemRow).where(SystemRow.id == system)
            self.connection.execute(query.values(mask_label=label))

    def set_text(self, output: int, text: str, original: str, measures: Measures) -> None:
        values = {"text": text, "original": original, "measures": codec.dump(measures, Measures)}
        self.connection.execute(update(OutputRow).where(OutputRow.id == output).values(values))

    def set_prompt(self, item: int, prompt: str, original: str) -> None:
        query = update(ItemRow).where(ItemRow.id == item)
        self.connection.execute(query.values(prompt=prompt, original=original))

    def drop_item(self, item: int) -> None:
        self.connection.execute(update(ItemRow).where(ItemRow.id == item).values(dropped=True))

    def set_leaks(self, leaks: Sequence[Leak]) -> None:
        kept = [leak.id for leak in leaks if leak.id]
        own = (LeakRow.study_id == self.study.id, LeakRow.id.not_in(kept))
        self.connection.execute(delete(LeakRow).where(*own))
        names = ("place", "item", "alias", "context", "times", "decision", "by")
        rows = [
            {"study_id": self.study.id, "part": leak.where, **{n: getattr(leak, n) for n in names}}
            for leak in leaks
            if not leak.id
        ]
        self._insert(LeakRow, rows)

    def decide_leak(self, leak: int, decision: LeakDecision, by: str) -> None:
        query = update(LeakRow).where(LeakRow.id == leak)
        self.connection.execute(query.values(decision=decision, by=by))

    def add_pairings(self, pairings: Sequence[NewPairing]) -> None:
        rows = [
            {
                "study_id": self.study.id,
                "item_id": p.item,
                "output_x": p.output_x,
                "output_y": p.output_y,
                "identical": p.identical,
                "kind": p.kind,
                "prompt": p.prompt,
                "pair": p.pair,
            }
            for p in pairings
        ]
        self._insert(PairingRow, rows)

    # -- raters and what they answered ---------------------------------------------------------

    def drop_open_links(self) -> None:
        own = (LinkRow.study_id == self.study.id, LinkRow.rater_id.is_(None))
        self.connection.execute(delete(LinkRow).where(*own))

    def raters(self) -> tuple[Rater, ...]:
        return self._all(RaterRow, study_rows.rater_of)

    def showings(self) -> tuple[Slot, ...]:
        asked = (PairingRow.study_id == self.study.id, PairingRow.identical.is_(False))
        query = select(*study_rows.SLOT).where(*asked)
        return tuple(
            study_rows.slot_of(row) for row in self.connection.execute(query.order_by(PairingRow.id))
        )

    def votes(self) -> tuple[KeptVote, ...]:
        last = (VoteRow.assignment_id == AssignmentRow.id) & (VoteRow.version == AssignmentRow.version)
        query = (
            select(AssignmentRow.__table__, *(c for c in VoteRow.__table__.c if c.name not in _BOTH))
            .join(VoteRow, last)
            .where(AssignmentRow.study_id == self.study.id, VoteRow.choice != "undone")
            .order_by(AssignmentRow.id)
        )
        return tuple(map(_vote_of, self.connection.execute(query)))

    def import_votes(self, votes: Sequence[KeptVote]) -> None:
        if not votes:
            return
        tokens = [secrets.token_urlsafe(16) for _ in votes]
        self._insert(AssignmentRow, [self._given(v, t) for v, t in zip(votes, tokens, strict=True)])
        own = AssignmentRow.study_id == self.study.id
        query = select(AssignmentRow.token, AssignmentRow.id).where(own)
        numbers = {token: number for token, number in self.connection.execute(query)}
        rows = [_ballot(numbers[token], vote) for vote, token in zip(votes, tokens, strict=True)]
        self._insert(VoteRow, rows)

    def _given(self, vote: KeptVote, token: str) -> dict[str, object]:
        return {
            "study_id": self.study.id,
            "token": token,
            "rater_id": vote.rater,
            "pairing_id": vote.pairing,
            "x_left": vote.x_left,
            "seq": vote.seq,
            "state": "skipped" if vote.ballot.choice == "skip" else "voted",
            "retest": vote.retest,
            "shown_at": vote.shown_at,
            "expires_at": vote.shown_at,
            "version": vote.version,
            "choice": vote.ballot.choice,
        }

    # -- the record ------------------------------------------------------------------------------

    def marks(self) -> tuple[Mark, ...]:
        return self._all(MarkRow, study_rows.mark_of)

    def add_mark(self, target: str, place: int, why: str, by: str) -> int:
        row = {"study_id": self.study.id, "target": target, "place": place, "why": why, "by": by}
        added = self.connection.execute(insert(MarkRow), {**row, "at": self.now})
        return study_rows.new_id(added)

    def lift_mark(self, mark: int) -> None:
        own = (MarkRow.study_id == self.study.id, MarkRow.id == mark, MarkRow.lifted_at.is_(None))
        self.connection.execute(update(MarkRow).where(*own).values(lifted_at=self.now))

    def set_unblinding(self, unblinding: Unblinding) -> None:
        row = {"study_id": self.study.id, "at": unblinding.at, "actor": unblinding.actor}
        more = {"reason": unblinding.reason, "votes_sha256": unblinding.votes_sha256}
        self.connection.execute(insert(UnblindingRow), {**row, **more})

    def unblinding(self) -> Unblinding | None:
        query = select(UnblindingRow.__table__).where(UnblindingRow.study_id == self.study.id)
        row = self.connection.execute(query).first()
        return study_rows.unblinding_of(row) if row else None

    def events(self) -> tuple[Event, ...]:
        return self._all(EventRow, study_rows.event_of)


_BOTH = ("assignment_id", "version", "choice")
"""Columns of a vote that its assignment has too, with the same values for the last vote."""


def _vote_of(row: AnyRow) -> KeptVote:
    criteria = tuple((name, choice) for name, choice in json.loads(row.criteria))
    ballot = Ballot(row.client_uuid, row.choice, row.strength, criteria, row.reason, row.active_ms)
    place = (row.id, row.rater_id, row.pairing_id, row.x_left, row.seq, row.retest, row.version)
    return KeptVote(*place, ballot, row.shown_at, row.submitted_at)


def _ballot(assignment: int, vote: KeptVote) -> dict[str, object]:
    ballot = vote.ballot
    return {
        "assignment_id": assignment,
        "version": vote.version,
        "client_uuid": ballot.client_uuid,
        "choice": ballot.choice,
        "strength": ballot.strength,
        "criteria": json.dumps(ballot.criteria),
        "reason": ballot.reason,
        "active_ms": ballot.active_ms,
        "submitted_at": vote.submitted_at,
    }
