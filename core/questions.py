"""The questions that Insight answers, each with its figures: one question is one chart. Knows no drawing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from core.insight import (
    FULL_SCALE,
    MOST_DRAWN,
    By,
    Changes,
    Figure,
    InsightStore,
    RoundCell,
    Scope,
    SessionCell,
    grouped,
    mean,
    ratio,
    rounds_together,
    sessions_together,
    share,
    undefined,
)

Unit = Literal["share", "score", "seconds", "tokens", "money"]
LAST_ROUND = 10
"""Rounds from here on are one group."""
MOST_GROUPS = 12
NO_SCORE = "no session here has a score that its gate goes by"
NO_ROUND = "no round here has a revision"
NO_VERIFIER = "no session here has a verifier, or none could tell"
NO_GAIN = "no improvement was accepted in a session whose calls were counted"
NO_VOTES = "no votes yet: no unblinded study has any on both the draft and the revision of such a ruling"
POINTS = {
    "major": "at least one major point",
    "minor": "minor points only",
    "unstated": "points without a weight",
    "none": "no points",
}


@dataclass(frozen=True)
class Line:
    """One line of a chart: a name, and a figure for each of the chart's series."""

    name: str
    figures: tuple[Figure, ...]


@dataclass(frozen=True)
class Chart:
    """A question with its answer. `scorer` is whose scores they are, where they are scores."""

    key: str
    question: str
    unit: Unit
    series: tuple[str, ...]
    lines: tuple[Line, ...]
    notes: tuple[str, ...] = ()
    scorer: str = ""


@dataclass(frozen=True)
class Insight:
    """All answers, and over how much they are; `forks` of the sessions began as a copy of another."""

    sessions: int
    forks: int
    rounds: int
    behind: int
    scorer: str
    scorers: tuple[tuple[str, int], ...]
    charts: tuple[Chart, ...]


@dataclass(frozen=True)
class _Sums:
    """What the charts are made of."""

    rounds: Sequence[RoundCell]
    sessions: Sequence[SessionCell]
    changes: Changes
    scorer: str
    by: By
    votes: tuple[int, int]


def insight(store: InsightStore, scope: Scope, by: By) -> Insight:
    """The answers over these sessions; scores are those of the most frequent scorer unless one is named."""
    scorers = tuple(store.scorers(scope))
    scorer = scope.scorer or next((name for name, _ in scorers if name), "")
    sums = _Sums(
        store.rounds(scope, by, scorer),
        store.sessions(scope, by, scorer),
        store.changes(scope, by, scorer, MOST_DRAWN),
        scorer,
        by,
        store.votes_for_persons(scope),
    )
    whole = sessions_together(sums.sessions)
    return Insight(
        sessions=int(whole.sessions),
        forks=int(whole.forks),
        rounds=int(rounds_together(sums.rounds).tried),
        behind=store.behind(),
        scorer=scorer,
        scorers=scorers,
        charts=tuple(chart(sums) for chart in _CHARTS),
    )


# -- by round -----------------------------------------------------------------------------------


def _round_name(number: int) -> str:
    return f"round {number}" if number < LAST_ROUND else f"round {number} and later"


def _by_round(sums: _Sums) -> dict[str | int, RoundCell]:
    found = grouped(sums.rounds, lambda cell: min(cell.round, LAST_ROUND))
    return dict(sorted(found.items(), key=lambda pair: int(pair[0])))


def _gain(sums: _Sums) -> Chart:
    lines = tuple(
        Line(_round_name(int(number)), _gains(sums, int(number), cell))
        for number, cell in _by_round(sums).items()
    )
    notes = (
        "As proposed: the revision's score less its draft's. As kept: the same, and 0 where it was not "
        "accepted; revisions that a person changed are left out there.",
    )
    series = ("as proposed", "as kept")
    return Chart(
        "gain", "Does another round still raise the score?", "score", series, lines, notes, sums.scorer
    )


def _gains(sums: _Sums, number: int, cell: RoundCell) -> tuple[Figure, ...]:
    own = [row for row in sums.changes.rounds if min(row[1], LAST_ROUND) == number]
    gains = [gain for _, _, gain, _ in own]
    kept = [value for _, _, _, value in own if value is not None]
    return (
        mean(cell.gain_n, cell.gain_sum, cell.gain_squares, NO_SCORE, gains),
        mean(cell.kept_n, cell.kept_sum, cell.kept_squares, NO_SCORE, kept),
    )


def _accepted(sums: _Sums) -> Chart:
    lines = tuple(Line(_round_name(int(n)), _acceptance(cell)) for n, cell in _by_round(sums).items())
    series, notes = ("by the policy", "by a person"), ("Whole or in part, of all that were ruled on.",)
    return Chart("accepted", "How often is a revision accepted?", "share", series, lines, notes)


def _acceptance(cell: RoundCell) -> tuple[Figure, ...]:
    return (
        share(cell.policy_accepted, cell.policy_ruled, "the policy ruled on none"),
        share(cell.person_accepted, cell.person_ruled, "nobody ruled on one"),
    )


def _points(sums: _Sums) -> Chart:
    found = grouped(sums.rounds, lambda cell: cell.points)
    lines = tuple(Line(words, _acceptance(found[kind])) for kind, words in POINTS.items() if kind in found)
    question = "After which kind of critique is the revision accepted?"
    return Chart("points", question, "share", ("by the policy", "by a person"), lines,
                 ("By the weightiest point that the revision was asked to follow.",))  # fmt: skip


# -- right and wrong ----------------------------------------------------------------------------


def _verified(sums: _Sums) -> Chart:
    whole = rounds_together(sums.rounds)
    lines = [Line("all rounds", _turned(whole))]
    if whole.wrong + whole.right:
        lines += [Line(_round_name(int(n)), _turned(cell)) for n, cell in _by_round(sums).items()]
    notes = (
        "Of the drafts that a verifier found wrong, those whose revision it found right, accepted or not; "
        "and the other way round.",
    )
    question = "Does refining turn wrong into right, or right into wrong?"
    return Chart("verified", question, "share", ("wrong to right", "right to wrong"), tuple(lines), notes)


def _turned(cell: RoundCell) -> tuple[Figure, ...]:
    why = NO_VERIFIER if not cell.wrong + cell.right else ""
    return (
        share(cell.righted, cell.wrong, why or "no draft was wrong"),
        share(cell.wronged, cell.right, why or "no draft was right"),
    )


def _reached(sums: _Sums) -> Chart:
    whole = sessions_together(sums.sessions)
    no_full = f"{sums.scorer or 'no scorer'} has no full score" if sums.scorer not in FULL_SCALE else NO_SCORE
    counts = (
        ("the first draft", whole.first_full),
        ("the last attempt", whole.last_full),
        ("the text that stands", whole.stands_full),
        ("any of them", whole.any_full),
    )
    lines = tuple(Line(name, (share(count, whole.full_n, no_full),)) for name, count in counts)
    unscored = f"{whole.unscored} sessions with a text that could not be scored count it as not reaching it."
    notes = (unscored,) if whole.unscored else ()
    question = "Which text reaches what was asked for?"
    return Chart("reached", question, "share", ("full score",), lines, notes, sums.scorer)


def _fallen(sums: _Sums) -> Chart:
    whole = sessions_together(sums.sessions)
    figure = share(whole.fallen, whole.fell_n, NO_SCORE)
    line = Line("stands on less than its best", (figure,))
    question = "How often does a session end below the best text it had?"
    return Chart("fallen", question, "share", ("sessions",), (line,), (), sums.scorer)


# -- going astray -------------------------------------------------------------------------------


def _astray(sums: _Sums) -> Chart:
    whole = rounds_together(sums.rounds)
    counts = (
        ("returns to an earlier text", whole.returned),
        ("is its draft unchanged", whole.unchanged),
        ("is a remark about the text", whole.remarks),
        ("is a refusal", whole.refusals),
        ("is empty or cut off", whole.broken),
    )
    lines = tuple(Line(name, (share(count, whole.tried, NO_ROUND),)) for name, count in counts)
    notes = ("Flags are those of every attempt of a round; the others are of its last.",)
    question = "How often does a revision go astray?"
    return Chart("astray", question, "share", ("rounds with a revision",), lines, notes)


def _overruled(sums: _Sums) -> Chart:
    whole = rounds_together(sums.rounds)
    nobody = "nobody ruled where the policy had a view"
    lines = (
        Line("it would accept, a person did not", (share(whole.not_accepted, whole.would_accept, nobody),)),
        Line("it would reject, a person accepted", (share(whole.not_rejected, whole.would_reject, nobody),)),
        Line("raters side with the person, of their votes on both texts", (share(*sums.votes, NO_VOTES),)),
    )
    notes = ("Votes are those of unblinded studies, as they were cast.",) if sums.votes[1] else ()
    question = "How often does a person rule otherwise than the policy?"
    return Chart("overruled", question, "share", ("persons' rulings",), lines, notes)


# -- prices and comparisons ---------------------------------------------------------------------


def _largest(sums: _Sums) -> list[SessionCell]:
    return sorted(sums.sessions, key=lambda cell: (-cell.sessions, cell.group))[:MOST_GROUPS]


def _price(
    key: str, unit: Unit, what: str, figure: Callable[[SessionCell], Figure]
) -> Callable[[_Sums], Chart]:
    def chart(sums: _Sums) -> Chart:
        cells = [sessions_together(sums.sessions, "all"), *_largest(sums)]
        lines = tuple(Line(cell.group or "(none)", (figure(cell),)) for cell in cells)
        notes = (
            "What the rounds took, first drafts left out, for each accepted revision with a higher score. "
            "Sessions whose calls nobody counted, as imported ones, are left out.",
        )
        return Chart(key, f"{what} does an accepted improvement take?", unit, ("for each",), lines, notes)

    return chart


def _seconds(cell: SessionCell) -> Figure:
    if cell.m and not cell.s:
        return undefined("no time was recorded")
    return ratio(int(cell.refined), cell.s, cell.m, (cell.ss, cell.mm, cell.sm), NO_GAIN)


def _tokens(cell: SessionCell) -> Figure:
    if cell.m and not cell.t:
        return undefined("no tokens were counted")
    return ratio(int(cell.refined), cell.t, cell.m, (cell.tt, cell.mm, cell.tm), NO_GAIN)


def _money(cell: SessionCell) -> Figure:
    why = NO_GAIN if cell.priced else "no model here has a price"
    return ratio(int(cell.priced), cell.c, cell.pm, (cell.cc, cell.pmm, cell.cm), why)


def _compared(sums: _Sums) -> Chart:
    lines = tuple(Line(cell.group or "(none)", (_change(sums, cell),)) for cell in _largest(sums))
    question = f"Which {sums.by} changes the score most, from the first draft to the end?"
    return Chart("compared", question, "score", ("change",), lines, (), sums.scorer)


def _change(sums: _Sums, cell: SessionCell) -> Figure:
    values = [change for group, change in sums.changes.sessions if group == cell.group]
    return mean(cell.change_n, cell.change_sum, cell.change_squares, NO_SCORE, values)


def _accepting(sums: _Sums) -> Chart:
    found = grouped(sums.rounds, lambda cell: cell.group)
    order = [cell.group for cell in _largest(sums) if cell.group in found]
    lines = tuple(Line(name or "(none)", _acceptance(found[name])) for name in order)
    if not lines:
        lines = (Line("all", (undefined(NO_ROUND), undefined(NO_ROUND))),)
    question = f"With which {sums.by} are revisions accepted?"
    return Chart("accepting", question, "share", ("by the policy", "by a person"), lines)


_CHARTS: tuple[Callable[[_Sums], Chart], ...] = (
    _gain,
    _accepted,
    _points,
    _reached,
    _fallen,
    _verified,
    _astray,
    _overruled,
    _compared,
    _accepting,
    _price("seconds", "seconds", "How much time of a model", _seconds),
    _price("tokens", "tokens", "How many tokens", _tokens),
    _price("money", "money", "How much money", _money),
)
