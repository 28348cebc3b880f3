"""The owner's side of a study: make, fill, open, pause, lock, unblind. Knows no page and no SQL.

Until it is locked a study tells nothing about who wins; until it is unblinded, only by masked labels.
Reading a study is core.studies.results'; the rater's side is core.studies.rating.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random, SystemRandom

from core.studies.blinding import masks
from core.studies.desks import OwnerDesk, StudyStore
from core.studies.filling import add
from core.studies.leak_queue import decide, scan
from core.studies.leaks import Leak, LeakDecision
from core.studies.material import Added, Entry
from core.studies.opening import check_ready, items_hash, pair_up
from core.studies.protocol import BadStudy, StudyProtocol, check_protocol, protocol_hash
from core.studies.rating import new_token, next_code, token_hash
from core.studies.records import Contents, Event, Mark, Status, Study, Unblinding
from core.studies.results import votes_hash
from core.studies.votes_elsewhere import ForeignVote, add_votes

STEPS: dict[Status, tuple[Status, ...]] = {
    "draft": ("open",),
    "open": ("paused", "locked"),
    "paused": ("open", "locked"),
    "locked": ("unblinded",),
    "unblinded": (),
}


@dataclass(frozen=True)
class Link:
    """A rater's link; the token is told this once, the store keeps its hash alone."""

    code: str
    name: str
    token: str


class Studies:
    """Studies on a store. `draw` is where masks come from; it must not be guessable outside of tests."""

    def __init__(self, store: StudyStore, draw: Random | None = None) -> None:
        self.store, self.draw = store, draw or SystemRandom()

    def new(self, name: str, protocol: StudyProtocol, by: str) -> str:
        """Keep a draft and give its id. Raises BadStudy."""
        if not name.strip() or any(char in name for char in "\0\n"):
            raise BadStudy("The study needs a name of one line. Raters never see it.")
        check_protocol(protocol)
        return self.store.create(name.strip(), protocol, by)

    def study(self, study_id: str) -> Study:
        """The study without its contents. Raises UnknownStudy."""
        return self.store.look(study_id, lambda desk: desk.study)

    def set_protocol(self, study_id: str, protocol: StudyProtocol, by: str) -> None:
        """Another protocol for a draft. Raises BadStudy."""
        check_protocol(protocol)

        def work(desk: OwnerDesk) -> None:
            _refuse_unless(desk, "draft", "The protocol is frozen since the study was opened.")
            desk.set_protocol(protocol, "")
            desk.event(by, "protocol", {"sha256": protocol_hash(protocol)})

        self.store.run(study_id, work)

    def add(self, study_id: str, entries: Sequence[Entry], by: str, where: str = "entry") -> Added:
        """Put items into a draft: all of them, or none and BadStudy. Those that are there already stay."""

        def work(desk: OwnerDesk) -> Added:
            _refuse_unless(desk, "draft", "Items can be added to a draft only.")
            added = add(desk, entries, where)
            scan(desk)
            desk.event(by, "items added", {"new": added.new, "repeated": added.repeated})
            return added

        return self.store.run(study_id, work)

    def add_votes(self, study_id: str, votes: Sequence[ForeignVote], by: str) -> Added:
        """Put votes from elsewhere, with their items, into a draft: all or none. Raises BadStudy."""

        def work(desk: OwnerDesk) -> Added:
            _refuse_unless(desk, "draft", "Votes from elsewhere can be added to a draft only.")
            added = add_votes(desk, votes)
            desk.event(by, "votes added", {"new": added.new, "repeated": added.repeated})
            return added

        return self.store.run(study_id, work)

    def contents(self, study_id: str) -> Contents:
        """Systems, items, texts with their flags, pairings: all that raters don't change. For owners only."""
        return self.store.look(study_id, lambda desk: desk.contents())

    # -- names in the texts ----------------------------------------------------------------

    def leaks(self, study_id: str) -> tuple[Leak, ...]:
        """Every name that was found in what raters will read, decided or not."""
        return self.store.look(study_id, lambda desk: desk.contents().leaks)

    def scan(self, study_id: str) -> tuple[Leak, ...]:
        """Look again, as after a change of the aliases. Raises BadStudy for a study that is no draft."""

        def work(desk: OwnerDesk) -> tuple[Leak, ...]:
            _refuse_unless(desk, "draft", "What raters read is frozen since the study was opened.")
            scan(desk)
            return desk.contents().leaks

        return self.store.run(study_id, work)

    def decide_leak(self, study_id: str, leak: int, decision: LeakDecision, by: str) -> None:
        """Redact the name in that text, keep it, or drop the item. Raises BadStudy."""

        def work(desk: OwnerDesk) -> None:
            _refuse_unless(desk, "draft", "What raters read is frozen since the study was opened.")
            decide(desk, leak, decision, by)

        self.store.run(study_id, work)

    # -- raters ------------------------------------------------------------------------------

    def links(self, study_id: str, names: Sequence[str], by: str) -> tuple[Link, ...]:
        """A link for each of these raters; a name is a note for the owner and may be empty."""
        tokens = [new_token() for _ in names]

        def work(desk: OwnerDesk) -> tuple[Link, ...]:
            _refuse_ended(desk)
            links = []
            for name, token in zip(names, tokens, strict=True):
                code = next_code(desk)
                desk.add_link(token_hash(token), desk.add_rater(code, name, {}))
                links.append(Link(code, name, token))
            desk.event(by, "links", {"raters": [link.code for link in links]})
            return tuple(links)

        return self.store.run(study_id, work)

    def open_link(self, study_id: str, by: str) -> str:
        """The token of one link for everybody, who become raters by it; an earlier one ends."""
        token = new_token()

        def work(desk: OwnerDesk) -> None:
            _refuse_ended(desk)
            desk.drop_open_links()
            desk.add_link(token_hash(token), None)
            desk.event(by, "open link", {})

        self.store.run(study_id, work)
        return token

    def exclude(self, study_id: str, target: str, place: int, why: str, by: str) -> int:
        """Mark a rater, an item or a vote (by its assignment) as excluded, and give the mark's number.

        Nothing is deleted. Raises BadStudy.
        """
        if target not in ("rater", "item", "vote") or not why.strip():
            raise BadStudy("Say what is excluded (rater, item, vote) and why.")

        def work(desk: OwnerDesk) -> int:
            mark = desk.add_mark(target, place, why, by)
            desk.event(by, "excluded", {"target": target, "place": place, "why": why})
            return mark

        return self.store.run(study_id, work)

    def readmit(self, study_id: str, mark: int, by: str) -> None:
        """Lift a mark; it stays in the record."""

        def work(desk: OwnerDesk) -> None:
            desk.lift_mark(mark)
            desk.event(by, "readmitted", {"mark": mark})

        self.store.run(study_id, work)

    def marks(self, study_id: str) -> tuple[Mark, ...]:
        """The owner's own exclusions, lifted ones too."""
        return self.store.look(study_id, lambda desk: desk.marks())

    def events(self, study_id: str) -> tuple[Event, ...]:
        """The log, oldest first."""
        return self.store.look(study_id, lambda desk: desk.events())

    # -- status ------------------------------------------------------------------------------

    def open(self, study_id: str, by: str) -> str:
        """Freeze protocol and items and let raters in; gives the protocol's SHA-256. Raises BadStudy."""

        def work(desk: OwnerDesk) -> str:
            _refuse_step(desk, "open")
            if desk.study.status == "paused":
                _enter(desk, "open", by, "resumed", {})
                return desk.study.sha256
            check_ready(desk)
            contents = desk.contents()
            desk.add_pairings(pair_up(contents, desk.study.protocol))
            sha256 = self._freeze(desk)
            _enter(desk, "open", by, "opened", {"sha256": sha256, "items_sha256": items_hash(contents)})
            return sha256

        return self.store.run(study_id, work)

    def _freeze(self, desk: OwnerDesk) -> str:
        """Masks for the systems, and the protocol as it stands with its hash, which is given."""
        systems = [system.id for system in desk.contents().systems]
        desk.set_masks(masks(systems, self.draw))
        sha256 = protocol_hash(desk.study.protocol)
        desk.set_protocol(desk.study.protocol, sha256)
        return sha256

    def pause(self, study_id: str, by: str, why: str = "") -> None:
        """Give out no more pairs for now; those that raters have before them may be answered."""
        self._step(study_id, "paused", by, why)

    def lock(self, study_id: str, by: str, why: str = "") -> None:
        """End the voting for good."""
        self._step(study_id, "locked", by, why)

    def unblind(self, study_id: str, by: str, why: str) -> Unblinding:
        """Put the systems' names in the place of their masks, for good and on record. Raises BadStudy."""
        if not why.strip():
            raise BadStudy("Say why the study is unblinded: it is kept with the study.")

        def work(desk: OwnerDesk) -> Unblinding:
            _refuse_step(desk, "unblinded")
            unblinding = Unblinding(desk.now, by, why, votes_hash(desk.votes()))
            desk.set_unblinding(unblinding)
            _enter(desk, "unblinded", by, "unblinded", {"why": why, "votes": unblinding.votes_sha256})
            return unblinding

        return self.store.run(study_id, work)

    def _step(self, study_id: str, status: Status, by: str, why: str) -> None:
        def work(desk: OwnerDesk) -> None:
            _refuse_step(desk, status)
            if desk.study.elsewhere and status == "locked":
                self._freeze(desk)
            _enter(desk, status, by, status, {"why": why})

        self.store.run(study_id, work)


def _enter(desk: OwnerDesk, status: Status, by: str, kind: str, detail: dict[str, object]) -> None:
    desk.set_status(status)
    desk.event(by, kind, detail)


def _refuse_unless(desk: OwnerDesk, status: Status, why: str) -> None:
    if desk.study.status != status:
        raise BadStudy(f"{why} It is {desk.study.status}.")


def _refuse_ended(desk: OwnerDesk) -> None:
    if desk.study.elsewhere or desk.study.status in ("locked", "unblinded"):
        raise BadStudy("This study takes no votes, so it needs no links.")


def _refuse_step(desk: OwnerDesk, status: Status) -> None:
    now = desk.study.status
    possible = STEPS[now]
    if desk.study.elsewhere and now == "draft":
        possible = ("locked",)
    if status not in possible:
        ways = " or ".join(possible) or "nothing else"
        raise BadStudy(f"The study is {now}; from there it can become {ways}, not {status}.")
