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
from typing import IO, TYPE_CHECKING, Any, BinaryIO

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse, StreamingResponse
from pydantic import BaseModel, Field
from starlette.requests import ClientDisconnect

from core.importing.receiving import Source, receive
from core.importing.tables import SCORER
from core.interchange import Archive, ImportProblem
from core.listing import Chosen
from core.scoring.catalog import SCORERS
from core.sessions import StoreBusy, UnknownSession
from core.step_table import step_table
from core.training.evidence import Evidence
from core.training.examples import Kind
from ui.history_filter import BadFilter, chosen_of, filter_alone

if TYPE_CHECKING:
    from core.training.building import DataSet

LARGEST_FILE = 100 * 1024 * 1024
TOO_LARGE = (
    f"The file is larger than {LARGEST_FILE // 1024 // 1024} MB. Nothing was imported. "
    "`python app.py history import FILE` takes larger ones."
)
MOST_TRAINED = 5000
TOO_MANY = (
    f"Training data is made here of {MOST_TRAINED:,} sessions at most. Choose fewer by a filter, or use "
    "`python app.py history training`, which shows how far it is."
)
FILE_TYPES = {"jsonl": "application/jsonl", "csv": "text/csv; charset=utf-8"}
SCORES = (*SCORERS, SCORER)
View = dict[str, Any]


class NotMade(Exception):
    """No training data came out; says why."""


class Training(BaseModel):
    """Which training data is asked for: of `ids`, or (none given) of all that the filter lets through."""

    kind: Kind
    ids: list[str] | None = None
    filter: dict[str, str] = Field({}, max_length=30)
    accepted: bool = False
    verifier: bool = False
    by_person: bool = False
    scorer: str = ""
    threshold: float | None = None
    margin: float = 0.0
    held_out: float = Field(0.1, ge=0, lt=1)

    def chosen(self) -> Chosen:
        """The sessions. Raises BadFilter."""
        return Chosen(None, filter_alone(self.filter)) if self.ids is None else Chosen(tuple(self.ids))

    def evidence(self) -> Evidence:
        """What counts as a reason. Raises BadFilter."""
        if self.scorer and self.scorer not in SCORES:
            raise BadFilter(f"There is no score {self.scorer!r}; there are {', '.join(SCORES)}.")
        if self.threshold is not None and not self.scorer:
            raise BadFilter("A threshold is one of a score: choose which.")
        scorer = self.scorer or None
        return Evidence(self.accepted, self.verifier, scorer, self.threshold, self.margin, self.by_person)


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
            try:
                whole = await _copied(request, stream)
            except ClientDisconnect:  # nobody hears the answer
                return JSONResponse({"error": "The file did not come whole. Nothing was imported."})
            if not whole:
                return JSONResponse({"error": TOO_LARGE}, status_code=413)
            return JSONResponse(await asyncio.to_thread(_take, archive, stream, name, model))

    @router.post("/training")
    async def training(asked: Training) -> Response:
        try:
            packed, said = await asyncio.to_thread(_trained, archive, asked)
        except (BadFilter, NotMade, UnknownSession) as refusal:
            return JSONResponse({"error": str(refusal)})
        name = f'attachment; filename="redraft-{asked.kind}.zip"'
        headers = {"Redraft-Said": said, "Content-Disposition": name}
        return Response(packed, media_type="application/zip", headers=headers)

    return router


async def _copied(request: Request, stream: IO[bytes]) -> bool:
    """Copy the body, which is then at its beginning; whether it is small enough. Raises ClientDisconnect."""
    size = 0
    async for chunk in request.stream():
        size += len(chunk)
        if size > LARGEST_FILE:
            return False
        stream.write(chunk)
    stream.seek(0)
    return True


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


def _trained(archive: Archive, asked: Training) -> tuple[bytes, str]:
    """A data set as a packed folder, and what it holds in words.

    Raises BadFilter, NotMade, UnknownSession.
    """
    # Brings numpy along, which nothing else here needs.
    from core.training.building import Plan, build
    from core.training.picking import examples_of

    chosen, evidence = asked.chosen(), asked.evidence()
    if archive.count(chosen) > MOST_TRAINED:
        raise BadFilter(TOO_MANY)
    sessions = (kept.session for kept in archive.kept(chosen))
    examples = (each for session in sessions for each in examples_of(session, asked.kind, evidence))
    data = build(examples, Plan(asked.kind, held_out=asked.held_out))
    if not data.rows:
        raise NotMade(f"There is nothing to learn from here. {data.left_out()}")
    told = {"filter": asked.filter, "ids": len(asked.ids or ()), "evidence": asdict(evidence)}
    return _packed(data, told), data.told()


def _packed(data: DataSet, told: Mapping[str, Any]) -> bytes:
    from core.training.writing import FolderTaken, write

    with tempfile.TemporaryDirectory(prefix="redraft-training-") as place:
        folder = Path(place) / f"redraft-{data.plan.kind}"
        try:
            write(data, folder, told)
        except FolderTaken as error:
            raise NotMade(str(error)) from error
        return Path(shutil.make_archive(str(folder), "zip", place, folder.name)).read_bytes()
