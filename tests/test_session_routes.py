"""The routes of a session, asked over HTTP in this process, by pages that behave and by things that don't."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from core.config import read_config
from core.domain import Completion, Recipe, Sampling, Task, Token
from core.models.catalog import Models
from core.models.scripted import Line
from core.runs import Runs
from tests.benches import CRITIQUE, Bench, recipe
from ui import events
from ui.guard import Guard, refuse_plainly
from ui.session_routes import session_routes

WORDS = ("A ", "good\u2028", "<b>meal</b>")
DRAFT = Completion(
    "".join(WORDS), tokens=tuple(Token(word, -0.123456789 * i) for i, word in enumerate(WORDS))
)
SCRIPT: list[Line] = [DRAFT, CRITIQUE, "A splendid meal.", CRITIQUE, "A fine meal."]
HOSTILE = "<script>alert(1)</script> ${x} {{y}} \\u0041"
Scene = Callable[["Client"], Awaitable[None]]
Json = dict[str, Any]


@dataclass
class Client:
    """Asks the routes of one session, and waits for its runs."""

    bench: Bench
    runs: Runs
    web: httpx.AsyncClient
    session: str

    async def send(self, what: str, body: object = None, session: str = "") -> httpx.Response:
        """The answer to a post."""
        url = f"/api/sessions/{session or self.session}/{what}"
        content = body if isinstance(body, bytes) else json.dumps(body or {})
        return await self.web.post(url, content=content, headers={"Content-Type": "application/json"})

    async def post(self, what: str, body: object = None, session: str = "") -> Json:
        """The JSON of an answer that is none of a fault."""
        answer = await self.send(what, body, session)
        assert answer.status_code == 200, answer.text
        found: Json = answer.json()
        return found

    async def get(self, what: str, session: str = "") -> httpx.Response:
        return await self.web.get(f"/api/sessions/{session or self.session}/{what}")

    async def run(self) -> None:
        """Run on until the session waits for a person."""
        assert await self.post("run") == {}
        await self.settled()

    async def settled(self) -> None:
        """Wait for the run to end."""
        live = self.runs.live(self.session)
        while live.task is not None:
            await asyncio.wait({live.task})

    @property
    def position(self) -> int:
        return len(self.bench.store.load(self.session).steps)


def play(
    folder: Path,
    scene: Scene,
    *,
    pace: float = 0.0,
    mode: Any = "ask",
    made_by: Recipe | None = None,
) -> None:
    async def run() -> None:
        bench = Bench(folder, SCRIPT, pace=pace)
        runs = Runs(bench)
        models = Models(read_config({"REDRAFT_HOME": str(folder)}), {})
        app = FastAPI()
        app.add_middleware(Guard)
        refuse_plainly(app)
        app.include_router(session_routes(bench, runs, models, "Anna"))
        session = bench.new(mode, made_by or recipe(scorer=None), Task("Food.", instruction=HOSTILE))
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://here") as web:
            await scene(Client(bench, runs, web, session))
        await runs.close()

    asyncio.run(run())


def test_a_session_is_ruled_on_to_its_end(tmp_path: Path) -> None:
    async def scene(client: Client) -> None:
        await client.run()
        point = {"problem": "too weak", "by": "model"}
        mine = {"problem": "too short", "by": "me, I say"}
        body = {"position": client.position, "ruling": "accept", "points": [point, mine]}
        assert await client.post("decisions", body) == {}
        await client.settled()
        agreed = client.bench.store.load(client.session).steps[-2].answer
        assert agreed.kind == "decision" and agreed.decision.by == "Anna"
        assert [p.by for p in agreed.decision.points or ()] == ["model", "Anna"]
        stop = {"position": client.position, "ruling": "stop"}
        assert await client.post("decisions", stop) == {}
        await client.settled()
        assert client.bench.store.load(client.session).steps[-1].request.kind == "revision gate"

    play(tmp_path, scene)


def test_a_stale_decision_is_refused_and_changes_nothing(tmp_path: Path) -> None:
    async def scene(client: Client) -> None:
        await client.run()
        body = {"position": client.position, "ruling": "accept"}
        answers = await asyncio.gather(client.post("decisions", body), client.post("decisions", body))
        assert sorted(map(len, answers)) == [0, 1]
        refused = next(answer for answer in answers if answer)
        assert "already decided" in refused["error"]
        await client.settled()
        steps = client.bench.store.load(client.session).steps
        assert [step.request.kind for step in steps].count("critique gate") == 1

    play(tmp_path, scene)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"ruling": "accept", "ahead": 5}, "Nothing waits for a decision"),
        ({"ruling": "reject"}, "A critique is accepted"),
        ({"ruling": "edit", "text": " "}, "The edited text is empty"),
        ({"ruling": "edit", "text": "a\0b"}, "NUL character"),
        ({"ruling": "retry", "note": "\ud800"}, "surrogate"),
        ({"ruling": "accept", "points": [{"problem": "a\0"}]}, "The critique has a NUL character"),
    ],
)
def test_a_decision_that_does_not_fit_is_refused_in_words(tmp_path: Path, body: Json, words: str) -> None:
    async def scene(client: Client) -> None:
        await client.run()
        position = client.position
        sent = {"position": position + body.get("ahead", 0), **body}
        assert words in (await client.post("decisions", sent))["error"]
        assert client.position == position

    play(tmp_path, scene)


POSTS = ("decisions", "mode", "settings", "fork")
WRONG = [
    b"",
    b"{",
    b"[]",
    b"null",
    b'"x"',
    b"\xff",
    b'{"position": -1, "ruling": "accept", "mode": "never", "rounds": 0}',
    b'{"position": 1e400, "ruling": ["accept"], "mode": null, "rounds": "many"}',
]


@pytest.mark.parametrize("raw", WRONG)
def test_a_body_that_is_wrong_is_refused_without_a_stack(tmp_path: Path, raw: bytes) -> None:
    async def scene(client: Client) -> None:
        for what in POSTS:
            answer = await client.send(what, raw)
            assert answer.status_code in (400, 422), (what, raw)
            assert "Traceback" not in answer.text and 'File "' not in answer.text
        assert client.position == 0

    play(tmp_path, scene)


def test_an_unknown_session_is_said_to_be_unknown(tmp_path: Path) -> None:
    bodies = {
        "decisions": {"position": 0, "ruling": "accept"},
        "mode": {"mode": "auto"},
        "run": {},
        "settings": {"rounds": 2},
        "fork": {"position": 0},
        "undo": {},
    }

    async def scene(client: Client) -> None:
        for what, body in bodies.items():
            assert "There is no session 'none'" in (await client.post(what, body, "none"))["error"], what
        for what in ("family", "tokens?step=0", "tokens/0?step=0"):
            assert "There is no session 'none'" in (await client.get(what, "none")).json()["error"], what
        missing = await client.get("export?form=json", "none")
        assert missing.status_code == 404 and "There is no session" in missing.json()["error"]
        assert (await client.post("stop", session="none"))["error"] == "Nothing is running here any more."
        assert "event: gone" in (await client.get("events", "none")).text

    play(tmp_path, scene)


def test_settings_change_only_what_they_name_and_what_the_past_allows(tmp_path: Path) -> None:
    async def scene(client: Client) -> None:
        await client.run()
        assert await client.post("settings", {"calls": 9, "tokens": 999}) == {}
        assert await client.post("settings", {"rounds": 4, "tokens": None}) == {}
        settings = client.bench.store.load(client.session).recipe.settings
        assert (settings.rounds, settings.budget.calls, settings.budget.tokens) == (4, 9, None)
        assert "does not fit this setting" in (await client.post("settings", {"calls": 1}))["error"]
        assert "There is no model 'x'" in (await client.post("settings", {"model": "x"}))["error"]
        role = await client.post("settings", {"models": {"judge": HOSTILE}})
        assert f"There is no model {HOSTILE!r}" in role["error"]
        after = client.bench.store.load(client.session).recipe
        assert (after.settings, after.model, after.models) == (settings, "scripted", ())

    play(tmp_path, scene)


def test_the_tokens_of_a_step_join_to_its_text(tmp_path: Path) -> None:
    async def scene(client: Client) -> None:
        await client.run()
        found = (await client.get("tokens?step=0")).json()
        assert found == {"lengths": [len(word) for word in WORDS], "logprobs": [0.0, -0.123, -0.247]}
        for step in (-1, 1, 2, 10**30):
            assert (await client.get(f"tokens?step={step}")).json() == {"lengths": [], "logprobs": []}, step
            assert (await client.get(f"tokens/0?step={step}")).json() == {"alternatives": []}
        for index in (-1, 99):
            assert (await client.get(f"tokens/{index}?step=0")).json() == {"alternatives": []}
        assert (await client.get("tokens?step=x")).status_code == 422
        assert (await client.get("tokens")).status_code == 422

    play(tmp_path, scene)


@pytest.mark.parametrize(
    ("form", "kind"), [("json", "application/json"), ("md", "text/markdown"), ("html", "octet-stream")]
)
def test_an_export_is_a_file_that_no_browser_runs(tmp_path: Path, form: str, kind: str) -> None:
    async def scene(client: Client) -> None:
        await client.run()
        answer = await client.get(f"export?form={form}")
        assert kind in answer.headers["content-type"]
        named = f"attachment; filename=session-{client.session[:8]}.{form}"
        assert answer.headers["content-disposition"] == named
        assert answer.headers["x-content-type-options"] == "nosniff"
        if form == "json":
            assert answer.json()["task"]["instruction"] == HOSTILE
        else:
            assert "<script>" not in answer.text and "alert" in answer.text
        assert (await client.get("export?form=exe")).status_code == 422

    play(tmp_path, scene)


def test_the_result_alone_is_a_file_once_there_is_one(tmp_path: Path) -> None:
    async def scene(client: Client) -> None:
        await client.run()
        assert "no result yet" in (await client.get("export?form=txt")).json()["error"]
        await client.post("decisions", {"position": client.position, "ruling": "stop"})
        await client.settled()
        found = await client.get("export?form=txt")
        assert found.text == DRAFT.text and found.headers["content-type"] == "text/plain; charset=utf-8"

    play(tmp_path, scene)


def test_fork_undo_and_family(tmp_path: Path) -> None:
    async def scene(client: Client) -> None:
        assert "no decision to undo" in (await client.post("undo"))["error"]
        await client.run()
        await client.post("decisions", {"position": client.position, "ruling": "accept"})
        await client.settled()
        before = client.position
        undone = (await client.post("undo"))["session"]
        fork = (await client.post("fork", {"position": 1}))["session"]
        lengths = [len(client.bench.store.load(each).steps) for each in (client.session, undone, fork)]
        assert lengths == [before, 2, 1]
        family = (await client.get("family", fork)).json()["sessions"]
        assert {each["session"] for each in family} == {client.session, undone, fork}
        assert [each["session"] for each in family if each["here"]] == [fork]

    play(tmp_path, scene)


def test_a_later_reply_is_written_again_in_a_copy_with_a_seed_of_its_own(tmp_path: Path) -> None:
    async def scene(client: Client) -> None:
        await client.run()
        await client.post("decisions", {"position": client.position, "ruling": "accept"})
        await client.settled()
        first, model = client.session, client.bench.model
        steps = client.bench.store.load(first).steps
        asked = [i for i, step in enumerate(steps) if step.request.kind == "ask"]
        assert [model.asks[i].sampling.seed for i in range(3)] == [5, 6, 7]
        for position, text in ((asked[2], CRITIQUE), (asked[1], "A fine meal.")):
            copy = (await client.post("again", {"position": position}))["session"]
            client.session = copy
            await client.settled()
            kept = client.bench.store.load(copy)
            assert kept.steps[:position] == steps[:position] and kept.parent == (first, position)
            assert kept.steps[position].request.messages == steps[position].request.messages  # type: ignore[union-attr]
            assert kept.steps[position].answer.reply.completions[0].text == text  # type: ignore[union-attr]
            assert model.asks[-1].sampling.seed not in (None, 5, 6, 7, 8)
            client.session = first

    play(tmp_path, scene, made_by=seeded(5))


def seeded(seed: int) -> Recipe:
    """The usual recipe with that seed."""
    usual = recipe(scorer=None)
    one = Sampling(seed=seed)
    return replace(usual, settings=replace(usual.settings, sampling=one, critique_sampling=one))


@pytest.mark.parametrize("position", [3, 10**6])
def test_a_fork_beyond_the_end_is_refused_or_holds_what_there_is(tmp_path: Path, position: int) -> None:
    async def scene(client: Client) -> None:
        await client.run()
        answer = await client.post("fork", {"position": position})
        if "session" in answer:
            steps = client.bench.store.load(answer["session"]).steps
            assert steps == client.bench.store.load(client.session).steps
        else:
            assert "step" in answer["error"]

    play(tmp_path, scene)


def test_stop_ends_a_run_and_a_second_stop_says_that_nothing_runs(tmp_path: Path) -> None:
    async def scene(client: Client) -> None:
        assert await client.post("run") == {}
        assert await client.post("stop") == {}
        await client.settled()
        assert (await client.post("stop"))["error"] == "Nothing is running here any more."
        (step,) = client.bench.store.load(client.session).steps
        assert step.answer.kind == "reply" and step.answer.stopped_by == "Anna"

    play(tmp_path, scene, pace=60)


def test_a_mode_of_one_page_is_the_mode_of_all(tmp_path: Path) -> None:
    async def scene(client: Client) -> None:
        await client.run()
        assert await client.post("mode", {"mode": "auto"}) == {}
        await client.settled()
        assert client.bench.store.mode(client.session) == "auto"
        rulers = [s.answer.decision.by for s in client.bench.store.load(client.session).steps
                  if s.answer.kind == "decision"]  # fmt: skip
        assert rulers and "Anna" not in rulers

    play(tmp_path, scene)


def test_the_first_words_of_a_text_are_not_kept_waiting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "BATCH_SECONDS", 60.0)

    async def scene(client: Client) -> None:
        stream = events.Views(client.bench, client.runs).stream(client.session)
        assert (await anext(stream)).startswith("event: view")
        client.runs.start(client.session)
        async with asyncio.timeout(10):
            while not (news := await anext(stream)).startswith("data: "):
                pass
        assert DRAFT.text.startswith(json.loads(news.removeprefix("data: "))[2])
        assert client.runs.stop(client.session, "Anna")
        await client.settled()

    play(tmp_path, scene, pace=0.05)


def test_another_sites_page_can_do_nothing(tmp_path: Path) -> None:
    async def scene(client: Client) -> None:
        for origin in ("http://evil.example", "null", "http://here.evil.example"):
            for what in (*POSTS, "run", "stop", "undo"):
                url = f"/api/sessions/{client.session}/{what}"
                answer = await client.web.post(url, headers={"Origin": origin}, json={"mode": "auto"})
                assert answer.status_code == 403
        assert client.bench.store.mode(client.session) == "ask" and client.position == 0

    play(tmp_path, scene)


FIELDS = ("position", "ruling", "text", "note", "points", "hunks", "mode", "model", "models", "rounds",
          "calls", "tokens", "seconds", "money", "problem", "severity", "by")  # fmt: skip
VALUES = (None, True, -1, 0, 1, 2, 3, 2**31, 10**30, 0.5, 1e308, "", "accept", "edit", "hunks", "retry",
          "auto", "ask", "scripted", "a\0b", "\ud800", HOSTILE, "x" * 3000, "openai:x")  # fmt: skip


def anything(rng: random.Random, depth: int = 0) -> Any:
    """A JSON value made of words that the routes know and values that they may not like."""
    kind = rng.random()
    if depth > 2 or kind < 0.5:
        return rng.choice(VALUES)
    if kind < 0.65:
        return [anything(rng, depth + 1) for _ in range(rng.randrange(4))]
    return {rng.choice(FIELDS): anything(rng, depth + 1) for _ in range(rng.randrange(6))}


def likely(rng: random.Random, position: int) -> Json:
    """A body with what is needed, mostly, and with anything besides."""
    body = {name: anything(rng, 1) for name in rng.sample(FIELDS, rng.randrange(6))}
    return {"position": position, "ruling": rng.choice(("accept", "edit", "hunks", "retry")), **body}


def test_whatever_is_sent_no_answer_is_a_fault_of_the_server(tmp_path: Path) -> None:
    rng = random.Random(7)

    async def scene(client: Client) -> None:
        await client.run()
        for number in range(200):
            body = likely(rng, client.position) if number % 2 else anything(rng)
            what = rng.choice((*POSTS, "undo"))
            answer = await client.send(what, json.dumps(body).encode())
            assert answer.status_code in (200, 422), (what, body, answer.text)
            assert "Traceback" not in answer.text
            assert isinstance(answer.json(), dict)
            await client.settled()
        assert (await client.get("export?form=json")).status_code == 200

    play(tmp_path, scene)
