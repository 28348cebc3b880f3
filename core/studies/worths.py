"""Bradley-Terry and Davidson worths by maximum likelihood, for one table of counts or thousands at once.

Knows counts only: `wins[..., i, j]` = how often i was preferred to j, `ties[..., i, j]` (symmetrical; each
tie stands at both places). Worths are logarithms, their mean is 0. Davidson (1970): i, j and a tie are as
likely as exp(worth_i), exp(worth_j) and nu * exp((worth_i + worth_j) / 2); evalica's `newman` calls nu / 2
its v. Where no tie is counted nu is 0 and the model is Bradley and Terry's (1952). Not every table has
worths: see `determined`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from core.studies.figures import Undefined

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Pairs = tuple[NDArray[np.intp], ...]

ROUNDS = 60
CLOSE = 1e-10
LONGEST_STEP = 2.0


@dataclass(frozen=True)
class Fit:
    """Worths [..., systems], log nu [...] (-inf without ties), and the information matrix [..., s(+1), s(+1)]
    of worths and log nu, centred by a rank of ones."""

    worths: Floats
    log_nu: Floats
    information: Floats


def connected(wins: Floats, ties: Floats) -> Bools:
    """[...]: whether every system can be reached from every other by wins and ties."""
    return np.asarray(reachable(wins, ties).all(axis=(-2, -1)))


def reachable(wins: Floats, ties: Floats) -> Bools:
    """[..., i, j]: whether a chain of wins and ties leads from i down to j; from each to itself, always."""
    size = wins.shape[-1]
    reach = ((wins + ties > 0) | np.eye(size, dtype=bool)).astype(np.float32)
    for _ in range(max(size - 1, 1).bit_length()):
        reach = np.minimum(reach @ reach, 1.0, dtype=np.float32)
    return np.asarray(reach > 0)


def determined(wins: Floats, ties: Floats) -> Bools:
    """[...]: whether the likelihood has one maximum.

    Without ties: every system can be reached from every other by wins (Ford 1957). With ties: by wins and
    ties, and some closed chain of them holds more wins than ties (otherwise worths drawn apart while nu grows
    fit ever better: no direction of recession of the concave likelihood may be left).
    """
    by_wins = connected(wins, np.zeros_like(wins))
    if by_wins.all():
        return by_wins
    no_ties = ~ties.any(axis=(-2, -1))
    return by_wins | (connected(wins, ties) & ~no_ties & _more_wins_than_ties(wins, ties))


def _more_wins_than_ties(wins: Floats, ties: Floats) -> Bools:
    """[...]: whether a closed chain of results has more wins than ties (longest paths: wins 1, ties -1)."""
    size = wins.shape[-1]
    longest = np.where(wins > 0, 1.0, np.where(ties > 0, -1.0, -np.inf))
    for via in range(size):
        through = longest[..., :, via, None] + longest[..., None, via, :]
        longest = np.minimum(np.maximum(longest, through), size)
    return np.asarray((np.diagonal(longest, axis1=-2, axis2=-1) > 0).any(axis=-1))


def why_undefined(wins: Floats, ties: Floats, systems: tuple[str, ...]) -> str:
    """Why one table of counts has no worths, or ""."""
    met = wins + wins.T + ties > 0
    if len(systems) < 2 or not met.any():
        return "there are no votes to compare systems by"
    lonely = [name for name, row in zip(systems, met, strict=True) if not row.any()]
    if lonely:
        return f"no votes for {_listed(lonely)}"
    islands = _classes(reachable(met.astype(np.float64), np.zeros_like(wins)), systems)
    if len(islands) > 1:
        return "; ".join(map(_listed, islands)) + " were never compared with each other"
    reach = reachable(wins, ties)
    if reach.all():
        few = "wins and ties are too few to tell a better system from a liking for ties"
        return "" if determined(wins, ties) else few
    top = next(row for row in np.argsort(-reach.sum(axis=1)) if not reach[:, row].all())
    unbeaten = reach[:, top] & reach[top]
    names = [name for name, inside in zip(systems, unbeaten, strict=True) if inside]
    others = [name for name, inside in zip(systems, unbeaten, strict=True) if not inside]
    return f"{_listed(names)} never lost to {_listed(others)}, so there is no limit to how much better"


def _classes(same: Bools, systems: tuple[str, ...]) -> list[list[str]]:
    rows = dict.fromkeys(tuple(row) for row in same.tolist())
    return [[name for name, inside in zip(systems, row, strict=True) if inside] for row in rows]


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def fit(wins: Floats, ties: Floats, start: Floats | None = None) -> Fit:
    """The maximum of the likelihood by Newton's method, every table of a stack at once.

    Tables must be `determined`; raises ArithmeticError where the maximum is not reached.
    """
    pairs = np.triu_indices(wins.shape[-1], 1)
    won, lost, tied = wins[..., *pairs], np.swapaxes(wins, -1, -2)[..., *pairs], ties[..., *pairs]
    some_ties = bool(tied.any())
    worths = np.zeros(wins.shape[:-1]) if start is None else np.broadcast_to(start, wins.shape[:-1]).copy()
    log_nu = _first_log_nu(tied)
    for _ in range(ROUNDS):
        slope, information = _slopes(won, lost, tied, worths, log_nu, pairs)
        if not some_ties:
            slope, information = slope[..., :-1], information[..., :-1, :-1]
        step = np.linalg.solve(information, slope[..., None])[..., 0]
        step = step * np.minimum(1.0, LONGEST_STEP / np.maximum(np.abs(step).max(-1, keepdims=True), 1e-300))
        worths = worths + step[..., : wins.shape[-1]]
        if some_ties:
            log_nu = log_nu + np.where(np.isfinite(log_nu), step[..., -1], 0.0)
        if float(np.abs(step).max(initial=0.0)) < CLOSE:
            return Fit(worths - worths.mean(axis=-1, keepdims=True), log_nu, information)
    raise ArithmeticError("the likelihood has no maximum that can be reached; are the systems connected?")


def _first_log_nu(tied: Floats) -> Floats:
    return np.where(tied.sum(axis=-1) > 0, 0.0, -np.inf)


def _slopes(
    won: Floats,
    lost: Floats,
    tied: Floats,
    worths: Floats,
    log_nu: Floats,
    pairs: Pairs,
) -> tuple[Floats, Floats]:
    """Gradient and information of (worths, log nu); a table without ties gets 1 in nu's place."""
    first, second = pairs
    half = (worths[..., first] - worths[..., second]) / 2
    up, down, even = np.exp(half), np.exp(-half), np.exp(log_nu)[..., None]
    total = up + down + even
    votes = won + lost + tied
    lean, tie = (up - down) / total, even / total
    by_half = (won - lost - votes * lean) / 2
    bend = votes * ((up + down) / total - lean**2) / 4
    cross = -votes * lean * tie / 2
    size = worths.shape[-1]
    slope = np.zeros((*worths.shape[:-1], size + 1))
    information = np.zeros((*worths.shape[:-1], size + 1, size + 1))
    spread = _incidence(size, pairs)
    slope[..., :size] = by_half @ spread
    slope[..., size] = (tied - votes * tie).sum(axis=-1)
    information[..., first, second] = information[..., second, first] = -bend
    information[..., range(size), range(size)] = bend @ np.abs(spread)
    information[..., :size, :size] += 1.0  # adds what a common constant leaves undetermined
    information[..., size, :size] = information[..., :size, size] = cross @ spread
    bent = (votes * tie * (1 - tie)).sum(axis=-1)
    information[..., size, size] = np.where(np.isfinite(log_nu), bent, 1.0)
    return slope, information


def _incidence(size: int, pairs: Pairs) -> Floats:
    """[pairs, systems]: 1 for a pair's first system, -1 for its second."""
    found = np.zeros((len(pairs[0]), size))
    rows = np.arange(len(pairs[0]))
    found[rows, pairs[0]], found[rows, pairs[1]] = 1.0, -1.0
    return found


def covariance(found: Fit) -> Floats:
    """[systems, systems]: the covariance of one table's centred worths, votes taken as independent."""
    size = len(found.worths)
    inverse = np.linalg.inv(found.information)[:size, :size]
    return np.asarray(inverse - 1.0 / size**2)


def against(found: Fit, reference: int) -> tuple[Floats, Floats]:
    """Worths relative to one system's, and their standard errors; both 0 for that system."""
    cov = covariance(found)
    variance = np.diag(cov) + cov[reference, reference] - 2 * cov[reference]
    return found.worths - found.worths[reference], np.sqrt(np.maximum(variance, 0.0))


def deviance(wins: Floats, worths: Floats) -> tuple[float, int]:
    """How far win counts are from Bradley and Terry's model, and its degrees of freedom."""
    first, second = np.triu_indices(len(worths), 1)
    won, lost = wins[first, second], wins[second, first]
    chance = 1 / (1 + np.exp(worths[second] - worths[first]))
    votes = won + lost
    off = [_entropy(won, votes * chance), _entropy(lost, votes * (1 - chance))]
    return float(2 * sum(off)), int((votes > 0).sum()) - (len(worths) - 1)


def _entropy(seen: Floats, expected: Floats) -> float:
    some = seen > 0
    return float((seen[some] * np.log(seen[some] / expected[some])).sum())


def bradley_terry(wins: Floats, systems: tuple[str, ...]) -> Fit | Undefined:
    """Worths of one table of wins without ties; the diagonal is ignored."""
    bare = np.asarray(wins, dtype=np.float64) * (1 - np.eye(len(systems)))
    return davidson(bare, np.zeros_like(bare), systems)


def davidson(wins: Floats, ties: Floats, systems: tuple[str, ...]) -> Fit | Undefined:
    """Worths and nu of one table of wins and ties, or why there are none."""
    if ties.any() and not wins.any():
        return Undefined("every vote is a tie")
    why = why_undefined(wins, ties, systems)
    return Undefined(why) if why else fit(wins, ties)
