"""The presets there are: a person's own beside the built-in ones, versions kept, broken files listed."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.domain import Task
from core.preset_library import PresetLibrary, UnknownPreset
from core.preset_preview import preview
from core.presets import BUILT_IN, PresetError
from tests.small_preset import RICH, SMALL

REWRITE = (BUILT_IN / "rewrite.yaml").read_bytes().decode("utf-8")


def text(title: str) -> str:
    return SMALL.replace("A small one", title)


@pytest.fixture
def library(tmp_path: Path) -> PresetLibrary:
    return PresetLibrary(tmp_path)


def files(home: Path) -> dict[str, str]:
    return {
        str(path.relative_to(home)): path.read_bytes().decode("utf-8")
        for path in home.rglob("*")
        if path.is_file()
    }


def test_without_a_folder_of_ones_own_there_are_the_built_in_presets(library: PresetLibrary) -> None:
    listed = library.all()
    assert listed[0].name == "rewrite"
    assert {one.origin for one in listed} == {"built-in"}
    assert [one.title for one in listed[1:]] == sorted(one.title for one in listed[1:])
    assert list(library) == [one.name for one in listed] and len(library) == len(listed)
    assert library["rewrite"].text == library.text_of("rewrite") == REWRITE


def test_a_saved_preset_is_there_at_once_and_its_versions_are_kept(
    library: PresetLibrary, tmp_path: Path
) -> None:
    assert [library.save("small", text(title)) for title in ("One", "Two", "Three")] == [1, 2, 3]
    assert library["small"].title == "Three"
    assert library.versions("small") == (1, 2, 3)
    assert [library.text_of("small", number) for number in (1, 2, 3)] == [
        text("One"),
        text("Two"),
        text("Three"),
    ]
    assert files(tmp_path) == {
        "presets/small.yaml": text("Three"),
        "presets/versions/small/0001.yaml": text("One"),
        "presets/versions/small/0002.yaml": text("Two"),
    }


def test_saving_what_already_stands_there_makes_no_version(library: PresetLibrary, tmp_path: Path) -> None:
    assert [library.save("small", text("One")) for _ in range(3)] == [1, 1, 1]
    assert library.save("rewrite", REWRITE) == 0
    assert list(files(tmp_path)) == ["presets/small.yaml"]


def test_a_built_in_preset_is_changed_by_a_version_of_ones_own_over_it(library: PresetLibrary) -> None:
    mine = REWRITE.replace("title: Rewrite a text", "title: Mine")
    assert library.save("rewrite", mine) == 1
    assert library["rewrite"].title == "Mine"
    assert library.all()[0].origin == "own in place of a built-in"
    assert library.versions("rewrite") == (0, 1)
    assert library.text_of("rewrite", 0) == REWRITE
    assert library.save("rewrite", REWRITE) == 2
    assert library.versions("rewrite") == (0, 1, 2) and library["rewrite"].text == REWRITE
    assert (BUILT_IN / "rewrite.yaml").read_bytes().decode("utf-8") == REWRITE


def test_a_file_changed_by_hand_counts_at_once_and_is_kept_when_another_is_saved(
    library: PresetLibrary, tmp_path: Path
) -> None:
    library.save("small", text("One"))
    (tmp_path / "presets" / "small.yaml").write_text(text("By hand"), encoding="utf-8")
    assert library["small"].title == "By hand"
    assert library.save("small", text("Two")) == 2
    assert library.text_of("small", 1) == text("By hand")
    (tmp_path / "presets" / "small.yaml").unlink()
    assert "small" not in library and library.versions("small") == (1,)
    assert library.save("small", text("Three")) == 2


def test_a_save_that_was_broken_off_leaves_no_double(library: PresetLibrary, tmp_path: Path) -> None:
    library.save("small", text("One"))
    older = tmp_path / "presets" / "versions" / "small"
    older.mkdir(parents=True)
    (older / "0001.yaml").write_bytes((tmp_path / "presets" / "small.yaml").read_bytes())
    library.save("small", text("Two"))
    assert [library.text_of("small", number) for number in library.versions("small")] == [
        text("One"),
        text("Two"),
    ]


def test_a_yml_file_is_taken_over(library: PresetLibrary, tmp_path: Path) -> None:
    (tmp_path / "presets").mkdir()
    (tmp_path / "presets" / "small.yml").write_text(text("One"), encoding="utf-8")
    assert library.save("small", text("Two")) == 2
    assert sorted(files(tmp_path)) == ["presets/small.yaml", "presets/versions/small/0001.yaml"]


@pytest.mark.parametrize(
    "name",
    ["", "..", "../evil", "a/b", "a\\b", "/etc/passwd", ".hidden", "A", "a b", "a.yaml", "é", "a\x00",
     "a" * 61, "a\n"],
)  # fmt: skip
def test_a_name_never_leads_out_of_the_folder(name: str, library: PresetLibrary, tmp_path: Path) -> None:
    with pytest.raises(PresetError, match="small letters"):
        library.save(name, SMALL.replace("name: small", f'name: "{name}"'))
    for read in (library.text_of, library.versions, library.__getitem__):
        with pytest.raises(UnknownPreset, match="There is no preset"):
            read(name)
    assert files(tmp_path) == {}


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ("", "empty"),
        (SMALL.replace("{{ input }}", "{{ inptu }}", 1), r"small\.yaml, line 9: .*inptu"),
        (RICH.replace("name: small", "name: other"), r"small\.yaml, line 1: .*Make them the same"),
        (SMALL.replace("A small", "\ud800"), r"small\.yaml, line 2"),
    ],
)
def test_a_text_with_a_mistake_is_not_saved(
    wrong: str, words: str, library: PresetLibrary, tmp_path: Path
) -> None:
    library.save("small", text("One"))
    before = files(tmp_path)
    with pytest.raises(PresetError, match=words):
        library.save("small", wrong)
    assert files(tmp_path) == before


def test_a_broken_file_is_listed_with_its_line_and_harms_no_other(
    library: PresetLibrary, tmp_path: Path
) -> None:
    folder = tmp_path / "presets"
    folder.mkdir()
    broken = SMALL.replace("title:", "titel:")
    (folder / "mine.yaml").write_text(broken, encoding="utf-8")
    (folder / "latin.yaml").write_bytes(b"name: caf\xe9\n")
    (folder / "folder.yaml").mkdir()
    (folder / "acronym.yaml").write_text("[", encoding="utf-8")
    listed = {one.name: one for one in library.all()}
    assert (listed["mine"].preset, listed["mine"].line) == (None, 2)
    assert 'no key "titel"' in listed["mine"].error and listed["mine"].title == "mine"
    assert listed["latin"].line == 1 and "UTF-8" in listed["latin"].error
    assert listed["folder"].preset is None
    assert listed["acronym"].origin == "own in place of a built-in"
    assert "mine" not in library and "rewrite" in library
    assert {*library} == {one.name for one in library.all() if one.preset}
    with pytest.raises(UnknownPreset, match="titel"):
        library["mine"]
    assert library.text_of("mine") == broken
    with pytest.raises(PresetError, match="UTF-8"):
        library.text_of("latin")
    assert library.save("latin", SMALL.replace("name: small", "name: latin")) == 2


def test_no_such_version(library: PresetLibrary) -> None:
    library.save("small", text("One"))
    with pytest.raises(UnknownPreset, match="in version 7"):
        library.text_of("small", 7)


def test_what_has_changed_since(library: PresetLibrary, tmp_path: Path) -> None:
    library.save("small", text("One"))
    assert library.changed_since(text("One")) is None
    library.save("small", text("Two"))
    assert library.changed_since(text("One")) == text("Two")
    assert library.changed_since(text("Two")) is None
    assert library.changed_since(SMALL.replace("name: small", "name: gone")) is None
    assert library.changed_since("no preset") is None
    (tmp_path / "presets" / "copy.yaml").write_text(text("One"), encoding="utf-8")
    assert library.changed_since(text("One")) is None


def test_a_broken_newest_file_is_what_the_preset_reads_now(library: PresetLibrary, tmp_path: Path) -> None:
    library.save("small", text("One"))
    (tmp_path / "presets" / "small.yaml").write_text("titel: x", encoding="utf-8")
    assert library.changed_since(text("One")) == "titel: x"


def test_a_preview_shows_every_request_in_order() -> None:
    shown = preview(RICH, Task("A {{ text }}.", instruction="shorten"))
    words = dict(shown)
    assert [title for title, _ in shown[:5]] == [
        "System", "Worked example 1", "Worked example 1: the answer", "Ask for a draft",
        "Ask for a draft, step by step",
    ]  # fmt: skip
    assert len(words) == len(shown) == 16
    assert words["Ask for a draft"] == "Do: shorten\nA {{ text }}."
    assert words["Ask for points"].startswith("What is wrong?")
    assert words["Ask for the revision again, with a note"] == "Again, and (what you ask for besides)."
    assert words["Ask for points after a revision that was not kept"].startswith("Not kept: the score fell.")
    assert "(the model's text)" in words["Ask a judge, who sees nothing else"]
    assert "(another text of the model)" in words["Ask for one text made of several"]
    assert "Ask a judge, who sees nothing else" not in dict(preview(SMALL, Task("x")))


def test_a_preview_of_a_preset_with_a_mistake_names_the_line() -> None:
    with pytest.raises(PresetError, match="line 2"):
        preview(SMALL.replace("title:", "titel:"), Task("x"))
