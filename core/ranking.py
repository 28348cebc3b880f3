"""Which of several candidates the policy would choose, and why. Pure rules; ties are said, never hidden.

A flagged candidate (about the text rather than the text) is chosen only where all are flagged. Scores rank
where they are known and measured under one condition; a verifier comes before the gate's score.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from core.domain import Draft, Settings
from core.steps import Grouped

Key = tuple[float, ...]
UNKNOWN = float("-inf")
LOOKAHEAD = "lookahead"
"""The score of a draft by what one more revision makes of it; beside the gate's own score."""


@dataclass(frozen=True)
class Advice:
    """The numbers of the candidates to choose, best first; not `sure` where nothing told them apart.

    With `synthesise` it is to have one text written from them.
    """

    picks: tuple[int, ...]
    reason: str
    sure: bool = True
    synthesise: bool = False


def fit(drafts: Sequence[Draft]) -> list[int]:
    """The numbers of those that are not flagged, or of all where all are; of equal texts the first."""
    texts: dict[str, int] = {}
    for number, draft in enumerate(drafts):
        if not draft.flags:
            texts.setdefault(draft.text, number)
    return list(texts.values()) or list(range(len(drafts)))


def by_score(drafts: Sequence[Draft], settings: Settings, keep: int = 1, *, ahead: bool = False) -> Advice:
    """The `keep` candidates of the highest scores; with `ahead` by their look-ahead, where they have one."""
    names = scorers(settings)
    drafts = [_ahead(draft, settings.gate_scorer or "") for draft in drafts] if ahead else drafts
    usable = fit(drafts)
    keys = {number: _key(drafts, drafts[number], names) for number in usable}
    ranked = sorted(usable, key=lambda number: keys[number], reverse=True)
    picks = tuple(ranked[:keep])
    known = [number for number in usable if any(value != UNKNOWN for value in keys[number])]
    if not known:
        return Advice(picks, _unranked(drafts, names), sure=len(usable) <= keep)
    tied = [number for number in ranked if keys[number] == keys[picks[-1]]]
    undecided = len(ranked) > keep and keys[ranked[keep]] == keys[picks[-1]]
    why = _best(drafts[picks[0]], names, len(usable), tied if undecided else [])
    return Advice(picks, why, sure=not undecided)


def by_score_unless(drafts: Sequence[Draft], written: int, settings: Settings) -> Advice:
    """The candidate number `written`, which was made from the others, unless one of them scores higher."""
    made, others = drafts[written], by_score(drafts, settings)
    names = scorers(settings)
    best = drafts[others.picks[0]]
    if made.flags and not best.flags:
        return Advice(others.picks, f"What was written from all is flagged ({', '.join(made.flags)}).", False)
    if made.text == best.text or _key(drafts, made, names) >= _key(drafts, best, names):
        return Advice((written,), "It was written from all candidates, and none of them scores higher.")
    return Advice(others.picks, f"{others.reason} What was written from all scores lower.", sure=False)


def scorers(settings: Settings) -> tuple[str, ...]:
    """The scorers that rank, the most important first."""
    names = (settings.verifier, settings.gate_scorer)
    return tuple(dict.fromkeys(name for name in names if name))


def _ahead(draft: Draft, name: str) -> Draft:
    """The draft with its look-ahead in the place of its score."""
    look = draft.score(LOOKAHEAD)
    if look is None:
        return draft
    kept = tuple(score for score in draft.scores if score.scorer != name)
    return replace(draft, scores=(*kept, replace(look, scorer=name)))


def _key(drafts: Sequence[Draft], draft: Draft, names: Sequence[str]) -> Key:
    return tuple(_comparable(drafts, draft, name) for name in names)


def _comparable(drafts: Sequence[Draft], draft: Draft, name: str) -> float:
    """The draft's value where it is known and measured as that of the first whose value is known."""
    known = [score for each in drafts if (score := each.score(name)) is not None and score.value is not None]
    own = draft.score(name)
    if own is None or own.value is None or own.condition != known[0].condition:
        return UNKNOWN
    return own.value


def _best(best: Draft, names: Sequence[str], count: int, tied: Sequence[int]) -> str:
    known = [(name, value) for name in names if (value := best.value(name)) is not None]
    shown = " and ".join(f"{name.replace('_', '-')} {value:.4g}" for name, value in known)
    if tied:
        return f"{len(tied)} candidates tie at {shown}; nothing tells them apart, so the first is advised."
    return (
        f"Its {shown} is the highest of {count}." if count > 1 else f"It is the only one to choose: {shown}."
    )


def _unranked(drafts: Sequence[Draft], names: Sequence[str]) -> str:
    which = "the first that is not flagged" if any(not draft.flags for draft in drafts) else "the first"
    if not names:
        return f"No scorer was chosen, so nothing tells the candidates apart: {which} is advised."
    spoken = " or ".join(name.replace("_", "-") for name in names)
    return f"No candidate has a known {spoken}, so nothing tells them apart: {which} is advised."


def by_votes(drafts: Sequence[Draft], grouped: Grouped, settings: Settings) -> Advice:
    """The best-scored candidate of the answer that most give; the mean score breaks a tie of answers."""
    fitting = set(fit_all(drafts))
    classes = [tuple(n for n in c if n in fitting) for c in grouped.classes]
    classes = [c for c in classes if c]
    if not classes:
        advice = by_score(drafts, settings)
        return Advice(advice.picks, f"No candidate gives an answer. {advice.reason}", advice.sure)
    most = max(len(c) for c in classes)
    leading = [c for c in classes if len(c) == most]
    votes = f"{most} of {len(drafts)} candidates"
    if len(leading) == 1:
        winner = _best_of(drafts, leading[0], settings)
        return Advice((winner,), f"{votes} answer {_short(grouped.answers[leading[0][0]])}.")
    return _broken(drafts, leading, grouped, settings, most)


def fit_all(drafts: Sequence[Draft]) -> list[int]:
    """As `fit`, but with equal texts: each of them is a vote."""
    return [n for n, draft in enumerate(drafts) if not draft.flags] or list(range(len(drafts)))


def _broken(
    drafts: Sequence[Draft],
    leading: Sequence[tuple[int, ...]],
    grouped: Grouped,
    settings: Settings,
    most: int,
) -> Advice:
    """The answer of the highest mean score among those with the same number of votes."""
    names = scorers(settings)
    answers = ", ".join(_short(grouped.answers[c[0]]) for c in leading)
    tie = f"Tie: {answers} have {most} vote{'s' if most > 1 else ''} each."
    means = [_mean_key(drafts, c, names) for c in leading]
    top = max(means, default=())
    first = leading[means.index(top)]
    pick = (_best_of(drafts, first, settings),)
    if means.count(top) > 1 or all(value == UNKNOWN for value in top):
        return Advice(pick, f"{tie} No score tells them apart, so the first is advised.", sure=False)
    return Advice(pick, f"{tie} The mean score of {_short(grouped.answers[first[0]])} is the highest.")


def _mean_key(drafts: Sequence[Draft], members: Sequence[int], names: Sequence[str]) -> Key:
    keys = [_key(drafts, drafts[number], names) for number in members]
    return tuple(fmean(column) if UNKNOWN not in column else UNKNOWN for column in zip(*keys, strict=True))


def _best_of(drafts: Sequence[Draft], members: Sequence[int], settings: Settings) -> int:
    names = scorers(settings)
    return max(members, key=lambda number: _key(drafts, drafts[number], names))


def _short(answer: str, longest: int = 60) -> str:
    return answer if len(answer) <= longest else answer[: longest - 1] + "…"
