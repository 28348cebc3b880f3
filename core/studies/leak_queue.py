"""The owner's queue of names that were found in what raters will read. Works inside one transaction."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Literal

from core.studies.desks import OwnerDesk
from core.studies.leaks import Leak, LeakDecision, context, finds, redacted, searched
from core.studies.material import measure
from core.studies.protocol import BadStudy
from core.studies.records import Contents, Item

Key = tuple[str, int, str]


def scan(desk: OwnerDesk) -> None:
    """Bring the queue up to date with texts, systems and aliases; decisions that were made stay."""
    contents = desk.contents()
    made = {_key(leak): leak for leak in contents.leaks if leak.decision != "open"}
    names = names_of(desk, contents)
    fresh = [leak for leak in _found(contents, names) if _key(leak) not in made]
    desk.set_leaks([*made.values(), *fresh])


def names_of(desk: OwnerDesk, contents: Contents) -> tuple[str, ...]:
    """The names that are looked for in this study."""
    return searched((system.name for system in contents.compared), desk.study.protocol.aliases)


def _key(leak: Leak) -> Key:
    return leak.where, leak.place, leak.alias


def _found(contents: Contents, names: tuple[str, ...]) -> Iterator[Leak]:
    items = {item.id: item for item in contents.items if not item.dropped}
    for item in items.values():
        yield from _in("prompt", item.id, item, item.prompt, names)
    for output in contents.outputs:
        if output.item in items:
            yield from _in("text", output.id, items[output.item], output.text, names)


def _in(
    where: Literal["text", "prompt"], place: int, item: Item, text: str, names: tuple[str, ...]
) -> Iterator[Leak]:
    found = finds(text, names)
    first = {find.alias: find for find in reversed(found)}
    for alias, times in Counter(find.alias for find in found).items():
        yield Leak(0, where, place, item.key, alias, context(text, first[alias]), times, "open")


def decide(desk: OwnerDesk, number: int, decision: LeakDecision, by: str) -> None:
    """Take the name out of that text, let it stand, or drop the whole item. Raises BadStudy."""
    contents = desk.contents()
    leak = next((leak for leak in contents.leaks if leak.id == number), None)
    if leak is None or decision not in ("redact", "keep", "drop"):
        raise BadStudy(f"There is no name {number} waiting that could be {decision!r}: redact, keep or drop.")
    if leak.decision != "open":
        raise BadStudy(f"About {leak.alias!r} in item {leak.item!r} was decided before: {leak.decision}.")
    if decision == "redact":
        _redact(desk, contents, leak)
    if decision == "drop":
        desk.drop_item(item_of(contents, leak).id)
    desk.decide_leak(number, decision, by)
    desk.event(by, "name in a text", {**_said(leak), "decision": decision})
    if decision == "drop":
        scan(desk)


def _said(leak: Leak) -> dict[str, object]:
    return {"item": leak.item, "where": leak.where, "alias": leak.alias, "context": leak.context}


def item_of(contents: Contents, leak: Leak) -> Item:
    """The item in which the name was found."""
    by_output = {output.id: output.item for output in contents.outputs}
    wanted = leak.place if leak.where == "prompt" else by_output[leak.place]
    return next(item for item in contents.items if item.id == wanted)


def _redact(desk: OwnerDesk, contents: Contents, leak: Leak) -> None:
    names = names_of(desk, contents)
    if leak.where == "prompt":
        item = item_of(contents, leak)
        prompt = redacted(item.prompt, names, leak.alias)
        desk.set_prompt(item.id, prompt, item.original if item.original is not None else item.prompt)
        return
    output = next(output for output in contents.outputs if output.id == leak.place)
    text = redacted(output.text, names, leak.alias)
    original = output.original if output.original is not None else output.text
    # Flags are those of the text as it was written.
    measures = replace(measure(text), flags=output.measures.flags)
    desk.set_text(output.id, text, original, measures)


def kept_outputs(contents: Contents) -> frozenset[int]:
    """The texts in which, or in whose prompt, the owner let a name stand."""
    kept = [leak for leak in contents.leaks if leak.decision == "keep"]
    texts = {leak.place for leak in kept if leak.where == "text"}
    prompts = {leak.place for leak in kept if leak.where == "prompt"}
    return frozenset(o.id for o in contents.outputs if o.id in texts or o.item in prompts)
