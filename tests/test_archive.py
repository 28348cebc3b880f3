"""Complete export and import between databases: the same bytes, once only, all or nothing."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import create_engine, text

from core.domain import Decision, Point, Task
from core.interchange import MAX_TEXT, ImportProblem, Kept, Marks, Received, Row, rows_of
from core.listing import Chosen, Filter, Order
from core.sessions import StoreBusy, UnknownSession
from core.steps import Measured, Ruled
from storage.archive import SqlArchive
from storage.database import open_database
from storage.documents import document, read_document
from storage.store import SqlStore
from tests.test_export import by, session
from tests.test_storage import NASTY, every_kind_of_step
from tests.values import TASK, recipe, step

MADE = datetime(2026, 1, 2, 3, 4, 5, 678, tzinfo=UTC)


class House:
    """A database with its store and its archive."""

    def __init__(self, path: Path) -> None:
        self.engine = open_database(f"sqlite:///{path}")
        self.store, self.archive = SqlStore(self.engine), SqlArchive(self.engine)

    def file(self, chosen: Chosen = Chosen()) -> bytes:  # noqa: B008 - frozen
        """The chosen sessions as a file."""
        return "".join(self.archive.file(chosen)).encode("ascii")

    def take(self, data: bytes) -> Received:
        """Import a file."""
        return self.archive.receive_documents(rows_of(io.BytesIO(data)))


@pytest.fixture
def here(tmp_path: Path) -> House:
    return House(tmp_path / "here.db")


@pytest.fixture
def there(tmp_path: Path) -> House:
    return House(tmp_path / "there.db")


def filled(house: House) -> list[str]:
    """Sessions of every kind of step, one without any, an ended one, a fork and a fork of it; their ids."""
    ids = [house.store.create(Task(NASTY, NASTY, NASTY, NASTY), recipe(NASTY), "ask", title=NASTY)]
    for position, each in enumerate(every_kind_of_step()):
        house.store.append(ids[0], position, each)
    ids.append(house.store.create(TASK, recipe(), "auto", title="Empty"))
    ids.append(house.store.create(TASK, recipe(), "auto", title="Ended"))
    made, _ = session([by("accept", points=(Point("too sweet", by="Anna"),)), by("edit", text="mine")])
    for position, each in enumerate(made.steps):
        house.store.append(ids[2], position, each)
    house.store.set_ending(ids[2], "the rounds are used up")
    house.store.set_problem(ids[0], "out of reach")
    ids.append(house.store.fork(ids[0], 3))
    return [*ids, house.store.fork(ids[3], 2)]


def test_an_export_imported_and_exported_is_the_same_bytes(here: House, there: House) -> None:
    ids = filled(here)
    data = here.file()
    assert there.take(data) == Received(new=5)
    assert there.file() == data
    for each in ids:
        assert there.store.load(each) == here.store.load(each)
    assert [s.ending for s in there.store.recent(9)] == [s.ending for s in here.store.recent(9)]
    assert [s.changed_at for s in there.store.recent(9)] == [s.changed_at for s in here.store.recent(9)]
    assert len(there.store.recent(9, query="fantastic")) == 2, "what was imported is found by its words"


def test_a_file_is_ascii_lines_to_every_reader(here: House) -> None:
    filled(here)
    data = here.file().decode("ascii")
    assert len(data.splitlines()) == data.count("\n") == 6
    assert json.loads(data.splitlines()[1])["task"]["input"] == NASTY


def test_a_second_import_adds_nothing(here: House, there: House) -> None:
    filled(here)
    data = here.file()
    there.take(data)
    assert there.take(data) == Received(known=5)
    twice = data.replace(b'"sessions": 5', b'"sessions": 10') + data.partition(b"\n")[2]
    assert there.take(twice) == Received(known=10)
    assert there.file() == data


def test_what_was_deleted_here_stays_deleted_and_is_said(here: House, there: House) -> None:
    ids = filled(here)
    data = here.file()
    there.take(data)
    there.store.delete(ids[1])
    assert there.take(data) == Received(known=5, deleted=1)
    assert ids[1] not in [row.id for row in there.store.recent(9)]


def test_deleted_sessions_are_not_exported_and_links_to_them_are_left_out(here: House, there: House) -> None:
    ids = filled(here)
    here.store.delete(ids[0])
    data = here.file()
    assert ids[0].encode() not in data
    assert there.take(data) == Received(new=4) and there.file() == data
    assert there.store.load(ids[3]).parent is None and there.store.load(ids[4]).parent == (ids[3], 2)


def test_a_session_that_went_on_here_is_known(here: House, there: House) -> None:
    ids = filled(here)
    data = here.file()
    there.take(data)
    there.store.append(ids[1], 0, step())
    there.store.set_mode(ids[1], "ask")
    assert there.take(data) == Received(known=5)
    with pytest.raises(ImportProblem, match=rf"Row 2 .*{ids[1]} .*0 steps here and 1 in the file"):
        here.take(there.file())


@pytest.mark.parametrize("name", ["title", "task", "mode", "step 1"])
def test_another_session_of_the_same_id_is_refused_and_named(here: House, there: House, name: str) -> None:
    ids = filled(here)
    there.take(here.file())
    before = there.file()
    kept = here.archive.one(ids[0])
    other = {
        "title": replace(kept, session=replace(kept.session, title="x")),
        "task": replace(kept, session=replace(kept.session, task=TASK)),
        "mode": replace(kept, session=replace(kept.session, mode="auto")),
        "step 1": _with_other_step(kept),
    }[name]
    fresh = document(replace(kept, session=replace(kept.session, id="fresh", parent=None)))
    with pytest.raises(
        ImportProblem, match=f"Row 2 .*{ids[0]} is here already and is another: .*{name} differs"
    ):
        there.take(f"{fresh}\n{document(other)}\n".encode())
    assert there.file() == before, "the row before it was not kept either"


def _with_other_step(kept: Kept) -> Kept:
    steps = list(kept.session.steps)
    assert isinstance(steps[1].answer, Measured)
    steps[1] = replace(steps[1], answer=replace(steps[1].answer, stopped_by="Eve"))
    return replace(kept, session=replace(kept.session, steps=tuple(steps)))


def test_tags_and_stars_come_along_and_are_added_to_those_that_are_here(here: House, there: House) -> None:
    ids = filled(here)
    here.store.listing.tag(Chosen((ids[0],)), "for me", on=True)
    here.store.listing.star(ids[0], None, on=True)
    here.store.listing.star(ids[0], 0, on=True)
    data = here.file()
    there.take(data)
    assert there.file() == data
    assert [s.id for s in there.store.listing.find(Filter(tag="for me", starred=True), Order(), 9)] == ids[:1]
    there.store.listing.tag(Chosen((ids[0],)), "for me", on=False)
    there.store.listing.tag(Chosen((ids[0],)), "mine", on=True)
    there.store.listing.star(ids[0], None, on=False)
    assert there.take(data) == Received(known=5)
    marks = there.archive.one(ids[0]).marks
    assert marks == Marks(("for me", "mine"), True, (0,))


def test_what_is_left_out_of_a_filter_is_not_exported(here: House) -> None:
    ids = filled(here)
    chosen = Chosen(None, Filter(), frozenset(ids[:3]))
    assert [kept.session.id for kept in here.archive.kept(chosen)] == ids[3:]
    assert here.archive.count(chosen) == 2


def test_a_filter_of_more_than_is_found_at_a_time_finds_all(
    here: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("storage.archive.FOUND", 7)
    one = next(_kepts(1))
    here.archive.receive(
        (f"row {i}", replace(one, session=replace(one.session, id=f"s{i:03}"))) for i in range(30)
    )
    everything = [f"s{i:03}" for i in range(30)]
    for wanted in (Filter(), Filter(query="fantastic"), Filter(strategy="self_refine", outcome="open")):
        assert [k.session.id for k in here.archive.kept(Chosen(None, wanted))] == everything, wanted


def test_a_fork_alone_comes_without_its_link_and_gets_it_later(here: House, there: House) -> None:
    ids = filled(here)
    fork = document(here.archive.one(ids[3]))
    assert there.take(fork.encode()) == Received(new=1, alone=1)
    assert there.store.load(ids[3]).parent is None
    assert there.take(fork.encode()) == Received(known=1, alone=1)
    there.take(here.file(Chosen(ids=(ids[0],))))
    assert there.take(fork.encode()) == Received(known=1)
    assert there.store.load(ids[3]).parent == (ids[0], 3)


def test_a_fork_may_come_before_its_parent(here: House, there: House) -> None:
    filled(here)
    first, *lines = here.file().splitlines()
    assert there.take(b"\n".join([first, *reversed(lines)])) == Received(new=5)
    # Sessions that began in the same millisecond keep the order in which they came.
    assert sorted(there.file().splitlines()) == sorted(here.file().splitlines())


def test_one_session_of_many_lines_is_a_file_too(here: House, there: House) -> None:
    ids = filled(here)
    line = document(here.archive.one(ids[0]))
    pretty = json.dumps({**json.loads(line), "outcome": None, "spent": {"calls": 3}, "notes": []}, indent=1)
    assert there.take(pretty.encode()) == Received(new=1)
    assert document(there.archive.one(ids[0])) == line


@pytest.mark.parametrize("change", [lambda d: b"\xef\xbb\xbf" + d, lambda d: d.replace(b"\n", b"\r\n"),
                                    lambda d: d.replace(b"\n", b"\n\n"), lambda d: d[:-1]])  # fmt: skip
def test_bom_and_line_ends_of_other_systems_are_read(
    here: House, there: House, change: Callable[[bytes], bytes]
) -> None:
    filled(here)
    assert there.take(change(here.file())) == Received(new=5)
    assert there.file() == here.file()


def test_raw_unicode_line_ends_within_strings_are_read(here: House, there: House) -> None:
    filled(here)
    raw = "".join(
        json.dumps(json.loads(line), ensure_ascii=False) + "\n" for line in here.file().splitlines()
    )
    assert "\u2028" in raw
    assert there.take(raw.encode()) == Received(new=5) and there.file() == here.file()


# -- refused whole -------------------------------------------------------------------------------------


def _edited(change: Callable[[dict[str, Any]], object]) -> Callable[[bytes], bytes]:
    """The file with its third session changed."""

    def edit(data: bytes) -> bytes:
        lines = data.splitlines()
        found = json.loads(lines[3])
        change(found)
        lines[3] = json.dumps(found).encode()
        return b"\n".join(lines) + b"\n"

    return edit


REFUSED: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "cut in half": (lambda d: d[: len(d) // 2], r"Row \d .*Perhaps it was cut"),
    "cut between lines": (lambda d: d[: d[:-1].rfind(b"\n") + 1], "After row 4: there should be 5 sessions"),
    "only its head": (lambda d: d.splitlines()[0], "After row 0: there should be 5"),
    "a NUL byte": (lambda d: d[:-40] + b"\0" + d[-40:], "Row 5 .*NUL byte"),
    "bytes of another encoding": (lambda d: d[:-40] + b"\xe9" + d[-40:], "Row 5 .*not UTF-8"),
    "UTF-16": (lambda d: d.decode().encode("utf-16"), "UTF-16"),
    "a later head": (lambda d: d.replace(b'"version": 2', b'"version": 3', 1), "Line 1: its version is 3"),
    "a later row": (_edited(lambda f: f.update(version=7)), "Row 3 .*version is 7"),
    "no format": (_edited(lambda f: f.pop("format")), "Row 3 .*not a session as Redraft"),
    "an escaped NUL": (
        _edited(lambda f: f["task"].update(input="a\0b")),
        r"Row 3 .*task\.input has a NUL .* 2\.",
    ),
    "half a surrogate": (
        _edited(lambda f: f["steps"][0]["answer"]["reply"].update(model="\ud800")),
        r"Row 3 .*steps\[0\]\.answer\.reply\.model has half of a surrogate",
    ),
    "a text too long": (
        _edited(lambda f: f["task"].update(input="x" * (MAX_TEXT + 1))),
        r"Row 3 .*10,000,001",
    ),
    "a text for a number": (
        _edited(lambda f: f["steps"][0]["request"].update(round="0")),
        r"Row 3 .*steps\[0\]\.request.*round: Input should be a valid integer",
    ),
    "a number for a text": (_edited(lambda f: f["task"].update(input=3)), r"Row 3 .*task\.input: .*string"),
    "a name that is none": (
        _edited(lambda f: f["task"].update(inputs="x")),
        r"Row 3 .*task\.inputs is not known",
    ),
    "another name on top": (_edited(lambda f: f.update(note="x")), "Row 3 .*'note' is not known"),
    "a part missing": (_edited(lambda f: f.pop("recipe")), "Row 3 .*'recipe' is missing"),
    "steps that are none": (_edited(lambda f: f.update(steps={})), "Row 3 .*steps is not a list"),
    "a step that is none": (
        _edited(lambda f: f["steps"].insert(0, 3)),
        r"Row 3 .*steps\[0\] is not an object",
    ),
    "an answer of another kind": (
        _edited(lambda f: f["steps"][0].update(answer=f["steps"][1]["answer"])),
        "Row 3 .*step 0: a ask is not answered by scores",
    ),
    "a reply of nothing": (
        _edited(lambda f: f["steps"][0]["answer"]["reply"].update(completions=[])),
        "Row 3 .*step 0: the reply has no text",
    ),
    "fewer scores": (
        _edited(lambda f: f["steps"][1]["answer"].update(scores=[])),
        "Row 3 .*more or fewer scores than texts",
    ),
    "a strategy that is none": (
        _edited(lambda f: f["recipe"].update(strategy="x")),
        "Row 3 .*no strategy 'x'",
    ),
    "a mode that is none": (_edited(lambda f: f.update(mode="x")), "Row 3 .*mode: Input should be"),
    "a number that can't be added up": (
        _edited(lambda f: f["steps"][0]["answer"]["reply"]["usage"].update(prompt_tokens=10**30)),
        r"Row 3 .*steps\[0\]\.answer\.reply\.usage\.prompt_tokens is too large",
    ),
    "a number beyond all": (
        lambda d: d.replace(b'"seconds":0.5', b'"seconds":1e999'),
        "Row 1 .*seconds is too",
    ),
    "a moment before all": (
        _edited(lambda f: f.update(created_at="0001-01-01T00:00:00+14:00")),
        "Row 3 .*created_at is no moment with a time zone from 1970",
    ),
    "a moment after all": (
        _edited(lambda f: f["steps"][0].update(at="9999-12-31T23:59:59-14:00")),
        r"Row 3 .*steps\[0\].at is no moment",
    ),
    "a moment without a zone": (
        _edited(lambda f: f.update(created_at="2026-01-01T00:00:00")),
        "Row 3 .*time zone",
    ),
    "a tag that is none": (_edited(lambda f: f.update(tags=["a\nb"])), "Row 3 .*can't be a tag"),
    "tags that are none": (_edited(lambda f: f.update(tags="ab")), "Row 3 .*tags: Input should be"),
    "a star on nothing": (_edited(lambda f: f.update(stars=[1])), "Row 3 .*step 1 wrote no text"),
    "an id that is none": (_edited(lambda f: f.update(session="../x")), "Row 3 .*'../x' is none"),
    "its own parent": (_edited(lambda f: f.update(parent=[f["session"], 1])), "Row 3 .*forked from"),
    "a list for a row": (lambda d: d.replace(d.splitlines()[3], b"[]"), "Row 3 .*not an object"),
    "not a number": (lambda d: d.replace(b'"seconds":0.5', b'"seconds":NaN'), "Row 1 .*NaN is no number"),
    "a name twice": (
        lambda d: d.replace(b'"mode":"auto"', b'"mode":"ask","mode":"auto"'),
        "Row 2 .*'mode' stands twice",
    ),
    "nested without end": (
        lambda d: d.replace(d.splitlines()[3], b'{"a":' * 50_000),
        "Row 3 .*nested too deeply",
    ),
    "nothing": (lambda d: b"", "can't be read as JSON"),
    "a picture": (lambda d: b"\x89PNG\r\n\x1a\n" + bytes(range(256)), "document"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_bad_file_is_refused_whole_and_named(here: House, there: House, name: str) -> None:
    change, message = REFUSED[name]
    filled(here)
    data = here.file()
    bad = change(data)
    assert bad != data
    with pytest.raises(ImportProblem, match=f"(?s){message}.* Nothing was imported"):
        there.take(bad)
    assert there.archive.count(Chosen()) == 0
    assert there.take(data) == Received(new=5), "the database is as it was, and free"


def test_an_import_that_finds_the_database_locked_says_so(here: House, there: House) -> None:
    filled(here)
    data = here.file()
    path = there.engine.url.database
    impatient = SqlArchive(create_engine(f"sqlite:///{path}", connect_args={"timeout": 0.01}))
    with there.engine.execution_options(write=True).begin() as holder:
        holder.execute(text("UPDATE session SET title = title"))
        with pytest.raises(StoreBusy, match="try again"):
            impatient.receive_documents(rows_of(io.BytesIO(data)))


@pytest.mark.parametrize("name", ["delete", "restore", "set_problem", "fold", "create"])
def test_whoever_finds_the_database_locked_is_told(here: House, name: str) -> None:
    ids = filled(here)
    path = here.engine.url.database
    store = SqlStore(create_engine(f"sqlite:///{path}", connect_args={"timeout": 0.01}))
    writes: dict[str, Callable[[], object]] = {
        "delete": lambda: store.delete(ids[0]),
        "restore": lambda: store.restore(ids[0]),
        "set_problem": lambda: store.set_problem(ids[0], "x"),
        "fold": lambda: store.fold(ids[0]),
        "create": lambda: store.create(TASK, recipe(), "ask", title=""),
    }
    with here.engine.execution_options(write=True).begin() as holder:
        holder.execute(text("UPDATE session SET title = title"))
        with pytest.raises(StoreBusy, match="is busy, perhaps with another program"):
            writes[name]()


def test_others_write_while_an_import_is_read_and_checked(here: House, there: House) -> None:
    filled(here)
    rows = rows_of(io.BytesIO(here.file()))

    def slowly() -> Iterator[Row]:
        for row in rows:
            there.store.create(TASK, recipe(), "auto", title="meanwhile")
            yield row

    assert there.archive.receive_documents(slowly()) == Received(new=5)
    assert there.archive.count(Chosen()) == 10


def test_a_session_twice_in_a_file_as_two_is_refused(here: House, there: House) -> None:
    ids = filled(here)
    line = document(here.archive.one(ids[1]))
    other = document(replace(here.archive.one(ids[1]), ending="done"))
    with pytest.raises(ImportProblem, match=rf"Row 2 .*{ids[1]} stands twice in the file, as two"):
        there.take(f"{line}\n{other}\n".encode())
    assert there.take(f"{line}\n{line}\n".encode()) == Received(new=1, known=1)


# -- choosing and sizes --------------------------------------------------------------------------------


def test_sessions_are_chosen_by_id_or_by_their_words(here: House) -> None:
    ids = filled(here)
    assert here.archive.count(Chosen(filter=Filter(query="food was FANTÁSTIC"))) == 2
    found = {kept.session.id for kept in here.archive.kept(Chosen(filter=Filter(query="Fantastic")))}
    assert found == {ids[1], ids[2]}
    with pytest.raises(UnknownSession, match="none"):
        here.archive.file(Chosen(ids=(ids[0], "none")))


def test_pages_leave_nothing_out_where_many_are_of_one_moment(here: House) -> None:
    one = next(_kepts(1))
    here.archive.receive(
        (f"row {i}", replace(one, session=replace(one.session, id=f"s{i:03}"))) for i in range(250)
    )
    assert [k.session.id for k in here.archive.kept(Chosen())] == [f"s{i:03}" for i in range(250)]


def test_made_sessions_are_known_whenever_they_come_again(here: House) -> None:
    assert here.archive.receive(("row", kept) for kept in _kepts(3)) == Received(new=3)
    later = datetime(2027, 1, 1, tzinfo=UTC)
    again = [replace(k, session=replace(k.session, created_at=later), times=(later,)) for k in _kepts(3)]
    assert here.archive.receive(("row", kept) for kept in again) == Received(known=3)
    other = replace(again[1], session=replace(again[1].session, steps=(step(answer="other"),)))
    with pytest.raises(ImportProblem, match=r"row 2: session s1 .*step 0 differs"):
        here.archive.receive([("row 1", again[0]), ("row 2", other)])


def _kepts(count: int) -> Any:
    from core.sessions import Session

    for number in range(count):
        made = Session(f"s{number}", "A title", MADE, TASK, recipe(), "ask", (step(),))
        yield Kept(made, (MADE,))


def test_a_document_read_and_written_is_the_same() -> None:
    kept = next(_kepts(1))
    assert read_document(Row("row", document(kept))) == kept


def test_a_ruling_that_fits_no_gate_is_refused() -> None:
    kept = next(_kepts(1))
    made, _ = session([Decision("accept", "Anna"), Decision("accept", "Anna")])
    gate = next(i for i, s in enumerate(made.steps) if s.request.kind == "revision gate")
    steps = list(made.steps)
    steps[gate] = replace(steps[gate], answer=Ruled(Decision("pick", "x", picks=(0,))))
    bad = Kept(replace(kept.session, steps=tuple(steps)), (MADE,) * len(steps))
    with pytest.raises(ImportProblem, match=f"step {gate}: a revision gate can't be ruled by 'pick'"):
        read_document(Row("row", document(bad)))
