"""Studies for tests: on a database of their own, with texts that say nothing and a clock set by hand."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random

from core.studies.blinding import RaterView
from core.studies.material import Entry
from core.studies.protocol import StudyProtocol
from core.studies.rating import Rating
from core.studies.records import Answered, Ballot
from core.studies.service import Studies
from storage.database import open_database
from storage.study_store import SqlStudyStore

OWNER = "Olga"
USUAL = StudyProtocol()


class Clock:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.moment = datetime(2026, 12, 1, 9, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.moment

    def move(self, minutes: float) -> None:
        self.moment += timedelta(minutes=minutes)


def entries(number: int = 4, systems: tuple[str, ...] = ("zeta-q4", "omega-f16")) -> list[Entry]:
    """Items whose texts differ; what a text says has nothing to do with its system's name."""
    words = ("river", "meadow", "harbour", "orchard", "valley")
    return [
        Entry(
            f"key-{n}",
            f"Describe place {n}.",
            tuple((name, f"A {words[place]} by the road, number {n}.") for place, name in enumerate(systems)),
        )
        for n in range(number)
    ]


def ballot(choice: Answered, **more: object) -> Ballot:
    """A ballot with an id of its own."""
    return replace(Ballot(str(uuid.uuid4()), choice), **more)  # type: ignore[arg-type]


class House:
    """A store with both of its sides."""

    def __init__(self, folder: Path, url: str = "") -> None:
        self.url = url or f"sqlite:///{folder}/redraft.db"
        self.clock = Clock()
        self.engine = open_database(self.url)
        self.store = SqlStudyStore(self.engine, self.clock)
        self.studies, self.rating = Studies(self.store, Random(3)), Rating(self.store)

    def draft(self, protocol: StudyProtocol = USUAL, items: list[Entry] | None = None) -> str:
        """A draft with items."""
        study = self.studies.new("zeta against omega", protocol, OWNER)
        self.studies.add(study, entries() if items is None else items, OWNER)
        return study

    def open(self, protocol: StudyProtocol = USUAL, items: list[Entry] | None = None) -> str:
        """An open study."""
        study = self.draft(protocol, items)
        self.studies.open(study, OWNER)
        return study

    def raters(self, study: str, number: int) -> list[str]:
        """The tokens of new raters."""
        return [link.token for link in self.studies.links(study, [""] * number, OWNER)]

    def rate(self, token: str, choose: Callable[[RaterView], Answered], most: int = 1000) -> RaterView:
        """Vote until there is nothing to vote on, or so often; gives the last view."""
        view = self.rating.view(token)
        for _ in range(most):
            if view.state != "pair" or view.pair is None:
                break
            view = self.rating.vote(token, view.pair.token, ballot(choose(view)))
        return view
