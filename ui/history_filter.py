"""The address of a list as a filter and an order: the same words in a page's address and in a route's.

Knows no session. What can't be read is told in words.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from core.listing import SORTS, Chosen, Filter, Order
from core.words import terms_of

LONGEST_QUERY = 500
TOO_LONG = f"Search for {LONGEST_QUERY} characters at most."


NAMES = ("q", "preset", "strategy", "model", "outcome", "decision", "flag", "tag", "starred", "since",
         "until", "change_least", "change_most", "cost_least", "cost_most")  # fmt: skip
"""What can be filtered by."""


class BadFilter(ValueError):
    """A filter that can't be read, in words."""


def filter_of(query: Mapping[str, str]) -> Filter:
    """The filter that an address asks for. Raises BadFilter."""
    if any(len(value) > LONGEST_QUERY for name, value in query.items() if name != "ids"):
        raise BadFilter(TOO_LONG)
    return Filter(
        query=_words(query.get("q", "")),
        preset=query.get("preset", ""),
        strategy=query.get("strategy", ""),
        model=query.get("model", ""),
        outcome=query.get("outcome", ""),
        decision=query.get("decision", ""),
        flag=query.get("flag", ""),
        tag=query.get("tag", ""),
        starred=query.get("starred", "") == "1",
        since=_day(query.get("since", "")),
        until=_day(query.get("until", ""), after=1),
        change_least=_number(query, "change_least"),
        change_most=_number(query, "change_most"),
        cost_least=_number(query, "cost_least"),
        cost_most=_number(query, "cost_most"),
    )


def filter_alone(query: Mapping[str, str]) -> Filter:
    """The same where nothing else may stand: a name that is not known would mean too many sessions."""
    if strange := [name for name in query if name not in NAMES]:
        raise BadFilter(f"Sessions can't be chosen by {strange[0][:60]!r}.")
    return filter_of(query)


def chosen_of(query: Mapping[str, str]) -> Chosen:
    """The sessions of `ids`, or else all that the filter finds. Raises BadFilter."""
    ids = query.get("ids", "")
    return Chosen(tuple(dict.fromkeys(ids.split(",")))) if ids else Chosen(None, filter_of(query))


def order_of(query: Mapping[str, str]) -> Order:
    """The order that an address asks for. Raises BadFilter."""
    sort = query.get("sort", "newest")
    if sort not in SORTS:
        raise BadFilter(f"Lists can be sorted by {', '.join(SORTS)}, not by {sort!r}.")
    return Order(sort, ascending=query.get("ascending", "") == "1")


def _words(text: str) -> str:
    """What is searched for. Raises BadFilter where there is something, and nothing of it can be."""
    if text.strip() and not terms_of(text):
        raise BadFilter("There is nothing in these words that can be searched for.")
    return text.strip()


def _number(query: Mapping[str, str], name: str) -> float | None:
    text = query.get(name, "")
    if not text:
        return None
    try:
        number = float(text)
    except ValueError as error:
        raise BadFilter(f"{name.replace('_', ' ')} is a number, not {text!r}.") from error
    if not math.isfinite(number):
        raise BadFilter(f"{name.replace('_', ' ')} is a number, not {text!r}.")
    return number


def _day(text: str, after: int = 0) -> datetime | None:
    """The start of a day in UTC, or (after 1) its end."""
    if not text:
        return None
    try:
        return datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC) + timedelta(days=after)
    except (ValueError, OverflowError) as error:
        raise BadFilter(f"A day looks like 2026-11-30, not {text!r}.") from error
