"""Rows that teach nothing are left out and counted; near duplicates, test passages, splits; the folder."""

from __future__ import annotations

import hashlib
import json
import random
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.domain import Message
from core.training.building import DataSet, Plan, build
from core.training.contamination import BadTestFile, read_tests
from core.training.diversity import clusters, diversity, mean_similarity, spread, vectors, vendi
from core.training.examples import Example, Kind, Origin, Preference, Tally, from_votes
from core.training.near import Near, groups, jaccard, shingles
from core.training.writing import FolderTaken, write

VOICE = Origin("said so", "S", 3)
NO_TURN = "the prompt does not end with a person's turn"


def example(
    chosen: str, rejected: str | None = None, task: str = "a task", origin: Origin = VOICE, **more: Any
) -> Example:
    return Example(task, (Message("user", f"Do: {task}"),), chosen, origin, rejected, **more)


def built(examples: list[Example], kind: Kind = "sft", tests: Any = None, **more: Any) -> DataSet:
    data = build(examples, Plan(kind, **more), tests)
    assert data.tally.seen == data.rows + sum(data.tally.left_out.values()), "every row is accounted for"
    return data


def essay(seed: int, length: int = 60) -> str:
    drawn = random.Random(seed)
    return " ".join("".join(drawn.choices("abcdefgh", k=5)) for _ in range(length))


# -- rows that teach nothing --------------------------------------------------------


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        (example("a", "a"), "chosen and rejected are the same but for spaces"),
        (example("a", "a\n"), "chosen and rejected are the same but for spaces"),
        (example("a\u00a0b", "a b "), "chosen and rejected are the same but for spaces"),
        (example("", ""), "a tie"),
        (example("a", " "), "the rejected text is empty"),
        (example(" ", "a"), "the text is empty"),
        (
            Example("t", (Message("assistant", "x"),), "a", VOICE, "b"),
            "the prompt does not end with a person's turn",
        ),
        (
            Example("t", (Message("user", " "),), "a", VOICE, "b"),
            "the prompt does not end with a person's turn",
        ),
        (Example("t", (), "a", VOICE, "b"), "the prompt does not end with a person's turn"),
        (example("x" * 101, "b"), "shorter or longer than wanted"),
    ],
)
def test_pairs_that_teach_nothing_are_left_out_by_reason(bad: Example, why: str) -> None:
    data = built([bad, example("good", "bad")], "dpo", longest=100, held_out=0.0)
    assert [e.chosen for e in data.train] == ["good"] and data.tally.left_out == {why: 1}


def test_a_pair_judged_both_ways_is_left_out_on_both_sides() -> None:
    data = built([example("a", "b"), example("b ", "a"), example("c", "d")], "dpo", held_out=0.0)
    assert [e.chosen for e in data.train] == ["c"]
    assert data.tally.left_out == {"the same pair was judged the other way round too": 2}


def test_pairs_that_differ_late_are_warned_of() -> None:
    data = built([example("x" * 6000 + "a", "x" * 6000 + "b"), example("a", "b", "other")], "dpo")
    assert data.rows == 2 and list(data.tally.warned.values()) == [1]


def test_the_prompt_ends_without_a_space_and_texts_stay_as_they_are() -> None:
    (row,) = built(
        [
            Example(
                "t",
                (
                    Message("system", " "),
                    Message("user", "Price: "),
                ),
                " 30 each ",
                VOICE,
            )
        ]
    ).train
    assert row.row() == {
        "prompt": [{"role": "user", "content": "Price:"}],
        "completion": [{"role": "assistant", "content": " 30 each "}],
    }


def test_votes_become_pairs_or_texts_to_learn() -> None:
    votes = [
        Preference("Say hi ", "hi", "ho", Origin("votes", study="s, line 1")),
        Preference("x", "", "", VOICE),
    ]
    data = built(list(from_votes(votes, "dpo")), "dpo", held_out=0.0)
    assert [(e.prompt[0].content, e.chosen, e.rejected) for e in data.train] == [("Say hi", "hi", "ho")]
    assert data.tally.left_out == {"a tie": 1}
    assert [(e.chosen, e.rejected) for e in from_votes(votes, "sft")] == [("hi", None)]


def test_texts_of_pairs_that_were_judged_both_ways_are_not_learned_alone_either() -> None:
    votes = [
        Preference("Say hi", "hi", "ho", VOICE),
        Preference("Say hi ", "ho ", "hi", VOICE),
        Preference("Say ha", "ha", "ha ", VOICE),
        Preference("Say hi", "hey", "ho", VOICE),
    ]
    assert [e.chosen for e in from_votes(votes, "sft")] == ["hey"]


# -- near duplicates --------------------------------------------------------


def test_near_duplicates_are_found_as_by_comparing_all_with_all() -> None:
    drawn = random.Random(5)
    texts = [essay(n) for n in range(40)]
    for text in texts[:20]:
        words = text.split()
        for _ in range(drawn.choice([1, 1, 2, 8, 20])):
            words[drawn.randrange(len(words))] = "zzz"
        texts.append(" ".join(words))
    near, found = Near(0.8), []
    for number, text in enumerate(texts):
        found += [(other, number) for other in near.add(text)]
    sets = [set(shingles(text).tolist()) for text in texts]
    pairs = [(a, b) for b in range(len(texts)) for a in range(b)]
    truth = [(a, b) for a, b in pairs if len(sets[a] & sets[b]) >= 0.8 * len(sets[a] | sets[b])]
    assert sorted(found) == sorted(truth) and 5 < len(truth) < 20


def test_likeness_is_of_folded_texts() -> None:
    assert jaccard("Hello,  WORLD.", "hello world") == 1.0
    assert jaccard("", "") == 1.0 and jaccard("a", "b") == 0.0
    assert groups(["Hello world, hello", "x", "HELLO world hello", "x", "y"], 0.8) == [0, 1, 0, 1, 4]


def test_groups_join_over_steps_and_a_threshold_that_is_none_is_refused() -> None:
    one = essay(1).split()
    other, third = [*one], [*one]
    other[0:2] = ["aaaaa", "bbbbb"]
    third[0:2], third[2:4] = other[0:2], ["ccccc", "ddddd"]
    chain = [" ".join(each) for each in (one, other, third)]
    assert jaccard(chain[0], chain[2]) < 0.9 < min(jaccard(chain[0], chain[1]), jaccard(chain[1], chain[2]))
    assert groups(chain, 0.9) == [0, 0, 0]
    with pytest.raises(ValueError, match="above 0"):
        Near(0.0)


def test_the_same_short_answer_to_different_tasks_is_not_a_duplicate() -> None:
    same = [example("Yes.", task=essay(1)), example("yes", task=essay(1)), example("Yes.", task=essay(2))]
    data = built(same)
    assert data.rows == 2 and data.tally.left_out == {"nearly the same as another row": 1}


# -- variety --------------------------------------------------------


def test_figures_of_variety_have_known_values() -> None:
    apart = np.eye(4, 8, dtype=np.float32)
    alike = np.repeat(apart[:1], 4, axis=0)
    assert vendi(apart) == pytest.approx(4.0) and vendi(alike) == pytest.approx(1.0)
    assert mean_similarity(apart) == pytest.approx(0.0) and mean_similarity(alike) == pytest.approx(1.0)
    assert vendi(apart[:0]) == 0.0 and mean_similarity(apart[:1]) is None
    found = diversity(["a b a b", "a c"], vectors(["a b a b", "a c"]))
    assert (found.distinct_words, found.distinct_pairs) == (3 / 6, 3 / 4)
    assert vectors(["", "a"])[0].any() == np.False_


def test_a_choice_of_some_takes_from_every_cluster_and_is_more_varied() -> None:
    many = [example(f"the soup was good number {n}", task=f"{n} {essay(n, 9)}") for n in range(40)]
    few = [example(essay(100 + n), task=essay(200 + n)) for n in range(6)]
    data = built(many + few, most=12, near=1.0, held_out=0.0)
    assert data.rows == 12 and data.tally.left_out == {
        "more than wanted; one of each cluster in turn was taken": 34
    }
    first = vendi(vectors([e.chosen for e in (many + few)])[:12])
    assert data.after.vendi > 2 * first and data.after.texts == 12 and data.before.texts == 46
    assert data.after.similarity is not None and data.before.similarity is not None
    assert data.after.similarity < data.before.similarity


def test_clusters_and_choices_are_the_same_each_time() -> None:
    rows = vectors([essay(n // 3) for n in range(30)])
    assert clusters(rows, 7) == clusters(rows, 7)
    assert spread([0, 0, 0, 1, 2], 3) == [0, 3, 4] and spread([0, 0], 5) == [0, 1]


# -- split and test files --------------------------------------------------------


def test_a_task_is_on_one_side_only_with_all_that_is_nearly_the_same() -> None:
    rows = []
    for number in range(30):
        task = essay(number)
        rows += [
            example(essay(1000 + number), task=task),
            example(essay(2000 + number), task=task.upper() + "!"),
        ]
    data = built(rows, held_out=0.2)
    assert len(data.held_out) == 12 and len(data.train) == 48
    sides = [{e.task.casefold().rstrip("!") for e in side} for side in (data.train, data.held_out)]
    assert not sides[0] & sides[1]
    assert built(rows, held_out=0.2).held_out == data.held_out
    assert built(rows, held_out=0.2, seed=8).held_out != data.held_out
    assert built(rows, held_out=0.0).held_out == ()


def test_rows_that_share_a_passage_with_a_test_file_are_left_out() -> None:
    tests = read_tests(
        {
            "eval.jsonl": json.dumps(
                {"q": "What is the airspeed velocity of an unladen swallow, my dear sir king?"}
            ).encode(),
            "more.csv": "q,a\n水の沸点は何度か,short one\n".encode(),
            "plain.txt": b"one two three four five six\n\ntoo short\n",
        },
        8,
    )
    rows = [
        example("He asked: what is the AIRSPEED velocity of an unladen swallow?", task="1"),
        example("fine", task="They say 水の沸点は何度か"),
        example("fine", task="zero one two three, four five six seven"),
        example("one two three four five seven", task="4"),
        example("what is the airspeed velocity of an eagle", task="5"),
    ]
    data = built(rows, tests=tests, near=1.0)
    assert sorted(e.task for e in (*data.train, *data.held_out)) == ["4", "5"]
    assert data.tally.left_out == {
        f"shares a passage with {n}": 1 for n in ("eval.jsonl", "more.csv", "plain.txt")
    }
    assert tests.texts == {"eval.jsonl": 1, "more.csv": 1, "plain.txt": 1} and tests.too_short == 4


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [("x.json", b"{", "x.json can't be read as JSON"), ("x.txt", b"\xff\xfe1", "x.txt is not UTF-8"),
     ("x.csv", b"", "x.csv is empty"), ("x.jsonl", b'{"a": 1}\n{', "x.jsonl: Line 2")],
)  # fmt: skip
def test_a_test_file_that_cant_be_read_is_named(name: str, data: bytes, message: str) -> None:
    with pytest.raises(BadTestFile, match=message):
        read_tests({name: data})


# -- the folder --------------------------------------------------------


def test_the_folder_holds_rows_origins_card_and_hashes(tmp_path: Path) -> None:
    nasty = "Error:\u2028TypeError a\u0085b \u2029 \x0b 🌍"
    rows = [example(f"{nasty} {essay(n)}", task=f"{essay(n)} {nasty}") for n in range(10)]
    manifest = write(built(rows, held_out=0.2), tmp_path / "out", {"query": "soup"})
    found = {
        path.relative_to(tmp_path / "out").as_posix()
        for path in (tmp_path / "out").rglob("*")
        if path.is_file()
    }
    assert found == {"train.jsonl", "heldout.jsonl", "provenance/rows.jsonl", "README.md", "manifest.json"}
    assert json.loads((tmp_path / "out" / "manifest.json").read_text("ascii")) == manifest
    for name, told in manifest["files"].items():
        data = (tmp_path / "out" / name).read_bytes()
        assert hashlib.sha256(data).hexdigest() == told["sha256"] and len(data) == told["bytes"]
        if name.endswith(".jsonl"):
            lines = data.decode("ascii").splitlines()
            assert len(lines) == data.count(b"\n") == told["rows"]
    assert manifest["rows"] == {"in": 10, "train": 8, "held_out": 2}


def test_every_row_can_be_traced(tmp_path: Path) -> None:
    rows = [example(essay(n), task=essay(n), origin=Origin("why", f"S{n}", n)) for n in range(6)]
    write(built(rows, held_out=0.5), tmp_path / "out", {})
    told = [json.loads(line) for line in (tmp_path / "out/provenance/rows.jsonl").read_text().splitlines()]
    for each in told:
        lines = (tmp_path / "out" / each["file"]).read_bytes().split(b"\n")
        line = lines[each["row"]] + b"\n"
        assert hashlib.sha256(line).hexdigest() == each["sha256"]
        assert json.loads(line)["completion"][0]["content"] == essay(each["step"])
        assert (each["session"], each["why"]) == (f"S{each['step']}", "why")
    assert len(told) == 6


def test_a_row_holds_only_what_trainers_take(tmp_path: Path) -> None:
    write(built([example("a", "b", essay(n)) for n in range(4)], "dpo"), tmp_path / "out", {})
    for line in (tmp_path / "out" / "train.jsonl").read_text().splitlines():
        row = json.loads(line)
        assert list(row) == ["prompt", "chosen", "rejected"]
        assert [turn["role"] for turn in row["prompt"]] == ["user"]
        assert {turn["role"] for name in ("chosen", "rejected") for turn in row[name]} == {"assistant"}


def test_the_card_says_what_was_left_out_and_how_varied_it_is(tmp_path: Path) -> None:
    rows = [example("a", "a"), *(example(essay(n), essay(n + 50), essay(n)) for n in range(10))]
    write(built(rows, "dpo"), tmp_path / "out", {"query": "so`up", "steps": False})
    card = (tmp_path / "out" / "README.md").read_text("utf-8")
    assert "11 examples were found" in card and "- 10 kept (10 direct, 0 refine)" in card
    assert "- 1 left out: chosen and rejected are the same but for spaces" in card
    assert "query: `so'up`" in card and "steps" not in card.replace("session and step", "")
    assert re.search(r"Vendi score\) \| (9\.\d|10\.0) \| \1 \|", card)


def test_a_folder_that_holds_something_is_not_touched(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").write_text("x")
    with pytest.raises(FolderTaken, match="there already"):
        write(built([example("a")]), tmp_path / "out", {})
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    write(built([example("a")]), tmp_path / "new" / "out", {})
    (tmp_path / "empty").mkdir()
    assert write(built([example("a")]), tmp_path / "empty", {})["rows"]["in"] == 1


def test_where_a_tally_begins() -> None:
    assert (Tally().seen, Tally().left_out, Tally().warned) == (0, {}, {})
