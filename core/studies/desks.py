"""What keeping studies takes. Knows no SQL.

A desk is what can be read and written inside one transaction of one study: its owner's part and its raters'
part. It decides nothing: every rule is in those who use it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Protocol, TypeVar

from core.studies.allocation import Given, Shown, Slot
from core.studies.leaks import Leak, LeakDecision
from core.studies.material import Entry, Measures
from core.studies.protocol import StudyProtocol
from core.studies.records import (
    Answered,
    Assignment,
    Ballot,
    Closing,
    Contents,
    Event,
    KeptVote,
    Mark,
    NewPairing,
    Rater,
    State,
    Status,
    Study,
    Texts,
    Unblinding,
)

T = TypeVar("T")


class CommonDesk(Protocol):
    """What both sides see and write."""

    study: Study
    now: datetime

    def event(self, actor: str, kind: str, detail: Mapping[str, object]) -> None:
        """Add to the log of the study."""
        ...

    def count_events(self, kind: str) -> int:
        """How many events of this kind there are."""
        ...

    def add_rater(self, code: str, name: str, crowd: Mapping[str, str]) -> int:
        """Keep a new rater and give its number."""
        ...

    def add_link(self, token_hash: str, rater: int | None) -> None:
        """Keep a link to a rater, or (None) one that makes raters."""
        ...

    def count_raters(self) -> int:
        """How many raters there are."""
        ...

    def count(self, pairing: int, x_left: bool, by: int) -> None:
        """Add to the showings of a pairing on this side."""
        ...


class OwnerDesk(CommonDesk, Protocol):
    """The owner's part of a transaction."""

    def set_status(self, status: Status) -> None: ...
    def set_protocol(self, protocol: StudyProtocol, sha256: str) -> None: ...
    def set_elsewhere(self) -> None: ...
    def contents(self) -> Contents: ...

    def add_entries(self, entries: Sequence[tuple[Entry, Mapping[str, Measures]]]) -> None:
        """Keep items with their texts, measures by system; systems that are new are made. Of an item whose
        key is there, only the texts of further systems are kept."""
        ...

    def set_masks(self, masks: Mapping[int, str]) -> None: ...

    def set_leaks(self, leaks: Sequence[Leak]) -> None:
        """Put these in the place of all that there are; new ones have the number 0."""
        ...

    def decide_leak(self, leak: int, decision: LeakDecision, by: str) -> None: ...
    def set_text(self, output: int, text: str, original: str, measures: Measures) -> None: ...
    def set_prompt(self, item: int, prompt: str, original: str) -> None: ...
    def drop_item(self, item: int) -> None: ...
    def add_pairings(self, pairings: Sequence[NewPairing]) -> None: ...
    def drop_open_links(self) -> None: ...
    def raters(self) -> tuple[Rater, ...]: ...
    def assignments(self) -> tuple[Assignment, ...]: ...

    def votes(self) -> tuple[KeptVote, ...]:
        """The last vote on every assignment, without those withdrawn, in the order of assignment."""
        ...

    def import_votes(self, votes: Sequence[KeptVote]) -> None:
        """Keep votes from elsewhere with their assignments; the numbers of these are made."""
        ...

    def showings(self) -> tuple[Slot, ...]:
        """Every pairing that is asked, with its showings."""
        ...

    def marks(self) -> tuple[Mark, ...]: ...
    def add_mark(self, target: str, place: int, why: str, by: str) -> int: ...
    def lift_mark(self, mark: int) -> None: ...
    def set_unblinding(self, unblinding: Unblinding) -> None: ...
    def unblinding(self) -> Unblinding | None: ...
    def events(self) -> tuple[Event, ...]: ...


class RaterDesk(CommonDesk, Protocol):
    """The raters' part of a transaction."""

    def rater(self, rater: int) -> Rater: ...
    def rater_by_crowd(self, name: str, value: str) -> Rater | None: ...
    def set_consent(self, rater: int) -> None: ...
    def set_closing(self, rater: int, closing: Closing) -> None: ...

    def overdue(self) -> tuple[Assignment, ...]:
        """Reserved assignments whose time is over, of all raters."""
        ...

    def history(self, rater: int) -> tuple[tuple[Assignment, Shown], ...]:
        """All that the rater was ever given, in the order of giving."""
        ...

    def slots(self, rater: int) -> tuple[Slot, ...]:
        """Pairings that this rater was never given: those of the study's own items that were shown least, in
        a sufficient number, and all others."""
        ...

    def slot(self, pairing: int) -> Slot: ...

    def left_for(self, rater: int) -> int:
        """How many of the study's own pairings this rater was never given and are short of their target."""
        ...

    def live(self) -> int:
        """How many showings of the study's own items are voted on or reserved."""
        ...

    def assign(self, rater: int, given: Given, token: str, seq: int, expires_at: datetime) -> Assignment: ...
    def assignment(self, token: str) -> Assignment | None: ...

    def vote_of_client(self, client_uuid: str) -> tuple[int, Answered] | None:
        """The assignment and choice of the vote with this id, in whichever study."""
        ...

    def add_vote(self, assignment: int, version: int, ballot: Ballot, state: State) -> None:
        """Keep a vote, or the withdrawal of one, and the assignment's state after it."""
        ...

    def set_state(self, assignment: int, state: State, expires_at: datetime) -> None: ...

    def system(self, name: str) -> int | None:
        """The number of the system of this name."""
        ...

    def texts(self, assignment: Assignment) -> Texts: ...


class Desk(OwnerDesk, RaterDesk, Protocol):
    """All of a transaction."""


class StudyStore(Protocol):
    """Where studies are kept."""

    def create(self, name: str, protocol: StudyProtocol, by: str) -> str:
        """Keep a new draft and give its id."""
        ...

    def studies(self) -> list[Study]:
        """All studies, newest first."""
        ...

    def run(self, study_id: str, work: Callable[[Desk], T]) -> T:
        """Do the work in one transaction that nobody else's on this study overlaps.

        It may be done again where the database asks for it, so it must change nothing but the desk.
        Raises UnknownStudy, StoreBusy.
        """
        ...

    def look(self, study_id: str, work: Callable[[Desk], T]) -> T:
        """Do work that only reads, all of it from one state of the study. Raises UnknownStudy."""
        ...

    def link(self, token_hash: str) -> tuple[str, int | None] | None:
        """The study and the rater (None: an open link) that a link leads to."""
        ...

    def log(self, kind: str, detail: Mapping[str, object]) -> None:
        """Keep an event that belongs to no known study; of each kind so many that they can't fill a disk."""
        ...
