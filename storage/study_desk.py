"""One transaction on one study, the part that both sides and the raters use (core.studies.desks) as SQL.

Decides nothing. Statements name columns and give plain rows, since a vote is a matter of milliseconds.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Select, bindparam, func, insert, select, update
from sqlalchemy.orm import aliased

from core.studies.allocation import Given, Shown, Slot
from core.studies.records import (
    Answered,
    Assignment,
    Ballot,
    Closing,
    Rater,
    State,
    Study,
    Texts,
)
from storage import codec
from storage.study_rows import ASSIGNMENT, SLOT, assignment_of, new_id, rater_of, slot_of
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

WINDOW = 100
"""How many of the pairings shown least are looked at for the next; more would only take longer."""


# Made once: what takes the time of these statements is to put them together.
_ASSIGNMENTS = select(*ASSIGNMENT).join(PairingRow, PairingRow.id == AssignmentRow.pairing_id)
_OF_STUDY = AssignmentRow.study_id == bindparam("study")
_ALL = _ASSIGNMENTS.where(_OF_STUDY).order_by(AssignmentRow.id)
_OVERDUE = _ALL.where(AssignmentRow.state == "reserved", AssignmentRow.expires_at < bindparam("now"))
_BY_TOKEN = _ASSIGNMENTS.where(_OF_STUDY, AssignmentRow.token == bindparam("token"))
_HISTORY = (
    select(*ASSIGNMENT, *SLOT)
    .join(PairingRow, PairingRow.id == AssignmentRow.pairing_id)
    .where(AssignmentRow.rater_id == bindparam("rater"))
    .order_by(AssignmentRow.seq)
)
_GIVEN = select(AssignmentRow.pairing_id).where(AssignmentRow.rater_id == bindparam("rater"))
_FRESH = (
    PairingRow.study_id == bindparam("study"),
    PairingRow.identical.is_(False),
    PairingRow.id.not_in(_GIVEN),
)
_OPEN = (PairingRow.kind == "item", PairingRow.live < bindparam("target"))
_LEAST = select(*SLOT).where(*_FRESH, *_OPEN).order_by(PairingRow.live, PairingRow.id).limit(WINDOW)
_CHECKS = select(*SLOT).where(*_FRESH, PairingRow.kind != "item")
_LEFT = select(func.count(PairingRow.id)).where(*_FRESH, *_OPEN)
_RATER = select(RaterRow.__table__).where(RaterRow.id == bindparam("rater"))
_CLIENT = select(VoteRow.assignment_id, VoteRow.choice).where(VoteRow.client_uuid == bindparam("client"))
_X, _Y = aliased(OutputRow), aliased(OutputRow)
_TEXTS = (
    select(ItemRow.prompt, _X.text, _Y.text, _X.system_id, _Y.system_id)
    .select_from(PairingRow)
    .join(ItemRow, ItemRow.id == PairingRow.item_id)
    .join(_X, _X.id == PairingRow.output_x)
    .join(_Y, _Y.id == PairingRow.output_y)
    .where(PairingRow.id == bindparam("pairing"))
)
_THIS = AssignmentRow.id == bindparam("this")
_STATE = update(AssignmentRow).where(_THIS).values(state=bindparam("to"), expires_at=bindparam("until"))
_ANSWERED = (
    update(AssignmentRow)
    .where(_THIS)
    .values(state=bindparam("to"), version=bindparam("number"), choice=bindparam("chosen"))
)
_SHOWINGS = update(PairingRow).where(PairingRow.id == bindparam("this"))
_LIVE = PairingRow.live + bindparam("by")
_COUNT = {
    True: _SHOWINGS.values(xy=PairingRow.xy + bindparam("by"), live=_LIVE),
    False: _SHOWINGS.values(yx=PairingRow.yx + bindparam("by"), live=_LIVE),
}


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
        self.connection.execute(_COUNT[x_left], {"this": pairing, "by": by})

    def _count(self, query: Select[Any]) -> int:
        return int(self.connection.scalar(query) or 0)


class RaterSqlDesk(CommonSqlDesk):
    """The raters' part of a transaction."""

    def __init__(self, connection: Connection, study: Study, now: datetime) -> None:
        super().__init__(connection, study, now)
        self._raters: dict[int, Rater] = {}

    def rater(self, rater: int) -> Rater:
        if rater not in self._raters:
            self._raters[rater] = rater_of(self.connection.execute(_RATER, {"rater": rater}).one())
        return self._raters[rater]

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
        self._raters.pop(rater, None)

    def overdue(self) -> tuple[Assignment, ...]:
        return self._assignments(_OVERDUE, now=self.now)

    def history(self, rater: int) -> tuple[tuple[Assignment, Shown], ...]:
        found = []
        for row in self.connection.execute(_HISTORY, {"rater": rater}):
            one = assignment_of(row)
            done = one.state in ("voted", "skipped")
            found.append((one, Shown(slot_of(row[len(ASSIGNMENT) :]), one.x_left, one.retest, done)))
        return tuple(found)

    def slots(self, rater: int) -> tuple[Slot, ...]:
        which = {"study": self.study.id, "rater": rater}
        least = self.connection.execute(_LEAST, {**which, "target": self.study.protocol.target})
        checks = self.connection.execute(_CHECKS, which)
        return tuple(slot_of(row) for row in (*least, *checks))

    def slot(self, pairing: int) -> Slot:
        return slot_of(self.connection.execute(select(*SLOT).where(PairingRow.id == pairing)).one())

    def left_for(self, rater: int) -> int:
        which = {"study": self.study.id, "rater": rater, "target": self.study.protocol.target}
        return int(self.connection.scalar(_LEFT, which) or 0)

    def live(self) -> int:
        own = (PairingRow.study_id == self.study.id, PairingRow.kind == "item")
        return self._count(select(func.sum(PairingRow.live)).where(*own))

    def assign(self, rater: int, given: Given, token: str, seq: int, expires_at: datetime) -> Assignment:
        row = {"study_id": self.study.id, "token": token, "rater_id": rater, "pairing_id": given.pairing}
        times = {"shown_at": self.now, "expires_at": expires_at}
        more = {"x_left": given.x_left, "seq": seq, "state": "reserved", "retest": given.retest}
        added = new_id(self.connection.execute(insert(AssignmentRow), {**row, **more, **times}))
        place = (token, rater, given.pairing, given.kind, given.x_left, seq)
        return Assignment(added, *place, "reserved", given.retest, expires_at, self.now, 0, None)

    def assignment(self, token: str) -> Assignment | None:
        return next(iter(self._assignments(_BY_TOKEN, token=token)), None)

    def _assignments(self, query: Select[Any], **which: object) -> tuple[Assignment, ...]:
        rows = self.connection.execute(query, {"study": self.study.id, **which})
        return tuple(assignment_of(row) for row in rows)

    def assignments(self) -> tuple[Assignment, ...]:
        """All of the study, for its owner."""
        return self._assignments(_ALL)

    def vote_of_client(self, client_uuid: str) -> tuple[int, Answered] | None:
        row: Any = self.connection.execute(_CLIENT, {"client": client_uuid}).first()
        return (row[0], row[1]) if row else None

    def add_vote(self, assignment: int, version: int, ballot: Ballot, state: State) -> None:
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
        after = {"this": assignment, "to": state, "number": version, "chosen": ballot.choice}
        self.connection.execute(_ANSWERED, after)

    def set_state(self, assignment: int, state: State, expires_at: datetime) -> None:
        self.connection.execute(_STATE, {"this": assignment, "to": state, "until": expires_at})

    def system(self, name: str) -> int | None:
        own = SystemRow.study_id == self.study.id
        return self.connection.scalar(select(SystemRow.id).where(own, SystemRow.secret_name == name))

    def texts(self, assignment: Assignment) -> Texts:
        prompt, x, y, of_x, of_y = self.connection.execute(_TEXTS, {"pairing": assignment.pairing}).one()
        return Texts(prompt, x, y, of_x, of_y) if assignment.x_left else Texts(prompt, y, x, of_y, of_x)
