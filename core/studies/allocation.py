"""Which pairing a rater gets next, and on which sides: one pure function of what was shown so far.

Knows no store, no text and no clock; whoever calls it keeps what it gave before it asks again. Of the
pairings that may be given, in this order of importance, it takes one
1. whose sides keep the rater within 1 of balance for that pair of systems,
2. whose prompt the rater has not seen lately,
3. that was shown least,
and among equals by a draw from the seed, the rater and the place, so that every rater has an order of
their own and asking again gives the same answer. The sides of a pairing come in blocks of two, one of each
order: the side that was shown less, and where both were shown equally often, the one that the rater had
less, or a draw. A showing that is given back is taken off its side, so that its side is the next to be given.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from random import Random

from core.studies.protocol import StudyProtocol
from core.studies.votes import Kind

RETEST_AFTER = 4
"""Showings that lie at least between a pairing and its retest."""
APART = 3
"""Showings that lie between two items of one prompt, where there are others."""


@dataclass(frozen=True, slots=True)
class Slot:
    """A pairing as allocation sees it: its texts are x and y, in the order of their systems.

    `prompt` and `pair` are codes of the same prompt and the same two systems; `xy` and `yx` are the showings
    that are voted on or reserved, with x on the left and on the right.
    """

    pairing: int
    prompt: int
    pair: int
    kind: Kind = "item"
    xy: int = 0
    yx: int = 0


@dataclass(frozen=True, slots=True)
class Shown:
    """A pairing as a rater had it; `done`: voted on or skipped, otherwise it was let lie and is not theirs
    any more; `retest` 0 for the first showing."""

    slot: Slot
    x_left: bool
    retest: int = 0
    done: bool = True


@dataclass(frozen=True, slots=True)
class Given:
    """What a rater gets next."""

    pairing: int
    x_left: bool
    retest: int = 0
    kind: Kind = "item"


def next_for(
    rater: str, shown: Sequence[Shown], slots: Iterable[Slot], protocol: StudyProtocol
) -> Given | None:
    """The rater's next pairing, or None when nothing is left for them; `shown` in the order of showing."""
    seen = {one.slot.pairing for one in shown}
    draw = Random(f"{protocol.seed}/{rater}/{len(shown)}")
    fresh = [slot for slot in slots if slot.pairing not in seen]
    practice = [slot for slot in fresh if slot.kind == "practice"]
    if practice:
        return _placed(min(practice, key=lambda slot: slot.pairing), shown, draw)
    if protocol.per_rater and own_answers(shown) >= protocol.per_rater:
        return None
    item = _item(shown, fresh, protocol, draw)
    return item and (_check(rater, shown, fresh, protocol, draw) or item)


def own_answers(shown: Iterable[Shown]) -> int:
    """How many of the study's own items a rater answered, retests aside."""
    return sum(one.slot.kind == "item" and not one.retest and one.done for one in shown)


def _check(
    rater: str, shown: Sequence[Shown], fresh: Sequence[Slot], protocol: StudyProtocol, draw: Random
) -> Given | None:
    """A gold or attention item or a retest, where the rater's share of them is due."""
    place = sum(one.slot.kind != "practice" for one in shown)
    for kind, share in (("gold", protocol.gold_share), ("attention", protocol.attention_share)):
        had = sum(one.slot.kind == kind for one in shown)
        there = [slot for slot in fresh if slot.kind == kind]
        if there and _due(share, place, had, f"{protocol.seed}/{rater}/{kind}"):
            return _placed(draw.choice(there), shown, draw)
    had = sum(one.retest > 0 for one in shown)
    if _due(protocol.retest_share, place, had, f"{protocol.seed}/{rater}/retest"):
        return _retest(shown, draw)
    return None


def _due(share: float, place: int, had: int, seed: str) -> bool:
    """Whether one more keeps the share; where the first comes is drawn."""
    return math.floor(share * (place + 1) + Random(seed).random()) > had


def _retest(shown: Sequence[Shown], draw: Random) -> Given | None:
    """An item that the rater answered a while ago, once more with its sides turned."""
    again = {one.slot.pairing for one in shown if one.retest}
    early = shown[: max(len(shown) - RETEST_AFTER, 0)]
    there = [one for one in early if one.done and one.slot.kind == "item" and one.slot.pairing not in again]
    if not there:
        return None
    one = draw.choice(there)
    return Given(one.slot.pairing, not one.x_left, 1)


def _item(
    shown: Sequence[Shown], fresh: Sequence[Slot], protocol: StudyProtocol, draw: Random
) -> Given | None:
    lean, lately = _lean(shown), {one.slot.prompt for one in shown[-APART:]}
    best: list[Slot] = []
    least: tuple[bool, bool, int] | None = None
    for slot in fresh:
        often = slot.xy + slot.yx
        if slot.kind != "item" or often >= protocol.target:
            continue
        rank = (_tilts(slot, lean.get(slot.pair, 0)), slot.prompt in lately, often)
        if least is None or rank < least:
            best, least = [slot], rank
        elif rank == least:
            best.append(slot)
    return _placed(draw.choice(best), shown, draw) if best else None


def _lean(shown: Iterable[Shown]) -> dict[int, int]:
    """By pair of systems: how much oftener the rater had its first on the left than on the right."""
    lean: dict[int, int] = {}
    for one in shown:
        if one.slot.kind == "item" and not one.retest and one.done:
            lean[one.slot.pair] = lean.get(one.slot.pair, 0) + (1 if one.x_left else -1)
    return lean


def _tilts(slot: Slot, lean: int) -> bool:
    """Whether the only side that is left in the pairing's block takes the rater out of balance."""
    if slot.xy == slot.yx:
        return False
    return abs(lean + (1 if slot.xy < slot.yx else -1)) > 1


def _placed(slot: Slot, shown: Sequence[Shown], draw: Random) -> Given:
    coin = draw.random() < 0.5
    lean = _lean(shown).get(slot.pair, 0) if slot.kind == "item" else 0
    wish = coin if lean == 0 else lean < 0
    x_left = wish if slot.xy == slot.yx else slot.xy < slot.yx
    return Given(slot.pairing, x_left, kind=slot.kind)
