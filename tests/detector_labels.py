"""Texts that a person labelled, and how well the detector's flags agree with the labels.

tests/data/README.md says what the labels mean. A refusal is about the text too, so "meta-text" counts as
right on it; that a refusal is missed is seen in the figures of "refusal".
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from core.detect import flags

FOLDER = Path(__file__).parent / "data"
SOURCE = "The soup was cold and nobody came when we called."

Label = Literal["fine", "meta-text", "refusal"]
KINDS = ("any", "meta-text", "refusal")


@dataclass(frozen=True)
class Labelled:
    """A text with its label, and where it comes from: file, row from 0 and attempt."""

    text: str
    label: Label
    source: str = ""
    half: str = ""
    place: tuple[str, int, int] = ("", 0, 0)
    sha256: str = ""


@dataclass(frozen=True)
class Agreement:
    """How many texts were flagged, of these rightly; how many were labelled, of these found."""

    flagged: int
    right: int
    labelled: int
    found: int

    @property
    def precision(self) -> float:
        """The share of the flagged that is right; 1 when none is flagged."""
        return self.right / self.flagged if self.flagged else 1.0

    @property
    def recall(self) -> float:
        """The share of the labelled that is found; 1 when there is none."""
        return self.found / self.labelled if self.labelled else 1.0


def attempts() -> list[Labelled]:
    """The labelled attempts that are checked in: every one that is not fine, and some that are."""
    lines = (FOLDER / "detector_labels.jsonl").read_text(encoding="utf-8").strip().split("\n")
    return [_labelled(json.loads(line)) for line in lines]


def _labelled(row: dict[str, object]) -> Labelled:
    place = (str(row["file"]), int(str(row["row"])), int(str(row["attempt"])))
    label: Label = (
        "fine" if row["label"] == "fine" else "refusal" if row["label"] == "refusal" else "meta-text"
    )
    return Labelled(str(row["text"]), label, "", str(row["half"]), place, str(row["sha256"]))


def wordings() -> list[Labelled]:
    """Short texts of our own, each of another task."""
    lines = (FOLDER / "detector_wordings.jsonl").read_text(encoding="utf-8").strip().split("\n")
    rows = [json.loads(line) for line in lines]
    return [Labelled(row["text"], row["label"], SOURCE) for row in rows]


def corpus(folder: Path) -> list[Labelled]:
    """Every attempt of the two files: what is not checked in was read and is fine."""
    known = {one.place: one for one in attempts()}
    found: list[Labelled] = []
    for name in sorted({place[0] for place in known}):
        lines = (folder / name).read_text(encoding="utf-8").split("\n")
        for number, line in enumerate(filter(str.strip, lines)):
            row = json.loads(line)
            place = (name, number, row["attempt"])
            label: Label = known[place].label if place in known else "fine"
            found.append(
                Labelled(row["transferred_review"], label, row["review"], half(row["record_id"]), place)
            )
    return found


def half(record: int) -> str:
    """The half that all attempts of a record belong to."""
    return "held out" if hashlib.sha256(f"record {record}".encode()).digest()[0] % 2 else "seen"


def agreement(texts: Sequence[Labelled], kind: str) -> Agreement:
    """The flags of one kind ("any" for either) against the labels."""
    said = [(flags(one.text, finish="stop", source=one.source), one.label) for one in texts]
    flagged = [label for found, label in said if _is(kind, found)]
    labelled = [found for found, label in said if _is(kind, (label,))]
    deserved = "refusal" if kind == "refusal" else "any"
    right = sum(_is(deserved, (label,)) for label in flagged)
    return Agreement(len(flagged), right, len(labelled), sum(_is(kind, found) for found in labelled))


def _is(kind: str, said: Collection[str]) -> bool:
    return bool(set(said) & ({"meta-text", "refusal"} if kind == "any" else {kind}))
