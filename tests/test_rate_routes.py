"""The raters' routes over HTTP: the blind, the forged, the many at once, and a server that is killed."""

from __future__ import annotations

import asyncio
import json
import re
import signal
import uuid
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from app import raters_port
from core.studies.material import Entry
from core.studies.monitor import monitor
from core.studies.protocol import StudyProtocol
from storage.database import open_database
from storage.study_store import SqlStudyStore
from tests.rate_server import Served, serve, stop
from tests.studies import OWNER, House, entries
from ui.cli.grammar import parser
from ui.guard import Guard
from ui.rate import FILES, WEB
from ui.rate_routes import COOKIE, rate_app, rate_routes

ROOT = Path(__file__).parent.parent
LIGHTEST = 30_000
"""Bytes of the page with its first pair: the promise to a slow phone."""


@pytest.fixture
def house(tmp_path: Path) -> House:
    return House(tmp_path)


@dataclass
class Phone:
    """A rater's browser: a cookie jar, and everything that it ever received."""

    web: TestClient
    received: list[str]

    def get(self, path: str) -> Any:
        return self._seen(self.web.get(path))

    def post(self, path: str, body: object, **headers: str) -> Any:
        sent = {"content-type": "application/json", **headers}
        return self._seen(self.web.post(path, content=json.dumps(body), headers=sent))

    def _seen(self, answer: Any) -> Any:
        self.received.append(f"{answer.headers} {answer.text}")
        return answer

    def enter(self, token: str) -> dict[str, Any]:
        self.get(f"/r/{token}")
        return self.now()

    def now(self) -> dict[str, Any]:
        found: dict[str, Any] = self.get("/rate/now").json()
        return found

    def vote(self, view: dict[str, Any], choice: str = "left", **more: object) -> Any:
        body = {"pair": view["pair"]["token"], "id": uuid.uuid4().hex, "choice": choice, **more}
        return self.post("/rate/answer", body)


def phone(house: House) -> Phone:
    return Phone(TestClient(rate_app(house.store), follow_redirects=False), [])


def refusals(house: House, study: str) -> list[dict[str, object]]:
    """What the study's log says of refused posts."""
    return [dict(event.detail) for event in house.studies.events(study) if event.kind == "refused"]


# -- links and cookies ---------------------------------------------------------------------------


def test_a_link_becomes_a_cookie_that_no_script_and_no_other_site_gets(house: House) -> None:
    (token,) = house.raters(house.open(), 1)
    answer = phone(house).get(f"/r/{token}")
    assert answer.status_code == 303 and answer.headers["location"] == "/rate/"
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie and "samesite=strict" in cookie and "path=/rate" in cookie
    assert "secure" not in cookie  # on plain HTTP it would never come back
    far = TestClient(rate_app(house.store), base_url="https://rate.example.org", follow_redirects=False)
    assert "secure" in far.get(f"/r/{token}").headers["set-cookie"].lower()


def test_looking_at_a_link_for_everybody_makes_no_rater_and_entering_makes_one(house: House) -> None:
    study = house.open()
    token = house.studies.open_link(study, OWNER)
    one = phone(house)
    assert one.get(f"/r/{token}").status_code == 200
    assert house.store.look(study, lambda desk: desk.count_raters()) == 0
    first = one.post("/rate/enter", {"token": token}).json()
    again = one.post("/rate/enter", {"token": token}).json()
    assert first["pair"] == again["pair"] and first["state"] == "pair"
    assert house.store.look(study, lambda desk: desk.count_raters()) == 1


def test_a_platforms_person_is_known_again_and_told_from_another_at_one_device(house: House) -> None:
    token = house.studies.open_link(house.open(), OWNER)
    one, other = phone(house), phone(house)
    first = one.post("/rate/enter", {"token": token, "crowd": {"PROLIFIC_PID": "p1"}}).json()
    elsewhere = other.post("/rate/enter", {"token": token, "crowd": {"PROLIFIC_PID": "p1"}}).json()
    assert elsewhere["pair"] == first["pair"]
    next_person = one.post("/rate/enter", {"token": token, "crowd": {"PROLIFIC_PID": "p2"}}).json()
    assert next_person["pair"]["token"] != first["pair"]["token"]


@pytest.mark.parametrize("path", ["/r/unknown", "/rate/now"])
def test_who_has_no_link_sees_nothing(house: House, path: str) -> None:
    house.open()
    stranger = phone(house)
    answer = stranger.get(path)
    assert answer.status_code == 404
    assert stranger.post("/rate/enter", {"token": "unknown"}).json()["kind"] == "link"


def test_the_whole_page_with_its_first_pair_is_light(house: House) -> None:
    (token,) = house.raters(house.open(), 1)
    one = phone(house)
    view = one.enter(token)
    sizes = {name: len(one.get(f"/rate/{name}").content) for name in FILES}
    assert sum(sizes.values()) + len(json.dumps(view)) <= LIGHTEST, sizes
    page = one.get("/rate/")
    unchanged = one.web.get("/rate/", headers={"if-none-match": page.headers["etag"]})
    assert (unchanged.status_code, unchanged.content) == (304, b"")


def test_the_page_asks_nothing_of_other_hosts_and_runs_no_inline_script(house: House) -> None:
    texts = [(WEB / path).read_text(encoding="utf-8") for path, _ in FILES.values()]
    assert not any("http://" in text or "https://" in text or "innerHTML" in text for text in texts)
    policy = phone(house).get("/rate/").headers["content-security-policy"]
    assert "default-src 'none'" in policy and "unsafe" not in policy


def test_behind_the_apps_guard_the_page_keeps_its_stricter_policy(house: House) -> None:
    app = FastAPI()
    app.add_middleware(Guard)
    app.include_router(rate_routes(house.store))
    answer = TestClient(app).get("/rate/")
    assert "unsafe-eval" not in answer.headers["content-security-policy"]
    assert answer.text == (WEB / "rate.html").read_text(encoding="utf-8")


# -- answering ------------------------------------------------------------------------------------


def test_reload_and_a_second_device_show_the_same_pair_on_the_same_sides(house: House) -> None:
    (token,) = house.raters(house.open(), 1)
    one, other = phone(house), phone(house)
    assert one.enter(token)["pair"] == one.now()["pair"] == other.enter(token)["pair"]


def test_a_vote_sent_twice_is_one_and_undo_brings_its_pair_back(house: House) -> None:
    study = house.open()
    (token,) = house.raters(study, 1)
    one = phone(house)
    view = one.enter(token)
    body = {"pair": view["pair"]["token"], "id": uuid.uuid4().hex, "choice": "left"}
    first, again = one.post("/rate/answer", body), one.post("/rate/answer", body)
    assert first.status_code == again.status_code == 200
    assert first.json()["pair"] == again.json()["pair"] != view["pair"]
    assert monitor(house.store, study).votes == 1
    undone = one.post("/rate/undo", {"id": uuid.uuid4().hex}).json()
    assert undone["pair"] == view["pair"] and monitor(house.store, study).votes == 0


def test_consent_strength_criteria_reason_and_closing_arrive(house: House) -> None:
    protocol = StudyProtocol(
        consent="You may stop at any time.",
        criteria=("Clear",),
        ask_strength=True,
        ask_reason=True,
        per_rater=1,
        completion_code="C-1",
        return_url="https://crowd.example/done?code={code}",
        closing_question="Which is newer?",
        closing_system="zeta-q4",
    )
    study = house.open(protocol)
    (token,) = house.raters(study, 1)
    one = phone(house)
    assert one.enter(token)["state"] == "consent"
    view = one.post("/rate/agree", {}).json()
    asked = one.vote(view, strength=2, criteria={"Clear": "right"}, reason="short", active_ms=1500).json()
    assert asked["state"] == "closing"
    done = one.post("/rate/close", {"guess": "left", "recognised": "nothing"}).json()
    assert (done["state"], done["completion_code"]) == ("done", "C-1")
    assert done["return_url"] == "https://crowd.example/done?code=C-1"
    (vote,) = house.store.look(study, lambda desk: desk.votes())
    ballot = vote.ballot
    assert (ballot.strength, ballot.criteria, ballot.reason) == (2, (("Clear", "right"),), "short")


# -- forged ---------------------------------------------------------------------------------------


def test_forged_posts_are_refused_and_logged(house: House) -> None:
    study = house.open()
    mine, theirs = house.raters(study, 2)
    one, other = phone(house), phone(house)
    view, foreign = one.enter(mine), other.enter(theirs)
    used = uuid.uuid4().hex
    assert one.vote(view, id=used).status_code == 200
    view = one.now()
    tried = [
        (one.vote(foreign), 403, "foreign"),
        (one.vote({"pair": {"token": "guessed"}}), 403, "foreign"),
        (one.vote(view, id=used), 409, "replay"),
        (one.vote(view, "zeta-q4"), 422, "form"),
        (one.vote(view, winner="zeta-q4"), 422, "form"),
        (one.vote(view, active_ms="long"), 422, "form"),
        (one.post("/rate/answer", [1]), 422, "form"),
        (one.post("/rate/answer", {}, **{"content-type": "text/plain"}), 422, "form"),
        (one.post("/rate/agree", {}, origin="https://evil.example"), 422, "form"),
        (one.post("/rate/agree", {}, **{"sec-fetch-site": "cross-site"}), 422, "form"),
        (one.post("/rate/undo", {"id": "x" * 200_000}), 422, "form"),
    ]
    assert [(a.status_code, a.json()["kind"]) for a, _, _ in tried] == [(s, k) for _, s, k in tried]
    assert [event["why"] for event in refusals(house, study)] == [kind for _, _, kind in tried]
    assert monitor(house.store, study).votes == 1


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/studies/",
        "/api/studies",
        "/config",
        "/rate/config",
        "/gradio_api/info",
        "/api/history",
        "/web/studies.js",
    ],
)
def test_where_raters_are_served_there_is_nothing_of_the_owner(house: House, path: str) -> None:
    study = house.open()
    (token,) = house.raters(study, 1)
    one = phone(house)
    one.enter(token)
    assert one.get(path).status_code == one.post(path, {"to": "unblinded"}).status_code == 404
    assert house.studies.study(study).status == "open"


def test_owners_routes_that_a_rater_tries_are_logged(house: House, tmp_path: Path) -> None:
    study = house.open()
    one = phone(house)
    one.post(f"/api/studies/{study}/step", {"to": "unblinded", "why": "curious"})
    engine = open_database(house.url)
    with engine.connect() as connection:
        rows = connection.exec_driver_sql("SELECT detail FROM study_event WHERE kind = 'refused'").all()
    assert [json.loads(row[0])["path"] for row in rows] == [f"/api/studies/{study}/step"]


# -- the canaries ---------------------------------------------------------------------------------

NAMES = ("canary-alpha-7f3a", "canary-beta-91cc")


def canary_items() -> list[Entry]:
    """Gold, attention and practice items too; keys, strata and sources are canaries like the names."""
    kinds = ("item", "item", "item", "item", "gold", "attention", "practice")
    return [
        Entry(
            f"canarykey{n}",
            f"Describe place {n}.",
            ((NAMES[0], f"It lies by the river, place {n}."), (NAMES[1], f"It lies on the hill, place {n}.")),
            stratum=f"canarystratum{n % 2}",
            kind=kind,  # type: ignore[arg-type]  # one of them, as is seen above
            expected=NAMES[0] if kind in ("gold", "attention") else "",
            source=f"canarysource{n}",
        )
        for n, kind in enumerate(kinds)
    ]


def test_nothing_that_a_rater_can_receive_tells_a_system_an_order_or_an_item(house: House) -> None:
    protocol = StudyProtocol(
        target=2,
        gold_share=0.1,
        attention_share=0.1,
        aliases=("canaryalias",),
        closing_question="Which is newer?",
        closing_system=NAMES[0],
        seed=987654321,
    )
    study = house.open(protocol, canary_items())
    phones = []
    for token in house.raters(study, 2):
        one = phone(house)
        one.enter(token)
        phones.append((one, token))
    for one, token in phones:
        _explore(one, token, phones)
    sent = "\n".join(text for one, _ in phones for text in one.received).lower()
    assert "it lies by the river" in sent and "one of yours" in sent and "which is newer" in sent
    masks = [system.mask for system in house.studies.contents(study).systems]
    secrets = ["canary", study, "zeta against omega", "987654321", "gold", "attention", "expected", "stratum"]
    secrets += [house.studies.study(study).sha256, *masks, OWNER]
    assert [secret for secret in secrets if secret.lower() in sent] == []


def _explore(one: Phone, token: str, phones: list[tuple[Phone, str]]) -> None:
    """Answer everything, and on the way try what a curious rater may try."""
    other = phones[0][0] if phones[0][0] is not one else phones[1][0]
    for _ in range(30):
        view = one.now()
        if view["state"] != "pair":
            break
        foreign = other.now()
        if foreign["pair"]:
            one.vote(foreign)
        for choice in (*NAMES, "model_a", "System A"):
            one.vote(view, choice)
        one.vote(view, winner=NAMES[0])
        for path in ("/rate/config", "/config", "/rate/now?study=1", "/api/studies", "/rate/answer", "/r/x"):
            one.get(path)
        one.post("/rate/close", {"guess": NAMES[0]})
        one.post("/rate/answer", "{not json")
        one.vote(view)
    for name in FILES:
        one.get(f"/rate/{name}")
    one.post("/rate/close", {"guess": "left", "recognised": "nothing"})
    one.enter(token)


def test_a_view_has_these_parts_and_no_others(house: House) -> None:
    (token,) = house.raters(house.open(StudyProtocol(), canary_items()), 1)
    view = phone(house).enter(token)
    assert set(view["pair"]) == {"token", "prompt", "left", "right", "practice"}
    assert set(view) == {
        "state", "message", "instructions", "consent", "question", "criteria", "choices", "ask_strength",
        "ask_reason", "progress", "pair", "can_undo", "completion_code", "return_url",
    }  # fmt: skip


# -- many at once, and a kill -----------------------------------------------------------------------


def test_a_hundred_at_once_lose_no_vote_and_pass_no_target(house: House) -> None:
    study = house.open(StudyProtocol(target=5), entries(40))
    tokens = house.raters(study, 100)
    acknowledged: list[str] = []

    async def rate(web: httpx.AsyncClient, token: str) -> None:
        headers = {"cookie": f"{COOKIE}={token}"}
        view = (await web.get("/rate/now", headers=headers)).json()
        while view["state"] == "pair":
            body = {"pair": view["pair"]["token"], "id": uuid.uuid4().hex, "choice": "left"}
            # Twice at the same moment, as an impatient hand or a retrying page sends it.
            posts = (web.post("/rate/answer", json=body, headers=headers) for _ in range(2))
            first, second = await asyncio.gather(*posts)
            assert (first.status_code, second.status_code) == (200, 200)
            acknowledged.append(body["pair"])
            view = first.json()

    async def all_of_them() -> None:
        transport = httpx.ASGITransport(rate_app(house.store))
        async with httpx.AsyncClient(transport=transport, base_url="http://rate", timeout=60) as web:
            await asyncio.gather(*(rate(web, token) for token in tokens))

    asyncio.run(all_of_them())
    votes = house.store.look(study, lambda desk: desk.votes())
    assert len(votes) == len(acknowledged) == len(set(acknowledged)) == 200
    assert set(Counter(vote.pairing for vote in votes).values()) == {5}
    assert monitor(house.store, study).side_gap == 1


@pytest.fixture
def served(house: House) -> Iterator[Served]:
    running = serve(house.url)
    yield running
    stop(running)


def test_every_vote_that_was_acknowledged_outlives_a_kill_in_mid_load(house: House, served: Served) -> None:
    study = house.open(StudyProtocol(target=20), entries(40))
    tokens = house.raters(study, 20)
    acknowledged: set[str] = set()
    unsure: dict[str, tuple[str, dict[str, str]]] = {}

    async def rate(web: httpx.AsyncClient, token: str) -> None:
        headers = {"cookie": f"{COOKIE}={token}"}
        try:
            view = (await web.get("/rate/now", headers=headers)).json()
            while view["state"] == "pair":
                body = {"pair": view["pair"]["token"], "id": uuid.uuid4().hex, "choice": "right"}
                unsure[body["id"]] = (token, body)
                view = (await web.post("/rate/answer", json=body, headers=headers)).json()
                del unsure[body["id"]]
                acknowledged.add(body["id"])
                if len(acknowledged) == 60:
                    served.process.send_signal(signal.SIGKILL)
        except httpx.TransportError:
            return

    async def all_of_them() -> None:
        async with httpx.AsyncClient(base_url=served.url, timeout=60) as web:
            await asyncio.gather(*(rate(web, token) for token in tokens))

    asyncio.run(all_of_them())
    assert len(acknowledged) >= 60 and unsure
    again = serve(house.url)
    try:
        kept = _kept(house.url, study)
        assert acknowledged <= kept
        # What was under way is sent again, as the page does: kept once, whether or not it had arrived.
        for token, body in unsure.values():
            answer = httpx.post(
                f"{again.url}/rate/answer", json=body, headers={"cookie": f"{COOKIE}={token}"}
            )
            assert answer.status_code == 200
        assert _kept(house.url, study) == acknowledged | set(unsure)
        assert monitor(house.store, study).votes == len(acknowledged) + len(unsure)
    finally:
        stop(again)


def _kept(url: str, study: str) -> set[str]:
    votes = SqlStudyStore(open_database(url)).look(study, lambda desk: desk.votes())
    return {vote.ballot.client_uuid for vote in votes}


def test_raters_have_a_port_of_their_own_with_nothing_of_the_owner(house: House) -> None:
    study = house.open()
    (token,) = house.raters(study, 1)
    args = parser().parse_args(["serve", "--rate-port", "0", "--rate-url", "https://rate.example.org/"])
    lines: list[str] = []
    with raters_port(house.store, args, lines.append) as address:
        assert address == "https://rate.example.org"
        (port,) = re.findall(r"port (\d+)", lines[0])
        url = f"http://127.0.0.1:{port}"
        assert httpx.get(f"{url}/api/studies").status_code == 404
        view = httpx.get(f"{url}/rate/now", headers={"cookie": f"{COOKIE}={token}"}).json()
        assert view["state"] == "pair"
    with pytest.raises(httpx.TransportError):
        httpx.get(f"{url}/rate/")
