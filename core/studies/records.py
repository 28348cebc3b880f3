"""A study as it is kept: frozen values. What keeping them takes is core.studies.desks'. Knows no SQL."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from core.studies.leaks import Leak
from core.studies.material import Measures
from core.studies.protocol import StudyProtocol
from core.studies.votes import Choice, Kind

Status = Literal["draft", "open", "paused", "locked", "unblinded"]
State = Literal["reserved", "voted", "skipped", "expired"]
Answered = Literal["left", "right", "tie", "both_bad", "skip", "undone"]


class UnknownStudy(Exception):
    """There is no study of this id."""

    def __init__(self, study_id: str) -> None:
        super().__init__(f"There is no study {study_id!r}; `study list` shows those that there are.")


@dataclass(frozen=True)
class Study:
    """A study without its contents; `sha256` is the frozen protocol's, "" before the opening.

    `elsewhere`: its votes were collected by someone else and imported."""

    id: str
    name: str
    created_at: datetime
    status: Status
    protocol: StudyProtocol
    sha256: str = ""
    elsewhere: bool = False


@dataclass(frozen=True)
class System:
    """An arm: its secret name and the label that stands for it until the unblinding ("" in a draft)."""

    id: int
    name: str
    mask: str


@dataclass(frozen=True)
class Output:
    """One system's text for an item; `original` where something was taken out of it."""

    id: int
    item: int
    system: int
    text: str
    measures: Measures
    original: str | None = None


@dataclass(frozen=True)
class Item:
    """A prompt as it is kept, `original` where something was taken out; `dropped` items are not asked."""

    id: int
    key: str
    prompt: str
    stratum: str
    kind: Kind
    expected: str
    source: str
    original: str | None = None
    dropped: bool = False


@dataclass(frozen=True)
class Pairing:
    """Two texts of one item, x's system before y's; `identical` ones are not asked."""

    id: int
    item: int
    output_x: int
    output_y: int
    identical: bool


@dataclass(frozen=True)
class NewPairing:
    """A pairing to be kept. `prompt` and `pair`: codes of the same prompt and of the same two systems."""

    item: int
    output_x: int
    output_y: int
    identical: bool
    kind: Kind
    prompt: int
    pair: int


@dataclass(frozen=True)
class Closing:
    """What a rater said at the end: the side they named, and what they recognised."""

    guess: Literal["left", "right", "unsure"]
    recognised: str
    assignment: int | None
    at: datetime


@dataclass(frozen=True)
class Rater:
    """A rater: `code` is how reports name them, `name` the owner's note, `crowd` a platform's parameters."""

    id: int
    study: str
    code: str
    name: str
    crowd: tuple[tuple[str, str], ...]
    consent_at: datetime | None
    closing: Closing | None


@dataclass(frozen=True)
class Assignment:
    """A pairing given to a rater. `version` is that of the last vote on it (0: none), `choice` its choice."""

    id: int
    token: str
    rater: int
    pairing: int
    kind: Kind
    x_left: bool
    seq: int
    state: State
    retest: int
    expires_at: datetime
    shown_at: datetime
    version: int
    choice: Answered | None


@dataclass(frozen=True)
class Texts:
    """What an assignment shows, and whose texts they are."""

    prompt: str
    left: str
    right: str
    system_left: int
    system_right: int


@dataclass(frozen=True)
class Ballot:
    """A vote as it is kept. `active_ms` is the time in which the page was looked at, as the page says."""

    client_uuid: str
    choice: Answered
    strength: int = 0
    criteria: tuple[tuple[str, Choice], ...] = ()
    reason: str = ""
    active_ms: int | None = None


@dataclass(frozen=True)
class KeptVote:
    """The last vote on an assignment with what it was about; a withdrawn vote is none."""

    assignment: int
    rater: int
    pairing: int
    x_left: bool
    seq: int
    retest: int
    version: int
    ballot: Ballot
    shown_at: datetime
    submitted_at: datetime


@dataclass(frozen=True)
class Event:
    """Something that happened: by whom ("" a rater or nobody known), what, and the particulars."""

    at: datetime
    actor: str
    kind: str
    detail: Mapping[str, object]
    study: str | None = None


@dataclass(frozen=True)
class Mark:
    """An owner's own exclusion of a rater, an item or a vote (by its assignment); lifted ones are kept."""

    id: int
    target: Literal["rater", "item", "vote"]
    place: int
    why: str
    by: str
    at: datetime
    lifted_at: datetime | None = None


@dataclass(frozen=True)
class Unblinding:
    """Who unblinded when and why, and the SHA-256 of the votes as they were then."""

    at: datetime
    actor: str
    reason: str
    votes_sha256: str


@dataclass(frozen=True)
class Contents:
    """All of a study that raters do not change."""

    systems: tuple[System, ...]
    items: tuple[Item, ...]
    outputs: tuple[Output, ...]
    pairings: tuple[Pairing, ...]
    leaks: tuple[Leak, ...]

    @property
    def compared(self) -> tuple[System, ...]:
        """The systems of the study's own items; others only stand for good and bad in its checks."""
        own = {item.id for item in self.items if item.kind == "item" and not item.dropped}
        there = {output.system for output in self.outputs if output.item in own}
        return tuple(system for system in self.systems if system.id in there)
