"""The rater's side of a study: look, consent, vote, undo, close. Knows no page and no SQL.

Every use is one transaction: a vote is kept and the next pair reserved in it, or neither. What is refused is
logged as an event of the study and raised as Refused, with words for the rater.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from core.studies import showing
from core.studies.blinding import RaterView
from core.studies.desks import CommonDesk, Desk, StudyStore
from core.studies.protocol import StudyProtocol
from core.studies.records import Assignment, Ballot, Closing, State

MAX_REASON = 5_000
MAX_LOGGED = 1_000
"""Refusals that a study's log takes; more are refused all the same."""
DAY_MS = 24 * 3600 * 1000

Refusal = Literal[
    "link", "join", "consent", "ended", "paused", "foreign", "answered", "gone", "replay", "form"
]
WORDS: Mapping[Refusal, str] = {
    "link": "This link leads to no study. Please look whether it was copied whole, or ask who sent it.",
    "join": "Please begin at the link that you were given.",
    "consent": "Please read the page about the study and agree to it first.",
    "ended": "The study has ended, so this answer is not counted. Those that you gave before are kept.",
    "paused": "The study pauses, so nothing can be changed now. Please come back later by the same link.",
    "foreign": "This pair is not one of yours. Please reload the page and go on with the one that it shows.",
    "answered": "This pair was answered already, perhaps in another tab. Please go on with the next.",
    "gone": "This pair waited too long and went to someone else. Please go on with the next.",
    "replay": "This answer was sent before for another pair. Please reload the page and answer again.",
    "form": "This answer is none that is offered here. Please reload the page and answer again.",
}


class Refused(Exception):
    """Something a rater sent is not taken; the message is for them, `kind` for the page."""

    def __init__(self, kind: Refusal) -> None:
        super().__init__(WORDS[kind])
        self.kind = kind


@dataclass(frozen=True)
class _No:
    """A refusal inside a transaction, which is kept for the sake of the event."""

    kind: Refusal


Work = Callable[[Desk, int], RaterView | _No]


def token_hash(token: str) -> str:
    """What is kept of a link's token."""
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()


def new_token() -> str:
    """128 random bits that can stand in a URL."""
    return secrets.token_urlsafe(16)


class Rating:
    """What a rater's page may call; all of it needs the token of the rater's link."""

    def __init__(self, store: StudyStore) -> None:
        self.store = store

    def join(self, token: str, crowd: Mapping[str, str] | None = None) -> str:
        """The rater's own token for the token of a link: an open link makes a rater.

        `crowd` are a platform's parameters, kept; by the first of them the same person is known again, on
        another device too. Raises Refused.
        """
        found = self.store.link(token_hash(token))
        if found is None:
            raise self._unknown()
        study, rater = found
        if rater is not None:
            return token
        mine = new_token()
        joined = self.store.run(study, lambda desk: _join(desk, token_hash(mine), _kept(crowd or {})))
        if joined is not None:
            raise Refused(joined.kind)
        return mine

    def view(self, token: str) -> RaterView:
        """What the rater sees now; the same until they answer. Raises Refused."""
        return self._run(token, showing.view)

    def consent(self, token: str) -> RaterView:
        """The rater agrees to take part. Raises Refused."""
        return self._run(token, _consent)

    def vote(self, token: str, pair: str, ballot: Ballot) -> RaterView:
        """Keep a vote on the pair of that token and show what comes next.

        The same post once more changes nothing and is no error. Raises Refused.
        """
        return self._run(token, lambda desk, rater: _vote(desk, rater, pair, ballot))

    def undo(self, token: str, client_uuid: str) -> RaterView:
        """Withdraw the rater's last vote and show its pair again; the vote stays in the record.

        The same post once more withdraws nothing more. Raises Refused.
        """
        return self._run(token, lambda desk, rater: _undo(desk, rater, client_uuid))

    def close(self, token: str, guess: str, recognised: str = "") -> RaterView:
        """Answer the closing question: left, right or unsure, and what was recognised. Raises Refused."""
        return self._run(token, lambda desk, rater: _close(desk, rater, guess, recognised))

    def malformed(self, token: str) -> Refused:
        """The refusal of a post that is of no form that any page sends; logged with its rater's study."""
        try:
            self._run(token, lambda desk, rater: _no(desk, rater, "form", malformed=True))
        except Refused as refused:
            return refused
        raise AssertionError("what is refused raises")

    def _run(self, token: str, work: Work) -> RaterView:
        found = self.store.link(token_hash(token))
        if found is None:
            raise self._unknown()
        study, rater = found
        if rater is None:
            raise Refused("join")
        result = self.store.run(study, lambda desk: work(desk, rater))
        if isinstance(result, _No):
            raise Refused(result.kind)
        return result

    def _unknown(self) -> Refused:
        self.store.log("refused", {"why": "link"})
        return Refused("link")


def _no(desk: Desk, rater: int | None, kind: Refusal, **detail: object) -> _No:
    """A refusal, logged; without the texts that were sent."""
    if desk.count_events("refused") < MAX_LOGGED:
        code = desk.rater(rater).code if rater is not None else ""
        desk.event(code, "refused", {"why": kind, **detail})
    return _No(kind)


def _kept(crowd: Mapping[str, str]) -> dict[str, str]:
    """Of a platform's parameters those that are short and harmless, ten at most."""
    fits = {
        name: value
        for name, value in crowd.items()
        if re.fullmatch(r"[\w.-]{1,64}", name) and value and re.fullmatch(r"[\w.@:+-]{1,200}", value)
    }
    return dict(list(fits.items())[:10])


def _join(desk: Desk, hashed: str, crowd: Mapping[str, str]) -> _No | None:
    known = next((desk.rater_by_crowd(*pair) for pair in crowd.items()), None)
    if known is not None:
        desk.add_link(hashed, known.id)
        return None
    if desk.study.status not in ("open", "paused"):
        return _no(desk, None, "ended")
    code = next_code(desk)
    desk.add_link(hashed, desk.add_rater(code, "", crowd))
    desk.event(code, "joined", {})
    return None


def next_code(desk: CommonDesk) -> str:
    """How reports will name the next rater."""
    return f"R{desk.count_raters() + 1:03}"


def _consent(desk: Desk, rater: int) -> RaterView:
    asked = desk.study.status in ("open", "paused") and desk.rater(rater).consent_at is None
    if asked:
        desk.set_consent(rater)
    return showing.view(desk, rater)


def _vote(desk: Desk, rater: int, pair: str, ballot: Ballot) -> RaterView | _No:
    assignment = desk.assignment(pair)
    if assignment is None or assignment.rater != rater:
        return _no(desk, rater, "foreign")
    earlier = desk.vote_of_client(ballot.client_uuid)
    if earlier is not None:
        return _again(desk, rater, assignment, ballot, earlier)
    refusal = _refusal(desk, rater, assignment, ballot)
    if refusal is not None:
        return _no(desk, rater, refusal, seq=assignment.seq)
    state: State = "skipped" if ballot.choice == "skip" else "voted"
    desk.add_vote(assignment.id, assignment.version + 1, _cleaned(ballot), state)
    if ballot.choice == "skip":  # the pair wants a vote still, on the same sides
        showing.give_back(desk, assignment)
    return showing.view(desk, rater)


def _again(
    desk: Desk, rater: int, assignment: Assignment, ballot: Ballot, earlier: tuple[int, str]
) -> RaterView | _No:
    if earlier != (assignment.id, ballot.choice):
        return _no(desk, rater, "replay", seq=assignment.seq)
    if desk.count_events("repeated") < MAX_LOGGED:
        desk.event(desk.rater(rater).code, "repeated", {"seq": assignment.seq})
    return showing.view(desk, rater)


def _refusal(desk: Desk, rater: int, assignment: Assignment, ballot: Ballot) -> Refusal | None:
    if desk.study.status not in ("open", "paused"):
        return "ended"
    if not showing.consented(desk, rater):
        return "consent"
    if not _fits(ballot, desk.study.protocol):
        return "form"
    if assignment.state in ("voted", "skipped"):
        return "answered"
    if assignment.state == "expired" and not showing.take_again(desk, assignment):
        return "gone"
    return None


def _fits(ballot: Ballot, protocol: StudyProtocol) -> bool:
    """Whether the ballot is one that the protocol offers."""
    return (
        ballot.choice in protocol.choices
        and bool(re.fullmatch(r"[0-9A-Za-z-]{8,64}", ballot.client_uuid))
        and ballot.strength in ((0, 1, 2) if protocol.ask_strength else (0,))
        and {name for name, _ in ballot.criteria} <= set(protocol.criteria)
        and len({name for name, _ in ballot.criteria}) == len(ballot.criteria)
        and all(choice in protocol.choices for _, choice in ballot.criteria)
        and (protocol.ask_reason or not ballot.reason)
        and _holds(ballot.reason)
    )


def _holds(text: str) -> bool:
    return len(text) <= MAX_REASON and not re.search("[\x00\ud800-\udfff]", text)


def _cleaned(ballot: Ballot) -> Ballot:
    """Strength only with a side, a time only where it can be one."""
    sided = ballot.choice in ("left", "right")
    timed = ballot.active_ms is not None and 0 <= ballot.active_ms <= DAY_MS
    return replace(
        ballot,
        strength=ballot.strength if sided else 0,
        active_ms=ballot.active_ms if timed else None,
    )


def _undo(desk: Desk, rater: int, client_uuid: str) -> RaterView | _No:
    if desk.study.status != "open":
        return _no(desk, rater, "paused" if desk.study.status == "paused" else "ended")
    if not re.fullmatch(r"[0-9A-Za-z-]{8,64}", client_uuid):
        return _no(desk, rater, "form")
    if desk.vote_of_client(client_uuid) is not None:
        return showing.view(desk, rater)
    last = showing.last_answer(desk, rater)
    if last is None:
        return _no(desk, rater, "form")
    if last.state == "skipped" and not showing.take_again(desk, last):
        return _no(desk, rater, "gone", seq=last.seq)
    desk.add_vote(last.id, last.version + 1, Ballot(client_uuid, "undone"), "reserved")
    showing.reserve_again(desk, last)
    return showing.view(desk, rater)


def _close(desk: Desk, rater: int, guess: str, recognised: str) -> RaterView | _No:
    if desk.study.status not in ("open", "paused"):
        return _no(desk, rater, "ended")
    if guess not in ("left", "right", "unsure") or not _holds(recognised):
        return _no(desk, rater, "form")
    if showing.view(desk, rater).state != "closing":
        return _no(desk, rater, "answered")
    pair = showing.closing_pair(desk, rater)
    side: Literal["left", "right", "unsure"] = guess  # type: ignore[assignment]  # one of these, as was seen
    desk.set_closing(rater, Closing(side, recognised, pair.id if pair else None, desk.now))
    return showing.view(desk, rater)
