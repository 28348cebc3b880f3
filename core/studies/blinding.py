"""What leaves for a rater's browser: one value, made by one function. And the masks of the systems.

Nothing else of a study may reach a rater. In a RaterView stands no system, no number of an item, pairing or
rater, no order, no kind beyond practice, and no answer of anybody.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Literal
from urllib.parse import quote

from core.studies.protocol import StudyProtocol
from core.studies.votes import Choice

ViewState = Literal["consent", "pair", "closing", "done", "waiting", "paused", "closed"]


@dataclass(frozen=True)
class Progress:
    """Answers given, of about so many; the checks among them are counted like all others."""

    done: int
    of: int


@dataclass(frozen=True)
class PairView:
    """Two texts; `token` is 128 random bits and the only name that the pair has outside."""

    token: str
    prompt: str
    left: str
    right: str
    practice: bool


@dataclass(frozen=True)
class RaterView:
    """All that a rater may see now.

    consent: `instructions` and `consent`. pair: `pair` is to be judged. closing: `question` is about `pair`
    and answered by a side or unsure. done: `completion_code` and `return_url`. waiting, paused, closed:
    `message`.
    """

    state: ViewState
    message: str = ""
    instructions: str = ""
    consent: str = ""
    question: str = ""
    criteria: tuple[str, ...] = ()
    choices: tuple[Choice, ...] = ()
    ask_strength: bool = False
    ask_reason: bool = False
    progress: Progress = Progress(0, 0)
    pair: PairView | None = None
    can_undo: bool = False
    completion_code: str = ""
    return_url: str = ""


MESSAGES: Mapping[ViewState, str] = {
    "waiting": "Every pair is with another rater at the moment. Please come back later: one may be free "
    "again.",
    "paused": "The study pauses. Your answers are kept; please come back later by the same link.",
    "closed": "The study has ended. Thank you; every answer that you gave is kept.",
    "done": "That was the last pair. Thank you!",
}


def rater_view(
    state: ViewState,
    protocol: StudyProtocol,
    *,
    progress: Progress = Progress(0, 0),
    pair: PairView | None = None,
    can_undo: bool = False,
    crowd: Sequence[tuple[str, str]] = (),
) -> RaterView:
    """The view of that state: of the protocol only what the state shows."""
    if state == "consent":
        return RaterView(state, instructions=protocol.instructions, consent=protocol.consent)
    if state == "pair":
        return RaterView(
            state,
            instructions=protocol.instructions,
            question=protocol.question,
            criteria=protocol.criteria,
            choices=protocol.choices,
            ask_strength=protocol.ask_strength,
            ask_reason=protocol.ask_reason,
            progress=progress,
            pair=pair,
            can_undo=can_undo,
        )
    if state == "closing":
        question = protocol.closing_question
        return RaterView(state, question=question, progress=progress, pair=pair, can_undo=can_undo)
    code, url = protocol.completion_code, return_address(protocol, crowd)
    if state == "done":
        return RaterView(state, MESSAGES[state], progress=progress, completion_code=code, return_url=url)
    return RaterView(state, MESSAGES[state])


def return_address(protocol: StudyProtocol, crowd: Sequence[tuple[str, str]]) -> str:
    """The return URL with {code} and the platform's own parameters, such as {PROLIFIC_PID}, filled in."""
    url = protocol.return_url
    for name, value in (("code", protocol.completion_code), *crowd):
        url = url.replace(f"{{{name}}}", quote(value, safe=""))
    return url


def shown_texts(protocol: StudyProtocol) -> dict[str, str]:
    """Every text of the protocol that reaches raters, by setting: what must not name a system."""
    names = ("question", "instructions", "consent", "closing_question", "completion_code", "return_url")
    return {**{name: getattr(protocol, name) for name in names}, "criteria": "\n".join(protocol.criteria)}


def masks(systems: Sequence[int], draw: Random) -> dict[int, str]:
    """A label for each system, drawn: the protocol's seed is no secret, so it must not be drawn from that."""
    order = draw.sample(list(systems), len(systems))
    return {system: f"System {_letters(place)}" for place, system in enumerate(order)}


def _letters(place: int) -> str:
    """A to Z, then AA, AB and so on."""
    before, last = divmod(place, 26)
    return (_letters(before - 1) if before else "") + chr(ord("A") + last)
