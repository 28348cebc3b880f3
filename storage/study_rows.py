"""Rows of studies as core's values."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from sqlalchemy import CursorResult, Row

from core.studies.allocation import Slot
from core.studies.leaks import Leak
from core.studies.material import Measures
from core.studies.protocol import StudyProtocol
from core.studies.records import (
    Assignment,
    Closing,
    Event,
    Item,
    Mark,
    Output,
    Pairing,
    Rater,
    Study,
    System,
    Unblinding,
)
from storage import codec
from storage.study_tables import AssignmentRow, PairingRow

AnyRow = Row[Any]

SLOT: tuple[Any, ...] = (
    PairingRow.id,
    PairingRow.prompt,
    PairingRow.pair,
    PairingRow.kind,
    PairingRow.xy,
    PairingRow.yx,
)
ASSIGNMENT: tuple[Any, ...] = (
    AssignmentRow.id,
    AssignmentRow.token,
    AssignmentRow.rater_id,
    AssignmentRow.pairing_id,
    PairingRow.kind,
    AssignmentRow.x_left,
    AssignmentRow.seq,
    AssignmentRow.state,
    AssignmentRow.retest,
    AssignmentRow.expires_at,
    AssignmentRow.shown_at,
    AssignmentRow.version,
    AssignmentRow.choice,
)


def slot_of(row: Sequence[Any]) -> Slot:
    """A pairing for allocation out of the columns of SLOT."""
    return Slot(*row)


def assignment_of(row: Sequence[Any]) -> Assignment:
    """An assignment out of a row that begins with the columns of ASSIGNMENT."""
    return Assignment(*row[: len(ASSIGNMENT)])


def new_id(added: CursorResult[Any]) -> int:
    """The number that a new row was given."""
    key: Any = added.inserted_primary_key
    return int(key[0])


def study_of(row: AnyRow) -> Study:
    """A study out of its row."""
    frozen = (row.protocol_sha256, row.elsewhere)
    return Study(row.id, row.name, row.created_at, row.status, _protocol(row.protocol), *frozen)


@lru_cache(maxsize=64)
def _protocol(text: str) -> StudyProtocol:
    """A protocol out of its JSON; the same few are read with every vote."""
    protocol: StudyProtocol = codec.load(text, StudyProtocol)
    return protocol


def system_of(row: AnyRow) -> System:
    """A system out of its row."""
    return System(row.id, row.secret_name, row.mask_label)


def item_of(row: AnyRow) -> Item:
    """An item out of its row."""
    given = (row.stratum, row.kind, row.expected, row.source, row.original, row.dropped)
    return Item(row.id, row.key, row.prompt, *given)


def output_of(row: AnyRow) -> Output:
    """A text out of its row."""
    measures = codec.load(row.measures, Measures)
    return Output(row.id, row.item_id, row.system_id, row.text, measures, row.original)


def pairing_of(row: AnyRow) -> Pairing:
    """A pairing out of its row."""
    return Pairing(row.id, row.item_id, row.output_x, row.output_y, row.identical)


def leak_of(row: AnyRow) -> Leak:
    """A found name out of its row."""
    found = (row.alias, row.context, row.times, row.decision, row.by)
    return Leak(row.id, row.part, row.place, row.item, *found)


def rater_of(row: AnyRow) -> Rater:
    """A rater out of its row."""
    closing = codec.load(row.closing, Closing) if row.closing else None
    crowd = tuple(json.loads(row.crowd).items())
    return Rater(row.id, row.study_id, row.code, row.name, crowd, row.consent_at, closing)


def mark_of(row: AnyRow) -> Mark:
    """An exclusion out of its row."""
    return Mark(row.id, row.target, row.place, row.why, row.by, row.at, row.lifted_at)


def unblinding_of(row: AnyRow) -> Unblinding:
    """An unblinding out of its row."""
    return Unblinding(row.at, row.actor, row.reason, row.votes_sha256)


def event_of(row: AnyRow) -> Event:
    """An event out of its row."""
    return Event(row.at, row.actor, row.kind, json.loads(row.detail), row.study_id)
