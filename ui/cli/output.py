"""Files that commands write: whole, or as they were before."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from pathlib import Path

from ui.cli.common import say


def written(path: Path, parts: Iterable[str]) -> bool:
    """Write the parts as UTF-8 to where the path leads; False, after the reason was said, where that fails.

    A file is replaced when all is written, and keeps its rights; what is no file (a device, a pipe) gets the
    parts as they come.
    """
    target = Path(os.path.realpath(path))
    try:
        if target.exists() and not target.is_file():
            _fill(target, parts)
        else:
            _replace(target, parts)
    except OSError as error:
        say(f"error: {path} can't be written: {error.strerror}")
        return False
    return True


def _fill(target: Path, parts: Iterable[str]) -> None:
    with target.open("w", encoding="utf-8", newline="") as out:
        out.writelines(parts)


def _replace(target: Path, parts: Iterable[str]) -> None:
    draft = target.with_name(f".{target.name}.part")
    try:
        _fill(draft, parts)
        if target.exists():
            shutil.copymode(target, draft)
        os.replace(draft, target)
    finally:
        draft.unlink(missing_ok=True)
