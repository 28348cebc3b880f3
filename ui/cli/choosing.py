"""Which sessions a command is about: ids, or the filters of the History page as options."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import get_args

from core.facts import OUTCOMES, Decided
from core.listing import Chosen, Filter
from ui.history_filter import BadFilter, filter_of

_TEXTS = (
    ("query", "WORDS", 'that have these words in any text; "quoted" ones as they stand'),
    ("preset", "NAME", "of this preset"),
    ("strategy", "NAME", "of this strategy"),
    ("model", "NAME", "that use this model in any role"),
    ("outcome", "KIND", f"that ended so: {', '.join(OUTCOMES)}"),
    ("decision", "KIND", f"with such a decision: {', '.join(get_args(Decided))}"),
    ("flag", "KIND", "with a text flagged so"),
    ("tag", "TAG", "with this tag"),
    ("since", "DAY", "that began on this day (UTC, 2026-11-30) or later"),
    ("until", "DAY", "that began on this day or earlier"),
    ("change-least", "NUMBER", "whose score rose by this much or more"),
    ("change-most", "NUMBER", "whose score rose by this much or less, or fell"),
    ("cost-least", "NUMBER", "that cost this much or more"),
    ("cost-most", "NUMBER", "that cost this much or less"),
)


_CHOICES: dict[str, Sequence[str]] = {"outcome": OUTCOMES, "decision": get_args(Decided)}


def filter_arguments(p: argparse.ArgumentParser) -> None:
    """The filters as options; all that are given must hold."""
    which = p.add_argument_group("which sessions (all of these must hold)")
    for name, value, words in _TEXTS:
        which.add_argument(f"--{name}", metavar=value, choices=_CHOICES.get(name), help=words)
    which.add_argument("--starred", action="store_true", help="with a star, or with one on a candidate")


def choosing_arguments(p: argparse.ArgumentParser, ids: str) -> None:
    """Ids, everything, or filters."""
    p.add_argument("id", nargs="*", help=ids)
    p.add_argument("--all", action="store_true", help="every session that is not deleted")
    filter_arguments(p)


def given(args: argparse.Namespace) -> dict[str, str]:
    """The filters that were given, by the names that the History page's address has for them.

    Raises BadFilter for one without a value, which would let everything through.
    """
    names = {name: name.replace("-", "_") for name, _, _ in _TEXTS}
    values = {name: getattr(args, attribute) for name, attribute in names.items()}
    found = {name: value for name, value in values.items() if value is not None}
    if empty := [name for name, value in found.items() if not value.strip()]:
        raise BadFilter(f"--{empty[0]} is empty: leave it out, or say what it shall be.")
    query = {"q" if name == "query" else names[name]: value for name, value in found.items()}
    return query | ({"starred": "1"} if args.starred else {})


def filter_by(args: argparse.Namespace) -> Filter:
    """What the options ask for. Raises BadFilter."""
    return filter_of(given(args))


def chosen_by(args: argparse.Namespace) -> Chosen:
    """What is asked for, and never everything unless that is said. Raises BadFilter."""
    ways = [bool(args.id), args.all, bool(given(args))]
    if sum(ways) != 1:
        known = "--all, or filters such as --query WORDS or --tag TAG"
        raise BadFilter(f"name sessions, or {known}" + (", only one of these" if sum(ways) else "") + ".")
    if args.id:
        return Chosen(tuple(dict.fromkeys(args.id)))
    wanted = filter_by(args)
    if wanted == Filter() and not args.all:
        raise BadFilter("these filters ask for nothing, so every session would be meant: say --all if so.")
    return Chosen(None, wanted)
