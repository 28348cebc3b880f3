"""Promise: with the heat map on, a page gets at most 8 bytes for each byte of text, however long it is.

Usage: python benchmarks/stream_bytes.py. Sessions of 500 and of 4,000 tokens run side by side at 50 tokens a
second, each as a draft alone and as one whole round (draft, critique, revision); a page's event stream is
read to the end, then the token maps that the page offers. Counted are the bytes of answers' bodies with their
chunk framing, headers not. The last line holds bytes / bytes of streamed text at 4,000 tokens of a draft,
and that figure over the one at 500 tokens.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.serving import App, Heard, Json, app, endpoint, listen, load, until
from core.recipes import Wishes

RATE = 50.0
LENGTHS = (500, 4000)
GOAL = 8.0
CRITIQUE = '- [major] "text" | too plain | write "prose"\nVERDICT: revise'
SENTENCE = "The quick fox jumps over a lazy dog , and so people in every town like it ."


def answer(messages: Sequence[Mapping[str, str]]) -> str:
    """As many ordinary words as the task's text says; a revision has another beginning."""
    asked = messages[-1]["content"]
    if "critic" in asked:
        return CRITIQUE
    wanted = next(n for n in LENGTHS if any(f"{n} words" in message["content"] for message in messages))
    words = islice(cycle(SENTENCE.split()), len(messages), len(messages) + wanted)
    return " ".join(words)


@dataclass(frozen=True)
class Cost:
    """Bytes of one session: of its streamed text, and of what a page got for it."""

    text: int
    streamed: int
    views: int
    maps: int

    @property
    def ratio(self) -> float:
        """Bytes to the page for each byte of text."""
        return (self.streamed + self.views + self.maps) / self.text


def size(heard: Sequence[Heard], kinds: tuple[str, ...]) -> int:
    """Bytes of the events of these kinds."""
    return sum(each.size for each in heard if each.kind in kinds)


def maps(served: App, session: str, heard: Sequence[Heard]) -> int:
    """Bytes of every token map that the page offers at the end."""
    rows: dict[str, Json] = {}
    for each in heard:
        if each.kind == "view":
            rows |= {name: part for name, part in each.data.items() if name.startswith("row")}
    drafts = [row["base"] for row in rows.values()]
    drafts += [attempt["proposed"] for row in rows.values() for attempt in row["attempts"]]
    steps = {heat["step"] for draft in drafts for heat in draft["heat"]}
    return sum(len(served.get(session, f"tokens?step={step}")) for step in steps)


def measure(served: App, strategy: str, length: int) -> Cost:
    """One session, watched by one page from its beginning."""
    wishes = Wishes(strategy, rounds=1, scorer="none", gate="always", max_tokens=2 * length)
    session = served.new(f"Write {length} words.", wishes, "auto")
    events = listen(served.server, session)
    first = next(events)
    served.post(session, "run")
    heard = [first, *until(events, lambda head: head["state"] == "ended")]
    text = sum(len(each.data[2].encode()) for each in heard if each.kind == "text")
    streamed, views = size(heard, ("text", "notice")), size(heard, ("view", ""))
    return Cost(text, streamed, views, maps(served, session, heard))


def side_by_side(served: App, kinds: Sequence[tuple[str, int]]) -> list[Cost]:
    """What each kind of session costs."""
    with ThreadPoolExecutor(len(kinds)) as pool:
        return list(pool.map(lambda kind: measure(served, *kind), kinds))


def main() -> None:
    """All four sessions side by side."""
    print(load())
    kinds = [(strategy, length) for strategy in ("direct", "self_refine") for length in LENGTHS]
    with endpoint("benchmarks.stream_bytes:answer", RATE) as url, app(url) as served:
        costs = dict(zip(kinds, side_by_side(served, kinds), strict=True))
    for (strategy, length), cost in costs.items():
        print(
            f"{strategy} {length} tokens: {cost.text:,} bytes of text; stream {cost.streamed:,}, "
            f"views {cost.views:,}, maps {cost.maps:,}: {cost.ratio:.2f} a byte"
        )
    short, long = (costs["direct", length].ratio for length in LENGTHS)
    print(f"goal {GOAL:g} a byte, and flat")
    print(f"{long:.2f} {long / short:.2f}")


if __name__ == "__main__":
    main()
