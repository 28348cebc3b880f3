"""Promise: showing a stream costs the server little beside reading it, and ten pages little more than one.

Usage: python benchmarks/stream_cpu.py [TOKENS]. One endpoint (a process of its own, 100 tokens a second, with
logprobs) is read by a bare loop of the openai client, which throws all away, and by the app with 1 and
with 10 pages on the session's event stream. Figures are CPU seconds of the reading process for each streamed
token. The last line holds app with one page / bare loop, and ten pages / one.
"""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.serving import App, app, endpoint, listen, load, until
from core.recipes import Wishes

RATE = 100.0
BARE = """
import asyncio, sys, time
from openai import AsyncOpenAI

async def read():
    client = AsyncOpenAI(base_url=sys.argv[1], api_key="none")
    asked = [{"role": "user", "content": sys.argv[2]}]
    chat = client.chat.completions
    began = time.process_time()
    stream = await chat.create(model="tiny-chat", messages=asked, stream=True, logprobs=True, top_logprobs=5)
    text = ""
    async for chunk in stream:
        text += (chunk.choices[0].delta.content or "") if chunk.choices else ""
    print((time.process_time() - began) / len(text.split()))

asyncio.run(read())
"""


def answer(messages: Sequence[Mapping[str, str]]) -> str:
    """As many words as the last number in what was asked."""
    numbers = [word for word in messages[-1]["content"].split() if word.isdecimal()]
    return " ".join(["word"] * int(numbers[-1]))


def bare(url: str, tokens: int) -> float:
    """CPU seconds a token of the bare loop; its imports are not counted."""
    run = subprocess.run([sys.executable, "-c", BARE, url, f"{tokens}"], capture_output=True, text=True)
    assert not run.returncode, run.stderr
    return float(run.stdout)


def watched(served: App, tokens: int, pages: int) -> float:
    """CPU seconds a token of the app with so many pages, from the run's start to its end on every page."""
    wishes = Wishes("direct", scorer="none", max_tokens=2 * tokens)
    session = served.new(f"Write words: {tokens}", wishes, "auto")
    streams = [listen(served.server, session) for _ in range(pages)]
    for stream in streams:
        next(stream)
    before = served.cpu()
    watching = [
        threading.Thread(target=until, args=(stream, lambda head: head["state"] == "ended"))
        for stream in streams
    ]
    served.post(session, "run")
    for thread in watching:
        thread.start()
    for thread in watching:
        thread.join()
    return (served.cpu() - before) / tokens


def main(arguments: Sequence[str]) -> None:
    """The three sides, one after the other; a short run first, so that nothing is loaded while counted."""
    tokens = int(arguments[0]) if arguments else 1000
    print(load())
    with endpoint("benchmarks.stream_cpu:answer", RATE) as url, app(url) as served:
        watched(served, 50, 1)
        loop = bare(url, tokens)
        one, ten = (watched(served, tokens, pages) for pages in (1, 10))
    for name, cost in {"bare loop": loop, "app, 1 page": one, "app, 10 pages": ten}.items():
        print(
            f"{name}: {cost * 1000:.3f} ms of CPU a token, {cost * RATE:.1%} of a core at {RATE:g} a second"
        )
    print(f"{one / loop:.2f} {ten / one:.2f}")


if __name__ == "__main__":
    main(sys.argv[1:])
