"""What the commands share: their tools, exit codes and how a session is printed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.config import Endpoint
from core.export import Form, export
from core.models.catalog import Models
from core.models.protocol import Notice
from core.preset_library import PresetLibrary
from core.workbench import Workbench
from ui.cli.terminal import to_person

if TYPE_CHECKING:
    from core.insight import InsightStore
    from core.studies.desks import StudyStore

DONE, FAILED, USAGE = 0, 1, 2


@dataclass(frozen=True)
class Tools:
    """What the commands work with; `studies` opens the store of studies when it is first needed."""

    bench: Workbench
    models: Models
    presets: PresetLibrary
    endpoints: tuple[Endpoint, ...]
    person: str
    studies: Callable[[], StudyStore]
    counts: InsightStore


def say(text: str) -> None:
    """A line for the person, on stderr."""
    to_person(text)


def say_notice(event: object) -> None:
    """Pass notices on to the person; anything else is not for here."""
    if isinstance(event, Notice):
        say(event.text)


def exported(tools: Tools, session_id: str, form: Form) -> str:
    """The session in that form; says where it can only be read any more."""
    kept = tools.bench.store.archive.one(session_id)
    place, problem = tools.bench.readable_place(kept.session)
    if problem:
        say(f"note: {problem}")
    return export(kept.session, place, form, kept)


def print_session(tools: Tools, session_id: str, as_json: bool) -> None:
    """The session on standard output: one JSON document, or Markdown to read."""
    print(exported(tools, session_id, "json" if as_json else "md"), flush=True)
