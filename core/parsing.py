"""Reads a critic's reply: points, verdict, label. Knows no model and no preset file; ratings: core.ratings.

What a reply does not say plainly is unknown (None), never guessed. The format that presets ask for is
`- [major] "quote" | problem | action` a line, `VERDICT: done` or `VERDICT: revise` on a line of its own, and
`LABEL: ...` where there are labels; JSON, numbered lists and labelled lines are read as well, and a free text
is kept whole as one point that is marked as unstructured.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Literal

from core.domain import Critique, Point, Severity
from core.loose_json import Found, Value, find_values
from core.ratings import Ratings, parse_rating, parse_ratings

__all__ = ["ParseRule", "Ratings", "parse_critique", "parse_rating", "parse_ratings", "read_label"]

ParseRule = Literal["points", "one_point", "label_and_points", "concepts_and_points"]
"""With `one_point` the caller keeps the first alone; with `concepts_and_points` it adds what code finds."""

_KEYS = {
    "quote": ("quote", "text", "phrase", "span", "excerpt", "original", "weak phrase"),
    "problem": ("problem", "issue", "weakness", "comment", "reason", "description", "why"),
    "action": ("action", "fix", "suggestion", "replacement", "change", "recommendation", "rewrite"),
    "severity": ("severity", "level", "priority", "importance"),
}
_LISTS = ("points", "problems", "issues", "suggestions", "critique", "feedback", "comments", "weaknesses")
_FIELD = {alias: name for name, aliases in _KEYS.items() for alias in aliases}
_SEVERITIES: dict[str, Severity] = {
    "major": "major", "high": "major", "critical": "major", "severe": "major", "serious": "major",
    "minor": "minor", "low": "minor", "small": "minor", "trivial": "minor",
}  # fmt: skip
_NOTHING = re.compile(
    r"\W*(?:none|nothing|n/?a|no (?:problems?|issues?|points?|changes?|weak phrases?))\W*", re.I
)
_VERDICT = re.compile(
    r"^[\s>*_#\-]*verdict[\s*_]*[:=][\s*_\[]*(?P<word>done|revise|not done|needs? revision)[\s*_\].!]*$", re.I
)
_BULLET = re.compile(r"^\s*(?:[-*+•–—]|\(?\d{1,3}[.)])\s+(?P<rest>\S.*)$")
_LABELLED = re.compile(r"^[\s*_#\-•]*(?P<key>[A-Za-z][A-Za-z ]{2,14}?)[*_]*\s*:[*_]*\s*(?P<rest>.*)$")
_SEVERITY = re.compile(
    r"^[*_]*(?:[\[(]\s*(\w+)\s*[\])]|(major|minor)(?=\s*[:|\-–—]))[*_]*\s*[:|\-–—]?\s*", re.I
)
_QUOTED = re.compile(
    r"^(?:\"([^\"]*)\"|“([^”]*)”|«([^»]*)»|„([^“”]*)[“”]|「([^」]*)」|`([^`]*)`|'([^']*)'(?!\w))"
)
_ARROW = re.compile(r"->|=>|→|⇒")
_MARKS = "\"'“”«»„「」`"


def _bare(text: str) -> str:
    return text.strip().strip("*_").strip()


def _unquoted(text: str) -> str:
    """The text without the quotation marks that enclose it as a whole."""
    found = _QUOTED.match(text)
    if found is None or found.end() != len(text):
        return text
    return next(group for group in found.groups() if group is not None)


def _severity(word: str | None) -> Severity:
    return _SEVERITIES.get((word or "").strip().lower(), "unstated")


def _columns(text: str) -> tuple[str, str, str]:
    """Quote, problem and action of `quote | problem | action`, or of `problem | action` without a quote."""
    parts = [_bare(part) for part in text.split("|", 2)]
    quoted = bool(_QUOTED.match(parts[0])) or len(parts) == 3
    quote = _unquoted(parts.pop(0)) if quoted else ""
    return quote, parts[0], parts[1] if len(parts) > 1 else ""


def _sentence(text: str) -> tuple[str, str, str]:
    """Quote, problem and action of `"quote": problem -> action`, each but the problem optional.

    Where only a replacement follows the quote (`"weak" -> "strong"`), the problem stays empty.
    """
    found = _QUOTED.match(text)
    quote = _unquoted(found[0]) if found else ""
    rest = text[found.end() :] if found else text
    arrow = _ARROW.search(rest)
    problem = rest[: arrow.start()] if arrow else rest
    action = rest[arrow.end() :] if arrow else ""
    return quote, _bare(problem.lstrip(" \t:–—-,")) if found else _bare(problem), _bare(action)


def _point(line: str) -> Point | None:
    """The point that one bullet makes; None when it says that there is none."""
    found = _SEVERITY.match(line)
    severity = _severity(found[1] or found[2]) if found else "unstated"
    rest = _bare(line[found.end() :] if found and severity != "unstated" else line)
    quote, problem, action = _columns(rest) if "|" in rest else _sentence(rest)
    return _made(quote, problem, _unquoted(action), severity)


def _made(quote: str, problem: str, action: str, severity: Severity) -> Point | None:
    if not problem and not action:
        quote, problem = "", quote
    if not problem.strip(" |.-") and not action.strip(" |.-"):
        return None
    if _NOTHING.fullmatch(problem) and (not action or _NOTHING.fullmatch(action)):
        return None
    return Point(problem=problem, action=action, quote=quote, severity=severity)


def _texts(value: dict[str, Value]) -> dict[str, str]:
    fields: dict[str, str] = {}
    for key, item in value.items():
        name = _FIELD.get(key.strip().lower())
        if name and isinstance(item, str) and item.strip() and name not in fields:
            fields[name] = item.strip()
    return fields


def _from_fields(fields: dict[str, str]) -> Point | None:
    quote, problem, action = (fields.get(name, "") for name in ("quote", "problem", "action"))
    return _made(quote, problem, action, _severity(fields.get("severity"))) if problem or action else None


def _json_points(value: Value) -> list[Point]:
    """The points of a JSON value: a list of objects or texts, under a known key or alone."""
    if isinstance(value, list):
        return [point for item in value for point in _json_points(item)]
    if isinstance(value, str):
        made = _made("", value.strip(), "", "unstated")
        return [made] if made else []
    if not isinstance(value, dict):
        return []
    named = [item for key, item in value.items() if key.lower() in _LISTS and isinstance(item, list)]
    if named:
        return [point for item in named for point in _json_points(item)]
    point = _from_fields(_texts(value))
    return [point] if point else []


def _json_verdict(value: Value) -> bool | None:
    if not isinstance(value, dict):
        return None
    lowered = {key.lower(): item for key, item in value.items()}
    done, verdict = lowered.get("done"), lowered.get("verdict")
    if isinstance(done, bool):
        return done
    return _agreed([f"verdict: {verdict}"]) if isinstance(verdict, str) else None


def _agreed(lines: Iterable[str]) -> bool | None:
    """What the verdict lines say; None when there is none or they contradict each other."""
    words = {found["word"].lower() == "done" for line in lines if (found := _VERDICT.match(line))}
    return words.pop() if len(words) == 1 else None


def _objects(raw: str) -> list[Found]:
    """The JSON values of a reply that may be critiques: objects, or lists of objects."""
    return [
        found
        for found in find_values(raw)
        if isinstance(found.value, dict)
        or (isinstance(found.value, list) and any(isinstance(item, dict) for item in found.value))
    ]


def _bullets(lines: Iterable[str]) -> list[str]:
    """The text of each bullet, with the lines that continue it."""
    items: list[str] = []
    running = False
    for line in lines:
        found = _BULLET.match(line)
        if found:
            items.append(found["rest"])
        elif running and line.strip():
            items[-1] += " " + line.strip()
        running = bool(found) or (running and bool(line.strip()))
    return items


def _labelled(lines: Iterable[str]) -> list[Point]:
    """The points written as `Problem: ...` and `Action: ...` lines; a repeated key begins the next point."""
    groups: list[dict[str, str]] = [{}]
    for line in lines:
        found = _LABELLED.match(line)
        name = _FIELD.get(found["key"].strip().lower()) if found else None
        if found is None or name is None or not found["rest"].strip():
            continue
        if name in groups[-1]:
            groups.append({})
        groups[-1][name] = _unquoted(_bare(found["rest"]))
    return [point for group in groups if (point := _from_fields(group))]


def _listed(lines: Sequence[str]) -> tuple[list[Point], bool]:
    """The points of the lines, and whether the lines had the form of a list at all."""
    labelled = _labelled(lines)
    if labelled:
        return labelled, True
    bullets = _bullets(lines)
    return [point for bullet in bullets if (point := _point(bullet))], bool(bullets)


def _unlike(points: Iterable[Point]) -> tuple[Point, ...]:
    """The points without repetitions: small models write one point many times."""
    return tuple(dict.fromkeys(points))


def parse_critique(
    raw: str, *, parse: ParseRule = "points", labels: Sequence[str] = (), target: str = ""
) -> Critique:
    """What a critic's reply says; `done` is True or False only where a structured verdict says so.

    With "label_and_points" a stated label decides: done means that it is the target.
    """
    label = read_label(raw, labels) if parse == "label_and_points" else None
    reached = None if label is None or not target else label.lower() == target.strip().lower()
    objects = _objects(raw)
    points = [point for found in objects for point in _json_points(found.value)]
    done = next((said for found in objects if (said := _json_verdict(found.value)) is not None), None)
    if not points and done is None:
        return _read_lines(raw, reached, label is not None)
    return Critique(_unlike(points), done if reached is None else reached, raw)


def _read_lines(raw: str, reached: bool | None, has_label: bool) -> Critique:
    lines = raw.split("\n")
    rest = [line for line in lines if not _VERDICT.match(line) and not (has_label and _is_label(line))]
    done = reached if reached is not None else _agreed(lines)
    points, listed = _listed(rest)
    prose = "\n".join(rest).strip()
    if listed or not prose or _NOTHING.fullmatch(prose):
        return Critique(_unlike(points), done, raw, structured=listed or has_label or done is not None)
    return Critique((Point(problem=prose),), done, raw, structured=False)


_LABEL_HEAD = re.compile(
    r"(?:label|sentiment)\b[\s\"'*_]*(?:[:=]|is(?: now| still)?\b)[\s\"'*_\[]*(?P<rest>[^\n]*)", re.I
)


def _is_label(line: str) -> bool:
    return bool(re.match(r"[\s*_#\"'{\-]*label\b", line, re.I))


def _starts(text: str, labels: Sequence[str]) -> str | None:
    """The label that the text begins with, the longest where several do."""
    fits = [label for label in labels if re.match(re.escape(label) + r"(?!\w)", text, re.I)]
    return max(fits, key=len, default=None)


def read_label(raw: str, labels: Sequence[str]) -> str | None:
    """The one label that the reply states, as written in `labels`; None when it states none or several."""
    alone = _starts(raw.strip(" \t\r\n\"'*_."), labels)
    if alone and len(alone) == len(raw.strip(" \t\r\n\"'*_.")):
        return alone
    stated = {_starts(found["rest"], labels) for found in _LABEL_HEAD.finditer(raw)} - {None}
    return stated.pop() if len(stated) == 1 else None
