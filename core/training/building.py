"""From examples to a data set: fit rows, each once, none of a test file, spread out, split by task.

Every row that goes in is either in the result or counted under the reason why not. Knows no session and no
file. All rows are in memory here.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from core.training.contamination import Tests
from core.training.diversity import Diversity, Vectors, clusters, diversity, spread, vectors
from core.training.examples import Example, Kind, Tally, fit, undisputed
from core.training.near import groups


@dataclass(frozen=True)
class Plan:
    """How a data set is made.

    `near` is the Jaccard index from which on two texts are nearly the same; `held_out` the share of tasks
    that is kept apart; `most` how many rows at most; `shortest` and `longest` limit the text to learn, in
    characters.
    """

    kind: Kind
    near: float = 0.8
    held_out: float = 0.1
    seed: int = 7
    most: int | None = None
    shortest: int = 1
    longest: int | None = None


@dataclass(frozen=True)
class DataSet:
    """The rows, what became of the others, and how varied the texts to learn were at first and are now."""

    plan: Plan
    train: tuple[Example, ...]
    held_out: tuple[Example, ...]
    tally: Tally
    before: Diversity
    after: Diversity
    tests: Tests | None = None

    @property
    def rows(self) -> int:
        """Rows in all."""
        return len(self.train) + len(self.held_out)

    def told(self) -> str:
        """What there is and what became of the rest, in words."""
        rows = _counted(len(self.train), "row")
        return f"{rows} to train on and {len(self.held_out)} held out. {self.left_out()}"

    def left_out(self) -> str:
        """What became of the examples that are no rows, in words."""
        parts = [f"{number} left out: {why}." for why, number in sorted(self.tally.left_out.items())]
        return " ".join([f"Found: {_counted(self.tally.seen, 'example')}.", *parts])


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


def build(examples: Iterable[Example], plan: Plan, tests: Tests | None = None) -> DataSet:
    """The data set of these examples."""
    tally = Tally()
    usable = undisputed(list(fit(examples, tally, least=plan.shortest, most=plan.longest)), tally)
    before, rows = _measured(usable)
    tasks = groups([example.task for example in usable], plan.near)
    places = _once(usable, tasks, plan.near, tally)
    places = _clean(usable, places, tests, tally)
    places = _spread(places, rows, plan, tally)
    held = _held_out(usable, tasks, places, plan)
    after = diversity([usable[place].chosen for place in places], rows[places])
    train = tuple(usable[place] for place in places if tasks[place] not in held)
    apart = tuple(usable[place] for place in places if tasks[place] in held)
    return DataSet(plan, train, apart, tally, before, after, tests)


def _measured(examples: Sequence[Example]) -> tuple[Diversity, Vectors]:
    texts = [example.chosen for example in examples]
    rows = vectors(texts)
    return diversity(texts, rows), rows


def _once(examples: Sequence[Example], tasks: Sequence[int], near: float, tally: Tally) -> list[int]:
    """The first of rows that are nearly the same: of one task and way, with texts nearly the same."""
    chosen = groups([example.chosen for example in examples], near)
    rejected = groups([example.rejected or "" for example in examples], near)
    seen: set[tuple[int, int, int, str]] = set()
    places = []
    for place, example in enumerate(examples):
        key = (tasks[place], chosen[place], rejected[place], example.way)
        if key in seen:
            tally.left_out["nearly the same as another row"] += 1
        else:
            seen.add(key)
            places.append(place)
    return places


def _clean(examples: Sequence[Example], places: list[int], tests: Tests | None, tally: Tally) -> list[int]:
    """Those that share no passage with a test file."""
    if tests is None:
        return places
    kept = []
    for place in places:
        example = examples[place]
        texts = [*(message.content for message in example.prompt), example.chosen, example.rejected or ""]
        if name := tests.found_in(texts):
            tally.left_out[f"shares a passage with {name}"] += 1
        else:
            kept.append(place)
    return kept


def _spread(places: list[int], rows: Vectors, plan: Plan, tally: Tally) -> list[int]:
    """At most so many as wanted, from all clusters of texts in turn."""
    if plan.most is None or len(places) <= plan.most:
        return places
    tally.left_out["more than wanted; one of each cluster in turn was taken"] += len(places) - plan.most
    return [places[place] for place in spread(clusters(rows[places], plan.seed), plan.most)]


def _held_out(
    examples: Sequence[Example], tasks: Sequence[int], places: Sequence[int], plan: Plan
) -> set[int]:
    """The tasks that are kept apart: drawn by their texts, so that more sessions move none of them."""
    each = sorted({tasks[place] for place in places}, key=lambda task: _lot(examples[task].task, plan.seed))
    return set(each[: round(plan.held_out * len(each))])


def _lot(task: str, seed: int) -> bytes:
    return hashlib.sha256(f"{seed}\0{task}".encode("utf-8", "replace")).digest()
