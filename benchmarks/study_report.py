"""Promise: the whole report of a large study takes a small part of what evalica's bootstrap alone takes.

Usage: python benchmarks/study_report.py [VOTES]. 1,000,000 synthetic votes by default, of 2,000 raters on 20
systems, ties and a side effect among them. Ours: every figure of the report, with 1,000 rater-clustered
draws of the worths with ties counted in three ways. Theirs: 5 draws of evalica's plain percentile bootstrap
of Bradley-Terry on the same votes, times 200. Each runs in a process of its own; the peak is what it took on
top of the votes (Linux). The last line holds the ratio of the times; the goal is <= 0.02.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from core.studies.bootstrap import rater_counts, rater_draws, tables
from core.studies.report import Rules, report
from core.studies.votes import VoteTable
from core.studies.worths import fit

VOTES, RATERS, SYSTEMS, DRAWS, THEIRS = 1_000_000, 2_000, 20, 1_000, 5


def votes(number: int) -> VoteTable:
    """Votes by Davidson's model with nu 0.6, raters of different tastes, the left favoured a little."""
    rng = np.random.default_rng(5)
    rater, item = rng.integers(RATERS, size=number), rng.integers(number // 10, size=number)
    one = rng.integers(SYSTEMS, size=number)
    other = (one + rng.integers(1, SYSTEMS, size=number)) % SYSTEMS
    first, second = np.minimum(one, other), np.maximum(one, other)
    worth = rng.normal(size=SYSTEMS) / 2 + rng.normal(size=(RATERS, SYSTEMS)) / 4
    left, longer = rng.random(number) < 0.5, rng.normal(size=number) / 3
    lean = worth[rater, first] - worth[rater, second] + np.where(left, 0.1, -0.1) + longer / 10
    chances = np.stack([np.exp(lean / 2), np.exp(-lean / 2), np.full(number, 0.6)])
    passed = rng.random(number) * chances.sum(axis=0) > np.cumsum(chances, axis=0)
    zeros = np.zeros(number, dtype=np.int64)
    return VoteTable(
        raters=tuple(f"r{code}" for code in range(RATERS)),
        items=tuple(f"i{code}" for code in range(number // 10)),
        systems=tuple(f"s{code:02}" for code in range(SYSTEMS)),
        strata=("",),
        marks=((),),
        rater=rater,
        item=item,
        first=first,
        second=second,
        outcome=passed.sum(axis=0),
        first_left=left,
        strength=zeros,
        stratum=zeros,
        mark=zeros,
        longer=longer,
        active_ms=rng.gamma(4, 3000, size=number),
        retest=zeros,
        counted=np.ones(number, dtype=bool),
    )


def ours(table: VoteTable) -> None:
    """The whole report."""
    found = report(table, Rules(draws=DRAWS))
    worths = found.kept.ranking.davidson
    print(worths.worths[0] if hasattr(worths, "worths") else worths, file=sys.stderr)


def draws_only(table: VoteTable) -> None:
    """The rater-clustered draws of Davidson's worths alone."""
    fit(*tables(rater_draws(rater_counts(table), DRAWS, 0), SYSTEMS))


def theirs(table: VoteTable) -> None:
    """A few draws of evalica's bootstrap, its lists made before the clock starts."""
    import evalica

    results = [evalica.Winner.X, evalica.Winner.Y, evalica.Winner.Draw]
    names = table.systems
    one, other = ([names[code] for code in codes] for codes in (table.first, table.second))
    winners = [results[code] for code in table.outcome]
    began = time.perf_counter()
    evalica.bootstrap(
        evalica.bradley_terry,
        one,
        other,
        winners,
        n_resamples=THEIRS,
        bootstrap_method="percentile",
        random_state=0,
    )
    print(json.dumps({"seconds": time.perf_counter() - began, "mb": 0.0}))


WAYS: dict[str, Callable[[VoteTable], None]] = {"report": ours, "draws": draws_only, "evalica": theirs}


def resident(field: str) -> float:
    """This process's memory in MB: VmRSS now, or VmHWM at its peak."""
    found = re.search(rf"{field}:\s+(\d+) kB", Path("/proc/self/status").read_text())
    return int(found[1]) / 1024 if found else float("nan")


def measure(way: str, number: int) -> None:
    """Run one way and print what it took, as JSON; evalica prints its own."""
    table = votes(number)
    before = resident("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # the peak counts from here
    began = time.perf_counter()
    WAYS[way](table)
    took = {"seconds": time.perf_counter() - began, "mb": resident("VmHWM") - before}
    if way != "evalica":
        print(json.dumps(took))


def run(way: str, number: int) -> dict[str, float]:
    """What one way took, measured in its own process."""
    command = [sys.executable, __file__, "--measure", way, str(number)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    result: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return result


def main(arguments: list[str]) -> None:
    """All ways in turn and their ratio, or one as a child."""
    if arguments[:1] == ["--measure"]:
        measure(arguments[1], int(arguments[2]))
        return
    number = int(arguments[0]) if arguments else VOTES
    whole, draws, five = (run(way, number) for way in WAYS)
    scaled = five["seconds"] / THEIRS * DRAWS
    print(f"report of {number:,} votes: {whole['seconds']:.1f} s, {whole['mb']:.0f} MB on top of the votes")
    print(f"{DRAWS:,} draws of the worths alone: {draws['seconds']:.2f} s, {draws['mb']:.0f} MB")
    print(f"evalica, {THEIRS} draws: {five['seconds']:.1f} s; {DRAWS:,} would take {scaled:.0f} s")
    print(f"report {whole['seconds'] / scaled:.4f}; draws alone {draws['seconds'] / scaled:.5f}")


if __name__ == "__main__":
    main(sys.argv[1:])
