"""The presets that there are, live: those that come with Redraft and a person's own, with every version kept.

A person's own stand in HOME/presets: NAME.yaml is the newest, versions/NAME/0001.yaml and so on are those it
took the place of. One of the name of a built-in preset takes its place. A file that is changed by hand is
kept as a version too, once another is saved over it. Nothing is remembered between calls: a file that is put
there, changed or removed counts from then on. Knows no page and no session.
"""

from __future__ import annotations

import os
import re
import secrets
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from core.presets import BUILT_IN, Preset, PresetError, find_presets, load_preset, read_preset, read_text

FIRST = "rewrite"
"""The preset that stands first, as the one for any text."""
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,59}")
_NUMBERED = re.compile(r"(\d{4,8})\.yaml")

Origin = Literal["built-in", "own", "own in place of a built-in"]


class UnknownPreset(KeyError):
    """There is no preset, or no version of it, of this name."""

    def __str__(self) -> str:
        return str(self.args[0])


@dataclass(frozen=True)
class Listed:
    """A preset as the library lists it: the preset, or (None) why it can't be used and in which line."""

    name: str
    origin: Origin
    preset: Preset | None
    error: str = ""
    line: int | None = None

    @property
    def title(self) -> str:
        """What to call it."""
        return self.preset.title if self.preset else self.name


class PresetLibrary(Mapping[str, Preset]):
    """The presets by name. As a mapping it holds those that can be used, `all` lists the broken ones too."""

    def __init__(self, home: Path, built_in: Path = BUILT_IN) -> None:
        self._own, self._built_in = home / "presets", built_in
        self._lock = threading.Lock()

    # -- reading ------------------------------------------------------------------------------

    def all(self) -> tuple[Listed, ...]:
        """Every preset, the one for any text first, then by title."""
        listed = [self._listed(name, path) for name, path in self._files().items()]
        return tuple(sorted(listed, key=lambda one: (one.name != FIRST, one.title.casefold(), one.name)))

    def _files(self) -> dict[str, Path]:
        return find_presets(self._own, self._built_in)

    def _listed(self, name: str, path: Path) -> Listed:
        origin: Origin = "built-in"
        if path.parent == self._own:
            origin = "own in place of a built-in" if name in find_presets(self._built_in) else "own"
        try:
            return Listed(name, origin, read_preset(path))
        except PresetError as error:
            return Listed(name, origin, None, str(error), error.line)

    def __getitem__(self, name: str) -> Preset:
        path = self._files().get(name)
        found = self._listed(name, path) if path else None
        if found is None or found.preset is None:
            raise UnknownPreset(found.error if found else f"There is no preset {name!r}.")
        return found.preset

    def __iter__(self) -> Iterator[str]:
        return iter([one.name for one in self.all() if one.preset])

    def __len__(self) -> int:
        return sum(1 for one in self.all() if one.preset)

    # -- versions -----------------------------------------------------------------------------

    def versions(self, name: str) -> tuple[int, ...]:
        """The numbers of its versions, oldest first; 0 is the one that comes with Redraft.

        Raises UnknownPreset.
        """
        if found := self._numbered(name):
            return tuple(sorted(found))
        raise UnknownPreset(f"There is no preset {name!r}.")

    def text_of(self, name: str, version: int | None = None) -> str:
        """The text of that version, or of the one in use, also where it can't be used.

        Raises UnknownPreset; PresetError where the file can't be read.
        """
        path = self._files().get(name) if version is None else self._numbered(name).get(version)
        if path is None:
            which = "" if version is None else f" in version {version}"
            raise UnknownPreset(f"There is no preset {name!r}{which}.")
        return read_text(path)

    def _numbered(self, name: str) -> dict[int, Path]:
        """The file of each version."""
        built_in, own, older = find_presets(self._built_in).get(name), self._current(name), self._older(name)
        newest = {max(older, default=0) + 1: own} if own else {}
        return ({0: built_in} if built_in else {}) | older | newest

    def _current(self, name: str) -> Path | None:
        return find_presets(self._own).get(name)

    def _older(self, name: str) -> dict[int, Path]:
        folder = self._own / "versions" / name
        paths = folder.iterdir() if _NAME.fullmatch(name) and folder.is_dir() else iter(())
        return {int(found[1]): path for path in paths if (found := _NUMBERED.fullmatch(path.name))}

    def changed_since(self, text: str) -> str | None:
        """What the preset of this text's name reads now; None where it still reads so or is there no more."""
        try:
            name = load_preset(text).name
            now = self.text_of(name)
        except (PresetError, UnknownPreset):
            return None
        return None if text == now or any(text == preset.text for preset in self.values()) else now

    # -- saving -------------------------------------------------------------------------------

    def save(self, name: str, text: str) -> int:
        """Keep this text as the newest version, after it has been checked; returns the version's number.

        Raises PresetError, also for a name that is no plain name or is not the preset's own.
        """
        if not _NAME.fullmatch(name):
            problem = "a preset's name is made of small letters, digits, - and _, at most sixty of them."
            raise PresetError(name, None, problem)
        said = load_preset(text, f"{name}.yaml").name
        if said != name:
            problem = f'"name" is {said!r} here, but it is saved as {name!r}. Make them the same.'
            raise PresetError(f"{name}.yaml", _line_of_name(text), problem)
        with self._lock:
            return self._keep(name, text)

    def _keep(self, name: str, text: str) -> int:
        before, in_use = self._current(name), self._files().get(name)
        content = text.encode("utf-8")
        if in_use is None or in_use.read_bytes() != content:
            if before is not None:
                self._put_by(name, before)
            _write(self._own / f"{name}.yaml", content)
            if before is not None and before.suffix != ".yaml":
                before.unlink()
        return next(number for number, path in self._numbered(name).items() if path == self._files()[name])

    def _put_by(self, name: str, path: Path) -> None:
        """Keep a copy of the file as the next older version."""
        older = self._older(name)
        content = path.read_bytes()
        if older and older[max(older)].read_bytes() == content:
            return  # A save that was broken off had come so far.
        _write(self._own / "versions" / name / f"{max(older, default=0) + 1:04}.yaml", content)


def _line_of_name(text: str) -> int | None:
    found = re.search(r"^name\s*:", text, re.M)
    return text.count("\n", 0, found.start()) + 1 if found else None


def _write(path: Path, content: bytes) -> None:
    """The file with this content, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        with new.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        new.replace(path)
    finally:
        new.unlink(missing_ok=True)
