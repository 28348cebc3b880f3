"""The owner's routes over HTTP: a study from its making to its report, and what is told when."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from core.studies.blinding import RaterView
from core.studies.material import Entry
from core.studies.protocol import StudyProtocol
from core.studies.records import Answered
from tests.benches import Bench
from tests.studies import OWNER, House, ballot, entries
from tests.test_study_sessions import SCORES, TEXTS, finished
from ui.guard import Guard, refuse_plainly
from ui.study_routes import study_routes

HOSTILE = "<img src=x onerror=alert(1)> & \"'"
NAMES = ("zeta-q4", "omega-f16")
CSV = "id,prompt,zeta-q4,omega-f16\n1,One,A zeta-q4 text,Another\n2,Two,This,That\n"
Json = dict[str, Any]


@dataclass
class Client:
    """Asks the owner's routes; every answer is JSON."""

    web: TestClient
    house: House
    bench: Bench

    def get(self, path: str = "", **query: object) -> Json:
        found: Json = self.web.get(f"/api/studies{path}", params=query).json()  # type: ignore[arg-type]
        return found

    def post(self, path: str, body: object) -> Json:
        found: Json = self.web.post(f"/api/studies{path}", json=body).json()
        return found

    def bring(self, study: str, content: str) -> Json:
        found: Json = self.web.post(f"/api/studies/{study}/file", content=content.encode()).json()
        return found

    def text(self, path: str) -> str:
        answer = self.web.get(f"/api/studies{path}")
        assert answer.status_code == 200, answer.text
        return answer.text


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    house = House(tmp_path)
    bench = Bench(tmp_path, TEXTS, scores=SCORES)
    app = FastAPI()
    app.add_middleware(Guard)
    refuse_plainly(app)
    app.include_router(study_routes(bench, house.store, OWNER, "https://rate.example.org"))
    with TestClient(app) as web:
        yield Client(web, house, bench)


def prefers(name: str) -> Any:
    """A rater who finds the system of that name by a word of its texts."""
    word = {"zeta-q4": "river", "omega-f16": "meadow"}[name]

    def choose(view: RaterView) -> Answered:
        assert view.pair
        return "left" if word in view.pair.left else "right"

    return choose


# -- from the making to the report --------------------------------------------------------------------


def test_a_study_from_a_file_to_its_report(client: Client) -> None:
    study = client.post("", {"name": "mine"})["id"]
    assert client.bring(study, CSV) == {"what": "items", "new": 2, "repeated": 0, "notes": []}
    assert "Redact, keep or drop" in client.post(f"/{study}/step", {"to": "open"})["error"]
    (leak,) = client.get(f"/{study}")["leaks"]["shown"]
    assert client.post(f"/{study}/leak", {"leak": leak["id"], "decision": "redact"}) == {}
    changed = {"question": "Which is clearer?", "target": 2, "exclusions": [{"rule": "too_fast", "limit": 1}]}
    assert client.post(f"/{study}/protocol", {"protocol": changed}) == {}
    assert client.post(f"/{study}/step", {"to": "open"})["status"] == "open"
    whole = client.get(f"/{study}")
    assert whole["frozen"] and whole["protocol"]["question"] == "Which is clearer?"
    assert whole["rate_address"] == "https://rate.example.org"
    links = client.post(f"/{study}/links", {"names": ["Ann", ""]})["links"]
    for link in links:
        client.house.rate(link["token"], lambda view: "left")
    shown = client.get(f"/{study}/monitor")
    assert (shown["votes"], shown["wanted"], shown["left"]) == (4, 4, 4)
    assert client.post(f"/{study}/step", {"to": "locked"})["status"] == "locked"
    report = client.get(f"/{study}/report")
    assert report["masked"] and "4 votes" in report["summary"][0]
    assert "Say why" in client.post(f"/{study}/step", {"to": "unblinded"})["error"]
    client.post(f"/{study}/step", {"to": "unblinded", "why": "all are there"})
    assert not client.get(f"/{study}/report")["masked"]
    assert "zeta-q4" in client.text(f"/{study}/report.html")


def test_the_reports_numbers_are_those_of_a_hand_count(client: Client) -> None:
    study = client.house.open(StudyProtocol(target=3))
    zeta, zeta_too, omega = client.house.raters(study, 3)
    for token, name in ((zeta, NAMES[0]), (zeta_too, NAMES[0]), (omega, NAMES[1])):
        client.house.rate(token, prefers(name))
    client.post(f"/{study}/step", {"to": "locked"})
    client.post(f"/{study}/step", {"to": "unblinded", "why": "done"})
    tables = {table["title"]: table for table in client.get(f"/{study}/report")["sections"][0]["tables"]}
    assert tables["Votes of each pair"]["rows"] == [["omega-f16 over zeta-q4", "4", "8", "0", "0", "0"]]
    share = next(row for row in tables["Preferences"]["rows"] if row[1] == "dropped")
    assert share[2:4] == ["33.3 %", "13.8 % to 60.9 %"]  # 4 of 12
    sign = tables["Tests against no preference"]["rows"][0]
    assert sign[1] == "0.388"  # 2 * (1 + 12 + 66 + 220 + 495) / 4096
    assert tables["Win matrix"]["rows"] == [["omega-f16", "–", "4"], ["zeta-q4", "8", "–"]]
    assert dict(map(tuple, tables["Participant flow"]["rows"]))["answered"] == "3"


def test_nothing_tells_who_wins_before_the_lock_nor_names_before_the_unblinding(
    client: Client,
) -> None:
    study = client.house.open()
    (token,) = client.house.raters(study, 1)
    client.house.rate(token, prefers("zeta-q4"))
    assert "error" in client.get(f"/{study}/report")
    refused = client.web.get(f"/api/studies/{study}/export", params={"form": "csv"})
    assert (
        refused.status_code == 409 and client.web.get(f"/api/studies/{study}/report.html").status_code == 409
    )
    told = json.dumps([client.get(f"/{study}/monitor"), client.get(f"/{study}")["contents"]])
    assert not re.search(r"zeta|omega|System [AB]|winner|river", told.replace("zeta against omega", ""))
    client.post(f"/{study}/step", {"to": "locked"})
    shown = json.dumps([client.get(f"/{study}/report"), client.get(f"/{study}")["contents"]])
    shown += client.text(f"/{study}/report.html") + client.text(f"/{study}/export?form=csv")
    shown = shown.replace("zeta against omega", "")
    assert "System A" in shown and not re.search("zeta|omega|key-0|river", shown)


def test_a_rater_is_left_out_and_let_back_in_and_the_report_has_both(client: Client) -> None:
    study = client.house.open()
    for token, name in zip(client.house.raters(study, 2), NAMES, strict=True):
        client.house.rate(token, prefers(name))
    rater = client.get(f"/{study}/monitor")["raters"][0]
    mark = client.post(f"/{study}/exclude", {"target": "rater", "place": rater["id"], "why": "a colleague"})
    client.post(f"/{study}/step", {"to": "locked"})
    kept, every = client.get(f"/{study}/report")["sections"]
    assert [kept["tables"][1]["rows"][2][1], every["tables"][0]["rows"][2][1]] == ["4", "8"]
    assert client.post(f"/{study}/readmit", {"mark": mark["mark"]}) == {}
    assert len(client.get(f"/{study}/report")["sections"]) == 1


# -- where items come from ------------------------------------------------------------------------------


def test_a_session_becomes_a_study_with_one_post(client: Client) -> None:
    session = finished(client.bench)
    assert [one["id"] for one in client.get("/sessions")["sessions"]] == [session]
    study = client.post("", {"name": "From a session", "sessions": [session]})["id"]
    contents = client.get(f"/{study}")["contents"]
    assert contents["items"] == {"item": 1} and contents["names"] == ["first draft", "outcome"]


def test_a_session_without_an_outcome_leaves_no_empty_study(client: Client) -> None:
    answer = client.post("", {"name": "x", "sessions": [client.bench.new()]})
    assert "has no outcome" in answer["error"] and client.get()["studies"] == []


def test_a_bad_row_is_named_and_nothing_is_half_imported(client: Client) -> None:
    study = client.post("", {"name": "mine"})["id"]
    answer = client.bring(study, "id,prompt,a-sys,b-sys\n1,P,one,two\n1,P,one,three\n")
    assert "Nothing was added" in answer["error"]
    assert client.get(f"/{study}")["contents"]["items"] == {}


def test_battles_of_others_get_the_same_report(client: Client) -> None:
    study = client.post("", {"name": "arena"})["id"]
    rows = [
        {
            "question_id": n,
            "model_a": "x-model",
            "model_b": "y-model",
            "judge": f"j{n % 3}",
            "winner": "model_a" if n % 3 else "tie",
        }
        for n in range(9)
    ]
    battles = "\n".join(json.dumps(row) for row in rows)
    assert client.bring(study, battles)["what"] == "votes"
    assert client.get(f"/{study}")["steps"] == ["locked"]
    client.post(f"/{study}/step", {"to": "locked"})
    client.post(f"/{study}/step", {"to": "unblinded", "why": "imported"})
    tables = {table["title"]: table for table in client.get(f"/{study}/report")["sections"][0]["tables"]}
    # Which of the two is first goes by the masks, which are drawn.
    assert tables["Votes of each pair"]["rows"][0] in (
        ["x-model over y-model", "6", "0", "3", "0", "0"],
        ["y-model over x-model", "0", "6", "3", "0", "0"],
    )


def test_how_many_votes_are_needed(client: Client) -> None:
    study = client.house.draft()
    asked = {"preference": 0.6, "power": 0.8, "per_rater": 1, "icc": 0, "ties": 0}
    found = client.get(f"/{study}/plan", **asked)
    assert (found["decided"], found["votes"], found["pairings"], found["target"]) == (210, 210, 4, 53)
    assert "takes too many votes" in client.get(f"/{study}/plan", **{**asked, "preference": 0.5})["error"]


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("step", {"to": "open"}),
        ("links", {"names": ["x"]}),
        ("protocol", {"protocol": {}}),
    ],
)
def test_an_unknown_study_is_said(client: Client, path: str, body: Json) -> None:
    assert "There is no study 'unknown'" in client.post(f"/unknown/{path}", body)["error"]


# -- studies without an answer ------------------------------------------------------------------------------

Ballots = list[tuple[str, Answered]]


def closed(client: Client, ballots: Ballots, systems: tuple[str, ...] = NAMES) -> str:
    """A locked study in which raters r0, r1 … gave these answers, each to what it was shown."""
    house = client.house
    study = house.open(StudyProtocol(target=2), entries(4, systems))
    raters = sorted({rater for rater, _ in ballots})
    tokens = dict(zip(raters, house.raters(study, len(raters)), strict=True))
    for rater, choice in ballots:
        view = house.rating.view(tokens[rater])
        assert view.pair
        house.rating.vote(tokens[rater], view.pair.token, ballot(choice))
    house.studies.lock(study, OWNER)
    return study


@pytest.mark.parametrize(
    ("ballots", "why"),
    [
        ([], "there are no votes"),
        ([("r0", "tie")] * 4 + [("r1", "tie")] * 4, "every vote is a tie"),
        ([("r0", "skip")] * 4, "there are no votes"),
        ([("r0", "left")] * 4, "there is one rater"),
    ],
)
def test_what_votes_can_not_tell_is_undefined_with_the_reason(
    client: Client, ballots: Ballots, why: str
) -> None:
    _check_words(client, closed(client, ballots), why)


def test_raters_of_one_mind_and_an_undefeated_system_are_undefined(client: Client) -> None:
    study = client.house.open(StudyProtocol(target=2))
    for token in client.house.raters(study, 2):
        client.house.rate(token, prefers("zeta-q4"))
    client.house.studies.lock(study, OWNER)
    _check_words(client, study, "every vote is the same", r"System \w never lost")


def test_systems_that_never_met_are_not_ranked_against_each_other(client: Client) -> None:
    study = client.post("", {"name": "islands"})["id"]
    pairs = [("a-sys", "b-sys"), ("b-sys", "a-sys"), ("c-sys", "d-sys"), ("d-sys", "c-sys")]
    rows = [f"r{n % 2},{n},{a},{b},model_a" for n, (a, b) in enumerate(pairs * 2)]
    client.bring(study, "\n".join(["rater,item,system_a,system_b,winner", *rows]))
    client.post(f"/{study}/step", {"to": "locked"})
    report = client.get(f"/{study}/report")
    worths = next(t for t in report["sections"][0]["tables"] if "Davidson" in t["title"])
    assert worths["rows"][0][0].startswith("undefined:") and len(worths["rows"]) == 1


def _check_words(client: Client, study: str, *reasons: str) -> None:
    report = client.get(f"/{study}/report")
    tables = [table for section in report["sections"] for table in section["tables"]]
    words = " ".join(cell for table in tables for row in table["rows"] for cell in row)
    assert [reason for reason in reasons if not re.search(f"undefined: {reason}", words)] == [], words
    files = client.text(f"/{study}/report.html") + client.text(f"/{study}/export?form=report")
    assert not re.search(r"\b(nan|inf|infinity|traceback)\b", json.dumps(report) + files, re.I)
    for plot in report["sections"][0]["plots"]:
        ET.fromstring(plot["svg"])


# -- what texts can't do ----------------------------------------------------------------------


class Tags(HTMLParser):
    """The tags and the addresses in a page."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.addresses += [value or "" for name, value in attrs if name in ("src", "href")]


def test_names_with_markup_are_words_in_report_and_plots(client: Client) -> None:
    names = (f"one {HOSTILE}", f"two {HOSTILE}")
    items = [
        Entry(
            f"k{n}",
            f"Prompt {n}",
            ((names[0], f"this {n}"), (names[1], f"that {n}")),
            stratum=HOSTILE if n else "",
        )
        for n in range(2)
    ]
    study = client.house.draft(StudyProtocol(target=1), items)
    client.house.studies.open(study, OWNER)
    (token,) = client.house.raters(study, 1)
    client.house.rate(token, lambda view: "left")
    client.house.studies.lock(study, OWNER)
    client.house.studies.unblind(study, OWNER, HOSTILE)
    page = client.text(f"/{study}/report.html")
    tags = Tags()
    tags.feed(page)
    assert not tags.tags & {"img", "script", "link", "iframe"} and tags.addresses == []
    assert HOSTILE in "".join(
        ET.fromstring(client.get(f"/{study}/report")["sections"][0]["plots"][0]["svg"]).itertext()
    )


def test_a_post_from_another_site_is_refused(client: Client) -> None:
    study = client.house.open()
    answer = client.web.post(
        f"/api/studies/{study}/step", json={"to": "locked"}, headers={"origin": "https://evil.example"}
    )
    assert answer.status_code == 403 and client.house.studies.study(study).status == "open"
