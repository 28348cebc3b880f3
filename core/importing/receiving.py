"""A file of sessions into an archive, whatever it holds: the one way in. Knows no page and no command."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import BinaryIO, Protocol, TypeVar

from core.importing.files import Kind, kind_of
from core.importing.making import Trajectory, sessions_of
from core.importing.tables import read_drafts
from core.importing.trajectories import read_trajectories
from core.interchange import Archive, ImportProblem, Received, check_texts, rows_of

T = TypeVar("T")
LONGEST_NAME = 500


@dataclass(frozen=True)
class Source:
    """How a file is read: `kind` None is known by how the file begins; ids are made of `name`; `model` wrote
    the texts; `columns` are a table's by the file's own names."""

    name: str
    kind: Kind | None = None
    model: str = ""
    columns: Mapping[str, str] = field(default_factory=dict)


class Watch(Protocol):
    """Sees the items pass by; `share` says how much is done, from 0 to 1, after so many of them."""

    def __call__(self, items: Iterable[T], share: Callable[[int], float], /) -> Iterator[T]:
        """The items as they come."""
        ...


def unwatched(items: Iterable[T], _: Callable[[int], float]) -> Iterator[T]:
    """The items as they come."""
    return iter(items)


def receive(
    archive: Archive, stream: BinaryIO, source: Source, watch: Watch = unwatched
) -> tuple[Kind, Received]:
    """Keep all that the file holds or nothing; what it held, and what was done. The stream must be seekable.

    Raises ImportProblem, StoreBusy.
    """
    _check_words("The file's name", source.name)
    _check_words("The model's name", source.model)
    kind = source.kind or kind_of(stream)
    if kind == "redraft":
        size = max(stream.seek(0, io.SEEK_END), 1)
        stream.seek(0)
        rows = watch(rows_of(stream), lambda _: stream.tell() / size)
        return kind, archive.receive_documents(rows)
    trajectories = _read(kind, stream, source)
    sessions = sessions_of(trajectories, _moments())
    return kind, archive.receive(watch(sessions, lambda count: count / max(len(trajectories), 1)))


def _check_words(what: str, words: str) -> None:
    """Raises ImportProblem for a name that no export could be read with again."""
    if len(words) > LONGEST_NAME:
        raise ImportProblem(what, f"it has {len(words):,} characters; {LONGEST_NAME} is the most.")
    check_texts(what, words, "it")


def _read(kind: Kind, stream: BinaryIO, source: Source) -> tuple[Trajectory, ...]:
    if kind == "self-refine":
        return read_trajectories(stream.read(), source.name, source.model)
    return read_drafts(stream.read(), source.name, source.model, source.columns)


def _moments() -> Iterator[datetime]:
    """Moments for sessions that carry none, a millisecond apart, so that they keep the file's order."""
    moment = datetime.now(UTC)
    while True:
        yield moment
        moment += timedelta(milliseconds=1)
