"""Tells what an import file holds by how it begins. Knows no store."""

from __future__ import annotations

import json
from typing import BinaryIO, Literal

from core.importing.trajectories import MARKS
from core.interchange import HEAD, SESSION

Kind = Literal["redraft", "self-refine", "drafts"]
LOOK = 1_000_000
"""Bytes looked at."""


def kind_of(stream: BinaryIO) -> Kind:
    """What the file holds; the stream, which must be seekable, stands at its beginning again afterwards."""
    begins = stream.read(LOOK).removeprefix(b"\xef\xbb\xbf").lstrip()
    stream.seek(0)
    first = _first_object(begins)
    if first.get("format") in (SESSION, HEAD) or (not first and f'"{SESSION}'.encode() in begins[:200]):
        return "redraft"
    return "self-refine" if all(name in first for name in MARKS) else "drafts"


def _first_object(begins: bytes) -> dict[str, object]:
    """The first line as an object, {} where it is none."""
    try:
        found = json.loads(begins.split(b"\n", 1)[0])
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
