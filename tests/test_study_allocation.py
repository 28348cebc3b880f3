"""Allocation as a pure function: thousands of simulated raters, and what must hold whoever comes."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from random import Random

import pytest

from core.studies.allocation import APART, RETEST_AFTER, Given, Shown, Slot, next_for
from core.studies.protocol import StudyProtocol


class Room:
    """Pairings and raters, with everything kept that was given."""

    def __init__(self, slots: list[Slot], protocol: StudyProtocol) -> None:
        self.slots, self.protocol = {slot.pairing: slot for slot in slots}, protocol
        self.shown: dict[str, list[Shown]] = {}

    def give(self, rater: str) -> Given | None:
        had = self.shown.setdefault(rater, [])
        given = next_for(rater, had, self.slots.values(), self.protocol)
        if given:
            had.append(Shown(self.slots[given.pairing], given.x_left, given.retest))
            if not given.retest and self.slots[given.pairing].kind == "item":
                self._count(given, 1)
        return given

    def take_back(self, rater: str) -> None:
        """The rater's last showing is given back."""
        last = self.shown[rater].pop()
        self._count(Given(last.slot.pairing, last.x_left), -1)

    def _count(self, given: Given, by: int) -> None:
        slot = self.slots[given.pairing]
        changed = replace(slot, xy=slot.xy + by) if given.x_left else replace(slot, yx=slot.yx + by)
        self.slots[given.pairing] = changed

    def own(self, rater: str) -> list[Shown]:
        return [one for one in self.shown[rater] if one.slot.kind == "item" and not one.retest]


def pairings(items: int, pairs: int = 1, prompts: int | None = None) -> list[Slot]:
    """`pairs` pairs of systems for each of so many items; items share prompts where there are fewer."""
    return [
        Slot(item * pairs + pair, item % (prompts or items), pair)
        for item in range(items)
        for pair in range(pairs)
    ]


def test_thousands_of_raters_in_any_order_fill_every_pairing_evenly_on_both_sides() -> None:
    room = Room(pairings(60, 3), StudyProtocol(target=40, per_rater=3, seed=4))
    raters = [f"r{n}" for n in range(2_500) for _ in range(3)]
    Random(1).shuffle(raters)
    for number, rater in enumerate(raters):
        room.give(rater)
        if number % 500 == 0:
            often = [slot.xy + slot.yx for slot in room.slots.values()]
            assert max(often) - min(often) <= 2
    assert all((slot.xy, slot.yx) == (20, 20) for slot in room.slots.values())


@pytest.mark.parametrize("target", [1, 2, 5])
def test_no_pairing_beyond_its_target_none_twice_and_sides_within_one(target: int) -> None:
    room = Room(pairings(30, 3), StudyProtocol(target=target, seed=2))
    working, draw = [f"r{n}" for n in range(target * 2)], Random(3)
    while working:
        rater = draw.choice(working)
        if room.give(rater) is None:
            working.remove(rater)
    assert all(slot.xy + slot.yx == target for slot in room.slots.values())
    assert all(abs(slot.xy - slot.yx) <= 1 for slot in room.slots.values())
    for had in room.shown.values():
        assert len({one.slot.pairing for one in had}) == len(had)


def test_each_rater_is_within_one_of_balance_for_each_pair_of_systems() -> None:
    room = Room(pairings(200, 3), StudyProtocol(target=6, per_rater=30, seed=5))
    raters = [f"r{n}" for n in range(60)]
    for place in range(30):
        for rater in Random(place).sample(raters, len(raters)):
            room.give(rater)
    for rater in raters:
        lean = Counter[int]()
        for one in room.own(rater):
            lean[one.slot.pair] += 1 if one.x_left else -1
            assert abs(lean[one.slot.pair]) <= 1


def test_a_showing_that_is_given_back_is_the_next_on_its_side() -> None:
    room = Room(pairings(1), StudyProtocol(target=4, seed=1))
    sides = [given.x_left for rater in "abcd" if (given := room.give(rater))]
    assert room.give("e") is None
    room.take_back("b")
    again = room.give("f")
    assert again and again.x_left == sides[1]
    (slot,) = room.slots.values()
    assert (slot.xy, slot.yx) == (2, 2)


def test_the_order_is_drawn_for_every_rater_and_can_be_had_again() -> None:
    def orders() -> list[list[int]]:
        protocol = StudyProtocol(target=99, seed=8)
        rooms = [Room(pairings(20), protocol) for _ in range(5)]
        return [
            [given.pairing for _ in range(20) if (given := room.give(f"r{n}"))]
            for n, room in enumerate(rooms)
        ]

    first = orders()
    assert first == orders()
    assert len({tuple(order) for order in first}) == 5
    assert all(sorted(order) == list(range(20)) for order in first)


def test_sides_over_many_raters_lean_neither_way() -> None:
    firsts = 0
    for number in range(2_000):
        given = Room(pairings(1), StudyProtocol(target=1, seed=number)).give("r")
        firsts += bool(given and given.x_left)
    assert 900 < firsts < 1_100


def test_items_of_one_prompt_are_spread_apart() -> None:
    room = Room(pairings(40, 1, prompts=10), StudyProtocol(target=5, seed=3))
    prompts = [one.slot.prompt for _ in range(30) if room.give("r") for one in room.shown["r"][-1:]]
    for place, prompt in enumerate(prompts):
        assert prompt not in prompts[max(place - APART, 0) : place]


def test_a_single_prompt_is_asked_all_the_same() -> None:
    room = Room(pairings(4, 3, prompts=1), StudyProtocol(target=1))
    assert [room.give("r") is not None for _ in range(13)] == [True] * 12 + [False]


def test_shares_of_gold_attention_and_retests_are_kept_for_every_rater() -> None:
    slots = [*pairings(80)]
    slots += [Slot(1_000 + n, 1_000 + n, 0, "gold") for n in range(20)]
    slots += [Slot(2_000 + n, 2_000 + n, 0, "attention") for n in range(20)]
    protocol = StudyProtocol(target=99, gold_share=0.1, attention_share=0.05, retest_share=0.1, seed=6)
    room, first_gold = Room(slots, protocol), set()
    for rater in (f"r{n}" for n in range(40)):
        for _ in range(60):
            room.give(rater)
        had = room.shown[rater]
        kinds = [("retest" if one.retest else one.slot.kind) for one in had]
        assert abs(kinds.count("gold") - 6) <= 1
        assert abs(kinds.count("attention") - 3) <= 1
        assert abs(kinds.count("retest") - 6) <= 1
        first_gold.add(kinds.index("gold"))
    assert len(first_gold) > 5


def test_a_retest_turns_the_sides_and_comes_once_and_late() -> None:
    room = Room(pairings(40), StudyProtocol(target=99, retest_share=0.3, seed=9))
    for _ in range(50):
        room.give("r")
    had = room.shown["r"]
    places = {one.slot.pairing: place for place, one in enumerate(had) if not one.retest}
    retests = [(place, one) for place, one in enumerate(had) if one.retest]
    assert len({one.slot.pairing for _, one in retests}) == len(retests) >= 9
    for place, one in retests:
        first = places[one.slot.pairing]
        assert had[first].x_left != one.x_left
        assert place - first > RETEST_AFTER


def test_practice_comes_first_in_its_order_and_counts_for_nothing() -> None:
    slots = [Slot(7, 7, 0, "practice"), *pairings(3), Slot(5, 5, 0, "practice")]
    room = Room(slots, StudyProtocol(target=1, per_rater=2))
    given = [one.pairing for _ in range(9) if (one := room.give("r"))]
    assert given[:2] == [5, 7]
    assert len(given) == 4


def test_gold_alone_is_no_reason_to_go_on() -> None:
    slots = [Slot(1, 1, 0, "gold"), Slot(2, 2, 0, "attention")]
    assert not any(next_for("r", (), slots, StudyProtocol(gold_share=0.4, seed=n)) for n in range(50))
