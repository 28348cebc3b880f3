"""The counts over all sessions on a real database: against a recount, and each round once."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path

import pytest

from core.domain import Completion, Decision, Ruling, Task, Usage
from core.importing.making import sessions_of
from core.importing.trajectories import read_trajectories
from core.insight import By, Scope
from core.listing import Chosen
from core.models.protocol import Reply
from core.questions import Chart, Insight, insight
from core.running import Stop
from core.studies.blinding import RaterView
from core.studies.material import Entry
from core.studies.records import Answered
from storage.archive import SqlArchive
from storage.database import open_database
from storage.insight_store import SqlInsightStore
from tests.benches import CRITIQUE, Bench, recipe
from tests.played import FIRST, PERSON, SCORES, SECOND, TEXTS, bench_in, played
from tests.studies import OWNER
from tests.studies import House as Owner
from tests.trajectory_counts import FILES, recount, trajectory_file

AT = datetime(2026, 11, 1, tzinfo=UTC)


def chart(found: tuple[Chart, ...], key: str) -> Chart:
    return next(each for each in found if each.key == key)


@pytest.mark.parametrize("name", FILES)
def test_the_real_trajectories_come_out_as_in_the_file(name: str, tmp_path: Path) -> None:
    path = trajectory_file(name)
    engine = open_database(f"sqlite:///{tmp_path}/redraft.db")
    SqlArchive(engine).receive(
        sessions_of(read_trajectories(path.read_bytes(), name), (AT + timedelta(seconds=n) for n in count()))
    )
    found = insight(SqlInsightStore(engine), Scope(), "model")
    expected = recount(path)
    reached = {line.name: line.figures[0] for line in chart(found.charts, "reached").lines}
    counts = {name: round((figure.value or 0) * figure.n) for name, figure in reached.items()}
    assert {figure.n for figure in reached.values()} == {expected.records} == {found.sessions}
    assert counts == {
        "the first draft": expected.first,
        "the last attempt": expected.last,
        "the text that stands": expected.last,
        "any of them": expected.any,
    }
    by_policy, by_person = chart(found.charts, "accepted").lines[0].figures
    assert by_policy.value is by_person.value is None, "nobody is known to have ruled there"


# -- a few sessions, counted by hand ------------------------------------------------------------


@dataclass(frozen=True)
class House:
    """A bench and the counts on its database."""

    bench: Bench
    counts: SqlInsightStore

    def asked(self, scope: Scope = Scope(), by: By = "strategy") -> Insight:  # noqa: B008 - frozen
        return insight(self.counts, scope, by)

    def lines(self, key: str, scope: Scope = Scope()) -> dict[str, list[tuple[int, float | None]]]:  # noqa: B008
        found = chart(self.asked(scope).charts, key)
        return {line.name: [(f.n, f.value) for f in line.figures] for line in found.lines}


@pytest.fixture
def house(tmp_path: Path) -> House:
    engine = open_database(f"sqlite:///{tmp_path}/redraft.db")
    return House(bench_in(tmp_path, 4), SqlInsightStore(engine))


def by(*rulings: Ruling) -> tuple[Decision, ...]:
    """Critiques accepted, and these rulings on the revisions."""
    return tuple(d for ruling in rulings for d in (Decision("accept", PERSON), Decision(ruling, PERSON)))


def test_gains_and_rulings_are_those_of_the_rounds(house: House) -> None:
    played(house.bench)  # accepted in part at -2 against -3, then written over at -1 against -2.5
    played(house.bench, by("reject", "accept"))  # -2 against -3 is rejected, -1 against -3 accepted
    gain = house.lines("gain")
    assert gain["round 1"] == [(2, 1.0), (1, 0.0)]
    assert gain["round 2"] == [(2, 1.75), (1, 2.0)]
    assert house.lines("accepted") == {
        "round 1": [(0, None), (2, 0.5)],
        "round 2": [(0, None), (2, 0.5)],
    }
    assert house.lines("points")["at least one major point"] == [(0, None), (4, 0.5)]
    overruled = house.lines("overruled")
    assert overruled["it would accept, a person did not"] == [(2, 0.5)]
    assert overruled["it would reject, a person accepted"] == [(0, None)]


def test_the_policys_rulings_are_counted_apart(house: House) -> None:
    session_id = house.bench.new("auto")
    asyncio.run(house.bench.advance(session_id, lambda _: None, Stop()))
    assert house.lines("accepted")["round 1"] == [(1, 1.0), (0, None)]
    assert house.lines("overruled")["it would accept, a person did not"] == [(0, None)]


def test_a_forks_copied_rounds_are_counted_once(house: House) -> None:
    session_id = played(house.bench, by("reject", "accept"))
    alone = house.lines("gain"), house.lines("accepted")
    copy = house.bench.store.fork(session_id, 9)  # all of the first round, and the second one's critique
    house.bench.store.fold(copy)
    found = house.asked()
    assert (found.sessions, found.forks, found.rounds) == (2, 1, 2)
    assert (house.lines("gain"), house.lines("accepted")) == alone
    house.bench.store.delete(session_id)
    assert house.asked().rounds == 1  # the copy stands for itself when its parent is gone


def test_what_is_deleted_is_not_counted_and_comes_back(house: House) -> None:
    session_id = played(house.bench)
    stamp = house.counts.stamp()
    house.bench.store.delete(session_id)
    assert house.asked().sessions == house.asked().rounds == 0 and house.counts.stamp() != stamp
    house.bench.store.restore(session_id)
    assert house.asked().sessions == 1 and house.counts.stamp() == stamp


def test_sessions_are_chosen_by_preset_model_scorer_and_day(house: House) -> None:
    played(house.bench)
    other = recipe(rounds=1, scorer="heuristic")
    played(
        house.bench, by("accept"), replace(other, preset=other.preset.replace("name: rewrite", "name: other"))
    )
    chosen = {
        "preset": Scope(preset="other"),
        "scorer": Scope(scorer="heuristic"),
        "day": Scope(since=datetime.now(UTC) + timedelta(days=1)),
        "before": Scope(until=datetime.now(UTC) + timedelta(days=1)),
        "model": Scope(model="none"),
    }
    counts = {name: house.asked(scope).sessions for name, scope in chosen.items()}
    assert counts == {"preset": 1, "scorer": 1, "day": 0, "before": 2, "model": 0}
    assert house.asked(by="preset").scorers == (("heuristic", 1), ("logprob", 1))
    names = [line.name for line in chart(house.asked(by="preset").charts, "compared").lines]
    assert names == ["other", "rewrite"]


def test_sessions_with_a_tag_are_counted_until_it_is_taken_off(house: House) -> None:
    one, _ = played(house.bench), played(house.bench)
    listing, chosen, stamps = house.bench.store.listing, Chosen((one,)), [house.counts.stamp()]
    for on, expected in ((True, 1), (False, 0)):
        done = listing.tag(chosen, "pilot", on=on)
        stamps.append(house.counts.stamp())
        found = house.asked(Scope(tag="pilot"))
        assert (found.sessions, found.rounds) == (expected, 2 * expected)
    listing.undo(done.undo)
    stamps.append(house.counts.stamp())
    assert house.asked(Scope(tag="pilot")).sessions == 1
    none, tagged, off, again = stamps
    assert len({none, tagged, off}) == 3 and again == tagged, (
        "remembered answers would be told after a change"
    )


def test_right_and_wrong_are_a_verifiers_word(tmp_path: Path) -> None:
    texts = [r"It is \boxed{41}.", CRITIQUE, r"It is \boxed{42}.", CRITIQUE, r"It is \boxed{43}."]
    bench = Bench(tmp_path, texts)
    house = House(bench, SqlInsightStore(open_database(f"sqlite:///{tmp_path}/redraft.db")))
    task = Task("What is 6 * 7?", reference="42")
    played(bench, by("accept", "accept"), recipe(rounds=2, scorer="math_equivalence"), task)
    assert house.lines("verified") == {
        "all rounds": [(1, 1.0), (1, 1.0)],
        "round 1": [(1, 1.0), (0, None)],
        "round 2": [(0, None), (1, 1.0)],
    }
    reached = {name: figures[0] for name, figures in house.lines("reached").items()}
    assert reached == {
        "the first draft": (1, 0.0),
        "the last attempt": (1, 0.0),
        "the text that stands": (1, 0.0),
        "any of them": (1, 1.0),
    }
    assert house.lines("fallen") == {"stands on less than its best": [(1, 1.0)]}


def test_a_price_is_what_rounds_took_for_each_improvement(tmp_path: Path) -> None:
    timed = [Reply((Completion(text),), Usage(10, 5, 0), 2.0, "scripted") for text in TEXTS]
    bench = Bench(tmp_path, timed, scores=SCORES)
    house = House(bench, SqlInsightStore(open_database(f"sqlite:///{tmp_path}/redraft.db")))
    played(bench, by("reject", "accept"))  # four calls in two rounds, one improvement
    assert house.lines("seconds")["all"] == [(1, 8.0)]
    assert house.lines("tokens")["self_refine"] == [(1, 60.0)]
    assert house.lines("money")["all"] == [(0, None)]
    uncounted = [Reply((Completion(text),), Usage(), 0.0, "scripted") for text in TEXTS]
    played(Bench(tmp_path, uncounted, scores=SCORES), by("reject", "accept"))
    assert house.lines("seconds")["all"] == [(1, 8.0)], "what nobody counted makes nothing cheaper"
    assert house.lines("tokens")["all"] == [(1, 60.0)]


def test_raters_say_who_was_right_once_the_study_is_unblinded(house: House, tmp_path: Path) -> None:
    session_id = played(house.bench, by("reject", "accept"))  # FIRST against the policy
    house.bench.store.fold(house.bench.store.fork(session_id, 9))  # the same ruling again, in a copy
    asked = "raters side with the person, of their votes on both texts"
    owner = Owner(tmp_path)
    study = owner.open(items=[Entry("key", "Say it.", (("alpha", FIRST), ("beta", SECOND)))])
    for token, text in zip(owner.raters(study, 3), (FIRST, FIRST, SECOND), strict=True):
        owner.rate(token, lambda view, text=text: side_of(view, text))  # type: ignore[misc]
    assert house.lines("overruled")[asked] == [(0, None)]  # still blind
    stamp = house.counts.stamp()
    owner.studies.lock(study, OWNER)
    owner.studies.unblind(study, OWNER, "all have voted")
    assert house.lines("overruled")[asked] == [(3, 2 / 3)]
    assert house.counts.stamp() != stamp


def side_of(view: RaterView, text: str) -> Answered:
    """The side on which the rater sees the text."""
    assert view.pair is not None
    return "left" if view.pair.left == text else "right"
