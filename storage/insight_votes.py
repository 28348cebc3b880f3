"""What raters said of texts between which a person ruled otherwise than the policy. Knows no figure.

Only votes of unblinded studies are looked at: before, nobody may know what they say. They are taken as they
were cast, first answers to a study's own items, exclusions not applied.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from sqlalchemy import Connection, func, select
from sqlalchemy.orm import aliased

from core.insight import Scope
from core.round_facts import overruled_at
from core.steps import RevisionGate, Ruled, Step
from storage.insight_rounds import F, within
from storage.reading import step_of
from storage.study_tables import (
    AssignmentRow,
    ItemRow,
    OutputRow,
    PairingRow,
    StudyRow,
    UnblindingRow,
)
from storage.tables import StepRow

MOST_SESSIONS = 2_000
"""So many sessions with such rulings are looked at, the newest."""
Pair = frozenset[str]


def votes_for_persons(connection: Connection, scope: Scope) -> tuple[int, int]:
    """How many votes side with the person, of how many on both texts of such a ruling."""
    winners = _winners(connection)
    if not winners:
        return 0, 0
    agreed = voted = 0
    for current, proposed, chosen in _rulings(connection, scope):
        found = winners.get(frozenset((current, proposed)), [])
        voted += len(found)
        agreed += found.count(chosen)
    return agreed, voted


def unblindings(connection: Connection) -> int:
    """How many studies are unblinded."""
    return connection.scalar(select(func.count()).select_from(UnblindingRow)) or 0


def _winners(connection: Connection) -> dict[Pair, list[str]]:
    """For each pair of texts those that votes preferred."""
    x, y = aliased(OutputRow), aliased(OutputRow)
    texts = (func.coalesce(each.original, each.text) for each in (x, y))
    rows = (
        select(AssignmentRow.x_left, AssignmentRow.choice, *texts)
        .join(StudyRow, StudyRow.id == AssignmentRow.study_id)
        .join(PairingRow, PairingRow.id == AssignmentRow.pairing_id)
        .join(ItemRow, ItemRow.id == PairingRow.item_id)
        .join(x, x.id == PairingRow.output_x)
        .join(y, y.id == PairingRow.output_y)
        .where(StudyRow.status == "unblinded", AssignmentRow.choice.in_(("left", "right")))
        .where(AssignmentRow.retest == 0, ItemRow.kind == "item", ItemRow.dropped.is_(False))
    )
    found: dict[Pair, list[str]] = defaultdict(list)
    for row in connection.execute(rows):
        x_left, choice, of_x, of_y = tuple(row)
        found[frozenset((of_x, of_y))].append(of_x if x_left == (choice == "left") else of_y)
    return found


def _rulings(connection: Connection, scope: Scope) -> set[tuple[str, str, str]]:
    """Draft, revision, and which of them the person chose; a copy in a fork is the same ruling."""
    sessions = select(F.session_id).where(*within(scope), F.overruled > 0)
    newest = sessions.order_by(F.number.desc()).limit(MOST_SESSIONS)
    steps = select(StepRow.request, StepRow.answer).where(StepRow.kind == "revision gate")
    rows = connection.execute(steps.where(StepRow.session_id.in_(newest)))
    return {ruling for row in rows for ruling in _ruling(step_of(*row))}


def _ruling(step: Step) -> Iterator[tuple[str, str, str]]:
    gate, answer = step.request, step.answer
    if isinstance(gate, RevisionGate) and isinstance(answer, Ruled) and overruled_at(step):
        accepted = answer.decision.ruling == "accept"
        chosen = gate.proposed if accepted else gate.current
        yield gate.current.text, gate.proposed.text, chosen.text
