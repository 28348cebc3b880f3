"""A study as files: votes long, FastChat, preference rows, the protocol, the report. Knows no page.

Before the unblinding the systems are their masks, and what a text could be known by (its item's key, its
length, its hash) stays away; preference rows hold the texts themselves, so they come after it only.
"""

from __future__ import annotations

import json
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields, is_dataclass
from datetime import datetime
from typing import Any, Literal, get_args

from core.spreadsheet import csv_lines
from core.studies.desks import StudyStore
from core.studies.figures import Undefined
from core.studies.material import same
from core.studies.protocol import BadStudy, protocol_hash
from core.studies.records import Study
from core.studies.results import Results, report_of, results
from core.studies.rows import Row
from core.studies.summary import summary

ExportForm = Literal["csv", "jsonl", "fastchat", "preferences", "protocol", "report"]
_WINNER = {"left": "model_a", "right": "model_b", "tie": "tie", "both_bad": "tie (bothbad)"}


@dataclass(frozen=True)
class Exported:
    """A file's text, and what a person should know of it, such as what was left out."""

    text: str
    notes: tuple[str, ...] = ()


def export(store: StudyStore, study_id: str, form: ExportForm) -> Exported:
    """The study in that form. Raises BadStudy where it can't be had yet, UnknownStudy."""
    if form not in get_args(ExportForm):
        raise BadStudy(f"There is no form {form!r}: {', '.join(get_args(ExportForm))}.")
    if form == "protocol":
        return Exported(protocol_document(store.look(study_id, lambda desk: desk.study)))
    found = results(store, study_id)
    if form == "preferences":
        return preference_rows(found)
    texts = {"csv": long_csv, "jsonl": long_jsonl, "fastchat": fastchat, "report": report_document}
    return Exported(texts[form](found))


def plain(value: Any) -> Any:
    """A value of figures as JSON can hold it; what is undefined says why, also in the place of NaN."""
    if isinstance(value, Undefined):
        return {"undefined": value.why}
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(inner) for inner in value]
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, float) and not math.isfinite(value):
        return {"undefined": "not a finite number"}
    return value


def as_json(value: Any) -> str:
    """A document as JSON in ASCII, so that no reader splits it at a character of a text."""
    return json.dumps(plain(value), allow_nan=False, indent=1)


def protocol_document(study: Study) -> str:
    """The protocol with its hash, the frozen one once the study was opened."""
    sha256 = study.sha256 or protocol_hash(study.protocol)
    frozen = bool(study.sha256)
    return as_json(
        {"study": study.id, "sha256": sha256, "frozen": frozen, "protocol": asdict(study.protocol)}
    )


def report_document(found: Results) -> str:
    """Every figure, and the summary in sentences."""
    figures = report_of(found)
    about = {
        "study": found.study.id,
        "status": found.study.status,
        "masked": found.masked,
        "protocol_sha256": found.study.sha256,
        "unblinding": found.unblinding,
        "pairings_with_identical_texts": sum(p.identical for p in found.contents.pairings),
    }
    return as_json({**about, "summary": summary(figures), "report": figures})


# -- votes, one a row --------------------------------------------------------------------------


def long_rows(found: Results) -> Iterable[dict[str, Any]]:
    """Every vote that stands, with position and system in columns of their own."""
    for row in found.rows:
        vote = row.vote
        yield {
            "study": found.study.id,
            "rater": row.rater.code,
            "item": found.item(row),
            "stratum": row.item.stratum,
            "kind": row.item.kind,
            "retest": vote.retest,
            "place": vote.seq + 1,
            "system_left": found.label(row.system_left),
            "system_right": found.label(row.system_right),
            "choice": vote.ballot.choice,
            "winner": found.label(row.winner) if row.winner else "",
            "strength": vote.ballot.strength,
            "criteria": dict(vote.ballot.criteria),
            "reason": vote.ballot.reason,
            "active_ms": vote.ballot.active_ms,
            "shown_at": vote.shown_at.isoformat(),
            "submitted_at": vote.submitted_at.isoformat(),
            "version": vote.version,
            "excluded": list(found.excluded.get(vote.assignment, ())),
            **({} if found.masked else _covariates(row)),
        }


def _covariates(row: Row) -> dict[str, Any]:
    sides = {"left": row.left, "right": row.right}
    known: dict[str, Any] = {}
    for side, output in sides.items():
        known[f"chars_{side}"] = output.measures.characters
        known[f"markdown_{side}"] = sum(number for _, number in output.measures.markdown)
        known[f"flags_{side}"] = list(output.measures.flags)
        known[f"sha256_{side}"] = output.measures.sha256
    return known


def long_jsonl(found: Results) -> str:
    """The votes as JSON lines."""
    return _lines(long_rows(found))


def _lines(rows: Iterable[Mapping[str, Any]]) -> str:
    return "".join(f"{json.dumps(row, allow_nan=False)}\n" for row in rows)


def long_csv(found: Results) -> str:
    """The votes as CSV; lists joined by spaces, criteria as JSON.

    What a spreadsheet would take for a formula is written so that it does not (core.spreadsheet).
    """
    rows = list(long_rows(found))
    columns = list(rows[0]) if rows else ["study"]
    return "".join(csv_lines(columns, ([_cell(value) for value in row.values()] for row in rows)))


def _cell(value: Any) -> Any:
    if isinstance(value, list):
        return " ".join(value)
    return value if not isinstance(value, dict) else json.dumps(value) if value else ""


def counted(found: Results) -> list[Row]:
    """The first answers to the study's own items that no rule leaves out."""
    return [row for row in found.rows if row.main and row.vote.assignment not in found.excluded]


def fastchat(found: Results) -> str:
    """The votes as FastChat writes battles, model_a on the left; without skips and votes left out."""
    return _lines(
        {
            "question_id": found.item(row),
            "model_a": found.label(row.system_left),
            "model_b": found.label(row.system_right),
            "winner": _WINNER[row.vote.ballot.choice],
            "judge": row.rater.code,
            "turn": 1,
            "anony": True,
            "tstamp": row.vote.submitted_at.timestamp(),
        }
        for row in counted(found)
        if row.vote.ballot.choice in _WINNER
    )


# -- preference rows -------------------------------------------------------------------------------


def preference_rows(found: Results) -> Exported:
    """A row of prompt, chosen and rejected for each pairing whose votes all went one way.

    Pairings that would teach nothing or wrongly are left out and counted by reason. Raises BadStudy while the
    study is masked: the texts would tell who won.
    """
    if found.masked:
        raise BadStudy("Preference rows hold the texts that won: they can be had after the unblinding.")
    pairings: dict[int, list[Row]] = defaultdict(list)
    for row in counted(found):
        pairings[row.vote.pairing].append(row)
    judged = [_preference(rows) for rows in pairings.values()]
    rows = [one for one in judged if isinstance(one, dict)]
    left_out = Counter(one for one in judged if isinstance(one, str))
    notes = [f"{len(rows)} rows of {len(judged)} judged pairings."]
    notes += [f"{number} left out: {why}." for why, number in sorted(left_out.items())]
    return Exported(_lines(rows), tuple(notes))


def _preference(rows: list[Row]) -> dict[str, str] | str:
    """The row of one pairing, or why there is none."""
    winners = {row.winner.id for row in rows if row.winner}
    if not winners:
        return "no vote for one side"
    if len(winners) > 1:
        return "raters disagree"
    row = next(row for row in rows if row.winner)
    won, lost = (row.left, row.right) if row.vote.ballot.choice == "left" else (row.right, row.left)
    if same(won.text, lost.text):
        return "the texts are the same"
    if won.measures.flags:
        return f"the preferred text is flagged ({', '.join(won.measures.flags)})"
    if not row.item.prompt.strip():
        return "there is no prompt"
    return {"prompt": row.item.prompt.rstrip(), "chosen": won.text, "rejected": lost.text}
