"""`history compare --aligned`: a few sessions round by round in words, as the Compare page shows them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from core.listing import Chosen
from ui.cli.common import DONE, USAGE, Tools, say
from ui.cli.steps import point_line
from ui.compare_routes import MOST_BESIDE
from ui.compare_views import compared, side_of

View = dict[str, Any]


def aligned(tools: Tools, chosen: Chosen, *, as_json: bool) -> int:
    """The sessions beside each other."""
    ids = tools.bench.store.listing.ids(chosen, MOST_BESIDE + 1)
    if not 2 <= len(ids) <= MOST_BESIDE:
        say(f"error: 2 to {MOST_BESIDE} sessions stand beside each other; leave --aligned out for a table")
        return USAGE
    view = compared([side_of(tools.bench, tools.bench.store.load(each)) for each in ids])
    print(json.dumps(view, allow_nan=False) if as_json else "\n".join(_in_words(view)))
    return DONE


def _in_words(view: View) -> Iterator[str]:
    names = "ABCD"[: len(view["sessions"])]
    for name, session in zip(names, view["sessions"], strict=True):
        yield f"{name}: {session['id']}  {', '.join(session['about'])}  {session['title']}"
    for what, text in view["tasks"]["shared"]:
        yield f"\n{what}: {text}"
    yield from (f"\nThe sessions differ in their {what}." for what in view["tasks"]["differing"])
    for row in view["differences"]:
        yield f"{row['name']}: {_each(names, row['values'])}"
    for row in view["rows"]:
        yield f"\n== {row['name']}"
        for name, cells in zip(names, row["cells"], strict=True):
            yield from (f"\n{name}: {_cell(cell)}" for cell in cells)
    yield "\n== Results"
    for name, result in zip(names, view["results"], strict=True):
        yield f"\n{name}: {_cell(result)}"
        yield result["why"]


def _each(names: str, values: Sequence[str]) -> str:
    return "; ".join(f"{name} {value or 'none'}" for name, value in zip(names, values, strict=True))


def _cell(cell: View) -> str:
    """A heading, the text with its scores, points and a remark, as far as there are any."""
    draft = cell.get("draft")
    scores = [f"{s['label']} {_value(s)}" for s in draft["scores"]] if draft else []
    head = " ".join(filter(None, [cell.get("heading"), f"({', '.join(scores)})" if scores else ""]))
    points = map(point_line, cell.get("points", ()))
    lines = [head, draft["text"] if draft else cell.get("text"), *points, cell.get("remark")]
    return "\n".join(filter(None, lines))


def _value(score: View) -> str:
    return "not scored" if score["value"] is None else f"{score['value']:.4g}"
