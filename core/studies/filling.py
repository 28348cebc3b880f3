"""Items put into a draft: all of them or none. Works inside one transaction."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from core.studies.desks import OwnerDesk
from core.studies.material import Added, Entry, checked, measure
from core.studies.opening import outputs_by_item
from core.studies.protocol import BadStudy
from core.studies.records import Contents


def add(desk: OwnerDesk, entries: Sequence[Entry], where: str = "entry") -> Added:
    """Keep the entries that are not there yet. Raises BadStudy for one that contradicts another."""
    wanted = checked(entries, where)
    if not wanted:
        raise BadStudy("There is no item in it. Nothing was added.")
    there = {entry.key: entry for entry in entries_of(desk.contents())}
    for entry in wanted:
        if entry.key in there and there[entry.key] != _ordered(entry):
            raise BadStudy(
                f"Item {entry.key!r} is in the study already, but differs from the one here. "
                "Nothing was added."
            )
    new = [entry for entry in wanted if entry.key not in there]
    desk.add_entries([(entry, {n: measure(t, entry.source) for n, t in entry.texts}) for entry in new])
    return Added(len(new), len(entries) - len(new))


def _ordered(entry: Entry) -> Entry:
    return replace(entry, texts=tuple(sorted(entry.texts)))


def entries_of(contents: Contents) -> Iterator[Entry]:
    """The items of a study as they were added, before anything was taken out of them."""
    texts = outputs_by_item(contents.outputs, {system.id: system.name for system in contents.systems})
    for item in contents.items:
        own = ((n, o.text if o.original is None else o.original) for n, o in texts[item.id].items())
        prompt = item.prompt if item.original is None else item.original
        yield Entry(item.key, prompt, tuple(sorted(own)), item.stratum, item.kind, item.expected, item.source)
