"""Pages made late: once, one at a time, told of the start and the end, and not spoilt by a failure."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from threading import Event

import httpx
import pytest
from fastapi import FastAPI

from ui.late import FAILED, LatePages

SECONDS = 10.0


class Maker:
    """Makes an app that answers with the number of its making; `fails` makings go wrong first."""

    def __init__(self, fails: int = 0) -> None:
        self.fails, self.made = fails, 0
        self.heard: list[str] = []
        self.asked, self.go = Event(), Event()
        self.go.set()

    def __call__(self) -> FastAPI:
        self.made += 1
        number = self.made
        self.asked.set()
        assert self.go.wait(SECONDS)
        if number <= self.fails:
            raise ValueError("no template")
        app = FastAPI(lifespan=self.lifespan)
        app.add_api_route("/", lambda: {"made": number})
        return app

    @asynccontextmanager
    async def lifespan(self, _: FastAPI) -> AsyncIterator[None]:
        self.heard.append("start")
        yield
        self.heard.append("end")

    async def is_asked(self) -> None:
        assert await asyncio.to_thread(self.asked.wait, SECONDS)


def play(scene: Callable[[httpx.AsyncClient], Awaitable[None]], **makers: Maker) -> None:
    """The scene on a server that has one late page a maker, at the maker's name."""

    async def run() -> None:
        late, app = LatePages(), FastAPI()
        for name, maker in makers.items():
            app.mount(f"/{name}", late.page(maker))
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://here") as web:
            await scene(web)
        await late.close()

    asyncio.run(run())


def test_a_page_is_made_by_its_first_visit_and_stays() -> None:
    maker, other = Maker(), Maker()

    async def scene(web: httpx.AsyncClient) -> None:
        assert maker.made == 0
        for _ in range(2):
            assert (await web.get("/page/")).json() == {"made": 1}
        assert (maker.made, maker.heard) == (1, ["start"])

    play(scene, page=maker, other=other)
    assert maker.heard == ["start", "end"]
    assert (other.made, other.heard) == (0, [])


def test_two_tabs_at_once_get_the_same_page() -> None:
    maker = Maker()
    maker.go.clear()

    async def scene(web: httpx.AsyncClient) -> None:
        tabs = [asyncio.create_task(web.get("/page/")) for _ in range(2)]
        await maker.is_asked()
        maker.go.set()
        assert [tab.json() for tab in await asyncio.gather(*tabs)] == [{"made": 1}] * 2

    play(scene, page=maker)


def test_pages_are_made_one_at_a_time_and_keep_nobody_else_waiting() -> None:
    first, second = Maker(), Maker()
    first.go.clear()

    async def scene(web: httpx.AsyncClient) -> None:
        slow = asyncio.create_task(web.get("/first/"))
        await first.is_asked()
        next_one = asyncio.create_task(web.get("/second/"))
        # The server answers others meanwhile, and by then the second visit has had its chance to begin.
        assert (await web.get("/nowhere")).status_code == 404
        assert not await asyncio.to_thread(second.asked.wait, 0.05)
        first.go.set()
        assert (await slow).status_code == (await next_one).status_code == 200

    play(scene, first=first, second=second)


def test_a_failure_is_told_logged_once_and_tried_again(caplog: pytest.LogCaptureFixture) -> None:
    maker, other = Maker(fails=1), Maker()
    maker.go.clear()

    async def scene(web: httpx.AsyncClient) -> None:
        tabs = [asyncio.create_task(web.get("/page/")) for _ in range(2)]
        await maker.is_asked()
        maker.go.set()
        assert [(tab.status_code, tab.text) for tab in await asyncio.gather(*tabs)] == [(500, FAILED)] * 2
        assert (await web.get("/other/")).json() == {"made": 1}
        assert (await web.get("/page/")).json() == {"made": 2}

    play(scene, page=maker, other=other)
    assert [record.exc_info and str(record.exc_info[1]) for record in caplog.records] == ["no template"]
    assert maker.heard == ["start", "end"]


def test_a_visitor_who_leaves_takes_the_page_from_nobody() -> None:
    maker = Maker()
    maker.go.clear()

    async def scene(web: httpx.AsyncClient) -> None:
        leaving = asyncio.create_task(web.get("/page/"))
        await maker.is_asked()
        staying = asyncio.create_task(web.get("/page/"))
        leaving.cancel()
        with pytest.raises(asyncio.CancelledError):
            await leaving
        maker.go.set()
        assert (await staying).json() == {"made": 1}

    play(scene, page=maker)


def test_a_page_that_is_in_the_making_when_the_server_ends_is_ended_too() -> None:
    maker = Maker()
    maker.go.clear()

    async def run() -> None:
        late, app = LatePages(), FastAPI()
        app.mount("/page", late.page(maker))
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://here") as web:
            visit = asyncio.create_task(web.get("/page/"))
            await maker.is_asked()
            closing = asyncio.create_task(late.close())
            maker.go.set()
            await closing
            await visit

    asyncio.run(run())
    assert maker.heard == ["start", "end"]
