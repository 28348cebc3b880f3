"""`history export` of many sessions and `history import`: files in and out, any size."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar

from core.importing.files import Kind
from core.importing.receiving import Source, receive
from core.interchange import ImportProblem, Received
from core.sessions import StoreBusy
from core.step_table import step_table
from ui.cli.choosing import chosen_by
from ui.cli.common import DONE, FAILED, USAGE, Tools, say
from ui.cli.output import written
from ui.cli.progress import shown

ManyForm = Literal["jsonl", "csv"]
T = TypeVar("T")


def export_many(tools: Tools, args: argparse.Namespace, form: ManyForm) -> int:
    """All chosen sessions as lines, to a file or to standard output."""
    chosen = chosen_by(args)
    total = tools.bench.store.archive.count(chosen)
    if form == "csv":
        lines = step_table(_watched(tools.bench.store.archive.kept(chosen), total))
    else:
        lines = _watched(tools.bench.store.archive.file(chosen), total)
    if not args.output:
        sys.stdout.writelines(lines)
        return DONE
    path = Path(args.output)
    if not written(path, lines):
        return USAGE
    say(f"{total} sessions are in {path}.")
    return DONE


def _watched(items: Iterator[T], total: int) -> Iterator[T]:
    return shown(items, "exporting", lambda count: count / max(total, 1))


# -- import ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Taken:
    file: str
    kind: Kind
    received: Received


def import_files(tools: Tools, args: argparse.Namespace) -> int:
    """Import each file whole or not at all; the first that is refused ends it."""
    if lacking := [name for name in args.files if not Path(name).is_file()]:
        say(f"error: there is no file {lacking[0]}")
        return USAGE
    done: list[_Taken] = []
    for name in args.files:
        try:
            done.append(_take(tools, args, Path(name)))
        except (ImportProblem, StoreBusy, OSError) as error:
            return _refused(args, done, name, error)
        _say_taken(done[-1])
    if args.json:
        print(json.dumps({"files": [_told(each) for each in done]}))
    return DONE


def _take(tools: Tools, args: argparse.Namespace, path: Path) -> _Taken:
    source = Source(args.source or path.name, args.kind, args.model, dict(args.column))
    with path.open("rb") as stream:
        kind, received = receive(tools.bench.store.archive, stream, source, _watched_in)
    return _Taken(str(path), kind, received)


def _watched_in(items: Iterable[T], share: Callable[[int], float]) -> Iterator[T]:
    return shown(items, "importing", share)


def _refused(args: argparse.Namespace, done: list[_Taken], name: str, error: Exception) -> int:
    say(f"error: {name}: {error}")
    if args.json:
        place = error.place if isinstance(error, ImportProblem) else ""
        refused = {"file": name, "place": place, "why": str(error)}
        print(json.dumps({"files": [_told(each) for each in done], "refused": refused}))
    return FAILED


def _told(taken: _Taken) -> dict[str, Any]:
    return {"file": taken.file, "kind": taken.kind, **asdict(taken.received)}


def _say_taken(taken: _Taken) -> None:
    got = taken.received
    parts = [f"{got.new} new", f"{got.known} here already"]
    parts += [f"{got.deleted} of these deleted, which they stay"] if got.deleted else []
    parts += [f"{got.alone} without the session they were forked from"] if got.alone else []
    say(f"{taken.file}: {', '.join(parts)}.")
