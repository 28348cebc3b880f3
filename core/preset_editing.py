"""Single values of a preset changed in its YAML text; all else, comments too, stays as it was written.

The text is the one truth: a form that shows values changes them here. Knows no page.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

import yaml

from core.preset_schema import PresetError, read_entry

Path = tuple[str | int, ...]
"""Keys and places in lists that lead to a value, as in ("rubric", 0, "question")."""

LISTS = ("scorer", "labels")
"""Values that may be a list; they are written in one line, parted by commas."""
NUMBERS = ("rounds", "low", "high")
_BEFORE = "fields"


def lines_of(text: str) -> dict[Path, int]:
    """The line, from 1, on which each value begins. Raises PresetError."""
    found: dict[Path, int] = {}
    waiting: list[tuple[Path, yaml.Node]] = [((), read_entry(text, "preset").node)]
    while waiting:
        path, node = waiting.pop()
        found[path] = node.start_mark.line + 1
        waiting += [((*path, key), child) for key, child in _children(node)]
    return found


def set_value(text: str, path: Path, value: str) -> str:
    """The text with this value at this place; an empty value takes the key away.

    Raises PresetError where the value stands in a form that only a person can change, or can't be put in.
    """
    mark = text[: len(text) - len(text.removeprefix("\ufeff"))]
    plain = text[len(mark) :]
    *above, key = path or (0,)
    node = _at(read_entry(plain, "preset").node, above)
    if not isinstance(node, yaml.MappingNode) or not isinstance(key, str):
        raise PresetError("preset", None, "this value can't be changed here. Change it in the text.")
    changed = _changed(plain, node, key, value)
    read_entry(changed, "preset")
    return mark + changed


def _children(node: yaml.Node) -> list[tuple[str | int, yaml.Node]]:
    if isinstance(node, yaml.MappingNode):
        return [(str(key.value), child) for key, child in node.value if isinstance(key, yaml.ScalarNode)]
    return list(enumerate(node.value)) if isinstance(node, yaml.SequenceNode) else []


def _at(node: yaml.Node, path: Sequence[str | int]) -> yaml.Node | None:
    found: yaml.Node | None = node
    for step in path:
        found = dict(_children(found)).get(step) if found else None
    return found


def _changed(text: str, node: yaml.MappingNode, key: str, value: str) -> str:
    pair = next(((name, old) for name, old in node.value if name.value == key), None)
    if pair is None:
        return _with(text, node, key, value) if value.strip() else text
    name, old = pair
    start, end = name.start_mark.index, _end(text, old)
    if value.strip():
        return f"{text[: name.end_mark.index]}: {_written(key, value)}{text[end:]}"
    return _without(text, node, start, end)


def _end(text: str, node: yaml.Node) -> int:
    """Where the value ends, without the comments and blank lines that YAML counts to it."""
    if isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        return _end(text, last[1] if isinstance(last, tuple) else last)
    return node.start_mark.index + len(text[node.start_mark.index : node.end_mark.index].rstrip())


def _without(text: str, node: yaml.MappingNode, start: int, end: int) -> str:
    """The text without the key that stands there, with its line."""
    first = text.rfind("\n", 0, start) + 1
    last = text.find("\n", end) + 1 or len(text)
    if node.flow_style or text[first:start].strip():
        line = text.count("\n", 0, start) + 1
        raise PresetError("preset", line, "this value can't be taken out here. Take it out in the text.")
    return text[:first] + text[last:]


def _with(text: str, node: yaml.MappingNode, key: str, value: str) -> str:
    """The text with a new key, before the last one of its mapping or before the fields."""
    keys = [name for name, _ in node.value]
    if not keys:
        raise PresetError("preset", None, "this value can't be put in here. Write it into the text.")
    before = next((name for name in keys if name.value == _BEFORE), keys[-1]).start_mark
    after = ", " if node.flow_style else "\n" + " " * before.column
    return f"{text[: before.index]}{key}: {_written(key, value)}{after}{text[before.index :]}"


def _written(key: str, value: str) -> str:
    """The value as YAML, on one line."""
    plain = " ".join(value.split())
    if key in LISTS:
        items = [_quoted(item.strip()) for item in plain.split(",") if item.strip()]
        return items[0] if len(items) == 1 and key == "scorer" else f"[{', '.join(items)}]"
    is_limit = key in ("draft", "critique") and plain.isdecimal()
    return plain if (key in NUMBERS or is_limit) and _single(plain) else _quoted(plain)


def _quoted(value: str) -> str:
    """The value as a text of YAML, in quotes where it needs them."""
    node = _single(value)
    same = node is not None and node.tag == "tag:yaml.org,2002:str" and node.value == value
    return value if same else json.dumps(value, ensure_ascii=False)


def _single(value: str) -> yaml.ScalarNode | None:
    """The value when YAML reads it as one plain scalar, in a list too."""
    try:
        found = yaml.compose(f"[{value}]", Loader=yaml.SafeLoader)
    except (yaml.YAMLError, RecursionError):
        return None
    items = found.value if isinstance(found, yaml.SequenceNode) else []
    return items[0] if len(items) == 1 and isinstance(items[0], yaml.ScalarNode) else None
