"""Votes joined with what they were about: the one view of a study from which everything is told."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from core.studies.leak_queue import kept_outputs
from core.studies.records import Contents, Item, KeptVote, Output, Rater, System


@dataclass(frozen=True)
class Row:
    """One vote with its rater, item and texts. `leak_kept`: a name stands in what was shown, by decision."""

    vote: KeptVote
    rater: Rater
    item: Item
    left: Output
    right: Output
    system_left: System
    system_right: System
    leak_kept: bool

    @property
    def main(self) -> bool:
        """A first answer to one of the study's own items."""
        return self.item.kind == "item" and self.vote.retest == 0

    @property
    def winner(self) -> System | None:
        """The system of the side that was chosen; None for anything else."""
        return {"left": self.system_left, "right": self.system_right}.get(self.vote.ballot.choice)


def rows_of(contents: Contents, votes: Iterable[KeptVote], raters: Iterable[Rater]) -> Iterator[Row]:
    """A row for every vote, in their order."""
    systems = {system.id: system for system in contents.systems}
    items = {item.id: item for item in contents.items}
    outputs = {output.id: output for output in contents.outputs}
    pairings = {pairing.id: pairing for pairing in contents.pairings}
    people = {rater.id: rater for rater in raters}
    leaky = kept_outputs(contents)
    for vote in votes:
        pairing = pairings[vote.pairing]
        x, y = outputs[pairing.output_x], outputs[pairing.output_y]
        left, right = (x, y) if vote.x_left else (y, x)
        yield Row(
            vote,
            people[vote.rater],
            items[pairing.item],
            left,
            right,
            systems[left.system],
            systems[right.system],
            bool({left.id, right.id} & leaky),
        )
