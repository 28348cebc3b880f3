"""A report as tables of words: every figure with its intervals, and the reason where there is none.

The page and the report file show the same tables. Knows figures and labels; no votes, no markup.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from core.studies.figures import Undefined
from core.studies.preferences import Preference, TieModel
from core.studies.proportions import Share
from core.studies.rankings import Ranking, Worths
from core.studies.report import Figures, Stratum
from ui.study_figures import Figure, Table, named, say, say_p


def tables(figures: Figures, strata: Sequence[Stratum]) -> tuple[Table, ...]:
    """Every figure of one set of votes."""
    return (
        _counts(figures),
        *_preferences(figures.preferences),
        *_strata(strata),
        _standings(figures.ranking),
        *_matrix(figures.ranking),
        *_worths(figures.ranking),
        _sides(figures),
        _length(figures),
        _agreement(figures),
        _power(figures),
        _raters(figures),
    )


def _counts(figures: Figures) -> Table:
    n = figures.counts
    rows = named(
        ("Raters", n.raters),
        ("Items", n.items),
        ("Votes", n.votes),
        ("for one side", n.decided),
        ("ties", n.ties),
        ("both bad", n.both_bad),
        ("Skipped, not in the votes", n.skipped),
        ("Repeated showings", n.repeated),
        ("Retests, not in the votes", n.retests),
        ("Practice, gold and attention items, not in the votes", n.other_kinds),
        *((f"Marked by the rule “{rule}”", number) for rule, number in n.excluded),
    )
    return Table("Answers", ("", "Number"), rows)


def _name(one: Preference) -> str:
    return f"{one.first} over {one.second}"


def _preferences(pairs: Iterable[Preference]) -> Iterable[Table]:
    pairs = list(pairs)
    columns = ("Pair", "Won", "Lost", "Tied", "Both bad", "Skipped")
    counted = tuple(
        (_name(p), say(p.wins), say(p.losses), say(p.ties), say(p.both_bad), say(p.skipped)) for p in pairs
    )
    yield Table("Votes of each pair", columns, counted, "" if pairs else "There are no votes.")
    yield Table(
        "Preferences",
        ("Pair", "Ties", "Share", "Wilson 95 %", "clustered 95 %", "bootstrap 95 %", "Design effect"),
        tuple(row for p in pairs for row in _three_ways(p)),
        "Wilson's interval takes votes as independent. The clustered one allows for votes of one rater, and "
        "of one item, being alike; claims rest on it. The bootstrap draws raters and items anew.",
    )
    yield Table(
        "Tests against no preference",
        ("Pair", "Sign test, p", "after Holm", "Clustered, p", "after Holm"),
        tuple(
            (_name(p), *map(say_p, (p.sign_p, p.sign_p_holm, p.clustered_p, p.clustered_p_holm)))
            for p in pairs
        ),
        "The exact sign test takes votes as independent. Holm's correction is over all pairs.",
    )


def _three_ways(one: Preference) -> list[tuple[str, ...]]:
    modelled = one.davidson.share if isinstance(one.davidson, TieModel) else one.davidson
    nu = f"modelled (Davidson, nu {say(one.davidson.nu)})" if isinstance(one.davidson, TieModel) else ""
    return [
        (_name(one), "dropped", *_share(one.dropped), say(one.bootstrap, True), _effect(one.dropped)),
        (_name(one), "half a vote each", *_share(one.half), "–", _effect(one.half)),
        (_name(one), nu or "modelled (Davidson)", say(modelled, True), "–", "–", "–", "–"),
    ]


def _share(found: Share | Undefined) -> tuple[str, str, str]:
    if isinstance(found, Undefined):
        return say(found), "–", "–"
    return say(found.value, True), say(found.wilson, True), say(found.clustered, True)


def _effect(found: Share | Undefined) -> str:
    if isinstance(found, Undefined) or isinstance(found.spread, Undefined):
        return "–"
    return f"{found.spread.design_effect:.2f} (by {found.spread.by})"


def _strata(strata: Sequence[Stratum]) -> Iterable[Table]:
    if not strata:
        return
    rows = tuple(
        (
            stratum.name or "(unnamed)",
            _name(p),
            say(p.wins + p.losses),
            *_share(p.dropped),
            say_p(p.sign_p_holm),
            say_p(p.clustered_p_holm),
        )
        for stratum in strata
        for p in stratum.preferences
    )
    columns = ("Stratum", "Pair", "Non-tied votes", "Share", "Wilson 95 %", "clustered 95 %",
               "Sign test, Holm's p", "Clustered, Holm's p")  # fmt: skip
    note = "Holm's correction is over the strata, pair by pair. Ties are dropped."
    yield Table("Preferences by stratum", columns, rows, note)


def _standings(ranking: Ranking) -> Table:
    rows = tuple(
        (
            s.system,
            say(s.wins),
            say(s.losses),
            say(s.ties),
            say(s.share, True),
            say(s.interval, True),
            s.note,
        )
        for s in ranking.standings
    )
    columns = ("System", "Won", "Lost", "Tied", "Share won", "Wilson 95 %", "")
    return Table("Standing of each system", columns, rows, "Ties are no part of the share.")


def _matrix(ranking: Ranking) -> Iterable[Table]:
    names = [s.system for s in ranking.standings]
    if not names:
        return
    rows = tuple(
        (name, *("–" if a == b else _cell(ranking, a, b) for b in range(len(names))))
        for a, name in enumerate(names)
    )
    note = "How often the row's system was preferred to the column's; ties in brackets."
    yield Table("Win matrix", ("", *names), rows, note)


def _cell(ranking: Ranking, row: int, column: int) -> str:
    ties = ranking.ties[row][column]
    return f"{ranking.wins[row][column]:,}" + (f" ({ties:,})" if ties else "")


def _worths(ranking: Ranking) -> Iterable[Table]:
    ways = {
        "Worths, ties modelled (Davidson)": ranking.davidson,
        "Worths, ties as half a vote each (Bradley-Terry)": ranking.half,
        "Worths, ties dropped (Bradley-Terry)": ranking.dropped,
    }
    for title, found in ways.items():
        columns = (
            "Rank",
            "System",
            "Log worth",
            "SE",
            "Wald 95 %",
            "clustered 95 %",
            "Ranks in 95 % of draws",
        )
        if isinstance(found, Undefined):
            yield Table(title, ("",), ((say(found),),))
        else:
            yield Table(title, columns, tuple(_worth_rows(found)), _drawn(found))


def _worth_rows(found: Worths) -> Iterable[tuple[str, ...]]:
    for w in found.worths:
        ranks = w.ranks if isinstance(w.ranks, Undefined) else f"{w.ranks[0]} to {w.ranks[1]}"
        yield (str(w.rank), w.system, say(w.worth), say(w.se), say(w.naive), say(w.clustered), say(ranks))


def _drawn(found: Worths) -> str:
    left = f"; {found.undefined_draws} of them without worths" if found.undefined_draws else ""
    nu = f" Davidson's nu is {say(found.nu)}." if found.ties == "davidson" else ""
    return f"Against the mean of all. Clustered: raters drawn anew {found.draws:,} times{left}.{nu}"


def _sides(figures: Figures) -> Table:
    balance, effect = figures.sides, figures.side_effect
    rows: list[tuple[str, Figure]] = [
        (f"{p.first} on the left of {p.second}, times", p.first_left) for p in balance.pairs
    ]
    rows += [(f"{p.first} on the right of {p.second}, times", p.first_right) for p in balance.pairs]
    rows += [
        ("Largest difference of a pair", balance.largest_difference),
        ("Largest difference of a rater and pair", balance.largest_difference_of_a_rater),
    ]
    if isinstance(effect, Undefined):
        return Table("Sides", ("", ""), named(*rows, ("Effect of the side", effect)))
    rows += [
        ("Non-tied votes for the left", f"{effect.left:,} of {effect.decided:,}"),
        ("Share for the left, Wilson 95 %", say(effect.share, True)),
        ("Effect of the left, log odds", effect.effect),
        ("the same, clustered by rater", effect.clustered),
        ("Preference with the side held even, log odds", effect.preference),
    ]
    note = "Above 0: the left is favoured. The effect is that for equally good systems."
    return Table("Sides", ("", ""), named(*rows), note)


def _length(figures: Figures) -> Table:
    found = figures.length
    if isinstance(found, Undefined):
        return Table("At equal length", ("", ""), named(("Adjusted preference", found)))
    rows: list[tuple[str, Figure]] = [
        ("Votes with known lengths", found.votes),
        ("A longer text, log odds for one standard deviation", found.length),
        ("Preference at equal length, log odds", found.preference),
        ("the same as a share of votes", say(found.share, True)),
    ]
    rows += [
        (f"{w.system}, log worth", f"{say(w.adjusted)}; unadjusted {say(w.unadjusted)}") for w in found.worths
    ]
    return Table("At equal length", ("", ""), named(*rows))


def _agreement(figures: Figures) -> Table:
    found, again = figures.agreement, figures.retests
    rows: list[tuple[str, Figure]] = [("Raters of the same pairing agree, raw", say(found.raw, True))]
    for name, alpha in (
        ("Krippendorff's alpha", found.alpha),
        ("the same, ordinal by strength", found.ordinal),
    ):
        rows.append(
            (name, alpha if isinstance(alpha, Undefined) else f"{say(alpha.value)} ({say(alpha.interval)})")
        )
    rows += [
        ("Gwet's AC1", found.ac1),
        ("Same answer when asked again", f"{again.same} of {again.asked}"),
        ("as a share", say(again.share, True)),
        ("Wilson 95 %", say(again.interval, True)),
        ("Likeness of one rater's votes (ICC)", figures.icc),
    ]
    return Table("Agreement", ("", ""), named(*rows), "0 is agreement as by chance, 1 is complete.")


def _power(figures: Figures) -> Table:
    rows: list[tuple[str, Figure]] = []
    for pair, power in zip(figures.preferences, figures.power, strict=True):
        if isinstance(power, Undefined):
            rows.append((f"{_name(pair)}: power", power))
            continue
        rows += [
            (
                f"{_name(pair)}: votes, as so many independent ones",
                f"{power.effective:.0f} of {power.decided}",
            ),
            (f"power to find {say(power.preference, True)}", power.power),
            (f"smallest preference found with power {power.target}", say(power.detectable, True)),
        ]
    weak = figures.fragility
    if isinstance(weak, Undefined):
        return Table("Power and fragility", ("", ""), named(*rows, ("Fragility", weak)))
    rows += [
        (f"Votes for {weak.leader} that, given to {weak.runner_up}, turn the order", weak.votes_to_turn),
        ("votes until the sign test shows no preference", weak.votes_to_blur),
        ("raters to leave out until the order turns", weak.raters_to_turn),
    ]
    return Table("Power and fragility", ("", ""), named(*rows))


def _raters(figures: Figures) -> Table:
    rows = tuple(
        (r.rater, *map(say, (r.votes, r.decided, r.left, r.ties, r.skipped)), say(r.seconds))
        for r in figures.raters
    )
    columns = ("Rater", "Votes", "for a side", "for the left", "Ties", "Skipped", "Median seconds")
    return Table("Raters", columns, rows, "Ties hold both bad.")
