"""The protocol and its hash, and the search for names in texts."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from core.studies.leaks import REPLACEMENT, SELF_NAMING, finds, redacted, searched
from core.studies.material import Entry, checked, measure, pairs_of, same
from core.studies.protocol import (
    BadStudy,
    Exclusion,
    StudyProtocol,
    canonical,
    load_protocol,
    protocol_hash,
    read_protocol,
)

NAMES = searched(["zeta-q4", "omega-f16", "A"], ["ZetaCorp"])


def test_the_hash_is_of_every_setting_and_of_nothing_else() -> None:
    usual = StudyProtocol()
    assert protocol_hash(usual) == protocol_hash(load_protocol(canonical(usual)))
    changed = [
        replace(usual, question="Which is shorter?"),
        replace(usual, seed=1),
        replace(usual, exclusions=(Exclusion("gold", 0.7),)),
        replace(usual, aliases=("Ümlaut 🌍",)),
    ]
    assert len({protocol_hash(one) for one in (usual, *changed)}) == 5
    assert all(load_protocol(canonical(one)) == one for one in changed)
    assert canonical(changed[3]).isascii()


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"qestion": "?"}, "no setting 'qestion'"),
        ({"question": "  "}, "no question"),
        ({"target": 0}, "target must be 1 at least"),
        ({"target": "three"}, "target can't be read"),
        ({"choices": ["left", "tie"]}, "need left and right"),
        ({"choices": ["left", "right", "up"]}, "choices.2 can't be read"),
        ({"gold_share": 0.4, "retest_share": 0.2}, "0 to 0.5 together"),
        ({"gold_share": float("nan")}, "0 to 0.5 together"),
        ({"criteria": ["clear", "clear"]}, "criteria must be different"),
        ({"exclusions": [{"rule": "gold", "limit": 7}]}, "limit of gold can't be 7"),
        ({"exclusions": [{"rule": "one_sided", "limit": 0.3}]}, "limit of one_sided can't be 0.3"),
        ({"exclusions": [{"rule": "mood", "limit": 1}]}, "exclusions.0.rule can't be read"),
        ({"stop_at": "tomorrow"}, "must be a moment"),
        ({"stop_at": "2026-12-24T18:00:00"}, "no time zone"),
        ({"return_url": "javascript:alert(1)"}, "https://"),
        ({"closing_question": "Which was revised?"}, "needs the system"),
        ({"instructions": "a\0b"}, "instructions has a NUL"),
        ({"aliases": ["a\ud800"]}, "aliases has a NUL character or half"),
        ({"reserve_minutes": 0}, "more than 0 minutes"),
        ({"preference": 0.5}, "between 0.5 and 1"),
    ],
)
def test_settings_that_make_no_study_are_named(settings: dict[str, object], words: str) -> None:
    with pytest.raises(BadStudy, match=words):
        read_protocol(settings)


def test_a_protocol_file_must_be_one_object() -> None:
    with pytest.raises(BadStudy, match="no JSON"):
        load_protocol("question: ?")
    with pytest.raises(BadStudy, match="one JSON object"):
        load_protocol(json.dumps(["question"]))


# -- names in texts -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("I am zeta-q4.", ["zeta-q4"]),
        ("Zeta Q4, ZETAQ4 and zeta_q4", ["zeta-q4"] * 3),
        ("zetas q4, azeta-q4, zeta-q45", []),
        ("As an assistant made by ZetaCorp, I can't.", ["ZetaCorp"]),
        ("As an assistant made by Nobody, I can't.", [SELF_NAMING]),
        ("As an AI language model, I can't.", [SELF_NAMING]),
        ("As an assistant manager I can tell.", []),
        ("(omega-f16)", ["omega-f16"]),
        ("A is a letter", []),
    ],
)
def test_names_are_found_word_bounded(text: str, found: list[str]) -> None:
    assert [find.alias for find in finds(text, NAMES)] == found


def test_a_name_of_signs_alone_is_looked_for_as_it_is() -> None:
    assert [find.start for find in finds("made by +++", ("+++",))] == [8]


def test_only_the_chosen_name_is_taken_out() -> None:
    text = "ZetaCorp's Zeta-Q4 is better than omega f16."
    assert redacted(text, NAMES, "zeta-q4") == f"ZetaCorp's {REPLACEMENT} is better than omega f16."


# -- what is compared ---------------------------------------------------------------------------


def test_texts_are_the_same_as_a_rater_sees_them() -> None:
    assert same("Café \r\nb\n", "Cafe\u0301\nb")
    assert not same("a b", "a  b")
    assert not same("a", "A")


def test_measures_count_marks_and_flag_what_is_no_text() -> None:
    found = measure("# Title\n\n- one\n- **two** and `three`\n\n[four](https://x.example)\n")
    assert dict(found.markdown) == {
        "headings": 1, "bullets": 2, "bold": 1, "code": 1, "links": 1, "tables": 0,
    }  # fmt: skip
    assert measure("The review is already positive, so no rewrite is needed.", "Bad food.").flags
    assert measure("Good food.", "Bad food.").flags == ()
    assert measure("").flags == ("empty",)


def test_pairs_are_all_or_those_that_are_wanted() -> None:
    assert pairs_of(["c", "a", "b"], ()) == (("a", "b"), ("a", "c"), ("b", "c"))
    assert pairs_of(["c", "a", "b"], (("c", "a"), ("x", "y"))) == (("a", "c"),)


def test_names_and_keys_are_compared_composed_and_repeats_are_left_out() -> None:
    one = Entry("José", "p", (("sys", "1"), ("tem", "2")))
    again = Entry("Jose\u0301 ", "p", ((" sys", "1"), ("tem", "2")))
    assert checked([one, again]) == (one,)
    with pytest.raises(BadStudy, match=r"entry 2 .* differs"):
        checked([one, replace(again, prompt="q")])


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        (Entry("", "p", (("a", "1"), ("b", "2"))), "no key"),
        (Entry("k", "p", (("a", "1"),)), "two different systems"),
        (Entry("k", "p", (("a", "1"), ("a", "2"))), "two different systems"),
        (Entry("k", "p", (("a", "1"), ("b", "2\0"))), "b has a NUL"),
        (Entry("k", "p\ud800", (("a", "1"), ("b", "2"))), "prompt has half"),
        (Entry("k", "p", (("a", "1" * 300_000), ("b", "2"))), "200,000 is the most"),
        (Entry("k", "p", (("a", "1"), ("b", "2")), kind="gold"), "what is expected"),
        (Entry("k", "p", (("a", "1"), ("b", "2")), kind="gold", expected="c"), "what is expected"),
    ],
)
def test_an_entry_that_can_not_be_asked_is_named(entry: Entry, words: str) -> None:
    with pytest.raises(BadStudy, match=rf"entry 1 .*{words}"):
        checked([entry])
