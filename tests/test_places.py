"""An endpoint is sent no more requests at one time than it has places; who waits is told, and gets a turn."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

from core.config import Config, Endpoint
from core.domain import Message, Sampling
from core.models.catalog import Models
from core.models.endpoint.places import Places
from core.models.openai_compatible import OpenAICompatible
from core.models.protocol import Delta, Happening, Notice, Reply
from tests.fault_server import DONE, Ask, FaultServer, Play, refusal, says, stream

HELLO = [Message("user", "Say hello")]
WAITING = Notice("waiting for a free place at local")
SECONDS = 10.0


class Guests:
    """Takes places, and keeps who had one when."""

    def __init__(self, places: Places) -> None:
        self.places = places
        self.inside: list[int] = []
        self.came: list[int] = []
        self.told: list[Happening] = []
        self.leave = asyncio.Event()

    async def visit(self, number: int) -> None:
        async with self.places.place(self.told.append):
            self.inside.append(number)
            self.came.append(number)
            await self.leave.wait()
            self.inside.remove(number)


async def settled() -> None:
    """Lets everything run that can."""
    for _ in range(20):
        await asyncio.sleep(0)


def test_who_finds_no_place_is_told_and_comes_in_the_order_of_asking() -> None:
    async def visits() -> Guests:
        guests = Guests(Places("local", 2))
        tasks = [asyncio.create_task(guests.visit(number)) for number in range(5)]
        await settled()
        assert guests.inside == [0, 1]
        assert guests.told == [WAITING] * 3
        guests.leave.set()
        await asyncio.gather(*tasks)
        return guests

    assert asyncio.run(visits()).came == [0, 1, 2, 3, 4]


def test_a_place_is_free_again_whoever_is_cancelled() -> None:
    async def visits() -> None:
        guests = Guests(Places("local", 1))
        inside, waiting, last = (asyncio.create_task(guests.visit(number)) for number in range(3))
        await settled()
        waiting.cancel()
        await settled()
        assert guests.inside == [0]
        inside.cancel()
        await settled()
        assert guests.inside[-1:] == [2]
        guests.leave.set()
        await last
        await asyncio.wait_for(guests.visit(3), SECONDS)

    asyncio.run(visits())


def test_one_who_is_cancelled_just_as_a_place_is_given_passes_it_on() -> None:
    async def visits() -> list[int]:
        guests = Guests(Places("local", 1))
        first, second, third = (asyncio.create_task(guests.visit(number)) for number in range(3))
        await settled()
        guests.leave.set()
        await first  # the second has the place now, and does not know it yet
        second.cancel()
        await asyncio.wait_for(third, SECONDS)
        return guests.came

    assert asyncio.run(visits())[-1] == 2


def test_every_event_loop_has_the_places_anew() -> None:
    places = Places("local", 1)

    async def left_inside() -> list[int]:
        guests = Guests(places)
        visit = asyncio.create_task(guests.visit(0))
        await settled()
        assert not visit.done()  # the loop ends while the place is held
        return list(guests.inside)

    assert [asyncio.run(left_inside()) for _ in range(3)] == [[0]] * 3


def models(folder: Path, url: str, slots: int) -> Models:
    return Models(Config(folder, "sqlite://", (Endpoint("local", url, slots=slots),)), {})


class Heard:
    """A listener, and the moment in which it first hears a happening of a kind."""

    def __init__(self, kind: type[Happening]) -> None:
        self.all: list[Happening] = []
        self.came = asyncio.Event()
        self._kind = kind

    def __call__(self, happening: Happening) -> None:
        self.all.append(happening)
        if isinstance(happening, self._kind):
            self.came.set()


def soon(work: Coroutine[Any, Any, Reply]) -> asyncio.Task[Reply]:
    return asyncio.create_task(work)


def test_all_models_of_an_endpoint_share_its_places(tmp_path: Path) -> None:
    go_on = threading.Event()

    def answer(ask: Ask) -> Play:
        held = [go_on] if ask.body["model"] == "a" else []
        return Play([says("hello"), *held, says(None, finish="stop"), DONE])

    async def calls(opened: Models, server: FaultServer) -> None:
        first, second = Heard(Delta), Heard(Notice)
        a = soon(opened.open("local:a").complete(HELLO, sampling=Sampling(), listen=first))
        await asyncio.wait_for(first.came.wait(), SECONDS)
        b = soon(opened.open("local:b").complete(HELLO, sampling=Sampling(), listen=second))
        await asyncio.wait_for(second.came.wait(), SECONDS)
        assert (second.all, len(server.asks)) == ([WAITING], 1)
        go_on.set()
        await asyncio.gather(a, b)

    with FaultServer(answer) as server:
        opened = models(tmp_path, server.url, 1)
        asyncio.run(calls(opened, server))
        go_on.set()
        asyncio.run(calls_again(opened))
    assert [body["model"] for body in server.bodies] == ["a", "b", "a"]


async def calls_again(opened: Models) -> None:
    """The same model in another event loop."""
    heard = Heard(Notice)
    await opened.open("local:a").complete(HELLO, sampling=Sampling(), listen=heard)
    assert not heard.came.is_set()


def test_who_waits_to_try_again_holds_no_place() -> None:
    async def calls(server: FaultServer) -> list[str]:
        first_waits, second_done = asyncio.Event(), asyncio.Event()

        async def sleep(_: float) -> None:
            first_waits.set()
            await asyncio.wait_for(second_done.wait(), SECONDS)

        model = OpenAICompatible(
            "local:m", base_url=server.url, model="m", sleep=sleep, places=Places("local", 1)
        )
        first = soon(model.complete(HELLO, sampling=Sampling()))
        await asyncio.wait_for(first_waits.wait(), SECONDS)
        second = await asyncio.wait_for(model.complete(HELLO, sampling=Sampling()), SECONDS)
        second_done.set()
        return [reply.completions[0].text for reply in (await first, second)]

    with FaultServer([refusal("busy", 503), stream("second"), stream("first")]) as server:
        assert asyncio.run(calls(server)) == ["first", "second"]


def test_texts_asked_for_one_by_one_take_a_place_each() -> None:
    """A server that writes one text a request is asked for the others side by side, as places allow."""
    heard: list[Happening] = []
    with FaultServer([stream("a"), stream("b"), stream("c"), stream("d")]) as server:
        model = OpenAICompatible("m", base_url=server.url, model="m", places=Places("local", 2))
        reply = asyncio.run(model.complete(HELLO, n=4, sampling=Sampling(), listen=heard.append))
    assert sorted(completion.text for completion in reply.completions) == ["a", "b", "c", "d"]
    assert heard.count(WAITING) == 1
