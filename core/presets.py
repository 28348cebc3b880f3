"""Presets: the files they stand in, and the requests made from them. Knows no strategy, no model, no page.

The requests of a session stand in one growing chat: head, draft, critique request, critique, revise request,
revision, ... They repeat nothing that already stands there, and are worded alike from round to round. A
judge alone sees none of it: only task and text. What people type is a value of a template, never a template.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from core.audit import read_audit
from core.domain import Critique, Feedback, Message, Point, Speaker, Task
from core.parsing import parse_critique
from core.preset_reading import load_preset, values_of
from core.preset_schema import PresetError
from core.preset_templates import fill
from core.preset_values import Field, Preset, Templates
from core.scoring.coverage import coverage, read_concepts

__all__ = [
    "BUILT_IN", "Field", "Preset", "PresetError", "Prompts", "Templates", "find_presets", "load_preset",
    "read_preset", "read_text",
]  # fmt: skip

BUILT_IN = Path(__file__).resolve().parent.parent / "assets" / "presets"
"""The folder of the presets that come with Redraft."""

WORD_CHECK = "the word check"
"""Who found a point that code found: a concept that the text does not use."""

_LACKS = "missing: "
_PAIR: tuple[Speaker, Speaker] = ("user", "assistant")


def read_text(path: Path) -> str:
    """The file's text as it is. Raises PresetError where it can't be read."""
    try:
        return path.read_bytes().decode("utf-8")
    except OSError as error:
        raise PresetError(path.name, None, f"the file can't be read ({error.strerror}).") from None
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise PresetError(path.name, line, "this is not UTF-8 text. Save the file as UTF-8.") from None


def read_preset(path: Path) -> Preset:
    """The preset in this file. Raises PresetError, also where the file can't be read."""
    return load_preset(read_text(path), path.name)


def find_presets(*folders: Path) -> dict[str, Path]:
    """The preset files by name (the file's name without its end); an earlier folder wins over a later one."""
    found: dict[str, Path] = {}
    for folder in folders:
        for path in sorted(folder.glob("*.y*ml")) if folder.is_dir() else []:
            if path.suffix in (".yaml", ".yml"):
                found.setdefault(path.stem, path)
    return found


def _line(text: str) -> str:
    """The text on one line and without the sign that parts the columns of a point."""
    return " ".join(text.split()).replace("|", "/")


def _rendered(point: Point) -> str:
    severity = f"[{point.severity}] " if point.severity != "unstated" else ""
    quote = f'"{_line(point.quote)}" | ' if point.quote else ""
    action = f" | {_line(point.action)}" if point.action else ""
    return f"- {severity}{quote}{_line(point.problem)}{action}"


def _echoed(point: Point, asked: str) -> bool:
    """Whether the point only repeats the request's own example of a point, as small models do."""
    said = [_line(part).lower() for part in (point.quote, point.problem, point.action) if part.strip()]
    begins = f'"{_line(point.quote)}" | {_line(point.problem)}'.lower()
    repeats = len(" ".join(said).split()) >= 4 and all(part in asked for part in said)
    return repeats or (bool(point.quote.strip()) and begins in asked)


def _missing_points(task: Task, text: str) -> tuple[Point, ...]:
    """A point for each concept of the task that the text does not use; none where either is empty."""
    concepts = read_concepts(next((part for part in (task.target, task.reference, task.input) if part), ""))
    lacking = coverage(concepts, text).missing if concepts and text.strip() else ()
    return tuple(Point(f"{_LACKS}{concept}", "use it", by=WORD_CHECK) for concept in lacking)


def _missing(points: Sequence[Point]) -> str:
    """The concepts that the word check's points name."""
    return ", ".join(p.problem.removeprefix(_LACKS) for p in points if p.by == WORD_CHECK)


@dataclass(frozen=True)
class Prompts:
    """The requests of one preset."""

    preset: Preset

    def _fill(self, template: str, task: Task, **more: object) -> str:
        return fill(template, {**values_of(task, self.preset.labels), **more}, self.preset.name)

    def system_and_task(self, task: Task, step_by_step: bool = False) -> tuple[Message, ...]:
        """The head of the chat: system, worked examples, the task; a user turn is last.

        A preset without a step-by-step template words the task plainly. Step by step leaves the examples
        out: they answer at once. Raises PresetError.
        """
        templates = self.preset.templates
        reasoned = step_by_step and bool(templates.draft_step_by_step)
        system = self._fill(templates.system, task)
        head = (Message("system", system),) if system.strip() else ()
        shown = () if reasoned else self.preset.examples
        turns = [Message(*turn) for pair in shown for turn in zip(_PAIR, pair, strict=True)]
        asked = self._fill(templates.draft_step_by_step if reasoned else templates.draft, task)
        return (*head, *turns, Message("user", asked))

    def critique_request(
        self, task: Task, *, feedback: Feedback, kept_reason: str = "", current: str = ""
    ) -> str:
        """The user turn that asks for a critique of the draft that stands last in the chat.

        `kept_reason` says why the last revision was not kept; `current` restates the text as it now is,
        where it is not the last in the chat. Feedback "none" has no such turn: raises ValueError.
        """
        if feedback == "none":
            raise ValueError("With feedback 'none' there is no critique to ask for; ask for the revision.")
        templates = self.preset.templates
        body = templates.critique_specific if feedback == "specific" else templates.critique_generic
        before = [self._kept(kept_reason, current)] if kept_reason or current else []
        return "\n\n".join([*before, self._fill(body, task)])

    def _kept(self, reason: str, current: str) -> str:
        return fill(self.preset.templates.kept, {"reason": reason, "current": current}, self.preset.name)

    def revise_request(
        self, task: Task, *, feedback: Feedback, points: Sequence[Point], note: str = ""
    ) -> str:
        """The user turn that asks for the next version; `note` is what a person asks for besides.

        The template gets the points as text, though in the chat they stand already as the critique's turn.
        """
        templates = self.preset.templates
        values = {"feedback": feedback, "points": self.render_points(points), "missing": _missing(points)}
        if not note:
            return self._fill(templates.revise, task, **values)
        return self._fill(templates.revise_again, task, **values, note=note)

    def render_points(self, points: Sequence[Point]) -> str:
        """The points in the form that the critic is asked for, so that they can stand as its turn."""
        return "\n".join(_rendered(point) for point in points)

    def read_critique(self, task: Task, raw: str, text: str = "") -> Critique:
        """What the critic's reply says of `text`, by the preset's parse and stop rules.

        A rule that looks at the text can't say that it is done where it gets none.
        """
        rule, target = self.preset.parse, task.target or self.preset.target
        read = parse_critique(raw, parse=rule, labels=self.preset.labels, target=target)
        asked = " ".join(self._fill(self.preset.templates.critique_specific, task).lower().split())
        points = tuple(point for point in read.points if not _echoed(point, asked))
        missing = _missing_points(task, text) if rule == "concepts_and_points" else ()
        points = points[:1] if rule == "one_point" else missing + points
        return replace(read, points=points, done=self._done(read.done, text, bool(missing)))

    def _done(self, said: bool | None, text: str, missing: bool) -> bool | None:
        """Whether the work is done by the preset's stop rule, after what the critic said and code found."""
        if self.preset.stop == "none":
            return None
        if self.preset.stop == "complete":
            return False if missing else (said if text or not said else None)
        return said

    def judge_prompt(self, task: Task, text: str) -> tuple[Message, ...]:
        """The whole prompt for a judge, who sees task and text alone. Raises ValueError without a rubric."""
        rubric = self.preset.rubric
        if rubric is None:
            raise ValueError(f"The preset {self.preset.name} has no rubric to judge by.")
        asked = self._fill(self.preset.templates.draft, task).strip()
        dimensions = [
            {"name": one.name, "question": one.question, "low": f"{one.low:g}", "high": f"{one.high:g}"}
            for one in rubric.dimensions
        ]
        judge = self.preset.templates.judge
        return (Message("user", self._fill(judge, task, asked=asked, text=text, dimensions=dimensions)),)

    def synthesis_request(self, task: Task, candidates: Sequence[tuple[str, int]]) -> str:
        """What follows the task where one answer is to be made of candidates, each with its count."""
        shown = [{"text": text, "count": count} for text, count in candidates]
        return self._fill(self.preset.templates.synthesise, task, candidates=shown)

    def audit_request(self, task: Task, points: Sequence[Point]) -> str:
        """The user turn after a revision that asks which of the points it meets."""
        listed = [_rendered(point).removeprefix("- ") for point in points]
        return self._fill(self.preset.templates.audit, task, points=listed)

    def read_audit(self, raw: str, count: int) -> tuple[bool | None, ...]:
        """For each of `count` points whether it is met; None where the reply does not say."""
        return read_audit(raw, count)
