"""Items of a study out of sessions: first drafts against outcomes, or one recipe against another.

Knows no store of studies. Sessions that can't be used raise BadStudy by their id.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from core.domain import Task
from core.engine import Finished
from core.history import story_of
from core.sessions import Session
from core.studies.material import Entry
from core.studies.protocol import BadStudy
from core.workbench import Workbench

FIRST_DRAFT, OUTCOME = "first draft", "outcome"


@dataclass(frozen=True)
class _Ended:
    """A session's texts."""

    session: Session
    first: str
    outcome: str


def from_sessions(bench: Workbench, ids: Sequence[str]) -> tuple[Entry, ...]:
    """For each session its first draft against its outcome. Raises BadStudy, UnknownSession."""
    ended = [_ended(bench, session_id) for session_id in dict.fromkeys(ids)]
    return tuple(
        Entry(
            one.session.id,
            prompt_of(one.session.task),
            ((FIRST_DRAFT, one.first), (OUTCOME, one.outcome)),
            source=one.session.task.input,
        )
        for one in ended
    )


def from_recipes(bench: Workbench, arms: Mapping[str, Sequence[str]]) -> tuple[Entry, ...]:
    """The outcomes of sessions on the same task, by the name of the arm that each session belongs to.

    Every task needs one session in each arm. Raises BadStudy, UnknownSession.
    """
    if len(arms) < 2:
        raise BadStudy("Two arms at least can be compared: name the sessions of each.")
    tasks: dict[Task, dict[str, _Ended]] = defaultdict(dict)
    for name, ids in arms.items():
        for session_id in ids:
            one = _ended(bench, session_id)
            if name in tasks[one.session.task]:
                raise BadStudy(f"Session {session_id} is the second of {name!r} on its task.")
            tasks[one.session.task][name] = one
    return tuple(_compared(task, found, list(arms)) for task, found in tasks.items())


def _compared(task: Task, found: Mapping[str, _Ended], arms: Sequence[str]) -> Entry:
    missing = [name for name in arms if name not in found]
    if missing:
        other = next(iter(found.values())).session.id
        raise BadStudy(f"{missing[0]!r} has no session on the task of session {other}.")
    key = " ".join(found[name].session.id for name in arms)
    texts = tuple((name, found[name].outcome) for name in arms)
    return Entry(key, prompt_of(task), texts, source=task.input)


def prompt_of(task: Task) -> str:
    """What the texts are to be judged by: the instruction and the text that it was about."""
    parts = (task.instruction, f"Target: {task.target}" if task.target else "", task.input)
    return "\n\n".join(part for part in parts if part.strip())


def _ended(bench: Workbench, session_id: str) -> _Ended:
    session = bench.store.load(session_id)
    place, problem = bench.readable_place(session)
    if not isinstance(place, Finished) or place.outcome.draft is None:
        why = problem or "it has not ended yet"
        raise BadStudy(f"Session {session_id} has no outcome: {why}. Nothing was added.")
    first = story_of(session, place).first
    if first is None:
        raise BadStudy(f"Session {session_id} has no draft. Nothing was added.")
    return _Ended(session, first.text, place.outcome.draft.text)
