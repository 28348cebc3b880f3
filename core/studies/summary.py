"""A report in plain sentences that claim no more than its figures. Knows no page and no other language."""

from __future__ import annotations

from core.studies.figures import Interval, Undefined
from core.studies.preferences import Preference
from core.studies.proportions import Share
from core.studies.rankings import Worth
from core.studies.report import Figures, Report, Stratum

GOOD_POWER = 0.8


def summary(found: Report) -> tuple[str, ...]:
    """What the report says, one thought a sentence, the votes without exclusions first."""
    figures = found.kept
    sentences = [_counts(figures)]
    if len(found.systems) > 2:
        sentences += [*_order(figures), *_pairs(figures)]
    for one in figures.preferences if len(found.systems) <= 2 else ():
        sentences += _pair(one, figures)
    sentences += [_side(figures), _agreement(figures), *_retests(figures), *_length(figures)]
    sentences += [*_strata(found.kept_strata), *_blinding(found), *_masks(found), *_exclusions(found)]
    return tuple(sentence for sentence in sentences if sentence)


def verdict(one: Preference) -> str:
    """The system that the clustered interval shows to be preferred, or ""."""
    if isinstance(one.dropped, Undefined) or isinstance(one.dropped.clustered, Undefined):
        return ""
    shown = one.dropped.clustered
    return one.first if shown.low > 0.5 else one.second if shown.high < 0.5 else ""


def _counts(figures: Figures) -> str:
    n = figures.counts
    if n.votes + n.skipped == 0:
        return "There are no votes."
    parts = [
        f"{n.decided} for one side",
        f"{_many(n.ties, 'tie')}",
        f"{n.both_bad} for neither as both are bad",
    ]
    skips = f"; {_many(n.skipped, 'skip')} beside them" if n.skipped else ""
    return (
        f"{_many(n.raters, 'rater')} gave {_many(n.votes, 'vote')} on {_many(n.items, 'item')}: "
        f"{', '.join(parts)}{skips}."
    )


def _many(number: int, word: str) -> str:
    return f"{number:,} {word}" if number == 1 else f"{number:,} {word}s"


def _pair(one: Preference, figures: Figures) -> list[str]:
    if isinstance(one.dropped, Undefined):
        return [f"Which of {one.first} and {one.second} is preferred can't be told: {one.dropped.why}."]
    sentences = [_share(one, one.dropped), _clustered(one, one.dropped), _ties(one), _sign(one)]
    return [*sentences, _power(one, figures), _fragility(figures)]


def _share(one: Preference, share: Share) -> str:
    ahead, behind, wins = _leader(one)
    kept = share.wilson if ahead == one.first else _turned(share.wilson)
    return (
        f"{wins:,} of {share.votes:,} non-tied votes preferred {ahead} to {behind} "
        f"({_percent(wins / share.votes)}, {_range(kept)} if votes were independent)."
    )


def _leader(one: Preference) -> tuple[str, str, int]:
    if one.wins >= one.losses:
        return one.first, one.second, one.wins
    return one.second, one.first, one.losses


def _turned(interval: Interval) -> Interval:
    return Interval(1 - interval.high, 1 - interval.low, interval.method, interval.level)


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _range(interval: Interval) -> str:
    return f"{100 * interval.level:.0f} % interval {_ends(interval)}"


def _ends(interval: Interval) -> str:
    return f"{100 * interval.low:.1f} to {100 * interval.high:.1f} %"


def _clustered(one: Preference, share: Share) -> str:
    if isinstance(share.clustered, Undefined) or isinstance(share.spread, Undefined):
        why = share.clustered.why if isinstance(share.clustered, Undefined) else ""
        return f"Whether other raters would prefer the same can't be told: {why}."
    ahead = _leader(one)[0]
    interval = share.clustered if ahead == one.first else _turned(share.clustered)
    said = f"With votes clustered by {share.spread.by} the interval is {_ends(interval)}"
    if not verdict(one):
        return f"{said}, which includes one half: no preference is shown."
    return f"{said}, which lies above one half: a preference for {ahead} is shown."


def _ties(one: Preference) -> str:
    ties = one.ties + one.both_bad
    if not ties or isinstance(one.half, Undefined):
        return ""
    ahead = _leader(one)[0]
    half = one.half.value if ahead == one.first else 1 - one.half.value
    return f"With {_many(ties, 'tie')} counted as half a vote each, {ahead} has {_percent(half)}."


def _sign(one: Preference) -> str:
    if isinstance(one.sign_p, Undefined):
        return ""
    return f"The exact sign test, which takes votes as independent, has p {_p(one.sign_p)}."


def _p(value: float) -> str:
    return "< 0.001" if value < 0.001 else f"= {value:.3f}"


def _power(one: Preference, figures: Figures) -> str:
    power = figures.power[0]
    if verdict(one) or isinstance(power, Undefined):
        return ""
    said = (
        f"These votes had a power of {power.power:.2f} to find a preference of {_percent(power.preference)}"
    )
    if power.power < GOOD_POWER:
        return f"{said}: that none is shown does not mean that there is none."
    return f"{said}: a smaller one may have been missed."


def _fragility(figures: Figures) -> str:
    found = figures.fragility
    if isinstance(found, Undefined) or isinstance(found.votes_to_turn, Undefined):
        return ""
    changed = _many(found.votes_to_turn, "vote")
    return f"Had {changed} for {found.leader} gone to {found.runner_up}, the order would be the other way."


def _order(figures: Figures) -> list[str]:
    worths = figures.ranking.davidson
    if isinstance(worths, Undefined):
        return [f"The systems can't be ranked: {worths.why}.", *_unbeaten(figures)]
    best = worths.worths[0]
    order = ", ".join(worth.system for worth in worths.worths)
    return [f"In the order of their worths (Davidson's model): {order}.", _best(best, worths.worths)]


def _best(best: Worth, worths: tuple[Worth, ...]) -> str:
    if isinstance(best.ranks, Undefined):
        return f"How sure that order is can't be told: {best.ranks.why}."
    rivals = [w.system for w in worths if not isinstance(w.ranks, Undefined) and w.ranks[0] == 1]
    if best.ranks[1] == 1 and len(rivals) == 1:
        return f"With raters drawn anew, {best.system} stays first in at least 95 % of the draws."
    return f"With raters drawn anew, any of these comes first: {', '.join(rivals)}; none is shown to be best."


def _pairs(figures: Figures) -> list[str]:
    p = [one.clustered_p_holm for one in figures.preferences]
    shown = sum(1 for value in p if not isinstance(value, Undefined) and value <= 0.05)
    return [f"Of {_many(len(p), 'pair')}, {shown} show a preference after Holm's correction."] if p else []


def _unbeaten(figures: Figures) -> list[str]:
    noted = [f"{s.system}: {s.note}" for s in figures.ranking.standings if s.note]
    return [f"{'; '.join(noted)}."] if noted else []


def _side(figures: Figures) -> str:
    found = figures.side_effect
    if isinstance(found, Undefined) or isinstance(found.share, Undefined):
        return ""
    said = f"{found.left:,} of {found.decided:,} non-tied votes went to the left ({_range(found.share)})"
    effect = found.effect if isinstance(found.clustered, Undefined) else found.clustered
    if isinstance(effect, Undefined):
        return f"{said}; the effect of the side can't be told: {effect.why}."
    if isinstance(effect.interval, Undefined) or 0.0 in effect.interval:
        return f"{said}: no effect of the side is shown."
    return f"{said}: raters favoured the {'left' if effect.value > 0 else 'right'}."


def _agreement(figures: Figures) -> str:
    found = figures.agreement
    if isinstance(found.raw, Undefined):
        return f"How far raters agree can't be told: {found.raw.why}."
    said = f"Raters of the same pairing agreed in {_percent(found.raw)} of cases"
    if isinstance(found.alpha, Undefined):
        return f"{said}; beyond chance it is undefined: {found.alpha.why}."
    return f"{said} (Krippendorff's alpha {_two(found.alpha.value)}: 0 is chance, 1 complete)."


def _retests(figures: Figures) -> list[str]:
    found = figures.retests
    if isinstance(found.share, Undefined):
        return []
    return [f"Asked again, raters gave the same answer {found.same} of {_many(found.asked, 'time')}."]


def _length(figures: Figures) -> list[str]:
    found = figures.length
    if isinstance(found, Undefined) or isinstance(found.share, Undefined):
        return []
    name = found.worths[0].system
    return [f"At equal length and on either side alike, {name} would be preferred in {_ends(found.share)}."]


def _strata(strata: tuple[Stratum, ...]) -> list[str]:
    if not strata or max(len(stratum.preferences) for stratum in strata) != 1:
        return []
    shown = [_stratum(s.name, s.preferences[0]) for s in strata if s.preferences]
    those = [said for said in shown if said]
    said = "; ".join(those) if those else "a preference is shown in none"
    return [
        f"In {_many(len(strata), 'stratum').replace('stratums', 'strata')}, after Holm's correction: {said}."
    ]


def _stratum(name: str, one: Preference) -> str:
    p = one.clustered_p_holm
    if isinstance(p, Undefined) or p > 0.05:
        return ""
    return f"in {name or 'the unnamed one'}, {_leader(one)[0]} is preferred (p {_p(p)})"


def _blinding(found: Report) -> list[str]:
    blind = found.blinding
    if isinstance(blind.index, Undefined):
        return []
    asked = blind.right + blind.wrong + blind.unsure
    said = f"{blind.right} of {_many(asked, 'rater')} guessed right which was which, {blind.wrong} wrong"
    return [f"{said} (Bang's index {_two(blind.index.value)}; 0 is as by chance)."]


def _two(value: float) -> str:
    return f"{round(value, 2) + 0.0:.2f}"  # + 0.0 turns -0.0 into 0.0


def _masks(found: Report) -> list[str]:
    return ["The systems' names are still masked."] if found.masked and found.kept.counts.votes else []


def _conclusion(figures: Figures) -> object:
    """What would have to be the same for a conclusion to stay: who is preferred, or who may be the best."""
    worths = figures.ranking.davidson
    if len(figures.ranking.standings) <= 2:
        return [verdict(one) for one in figures.preferences]
    if isinstance(worths, Undefined):
        return worths
    return {
        w.system for w in worths.worths if w.rank == 1 or (isinstance(w.ranks, tuple) and w.ranks[0] == 1)
    }


def _exclusions(found: Report) -> list[str]:
    left_out = found.everything.counts.votes - found.kept.counts.votes
    if not left_out:
        return []
    said = f"{_many(left_out, 'vote')} left out by the exclusion rules"
    if _conclusion(found.everything) == _conclusion(found.kept):
        return [f"{said}; with them the conclusion is the same."]
    return [f"{said}; with them the conclusion differs: see the figures of all votes."]
