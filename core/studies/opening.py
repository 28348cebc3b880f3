"""What a draft needs before raters may see it: names nowhere, pairings for all that is to be asked."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from random import Random

from core.studies.blinding import shown_texts
from core.studies.desks import OwnerDesk
from core.studies.leak_queue import scan
from core.studies.leaks import finds, searched
from core.studies.material import pairs_of, same
from core.studies.protocol import BadStudy, StudyProtocol, fingerprint
from core.studies.records import Contents, NewPairing, Output


def check_ready(desk: OwnerDesk) -> None:
    """Raises BadStudy for a draft that can't be opened, saying what is missing."""
    if desk.study.elsewhere:
        raise BadStudy("This study holds votes from elsewhere: lock it, then unblind it.")
    scan(desk)
    contents, protocol = desk.contents(), desk.study.protocol
    names = {system.name for system in contents.compared}
    _check_systems(protocol, names)
    _check_leaks(contents)
    for setting, text in shown_texts(protocol).items():
        found = finds(text, searched(names, protocol.aliases))
        if found:
            raise BadStudy(f"Raters will read {setting}, and it holds the name {found[0].alias!r}.")
    if not any(one.kind == "item" and not one.identical for one in pair_up(contents, protocol)):
        raise BadStudy("There is nothing to ask: no item has different texts of two systems.")


def _check_systems(protocol: StudyProtocol, names: set[str]) -> None:
    for name in {*(name for pair in protocol.pairs for name in pair), protocol.closing_system} - {""}:
        if name not in names:
            raise BadStudy(f"The protocol names a system {name!r} that the study does not have.")


def _check_leaks(contents: Contents) -> None:
    waiting = [leak for leak in contents.leaks if leak.decision == "open"]
    if waiting:
        raise BadStudy(
            f"In {len(waiting)} texts stands a name that may give a system away, such as "
            f"{waiting[0].alias!r} in item {waiting[0].item!r}. Redact, keep or drop each of them first."
        )


def pair_up(contents: Contents, protocol: StudyProtocol) -> tuple[NewPairing, ...]:
    """Every pairing of the items that are not dropped, x's system before y's by name.

    Those of the study's own items are shuffled: whoever looks at the first so many of them sees a sample, not
    the beginning of a file.
    """
    names = {system.id: system.name for system in contents.systems}
    texts = outputs_by_item(contents.outputs, names)
    prompts: dict[str, int] = {}
    pairs: dict[tuple[str, str], int] = {}
    found = []
    for item in (item for item in contents.items if not item.dropped):
        prompt = prompts.setdefault(" ".join(item.prompt.split()) or item.key, len(prompts))
        wanted = protocol.pairs if item.kind == "item" else ()
        for pair in pairs_of(list(texts[item.id]), wanted):
            x, y = (texts[item.id][name] for name in pair)
            code = pairs.setdefault(pair, len(pairs))
            alike = same(x.text, y.text)
            found.append(NewPairing(item.id, x.id, y.id, alike, item.kind, prompt, code))
    own = [one for one in found if one.kind == "item"]
    Random(protocol.seed).shuffle(own)
    return (*(one for one in found if one.kind != "item"), *own)


def outputs_by_item(outputs: Iterable[Output], names: dict[int, str]) -> dict[int, dict[str, Output]]:
    """The texts of every item by the names of their systems."""
    found: dict[int, dict[str, Output]] = defaultdict(dict)
    for output in outputs:
        found[output.item][names[output.system]] = output
    return found


def items_hash(contents: Contents) -> str:
    """SHA-256 over everything that raters may be asked about, whatever order it was added in."""
    names = {system.id: system.name for system in contents.systems}
    texts = outputs_by_item(contents.outputs, names)
    lines = [
        "\t".join(
            [item.key, fingerprint(item.prompt), item.kind, item.expected]
            + [f"{name}={output.measures.sha256}" for name, output in sorted(texts[item.id].items())]
        )
        for item in contents.items
        if not item.dropped
    ]
    return fingerprint("\n".join(sorted(lines)))
