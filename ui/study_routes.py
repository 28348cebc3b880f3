"""The owner's routes: everything that the Studies page asks for and does.

They belong to the app that is served to its owner, never to that of the raters (ui/rate_routes.py). Errors
come back as {"error": words} for the place where the owner looks; nothing is half done.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel, Field

from core.sessions import StoreBusy, UnknownSession
from core.studies.battles import holds_votes, read_votes
from core.studies.desks import OwnerDesk, StudyStore
from core.studies.exports import ExportForm, export
from core.studies.figures import Undefined
from core.studies.from_sessions import from_recipes, from_sessions
from core.studies.imports import read_entries
from core.studies.leaks import LeakDecision
from core.studies.monitor import monitor
from core.studies.power import plan
from core.studies.protocol import BadStudy, StudyProtocol, read_protocol
from core.studies.records import Study, UnknownStudy
from core.studies.results import results
from core.studies.service import Studies
from core.workbench import Workbench
from ui import study_report, study_views

View = dict[str, Any]
LARGEST_FILE = 100_000_000
TOO_LARGE = f"This file has more than {LARGEST_FILE:,} bytes. Import it by `python app.py study import`."
MOST_LINKS = 2_000
SESSIONS = 100
FILES: Mapping[ExportForm, str] = {
    "csv": "votes.csv",
    "jsonl": "votes.jsonl",
    "fastchat": "battles.jsonl",
    "preferences": "preferences.jsonl",
    "protocol": "protocol.json",
    "report": "report.json",
}


class NewBody(BaseModel):
    """A study to make; `sessions` go in at once, each as its first draft against its outcome."""

    name: str = Field(max_length=500)
    sessions: list[str] = Field([], max_length=10_000)


class ProtocolBody(BaseModel):
    """Settings of the protocol; those that are not named stay."""

    protocol: dict[str, Any]


class SessionsBody(BaseModel):
    """Sessions by their ids."""

    sessions: list[str] = Field(max_length=10_000)


class ArmsBody(BaseModel):
    """Sessions by the names of the arms that they belong to."""

    arms: dict[str, list[str]] = Field(max_length=100)


class LeakBody(BaseModel):
    """What to do about a name; without a number, about all that wait."""

    decision: LeakDecision
    leak: int | None = None


class StepBody(BaseModel):
    """Where the study is to go, and why."""

    to: Literal["open", "paused", "locked", "unblinded"]
    why: str = Field("", max_length=5_000)


class LinksBody(BaseModel):
    """Raters to make links for, by name; a name may be empty."""

    names: list[str] = Field(min_length=1, max_length=MOST_LINKS)


class MarkBody(BaseModel):
    """A rater, an item or a vote to leave out, and why."""

    target: Literal["rater", "item", "vote"]
    place: int
    why: str = Field(max_length=5_000)


class LiftBody(BaseModel):
    """A mark to lift."""

    mark: int


def study_routes(bench: Workbench, store: StudyStore, person: str, rate_address: str = "") -> APIRouter:
    """The routes; `rate_address` begins the raters' links where they have an address of their own."""
    routes = _Routes(bench, store, Studies(store), person, rate_address)
    router = APIRouter(prefix="/api/studies")
    for path, read in (
        ("", routes.listed),
        ("/sessions", routes.sessions),
        ("/{study}", routes.whole),
        ("/{study}/plan", routes.plan),
        ("/{study}/monitor", routes.monitor),
        ("/{study}/report", routes.report),
        ("/{study}/report.html", routes.report_file),
        ("/{study}/export", routes.export),
    ):
        router.add_api_route(path, read, methods=["GET"], response_model=None)
    for path, act in (
        ("", routes.new),
        ("/{study}/protocol", routes.protocol),
        ("/{study}/file", routes.file),
        ("/{study}/sessions", routes.add_sessions),
        ("/{study}/arms", routes.add_arms),
        ("/{study}/leak", routes.leak),
        ("/{study}/step", routes.step),
        ("/{study}/links", routes.links),
        ("/{study}/open-link", routes.open_link),
        ("/{study}/exclude", routes.exclude),
        ("/{study}/readmit", routes.readmit),
    ):
        router.add_api_route(path, act, methods=["POST"], response_model=None)
    return router


@dataclass(frozen=True)
class _Routes:
    bench: Workbench
    store: StudyStore
    studies: Studies
    person: str
    rate_address: str

    # -- reading ---------------------------------------------------------------------------------

    async def listed(self) -> View:
        return await answered(lambda: {"studies": [study_views.row(one) for one in self.store.studies()]})

    async def sessions(self, q: str = "") -> View:
        """Sessions that have ended, to choose from."""

        def read() -> View:
            found = self.bench.store.recent(SESSIONS, None, query=q[:500])
            return {
                "sessions": [
                    {"id": s.id, "title": s.title, "model": s.model, "strategy": s.strategy}
                    for s in found
                    if s.ending
                ]
            }

        return await answered(read)

    async def whole(self, study: str) -> View:
        def read(desk: OwnerDesk) -> View:
            return study_views.whole(desk, self.rate_address)

        return await answered(lambda: self.store.look(study, read))

    async def plan(
        self, study: str, preference: float, power: float, per_rater: int, icc: float, ties: float
    ) -> View:
        def read() -> View:
            asked = self.store.look(study, lambda desk: study_views.whole(desk, "")["contents"]["pairings"])
            found = plan(preference, per_rater, icc=icc, tie_share=ties, power=power)
            if isinstance(found, Undefined):
                return {"error": f"{found.why[:1].upper()}{found.why[1:]}."}
            return study_views.planned(found, asked["asked"])

        return await answered(read)

    async def monitor(self, study: str) -> View:
        def read() -> View:
            def rest(desk: OwnerDesk) -> View:
                ids = {rater.code: rater.id for rater in desk.raters()}
                return {"marks": desk.marks(), "events": desk.events(), "ids": ids}

            # First the raters, who only become more, so that none of the monitor's is unknown.
            found = monitor(self.store, study)
            return study_views.progress(found, **self.store.look(study, rest))

        return await answered(read)

    async def report(self, study: str) -> View:
        return await answered(lambda: dict(study_report.view(results(self.store, study))))

    async def report_file(self, study: str) -> Response:
        return await _file(
            lambda: study_report.document(results(self.store, study)), "report.html", "text/html"
        )

    async def export(self, study: str, form: ExportForm) -> Response:
        media = "text/csv" if form == "csv" else "application/json"
        return await _file(lambda: export(self.store, study, form).text, FILES[form], media)

    # -- making ----------------------------------------------------------------------------------

    async def new(self, body: NewBody) -> View:
        def make() -> View:
            # Read before anything is made: a session without an outcome leaves no empty study behind.
            entries = from_sessions(self.bench, body.sessions)
            study = self.studies.new(body.name, StudyProtocol(), self.person)
            if entries:
                self.studies.add(study, entries, self.person, "session")
            return {"id": study}

        return await answered(make)

    async def protocol(self, study: str, body: ProtocolBody) -> View:
        def change() -> View:
            now = asdict(self.studies.study(study).protocol)
            self.studies.set_protocol(study, read_protocol({**now, **body.protocol}), self.person)
            self.studies.scan(study)
            return {}

        return await answered(change)

    async def file(self, request: Request, study: str, systems: str = "", limit: int | None = None) -> View:
        """Items, or votes from elsewhere, out of a file, which is the body."""
        content = bytearray()
        async for chunk in request.stream():
            content += chunk
            if len(content) > LARGEST_FILE:
                return {"error": TOO_LARGE}
        return await answered(lambda: self._add_file(study, bytes(content), systems, limit))

    def _add_file(self, study: str, data: bytes, systems: str, limit: int | None) -> View:
        if holds_votes(data):
            votes = self.studies.add_votes(study, read_votes(data), self.person)
            return {"what": "votes", "new": votes.new, "repeated": votes.repeated, "notes": []}
        names = [name.strip() for name in systems.split(",") if name.strip()]
        read = read_entries(data, names, limit if limit and limit > 0 else None)
        items = self.studies.add(study, read.entries, self.person, "row")
        return {"what": "items", "new": items.new, "repeated": items.repeated, "notes": list(read.notes)}

    async def add_sessions(self, study: str, body: SessionsBody) -> View:
        def put() -> View:
            entries = from_sessions(self.bench, body.sessions)
            added = self.studies.add(study, entries, self.person, "session")
            return {"what": "items", "new": added.new, "repeated": added.repeated, "notes": []}

        return await answered(put)

    async def add_arms(self, study: str, body: ArmsBody) -> View:
        def put() -> View:
            entries = from_recipes(self.bench, body.arms)
            added = self.studies.add(study, entries, self.person, "session")
            return {"what": "items", "new": added.new, "repeated": added.repeated, "notes": []}

        return await answered(put)

    async def leak(self, study: str, body: LeakBody) -> View:
        def decide() -> View:
            if body.leak is not None:
                self.studies.decide_leak(study, body.leak, body.decision, self.person)
                return {}
            # One after the other: to drop an item settles the other names in it.
            while waiting := [one for one in self.studies.leaks(study) if one.decision == "open"]:
                self.studies.decide_leak(study, waiting[0].id, body.decision, self.person)
            return {}

        if body.decision == "open":
            return {"error": "Redact, keep or drop it."}
        return await answered(decide)

    async def step(self, study: str, body: StepBody) -> View:
        def go() -> Study:
            if body.to == "open":
                self.studies.open(study, self.person)
            elif body.to == "unblinded":
                self.studies.unblind(study, self.person, body.why)
            else:
                {"paused": self.studies.pause, "locked": self.studies.lock}[body.to](
                    study, self.person, body.why
                )
            return self.studies.study(study)

        return await answered(lambda: study_views.row(go()))

    # -- raters ----------------------------------------------------------------------------------

    async def links(self, study: str, body: LinksBody) -> View:
        def make() -> View:
            made = self.studies.links(study, body.names, self.person)
            return {"links": [{"code": one.code, "name": one.name, "token": one.token} for one in made]}

        return await answered(make)

    async def open_link(self, study: str) -> View:
        return await answered(lambda: {"token": self.studies.open_link(study, self.person)})

    async def exclude(self, study: str, body: MarkBody) -> View:
        return await answered(
            lambda: {"mark": self.studies.exclude(study, body.target, body.place, body.why, self.person)}
        )

    async def readmit(self, study: str, body: LiftBody) -> View:
        def lift() -> View:
            self.studies.readmit(study, body.mark, self.person)
            return {}

        return await answered(lift)


async def answered(work: Callable[[], View]) -> View:
    """What the work gives, or the words of its refusal."""
    try:
        return await asyncio.to_thread(work)
    except (BadStudy, UnknownStudy, UnknownSession, StoreBusy) as refusal:
        return {"error": str(refusal).encode("utf-8", "replace").decode("utf-8")}


async def _file(make: Callable[[], str], name: str, media: str) -> Response:
    """A file to be saved, or the words of a refusal."""
    try:
        text = await asyncio.to_thread(make)
    except (BadStudy, UnknownStudy) as refusal:
        return JSONResponse({"error": str(refusal)}, status_code=409)
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(text.encode("utf-8", "replace"), media_type=media, headers=headers)
