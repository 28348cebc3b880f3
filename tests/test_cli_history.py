"""`history` and its exports: hostile texts stay texts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest

from tests.fake_chat import Chat
from tests.fault_server import FaultServer
from tests.terminal import OPTIONS, Cli, chat_fixture, cli_fixture

__all__ = ["chat_fixture", "cli_fixture"]

# -- history --------------------------------------------------------------------------------

HOSTILE = (
    "\n$body ${title} <script>document.title='x'</script>\r\n```\n# not a title\n````\n| a | b |\n"
    "&lt;b&gt; $5 and $7 <img src=x onerror=alert(1)> [a](javascript:alert(1)) </pre>"
    " \ud55c\u2028x"
)


class _Reader(HTMLParser):
    """Keeps the tags, the attributes and the texts of every <pre>."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.texts: list[str] = []
        self.title = ""
        self._inside = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self._inside = tag
        if tag == "pre":
            self.texts.append("")

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside == "pre":
            self.texts[-1] += data
        elif self._inside == "title":
            self.title += data


@pytest.fixture
def hostile(cli: Cli) -> Iterator[str]:
    """The id of an ended session whose every text tries to break out."""
    with FaultServer(Chat(lambda _: HOSTILE)) as server:
        cli.endpoint(server.url)
        ran = cli("refine", HOSTILE, "--instruction", HOSTILE, *OPTIONS, "--json")
        assert ran.code == 0, ran.err
        yield cli.only_session()


def test_exported_html_runs_nothing_and_keeps_every_text(cli: Cli, hostile: str) -> None:
    page = cli("history", "export", hostile, "--format", "html").out
    read = _Reader(page)
    assert read.tags <= {"html", "head", "meta", "title", "style", "body", "h1", "h2", "p", "pre"}
    assert read.attributes <= {"lang", "charset", "name", "content", "http-equiv"}
    # What reads HTML drops one line end right after <pre>, and takes a bare \r for \n.
    assert read.texts.count("\n" + HOSTILE) >= 2 and "\r" not in page
    assert "$body" in read.title and "<script>" in read.title
    assert "default-src 'none'" in page


def test_exported_markdown_keeps_every_text_in_a_fence_of_its_own(cli: Cli, hostile: str) -> None:
    page = cli("history", "export", hostile, "--format", "md").out
    block = f"\n`````text\n{HOSTILE}\n`````\n"
    assert page.count(block) >= 2
    outside = page.replace(block, "\n")
    assert "````text" not in outside, "every text is one of them"
    assert re.search(r"(?<!\\)[<|`&$\[]", outside) is None
    assert "\\&lt;b\\&gt;" in outside


def test_exported_json_is_all_of_it_and_ascii(cli: Cli, hostile: str) -> None:
    ran = cli("history", "export", hostile)
    assert ran.out.isascii() and ran.json["task"]["input"] == HOSTILE
    assert ran.json["steps"][0]["answer"]["reply"]["completions"][0]["text"] == HOSTILE
    assert cli("history", "show", hostile, "--json").json == ran.json


def test_export_into_a_file(cli: Cli, hostile: str, tmp_path: Path) -> None:
    for form in ("json", "md", "html"):
        target = tmp_path / f"out.{form}"
        ran = cli("history", "export", hostile, "--format", form, "--output", str(target))
        assert (ran.code, ran.out) == (0, "")
        assert target.read_bytes().decode() == cli("history", "export", hostile, "--format", form).out[:-1]


def test_export_into_a_place_that_is_none_is_refused(cli: Cli, hostile: str, tmp_path: Path) -> None:
    ran = cli("history", "export", hostile, "--output", str(tmp_path / "none" / "x.json"))
    assert ran.code == 2 and "x.json can't be written" in ran.err


def test_a_list_of_nothing_says_how_to_begin(cli: Cli) -> None:
    ran = cli("history", "list")
    assert (ran.code, ran.out) == (0, "") and "refine TEXT" in ran.err


def test_sessions_are_listed_newest_first(cli: Cli, chat: FaultServer) -> None:
    for text in ("one", "two", "three"):
        assert cli("refine", text, *OPTIONS, "--strategy", "direct", "--json").code == 0
    rows = cli("history", "list", "--json", "--limit", "2").json
    assert [row["title"] for row in rows] == ["three", "two"]
    lines = cli("history", "list").out.splitlines()
    assert len(lines) == 3 and lines[0].startswith(rows[0]["id"])
    assert "one draft was asked for" in lines[0]
