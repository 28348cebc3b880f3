"""Votes over HTTP: how many a second, and how long each waits, with 1, 50 and 500 raters at once.

The raters' app runs as a process of its own on SQLite; every rater has a connection of their own here and
answers as fast as the server does, so 500 of them are a load that no study has. After each level the votes in
the database are held against those acknowledged, the targets and the sides. Last line: votes a second with
500 raters / with one.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
import time
import uuid
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import urlsplit

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from core.studies.monitor import monitor
from core.studies.protocol import StudyProtocol
from core.studies.rating import Rating
from core.studies.service import Studies
from storage.database import open_database
from storage.study_store import SqlStudyStore
from tests.rate_server import serve, stop
from tests.studies import OWNER, entries

LEVELS = ((1, 300), (50, 20), (500, 4))
"""Raters at once, and the votes of each."""
TARGET = 5


@dataclass
class Load:
    """What came of one level."""

    waits: list[float] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)


class Line:
    """One connection that is kept, with as little work of its own as can be."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, token: str) -> None:
        self.reader, self.writer, self.token = reader, writer, token

    async def ask(self, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        """The JSON of an answer that must be 200."""
        content = json.dumps(body).encode() if body else b""
        lines = [f"{'POST' if body else 'GET'} {path} HTTP/1.1", "Host: rate", f"Cookie: rater={self.token}"]
        lines += ["Content-Type: application/json", f"Content-Length: {len(content)}", "", ""]
        self.writer.write("\r\n".join(lines).encode() + content)
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode().lower()
        assert head.startswith("http/1.1 200"), head
        size = int(head.partition("content-length:")[2].partition("\r\n")[0])
        found: dict[str, Any] = json.loads(await self.reader.readexactly(size))
        return found


async def rate(url: str, token: str, votes: int, load: Load) -> None:
    """Vote so often, or until there is nothing more."""
    where = urlsplit(url)
    line = Line(*await asyncio.open_connection(where.hostname, where.port), token)
    view = await line.ask("/rate/now")
    for _ in range(votes):
        if view["state"] != "pair":
            break
        body = {"pair": view["pair"]["token"], "id": uuid.uuid4().hex, "choice": "left"}
        begin = time.perf_counter()
        view = await line.ask("/rate/answer", body)
        load.waits.append(time.perf_counter() - begin)
        load.ids.append(body["id"])
    line.writer.close()


def level(folder: Path, raters: int, votes: int) -> float:
    """Measure one level in a database of its own; gives the votes a second."""
    database = f"sqlite:///{folder}/{raters}.db"
    store = SqlStudyStore(open_database(database))
    studies = Studies(store, Random(1))
    study = studies.new("load", StudyProtocol(target=TARGET), OWNER)
    studies.add(study, entries(max(raters * votes // TARGET, votes)), OWNER)
    studies.open(study, OWNER)
    tokens = [link.token for link in studies.links(study, [""] * raters, OWNER)]
    Rating(store).view(tokens[0])  # the first of all is slower: imports, caches
    served, load = serve(database), Load()

    async def everybody() -> None:
        await asyncio.gather(*(rate(served.url, token, votes, load) for token in tokens))

    try:
        begin = time.perf_counter()
        asyncio.run(everybody())
        seconds = time.perf_counter() - begin
    finally:
        stop(served)
    tell(store, study, raters, load, seconds)
    return len(load.ids) / seconds


def tell(store: SqlStudyStore, study: str, raters: int, load: Load, seconds: float) -> None:
    """The figures of a level, and whether every promise was kept."""
    kept = store.look(study, lambda desk: desk.votes())
    lost = set(load.ids) - {vote.ballot.client_uuid for vote in kept}
    most = max(Counter(vote.pairing for vote in kept).values())
    waits = sorted(load.waits)
    p50, p95 = (waits[int(len(waits) * share)] * 1000 for share in (0.5, 0.95))
    print(
        f"{raters} raters: {len(load.ids)} votes, {len(load.ids) / seconds:.0f} a second, "
        f"p50 {p50:.0f} ms, p95 {p95:.0f} ms; lost {len(lost)}, doubled {len(kept) - len(load.ids)}, "
        f"most on a pairing {most} of {TARGET}, side gap {monitor(store, study).side_gap}"
    )


def main() -> None:
    """Every level."""
    with tempfile.TemporaryDirectory() as folder:
        rates = [level(Path(folder), raters, votes) for raters, votes in LEVELS]
    print(f"{rates[-1] / rates[0]:.2f}")


if __name__ == "__main__":
    main()
