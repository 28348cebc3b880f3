"""Lists among many sessions: every filter and order against a look at every single session; marks; undo."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import select

from benchmarks.synthetic_sessions import COMMON, LAST, PAIR, RARE, fill
from core.facts import Facts, facts_of
from core.listing import SORTS, Chosen, Filter, Order, Sort
from core.sessions import Summary
from storage import finding
from storage.database import open_database
from storage.store import SqlStore
from storage.tables import RoundFactsRow

COUNT = 150
KEY = RoundFactsRow.number, RoundFactsRow.round
WHOLE = Filter()


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> SqlStore:
    """A store that no test of this module changes."""
    engine = open_database(f"sqlite:///{tmp_path_factory.mktemp('many')}/redraft.db")
    fill(engine, COUNT)
    return SqlStore(engine)


@pytest.fixture(scope="module")
def everything(filled: SqlStore) -> list[tuple[Summary, Facts, str]]:
    """Every session with its facts, folded afresh from its steps, and all its texts."""
    found = []
    for summary in filled.recent(COUNT):
        session = filled.load(summary.id)
        answers = " ".join(repr(step) for step in session.steps if step.request.kind == "ask")
        texts = f"{session.title} {session.task.input} {session.task.instruction} {answers}"
        found.append((summary, facts_of(session, summary.ending), texts))
    return found


@pytest.fixture(params=[1000, 5], ids=["few", "many"])
def few(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Both ways of looking: all candidates at once, and walks through indexes."""
    monkeypatch.setattr(finding, "FEW", request.param)
    yield


def test_what_the_tables_say_is_what_a_fold_of_the_steps_finds(filled: SqlStore) -> None:
    before = filled.recent(20)
    for summary in before:
        filled.fold(summary.id)
    assert filled.recent(20) == before


Check = Callable[[Summary, Facts, str], bool]
HALF = LAST - timedelta(minutes=5 * COUNT // 2)
CASES: dict[str, tuple[Filter, Check]] = {
    "all": (WHOLE, lambda s, f, t: True),
    "preset": (Filter(preset="dialogue_response"), lambda s, f, t: f.preset == "dialogue_response"),
    "strategy": (Filter(strategy="best_of_n"), lambda s, f, t: f.strategy == "best_of_n"),
    "model": (Filter(model="starter"), lambda s, f, t: "starter" in f.models),
    "outcome": (Filter(outcome="rounds"), lambda s, f, t: f.outcome == "rounds"),
    "decision": (
        Filter(decision="rejected by policy"),
        lambda s, f, t: f.policy_rejected > 0,
    ),
    "tag": (Filter(tag="paper"), lambda s, f, t: "paper" in s.tags),
    "starred": (Filter(starred=True), lambda s, f, t: s.starred),
    "gain": (Filter(change_least=0.5), lambda s, f, t: f.change is not None and f.change >= 0.5),
    "no gain": (Filter(change_most=0.0), lambda s, f, t: f.change is not None and f.change <= 0),
    "cost": (
        Filter(cost_least=0.005, cost_most=0.02),
        lambda s, f, t: f.money is not None and 0.005 <= f.money <= 0.02,
    ),
    "since": (Filter(since=HALF), lambda s, f, t: s.created_at >= HALF),
    "until": (Filter(until=HALF), lambda s, f, t: s.created_at < HALF),
    "common": (Filter(COMMON), lambda s, f, t: COMMON in t),
    "rare": (Filter(RARE), lambda s, f, t: RARE in t),
    "pair": (Filter(PAIR), lambda s, f, t: PAIR in t),
    "part of a word": (Filter(COMMON[2:6]), lambda s, f, t: COMMON[2:6] in t),
    "two letters": (Filter("zz"), lambda s, f, t: "zz" in t),
    "two words": (Filter(f"{PAIR} {COMMON}"), lambda s, f, t: PAIR in t and COMMON in t),
    "rare and common": (Filter(f"{COMMON} {RARE}"), lambda s, f, t: COMMON in t and RARE in t),
    "nowhere": (Filter("qqqq"), lambda s, f, t: False),
    "word and facet": (
        Filter(COMMON, strategy="self_refine"),
        lambda s, f, t: COMMON in t and f.strategy == "self_refine",
    ),
    "three facets": (
        Filter(strategy="self_refine", model="starter", outcome="rounds"),
        lambda s, f, t: f.strategy == "self_refine" and "starter" in f.models and f.outcome == "rounds",
    ),
    "facet and range": (
        Filter(preset="rewrite", change_least=0.1, since=HALF),
        lambda s, f, t: f.preset == "rewrite" and (f.change or 0) >= 0.1 and s.created_at >= HALF,
    ),
    "everything": (
        Filter(COMMON, strategy="self_refine", change_least=0.0, cost_most=0.02, until=HALF),
        lambda s, f, t: (
            COMMON in t
            and f.strategy == "self_refine"
            and f.change is not None
            and f.change >= 0
            and f.money is not None
            and f.money <= 0.02
            and s.created_at < HALF
        ),
    ),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.usefixtures("few")
def test_a_filter_finds_what_a_look_at_every_session_finds(
    filled: SqlStore, everything: list[tuple[Summary, Facts, str]], name: str
) -> None:
    wanted, check = CASES[name]
    expected = [summary.id for summary, facts, texts in everything if check(summary, facts, texts)]
    assert (not expected) == (name == "nowhere") and (len(expected) == COUNT) == (name == "all")
    assert [s.id for s in filled.listing.find(wanted, Order(), COUNT)] == expected
    assert filled.listing.count(wanted, COUNT) == len(expected)


VALUES: dict[Sort, Callable[[Summary], object]] = {
    "newest": lambda s: s.created_at,
    "changed": lambda s: s.changed_at,
    "change": lambda s: s.change,
    "cost": lambda s: s.money,
    "tokens": lambda s: s.tokens,
    "rounds": lambda s: s.rounds,
}


def ordered(summaries: list[Summary], order: Order) -> list[str]:
    """The ids in order by a plain sort: known values first, ties and unknown by the start."""
    way = -1 if not order.ascending else 1
    value = VALUES[order.sort]
    by_start = sorted(summaries, key=lambda s: s.created_at, reverse=not order.ascending)
    known = [s for s in by_start if value(s) is not None]
    known.sort(key=value, reverse=way < 0)  # type: ignore[arg-type]  # comparable among themselves
    return [s.id for s in [*known, *(s for s in by_start if value(s) is None)]]


@pytest.mark.parametrize("ascending", [False, True])
@pytest.mark.parametrize("sort", SORTS)
@pytest.mark.usefixtures("few")
def test_pages_of_every_order_join_to_the_whole_in_that_order(
    filled: SqlStore, sort: Sort, ascending: bool
) -> None:
    order = Order(sort, ascending)
    words = Filter(COMMON), Filter(f"{COMMON} {RARE}")
    for wanted in (WHOLE, *words, Filter(strategy="self_refine"), Filter(change_least=0.0)):
        whole = filled.listing.find(wanted, Order(), COUNT)
        paged: list[str] = []
        while page := filled.listing.find(wanted, order, 17, paged[-1] if paged else None):
            paged += [summary.id for summary in page]
        assert paged == ordered(whole, order)


def test_a_word_of_few_leads_to_them_however_common_another_is(filled: SqlStore) -> None:
    both = Filter(f"{COMMON} {RARE}")
    with filled._read.connect() as connection:  # how it is looked for is not to be seen from outside
        few = finding.Finding(connection, both, Order())._few()
        assert few is not None
        assert len(connection.scalars(few).all()) == filled.listing.count(both) < COUNT / 2


# -- what changes lists -----------------------------------------------------------------------------


@pytest.fixture
def store(tmp_path: Path) -> SqlStore:
    engine = open_database(f"sqlite:///{tmp_path}/redraft.db")
    fill(engine, 30)
    return SqlStore(engine)


def test_a_bulk_deletion_is_undone_as_a_whole_and_leaves_others_deleted(store: SqlStore) -> None:
    before = store.recent(99)
    store.delete(before[0].id)
    gone = store.listing.delete(Chosen(None, Filter(strategy="self_refine")))
    left = store.recent(99)
    assert gone.sessions == sum(s.strategy == "self_refine" for s in before[1:])
    assert left and all(s.strategy != "self_refine" for s in left)
    assert store.listing.undo(gone.undo) == gone.sessions
    assert store.recent(99) == before[1:]
    assert store.listing.undo(gone.undo) == 0


def test_tags_go_on_and_off_in_bulk_and_back(store: SqlStore) -> None:
    ids = [summary.id for summary in store.recent(4)]
    listing = store.listing
    listing.tag(Chosen((ids[0],)), "for me", on=True)
    done = listing.tag(Chosen(tuple(ids)), "  for \n me ", on=True)
    assert done.sessions == 3
    assert [s.id for s in listing.find(Filter(tag="for me"), Order(), 9)] == ids
    assert "for me" in listing.choices()["tag"]
    assert listing.undo(done.undo) == 3
    assert [s.id for s in listing.find(Filter(tag="for me"), Order(), 9)] == ids[:1]
    off = listing.tag(Chosen(None, Filter(tag="for me")), "for me", on=False)
    assert off.sessions == 1 and listing.find(Filter(tag="for me"), Order(), 9) == []
    assert "for me" not in listing.choices()["tag"]
    assert listing.undo(off.undo) == 1
    assert [s.id for s in listing.find(Filter(tag="for me"), Order(), 9)] == ids[:1]


def test_marks_survive_a_fold(store: SqlStore) -> None:
    session_id = store.recent(1)[0].id
    store.listing.tag(Chosen((session_id,)), "kept", on=True)
    store.listing.star(session_id, None, on=True)
    store.fold(session_id)
    [found] = store.listing.find(Filter(tag="kept", starred=True), Order(), 9)
    assert (found.id, found.starred, "kept" in found.tags) == (session_id, True, True)


def test_a_new_session_with_steps_is_listed_as_a_fold_would_list_it(store: SqlStore) -> None:
    def listed() -> list[object]:
        with store._read.connect() as connection:  # figures read these rows
            rounds = connection.execute(select(RoundFactsRow.__table__).order_by(*KEY)).all()
        refined = Filter(strategy="self_refine", decision="accepted by policy")
        found = [store.listing.find(wanted, Order(), 99) for wanted in (WHOLE, Filter(COMMON), refined)]
        return [len(rounds) > 30, rounds, *map(len, found), *found]

    forks = [store.fork(summary.id, summary.steps) for summary in store.recent(30)]
    before = listed()
    for session_id in forks:
        store.fold(session_id)
    assert listed() == before and before[0] and before[2] == 60


def test_a_candidate_may_have_a_star_of_its_own(store: SqlStore) -> None:
    many = store.listing.find(Filter(strategy="best_of_n"), Order(), 1)[0].id
    store.listing.star(many, None, on=False)
    store.listing.star(many, 2, on=True)
    store.listing.star(many, 0, on=True)
    store.listing.star(many, 0, on=True)
    assert store.listing.stars(many) == [0, 2]
    found = {s.id: s for s in store.listing.find(Filter(starred=True), Order(), 99)}
    assert not found[many].starred
    store.listing.star(many, 0, on=False)
    store.listing.star(many, 2, on=False)
    assert store.listing.stars(many) == []
    assert many not in {s.id for s in store.listing.find(Filter(starred=True), Order(), 99)}


def test_the_chosen_come_in_parts_that_join_to_the_whole(store: SqlStore) -> None:
    wanted = Chosen(None, Filter(COMMON))
    ids: list[str] = []
    while part := store.listing.ids(wanted, 4, ids[-1] if ids else None):
        ids += part
    assert ids == [s.id for s in store.listing.find(wanted.filter, Order(), 99)]
    picked = Chosen(tuple(ids[:5]))
    assert store.listing.ids(picked, 3) == ids[:3] and store.listing.ids(picked, 3, ids[2]) == ids[3:5]


def test_those_left_out_are_not_touched(store: SqlStore) -> None:
    keep = store.recent(1)[0].id
    store.listing.delete(Chosen(but=frozenset({keep})))
    assert [s.id for s in store.recent(9)] == [keep]


@pytest.mark.parametrize("seed", range(3))
def test_hostile_queries_are_ordinary_words(store: SqlStore, seed: int) -> None:
    rng = random.Random(seed)
    pieces = [
        '"',
        "'",
        "*",
        "(",
        ")",
        "AND",
        "NEAR/2",
        "^",
        ":",
        "-",
        "text:",
        "\0",
        "\\",
        "%",
        "_",
        "海",
        "é",
    ]
    for _ in range(60):
        query = "".join(rng.choices(pieces, k=rng.randint(1, 12)))
        found = store.recent(99, query=query)
        assert len(found) in (0, 30) or all(each in store.recent(99) for each in found)
        assert store.listing.count(replace(WHOLE, query=query)) == len(found)
