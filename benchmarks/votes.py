"""Promise: many raters at once do not slow a study down; votes are kept and pairs given at one steady pace.

Usage: python benchmarks/votes.py [VOTES]. 4,000 votes by default in each setting: 1, 50, 500 raters at once,
each a thread that votes as quickly as it can; who has given 20 votes makes room for another rater. The study
has 1,000 pairings, all of it is on one SQLite file. A vote is one call of the raters' service: in one
transaction it keeps the vote, reserves the next pair and gives its texts. HTTP comes on top. The last line is
the pace of 500 raters over that of one; the goal is >= 0.8, so that nothing is lost to waiting.
"""

from __future__ import annotations

import sys
import tempfile
import threading
import time
import uuid
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np

from core.studies.material import Entry
from core.studies.protocol import StudyProtocol
from core.studies.rating import Rating
from core.studies.records import Ballot
from core.studies.service import Studies
from storage.database import open_database
from storage.study_store import SqlStudyStore

PAIRINGS, EACH, RATERS = 1_000, 20, (1, 50, 500)


def study(store: SqlStudyStore, raters: int) -> list[str]:
    """An open study with so many raters; their tokens."""
    studies = Studies(store)
    made = studies.new("Benchmark", StudyProtocol(target=200), "benchmark")
    texts = [(("one", f"Text {n}, short."), ("other", f"Text {n}, long.")) for n in range(PAIRINGS)]
    studies.add(made, [Entry(f"k{n}", f"Prompt {n}", pair) for n, pair in enumerate(texts)], "benchmark")
    studies.open(made, "benchmark")
    return [link.token for link in studies.links(made, [""] * raters, "benchmark")]


def rate(rating: Rating, tokens: list[str], votes: int, took: list[float]) -> None:
    """Raters one after the other, so many votes in all; notes how long each vote took, in seconds."""
    for first in range(0, votes, EACH):
        token = tokens.pop()
        view = rating.view(token)
        for number in range(min(EACH, votes - first)):
            assert view.pair
            ballot = Ballot(str(uuid.uuid4()), "left" if number % 2 else "right")
            began = time.perf_counter()
            view = rating.vote(token, view.pair.token, ballot)
            took.append(time.perf_counter() - began)


def pace(at_once: int, votes: int) -> float:
    """Votes a second with so many raters at once; prints it, and how long a vote takes."""
    with tempfile.TemporaryDirectory() as folder:
        store, took = SqlStudyStore(open_database(f"sqlite:///{folder}/redraft.db")), list[float]()
        share = max(votes // at_once, 1)
        tokens, rating = study(store, at_once * -(-share // EACH)), Rating(store)
        threads = [threading.Thread(target=rate, args=(rating, tokens, share, took)) for _ in range(at_once)]
        began, worked = time.perf_counter(), time.process_time()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        found = len(took) / (time.perf_counter() - began)
        cost = 1000 * (time.process_time() - worked) / len(took)
        middle, late = (1000 * np.quantile(took, q) for q in (0.5, 0.95))
        said = f"{middle:.0f} ms a vote (p95 {late:.0f}), {cost:.1f} ms of it CPU"
        print(f"{at_once} raters at once: {found:.0f} votes/s, {said}")
        return found


def main() -> None:
    """Measure every setting and print the ratio."""
    votes = int(sys.argv[1]) if len(sys.argv) > 1 else 4_000
    found = [pace(raters, votes) for raters in RATERS]
    print(f"500 raters / 1 rater: {found[-1] / found[0]:.2f}")


if __name__ == "__main__":
    main()
