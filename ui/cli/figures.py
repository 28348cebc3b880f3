"""`history insight` and `history compare`: the figures of the pages in words, as JSON and as CSV."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, fields
from itertools import chain
from typing import Any

from core.insight import Figure, Listed, Scope
from core.listing import Chosen, Filter
from core.questions import Chart, Insight, insight
from core.spreadsheet import csv_lines
from ui.cli.aligned import aligned
from ui.cli.choosing import chosen_by
from ui.cli.common import DONE, FAILED, Tools, say
from ui.history_filter import filter_of

AT_A_TIME = 500
FIGURE_COLUMNS = (
    "question",
    "unit",
    "scorer",
    "line",
    "series",
    "n",
    "value",
    "low",
    "high",
    "method",
    "why",
)
LISTED_COLUMNS = tuple(field.name for field in fields(Listed))


def answers(tools: Tools, args: argparse.Namespace) -> int:
    """Every question of Insight, answered."""
    wanted = filter_of({"since": args.since, "until": args.until})
    found = insight(tools.counts, _scope(args, wanted), args.by)
    if args.json:
        print(json.dumps(asdict(found), allow_nan=False))
    elif args.csv:
        sys.stdout.writelines(csv_lines(FIGURE_COLUMNS, _figure_rows(found)))
    else:
        print("\n".join(_in_words(found)))
    if found.behind:
        say(f"note: {found.behind} sessions are not counted yet; the server counts them when it runs.")
    return DONE


def _scope(args: argparse.Namespace, wanted: Filter) -> Scope:
    return Scope(args.preset, args.strategy, args.model, args.scorer, wanted.since, wanted.until, args.tag)


def _figure_rows(found: Insight) -> Iterator[Sequence[Any]]:
    for chart in found.charts:
        for line in chart.lines:
            for series, figure in zip(chart.series, line.figures, strict=True):
                own = figure.interval
                ends = (own.low, own.high, own.method) if own else ("", "", "")
                value = "" if figure.value is None else figure.value
                yield (chart.question, chart.unit, chart.scorer, line.name, series, figure.n, value, *ends,
                       figure.why)  # fmt: skip


def _in_words(found: Insight) -> Iterator[str]:
    yield f"{found.sessions:,} sessions ({found.forks:,} forks), {found.rounds:,} rounds with a revision."
    for chart in found.charts:
        yield ""
        yield f"{chart.question}{f' ({chart.scorer})' if chart.scorer else ''}"
        yield from (f"  {line.name}: {_series(chart, line.figures)}" for line in chart.lines)
        yield from (f"  note: {note}" for note in chart.notes)


def _series(chart: Chart, figures: Sequence[Figure]) -> str:
    names = chart.series if len(chart.series) > 1 else [""] * len(figures)
    told = (f"{name} {_figure(chart, f)}".strip() for name, f in zip(names, figures, strict=True))
    return "; ".join(told)


def _figure(chart: Chart, figure: Figure) -> str:
    if figure.value is None:
        return f"undefined ({figure.why})"
    own = figure.interval
    interval = f" [{_number(chart, own.low)}, {_number(chart, own.high)}]" if own else f" ({figure.why})"
    return f"{_number(chart, figure.value)}{interval}, n = {figure.n:,}"


def _number(chart: Chart, value: float) -> str:
    return f"{value:.1%}" if chart.unit == "share" else f"{value:.4g}"


def compare(tools: Tools, args: argparse.Namespace) -> int:
    """A row a session, with its scores and what it took; or a few of them round by round."""
    chosen = chosen_by(args)
    if args.aligned:
        return aligned(tools, chosen, as_json=args.json)
    total, rows = tools.bench.store.archive.count(chosen), _listed(tools, chosen)
    first = next(rows, None)
    if first is None:
        say(f"None of these {total} sessions is here any more." if total else "No session is like this.")
        return FAILED
    rows = chain([first], rows)
    if args.json:
        print(json.dumps([asdict(row) for row in rows], allow_nan=False))
    elif args.csv:
        sys.stdout.writelines(csv_lines(LISTED_COLUMNS, map(_cells, rows)))
    else:
        for row in rows:
            print(_row_in_words(row))
    return DONE


def _listed(tools: Tools, chosen: Chosen) -> Iterator[Listed]:
    """The rows, newest first or in the order that was given, some at a time."""
    listing = tools.bench.store.listing
    last: str | None = None
    while ids := listing.ids(chosen, AT_A_TIME, last):
        yield from tools.counts.listed(ids)
        last = ids[-1]


def _cells(row: Listed) -> Sequence[Any]:
    return ["" if value is None else value for value in vars(row).values()]


def _row_in_words(row: Listed) -> str:
    first, last = (_score(value) for value in (row.first_score, row.last_score))
    scores = f"{row.scorer} {first} to {last} (best {_score(row.best_score)})" if row.scorer else "no score"
    took = f"{row.rounds} rounds, {row.tokens} tokens, {row.seconds:.1f} s"
    took += f", {row.money:.4g} of money" if row.money is not None else ""
    return f"{row.session_id}  {row.strategy}  {row.model}  {scores}  {took}  {row.outcome}  {row.title}"


def _score(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.4g}"
