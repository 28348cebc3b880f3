"""Files as people have them: spreadsheets, JSON lines, trajectories, battles; all of a file or nothing."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from core.studies.battles import holds_votes, read_votes
from core.studies.imports import FIRST_ATTEMPT, LAST_ATTEMPT, read_entries
from core.studies.material import Entry
from core.studies.protocol import BadStudy


def lines(*rows: object) -> bytes:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


def entries(data: bytes, *systems: str) -> tuple[Entry, ...]:
    return read_entries(data, systems).entries


# -- a column or a row for each system ---------------------------------------------------------


def test_a_spreadsheet_with_semicolons_quotes_and_line_ends() -> None:
    data = b'\xef\xbb\xbfid;prompt;a;b\r\n1;"line one\nline two; still prompt";"He said ""hi""";x\r\n'
    (entry,) = entries(data)
    assert entry.key == "1"
    assert entry.prompt == "line one\nline two; still prompt"
    assert entry.texts == (("a", 'He said "hi"'), ("b", "x"))


@pytest.mark.parametrize(
    "data",
    [
        b"sep=;\r\nid;prompt;a,1;b\r\n007;p;x;y\r\n",
        b"id\tprompt\ta,1\tb\n007\tp\tx\ty\n",
        "id;prompt;a,1;b\n007;p;x;y\n".encode("utf-16"),
        b'[{"id": "007", "prompt": "p", "a,1": "x", "b": "y"}]',
    ],
)
def test_other_ways_to_write_the_same_table(data: bytes) -> None:
    assert entries(data) == (Entry("007", "p", (("a,1", "x"), ("b", "y"))),)


def test_a_wrong_encoding_is_named_not_mangled() -> None:
    with pytest.raises(BadStudy, match=r"not UTF-8: byte 19, in line 2.*Windows-1252"):
        entries("prompt,a,b\np,x,caf\xe9\n".encode("cp1252"))


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "empty"),
        (b"prompt,a,b\n", "no rows"),
        (b"prompt,a,a\np,x,y\n", "a column twice"),
        (b"prompt,a,b\np,x,y\np,x\n", "line 3 has 2 cells, the header 3"),
        (b'prompt,a,b\np,"x,y\n', "line 2 can't be read"),
        (b"prompt,a\np,x\n", "a column for each of two systems"),
        (b'{"prompt": "p", "a": "x", "b": "y"}\n{"prompt": \n', "Line 2 is no JSON"),
        (b'{"prompt": "p", "a": "x", "b": "y"}\n["p"]\n', "line 2 must be an object"),
        (b'{"prompt": "p", "a": "x", "b": "y"}\n{"prompt": "p", "a": "x"}\n', "line 2 has no column 'b'"),
        (b'{"prompt": ["p"], "a": "x", "b": "y"}\n', "line 1: prompt must be a text"),
        (b"[1, 2", "begins like JSON"),
        (b"prompt,a,b,kind\np,x,y,silver\n", "line 2 is of no kind 'silver'"),
        (b"id,prompt,system,text\n1,p,a,x\n1,q,b,y\n", "line 3 has another prompt for item '1'"),
        (b"id,prompt,system,text\n1,p,a,x\n1,p,a,z\n", "line 3 has another text of 'a' for item '1'"),
    ],
)
def test_a_bad_row_is_named(data: bytes, words: str) -> None:
    with pytest.raises(BadStudy, match=words):
        entries(data)


def test_a_row_for_each_system() -> None:
    data = b"id,prompt,system,text,category\n1,p,one,x,poems\n2,q,one,v,\n1,p,two,y,poems\n2,q,two,w,\n"
    assert entries(data) == (
        Entry("1", "p", (("one", "x"), ("two", "y")), "poems"),
        Entry("2", "q", (("one", "v"), ("two", "w"))),
    )


def test_rows_without_a_key_are_known_by_what_they_say() -> None:
    first = entries(b"prompt,a,b\np,x,y\nq,v,w\n")
    assert len({entry.key for entry in first}) == 2
    assert entries(b"prompt,a,b\nq,v,w\n") == first[1:]


def test_columns_can_be_named_and_other_kinds_have_their_answer() -> None:
    data = lines(
        {"id": 7, "prompt": "p", "good": "x", "bad": "y", "note": "-", "kind": "gold", "expected": "good"}
    )
    (entry,) = entries(data, "good", "bad")
    assert (entry.key, entry.kind, entry.expected) == ("7", "gold", "good")
    assert dict(entry.texts) == {"good": "x", "bad": "y"}


def test_line_separators_inside_a_text_split_no_line() -> None:
    text = "Error:\u2028TypeError\u2029a\u0085b"
    (entry,) = entries(lines({"prompt": text, "a": text, "b": "y"}))
    assert (entry.prompt, dict(entry.texts)["a"]) == (text, text)


# -- trajectories --------------------------------------------------------------------------------


def test_trajectories_give_the_first_attempt_against_the_last() -> None:
    base = {"review": "Bad.\\nReally.", "target_sentiment": "Very positive"}
    found = read_entries(
        lines(
            {**base, "record_id": 3, "attempt": 0, "transferred_review": "Fine.\\nYes."},
            {**base, "record_id": 4, "attempt": 1, "transferred_review": "Nice."},
            {**base, "record_id": 3, "attempt": 2, "transferred_review": "Great."},
            {**base, "record_id": 5, "attempt": 0, "transferred_review": "Good."},
        )
    )
    first, second = found.entries
    assert first.texts == ((FIRST_ATTEMPT, "Fine.\nYes."), (LAST_ATTEMPT, "Great."))
    assert first.source == "Bad.\nReally." and first.source in first.prompt
    assert len({text for _, text in second.texts}) == 1
    assert found.notes == ("Records without an attempt 0 are left out: 4.",)


def test_an_attempt_that_comes_twice_is_refused() -> None:
    row = {"record_id": 3, "attempt": 0, "transferred_review": "Fine."}
    with pytest.raises(BadStudy, match="line 2 has attempt 0 of a record a second time"):
        read_entries(lines(row, row))


# -- votes of others -----------------------------------------------------------------------------


def test_battles_with_conversations_keep_the_judged_turn() -> None:
    def talk(answer: str) -> list[dict[str, str]]:
        said = [("user", "Hi?"), ("assistant", "Hi."), ("user", "And?"), ("assistant", answer)]
        return [{"role": role, "content": content} for role, content in said]

    row = {
        "question_id": 81, "model_a": "m1", "model_b": "m2", "winner": "tie (bothbad)", "judge": "expert_3",
        "turn": 2, "conversation_a": talk("One."), "conversation_b": talk("Two."), "tstamp": 1700000000.5,
        "language": "English",
    }  # fmt: skip
    assert holds_votes(lines(row))
    (vote,) = read_votes(lines(row))
    assert (vote.item, vote.rater, vote.choice, vote.stratum) == ("81/2", "expert_3", "both_bad", "English")
    assert (vote.prompt, vote.text_left, vote.text_right) == ("Hi?\n\nAnd?", "One.", "Two.")
    assert vote.at == datetime.fromtimestamp(1700000000.5, UTC)


@pytest.mark.parametrize(
    ("winner", "choice"),
    [
        ("model_a", "left"),
        ("B", "right"),
        ("m2", "right"),
        ("Tie", "tie"),
        ("both_bad", "both_bad"),
        ("skip", "skip"),
    ],
)
def test_ways_to_name_the_winner(winner: str, choice: str) -> None:
    data = f"rater,item,system_a,system_b,winner\nann,1,m1,m2,{winner}\n".encode()
    (vote,) = read_votes(data)
    assert (vote.choice, vote.system_left, vote.system_right) == (choice, "m1", "m2")


def test_two_games_of_a_judge_are_two_votes_with_the_sides_turned() -> None:
    row = {
        "question_id": 81, "model_1": "m1", "model_2": "m2", "g1_winner": "model_1", "g2_winner": "model_1",
        "judge": ["gpt-4", "pair-v2"], "turn": 1,
    }  # fmt: skip
    first, second = read_votes(lines(row, {**row, "question_id": 82, "g2_winner": "error"}))[:2]
    assert (first.system_left, first.choice, first.rater) == ("m1", "left", "gpt-4 pair-v2")
    assert (second.system_left, second.choice) == ("m2", "right")
    assert read_votes(lines({**row, "g1_winner": "error"}))[0].choice == "skip"


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ({"model_a": "m1", "model_b": "m2", "winner": "m3", "judge": "x"}, "line 1: winner can't be 'm3'"),
        ({"model_a": "m1", "model_b": "", "winner": "tie", "judge": "x"}, "line 1 has none of model_b"),
        ({"model_a": "m1", "model_b": "m2", "winner": "tie"}, "line 1 has none of rater, judge"),
        (
            {"model_a": "m1", "model_b": "m2", "winner": "tie", "judge": "x", "at": "noon"},
            "'noon' is no moment",
        ),
    ],
)
def test_a_bad_vote_is_named(row: dict[str, str], words: str) -> None:
    with pytest.raises(BadStudy, match=words):
        read_votes(lines(row))
