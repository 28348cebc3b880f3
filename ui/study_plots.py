"""The plots of a report as SVG, drawn here so that page, file and picture are the same. Knows figures only.

On white in any theme, as in print. Every plot says in words what it can't show, and none draws a number that
is not defined.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from core.studies.figures import Interval, Undefined
from core.studies.preferences import Preference
from core.studies.rankings import Ranking
from core.studies.raters import RaterRow
from core.studies.report import Figures, Stratum
from ui.svg import (
    ACCENT,
    INK,
    LINE,
    OTHER,
    SOFT,
    THIRD,
    WIDTH,
    circle,
    document,
    line,
    path,
    rect,
    scale_of,
    short,
    text,
)

LEFT, RIGHT, ROW, TOP = 220, 150, 26, 54
MOST_ROWS, MOST_SYSTEMS = 60, 24


@dataclass(frozen=True)
class Plot:
    """A plot: the name of its file, its title, and the whole SVG document."""

    name: str
    title: str
    svg: str


@dataclass(frozen=True)
class _Row:
    """A point with an interval, drawn thick, and a wider or narrower one, drawn thin; or only words."""

    label: str
    value: float | None
    thick: Interval | Undefined
    thin: Interval | Undefined
    words: str


def plots(figures: Figures, strata: Sequence[Stratum], moments: Sequence[datetime]) -> tuple[Plot, ...]:
    """All plots of one set of votes; `moments` are when its votes were given."""
    return (
        preferences(figures, strata),
        worths(figures.ranking),
        matrix(figures.ranking),
        over_time(moments),
        raters(figures.raters),
    )


# -- points with intervals ------------------------------------------------------------------------


def preferences(figures: Figures, strata: Sequence[Stratum]) -> Plot:
    """The preference of each pair, over all and by stratum."""
    rows = [_preference(one, "all") for one in figures.preferences]
    for stratum in strata:
        rows += [_preference(one, stratum.name or "(unnamed)") for one in stratum.preferences]
    title = "Preference by stratum: share of non-tied votes for the first system"
    note = "Thick: clustered by rater and item; thin: Wilson, votes taken as independent. 95 %."
    return Plot(
        "preference", title, _forest(title, rows, (0.0, 1.0), 0.5, note, lambda x: f"{100 * x:.0f} %")
    )


def _preference(one: Preference, where: str) -> _Row:
    label, share = f"{one.first} over {one.second}, {where}", one.dropped
    if isinstance(share, Undefined):
        return _Row(label, None, share, share, f"undefined: {share.why}")
    words = f"{100 * share.value:.1f} % of {share.votes}"
    return _Row(label, share.value, share.clustered, share.wilson, words)


def worths(ranking: Ranking) -> Plot:
    """The forest of worths by Davidson's model."""
    title, found = "Worths of the systems (log, ties modelled)", ranking.davidson
    if isinstance(found, Undefined):
        return Plot(
            "worths",
            title,
            _forest(title, [_Row("", None, found, found, f"undefined: {found.why}")], (-1, 1), 0),
        )
    rows = [_Row(w.system, w.worth, w.clustered, w.naive, f"{w.worth:+.2f}") for w in found.worths]
    ends = [
        abs(end)
        for w in found.worths
        for i in (w.clustered, w.naive)
        if isinstance(i, Interval)
        for end in (i.low, i.high)
    ]
    reach = max([*ends, *(abs(w.worth) for w in found.worths), 0.1]) * 1.08
    note = "Thick: raters drawn anew; thin: Wald, votes taken as independent. 95 %. 0 is the mean."
    return Plot("worths", title, _forest(title, rows, (-reach, reach), 0.0, note))


def _forest(
    title: str,
    rows: Sequence[_Row],
    ends: tuple[float, float],
    middle: float,
    note: str = "",
    tick: Callable[[float], str] = lambda x: f"{x:.2g}",
) -> str:
    shown, height = rows[:MOST_ROWS], TOP + ROW * max(min(len(rows), MOST_ROWS), 1) + 54
    scale = scale_of(ends, (LEFT, WIDTH - RIGHT))
    bottom = height - 48
    known = any(row.value is not None for row in rows)
    parts = [line(scale(middle), TOP - 8, scale(middle), bottom, SOFT, 1, "4 3")] if known else []
    for value in (ends[0], (ends[0] + ends[1]) / 2, ends[1]):
        parts += [
            line(scale(value), bottom, scale(value), bottom + 5, SOFT),
            text(scale(value), bottom + 18, tick(value), "middle", SOFT),
        ]
    parts.append(line(LEFT, bottom, WIDTH - RIGHT, bottom, SOFT))
    for place, row in enumerate(shown):
        parts += _point(row, TOP + ROW * place + ROW / 2, scale)
    if not rows:
        parts.append(text(LEFT, TOP + 14, "There are no votes."))
    more = f" The first {MOST_ROWS} of {len(rows)} rows." if len(rows) > MOST_ROWS else ""
    return document(title, height, [*parts, text(10, height - 8, note + more, "start", SOFT, 11)])


def _point(row: _Row, y: float, scale: Callable[[float], float]) -> Iterable[str]:
    yield text(LEFT - 10, y + 4, short(row.label, 34), "end", full=row.label)
    yield text(
        WIDTH - RIGHT + 10 if row.value is not None else LEFT + 6,
        y + 4,
        short(row.words, 70 if row.value is None else 22),
        "start",
        SOFT,
        full=row.words,
    )
    for interval, thick in ((row.thin, 1.2), (row.thick, 4.0)):
        if isinstance(interval, Interval):
            yield line(scale(interval.low), y, scale(interval.high), y, ACCENT, thick)
    if row.value is not None:
        yield circle(scale(row.value), y)


# -- the win matrix -------------------------------------------------------------------------------


def matrix(ranking: Ranking) -> Plot:
    """How often the row's system was preferred to the column's, the share as depth of colour."""
    title, names = (
        "Win matrix: votes for the row's system over the column's",
        [s.system for s in ranking.standings],
    )
    shown = names[:MOST_SYSTEMS]
    size = max(26, min(70, (WIDTH - LEFT - 20) // max(len(shown), 1)))
    parts = []
    for a, name in enumerate(shown):
        y = TOP + 20 + a * size
        parts += [
            text(LEFT - 10, y + size / 2 + 4, short(name, 34), "end", full=name),
            text(
                LEFT + a * size + size / 2,
                TOP + 12,
                short(name, max(size // 7, 3)),
                "middle",
                SOFT,
                full=name,
            ),
        ]
        parts += [
            part for b in range(len(shown)) for part in _square(ranking, a, b, LEFT + b * size, y, size)
        ]
    height = TOP + 30 + size * max(len(shown), 1) + 20
    note = (
        f"The first {MOST_SYSTEMS} of {len(names)} systems."
        if len(names) > MOST_SYSTEMS
        else ""
        if names
        else "There are no systems."
    )
    return Plot(
        "matrix", title, document(title, height, [*parts, text(10, height - 8, note, "start", SOFT, 11)])
    )


def _square(ranking: Ranking, a: int, b: int, x: float, y: float, size: float) -> Iterable[str]:
    won, lost = ranking.wins[a][b], ranking.wins[b][a]
    share = won / (won + lost) if won + lost else None
    # At most 65 % of the accent, so that the number stays legible.
    fill = "#f5f5f4" if a == b else "#fff" if share is None else _mix(share * 0.65)
    yield rect(x, y, size - 2, size - 2, fill, LINE)
    if a != b:
        yield text(
            x + size / 2 - 1,
            y + size / 2 + 4,
            str(won) if share is not None else "–",
            "middle",
            INK,
            min(12, size / 2.4),
        )


def _mix(share: float) -> str:
    """White with so much of the accent in it."""
    target = (0x5E, 0xB8, 0xAE)
    return "#" + "".join(f"{round(255 + (c - 255) * min(share / 0.65, 1)):02x}" for c in target)


# -- time and raters --------------------------------------------------------------------------------


def over_time(moments: Sequence[datetime]) -> Plot:
    """Votes so far, by the time they were given."""
    title, ordered, height = "Votes over time", sorted(moments), 300
    if len(ordered) < 2:
        words = (
            "There are no votes."
            if not ordered
            else f"There is one vote, at {ordered[0]:%Y-%m-%d %H:%M} UTC."
        )
        return Plot("time", title, document(title, 120, [text(LEFT, 70, words)]))
    seconds = [(moment - ordered[0]).total_seconds() for moment in ordered]
    across = scale_of((0.0, max(seconds[-1], 1.0)), (70, WIDTH - 30))
    up = scale_of((0.0, float(len(ordered))), (height - 50, TOP))
    step = max(1, len(ordered) // 600)
    kept = [*range(0, len(ordered), step), len(ordered) - 1]
    steps = "".join(f"H{across(seconds[n]):.1f}V{up(n + 1):.1f}" for n in kept)
    parts = [path(f"M{across(0):.1f} {up(0):.1f}{steps}"),
             line(70, height - 50, WIDTH - 30, height - 50, SOFT), line(70, TOP, 70, height - 50, SOFT),
             text(62, up(len(ordered)) + 4, str(len(ordered)), "end", SOFT),
             text(62, height - 46, "0", "end", SOFT),
             text(70, height - 30, f"{ordered[0]:%Y-%m-%d %H:%M}", "start", SOFT),
             text(WIDTH - 30, height - 30, f"{ordered[-1]:%Y-%m-%d %H:%M} UTC", "end", SOFT)]  # fmt: skip
    return Plot("time", title, document(title, height, parts))


def raters(rows: Sequence[RaterRow]) -> Plot:
    """What each rater answered: left, right, ties, skips."""
    title, shown = "Answers of each rater", rows[:MOST_ROWS]
    most = max((row.votes + row.skipped for row in shown), default=1) or 1
    scale = scale_of((0.0, float(most)), (0, WIDTH - LEFT - RIGHT))
    sorts = (("left", ACCENT), ("right", OTHER), ("tie or both bad", THIRD), ("skipped", "#e7e5e4"))
    parts = []
    for place, (word, colour) in enumerate(sorts):
        x = float(LEFT + place * 115)
        parts += [
            rect(x, TOP - 14, 11, 11, colour, SOFT),
            text(x + 16, TOP - 4, word, "start", SOFT),
        ]
    for place, row in enumerate(shown):
        y, x = float(TOP + 8 + ROW * place), float(LEFT)
        parts.append(text(LEFT - 10, y + 13, short(row.rater, 34), "end", full=row.rater))
        for number, (_, colour) in zip(
            (row.left, row.decided - row.left, row.ties, row.skipped), sorts, strict=True
        ):
            parts.append(rect(x, y, scale(number), 17, colour))
            x += scale(number)
        seconds = "" if isinstance(row.seconds, Undefined) else f", {row.seconds:.0f} s each"
        parts.append(text(x + 8, y + 13, f"{row.votes} votes{seconds}", "start", SOFT))
    height = TOP + 16 + ROW * max(len(shown), 1) + 24
    note = (
        "There are no votes."
        if not rows
        else f"The first {MOST_ROWS} of {len(rows)} raters."
        if len(rows) > MOST_ROWS
        else ""
    )
    return Plot(
        "raters", title, document(title, height, [*parts, text(10, height - 8, note, "start", SOFT, 11)])
    )
