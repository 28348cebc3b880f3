"""What a preset is, and reading one from YAML with errors that name the line. Knows no strategy and no page.

The file is read as YAML nodes, never as Python objects: each value keeps the line it stands on.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NoReturn, TypeVar

import yaml
from yaml.composer import ComposerError

LARGEST = 200_000
"""Characters of the longest preset file that is read."""
DEEPEST = 20
"""So deep may its lists and mappings be nested."""

_NAMES = {"str": "text", "int": "a whole number", "map": "a mapping (key: value)", "seq": "a list (- ...)"}
_T = TypeVar("_T")


class _Loader(yaml.SafeLoader):
    """Reads no alias, as a few lines of them could stand for gigabytes, and nothing nested deeply."""

    depth = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            mark = self.peek_event().start_mark  # type: ignore[no-untyped-call]
            raise ComposerError(None, None, "alias", mark)
        if self.depth > DEEPEST:
            raise RecursionError
        self.depth += 1
        node = super().compose_node(parent, index)
        self.depth -= 1
        return node


class PresetError(ValueError):
    """A preset that can't be used; the message names file and line and says what to do."""

    def __init__(self, source: str, line: int | None, problem: str) -> None:
        super().__init__(f"{source}, line {line}: {problem}" if line else f"{source}: {problem}")
        self.line = line


@dataclass(frozen=True)
class Text:
    """A text of the file with the line on which its first line stands."""

    value: str
    line: int


@dataclass(frozen=True)
class Entry:
    """A value of the file that is not read yet, with where it stands."""

    node: yaml.Node
    source: str
    path: str

    @property
    def line(self) -> int:
        """The line on which it begins, from 1."""
        return int(self.node.start_mark.line) + 1

    def fail(self, problem: str) -> NoReturn:
        """Raise PresetError for this value."""
        raise PresetError(self.source, self.line, problem)

    def _typed(self, kind: str) -> None:
        found = self.node.tag.removeprefix("tag:yaml.org,2002:")
        if found == kind:
            return
        named = _NAMES.get(found, "another kind of value" if found != "null" else "nothing")
        quotes = " Put it in quotes." if kind == "str" and isinstance(self.node, yaml.ScalarNode) else ""
        self.fail(f'"{self.path}" must be {_NAMES[kind]}, but it is {named}.{quotes}')

    def text(self) -> Text:
        """The value as a text."""
        self._typed("str")
        if re.search("[\x00\ud800-\udfff]", str(self.node.value)):
            self.fail(f'"{self.path}" has a character that no model can read (NUL, or half of one).')
        block = isinstance(self.node, yaml.ScalarNode) and self.node.style in ("|", ">")
        return Text(str(self.node.value).strip("\n"), self.line + self._leading(block))

    def _leading(self, block: bool) -> int:
        value = str(self.node.value)
        return (len(value) - len(value.lstrip("\n")) + 1) if block else 0

    def word(self, choices: Iterable[str] = ()) -> str:
        """The value as a text on one line; one of `choices` where there are any."""
        value = self.text().value.strip()
        options = list(choices)
        if not value or "\n" in value:
            self.fail(f'"{self.path}" must be a text on one line.')
        if options and value not in options:
            self.fail(f'"{self.path}" can\'t be "{value}".{_meant(value, options)} Use {_listed(options)}.')
        return value

    def one_or_more(self) -> tuple[str, ...]:
        """The value as texts on one line each: a list of them, or one alone."""
        if isinstance(self.node, yaml.SequenceNode) and self.node.value:
            return tuple(item.word() for item in self.items())
        return (self.word(),)

    def number(self, lowest: int, highest: int) -> int:
        """The value as a whole number within the limits."""
        self._typed("int")
        written = str(self.node.value).replace("_", "")
        if not written.lstrip("+-").isdecimal() or len(written) > 9:
            self.fail(f'"{self.path}" must be a plain whole number such as {lowest}.')
        if not lowest <= int(written) <= highest:
            self.fail(f'"{self.path}" is {int(written)}; use a number from {lowest} to {highest}.')
        return int(written)

    def items(self) -> list[Entry]:
        """The values of a list."""
        self._typed("seq")
        numbered = enumerate(self.node.value, 1)
        return [Entry(node, self.source, f"{self.path}, item {number}") for number, node in numbered]

    def mapping(self, known: Iterable[str], needed: Iterable[str] = ()) -> dict[str, Entry]:
        """The values by key, in the file's order; refuses keys that are unknown, doubled or missing."""
        self._typed("map")
        options, found = list(known), dict[str, Entry]()
        for key, value in self.node.value:
            name = self._key(key, options)
            if name in found:
                Entry(key, self.source, name).fail(f'"{name}" stands here twice. Remove one of the two.')
            found[name] = Entry(value, self.source, f"{self.path}.{name}" if self.path else name)
        missing = [name for name in needed if name not in found]
        if missing:
            where = f' in "{self.path}"' if self.path else ""
            self.fail(f'"{missing[0]}" is missing{where}. Add "{missing[0]}: ...".')
        return found

    def _key(self, key: yaml.Node, options: list[str]) -> str:
        name = str(key.value) if isinstance(key, yaml.ScalarNode) else "?"
        if name not in options:
            Entry(key, self.source, name).fail(
                f'there is no key "{name}" here.{_meant(name, options)} Known are {_listed(options)}.'
            )
        return name


def _meant(name: str, options: list[str]) -> str:
    near = difflib.get_close_matches(name, options, n=1, cutoff=0.6)
    return f' Did you mean "{near[0]}"?' if near else ""


def _listed(options: list[str]) -> str:
    return ", ".join(options)


def _problem(error: yaml.YAMLError) -> str:
    problem = str(getattr(error, "problem", None) or getattr(error, "reason", None) or "it can't be read")
    if "\\t" in problem:
        return "a tab is used to indent. Indent with spaces."
    if problem == "alias":
        return "an alias (*name) stands here. Write out what it stands for."
    if "another document" in problem:
        return "a second document begins here (---). Keep one preset to a file."
    return f"this is not valid YAML ({problem}). Check indentation, quotes and colons here and just above."


def _line(error: yaml.YAMLError, text: str) -> int | None:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    if mark is not None:
        return int(mark.line) + 1
    place = getattr(error, "position", None)
    return text.count("\n", 0, int(place)) + 1 if place is not None else None


def read_entry(text: str, source: str) -> Entry:
    """The whole file as one value. Raises PresetError."""
    if len(text) > LARGEST:
        problem = f"the file has {len(text):,} characters; at most {LARGEST:,} are read. Shorten it."
        raise PresetError(source, None, problem)
    plain = text.removeprefix("\ufeff")
    try:
        node = yaml.compose(plain, Loader=_Loader)
    except yaml.YAMLError as error:
        raise PresetError(source, _line(error, plain), _problem(error)) from None
    except RecursionError:
        raise PresetError(source, None, "lists or mappings are nested too deeply.") from None
    if node is None:
        raise PresetError(source, None, "the file is empty. Start from a copy of a preset that works.")
    return Entry(node, source, "")


def each(entry: Entry | None, read: Callable[[Entry], _T]) -> tuple[_T, ...]:
    """What `read` makes of each value of a list; nothing where there is no list."""
    return tuple(read(item) for item in entry.items()) if entry else ()


def words(found: Mapping[str, Entry], names: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Each of the named values that is there, as a text."""
    for name, entry in found.items():
        if name in names:
            yield name, entry.text().value
