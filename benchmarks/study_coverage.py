"""Promise: 95 % intervals of shares hold the truth in 93 to 97 % of studies, clustered votes or not.

Usage: python benchmarks/study_coverage.py [STUDIES]. 2,000 simulated studies a case by default, with known
truth: raters (and items) differ by normal log odds, so the true share is the mean over all raters and items
there could be. Printed per case: how often each interval of the share holds it and how often each test at
5 % finds a preference, then the same for the worths of four systems. The last line holds the coverage of the
clustered interval over all cases, lowest and highest, and the sign test's rate on independent votes without
a preference (goal: 0.93 to 0.97, and at most 0.055).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from core.studies.bootstrap import pigeonhole
from core.studies.figures import Interval, Undefined
from core.studies.proportions import share_of, sign_test
from core.studies.rankings import ranking
from core.studies.votes import Floats, Ints, Vote, VoteTable, tabulate
from core.studies.worths import fit

STUDIES, DRAWS, SYSTEMS = 2_000, 300, 4


@dataclass(frozen=True)
class Case:
    """A study design: each rater votes once on `each` of the items; spreads are of log odds."""

    name: str
    raters: int
    items: int
    each: int
    lean: float = 0.4
    rater_spread: float = 0.0
    item_spread: float = 0.0


CASES = (
    Case("independent votes", 30, 40, 20),
    Case("independent votes, no preference", 30, 40, 20, lean=0.0),
    Case("raters differ", 30, 40, 20, rater_spread=0.8),
    Case("raters differ, no preference", 30, 40, 20, lean=0.0, rater_spread=0.8),
    Case("raters and items differ", 30, 40, 20, rater_spread=0.8, item_spread=0.5),
    Case("eight raters, who differ", 8, 30, 30, rater_spread=0.8),
    Case("a hundred raters, few votes each", 100, 40, 6, rater_spread=0.8, item_spread=0.5),
)


@dataclass(frozen=True)
class Rates:
    """How often something held, by name, and in how many studies it was defined."""

    held: dict[str, int]
    defined: dict[str, int]

    def rate(self, name: str) -> float:
        """The share of studies in which it held, of those in which it was defined."""
        return self.held.get(name, 0) / max(self.defined.get(name, 0), 1)


def mean_chance(lean: float, spread: float) -> float:
    """The mean of 1 / (1 + exp(-x)) for normal x, by Gauss-Hermite quadrature."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    chances = 1 / (1 + np.exp(-(lean + spread * nodes)))
    return float(weights @ chances / weights.sum())


def study(case: Case, rng: np.random.Generator) -> tuple[Floats, Ints, Ints]:
    """One study's votes: 1 or 0, rater, item."""
    raters = np.repeat(np.arange(case.raters), case.each)
    items = np.concatenate([rng.permutation(case.items)[: case.each] for _ in range(case.raters)])
    tastes = rng.normal(size=case.raters) * case.rater_spread
    pulls = rng.normal(size=case.items) * case.item_spread
    chance = 1 / (1 + np.exp(-(case.lean + tastes[raters] + pulls[items])))
    return (rng.random(len(raters)) < chance).astype(np.float64), raters, items


def outcomes(case: Case, rng: np.random.Generator, truth: float, draws: int) -> Iterator[tuple[str, bool]]:
    """What held in one study, as far as it was defined."""
    values, raters, items = study(case, rng)
    found = share_of(values, raters, items)
    assert not isinstance(found, Undefined)
    yield "Wilson", truth in found.wilson
    wins = int(values.sum())
    sign = sign_test(wins, len(values) - wins)
    yield "sign test", not isinstance(sign, Undefined) and sign <= 0.05
    if isinstance(found.clustered, Interval) and not isinstance(found.p, Undefined):
        yield "clustered", truth in found.clustered
        yield "clustered test", found.p <= 0.05
    drawn = pigeonhole(values, raters, items, draws, int(rng.integers(1 << 30))) if draws else None
    if isinstance(drawn, Interval):
        yield "pigeonhole", truth in drawn


def simulate(case: Case, studies: int, seed: int, draws: int = 0) -> Rates:
    """The rates over that many studies of one design; draws=0 leaves the two-way bootstrap out."""
    rng = np.random.default_rng(seed)
    truth = mean_chance(case.lean, float(np.hypot(case.rater_spread, case.item_spread)))
    return counted(pair for _ in range(studies) for pair in outcomes(case, rng, truth, draws))


def counted(pairs: Iterator[tuple[str, bool]]) -> Rates:
    """How often each name held."""
    rates = Rates({}, {})
    for name, held in pairs:
        rates.held[name] = rates.held.get(name, 0) + held
        rates.defined[name] = rates.defined.get(name, 0) + 1
    return rates


def ranked_study(worths: Floats, raters: int, spread: float, rng: np.random.Generator) -> VoteTable:
    """Votes of raters on all pairs of systems, twice each; a rater's own worths differ by `spread`."""
    names = [f"s{code}" for code in range(len(worths))]
    first, second = np.triu_indices(len(worths), 1)
    votes = []
    for rater in range(raters):
        own = worths + rng.normal(size=len(worths)) * spread
        for item, (one, other) in enumerate([*zip(first, second, strict=True)] * 2):
            won = rng.random() < 1 / (1 + np.exp(own[other] - own[one]))
            choice = "left" if won else "right"
            votes.append(Vote(f"r{rater}", f"i{item}", names[one], names[other], choice))  # type: ignore[arg-type]
    return tabulate(votes)


def true_worths(worths: Floats, spread: float) -> Floats:
    """What Bradley and Terry's worths come to over all raters there could be."""
    lean = worths[:, None] - worths[None, :]
    chance = np.vectorize(mean_chance)(lean, spread * np.sqrt(2)) * (1 - np.eye(len(worths)))
    return fit(chance, np.zeros_like(chance)).worths


def simulate_worths(raters: int, spread: float, studies: int, seed: int) -> Rates:
    """How often intervals of the worths of four systems hold the truth."""
    rng = np.random.default_rng(seed)
    worths = np.linspace(-0.6, 0.6, SYSTEMS)
    truth = dict(zip([f"s{code}" for code in range(SYSTEMS)], true_worths(worths, spread), strict=True))

    def pairs() -> Iterator[tuple[str, bool]]:
        for number in range(studies):
            found = ranking(ranked_study(worths, raters, spread, rng), draws=DRAWS, seed=number).davidson
            for worth in [] if isinstance(found, Undefined) else found.worths:
                yield "naive", truth[worth.system] in worth.naive
                if isinstance(worth.clustered, Interval):
                    yield "raters drawn anew", truth[worth.system] in worth.clustered

    return counted(pairs())


def told(name: str, rates: Rates) -> str:
    """A line of a case's rates."""
    return f"{name:38} " + ", ".join(f"{what} {rates.rate(what):.3f}" for what in rates.defined)


def main(arguments: list[str]) -> None:
    """All cases; the goals' figures last."""
    studies = int(arguments[0]) if arguments else STUDIES
    found = {}
    for seed, case in enumerate(CASES):
        found[case.name] = simulate(case, studies, seed, DRAWS)
        print(told(case.name, found[case.name]), flush=True)
    for raters, spread in ((30, 0.0), (30, 0.7), (10, 0.7)):
        name = f"worths, {raters} raters, spread {spread}"
        print(told(name, simulate_worths(raters, spread, studies // 4, 99)), flush=True)
    clustered = [rates.rate("clustered") for rates in found.values()]
    alone = found["independent votes, no preference"].rate("sign test")
    print(f"clustered interval {min(clustered):.3f} to {max(clustered):.3f}; sign test {alone:.3f}")


if __name__ == "__main__":
    main(sys.argv[1:])
