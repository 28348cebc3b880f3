"""Votes that someone else collected, put into a draft of their own. Works inside one transaction.

Such a study is never asked: it is locked, unblinded and reported like any other. A rater's further vote on
the same pairing is kept as a retest; a vote that is there already, to the moment, is not kept again.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from core.studies.desks import OwnerDesk
from core.studies.filling import entries_of
from core.studies.material import Added, Entry, check_entry, folded, measure
from core.studies.protocol import BadStudy, fingerprint
from core.studies.records import Ballot, Contents, KeptVote, NewPairing
from core.studies.votes import Choice


@dataclass(frozen=True)
class ForeignVote:
    """A vote from elsewhere; left is what its source names first. Texts may be "" and `at` unknown.

    `row` says where it stands in its source.
    """

    row: str
    rater: str
    item: str
    system_left: str
    system_right: str
    choice: Choice
    prompt: str = ""
    text_left: str = ""
    text_right: str = ""
    stratum: str = ""
    at: datetime | None = None


def add_votes(desk: OwnerDesk, votes: Sequence[ForeignVote]) -> Added:
    """Keep the votes that are not there yet, with items, raters, pairings. Raises BadStudy, naming a row."""
    if not votes:
        raise BadStudy("There is no vote in it. Nothing was added.")
    contents = desk.contents()
    if contents.items and not desk.study.elsewhere:
        raise BadStudy("This draft has items to be asked. Votes from elsewhere need a study of their own.")
    clean = [_clean(vote) for vote in votes]
    entries = _entries(clean, {entry.key: entry for entry in entries_of(contents)})
    desk.set_elsewhere()
    desk.add_entries([(entry, {n: measure(t) for n, t in entry.texts}) for entry in entries])
    there = {vote.ballot.client_uuid for vote in desk.votes()}
    named = {_name(desk.study.id, vote): vote for vote in clean}
    new = {name: vote for name, vote in named.items() if name not in there}
    _keep(desk, new)
    return Added(len(new), len(votes) - len(new))


def _clean(vote: ForeignVote) -> ForeignVote:
    left, right = folded(vote.system_left), folded(vote.system_right)
    vote = replace(
        vote, rater=folded(vote.rater), item=folded(vote.item), system_left=left, system_right=right
    )
    if not (vote.rater and left and right) or left == right:
        raise BadStudy(f"{vote.row} needs a rater and two different systems. Nothing was added.")
    return vote


def _name(study: str, vote: ForeignVote) -> str:
    """What makes it this vote and no other; its row in a file does not."""
    parts = (study, vote.rater, vote.item, vote.system_left, vote.system_right, vote.choice, str(vote.at))
    return fingerprint(json.dumps(parts))


def _entries(votes: Iterable[ForeignVote], there: Mapping[str, Entry]) -> tuple[Entry, ...]:
    """The items of the votes, each with the texts of all systems that were judged on it."""
    found = dict(there)
    for vote in votes:
        given = {vote.system_left: vote.text_left, vote.system_right: vote.text_right}
        new = Entry(vote.item, vote.prompt, tuple(given.items()), vote.stratum)
        check_entry(new, vote.row)
        found[vote.item] = _joined(found.get(vote.item, new), new, vote.row)
    return tuple(found.values())


def _joined(old: Entry, new: Entry, row: str) -> Entry:
    texts = dict(old.texts)
    for name, text in new.texts:
        if text and texts.setdefault(name, text) not in ("", text):
            raise BadStudy(f"{row} has another text of {name!r} for item {new.key!r} than one before it. "
                           "Nothing was added.")  # fmt: skip
        texts[name] = texts.get(name) or text
    if new.prompt and old.prompt not in ("", new.prompt):
        raise BadStudy(
            f"{row} has another prompt for item {new.key!r} than one before it. Nothing was added."
        )
    return replace(old, texts=tuple(texts.items()), prompt=old.prompt or new.prompt)


def _keep(desk: OwnerDesk, votes: Mapping[str, ForeignVote]) -> None:
    raters = _raters(desk, votes.values())
    desk.add_pairings(_new_pairings(desk.contents(), votes.values()))
    contents = desk.contents()
    pairings, names = _pairings(contents), {system.name: system.id for system in contents.systems}
    before = Counter((vote.rater, vote.pairing) for vote in desk.votes())
    places = Counter(vote.rater for vote in desk.votes())
    kept = []
    for name, vote in votes.items():
        rater = raters[vote.rater]
        pairing, x = pairings[vote.item, frozenset((vote.system_left, vote.system_right))]
        at = vote.at or desk.study.created_at
        retest, seq = before[rater, pairing], places[rater]
        x_left = names[vote.system_left] == x
        kept.append(KeptVote(0, rater, pairing, x_left, seq, retest, 1, Ballot(name, vote.choice), at, at))
        before[rater, pairing] += 1
        places[rater] += 1
    desk.import_votes(kept)


def _raters(desk: OwnerDesk, votes: Iterable[ForeignVote]) -> dict[str, int]:
    """The numbers of the raters by how the source names them; new ones are made."""
    known = {rater.code: rater.id for rater in desk.raters()}
    for code in dict.fromkeys(vote.rater for vote in votes):
        if code not in known:
            known[code] = desk.add_rater(code, "", {})
    return known


def _pairings(contents: Contents) -> dict[tuple[str, frozenset[str]], tuple[int, int]]:
    """Item and pair of systems to the pairing's number and the system of its x."""
    keys = {item.id: item.key for item in contents.items}
    names = {system.id: system.name for system in contents.systems}
    system = {output.id: output.system for output in contents.outputs}
    return {
        (keys[p.item], frozenset((names[system[p.output_x]], names[system[p.output_y]]))): (
            p.id,
            system[p.output_x],
        )
        for p in contents.pairings
    }


def _new_pairings(contents: Contents, votes: Iterable[ForeignVote]) -> tuple[NewPairing, ...]:
    there = _pairings(contents)
    wanted = dict.fromkeys((v.item, frozenset((v.system_left, v.system_right))) for v in votes)
    return tuple(_made(contents, [pair for pair in wanted if pair not in there]))


def _made(contents: Contents, pairs: Iterable[tuple[str, frozenset[str]]]) -> Iterator[NewPairing]:
    items = {item.key: item for item in contents.items}
    names = {system.id: system.name for system in contents.systems}
    outputs = {(output.item, names[output.system]): output.id for output in contents.outputs}
    for key, pair in pairs:
        x, y = sorted(pair)
        item = items[key]
        yield NewPairing(item.id, outputs[item.id, x], outputs[item.id, y], False, item.kind, 0, 0)
