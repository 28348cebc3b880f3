"""Long texts of a view, sent once: what shows one names it. Knows nothing of sessions or pages.

A view is sent part by part, and a part again whenever anything in it is new. Without this a text would be
sent again at every step of the round that it stands in.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping
from typing import Any

SHORT = 40
"""Up to so many characters a text costs less than its name."""
HELD = "held "
"""How the parts that hold one value each begin; assets/web/parts.js reads them."""
CHANGING = "head"
"""The part whose words are new each time."""
NAME_BYTES = 9


def shared(view: Mapping[str, Any]) -> dict[str, Any]:
    """The view with {"held": name} for each long text and each tuple, which are parts of their own."""
    held: dict[str, Any] = {}
    parts = {name: part if name == CHANGING else _named(part, held) for name, part in view.items()}
    return {**held, **parts}


def _named(value: Any, held: dict[str, Any]) -> Any:
    if isinstance(value, dict):
        return {key: _named(each, held) for key, each in value.items()}
    if isinstance(value, list):
        return [_named(each, held) for each in value]
    if isinstance(value, tuple) or (isinstance(value, str) and len(value) > SHORT):
        name = _name(value)
        held[HELD + name] = value
        return {"held": name}
    return value


def _name(value: object) -> str:
    """A name for the value that is the same in every view, whatever else stands there."""
    digest = hashlib.blake2b(json.dumps(value).encode(), digest_size=NAME_BYTES).digest()
    return base64.urlsafe_b64encode(digest).decode()
