"""Sessions as the documents of core.interchange and back, by the codec that the store keeps them with.

Knows no row of a database and no file.
"""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from typing import Any, cast

from pydantic import ValidationError

from core.domain import Mode
from core.fitting import check_kept
from core.interchange import (
    DERIVED,
    SESSION,
    VERSION,
    ImportProblem,
    Kept,
    Marks,
    Row,
    opened,
)
from core.sessions import Session
from core.steps import Step
from storage import codec

_YEARS = datetime(1970, 1, 1, tzinfo=UTC), datetime(3000, 1, 1, tzinfo=UTC)
_NOT_ASCII = re.compile("[^\x00-\x7f]")
_NEEDED = ("format", "version", "session", "title", "created_at", "parent", "task", "recipe", "mode", "steps")
_OTHERS = ("problem", "ending", "tags", "starred", "stars", *DERIVED)


def document(kept: Kept) -> str:
    """The session as one line of ASCII; equal sessions give equal bytes."""
    session = kept.session
    parts = {
        "format": json.dumps(SESSION),
        "version": str(VERSION),
        "session": json.dumps(session.id),
        "title": json.dumps(session.title),
        "created_at": json.dumps(session.created_at.isoformat()),
        "parent": json.dumps(session.parent),
        "task": codec.dump(session.task, codec.TASK),
        "recipe": codec.dump(session.recipe, codec.RECIPE),
        "mode": json.dumps(session.mode),
        "problem": json.dumps(session.problem),
        "ending": json.dumps(kept.ending),
        "tags": json.dumps(kept.marks.tags),
        "starred": json.dumps(kept.marks.starred),
        "stars": json.dumps(kept.marks.stars),
        "steps": f"[{','.join(_step(*each) for each in zip(session.steps, kept.times, strict=True))}]",
    }
    return _NOT_ASCII.sub(_escaped, "{" + ",".join(f'"{name}":{part}' for name, part in parts.items()) + "}")


def _step(step: Step, at: datetime) -> str:
    request, answer = codec.dump(step.request, codec.REQUEST), codec.dump(step.answer, codec.ANSWER)
    return f'{{"at":{json.dumps(at.isoformat())},"request":{request},"answer":{answer}}}'


def _escaped(found: re.Match[str]) -> str:
    """A character as JSON spells it in ASCII; in JSON text none stands outside a string."""
    return json.dumps(found[0])[1:-1]


def read_document(row: Row) -> Kept:
    """The session that a document holds. Raises ImportProblem."""
    found, place = opened(row), row.place
    _check_names(place, found, _NEEDED, _OTHERS)
    made = _moment(place, found["created_at"], "created_at")
    steps = [
        _read_step(place, number, each, made) for number, each in enumerate(_list(place, found["steps"]))
    ]
    session = Session(
        id=_text(place, found, "session"),
        title=_text(place, found, "title"),
        created_at=made,
        task=_value(place, found["task"], codec.TASK, "task"),
        recipe=_value(place, found["recipe"], codec.RECIPE, "recipe"),
        mode=cast(Mode, _value(place, found["mode"], Mode, "mode")),
        steps=tuple(step for step, _ in steps),
        problem=_text(place, found, "problem"),
        parent=_value(place, found["parent"], tuple[str, int] | None, "parent"),
    )
    kept = Kept(session, tuple(at for _, at in steps), _text(place, found, "ending"), _marks(place, found))
    check_kept(place, kept)
    return kept


def _marks(place: str, found: dict[str, Any]) -> Marks:
    return Marks(
        tags=_value(place, found.get("tags", []), tuple[str, ...], "tags"),
        starred=_value(place, found.get("starred", False), bool, "starred"),
        stars=_value(place, found.get("stars", []), tuple[int, ...], "stars"),
    )


def _read_step(place: str, number: int, found: object, made: datetime) -> tuple[Step, datetime]:
    path = f"steps[{number}]"
    if not isinstance(found, dict):
        raise ImportProblem(place, f"{path} is not an object.")
    _check_names(place, found, ("request", "answer"), ("at", "position"), path)
    if found.get("position", number) != number:
        raise ImportProblem(place, f"{path} says that it is step {found['position']!r}.")
    request = _value(place, found["request"], codec.REQUEST, f"{path}.request")
    answer = _value(place, found["answer"], codec.ANSWER, f"{path}.answer")
    at = _moment(place, found["at"], f"{path}.at") if "at" in found else made
    return Step(request, answer), at


def _check_names(
    place: str, found: dict[str, Any], needed: tuple[str, ...], others: tuple[str, ...], path: str = ""
) -> None:
    where = f"{path}: " if path else ""
    if lacking := [name for name in needed if name not in found]:
        raise ImportProblem(place, f"{where}{lacking[0]!r} is missing.")
    if strange := [name for name in found if name not in (*needed, *others)]:
        raise ImportProblem(place, f"{where}{strange[0][:80]!r} is not known.")


def _list(place: str, found: object) -> list[Any]:
    if not isinstance(found, list):
        raise ImportProblem(place, "steps is not a list.")
    return found


def _text(place: str, found: dict[str, Any], name: str) -> str:
    value = found.get(name, "")
    if not isinstance(value, str):
        raise ImportProblem(place, f"{name} must be a text.")
    return value


def _moment(place: str, value: object, path: str) -> datetime:
    """A moment with its zone, as ISO 8601 spells it."""
    try:
        found = datetime.fromisoformat(value) if isinstance(value, str) else None
        fits = (
            found is not None and found.tzinfo is not None and _YEARS[0] <= found.astimezone(UTC) < _YEARS[1]
        )
    except (ValueError, OverflowError):
        found, fits = None, False
    if found is None or not fits:
        raise ImportProblem(place, f"{path} is no moment with a time zone from 1970 to 2999.")
    return found


def _value(place: str, found: object, of: Any, path: str) -> Any:
    """The value, if nothing of what was given is left over or taken for something else."""
    try:
        value = codec.load_strictly(json.dumps(found), of)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        inner = "".join(f"[{p}]" if isinstance(p, int) else f".{p}" for p in first["loc"])
        raise ImportProblem(place, f"{path}{inner}: {first['msg']}.") from None
    if strange := _left_over(found, json.loads(codec.dump(value, of)), path):
        raise ImportProblem(place, f"{strange} is not known.")
    return value


def _left_over(given: object, taken: object, path: str) -> str:
    """The path of the first thing given that was not taken, or ""."""
    if isinstance(given, dict) and isinstance(taken, dict):
        inner = (
            _left_over(value, taken[name], f"{path}.{name}") if name in taken else f"{path}.{name}"
            for name, value in given.items()
        )
        return next(filter(None, inner), "")
    if isinstance(given, list) and isinstance(taken, list):
        pairs = enumerate(zip(given, taken, strict=True))
        return next(filter(None, (_left_over(g, t, f"{path}[{i}]") for i, (g, t) in pairs)), "")
    return "" if given == taken else path
