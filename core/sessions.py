"""A session as it is kept, and what keeping it takes. Knows no SQL."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

from core.domain import Mode, Recipe, Task
from core.steps import Step

if TYPE_CHECKING:
    from core.interchange import Archive
    from core.listing import Listing


@dataclass(frozen=True)
class Session:
    """A session as it is kept: task, recipe and every step. `problem` is why it last failed, or ""."""

    id: str
    title: str
    created_at: datetime
    task: Task
    recipe: Recipe
    mode: Mode
    steps: tuple[Step, ...] = ()
    problem: str = ""
    parent: tuple[str, int] | None = None


@dataclass(frozen=True)
class Summary:
    """A session in a list. `changed_at` is when its last step was kept, `parent` what it was forked from.

    From `preset` on it is what core.facts.Facts says, as of the last time it was folded; None is unknown.
    """

    id: str
    title: str
    created_at: datetime
    strategy: str
    model: str
    steps: int
    ending: str
    problem: str
    changed_at: datetime
    parent: tuple[str, int] | None = None
    preset: str = ""
    outcome: str = "open"
    rounds: int = 0
    first_score: float | None = None
    last_score: float | None = None
    best_score: float | None = None
    change: float | None = None
    money: float | None = None
    tokens: int = 0
    seconds: float = 0.0
    starred: bool = False
    tags: tuple[str, ...] = ()


class StaleStep(Exception):
    """Someone else has recorded this step already."""

    def __init__(self) -> None:
        super().__init__(
            "This step was already decided, perhaps in another tab or by another click. "
            "What is recorded is shown now; nothing of yours was added to it."
        )


class RecipeChanged(Exception):
    """The session's recipe is no longer the one that this step was asked by."""


class StoreBusy(Exception):
    """The store can't be written to now; the same again later may work. `reason` is the driver's word."""

    def __init__(self, reason: str = "") -> None:
        why = f"can't be written to ({reason})" if reason else "is busy, perhaps with another program"
        super().__init__(f"The database {why}. Nothing is lost; try again.")


class UnknownSession(Exception):
    """There is no session of this id."""

    def __init__(self, session_id: str) -> None:
        super().__init__(f"There is no session {session_id!r}; the history lists those that there are.")


class Store(Protocol):
    """What must be kept. Every method is atomic; sessions are never changed besides by these."""

    @property
    def archive(self) -> Archive:
        """All sessions as a stream, out and in."""
        ...

    @property
    def listing(self) -> Listing:
        """Lists of the sessions, and the marks on them."""
        ...

    def create(self, task: Task, recipe: Recipe, mode: Mode, *, title: str) -> str:
        """Keep a new session without steps and give its id."""
        ...

    def fork(self, session_id: str, position: int) -> str:
        """A new session on the first `position` steps of another. Raises UnknownSession."""
        ...

    def load(self, session_id: str) -> Session:
        """The session with all its steps. Raises UnknownSession."""
        ...

    def append(self, session_id: str, position: int, step: Step, recipe: Recipe | None = None) -> None:
        """Keep step `position`, which was asked by `recipe` (None: by whatever there is).

        Raises StaleStep where that position is taken or not the next, RecipeChanged, StoreBusy.
        """
        ...

    def mode(self, session_id: str) -> Mode:
        """Who answers the gates now. Raises UnknownSession."""
        ...

    def set_recipe(self, session_id: str, recipe: Recipe, steps: int) -> None:
        """Put another recipe in the place of the session's. Raises StaleStep if it has not `steps` steps."""
        ...

    def family(self, session_id: str) -> list[Session]:
        """The session with all it was forked from and all forks of those, oldest first."""
        ...

    def set_mode(self, session_id: str, mode: Mode) -> None:
        """Who answers the gates from now on. Raises UnknownSession."""
        ...

    def set_problem(self, session_id: str, problem: str) -> None:
        """Why the session can't go on at the moment, or ""."""
        ...

    def set_ending(self, session_id: str, ending: str) -> None:
        """Why the session has ended: a copy for lists, the truth is the replay."""
        ...

    def delete(self, session_id: str) -> None:
        """Leave the session out of lists; it is kept. Raises UnknownSession."""
        ...

    def restore(self, session_id: str) -> None:
        """Undo `delete`. Raises UnknownSession."""
        ...

    def recent(self, limit: int, before: str | None = None, *, query: str = "") -> list[Summary]:
        """The newest sessions that aren't deleted, from the one after `before` on.

        With `query` those that have it in title, task or drafts (Listing.find tells how).
        Raises UnknownSession for `before`.
        """
        ...

    def fold(self, session_id: str) -> None:
        """Bring what lists know of the session (core.facts) up to its last step. Raises UnknownSession."""
        ...

    def fold_behind(self, most: int) -> int:
        """Do so for up to `most` sessions that lists are behind of; for how many it was done.

        Raises StoreBusy.
        """
        ...
