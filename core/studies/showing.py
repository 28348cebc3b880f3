"""What a rater is shown, and the reservations behind it. Works inside one transaction; knows no page."""

from __future__ import annotations

import math
import secrets
from datetime import datetime, timedelta

from core.studies.allocation import Shown, next_for, own_answers
from core.studies.blinding import PairView, Progress, RaterView, ViewState, rater_view
from core.studies.desks import RaterDesk
from core.studies.records import Assignment


def view(desk: RaterDesk, rater: int) -> RaterView:
    """What the rater sees now, with a pair reserved where one is to be shown."""
    protocol, crowd = desk.study.protocol, desk.rater(rater).crowd
    had = desk.history(rater)
    progress = _progress(desk, rater, had)
    if desk.study.status not in ("open", "paused"):
        return rater_view("closed", protocol)
    if not consented(desk, rater):
        return rater_view("consent", protocol)
    if desk.rater(rater).closing is not None:
        return rater_view("done", protocol, progress=progress, crowd=crowd)
    current = _current(desk, rater, had)
    state, shown = ("pair", current) if current else _end(desk, rater, had)
    pair = _pair(desk, shown) if shown else None
    undo = any(one.done for _, one in had) and desk.study.status == "open"
    return rater_view(state, protocol, progress=progress, pair=pair, can_undo=undo, crowd=crowd)


History = tuple[tuple[Assignment, Shown], ...]


def consented(desk: RaterDesk, rater: int) -> bool:
    """Whether the rater agreed, where the study asks for it."""
    return not desk.study.protocol.consent or desk.rater(rater).consent_at is not None


def _end(desk: RaterDesk, rater: int, had: History) -> tuple[ViewState, Assignment | None]:
    """Nothing more to judge: for now, or for good."""
    if desk.study.status == "paused":
        return "paused", None
    if not any(shown.done and shown.slot.kind == "item" for _, shown in had):
        return ("closed", None) if _stopped(desk) else ("waiting", None)
    asked = closing_pair(desk, rater) if desk.study.protocol.closing_question else None
    return ("closing", asked) if asked else ("done", None)


def _current(desk: RaterDesk, rater: int, had: History) -> Assignment | None:
    """The pair that the rater has open, or else a new one."""
    open_ = [one for one, _ in had if one.state == "reserved"]
    if open_:
        first = min(open_, key=lambda one: one.seq)
        desk.set_state(first.id, "reserved", _until(desk))
        return first
    if desk.study.status != "open" or _stopped(desk):
        return None
    _sweep(desk)
    let_lie = [one for one, _ in had if one.state == "expired"]
    for one in reversed(let_lie):
        if take_again(desk, one):
            desk.set_state(one.id, "reserved", _until(desk))
            return one
    return _new(desk, rater, had)


def _new(desk: RaterDesk, rater: int, had: History) -> Assignment | None:
    shown = [one for _, one in had]
    given = next_for(desk.rater(rater).code, shown, desk.slots(rater), desk.study.protocol)
    if given is None:
        return None
    seq = had[-1][0].seq + 1 if had else 0
    assignment = desk.assign(rater, given, secrets.token_urlsafe(16), seq, _until(desk))
    if counts(assignment):
        desk.count(given.pairing, given.x_left, 1)
    return assignment


def counts(assignment: Assignment) -> bool:
    """Whether the assignment is one of those that a pairing's target is about."""
    return assignment.kind == "item" and assignment.retest == 0


def _until(desk: RaterDesk) -> datetime:
    return desk.now + timedelta(minutes=desk.study.protocol.reserve_minutes)


def _stopped(desk: RaterDesk) -> bool:
    """Whether the protocol's stopping rule holds; what is reserved may still be answered."""
    protocol = desk.study.protocol
    if protocol.stop_at and desk.now >= datetime.fromisoformat(protocol.stop_at):
        return True
    return bool(protocol.stop_votes) and desk.live() >= protocol.stop_votes


def _sweep(desk: RaterDesk) -> None:
    """Reservations that are overdue go back to their side."""
    for one in desk.overdue():
        desk.set_state(one.id, "expired", one.expires_at)
        give_back(desk, one)


def give_back(desk: RaterDesk, assignment: Assignment) -> None:
    """The pairing is short of this showing again, on the same side."""
    if counts(assignment):
        desk.count(assignment.pairing, assignment.x_left, -1)


def take_again(desk: RaterDesk, assignment: Assignment) -> bool:
    """Whether a showing that was given back could be taken again, sides as they were; if so, it is."""
    if not counts(assignment):
        return True
    slot = desk.slot(assignment.pairing)
    mine, other = (slot.xy, slot.yx) if assignment.x_left else (slot.yx, slot.xy)
    if mine + other >= desk.study.protocol.target or mine > other:
        return False
    desk.count(assignment.pairing, assignment.x_left, 1)
    return True


def reserve_again(desk: RaterDesk, assignment: Assignment) -> None:
    """The pair waits for the rater's answer once more."""
    desk.set_state(assignment.id, "reserved", _until(desk))


def last_answer(desk: RaterDesk, rater: int) -> Assignment | None:
    """The rater's last answer before the pair that they see; None once the closing question is answered."""
    had = desk.history(rater)
    first_open = min((one.seq for one, _ in had if one.state == "reserved"), default=math.inf)
    before = [one for one, shown in had if shown.done and one.seq < first_open]
    return before[-1] if before and desk.rater(rater).closing is None else None


def closing_pair(desk: RaterDesk, rater: int) -> Assignment | None:
    """The pair that the closing question is about: the rater's first vote in which its system stood."""
    wanted = desk.system(desk.study.protocol.closing_system)
    for one, shown in desk.history(rater):
        if one.state != "voted" or shown.slot.kind != "item":
            continue
        texts = desk.texts(one)
        if wanted in (texts.system_left, texts.system_right):
            return one
    return None


def _pair(desk: RaterDesk, assignment: Assignment) -> PairView:
    shown = desk.texts(assignment)
    practice = assignment.kind == "practice"
    return PairView(assignment.token, shown.prompt, shown.left, shown.right, practice)


def _progress(desk: RaterDesk, rater: int, had: History) -> Progress:
    """Checks count like all others, so that they can't be told by a bar that stands still."""
    protocol, shown = desk.study.protocol, [one for _, one in had]
    mine = own_answers(shown)
    ahead = sum(not one.done and a.state == "reserved" and counts(a) for a, one in had) + desk.left_for(rater)
    own = min(mine + ahead, protocol.per_rater or mine + ahead)
    checks = protocol.gold_share + protocol.attention_share + protocol.retest_share
    done = sum(one.done and one.slot.kind != "practice" for one in shown)
    return Progress(done, max(done, round(own / (1 - checks))))
