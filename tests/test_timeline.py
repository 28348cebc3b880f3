"""A session step by step: its texts with their scores, and the texts that stood with their authors."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.attribution import joined
from core.domain import Decision
from core.evolution import Standing, evolution
from core.sessions import Session
from core.timeline import texts_of
from tests.benches import CRITIQUE, Bench, recipe
from tests.played import FIRST, OWN, PARTLY, PERSON, SECOND, THIRD, bench_in, played

FORTY_TWO, OTHER = "It is 42.", "It is 41."


def session_of(bench: Bench, session_id: str) -> Session:
    return bench.store.load(session_id)


@pytest.fixture
def refined(tmp_path: Path) -> Session:
    bench = bench_in(tmp_path)
    return session_of(bench, played(bench))


def told(standing: Standing) -> list[tuple[str, str, int]]:
    return [(run.text.strip(), run.by.name, run.by.round) for run in standing.runs]


def test_every_text_has_its_step_its_author_and_its_scores(refined: Session) -> None:
    found = [(t.step, t.name, t.draft.by, t.draft.text, t.draft.value("logprob")) for t in texts_of(refined)]
    assert found == [
        (0, "First draft", "model", FIRST, -3.0),
        (4, "Round 1: revision", "model", SECOND, -2.0),
        (6, "Round 1: accepted in part by Anna", PERSON, PARTLY, -2.5),
        (10, "Round 2: revision", "model", THIRD, -1.0),
        (12, "Round 2: written by Anna", PERSON, OWN, -1.5),
    ]


def test_what_a_person_took_over_is_the_models_and_what_they_typed_is_theirs(refined: Session) -> None:
    stood = evolution(refined)
    assert [(s.step, s.how, s.by) for s in stood] == [
        (0, "first draft", "scripted"),
        (6, "accepted in part", PERSON),
        (12, "wrote", PERSON),
    ]
    assert [joined(s.runs) for s in stood] == [FIRST, PARTLY, OWN]
    last = told(stood[-1])
    assert ("meal", "scripted", 1) in last and ("fine", "scripted", 2) in last
    assert ("our waiter", PERSON, 2) in last
    assert [name for _, name, _ in last].count(PERSON) == 1


def test_a_rejected_revision_leaves_no_trace(tmp_path: Path) -> None:
    bench = bench_in(tmp_path)
    rulings = (Decision("accept", PERSON), Decision("reject", PERSON), Decision("stop", PERSON))
    stood = evolution(session_of(bench, played(bench, rulings)))
    assert [joined(s.runs) for s in stood] == [FIRST]


def test_a_persons_text_before_the_critique_begins_with_the_draft(tmp_path: Path) -> None:
    bench = Bench(tmp_path, [FIRST, CRITIQUE, CRITIQUE], scores={FIRST: -1.0, OWN: -2.0})
    stood = evolution(session_of(bench, played(bench, (Decision("edit", PERSON, text=OWN),))))
    assert joined(stood[-1].runs) == OWN
    assert ("The", "scripted", 0) in told(stood[-1])


@pytest.mark.parametrize(
    ("decision", "text"),
    [
        (Decision("pick", PERSON, picks=(1,)), OTHER),
        (Decision("merge", PERSON, picks=(0,), merged=((1, 0),)), OTHER),
        (Decision("edit", PERSON, picks=(0,), text="It is 42, surely."), "It is 42, surely."),
    ],
)
def test_a_candidate_stands_when_it_is_chosen(tmp_path: Path, decision: Decision, text: str) -> None:
    texts = [FORTY_TWO, OTHER, "x", "y"]
    bench = Bench(tmp_path, texts, scores=dict.fromkeys(texts, -1.0))
    session = session_of(bench, played(bench, (decision,), recipe(strategy="best_of_n")))
    (only,) = evolution(session)
    assert (joined(only.runs), only.by) == (text, PERSON)
    persons = "".join(run.text for run in only.runs if run.by.person)
    assert persons == (", surely" if decision.ruling == "edit" else "")
    assert {t.name for t in texts_of(session)[:4]} == {f"Candidate {n}" for n in (1, 2, 3, 4)}


def test_a_session_without_steps_has_no_texts(tmp_path: Path) -> None:
    bench = Bench(tmp_path, [])
    session = session_of(bench, bench.new())
    assert texts_of(session) == () == evolution(session)
