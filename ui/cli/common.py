"""What the commands share: their tools, exit codes and how a session is printed."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass

from core.config import Endpoint
from core.engine import Finished, HistoryMismatch, Pending, Place
from core.export import document, to_html, to_json, to_markdown
from core.history import tell
from core.models.catalog import Models
from core.models.protocol import Notice
from core.preset_schema import PresetError
from core.presets import Preset
from core.workbench import Workbench

DONE, FAILED, USAGE = 0, 1, 2


@dataclass(frozen=True)
class Tools:
    """What the commands work with."""

    bench: Workbench
    models: Models
    presets: Mapping[str, Preset]
    endpoints: tuple[Endpoint, ...]
    person: str


def say(text: str) -> None:
    """A line for the person, on stderr."""
    print(text, file=sys.stderr, flush=True)


def say_notice(event: object) -> None:
    """Pass notices on to the person; anything else is not for here."""
    if isinstance(event, Notice):
        say(event.text)


def exported(tools: Tools, session_id: str, form: str) -> str:
    session = tools.bench.store.load(session_id)
    place = _place(tools, session_id)
    waiting = place.request if isinstance(place, Pending) else None
    story = tell(session.steps, waiting, source=session.task.input, price=session.recipe.settings.price)
    outcome = place.outcome if isinstance(place, Finished) else None
    if form == "json":
        return to_json(document(session, place, story))
    return to_markdown(session, outcome, story) if form == "md" else to_html(session, outcome, story)


def _place(tools: Tools, session_id: str) -> Place | None:
    """Where the session stands; None where it can only be read any more."""
    try:
        return tools.bench.place(tools.bench.store.load(session_id))
    except (HistoryMismatch, PresetError) as error:
        say(f"note: {error}")
        return None


def print_session(tools: Tools, session_id: str, as_json: bool) -> None:
    print(exported(tools, session_id, "json" if as_json else "md"), flush=True)
