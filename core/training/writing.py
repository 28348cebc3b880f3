"""A data set as a folder: rows as TRL's trainers take them, where each came from, a card, and hashes of all.

JSON is ASCII, one row a line, so that no reader breaks a line at a character that a text holds. Knows no
session and no trainer.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from core.training.building import DataSet
from core.training.card import card
from core.training.examples import Example

TRAIN, HELD_OUT, ORIGINS = "train.jsonl", "heldout.jsonl", "provenance/rows.jsonl"


class FolderTaken(ValueError):
    """The folder for the data holds something already, or can't be made."""


def write(data: DataSet, folder: Path, chosen: Mapping[str, Any]) -> dict[str, Any]:
    """Write the folder, whole or not at all, and give its manifest; `chosen` is how the rows were chosen.

    Raises FolderTaken.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise FolderTaken(f"{folder} is there already. Name a new folder.")
    draft = folder.with_name(f".{folder.name}.being-written")
    try:
        shutil.rmtree(draft, ignore_errors=True)
        (draft / "provenance").mkdir(parents=True)
        manifest = _fill(draft, data, chosen)
        if folder.exists():
            folder.rmdir()
        draft.rename(folder)
    except OSError as error:
        shutil.rmtree(draft, ignore_errors=True)
        raise FolderTaken(f"{folder} can't be written: {error.strerror}.") from error
    return manifest


def _fill(folder: Path, data: DataSet, chosen: Mapping[str, Any]) -> dict[str, Any]:
    parts = {TRAIN: data.train, HELD_OUT: data.held_out}
    files = {name: _lines(folder / name, (e.row() for e in rows)) for name, rows in parts.items() if rows}
    files[ORIGINS] = _lines(
        folder / ORIGINS,
        (_origin(name, place, each) for name, rows in parts.items() for place, each in enumerate(rows)),
    )
    text = card(data, files, chosen)
    (folder / "README.md").write_bytes(text.encode("utf-8"))
    files["README.md"] = _described(text.encode("utf-8"))
    manifest = {
        "format": "redraft training data",
        "version": 1,
        "plan": asdict(data.plan),
        "chosen": dict(chosen),
        "rows": {"in": data.tally.seen, "train": len(data.train), "held_out": len(data.held_out)},
        "left_out": dict(sorted(data.tally.left_out.items())),
        "warned": dict(sorted(data.tally.warned.items())),
        "diversity": {"before": asdict(data.before), "after": asdict(data.after)},
        "test_files": dict(data.tests.texts) if data.tests else {},
        "files": files,
    }
    text = json.dumps(manifest, indent=1, allow_nan=False) + "\n"
    (folder / "manifest.json").write_bytes(text.encode("ascii"))
    return manifest


def _lines(path: Path, rows: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Write the rows one a line; what the manifest says of the file."""
    digest, count, size = hashlib.sha256(), 0, 0
    with path.open("wb") as out:
        for row in rows:
            line = json.dumps(row, ensure_ascii=True, allow_nan=False).encode("ascii") + b"\n"
            out.write(line)
            digest.update(line)
            count, size = count + 1, size + len(line)
    return {"sha256": digest.hexdigest(), "bytes": size, "rows": count}


def _described(data: bytes) -> dict[str, Any]:
    return {"sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)}


def _origin(name: str, place: int, example: Example) -> dict[str, Any]:
    """Which row it is, and where it came from; what is unknown is left out."""
    line = json.dumps(example.row(), ensure_ascii=True)
    return {
        "file": name,
        "row": place,
        "sha256": hashlib.sha256(line.encode("ascii") + b"\n").hexdigest(),
        "way": example.way,
        **{name: value for name, value in asdict(example.origin).items() if value not in (None, "")},
    }
