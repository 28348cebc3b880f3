"""CSV and JSONL of drafts and revisions: a row is a draft with the revision made of it, and what was said.

Columns, by any of their names: id; input (what was to be worked on; the draft where there is none);
instruction, target, reference; draft; critique; revision; decision (accept or reject), by; draft_score,
revision_score; model; round. Rows of one id are the rounds of one session, told apart by `round`; each takes
up the text that stood after the one before. Ids are texts: 7 and 007 are two.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath

from core.domain import Score, Task
from core.importing.making import Attempt, Trajectory
from core.interchange import ImportProblem, check_texts
from core.studies.protocol import BadStudy
from core.studies.table_files import TableRow, read_rows

COLUMNS: Mapping[str, tuple[str, ...]] = {
    "id": ("id", "key", "item_id", "record_id"),
    "input": ("input", "prompt", "source", "task", "question"),
    "instruction": ("instruction",),
    "target": ("target",),
    "reference": ("reference",),
    "draft": ("draft", "original", "before"),
    "critique": ("critique", "feedback", "comment"),
    "revision": ("revision", "revised", "after"),
    "decision": ("decision", "accepted"),
    "by": ("by", "person", "annotator"),
    "draft_score": ("draft_score", "score_draft"),
    "revision_score": ("revision_score", "score_revision"),
    "model": ("model",),
    "round": ("round",),
}
"""What a row may say, and the columns' names in the order in which they are looked for."""

SCORER = "given"
_DECISIONS = {
    "accept": "accept", "accepted": "accept", "true": "accept", "yes": "accept", "1": "accept",
    "reject": "reject", "rejected": "reject", "false": "reject", "no": "reject", "0": "reject", "": "",
}  # fmt: skip


def rows_in(data: bytes) -> tuple[TableRow, ...]:
    """The rows of a CSV, a JSON array or JSON lines, fit to be kept. Raises ImportProblem."""
    try:
        rows = read_rows(data)
    except BadStudy as error:
        raise ImportProblem(*_placed(str(error).removesuffix(" Nothing was added."))) from None
    for row in rows:
        check_texts(row.place, row.values)
    return rows


def _placed(why: str) -> tuple[str, str]:
    """Words about a file as the place that they begin with, and the rest."""
    found = re.match(r"(The file|[Ll]ine \d+|row \d+):? (.*)", why, re.S)
    if found is None:
        return "The file", why
    bare = re.match(r"(is|has|must|can't) ", found[2]) is not None
    return found[1].capitalize(), f"it {found[2]}" if bare else found[2]


@dataclass(frozen=True)
class _Line:
    """One row by our names."""

    place: str
    values: Mapping[str, str]

    def __getitem__(self, name: str) -> str:
        return self.values.get(name, "")


def read_drafts(
    data: bytes, name: str, model: str = "", columns: Mapping[str, str] | None = None
) -> tuple[Trajectory, ...]:
    """The sessions to be, in the order of their first rows; `columns` names some by the file's own names.

    Raises ImportProblem.
    """
    rows = rows_in(data)
    named = _named(rows[0], columns or {})
    groups: dict[str, list[_Line]] = {}
    for row in rows:
        line = _Line(row.place, {ours: _cell(row, theirs) for ours, theirs in named.items()})
        groups.setdefault(unicodedata.normalize("NFC", line["id"].strip()) or _content(line), []).append(line)
    source = PurePath(name).name
    usual = model or f"imported:{PurePath(name).stem}"
    return tuple(_trajectory(source, key, _ordered(lines), usual) for key, lines in groups.items())


def _named(row: TableRow, columns: Mapping[str, str]) -> dict[str, str]:
    """Our names with the file's. Raises ImportProblem where draft or revision is not there."""
    there = {name.strip().lower(): name for name in row.values}
    if len(there) < len(row.values):
        raise ImportProblem("The file", f"two of its columns have one name: {', '.join(row.values)}.")
    found = {}
    for ours, aliases in COLUMNS.items():
        wanted = (columns[ours],) if ours in columns else aliases
        theirs = next((there[each.lower()] for each in wanted if each.lower() in there), None)
        if theirs is None and (ours in columns or ours in ("draft", "revision")):
            listed = ", ".join(row.values)
            raise ImportProblem("The file", f"there is no column {wanted[0]!r}. There are: {listed}.")
        if theirs is not None:
            found[ours] = theirs
    return found


def _cell(row: TableRow, name: str) -> str:
    """The cell as text; a number or a truth value of a JSON file as it is spelled there."""
    value = row.values.get(name)
    if value is None:
        return ""
    if isinstance(value, bool | int | float):
        return str(value).lower() if isinstance(value, bool) else str(value)
    if not isinstance(value, str):
        raise ImportProblem(row.place, f"{name} must be a text.")
    return value


def _content(line: _Line) -> str:
    """A key for a row without an id: all that it says."""
    return "\0".join(f"{name}={value}" for name, value in sorted(line.values.items()))


def _ordered(lines: Sequence[_Line]) -> list[_Line]:
    """The rounds of one id, each once. Raises ImportProblem for two rows that can't be told apart."""
    rounds: dict[int, _Line] = {}
    for line in lines:
        known = rounds.setdefault(_whole(line), line)
        if known.values != line.values:
            raise ImportProblem(
                line.place,
                f"the id {line['id']!r} is in {known.place} already, with other texts and no other round.",
            )
    return [rounds[number] for number in sorted(rounds)]


def _whole(line: _Line) -> int:
    text = line["round"].strip()
    if text and not (text.isascii() and text.isdigit() and len(text) < 10):
        raise ImportProblem(line.place, f"round must be a whole number, not {text[:40]!r}.")
    return int(text or 0)


def _trajectory(source: str, key: str, lines: Sequence[_Line], model: str) -> Trajectory:
    first = lines[0]
    scored = any(line["draft_score"].strip() or line["revision_score"].strip() for line in lines)
    attempts = [Attempt(first["draft"], first.place, first["critique"], _score(first, "draft_score", scored))]
    stands = first["draft"]
    for number, line in enumerate(lines):
        if line["draft"].strip() and line["draft"] != stands:
            raise ImportProblem(line.place, "its draft is not the text that stood after the row before.")
        critique = lines[number + 1]["critique"] if number + 1 < len(lines) else ""
        attempts.append(_revision(line, critique, scored))
        stands = stands if attempts[-1].decision == "reject" else line["revision"]
    task = Task(first["input"] or first["draft"], first["instruction"], first["reference"], first["target"])
    return Trajectory(source, key, task, tuple(attempts), first["model"].strip() or model)


def _revision(line: _Line, critique: str, scored: bool) -> Attempt:
    said = line["decision"].strip().lower()
    if said not in _DECISIONS:
        raise ImportProblem(line.place, f"decision must be accept or reject, not {said[:40]!r}.")
    score = _score(line, "revision_score", scored)
    return Attempt(line["revision"], line.place, critique, score, _DECISIONS[said], line["by"].strip())


def _score(line: _Line, name: str, scored: bool) -> Score | None:
    text = line[name].strip()
    if not scored:
        return None
    try:
        value = float(text) if text else None
    except ValueError:
        value = math.nan
    if value is not None and not math.isfinite(value):
        raise ImportProblem(line.place, f"{name} must be a number, not {text[:40]!r}.")
    return Score(SCORER, value, "" if text else "the file holds no score of this text", "given in the file")
