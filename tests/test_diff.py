"""Diffs that can be read, taken apart and put together again."""

from __future__ import annotations

import random

import pytest
import regex

from core.diff import Piece, apply_hunks, diff, hunks, line_ends_only, similar, tokens, visible

ALPHABETS = [
    "ab ",
    "abc. \n",
    "01,. x",
    "海洋の温度。、 は",
    "สวัดีครบก้ำ ",
    "ae\u0301o\u0308\u200d\ufe0f ",
    "👨👩👧\u200d🏽🇩🇪🇫 a",
    "\r\n\t \u00a0\u200b\u2028x",
    "한국어 \u1100\u1161\u11a8",
    "\ud83c\udf0d\ud800 a",
    "<b>&$|\\{}",
]


def sides(pieces: tuple[Piece, ...]) -> tuple[str, str]:
    old = "".join(piece.text for piece in pieces if piece.kind != "added")
    new = "".join(piece.text for piece in pieces if piece.kind != "removed")
    return old, new


def changed(old: str, new: str) -> list[tuple[str, str]]:
    return [(hunk.removed, hunk.added) for hunk in hunks(old, new)]


def random_text(dice: random.Random, alphabet: str, longest: int = 40) -> str:
    return "".join(dice.choice(alphabet) for _ in range(dice.randrange(longest)))


def edited(dice: random.Random, text: str, alphabet: str) -> str:
    for _ in range(dice.randrange(4)):
        place = dice.randrange(len(text) + 1)
        text = text[:place] + random_text(dice, alphabet, 4) + text[place + dice.randrange(4) :]
    return text


@pytest.mark.parametrize("alphabet", ALPHABETS)
def test_any_pair_can_be_read_off_and_applied_in_parts(alphabet: str) -> None:
    dice = random.Random(ascii(alphabet))
    for _ in range(150):
        old = random_text(dice, alphabet)
        new = edited(dice, old, alphabet) if dice.random() < 0.7 else random_text(dice, alphabet)
        pieces, found = diff(old, new), hunks(old, new)
        assert sides(pieces) == (old, new)
        assert all(piece.text for piece in pieces)
        assert bool(found) == (old != new)
        assert apply_hunks(old, new, set()) == old
        assert apply_hunks(old, new, {hunk.index for hunk in found}) == new
        assert 0 <= similar(old, new) <= 1
        assert (similar(old, new) == 1) == (old == new)


@pytest.mark.parametrize("alphabet", ALPHABETS)
def test_no_piece_begins_inside_a_grapheme(alphabet: str) -> None:
    dice = random.Random(ascii(alphabet))
    for _ in range(100):
        old = random_text(dice, alphabet)
        new = edited(dice, old, alphabet)
        for text, other in ((old, "added"), (new, "removed")):
            edges = {0}
            for cluster in regex.findall(r"\X", text):
                edges.add(max(edges) + len(cluster))
            place = 0
            for piece in diff(old, new):
                if piece.kind != other:
                    place += len(piece.text)
                    assert place in edges


def test_a_surrogate_pair_in_two_halves_stays_together() -> None:
    assert changed("a\ud83c\udf0d", "a\ud83c\udf0e") == [("\ud83c\udf0d", "\ud83c\udf0e")]


@pytest.mark.parametrize(
    ("old", "new", "expected", "share"),
    [
        ("海洋の温度", "海洋温度", [("の", "")], 0.8),
        ("预算为50万元。", "预算为500万元。", [("", "0")], 0.85),
        ("今日はとても暑い。", "今日は少し寒い。", [("とても暑", "少し寒")], 0.4),
    ],
)
def test_text_without_spaces(old: str, new: str, expected: list[tuple[str, str]], share: float) -> None:
    assert changed(old, new) == expected
    same = sum(len(piece.text) for piece in diff(old, new) if piece.kind == "same")
    assert same / max(len(old), len(new)) >= share


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("a b", "a  b", [("", " ")]),
        ("end", "end\n", [("", "\n")]),
        ("x\r\ny\r\n", "x\ny\n", [("\r\n", "\n"), ("\r\n", "\n")]),
        ("    return x", "  return x", [("  ", "")]),
        ("\tx", "    x", [("\t", "    ")]),
        ("a b", "a\u00a0b", [(" ", "\u00a0")]),
        ("zerowidth", "zero\u200bwidth", [("zerowidth", "zero\u200bwidth")]),
    ],
)
def test_white_space_is_shown_by_itself(old: str, new: str, expected: list[tuple[str, str]]) -> None:
    assert changed(old, new) == expected


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("in 1999 we", "in 2013 we", [("1999", "2013")]),
        ("The old, tired cat sat.", "A new, fresh cat lay.",
         [("The old, tired", "A new, fresh"), ("sat", "lay")]),
        ("I don't know", "I do not know", [("don't", "do not")]),
        ("1,234 items", "1,235 items", [("4", "5")]),
        ("one two", "one two three", [("", " three")]),
        ("temperature", "temperatures", [("temperature", "temperatures")]),
        ("same", "same", []),
        ("", "", []),
        ("", "new", [("", "new")]),
        ("old", "", [("old", "")]),
        ("First line.\n\nSecond line.", "Other text.\n\nAnother end.",
         [("First line", "Other text"), ("Second line", "Another end")]),
    ],
)  # fmt: skip
def test_changes_read_well(old: str, new: str, expected: list[tuple[str, str]]) -> None:
    assert changed(old, new) == expected


def test_a_removal_stands_before_what_replaces_it() -> None:
    assert diff("a cat", "a dog") == (Piece("same", "a "), Piece("removed", "cat"), Piece("added", "dog"))


def test_some_hunks() -> None:
    old, new = "The cat sat on the mat today.", "The dog sat on the rug today."
    assert apply_hunks(old, new, {0}) == "The dog sat on the mat today."
    assert apply_hunks(old, new, {1}) == "The cat sat on the rug today."
    with pytest.raises(ValueError, match="no change number 7"):
        apply_hunks(old, new, {0, 7})


def test_tokens_join_and_keep_words_whole() -> None:
    text = "Don't go to 東京 in 2024,\r\nnaïve e\u0301!"
    assert "".join(tokens(text)) == text
    assert {"Don't", "東", "京", "2", "\r\n", "naïve", "e\u0301"} <= set(tokens(text))


def sized(dice: random.Random, words: int, ends: str) -> str:
    return "".join(f"{dice.choice(WORDS)}{dice.choice(ends)}" for _ in range(words))


WORDS = [a + b + c for a in "bdfgklm" for b in "aeiou" for c in ("n", "st", "rk", "lling")]


def test_a_long_text_that_differs_much_is_compared() -> None:
    dice = random.Random(3)
    old, new = sized(dice, 60_000, "  \n"), sized(dice, 60_000, "  \n")
    assert sides(diff(old, new)) == (old, new)


def test_small_changes_in_a_long_text_are_found() -> None:
    dice = random.Random(4)
    lines = [f"{number} {sized(dice, 12, ' ')}" for number in range(6_000)]
    other = list(lines)
    for place in range(50, 6_000, 500):
        other[place] = other[place] + "CHANGED"
    assert changed("\n".join(lines), "\n".join(other)) == [("", "CHANGED")] * 12


@pytest.mark.parametrize(
    ("old", "new"), [("a b " * 60_000, "b a " * 60_000), ("x\n" * 90_000, "y\n" + "x\n" * 80_000)]
)
def test_repetitive_texts_stay_bounded(old: str, new: str) -> None:
    assert sides(diff(old, new)) == (old, new)


def test_line_ends_only() -> None:
    assert line_ends_only("x\r\ny\r\n", "x\ny\n")
    assert line_ends_only("x\ry", "x\ny")
    assert not line_ends_only("x\ny", "x\ny")
    assert not line_ends_only("end", "end\n")
    assert not line_ends_only("x\r\ny", "x\nz")


@pytest.mark.parametrize(
    ("text", "marked"),
    [
        ("a b", []),
        ("a  b", [(" ", "·"), (" ", "·")]),
        ("  a", [(" ", "·"), (" ", "·")]),
        ("a \nb", [(" ", "·"), ("\n", "↵")]),
        ("a\\nb", []),
        ("a\tb\r\n", [("\t", "⇥"), ("\r", "␍"), ("\n", "↵")]),
        ("a\u00a0b", [("\u00a0", "⍽")]),
        ("zero\u200bwidth", [("\u200b", "[ZWSP]")]),
        ("soft\u00adhyphen", [("\u00ad", "[SHY]")]),
        ("\ufeffstart", [("\ufeff", "[BOM]")]),
        ("\u202eabc", [("\u202e", "[RLO]")]),
        ("a\u2028b", [("\u2028", "[LS]")]),
        ("a\x00b", [("\x00", "␀")]),
        ("a\ud83cb", [("\ud83c", "[U+D83C]")]),
        ("a\u3000b", [("\u3000", "[U+3000]")]),
        ("👨\u200d👩 می\u200cخواهم", []),
        ("in\u200dvisible", [("\u200d", "[ZWJ]")]),
        ("价格 é Ω Ж ü ❤️ שלום <b>", []),
        ("", []),
    ],
)
def test_what_cannot_be_seen_gets_a_symbol(text: str, marked: list[tuple[str, str]]) -> None:
    pieces = visible(text)
    assert [piece for piece in pieces if piece[1]] == marked
    assert "".join(characters for characters, _ in pieces) == text


def test_every_space_can_be_marked() -> None:
    assert visible("a b", every_space=True) == (("a", ""), (" ", "·"), ("b", ""))
