"""Sessions as lists show them: what can be asked for, in which order, and what is marked. Knows no SQL."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol

from core.sessions import Summary

Sort = Literal["newest", "changed", "change", "cost", "tokens", "rounds"]
SORTS: tuple[Sort, ...] = ("newest", "changed", "change", "cost", "tokens", "rounds")
Kind = Literal["preset", "strategy", "model", "outcome", "decision", "flag", "tag"]
KINDS: tuple[Kind, ...] = ("preset", "strategy", "model", "outcome", "decision", "flag", "tag")
MOST_COUNTED = 1000
LONGEST_TAG = 60


@dataclass(frozen=True)
class Filter:
    """Which sessions: all of these must hold; "", None and False ask for nothing.

    `query` is searched for in title, task and drafts. `model` is any model that the session uses, `decision`
    one of core.facts.Decided, `flag` one that a draft has. `change` is the gate's score now minus at first,
    `cost` money. `since` and `until` are moments of the start, `until` not among them. `starred`: the session
    or a candidate of it has a star.
    """

    query: str = ""
    preset: str = ""
    strategy: str = ""
    model: str = ""
    outcome: str = ""
    decision: str = ""
    flag: str = ""
    tag: str = ""
    starred: bool = False
    change_least: float | None = None
    change_most: float | None = None
    cost_least: float | None = None
    cost_most: float | None = None
    since: datetime | None = None
    until: datetime | None = None


@dataclass(frozen=True)
class Order:
    """Newest, or most of something, first; `ascending` turns it round. What is unknown comes last."""

    sort: Sort = "newest"
    ascending: bool = False


@dataclass(frozen=True)
class Chosen:
    """Sessions that are exported or changed: those of these ids, or (`ids` None) all that the filter finds.

    Those of `but` are left out. A deleted session is only found by its id.
    """

    ids: tuple[str, ...] | None = None
    filter: Filter = Filter()
    but: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Done:
    """What a bulk action did: to how many sessions, and by which name it is undone."""

    sessions: int
    undo: str


@dataclass(frozen=True)
class Deletion:
    """Sessions that were deleted at one moment: how many, one of their titles, by which name it is undone."""

    at: datetime
    sessions: int
    title: str
    undo: str


class NotAllowed(ValueError):
    """A mark or a name that can't be kept, in words."""


class Listing(Protocol):
    """Lists of sessions, and the marks that people put on them.

    Every method is atomic, but for those on what is chosen, which do some sessions at a time: one that is cut
    short has done the newest.
    """

    def find(self, wanted: Filter, order: Order, limit: int, after: str | None = None) -> list[Summary]:
        """Sessions that aren't deleted, in that order, from the one after session `after` on.

        Raises UnknownSession for `after`.
        """
        ...

    def count(self, wanted: Filter, most: int = MOST_COUNTED) -> int:
        """How many there are; where there are more than `most`, `most` + 1."""
        ...

    def ids(self, chosen: Chosen, limit: int, after: str | None = None) -> list[str]:
        """Ids of what is chosen, newest first (named ones as they are named), from the one after `after` on.

        To go through all of them; those of `but` are among them.
        """
        ...

    def choices(self) -> dict[Kind, list[str]]:
        """The values there are to filter by, of each kind in the order of the alphabet."""
        ...

    def delete(self, chosen: Chosen) -> Done:
        """Leave them out of lists; they are kept."""
        ...

    def tag(self, chosen: Chosen, tag: str, *, on: bool) -> Done:
        """Put a tag on them, or take it off. Raises NotAllowed for a tag that can't be."""
        ...

    def undo(self, name: str) -> int:
        """Undo a bulk action; the number of sessions that are as before."""
        ...

    def deletions(self, limit: int) -> list[Deletion]:
        """The latest deletions that were not undone, newest first."""
        ...

    def star(self, session_id: str, step: int | None, *, on: bool) -> None:
        """Put a star on the session, or on the candidate that its step wrote; or take it off.

        Raises UnknownSession; NotAllowed where there is no such step.
        """
        ...

    def stars(self, session_id: str) -> list[int]:
        """The steps whose candidates have a star. Raises UnknownSession."""
        ...

    def saved(self) -> list[tuple[str, str]]:
        """The saved filters: name and query string, in the order of their names."""
        ...

    def save(self, name: str, query: str) -> None:
        """Keep a filter under a name, in the place of an older one. Raises NotAllowed."""
        ...

    def forget(self, name: str) -> None:
        """Drop a saved filter."""
        ...


def tag_of(text: str) -> str:
    """A tag as it is kept: on one line, blanks joined. Raises NotAllowed."""
    tag = " ".join(text.split())
    if not tag or len(tag) > LONGEST_TAG or not tag.isprintable():
        raise NotAllowed(f"A tag has 1 to {LONGEST_TAG} visible characters.")
    return tag


def name_of(text: str) -> str:
    """The name of a saved filter. Raises NotAllowed."""
    name = " ".join(text.split())
    if not name or len(name) > LONGEST_TAG or not name.isprintable():
        raise NotAllowed(f"A name has 1 to {LONGEST_TAG} visible characters.")
    return name
