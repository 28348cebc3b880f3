"""Presets: the prompts and rules of a kind of task, read from YAML, and the requests made from them.

Knows no strategy, no model and no page. The requests of a session stand in one growing chat: head, draft,
critique request, critique, revise request, revision, ... They repeat nothing that already stands there, and
are worded alike from round to round. What people type is a value of a template and never a template itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TypeVar, get_args

from core.domain import Critique, Feedback, HistoryRule, Message, Point, Speaker, Task
from core.parsing import ParseRule, parse_critique
from core.preset_schema import Entry, PresetError, each, read_entry, words
from core.preset_templates import TASK, checked, fill

__all__ = [
    "BUILT_IN", "Field", "Preset", "PresetError", "Prompts", "Templates", "find_presets", "load_preset",
    "read_preset",
]  # fmt: skip

BUILT_IN = Path(__file__).resolve().parent.parent / "assets" / "presets"
"""The folder of the presets that come with Redraft."""

_KEYS = ("name", "title", "description", "parse", "scorer", "rounds", "history", "labels", "target", "fields",
         "max_tokens", "templates", "examples", "page_examples")  # fmt: skip
_NEEDED = ("name", "title", "fields", "templates")


@dataclass(frozen=True)
class Templates:
    """The Jinja2 source of each request; an empty text means that the preset has none of that kind."""

    system: str
    draft: str
    critique_specific: str
    critique_generic: str
    revise: str
    revise_again: str
    kept: str
    draft_step_by_step: str = ""


@dataclass(frozen=True)
class Field:
    """A field of the task form: which part of the task it fills, and its label."""

    name: str
    label: str


@dataclass(frozen=True)
class Preset:
    """The prompts and rules of a kind of task; `text` is the whole file it was read from.

    `examples` are turns (user, assistant) that stand before the task in every draft prompt.
    """

    name: str
    title: str
    text: str
    templates: Templates
    fields: tuple[Field, ...]
    description: str = ""
    parse: ParseRule = "points"
    labels: tuple[str, ...] = ()
    target: str = ""
    default_scorer: str = ""
    rounds: int = 3
    history: HistoryRule = "full"
    draft_max_tokens: int | None = None
    critique_max_tokens: int | None = None
    examples: tuple[tuple[str, str], ...] = ()
    page_examples: tuple[Task, ...] = ()


_PAIR: tuple[Speaker, Speaker] = ("user", "assistant")
_Choice = TypeVar("_Choice", bound=str)


def _templates(entry: Entry) -> Templates:
    needed = ("system", "draft", "critique", "revise", "revise_again", "kept")
    found = entry.mapping((*needed, "draft_step_by_step"), needed)
    critique = found.pop("critique").mapping(("specific", "generic"), ("specific", "generic"))
    found |= {f"critique_{name}": part for name, part in critique.items()}
    return Templates(**{name: checked(name, part.text(), entry.source) for name, part in found.items()})


def _labels(root: Entry, found: Mapping[str, Entry], parse: ParseRule) -> tuple[str, ...]:
    """The labels in their order, checked against the parse rule that needs them."""
    entry = found.get("labels")
    labels = each(entry, Entry.word)
    if entry and (len(labels) < 2 or len({label.lower() for label in labels}) < len(labels)):
        entry.fail('"labels" must hold at least two labels, each of them once.')
    if parse == "label_and_points" and not entry:
        found.get("parse", root).fail('"label_and_points" needs "labels". Add the list of labels, in order.')
    return labels


def _fields(entry: Entry) -> tuple[Field, ...]:
    found = entry.mapping(TASK, ("input",))
    return tuple(Field(name, label.word()) for name, label in found.items())


def _task(found: Mapping[str, Entry]) -> Task:
    return Task(**{"input": "", **dict(words(found, TASK))})


def _page_example(entry: Entry) -> Task:
    return _task(entry.mapping(TASK, ("input",)))


def _limits(entry: Entry | None) -> dict[str, int]:
    found = entry.mapping(("draft", "critique")) if entry else {}
    return {f"{name}_max_tokens": limit.number(1, 100_000) for name, limit in found.items()}


def _example(entry: Entry, draft: str, labels: tuple[str, ...]) -> tuple[str, str]:
    """A worked example: its task worded by the draft template, and the answer."""
    found = entry.mapping((*TASK, "answer"), ("input", "answer"))
    asked = fill(draft, _values(_task(found), labels), entry.source, entry.line)
    return asked, found["answer"].text().value


def _values(task: Task, labels: tuple[str, ...]) -> dict[str, object]:
    return {**asdict(task), "labels": labels}


@lru_cache(maxsize=64)
def load_preset(text: str, source: str = "preset") -> Preset:
    """The preset that the YAML text holds. Raises PresetError, which names `source` and the line."""
    root = read_entry(text, source)
    found = root.mapping(_KEYS, _NEEDED)
    parse = _one_of(found, "parse", get_args(ParseRule), "points")
    labels = _labels(root, found, parse)
    templates = _templates(found["templates"])
    return Preset(
        name=found["name"].word(),
        title=found["title"].word(),
        text=text,
        templates=templates,
        fields=_fields(found["fields"]),
        description=" ".join(found["description"].text().value.split()) if "description" in found else "",
        parse=parse,
        labels=labels,
        target=found["target"].word(labels) if "target" in found else "",
        default_scorer=found["scorer"].word() if "scorer" in found else "",
        rounds=found["rounds"].number(1, 20) if "rounds" in found else 3,
        history=_one_of(found, "history", get_args(HistoryRule), "full"),
        examples=each(found.get("examples"), lambda entry: _example(entry, templates.draft, labels)),
        page_examples=each(found.get("page_examples"), _page_example),
        **_limits(found.get("max_tokens")),
    )


def _one_of(found: Mapping[str, Entry], name: str, choices: tuple[_Choice, ...], default: _Choice) -> _Choice:
    written = found[name].word(choices) if name in found else default
    return next(choice for choice in choices if choice == written)


def read_preset(path: Path) -> Preset:
    """The preset in this file. Raises PresetError, also where the file can't be read."""
    try:
        text = path.read_bytes().decode("utf-8")
    except OSError as error:
        raise PresetError(path.name, None, f"the file can't be read ({error.strerror}).") from None
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise PresetError(path.name, line, "this is not UTF-8 text. Save the file as UTF-8.") from None
    return load_preset(text, path.name)


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
    return all(part in asked for part in said)


@dataclass(frozen=True)
class Prompts:
    """The requests of one preset."""

    preset: Preset

    def _fill(self, template: str, task: Task, **more: object) -> str:
        return fill(template, {**_values(task, self.preset.labels), **more}, self.preset.name)

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
        agreed = self.render_points(points)
        if not note:
            return self._fill(templates.revise, task, feedback=feedback, points=agreed)
        return self._fill(templates.revise_again, task, feedback=feedback, points=agreed, note=note)

    def render_points(self, points: Sequence[Point]) -> str:
        """The points in the form that the critic is asked for, so that they can stand as its turn."""
        return "\n".join(_rendered(point) for point in points)

    def read_critique(self, task: Task, raw: str) -> Critique:
        """What the critic's reply says by the preset's parse rule."""
        target = task.target or self.preset.target
        read = parse_critique(raw, parse=self.preset.parse, labels=self.preset.labels, target=target)
        asked = " ".join(self._fill(self.preset.templates.critique_specific, task).lower().split())
        return replace(read, points=tuple(point for point in read.points if not _echoed(point, asked)))
