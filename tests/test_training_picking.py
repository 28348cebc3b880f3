"""Which steps of a session become rows to learn from, and which never do."""

from __future__ import annotations

from typing import Any

import pytest

from core.domain import Sampling
from core.steps import Ask
from core.training.evidence import Evidence
from core.training.examples import Example, Kind
from core.training.picking import examples_of
from tests.training_sessions import by, played

REMARK = "There is no need to rewrite the review again."


def picked(session: Any, kind: Kind = "sft", **evidence: Any) -> list[Example]:
    return list(examples_of(session, kind, Evidence(**evidence)))


def texts(examples: list[Example]) -> list[tuple[str, str | None, str]]:
    return [(e.chosen, e.rejected, e.origin.why) for e in examples]


# -- SFT --------------------------------------------------------


def test_a_revision_whose_score_rose_is_learnt_as_the_answer_to_the_task() -> None:
    session = played(["a", "p", "b"], {"a": 0.25, "b": 0.75})
    (example,) = picked(session)
    assert (example.chosen, example.origin.why, example.way) == ("b", "accepted by policy", "direct")
    assert [m.role for m in example.prompt] == ["system", "user"] and "The soup was cold." in example.prompt[
        1
    ].content
    assert (example.origin.session, example.origin.by) == ("S1", "model")
    gate = session.steps[example.origin.step or 0].request
    assert gate.kind == "revision gate"


@pytest.mark.parametrize(
    "session",
    [
        played(["a", "p", "b"], {"a": 0.5, "b": 0.5}),
        played(["a", "p", "b"], {"a": None, "b": None}, gate="always"),
        played(["a", "p", "b"], {"a": 0.75, "b": 0.5}, gate="always"),
        played(["a", "p", "b"], {"a": 0.75, "b": 0.5}),
    ],
    ids=["equal", "unknown", "lower but taken", "lower"],
)
def test_what_the_policy_takes_without_a_better_score_is_no_evidence(session: Any) -> None:
    assert picked(session) == []


def test_what_a_person_accepted_or_wrote_is_learnt_whatever_its_score() -> None:
    accepted = played(["a", "p", "b"], {"a": 0.75, "b": 0.5}, [by("accept"), by("accept")])
    written = played(["a", "p", "b"], {"a": 1, "b": 2, "mine": None}, [by("accept"), by("edit", text="mine")])
    assert texts(picked(accepted, by_person=True)) == [("b", None, "accepted by Anna")]
    assert texts(picked(written, by_person=True)) == [("mine", None, "wrote by Anna")]


def test_only_what_stood_at_the_end_is_the_answer() -> None:
    session = played(["a", "p", "b", "p", "c"], {"a": 0.0, "b": 0.5, "c": 1.0}, rounds=2)
    assert texts(picked(session)) == [("c", None, "accepted by policy")]


def test_flagged_texts_are_never_learnt() -> None:
    session = played(["a", "p", REMARK], {"a": 0.1, REMARK: 1.0}, [by("accept"), by("accept")])
    assert picked(session, scorer="label", threshold=0.5) == []
    assert picked(session, "dpo", scorer="label") == []


def test_scores_over_the_threshold_and_verifier_passes() -> None:
    session = played(["a", "p", "b"], {"a": 0.25, "b": 0.75})
    assert texts(picked(session, accepted=False, scorer="label", threshold=0.75)) == [
        ("b", None, "label 0.75 is at least 0.75")
    ]
    solved = played(["1", "p", "2"], {"1": 1.0, "2": 0.0}, scorer="math_equivalence")
    assert texts(picked(solved)) == [("1", None, "passes math_equivalence")]
    assert picked(solved, verifier=False) == []


def test_revisions_with_their_own_requests() -> None:
    session = played(["a", "p", "b"], {"a": 0.25, "b": 0.75})
    direct, refined = picked(session, steps=True)
    assert (direct.way, refined.way) == ("direct", "refine")
    step = session.steps[refined.origin.step or 0]
    assert isinstance(step.request, Ask) and step.request.role == "revise"
    assert refined.prompt == step.request.messages and refined.prompt[-1].content == "Revise."


# -- DPO --------------------------------------------------------


def test_pairs_of_rulings() -> None:
    rose = played(["a", "p", "b"], {"a": 0.25, "b": 0.75})
    fell = played(["a", "p", "b"], {"a": 0.75, "b": 0.25})
    refused = played(["a", "p", "b"], {"a": 0.25, "b": 0.75}, [by("accept"), by("reject")])
    wrote = played(["a", "p", "b"], {"a": 1, "b": 2, "mine": 3}, [by("accept"), by("edit", text="mine")])
    assert texts(picked(rose, "dpo")) == [("b", "a", "accepted by policy")]
    assert texts(picked(fell, "dpo")) == [("a", "b", "its revision was rejected by policy")]
    assert texts(picked(refused, "dpo")) == [("a", "b", "its revision was rejected by Anna")]
    assert texts(picked(wrote, "dpo")) == [("mine", "a", "wrote by Anna"), ("mine", "b", "wrote by Anna")]
    assert picked(rose, "dpo", by_person=True) == picked(fell, "dpo", by_person=True) == []


def test_a_person_picks_among_candidates() -> None:
    session = played(
        ["a", "b", "c"], {"a": 1, "b": 2, "c": 3}, [by("pick", picks=(1,))], strategy="best_of_n"
    )
    assert texts(picked(session, "dpo")) == [
        ("b", "a", "picked by Anna among candidates"),
        ("b", "c", "picked by Anna among candidates"),
    ]
    by_policy = played(["a", "b", "c"], {"a": 1, "b": 2, "c": 3}, strategy="best_of_n")
    assert picked(by_policy, "dpo") == []
    assert texts(picked(by_policy, "dpo", scorer="label")) == [("c", "a", "label 3 against 1")]
    assert texts(picked(by_policy)) == [("c", None, "picked by policy among candidates")]


def test_scores_must_differ_by_the_margin() -> None:
    session = played(["a", "b", "c"], {"a": 0.5, "b": 0.75, "c": None}, strategy="best_of_n")
    assert len(picked(session, "dpo", scorer="label", margin=0.25)) == 1
    assert picked(session, "dpo", scorer="label", margin=0.3) == []


def test_passing_over_failing() -> None:
    scores = {"1": 1.0, "2": 0.0, "3": None}
    session = played(["1", "2", "3"], scores, strategy="best_of_n", scorer="math_equivalence")
    assert texts(picked(session, "dpo")) == [("1", "2", "passes math_equivalence, the other does not")]


# -- GSR --------------------------------------------------------


def synthesised(scores: dict[str, float | None]) -> list[Example]:
    session = played(["1", "2", "3", "4"], scores, strategy="synthesise", scorer="math_equivalence")
    return picked(session, "gsr")


def test_answers_written_from_candidates_are_kept_even_where_all_of_these_are_wrong() -> None:
    (example,) = synthesised({"1": 0.0, "2": 0.0, "3": 0.0, "4": 1.0})
    assert (example.chosen, example.way, example.origin.all_wrong) == ("4", "refine", True)
    assert "Make one of these:" in example.prompt[-1].content and "1x 2" in example.prompt[-1].content


def test_direct_answers_come_beside_them() -> None:
    refined, direct = synthesised({"1": 0.0, "2": 1.0, "3": 0.0, "4": 1.0})
    assert (refined.chosen, refined.way, refined.origin.all_wrong) == ("4", "refine", False)
    assert (direct.chosen, direct.way) == ("2", "direct")
    assert "Make one of these" not in direct.prompt[-1].content


def test_whether_all_were_wrong_may_be_unknown_and_wrong_answers_are_not_learnt() -> None:
    (example,) = synthesised({"1": 0.0, "2": None, "3": 0.0, "4": 1.0})
    assert example.origin.all_wrong is None
    assert synthesised({"1": 0.0, "2": 0.0, "3": 0.0, "4": 0.0}) == []


def test_a_session_without_a_draft_gives_nothing() -> None:
    session = played(["a"], {"a": 1.0}, strategy="direct")
    assert Sampling().seed is None
    for kind in ("sft", "dpo", "gsr"):
        assert picked(type(session)(**{**vars(session), "steps": ()}), kind) == []
