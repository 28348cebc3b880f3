"""The routes of the preset editor, and what has changed in a preset since a session began with it.

Errors come back as {"error": words, "line": number or null} for the place where the person looks. A save
names the text that it is based on (`base`); one over a text that somebody saved meanwhile is refused.
"""

from __future__ import annotations

import asyncio
import hashlib
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel, Field

from core.domain import Task
from core.preset_editing import set_value
from core.preset_library import Listed, PresetLibrary, UnknownPreset
from core.preset_schema import LARGEST, PresetError
from core.presets import load_preset
from core.sessions import UnknownSession
from core.workbench import Workbench
from ui.diff_lines import diff_lines
from ui.preset_views import editor_view

LARGEST_FILE = 1_000_000
"""Bytes of the largest file that is looked at."""
LARGEST_TEXT = 5 * LARGEST
"""Characters of the longest text that is read far enough to say that it is too long."""
LARGEST_TASK = 20_000
UNREADABLE = "unreadable"
TOO_LARGE = f"This file has more than {LARGEST_FILE:,} bytes, so it is no preset. Nothing was imported."
MOVED_ON = (
    "{name} was changed since you opened it: {which} is in use now. Nothing was saved. Look at what differs, "
    "then save over it or go back to it."
)
EXISTS = "There is already a preset {name}. Nothing was saved. Give yours another name, or save over it."

View = dict[str, Any]


class TaskBody(BaseModel):
    """The task of a preview."""

    input: str = Field("", max_length=LARGEST_TASK)
    instruction: str = Field("", max_length=LARGEST_TASK)
    reference: str = Field("", max_length=LARGEST_TASK)
    target: str = Field("", max_length=LARGEST_TASK)


class PreviewBody(BaseModel):
    """A text of a preset; without a task it is shown for its own example."""

    text: str = Field(max_length=LARGEST_TEXT)
    task: TaskBody | None = None


class ValueBody(BaseModel):
    """A value to put into the text."""

    text: str = Field(max_length=LARGEST_TEXT)
    path: list[str | int] = Field(max_length=5)
    value: str = Field(max_length=LARGEST_TASK)


class SaveBody(BaseModel):
    """A text to keep; `base` is the mark of the text it was made from, "" for a new preset."""

    text: str = Field(max_length=LARGEST_TEXT)
    base: str = Field("", max_length=100)


class DiffBody(BaseModel):
    """Two texts to compare."""

    old: str = Field(max_length=LARGEST_TEXT)
    new: str = Field(max_length=LARGEST_TEXT)


def preset_routes(bench: Workbench, library: PresetLibrary) -> APIRouter:
    """The routes of the editor and of a session's preset."""
    routes = _Routes(bench, library)
    router = APIRouter()
    for path, read in (
        ("/api/presets", routes.listed),
        ("/api/presets/text", routes.text),
        ("/api/presets/file", routes.file),
        ("/api/sessions/{session_id}/preset-changes", routes.changes),
    ):
        router.add_api_route(path, read, methods=["GET"], response_model=None)
    for path, act in (
        ("/api/presets/preview", routes.preview),
        ("/api/presets/value", routes.value),
        ("/api/presets/diff", routes.diff),
        ("/api/presets/save", routes.save),
        ("/api/presets/import", routes.take),
    ):
        router.add_api_route(path, act, methods=["POST"], response_model=None)
    return router


@dataclass(frozen=True)
class _Routes:
    bench: Workbench
    presets: PresetLibrary
    saving: threading.Lock = field(default_factory=threading.Lock)

    # -- reading ----------------------------------------------------------------------------

    async def listed(self) -> View:
        return await _answer(lambda: {"presets": [_row(one) for one in self.presets.all()]})

    async def text(self, name: str, version: int | None = None) -> View:
        return await _answer(lambda: self._opened(name, version))

    def _opened(self, name: str, version: int | None) -> View:
        listed = next((one for one in self.presets.all() if one.name == name), None)
        known = {
            "name": name,
            "origin": listed.origin if listed else "",
            "versions": self.presets.versions(name),
            "base": _mark(self.presets, name),
        }
        try:
            return {**known, "text": self.presets.text_of(name, version)}
        except PresetError as error:
            return {**known, "text": "", **_refusal(error)}

    async def file(self, name: str, version: int | None = None) -> Response:
        try:
            text = await asyncio.to_thread(self.presets.text_of, name, version)
        except (UnknownPreset, PresetError) as refusal:
            return JSONResponse(_refusal(refusal), status_code=404)
        saved = f"{name}.yaml" if version is None else f"{name}-{version}.yaml"
        # A name on disk may hold anything; only what the library itself would give is put into a header.
        plain = (
            saved
            if saved.isascii() and saved.isprintable() and not set(saved) & set('"\\;')
            else "preset.yaml"
        )
        headers = {"Content-Disposition": f'attachment; filename="{plain}"'}
        return Response(text.encode("utf-8"), media_type="application/yaml", headers=headers)

    async def changes(self, session_id: str) -> View:
        """What the preset of this session reads now, against the text the session keeps."""

        def compare() -> View:
            kept = self.bench.store.load(session_id).recipe.preset
            now = self.presets.changed_since(kept)
            lines = diff_lines(kept, now) if now is not None else []
            return {"name": load_preset(kept).name, "changed": bool(lines), "lines": lines}

        return await _answer(compare)

    # -- editing ----------------------------------------------------------------------------

    async def preview(self, body: PreviewBody) -> View:
        task = Task(**body.task.model_dump()) if body.task else None
        return await _answer(lambda: editor_view(body.text, task))

    async def value(self, body: ValueBody) -> View:
        return await _answer(lambda: {"text": set_value(body.text, tuple(body.path), body.value)})

    async def diff(self, body: DiffBody) -> View:
        return await _answer(lambda: {"lines": diff_lines(body.old, body.new)})

    async def save(self, body: SaveBody) -> View:
        return await _answer(lambda: self._save(body))

    def _save(self, body: SaveBody) -> View:
        name = load_preset(body.text).name
        with self.saving:
            base = _mark(self.presets, name)
            if base and base != body.base:
                return self._conflict(name, base, body.base)
            version = self._kept(name, body.text)
        return {"name": name, "version": version, "base": _mark(self.presets, name)}

    def _kept(self, name: str, text: str) -> int:
        try:
            return self.presets.save(name, text)
        except OSError as error:
            raise PresetError(name, None, f"the file can't be written ({error.strerror}).") from None

    def _conflict(self, name: str, base: str, based_on: str) -> View:
        newest = self.presets.versions(name)[-1]
        which = f"version {newest}" if newest else "the one that comes with Redraft"
        words = (MOVED_ON if based_on else EXISTS).format(name=name, which=which)
        return {"error": words, "line": None, "conflict": {"name": name, "base": base}}

    async def take(self, request: Request) -> View:
        """Check a file that a person brings; it is kept only when they save it."""
        content = b""
        async for chunk in request.stream():
            content += chunk
            if len(content) > LARGEST_FILE:
                return {"error": TOO_LARGE, "line": None}
        return await _answer(lambda: self._taken(content))

    def _taken(self, content: bytes) -> View:
        try:
            text = content.decode("utf-8")
        except UnicodeDecodeError as error:
            line = content.count(b"\n", 0, error.start) + 1
            raise PresetError("the file", line, "this is not UTF-8 text. Save the file as UTF-8.") from None
        name = load_preset(text, "the file").name
        return {"name": name, "text": text, "exists": bool(_mark(self.presets, name))}


def _mark(library: PresetLibrary, name: str) -> str:
    """A mark of the text that is in use under this name, "" where there is none."""
    try:
        return hashlib.sha256(library.text_of(name).encode("utf-8", "replace")).hexdigest()[:16]
    except UnknownPreset:
        return ""
    except PresetError:
        return UNREADABLE


def _row(one: Listed) -> View:
    description = one.preset.description if one.preset else ""
    return {
        "name": _plain(one.name),
        "title": _plain(one.title),
        "origin": one.origin,
        "description": description,
        "error": _plain(one.error),
        "line": one.line,
    }


async def _answer(work: Callable[[], View]) -> View:
    """What the work gives, or the words of its refusal with the line."""
    try:
        return await asyncio.to_thread(work)
    except (PresetError, UnknownPreset, UnknownSession) as refusal:
        return _refusal(refusal)


def _refusal(refusal: Exception) -> View:
    return {"error": _plain(str(refusal)), "line": getattr(refusal, "line", None)}


def _plain(words: str) -> str:
    """Words that can be sent: a file's own may hold halves of characters."""
    return words.encode("utf-8", "replace").decode("utf-8")
