"""What the preset editor shows of a preset: its values, each with its line, and its requests as a chat.

Knows no route and no file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, get_args

from core.domain import HistoryRule, Task
from core.parsing import ParseRule
from core.preset_editing import Path, lines_of
from core.preset_preview import preview
from core.preset_templates import TASK
from core.preset_values import STOPS, Preset
from core.presets import load_preset
from core.scoring.catalog import SCORERS

LONGEST_SHOWN = 20_000
"""Characters of a request that are shown; the rest is cut, and said to be."""
NO_TEXT = Task("A text that someone typed.")
"""The task of a preview where the preset has no example of its own."""
_MODELS_TURNS = ("Worked example", "The points as agreed")
_HISTORY = {
    "full": "every draft and critique so far",
    "latest": "the last draft alone",
    "by_score": "every draft, ordered by its score",
}
_PARSE = {
    "points": "points",
    "one_point": "exactly one point",
    "label_and_points": "a label, then points",
    "concepts_and_points": "points, and concepts that code finds missing",
}
_STOP = {
    "verdict": "the critic says that it is done",
    "label": "the critic finds the target's label",
    "complete": "the critic says so, and code finds nothing missing",
    "none": "nobody: when the rounds are used up",
}
_FIELDS = {
    "input": "Label of the text",
    "instruction": "Label of the instruction",
    "reference": "Label of the reference",
    "target": "Label of the target",
}

View = dict[str, Any]


def editor_view(text: str, task: Task | None) -> View:
    """All that the editor shows of this text. Raises PresetError."""
    preset = load_preset(text)
    asked = task or next(iter(preset.page_examples), NO_TEXT)
    turns = preview(text, asked)
    return {
        "name": preset.name,
        "title": preset.title,
        "fields": [[field.name, field.label] for field in preset.fields],
        "task": {name: getattr(asked, name) for name in TASK},
        "groups": _groups(preset, lines_of(text)),
        "notes": [*_notes(preset)],
        "turns": [_turn(*turn) for turn in turns],
    }


def _turn(title: str, words: str) -> View:
    answer = title.startswith(_MODELS_TURNS[1]) or (
        title.startswith(_MODELS_TURNS[0]) and title.endswith("answer")
    )
    role = "system" if title == "System" else "assistant" if answer else "user"
    return {"title": title, "role": role, "text": words[:LONGEST_SHOWN], "cut": len(words) > LONGEST_SHOWN}


def _notes(preset: Preset) -> Iterator[str]:
    """What is no mistake of the file, yet will not do what was meant."""
    for name in (*preset.scorers, preset.verifier):
        if name and name not in SCORERS:
            yield f'There is no scorer "{name}". There are: {", ".join(SCORERS)}.'
    if "judge" in preset.scorers and preset.rubric is None:
        yield 'The scorer "judge" rates by a rubric, and this preset has none.'


def _groups(preset: Preset, lines: Mapping[Path, int]) -> list[View]:
    """The values in groups; a value that is not written has no line."""

    def row(label: str, path: Path, value: object, kind: str = "text", choices: Any = None) -> View:
        line = lines.get(path)
        shown = "" if value is None else str(value)
        return {"label": label, "path": path, "value": shown, "line": line, "kind": kind, "choices": choices}

    labels = {field.name: field.label for field in preset.fields}
    scorers = [["", "none"], *([name, f"{name}: {what}"] for name, what in SCORERS.items())]
    parse = [[rule, _PARSE[rule]] for rule in get_args(ParseRule)]
    return [
        {
            "title": "What it is",
            "rows": [
                row("Name", ("name",), preset.name),
                row("Title", ("title",), preset.title),
                row("Description", ("description",), preset.description, "long"),
                row("Caution", ("caution",), preset.caution, "long"),
            ],
        },
        {
            "title": "Form",
            "rows": [row(_FIELDS[name], ("fields", name), labels.get(name)) for name in TASK]
            + [
                row("Labels, parted by commas", ("labels",), ", ".join(preset.labels), "list"),
                row("Usual target", ("target",), preset.target),
            ],
        },
        {
            "title": "Rounds and scores",
            "rows": [
                row("Rounds", ("rounds",), preset.rounds, "number"),
                row("A critique is", ("parse",), preset.parse, "choice", parse),
                row("Who ends it before", ("stop",), preset.stop, "choice", _stops(preset)),
                row("Prompts hold", ("history",), preset.history, "choice", _histories()),
                row("Scorers, the first choice first", ("scorer",), ", ".join(preset.scorers), "list"),
                row("Verifier, compared first", ("verifier",), preset.verifier, "choice", scorers),
                row("Tokens of a draft", ("max_tokens", "draft"), preset.draft_max_tokens, "number"),
                row("Tokens of a critique", ("max_tokens", "critique"), preset.critique_max_tokens, "number"),
            ],
        },
        *(
            {"title": f"Rubric: {one.name}", "rows": [
                row("Name", ("rubric", place, "name"), one.name),
                row("Question", ("rubric", place, "question"), one.question),
                row("Lowest", ("rubric", place, "low"), f"{one.low:g}", "number"),
                row("Highest", ("rubric", place, "high"), f"{one.high:g}", "number"),
            ]}
            for place, one in enumerate(preset.rubric.dimensions if preset.rubric else ())
        ),
    ]  # fmt: skip


def _stops(preset: Preset) -> list[list[str]]:
    return [[rule, _STOP[rule]] for rule in STOPS[preset.parse]]


def _histories() -> list[list[str]]:
    return [[rule, _HISTORY[rule]] for rule in get_args(HistoryRule)]
