"""One transaction on one study, the part that both sides and the raters use (core.studies.desks) as SQL.

Decides nothing. Statements name columns and give plain rows, since a vote is a matter of milliseconds.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Select, func, insert, select, update

from core.studies.allocation import Given, Shown, Slot
from core.studies.records import (
    Answered,
    Assignment,
    Ballot,
    Closing,
    Output,
    Rater,
    State,
    Study,
)
from storage import codec
from storage.study_rows import ASSIGNMENT, SLOT, assignment_of, new_id, output_of, rater_of, slot_of
from storage.study_tables import (
    AssignmentRow,
    EventRow,
    ItemRow,
    LinkRow,
    OutputRow,
    PairingRow,
    RaterRow,
    SystemRow,
    VoteRow,
)

WINDOW = 400
"""How many of the pairings shown least are looked at for the next; more would only take longer."""


class CommonSqlDesk:
    """What both sides see and write."""

    def __init__(self, connection: Connection, study: Study, now: datetime) -> None:
        self.connection, self.study, self.now = connection, study, now

    def event(self, actor: str, kind: str, detail: Mapping[str, object]) -> None:
        row = {"study_id": self.study.id, "at": self.now, "actor": actor, "kind": kind}
        self.connection.execute(insert(EventRow), {**row, "detail": json.dumps(detail)})

    def count_events(self, kind: str) -> int:
        return self._count(
            select(func.count()).where(EventRow.study_id == self.study.id, EventRow.kind == kind)
        )

    def add_rater(self, code: str, name: str, crowd: Mapping[str, str]) -> int:
        first = next((f"{key}={value}" for key, value in crowd.items()), None)
        row = {"study_id": self.study.id, "code": code, "name": name, "crowd_id": first}
        added = self.connection.execute(insert(RaterRow), {**row, "crowd": json.dumps(crowd)})
        return new_id(added)

    def add_link(self, token_hash: str, rater: int | None) -> None:
        row = {"token_hash": token_hash, "study_id": self.study.id, "rater_id": rater}
        self.connection.execute(insert(LinkRow), row)

    def count_raters(self) -> int:
        return self._count(select(func.count()).where(RaterRow.study_id == self.study.id))

    def count(self, pairing: int, x_left: bool, by: int) -> None:
        column = PairingRow.xy if x_left else PairingRow.yx
        changed = {column: column + by, PairingRow.live: PairingRow.live + by}
        self.connection.execute(update(PairingRow).where(PairingRow.id == pairing).values(changed))

    def _count(self, query: Select[Any]) -> int:
        return int(self.connection.scalar(query) or 0)


class RaterSqlDesk(CommonSqlDesk):
    """The raters' part of a transaction."""

    def rater(self, rater: int) -> Rater:
        row = self.connection.execute(select(RaterRow.__table__).where(RaterRow.id == rater)).one()
        return rater_of(row)

    def rater_by_crowd(self, name: str, value: str) -> Rater | None:
        known = RaterRow.crowd_id == f"{name}={value}"
        query = select(RaterRow.__table__).where(RaterRow.study_id == self.study.id, known)
        row = self.connection.execute(query).first()
        return rater_of(row) if row else None

    def set_consent(self, rater: int) -> None:
        self._set_rater(rater, consent_at=self.now)

    def set_closing(self, rater: int, closing: Closing) -> None:
        self._set_rater(rater, closing=codec.dump(closing, Closing))

    def _set_rater(self, rater: int, **values: object) -> None:
        self.connection.execute(update(RaterRow).where(RaterRow.id == rater).values(**values))

    def overdue(self) -> tuple[Assignment, ...]:
        late = (AssignmentRow.state == "reserved", AssignmentRow.expires_at < self.now)
        return self._assignments(AssignmentRow.study_id == self.study.id, *late)

    def history(self, rater: int) -> tuple[tuple[Assignment, Shown], ...]:
        query = (
            select(*ASSIGNMENT, *SLOT)
            .join(PairingRow, PairingRow.id == AssignmentRow.pairing_id)
            .where(AssignmentRow.rater_id == rater)
            .order_by(AssignmentRow.seq)
        )
        found = []
        for row in self.connection.execute(query):
            one = assignment_of(row)
            done = one.state in ("voted", "skipped")
            found.append((one, Shown(slot_of(row[len(ASSIGNMENT) :]), one.x_left, one.retest, done)))
        return tuple(found)

    def slots(self, rater: int) -> tuple[Slot, ...]:
        fresh = self._fresh(rater)
        own = fresh.where(PairingRow.kind == "item", PairingRow.live < self.study.protocol.target)
        least = own.order_by(PairingRow.live, PairingRow.id).limit(WINDOW)
        other = fresh.where(PairingRow.kind != "item")
        rows = [*self.connection.execute(least), *self.connection.execute(other)]
        return tuple(slot_of(row) for row in rows)

    def _fresh(self, rater: int) -> Select[Any]:
        """Pairings that are asked and that this rater was never given."""
        given = select(AssignmentRow.pairing_id).where(AssignmentRow.rater_id == rater)
        own = PairingRow.study_id == self.study.id
        return select(*SLOT).where(own, PairingRow.identical.is_(False), PairingRow.id.not_in(given))

    def slot(self, pairing: int) -> Slot:
        return slot_of(self.connection.execute(select(*SLOT).where(PairingRow.id == pairing)).one())

    def left_for(self, rater: int) -> int:
        wanted = (PairingRow.kind == "item", PairingRow.live < self.study.protocol.target)
        return self._count(select(func.count()).select_from(self._fresh(rater).where(*wanted).subquery()))

    def live(self) -> int:
        own = (PairingRow.study_id == self.study.id, PairingRow.kind == "item")
        return self._count(select(func.sum(PairingRow.live)).where(*own))

    def assign(self, rater: int, given: Given, token: str, seq: int, expires_at: datetime) -> Assignment:
        row = {"study_id": self.study.id, "token": token, "rater_id": rater, "pairing_id": given.pairing}
        times = {"shown_at": self.now, "expires_at": expires_at}
        more = {"x_left": given.x_left, "seq": seq, "state": "reserved", "retest": given.retest}
        self.connection.execute(insert(AssignmentRow), {**row, **more, **times})
        (assignment,) = self._assignments(AssignmentRow.token == token)
        return assignment

    def assignment(self, token: str) -> Assignment | None:
        own = AssignmentRow.study_id == self.study.id
        return next(iter(self._assignments(own, AssignmentRow.token == token)), None)

    def _assignments(self, *which: Any) -> tuple[Assignment, ...]:
        query = select(*ASSIGNMENT).join(PairingRow, PairingRow.id == AssignmentRow.pairing_id)
        rows = self.connection.execute(query.where(*which).order_by(AssignmentRow.id))
        return tuple(assignment_of(row) for row in rows)

    def assignments(self) -> tuple[Assignment, ...]:
        """All of the study, for its owner."""
        return self._assignments(AssignmentRow.study_id == self.study.id)

    def vote_of_client(self, client_uuid: str) -> tuple[int, Answered] | None:
        query = select(VoteRow.assignment_id, VoteRow.choice).where(VoteRow.client_uuid == client_uuid)
        row: Any = self.connection.execute(query).first()
        return (row[0], row[1]) if row else None

    def add_vote(self, assignment: int, version: int, ballot: Ballot) -> None:
        row = {
            "assignment_id": assignment,
            "version": version,
            "client_uuid": ballot.client_uuid,
            "choice": ballot.choice,
            "strength": ballot.strength,
            "criteria": json.dumps(ballot.criteria),
            "reason": ballot.reason,
            "active_ms": ballot.active_ms,
            "submitted_at": self.now,
        }
        self.connection.execute(insert(VoteRow), row)
        self._set_assignment(assignment, version=version, choice=ballot.choice)

    def set_state(self, assignment: int, state: State, expires_at: datetime | None = None) -> None:
        values = {"state": state, **({"expires_at": expires_at} if expires_at else {})}
        self._set_assignment(assignment, **values)

    def _set_assignment(self, assignment: int, **values: object) -> None:
        query = update(AssignmentRow).where(AssignmentRow.id == assignment)
        self.connection.execute(query.values(**values))

    def system(self, name: str) -> int | None:
        own = SystemRow.study_id == self.study.id
        return self.connection.scalar(select(SystemRow.id).where(own, SystemRow.secret_name == name))

    def texts(self, assignment: Assignment) -> tuple[str, Output, Output]:
        """The prompt and the texts, the left one first."""
        pairing = self.connection.execute(
            select(PairingRow.output_x, PairingRow.output_y, ItemRow.prompt)
            .join(ItemRow, ItemRow.id == PairingRow.item_id)
            .where(PairingRow.id == assignment.pairing)
        ).one()
        query = select(OutputRow.__table__).where(OutputRow.id.in_(pairing[:2]))
        texts = {row.id: output_of(row) for row in self.connection.execute(query)}
        x, y = (texts[output] for output in pairing[:2])
        return (pairing.prompt, x, y) if assignment.x_left else (pairing.prompt, y, x)
