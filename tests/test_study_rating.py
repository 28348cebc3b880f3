"""A rater's side: what is shown stays, what is sent counts once, the rest is refused and logged."""

from __future__ import annotations

import os
import threading
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError

from core.studies.material import Entry
from core.studies.protocol import BadStudy, StudyProtocol
from core.studies.rating import Refused
from core.studies.records import KeptVote
from tests.studies import OWNER, USUAL, House, ballot, entries

LEFT = ballot("left")


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


def votes(house: House, study: str) -> tuple[KeptVote, ...]:
    return house.store.look(study, lambda desk: desk.votes())


def refusals(house: House, study: str) -> list[object]:
    return [event.detail["why"] for event in house.studies.events(study) if event.kind == "refused"]


def pair_of(house: House, token: str) -> str:
    pair = house.rating.view(token).pair
    assert pair is not None
    return pair.token


# -- shown once, counted once ------------------------------------------------------------------


def test_looking_again_from_wherever_shows_the_same_pair_on_the_same_sides(house: House) -> None:
    study = house.open()
    (token,) = house.raters(study, 1)
    first = house.rating.view(token)
    house.clock.move(20)
    assert house.rating.view(token) == first
    assert House(Path(house.url.removeprefix("sqlite:///")).parent).rating.view(token) == first


def test_a_rater_votes_until_nothing_is_left_and_every_vote_is_kept(house: House) -> None:
    study = house.open(StudyProtocol(target=2), entries(5))
    one, two, three = house.raters(study, 3)
    assert house.rate(one, lambda view: "left").state == "done"
    assert house.rate(two, lambda view: "tie").state == "done"
    assert house.rating.view(three).state == "waiting"
    assert Counter(vote.ballot.choice for vote in votes(house, study)) == {"left": 5, "tie": 5}


def test_progress_goes_up_by_one_with_every_answer(house: House) -> None:
    house_study = house.open(StudyProtocol(target=1, per_rater=3), entries(5))
    (token,) = house.raters(house_study, 1)
    seen = [house.rating.view(token).progress]
    for _ in range(3):
        seen.append(house.rating.vote(token, pair_of(house, token), ballot("skip")).progress)
    assert [(p.done, p.of) for p in seen] == [(0, 3), (1, 3), (2, 3), (3, 3)]


def test_the_same_post_again_changes_nothing_and_is_logged(house: House) -> None:
    study = house.open()
    (token,) = house.raters(study, 1)
    pair, sent = pair_of(house, token), ballot("left")
    after = house.rating.vote(token, pair, sent)
    assert house.rating.vote(token, pair, sent) == after
    assert len(votes(house, study)) == 1
    assert [event.kind for event in house.studies.events(study)][-1] == "repeated"


def test_two_different_posts_at_once_leave_one_vote(house: House) -> None:
    study = house.open()
    (token,) = house.raters(study, 1)
    pair, outcomes = pair_of(house, token), []
    ready = threading.Barrier(8)

    def post() -> None:
        ready.wait()
        try:
            house.rating.vote(token, pair, ballot("left"))
            outcomes.append("kept")
        except Refused as refused:
            outcomes.append(refused.kind)

    threads = [threading.Thread(target=post) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert Counter(outcomes) == {"kept": 1, "answered": 7}
    assert len(votes(house, study)) == 1


def test_a_stale_tab_counts_for_nothing_and_the_other_goes_on(house: House) -> None:
    study = house.open()
    (token,) = house.raters(study, 1)
    stale = pair_of(house, token)
    now = house.rating.vote(token, stale, ballot("left"))
    with pytest.raises(Refused, match="answered already") as refused:
        house.rating.vote(token, stale, ballot("right"))
    assert refused.value.kind == "answered"
    assert house.rating.view(token) == now
    assert [vote.ballot.choice for vote in votes(house, study)] == ["left"]


# -- what is refused ------------------------------------------------------------------------------


def test_another_raters_pair_another_studys_pair_and_unknown_ones_are_refused(house: House) -> None:
    study, other = house.open(), house.open()
    one, two = house.raters(study, 2)
    (third,) = house.raters(other, 1)
    for pair in (pair_of(house, two), pair_of(house, third), "x" * 22):
        with pytest.raises(Refused) as refused:
            house.rating.vote(one, pair, LEFT)
        assert refused.value.kind == "foreign"
    assert votes(house, study) == votes(house, other) == ()
    assert refusals(house, study) == ["foreign"] * 3


def test_an_answer_replayed_for_another_pair_is_refused(house: House) -> None:
    study = house.open()
    (token,) = house.raters(study, 1)
    sent = ballot("left")
    house.rating.vote(token, pair_of(house, token), sent)
    with pytest.raises(Refused) as refused:
        house.rating.vote(token, pair_of(house, token), sent)
    assert refused.value.kind == "replay" and refusals(house, study) == ["replay"]


@pytest.mark.parametrize(
    "bad",
    [
        replace(LEFT, choice="zeta-q4"),  # type: ignore[arg-type]
        replace(LEFT, choice="tie"),
        replace(LEFT, choice="undone"),
        replace(LEFT, strength=3),
        replace(LEFT, criteria=(("brave", "left"),)),
        replace(LEFT, criteria=(("clear", "left"), ("clear", "right"))),
        replace(LEFT, criteria=(("clear", "omega-f16"),)),  # type: ignore[arg-type]
        replace(LEFT, reason="a\0b"),
        replace(LEFT, reason="x" * 6_000),
        replace(LEFT, client_uuid="' or 1=1"),
    ],
)  # fmt: skip
def test_what_is_not_offered_is_refused_and_logged_without_its_text(house: House, bad: object) -> None:
    protocol = StudyProtocol(
        choices=("left", "right"), ask_strength=True, ask_reason=True, criteria=("clear",)
    )
    study = house.open(protocol)
    (token,) = house.raters(study, 1)
    with pytest.raises(Refused) as refused:
        house.rating.vote(token, pair_of(house, token), bad)  # type: ignore[arg-type]
    assert refused.value.kind == "form" and votes(house, study) == ()
    (event,) = [event for event in house.studies.events(study) if event.kind == "refused"]
    assert event.detail == {"why": "form", "seq": 0} and event.actor == "R001"


def test_what_was_said_is_kept_and_only_where_it_means_something(house: House) -> None:
    protocol = StudyProtocol(ask_strength=True, ask_reason=True, criteria=("clear", "kind"))
    study = house.open(protocol)
    (token,) = house.raters(study, 1)
    full = ballot(
        "right", strength=2, criteria=(("kind", "tie"),), reason="</script> \u2028 🌍", active_ms=1234
    )
    house.rating.vote(token, pair_of(house, token), full)
    house.rating.vote(token, pair_of(house, token), ballot("tie", strength=2, active_ms=-5))
    first, second = (vote.ballot for vote in votes(house, study))
    assert first == full
    assert (second.strength, second.active_ms) == (0, None)


def test_nothing_is_taken_after_the_lock_and_little_in_a_pause(house: House) -> None:
    study = house.open()
    one, two = house.raters(study, 2)
    pairs = [pair_of(house, token) for token in (one, two)]
    house.studies.pause(study, OWNER)
    assert house.rating.vote(one, pairs[0], ballot("left")).state == "paused"
    with pytest.raises(Refused, match="pauses"):
        house.rating.undo(one, "undo-0001")
    house.studies.open(study, OWNER)
    assert house.rating.view(one).state == "pair"
    house.studies.lock(study, OWNER)
    with pytest.raises(Refused, match="has ended") as refused:
        house.rating.vote(two, pairs[1], ballot("left"))
    assert refused.value.kind == "ended" and len(votes(house, study)) == 1
    with pytest.raises(Refused):
        house.rating.undo(one, "undo-0002")
    assert house.rating.view(two).state == "closed"


def test_a_link_that_leads_nowhere_is_refused_and_logged_outside_of_studies(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("storage.study_store.MOST_OUTSIDE", 1)  # a flood of them fills no disk
    for _ in range(3):
        with pytest.raises(Refused, match="leads to no study"):
            house.rating.view("nowhere\ud800")
    with house.store._read.connect() as connection:
        logged = connection.execute(text("SELECT study_id, kind FROM study_event")).all()
    assert [tuple(row) for row in logged] == [(None, "refused")]


def test_no_link_can_be_read_out_of_the_database(house: House) -> None:
    study = house.open()
    tokens = [*house.raters(study, 3), house.studies.open_link(study, OWNER)]
    kept = b"".join(path.read_bytes() for path in Path(house.url.removeprefix("sqlite:///")).parent.iterdir())
    assert all(len(token) >= 22 and token.encode() not in kept for token in tokens)


def test_consent_comes_first_where_it_is_asked_for(house: House) -> None:
    study = house.open(StudyProtocol(consent="I agree.", instructions="Read both."))
    (token,) = house.raters(study, 1)
    view = house.rating.view(token)
    assert (view.state, view.consent, view.pair) == ("consent", "I agree.", None)
    assert house.rating.consent(token).state == "pair"
    assert house.rating.consent(token).state == "pair"
    (late,) = house.raters(study, 1)
    house.studies.lock(study, OWNER)
    assert house.rating.consent(late).state == "closed"
    assert [rater.consent_at is None for rater in house.store.look(study, lambda d: d.raters())] == [
        False,
        True,
    ]


# -- undo, skip, leaving --------------------------------------------------------------------------


def test_undo_shows_the_pair_again_and_the_new_vote_is_a_new_version(house: House) -> None:
    study = house.open()
    (token,) = house.raters(study, 1)
    first = house.rating.view(token)
    assert first.pair and not first.can_undo
    second = house.rating.vote(token, first.pair.token, ballot("left"))
    assert second.can_undo
    again = house.rating.undo(token, "undo-0001")
    assert again.pair == first.pair and not again.can_undo
    assert house.rating.undo(token, "undo-0001") == again  # a double click withdraws nothing more
    assert votes(house, study) == ()
    after = house.rating.vote(token, first.pair.token, ballot("right"))
    assert after.pair == second.pair
    (vote,) = votes(house, study)
    assert (vote.ballot.choice, vote.version) == ("right", 3)


def test_several_votes_can_be_undone_one_after_the_other_but_no_more_than_there_are(house: House) -> None:
    study = house.open()
    (token,) = house.raters(study, 1)
    shown = []
    for _ in range(3):
        shown.append(pair_of(house, token))
        house.rating.vote(token, shown[-1], ballot("left"))
    back = [house.rating.undo(token, f"undo-000{n}").pair for n in range(3)]
    assert [pair.token for pair in back if pair] == shown[::-1]
    with pytest.raises(Refused):
        house.rating.undo(token, "undo-0009")
    house.rate(token, lambda view: "right")
    assert [vote.ballot.choice for vote in votes(house, study)] == ["right"] * 4


def test_a_skip_is_no_vote_and_its_place_goes_to_the_next_on_the_same_sides(house: House) -> None:
    study = house.open(StudyProtocol(target=1), entries(1))
    one, two = house.raters(study, 2)
    skipped = house.rating.view(one).pair
    assert skipped and house.rating.vote(one, skipped.token, ballot("skip")).state == "done"
    other = house.rating.view(two).pair
    assert other and (other.left, other.right) == (skipped.left, skipped.right)
    assert other.token != skipped.token
    with pytest.raises(Refused) as refused:  # the place is taken by now
        house.rating.undo(one, "undo-0001")
    assert refused.value.kind == "gone"


def test_a_skip_can_be_undone_while_its_place_is_free(house: House) -> None:
    study = house.open(StudyProtocol(target=1), entries(1))
    (one,) = house.raters(study, 1)
    house.rating.vote(one, pair_of(house, one), ballot("skip"))
    assert house.rating.undo(one, "undo-0001").state == "pair"
    house.rate(one, lambda view: "left")
    assert [vote.ballot.choice for vote in votes(house, study)] == ["left"]


def test_a_pair_that_was_left_lying_goes_to_the_next_rater_on_the_same_sides(house: House) -> None:
    study = house.open(StudyProtocol(target=1, reserve_minutes=30), entries(1))
    one, two = house.raters(study, 2)
    left = house.rating.view(one).pair
    assert left and house.rating.view(two).state == "waiting"
    house.clock.move(31)
    other = house.rating.view(two).pair
    assert other and (other.left, other.right) == (left.left, left.right)
    with pytest.raises(Refused) as refused:
        house.rating.vote(one, left.token, ballot("left"))
    assert refused.value.kind == "gone"
    house.clock.move(31)
    assert house.rating.view(one).pair == left  # given back in its turn, so it is theirs again
    house.rating.vote(one, left.token, ballot("left"))
    (slot,) = house.store.look(study, lambda desk: desk.showings())
    assert slot.xy + slot.yx == 1 and len(votes(house, study)) == 1


def test_a_late_vote_counts_while_nobody_else_has_the_pair(house: House) -> None:
    study = house.open(StudyProtocol(target=1), entries(2))
    one, two = house.raters(study, 2)
    pair = pair_of(house, one)
    house.rating.view(two)
    house.clock.move(60 * 24)
    house.rating.vote(one, pair, ballot("left"))
    assert len(votes(house, study)) == 1


# -- stops, crowds, the closing question ----------------------------------------------------------


def test_stop_rules_end_the_giving_out(house: House) -> None:
    study = house.open(StudyProtocol(target=9, stop_votes=3), entries(5))
    one, two = house.raters(study, 2)
    house.rate(one, lambda view: "left")
    assert house.rating.view(two).state == "closed" and len(votes(house, study)) == 3
    until = house.open(StudyProtocol(stop_at="2026-12-01T12:00:00+01:00"))
    (three,) = house.raters(until, 1)
    assert house.rating.view(three).state == "pair"
    house.clock.move(121)
    assert house.rating.vote(three, pair_of(house, three), ballot("left")).state == "done"


def test_one_open_link_makes_raters_and_knows_a_crowd_worker_again(house: House) -> None:
    study = house.open(
        StudyProtocol(target=1, completion_code="C0DE", return_url="https://crowd.example/?c={code}&w={PID}"),
        entries(2),
    )
    link = house.studies.open_link(study, OWNER)
    with pytest.raises(Refused) as refused:
        house.rating.view(link)
    assert refused.value.kind == "join"
    mine = house.rating.join(link, {"PID": "w 1", "STUDY_ID": "s1", "bad name": "x"})
    mine = house.rating.join(link, {"PID": "w1", "STUDY_ID": "s1", "bad name": "x"})
    assert house.rating.join(mine) == mine
    pair = house.rating.view(mine).pair
    elsewhere = house.rating.join(link, {"PID": "w1"})
    assert elsewhere != mine and house.rating.view(elsewhere).pair == pair
    done = house.rate(mine, lambda view: "left")
    assert (done.completion_code, done.return_url) == ("C0DE", "https://crowd.example/?c=C0DE&w=w1")
    second = house.studies.open_link(study, OWNER)
    with pytest.raises(Refused):
        house.rating.join(link)
    house.studies.lock(study, OWNER)
    with pytest.raises(Refused, match="ended"):
        house.rating.join(second, {"PID": "w2"})


def test_the_closing_question_is_asked_once_and_about_a_pair_that_was_judged(house: House) -> None:
    protocol = StudyProtocol(
        target=1, closing_question="Which came second?", closing_system="omega-f16", completion_code="C0DE"
    )
    study = house.open(protocol, entries(3))
    (token,) = house.raters(study, 1)
    with pytest.raises(Refused):
        house.rating.close(token, "left")
    view = house.rate(token, lambda view: "left")
    assert (view.state, view.question, view.completion_code) == ("closing", "Which came second?", "")
    with pytest.raises(Refused):
        house.rating.close(token, "omega-f16")
    assert view.pair
    guess = "left" if "meadow" in view.pair.left else "right"
    done = house.rating.close(token, guess, "nothing")
    assert (done.state, done.completion_code, done.can_undo) == ("done", "C0DE", False)
    with pytest.raises(Refused):
        house.rating.close(token, "left")
    (rater,) = house.store.look(study, lambda desk: desk.raters())
    assert rater.closing and (rater.closing.guess, rater.closing.recognised) == (guess, "nothing")


def test_practice_comes_first_and_gold_can_not_be_told_from_the_rest(house: House) -> None:
    gold = [
        Entry(
            f"g{n}", f"Gold {n}.", (("good", f"Good {n}"), ("bad", f"Bad {n}")), kind="gold", expected="good"
        )
        for n in range(5)
    ]
    practice = Entry("p", "Try.", (("good", "Yes"), ("bad", "No")), kind="practice")
    study = house.open(StudyProtocol(target=1, gold_share=0.25), [*entries(12), *gold, practice])
    (token,) = house.raters(study, 1)
    shown = []

    def look(view: object) -> str:
        shown.append(view)
        return "left"

    house.rate(token, look)  # type: ignore[arg-type]
    kinds = [vote.pairing for vote in votes(house, study)]
    assert [view.pair.practice for view in shown] == [True, *[False] * (len(shown) - 1)]  # type: ignore[attr-defined]
    assert len(kinds) == 1 + 12 + 4
    dones = [view.progress.done for view in shown]  # type: ignore[attr-defined]
    assert dones == [0, *range(len(shown) - 1)]


# -- many at once ---------------------------------------------------------------------------------


def test_a_hundred_raters_at_once_lose_nothing_and_go_beyond_nothing(house: House) -> None:
    a_hundred_at_once([house])


@pytest.mark.skipif(
    "REDRAFT_TEST_POSTGRES" not in os.environ, reason="REDRAFT_TEST_POSTGRES names no database"
)
def test_a_hundred_raters_at_once_by_two_processes_on_postgresql(tmp_path: Path) -> None:
    houses = [House(tmp_path, os.environ["REDRAFT_TEST_POSTGRES"]) for _ in range(2)]
    a_hundred_at_once(houses)
    for house in houses:
        house.engine.dispose()


def a_hundred_at_once(houses: list[House]) -> None:
    """They vote by these houses in turn, which share nothing but their database."""
    house = houses[0]
    study = house.open(StudyProtocol(target=5, per_rater=6, seed=2), entries(100))
    tokens = house.raters(study, 100)
    ready, failed = threading.Barrier(100), []

    def rate(token: str, by: House) -> None:
        ready.wait()
        try:
            by.rate(token, lambda view: "left" if "river" in view.pair.left else "right")  # type: ignore[union-attr]
        except BaseException as error:
            failed.append(error)

    threads = [
        threading.Thread(target=rate, args=(token, houses[number % len(houses)]))
        for number, token in enumerate(tokens)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    kept = votes(house, study)
    assert len(kept) == 500 == len({vote.ballot.client_uuid for vote in kept})
    assert set(Counter(vote.pairing for vote in kept).values()) == {5}
    assert len({(vote.rater, vote.pairing) for vote in kept}) == 500
    assert max(Counter(vote.rater for vote in kept).values()) <= 6
    slots = house.store.look(study, lambda desk: desk.showings())
    assert {abs(slot.xy - slot.yx) for slot in slots} == {1}
    sides = Counter((vote.rater, vote.x_left) for vote in kept)
    gaps = [abs(sides[r, True] - sides[r, False]) for r in {vote.rater for vote in kept}]
    assert sum(gap <= 1 for gap in gaps) >= 90  # in any order of arrival; the last find little to choose from


def test_the_database_itself_refuses_what_must_not_happen_twice(house: House) -> None:
    study = house.open()
    (token,) = house.raters(study, 1)
    house.rating.vote(token, pair_of(house, token), LEFT)
    twice = (
        "INSERT INTO study_vote SELECT assignment_id, version, 'other-uuid', choice, strength, criteria, "
        "reason, active_ms, submitted_at FROM study_vote",
        "INSERT INTO study_vote SELECT assignment_id, 9, client_uuid, choice, strength, criteria, reason, "
        "active_ms, submitted_at FROM study_vote",
        "INSERT INTO study_assignment (study_id, token, rater_id, pairing_id, x_left, seq, state, retest, "
        "shown_at, expires_at, version) SELECT study_id, 'new', rater_id, pairing_id, x_left, 99, state, "
        "retest, shown_at, expires_at, version FROM study_assignment",
        "UPDATE study_vote SET choice = 'zeta-q4'",
        "UPDATE study_pairing SET live = 9",
        "UPDATE study_assignment SET state = 'lost'",
        "UPDATE study SET status = 'unlocked'",
    )
    for statement in twice:
        with (
            pytest.raises(IntegrityError),
            house.store._write.begin() as connection,
        ):
            connection.execute(text(statement))


def test_a_study_without_raters_or_with_a_bad_name_is_refused(house: House) -> None:
    with pytest.raises(BadStudy, match="a name of one line"):
        house.studies.new(" ", USUAL, OWNER)
