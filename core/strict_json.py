"""What files that people bring may not do in JSON, although Python's reader lets them. Knows no file."""

from __future__ import annotations

from typing import Any


def each_name_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The pairs as an object (json's `object_pairs_hook`). Raises ValueError for a name that stands twice."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"{next(n for n in names if names.count(n) > 1)!r} stands twice in one object")
    return found
