"""All figures of a study as one value: with and without exclusions, whole and by stratum.

Knows labels, not systems: masked labels come in, and stay unless the names are given, which is the
unblinding's business. Figures that do not exist are there as Undefined with the reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from core.studies.agreement import Alpha, gwet_ac1, krippendorff, raw_agreement
from core.studies.balance import Consistency, Counts, Sides, consistency, counts, sides
from core.studies.figures import NO_VOTES, Estimate, Undefined
from core.studies.fragility import Fragility, of_two, of_worths
from core.studies.guesses import Blinding, Guess, blinding
from core.studies.logit import LengthAdjusted, SideEffect, length_adjusted, side_effect
from core.studies.power import Achieved, achieved
from core.studies.preferences import Preference, adjusted, preferences
from core.studies.proportions import intraclass
from core.studies.rankings import Ranking, ranking
from core.studies.raters import RaterRow, rater_rows
from core.studies.votes import BOTH_BAD, SKIP, TIE, Floats, Vote, VoteTable, tabulate
from core.studies.worths import davidson


@dataclass(frozen=True)
class Rules:
    """What of the protocol shapes the figures: the preference (share of non-tied votes) and power that were
    planned, how often to resample and from which seed, and whether both bad is a tie or no vote."""

    preference: float = 0.6
    power: float = 0.8
    draws: int = 1000
    seed: int = 0
    both_bad: Literal["tie", "dropped"] = "tie"


@dataclass(frozen=True)
class Agreement:
    """How far raters agree who judged the same pairing: raw, and beyond chance. `ordinal` goes by how far
    votes lean (clearly, slightly, tie), where the strength was asked."""

    raw: float | Undefined
    alpha: Alpha | Undefined
    ordinal: Alpha | Undefined
    ac1: Estimate | Undefined


@dataclass(frozen=True)
class Figures:
    """Every figure of one set of votes; `power` has an entry for each of `preferences`, in order."""

    counts: Counts
    sides: Sides
    preferences: tuple[Preference, ...]
    ranking: Ranking
    side_effect: SideEffect | Undefined
    length: LengthAdjusted | Undefined
    agreement: Agreement
    retests: Consistency
    icc: float | Undefined
    power: tuple[Achieved | Undefined, ...]
    fragility: Fragility | Undefined
    raters: tuple[RaterRow, ...]


@dataclass(frozen=True)
class Stratum:
    """The figures of one stratum; Holm's p values are over the strata, pair by pair."""

    name: str
    counts: Counts
    preferences: tuple[Preference, ...]
    ranking: Ranking


@dataclass(frozen=True)
class Report:
    """A study's figures without the excluded votes (`kept`) and with them (`everything`)."""

    rules: Rules
    systems: tuple[str, ...]
    kept: Figures
    kept_strata: tuple[Stratum, ...]
    everything: Figures
    all_strata: tuple[Stratum, ...]
    blinding: Blinding
    masked: bool = field(default=True)


def report(
    votes: Iterable[Vote] | VoteTable,
    rules: Rules = Rules(),
    *,
    systems: Iterable[str] = (),
    names: Mapping[str, str] | None = None,
    guesses: Iterable[Guess] = (),
) -> Report:
    """The report of a study's votes.

    `systems`: labels of the study's systems, also of those without votes; `names`: label to name, once
    unblinded. Raises ValueError for a vote that is none (see `tabulate`).
    """
    table = votes if isinstance(votes, VoteTable) else tabulate(votes, tuple(systems))
    table = table.renamed(names or {})
    kept = table.kept()
    figures, strata = _figures(kept, rules), _strata(kept, rules)
    same = kept is table
    return Report(
        rules,
        table.systems,
        figures,
        strata,
        figures if same else _figures(table, rules),
        strata if same else _strata(table, rules),
        blinding(guesses),
        masked=names is None,
    )


def _counting(table: VoteTable, rules: Rules) -> VoteTable:
    """The votes as the rules count them: both bad left out where it is no tie."""
    if rules.both_bad == "tie":
        return table
    return table.where(table.outcome != BOTH_BAD)


def _figures(table: VoteTable, rules: Rules) -> Figures:
    main = table.main()
    votes = _counting(main, rules)
    pairs = preferences(votes, draws=rules.draws if len(votes.systems) == 2 else 0, seed=rules.seed)
    order = ranking(votes, draws=rules.draws, seed=rules.seed)
    decided = votes.decided()
    return Figures(
        counts=counts(table),
        sides=sides(main),
        preferences=pairs,
        ranking=order,
        side_effect=side_effect(votes),
        length=length_adjusted(votes),
        agreement=agreement(main, rules),
        retests=consistency(table),
        icc=intraclass(decided.first_wins, decided.rater) if len(pairs) == 1 else _one_pair(pairs),
        power=tuple(_power(pair, rules) for pair in pairs),
        fragility=_fragility(decided, pairs, order),
        raters=rater_rows(main),
    )


def _one_pair(pairs: tuple[Preference, ...]) -> Undefined:
    return Undefined("told for two systems only") if pairs else NO_VOTES


def _power(pair: Preference, rules: Rules) -> Achieved | Undefined:
    if isinstance(pair.dropped, Undefined):
        return pair.dropped
    if isinstance(pair.dropped.spread, Undefined):
        return pair.dropped.spread
    effect = pair.dropped.spread.design_effect
    return achieved(pair.wins + pair.losses, effect, rules.preference, rules.power)


def _fragility(decided: VoteTable, pairs: tuple[Preference, ...], order: Ranking) -> Fragility | Undefined:
    if len(pairs) == 1:
        return of_two(decided.first_wins, decided.rater, (pairs[0].first, pairs[0].second))
    wins, ties = np.array(order.wins, dtype=np.float64), np.array(order.ties, dtype=np.float64)
    played = np.flatnonzero((wins + wins.T + ties).any(axis=1)) if len(wins) else np.zeros(0, dtype=np.intp)
    if not len(played):
        return NO_VOTES
    wins, ties = (matrix[np.ix_(played, played)] for matrix in (wins, ties))
    names = tuple(order.standings[place].system for place in played)
    found = davidson(wins, ties, names)
    return found if isinstance(found, Undefined) else of_worths(wins, ties, names, found)


def agreement(table: VoteTable, rules: Rules = Rules()) -> Agreement:
    """How far raters agree on the pairings (item and pair of systems) that several of them judged."""
    votes = table.where(table.outcome < SKIP)
    choices = _unit_counts(votes, votes.outcome, TIE + 2)
    seed, draws = rules.seed, rules.draws
    return Agreement(
        raw_agreement(choices),
        krippendorff(choices, range(TIE + 2), draws=draws, seed=seed),
        _ordinal(votes, rules),
        gwet_ac1(choices),
    )


def _ordinal(votes: VoteTable, rules: Rules) -> Alpha | Undefined:
    if not votes.strength.any():
        return Undefined("the strength of preferences was not asked")
    lean = np.choose(np.minimum(votes.outcome, TIE), [1, -1, 0]) * np.maximum(votes.strength, 1)
    far = int(np.abs(lean).max())
    found = _unit_counts(votes, lean + far, 2 * far + 1)
    return krippendorff(found, range(-far, far + 1), "ordinal", draws=rules.draws, seed=rules.seed)


def _unit_counts(votes: VoteTable, answers: np.typing.NDArray[np.int64], sorts: int) -> Floats:
    """[pairings, sorts of answers]: how often each pairing got each answer."""
    _, unit = np.unique(votes.item * len(votes.systems) ** 2 + votes.pair, return_inverse=True)
    units = int(unit.max(initial=-1)) + 1
    flat = np.bincount(unit * sorts + answers, minlength=units * sorts)
    return flat.reshape(units, sorts).astype(np.float64)


def _strata(table: VoteTable, rules: Rules) -> tuple[Stratum, ...]:
    """The figures of every stratum, where there are several."""
    if len(table.strata) < 2:
        return ()
    found = [
        _stratum(name, table.where(table.stratum == code), rules) for code, name in enumerate(table.strata)
    ]
    return _over_strata(found)


def _stratum(name: str, table: VoteTable, rules: Rules) -> Stratum:
    votes = _counting(table.main(), rules)
    return Stratum(name, counts(table), preferences(votes), ranking(votes))


def _over_strata(strata: list[Stratum]) -> tuple[Stratum, ...]:
    """The same strata, every pair's p values corrected over the strata in which it was judged."""
    families: dict[tuple[str, str], list[Preference]] = {}
    for stratum in strata:
        for one in stratum.preferences:
            families.setdefault((one.first, one.second), []).append(one)
    corrected = {key: iter(adjusted(family)) for key, family in families.items()}
    return tuple(
        replace(s, preferences=tuple(next(corrected[one.first, one.second]) for one in s.preferences))
        for s in strata
    )
