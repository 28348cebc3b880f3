"""Trajectories and tables of drafts as sessions: they replay, they count, they come once, all or none."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from core.domain import Score
from core.engine import Finished, replay
from core.export import to_markdown
from core.gates import POLICY
from core.history import tell
from core.importing.files import kind_of
from core.importing.making import NO_CRITIQUE, THE_RUN, Trajectory, session_of, sessions_of
from core.importing.tables import read_drafts
from core.importing.trajectories import label_score, read_trajectories
from core.interchange import ImportProblem, Kept, Received
from core.listing import Chosen
from core.presets import Prompts, load_preset
from core.steps import Ask, Measured, Replied, RevisionGate, Ruled
from core.strategies import STRATEGIES
from tests.test_archive import House
from tests.trajectory_counts import FILES, Counts, recount, trajectory_file

AT = datetime(2026, 5, 6, tzinfo=UTC)


def clock() -> Iterator[datetime]:
    for number in range(10_000):
        yield AT + timedelta(microseconds=number)


def ended(kept: Kept) -> Finished:
    """Where the session's own recipe leads with its steps."""
    session = kept.session
    prompts = Prompts(load_preset(session.recipe.preset))
    moves = STRATEGIES[session.recipe.strategy](session.task, prompts, session.recipe.settings)
    place = replay(moves, session.steps)
    assert isinstance(place, Finished)
    return place


def texts(kept: Kept) -> list[str]:
    """The drafts and revisions, as they were written."""
    return [
        step.answer.reply.completions[0].text
        for step in kept.session.steps
        if isinstance(step.request, Ask)
        and step.request.role != "critique"
        and isinstance(step.answer, Replied)
    ]


def critiques(kept: Kept) -> list[str]:
    return [
        step.answer.reply.completions[0].text
        for step in kept.session.steps
        if isinstance(step.request, Ask)
        and step.request.role == "critique"
        and isinstance(step.answer, Replied)
    ]


def rulings(kept: Kept) -> list[tuple[str, str]]:
    return [
        (step.answer.decision.ruling, step.answer.decision.by)
        for step in kept.session.steps
        if isinstance(step.request, RevisionGate) and isinstance(step.answer, Ruled)
    ]


def values(kept: Kept) -> list[float | None]:
    return [s.answer.scores[0][0].value for s in kept.session.steps if isinstance(s.answer, Measured)]


# -- trajectories --------------------------------------------------------------------------------------


def attempt(
    number: int, text: str, label: str = "Positive", record: int = 3, **more: object
) -> dict[str, object]:
    return {
        "record_id": record,
        "attempt": number,
        "review": "The soup was cold.",
        "target_sentiment": "Very positive",
        "transferred_review": text,
        "transferred_review_sentiment": f"The review sounds fine. The sentiment is {label}.",
        "feedback": f"feedback on {text}",
        **more,
    }


def lines(*rows: object) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def one(*rows: object) -> Kept:
    (trajectory,) = read_trajectories(lines(*rows), "folder/runs.jsonl")
    return session_of(trajectory, AT)


def test_a_trajectory_is_a_session_that_replays_and_can_be_read() -> None:
    kept = one(attempt(0, "a"), attempt(1, "b", "Very positive"), attempt(2, "c"))
    assert texts(kept) == ["a", "b", "c"] and values(kept) == [0.75, 1.0, 0.75]
    assert rulings(kept) == [("accept", POLICY)] * 2
    outcome = ended(kept).outcome
    assert outcome.draft is not None and outcome.draft.text == "b" and kept.ending == outcome.reason
    page = to_markdown(kept.session, outcome, tell(kept.session.steps, (), source=kept.session.task.input))
    assert "feedback on a" in page and "feedback on b" in page and "label 0.75" in page.replace("\\", "")


def test_where_it_came_from_and_what_is_not_known_is_told() -> None:
    kept = one(attempt(0, "a"), attempt(1, "b"))
    notes = [note for _, note in tell(kept.session.steps, (), source="").notes]
    assert notes[0] == "From runs.jsonl, line 1. The prompt that was really sent is not in the file."
    assert "Record 3, attempt 1." in notes and notes[-1] == "Nothing followed: feedback on b"
    assert kept.session.recipe.model == "imported:runs"


def test_attempts_are_taken_in_their_order_and_may_lack_some() -> None:
    kept = one(attempt(4, "e"), attempt(1, "b"), attempt(2, "c"))
    assert texts(kept) == ["b", "c", "e"] and isinstance(ended(kept), Finished)


def test_repeated_texts_end_nothing_and_are_nobodys_ruling() -> None:
    kept = one(*(attempt(i, text) for i, text in enumerate(["a", "b", "b", "a", "c"])))
    assert texts(kept) == ["a", "b", "b", "a", "c"]
    assert rulings(kept) == [("accept", POLICY), ("reject", THE_RUN), ("accept", THE_RUN), ("accept", POLICY)]


def test_remarks_that_were_kept_as_texts_are_flagged_but_were_gone_on_with() -> None:
    kept = one(
        attempt(0, "Lovely soup."),
        attempt(1, "There is no need to rewrite the review again."),
        attempt(2, "c"),
    )
    gate = next(s.request for s in kept.session.steps if isinstance(s.request, RevisionGate))
    assert gate.proposed.flags == ("meta-text",) and gate.verdict.accept is False
    assert rulings(kept)[0] == ("accept", POLICY) and texts(kept)[2] == "c"


@pytest.mark.parametrize(
    ("said", "value"),
    [
        ("The review sounds great. The sentiment is Very positive", 1.0),
        ("The sentiment of the review is Very positive.", 1.0),
        ("The sentiment is Very positive, but it may be fake.", 1.0),
        ("The sentiment is Neutral", 0.5),
        ("The sentiment is Very negative.", 0.0),
        ("The sentiment is Neutral to Positive", None),
        ("The sentiment is Extremely positive", None),
        ("The sentiment is positively mixed", None),
        ("N/A", None),
        ("", None),
    ],
)
def test_a_label_is_what_is_stated_and_else_unknown(said: str, value: float | None) -> None:
    assert label_score(said, "Very positive").value == value


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([attempt(0, "a"), attempt(0, "b")], "line 2: attempt 0 of record 3 is in line 1 already"),
        ([attempt(0, "a"), attempt(1, "b", review="Other")], "line 2: record 3 has another review"),
        ([attempt(0, "a"), attempt(1, 7)], "line 2: transferred_review must be a text"),  # type: ignore[arg-type]
        ([attempt(0, "a"), attempt(1, "b", feedback=None)], "line 2: feedback is missing"),
        ([attempt(0, "a"), attempt("1", "b")], "line 2: attempt must be a whole number"),  # type: ignore[arg-type]
        ([attempt(0, "a"), attempt(1, " ")], "line 2: the text is empty"),
        ([attempt(0, "a"), attempt(1, "x\0")], r"line 2: transferred_review has a NUL character"),
        ([attempt(0, "a"), [1]], "Line 2: it must be an object"),
    ],
)
def test_a_bad_row_is_named(rows: list[Any], message: str) -> None:
    with pytest.raises(ImportProblem, match=f"{message}.*Nothing was imported"):
        for _ in sessions_of(read_trajectories(lines(*rows), "x.jsonl"), clock()):
            pass


def test_a_row_that_stands_twice_counts_once() -> None:
    assert texts(one(attempt(0, "a"), attempt(0, "a"), attempt(1, "b"))) == ["a", "b"]


@pytest.mark.parametrize("name", FILES)
def test_the_real_trajectories_count_as_in_the_file(name: str, tmp_path: Path) -> None:
    path, house = trajectory_file(name), House(tmp_path / "x.db")
    trajectories = read_trajectories(path.read_bytes(), str(path))
    expected = recount(path)
    got = house.archive.receive(sessions_of(trajectories, clock()))
    assert got == Received(new=expected.records)
    found = [values(kept) for kept in house.archive.kept(Chosen())]
    assert expected == Counts(
        records=len(found),
        attempts=sum(map(len, found)),
        first=sum(run[0] == 1.0 for run in found),
        last=sum(run[-1] == 1.0 for run in found),
        any=sum(1.0 in run for run in found),
    )
    assert house.archive.receive(sessions_of(trajectories, clock())) == Received(known=expected.records)
    for kept in house.archive.kept(Chosen()):
        assert ended(kept).outcome.reason == kept.ending == "the rounds are used up"


# -- tables of drafts ----------------------------------------------------------------------------------


def drafts(data: bytes | str, **more: Any) -> list[Kept]:
    found = read_drafts(data.encode() if isinstance(data, str) else data, "t.csv", **more)
    return [kept for _, kept in sessions_of(found, clock())]


def test_a_table_as_a_spreadsheet_writes_it() -> None:
    data = (
        b'\xef\xbb\xbfid;draft;revision;critique\r\n1;"line one\nline two; still draft";"He said ""hi""";'
        b"shorter\r\n007;caf\xc3\xa9;x;\r\n7;y;z;\r\n"
    )
    one, two, three = drafts(data)
    assert texts(one) == ["line one\nline two; still draft", 'He said "hi"']
    assert texts(two) == ["café", "x"] and len({k.session.id for k in (one, two, three)}) == 3
    assert critiques(one) == ["shorter"]
    assert two.session.recipe.settings.feedback == "none"


def test_the_delimiter_may_be_told() -> None:
    (kept,) = drafts("sep=;\r\ndraft;revision\r\na,b;c\r\n")
    assert texts(kept) == ["a,b", "c"]


def test_rounds_decisions_and_scores_of_a_table() -> None:
    (kept,) = drafts(
        "id,round,input,instruction,draft,critique,revision,decision,by,draft_score,revision_score,model\n"
        "x,2,in,do,,worse?,c,accept,Anna,,3,m1\n"
        "x,1,in,do,a,weak,b,reject,Anna,1,2,m1\n"
    )
    assert texts(kept) == ["a", "b", "c"] and rulings(kept) == [("reject", "Anna"), ("accept", "Anna")]
    assert values(kept) == [1.0, 2.0, 3.0] and kept.session.recipe.model == "m1"
    assert (kept.session.task.input, kept.session.task.instruction) == ("in", "do")
    outcome = ended(kept).outcome
    assert outcome.draft is not None and outcome.draft.text == "c" and "Anna accepted" in outcome.why_best


def test_a_round_without_a_critique_among_others_says_so() -> None:
    (kept,) = drafts("id,round,draft,critique,revision\nx,1,a,weak,b\nx,2,b,,c\n")
    said = critiques(kept)
    assert said == ["weak", NO_CRITIQUE]


def test_json_lines_with_columns_of_other_names() -> None:
    rows = lines(
        {"nr": 7, "alt": "a\u2028b", "neu": "c", "note": 2.5},
        {"nr": "7b", "alt": "d", "neu": "e", "note": None},
    )
    raw = rows.replace(b"\\u2028", "\u2028".encode())
    first, second = drafts(
        raw, columns={"id": "nr", "draft": "alt", "revision": "neu", "revision_score": "note"}
    )
    assert texts(first) == ["a\u2028b", "c"] and values(first) == [None, 2.5]
    assert texts(second) == ["d", "e"]


REFUSED: dict[str, tuple[bytes, str]] = {
    "ids that repeat": (b"id,draft,revision\n7,a,b\n7,c,d\n", "line 3: the id '7' is in line 2 already"),
    "ids spelled alike": (
        "id,draft,revision\nJos\u00e9,a,b\nJose\u0301,c,d\n".encode(),
        "line 3: the id '.*' is in line 2 already",
    ),
    "another encoding": (
        b"draft,revision\ncaf\xe9,b\n",
        "The file.*not UTF-8: byte 19, in line 2.*Windows-1252",
    ),
    "a row too short": (b"draft,revision\na\n", "Line 2: it has 1 cells, the header 2"),
    "a quote left open": (b'draft,revision\na,"b\n', "Line 2: it can't be read"),
    "no such column": (b"draft,text\na,b\n", "no column 'revision'. There are: draft, text"),
    "a decision that is none": (
        b"draft,revision,decision\na,b,maybe\n",
        "line 2: decision must be .*'maybe'",
    ),
    "a score that is none": (
        b"draft,revision,revision_score\na,b,high\n",
        "line 2: revision_score must be a number",
    ),
    "an endless score": (
        b"draft,revision,revision_score\na,b,inf\n",
        "line 2: revision_score must be a number",
    ),
    "a score beyond all figures": (
        b"draft,revision,revision_score\na,b,1e308\n",
        r"step \d+: 1e\+308 is too large for a score",
    ),
    "a name twice in an object": (
        b'{"draft": "a", "draft": "b", "revision": "c"}\n',
        "Line 1: it is no JSON: 'draft' stands twice",
    ),
    "a column twice but for its case": (b"draft,Draft,revision\na,b,c\n", "columns have one name"),
    "a round that is none": (b"id,round,draft,revision\n1,x,a,b\n", "line 2: round must be a whole number"),
    "a draft of nowhere": (
        b"id,round,draft,revision\n1,1,a,b\n1,2,x,c\n",
        "line 3: its draft is not the text",
    ),
    "an empty revision": (b"draft,revision\na,\n", "line 2: the text is empty"),
    "NUL": (b"draft,revision\na,x\0y\n", "line 2: revision has a NUL character at character 2"),
    "a list": (b'{"draft": ["a"], "revision": "b"}\n', "line 1: draft must be a text"),
    "half a file": (b'{"draft": "a", "revision": "b"}\n{"draft": "a", "rev', "Line 2: it is no JSON"),
    "a text too long": (
        b"draft,revision\na," + b"x" * 50_000_000,
        "line 2: revision has 50,000,000 characters",
    ),
    "nothing": (b"", "The file: it is empty"),
    "only a header": (b"draft,revision\n", "a header but no rows"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_bad_table_is_refused_whole_and_named(name: str, tmp_path: Path) -> None:
    data, message = REFUSED[name]
    house = House(tmp_path / "x.db")
    with pytest.raises(ImportProblem, match=f"{message}.*Nothing was imported"):
        house.archive.receive(sessions_of(read_drafts(data, "t.csv"), clock()))
    assert house.archive.count(Chosen()) == 0


def test_what_spreadsheets_leave_at_the_end_of_lines_is_nothing() -> None:
    (found,) = read_drafts(b"draft,revision,,\r\na,b,,\r\n,,,\r\n", "t.csv")
    assert [attempt.text for attempt in found.attempts] == ["a", "b"]


def test_a_table_that_comes_again_adds_nothing_and_a_changed_one_is_refused(tmp_path: Path) -> None:
    house = House(tmp_path / "x.db")

    def take(data: bytes) -> Received:
        return house.archive.receive(sessions_of(read_drafts(data, "t.csv"), clock()))

    table = b"id,draft,revision\n1,a,b\n2,c,d\n"
    assert take(table) == Received(new=2)
    assert take(table) == Received(known=2)
    assert take(table + b"3,e,f\n") == Received(new=1, known=2)
    with pytest.raises(ImportProblem, match=r"line 2: session \w+ is here already .*step 0 differs"):
        take(table.replace(b"1,a,b", b"1,x,b") + b"4,g,h\n")
    house.store.delete(house.store.recent(1)[0].id)
    assert take(table + b"3,e,f\n") == Received(known=3, deleted=1)
    assert house.archive.count(Chosen()) == 2


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b'{"format": "redraft sessions", "version": 9, "sessions": 1}\n', "redraft"),
        (b'\xef\xbb\xbf{\n "format": "redraft session",\n "version": 1\n}', "redraft"),
        (lines(attempt(0, "a")), "self-refine"),
        (b"id,draft,revision\n", "drafts"),
        (b'{"draft": "a"}\n', "drafts"),
        (b"", "drafts"),
    ],
)
def test_a_file_is_known_by_how_it_begins(data: bytes, kind: str) -> None:
    import io

    stream = io.BytesIO(data)
    assert kind_of(stream) == kind and stream.tell() == 0


def test_a_text_that_is_not_scored_among_scored_ones_is_unknown() -> None:
    made: Callable[[bytes], tuple[Trajectory, ...]] = lambda data: read_drafts(data, "t.csv")  # noqa: E731
    (found,) = made(b"draft,revision,revision_score\na,b,2\n")
    assert [a.score for a in found.attempts if a.score] == [
        Score("given", None, "the file holds no score of this text", "given in the file"),
        Score("given", 2.0, "", "given in the file"),
    ]
