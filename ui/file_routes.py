"""Sessions as files, out of the history and into it: exports, imports, training data.

Knows no widget. Errors come back as {"error": words} for the place where the person is looking.
"""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path, PurePath
from typing import Any, BinaryIO

from fastapi import APIRouter, Request, Response
from fastapi.responses import FileResponse, JSONResponse, StreamingResponse
from starlette.background import BackgroundTask

from core.importing.receiving import Source, receive
from core.interchange import Archive, ImportProblem
from core.listing import Chosen
from core.sessions import StoreBusy, UnknownSession
from core.step_table import step_table
from ui.history_filter import BadFilter, chosen_of, number_in

LARGEST_FILE = 100 * 1024 * 1024
TOO_LARGE = (
    f"The file is larger than {LARGEST_FILE // 1024 // 1024} MB. Nothing was imported. "
    "`python app.py history import FILE` takes files of any size."
)
MOST_TRAINED = 5000
TOO_MANY = (
    f"Training data is made here of {MOST_TRAINED:,} sessions at most. Choose fewer by a filter, or use "
    "`python app.py history training`, which shows how far it is."
)
FILE_TYPES = {"jsonl": "application/jsonl", "csv": "text/csv; charset=utf-8"}
View = dict[str, Any]


class NothingToLearn(Exception):
    """No row came out; says why."""


def file_routes(archive: Archive) -> APIRouter:
    """The routes of files."""
    router = APIRouter(prefix="/api/history")

    @router.get("/export")
    async def export(request: Request) -> Response:
        query = request.query_params
        form = "csv" if query.get("form") == "csv" else "jsonl"
        try:
            chosen = chosen_of(query)
            lines = await asyncio.to_thread(_lines, archive, chosen, form)
        except (BadFilter, UnknownSession) as refusal:
            # A status that makes a browser's download fail rather than keep the words as a file.
            return JSONResponse({"error": str(refusal)}, status_code=400)
        headers = {"Content-Disposition": f'attachment; filename="redraft-sessions.{form}"'}
        return StreamingResponse(lines, media_type=FILE_TYPES[form], headers=headers)

    @router.post("/import")
    async def take(request: Request, name: str, model: str = "") -> JSONResponse:
        with tempfile.TemporaryFile() as stream:
            size = 0
            async for chunk in request.stream():
                size += len(chunk)
                if size > LARGEST_FILE:
                    return JSONResponse({"error": TOO_LARGE}, status_code=413)
                stream.write(chunk)
            stream.seek(0)
            return JSONResponse(await asyncio.to_thread(_take, archive, stream, name, model))

    @router.get("/training")
    async def training(request: Request) -> Response:
        folder = Path(tempfile.mkdtemp(prefix="redraft-training-"))
        try:
            path, said = await asyncio.to_thread(_trained, archive, request.query_params, folder)
        except (BadFilter, NothingToLearn, UnknownSession) as refusal:
            shutil.rmtree(folder)
            return JSONResponse({"error": str(refusal)})
        headers = {"Redraft-Said": said}
        done = BackgroundTask(shutil.rmtree, folder)
        return FileResponse(path, filename=path.name, headers=headers, background=done)

    return router


def _lines(archive: Archive, chosen: Chosen, form: str) -> Iterator[str]:
    """All that is chosen as lines: a table, or a file that can be imported. Raises UnknownSession."""
    return step_table(archive.kept(chosen)) if form == "csv" else archive.file(chosen)


def _take(archive: Archive, stream: BinaryIO, name: str, model: str) -> View:
    """What was imported, or the words of why nothing was."""
    try:
        kind, received = receive(archive, stream, Source(PurePath(name).name or "file", model=model.strip()))
    except (ImportProblem, StoreBusy) as refusal:
        return {"error": str(refusal)}
    return {"kind": kind, **asdict(received)}


# -- training data --------------------------------------------------------------------------------


def _trained(archive: Archive, query: Mapping[str, str], folder: Path) -> tuple[Path, str]:
    """A data set as a packed folder, and what it holds in words. Raises BadFilter, NothingToLearn."""
    # Brings numpy along, which nothing else here needs.
    from core.training.building import Plan, build
    from core.training.evidence import Evidence
    from core.training.picking import examples_of
    from core.training.writing import write

    kind, chosen = _kind(query), chosen_of(query)
    if archive.count(chosen) > MOST_TRAINED:
        raise BadFilter(TOO_MANY)
    evidence = Evidence(
        accepted=query.get("accepted") == "1",
        verifier=query.get("verifier") == "1",
        scorer=query.get("scorer") or None,
        threshold=number_in(query, "threshold"),
        margin=number_in(query, "margin") or 0.0,
        by_person=query.get("by_person") == "1",
    )
    plan = Plan(kind, held_out=_share(query))
    data = build(
        (each for kept in archive.kept(chosen) for each in examples_of(kept.session, kind, evidence)), plan
    )
    if not data.rows:
        raise NothingToLearn(f"There is nothing to learn from here. {data.left_out()}")
    name = f"redraft-{kind}"
    write(data, folder / name, {"filter": dict(query), **asdict(evidence)})
    packed = shutil.make_archive(str(folder / name), "zip", folder, name)
    return Path(packed), data.told()


def _kind(query: Mapping[str, str]) -> Any:
    kind = query.get("kind", "")
    if kind not in ("sft", "dpo", "gsr"):
        raise BadFilter("Training data is of the kind sft, dpo or gsr.")
    return kind


def _share(query: Mapping[str, str]) -> float:
    value = number_in(query, "held_out")
    if value is None:
        return 0.1
    if not 0 <= value < 1:
        raise BadFilter("The share that is held out is from 0 to below 1.")
    return value
