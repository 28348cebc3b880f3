"""What a person may enter, and what is refused with the place named."""

from __future__ import annotations

from typing import Any

import pytest

from core.checks import MAX_CHARACTERS, BadDecision, BadTask, check_decision, check_task, title_of
from core.domain import Critique, Decision, Draft, Point, Task, Verdict
from core.steps import CritiqueGate, RevisionGate
from tests.values import ask

CRITIQUE = CritiqueGate(1, Draft("t"), Critique((), None, "raw"))
REVISION = RevisionGate(1, Draft("t"), Draft("u"), Verdict(None, "unknown"))


@pytest.mark.parametrize(
    ("task", "words"),
    [
        (Task(""), "There is no text"),
        (Task(" \n\u3000"), "There is no text"),
        (Task("a\0"), "The text has a NUL character at character 2"),
        (Task("ok", instruction="\udc80"), "The instruction has half of a surrogate pair at character 1"),
        (Task("ok", reference="xy\0"), "The reference has a NUL character at character 3"),
        (Task("ok", target="\0"), "The target has a NUL"),
        (Task("x" * (MAX_CHARACTERS + 1)), "1,000,001 characters; 1,000,000 is the most"),
    ],
)
def test_tasks_that_are_refused(task: Task, words: str) -> None:
    with pytest.raises(BadTask, match=words):
        check_task(task, None)


@pytest.mark.parametrize(
    "text", ["x", "x" * MAX_CHARACTERS, "\x01\x7f\u200b\ufeff", "👩‍👩‍👧", "\ud55c\u2028"]
)
def test_texts_that_are_taken(text: str) -> None:
    check_task(Task(text), None)


def test_a_task_must_fit_the_context() -> None:
    task = Task("word " * 4000, instruction="make it short")
    check_task(task, 8192)
    check_task(task, None)
    with pytest.raises(BadTask, match=r"about 5,0\d\d tokens, but the model reads 4,096 at most"):
        check_task(task, 4096)


def test_ideographs_count_as_a_token_each() -> None:
    with pytest.raises(BadTask, match="tokens"):
        check_task(Task("价" * 4096), 4096)


@pytest.mark.parametrize(
    ("request_", "decision", "words"),
    [
        (ask(), Decision("accept", "Anna"), "waiting for a model"),
        (CRITIQUE, Decision("hunks", "Anna", hunks=(0,)), "critique is accepted"),
        (CRITIQUE, Decision("edit", "Anna", text=""), "edited text is empty"),
        (REVISION, Decision("hunks", "Anna"), "No change is ticked"),
        (REVISION, Decision("hunks", "Anna", hunks=(7,)), "7"),
        (CRITIQUE, Decision("reject", "Anna"), "critique is accepted"),
        (REVISION, Decision("edit", "Anna"), "edited text is empty"),
        (REVISION, Decision("edit", "Anna", text=" \n"), "edited text is empty"),
        (REVISION, Decision("edit", "Anna", text="a\0"), "The text has a NUL character"),
        (REVISION, Decision("retry", "Anna", note="\ud800"), "The note has half of a surrogate pair"),
        (CRITIQUE, Decision("accept", "Anna", points=(Point("p\0"),)), "The critique has a NUL"),
        (CRITIQUE, Decision("accept", "Anna", points=(Point("p", action="\0"),)), "The critique has"),
        (CRITIQUE, Decision("accept", "Anna", points=(Point("p", quote="\0"),)), "The critique has"),
    ],
)
def test_rulings_that_are_refused(request_: Any, decision: Decision, words: str) -> None:
    with pytest.raises((BadDecision, BadTask), match=words):
        check_decision(request_, decision)


@pytest.mark.parametrize(
    ("request_", "decision"),
    [
        (CRITIQUE, Decision("accept", "Anna")),
        (CRITIQUE, Decision("accept", "Anna", points=())),
        (CRITIQUE, Decision("retry", "Anna", note="shorter")),
        (CRITIQUE, Decision("stop", "Anna")),
        (CRITIQUE, Decision("edit", "Anna", text="x")),
        (REVISION, Decision("hunks", "Anna", hunks=(0,))),
        (REVISION, Decision("accept", "Anna")),
        (REVISION, Decision("reject", "Anna", why="dull")),
        (REVISION, Decision("edit", "Anna", text="<b>\u2028")),
        (REVISION, Decision("retry", "Anna")),
        (REVISION, Decision("stop", "Anna")),
    ],
)
def test_rulings_that_are_taken(request_: Any, decision: Decision) -> None:
    check_decision(request_, decision)


def test_a_title_is_one_short_line_of_both() -> None:
    title = title_of(Task("The food\n was  fantastic.", instruction="Make it\nnegative."))
    assert title.startswith("Make it negative.") and title.endswith("The food was fantastic.")
    assert title_of(Task("alone")) == "alone"
    long = title_of(Task("word " * 100))
    assert len(long) == 80 and long.endswith("…")
