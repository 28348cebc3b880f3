"""What the owner's page shows of a study. Computes nothing.

Until the lock nothing of it tells who wins; names and masks never stand side by side before the unblinding.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from core.studies.desks import OwnerDesk
from core.studies.exports import plain
from core.studies.leaks import SHORTEST
from core.studies.monitor import Monitor
from core.studies.opening import pair_up
from core.studies.power import Plan
from core.studies.protocol import EXCLUSION_RULES, BadStudy, protocol_hash
from core.studies.records import Contents, Event, Item, Mark, Study
from core.studies.service import STEPS

View = dict[str, Any]
MOST_EVENTS = 200
MOST_ITEMS = 200
MOST_LEAKS = 200


def row(study: Study) -> View:
    """A study in the list."""
    return {
        "id": study.id,
        "name": study.name,
        "status": study.status,
        "created_at": study.created_at.isoformat(),
        "elsewhere": study.elsewhere,
    }


def whole(desk: OwnerDesk, rate_address: str) -> View:
    """All of a study but its progress and its report."""
    study, contents = desk.study, desk.contents()
    steps = ("locked",) if study.elsewhere and study.status == "draft" else STEPS[study.status]
    unblinding = desk.unblinding()
    return {
        **row(study),
        "protocol": asdict(study.protocol),
        "sha256": study.sha256 or protocol_hash(study.protocol),
        "frozen": bool(study.sha256),
        "steps": list(steps),
        "contents": _contents(study, contents),
        "leaks": _leaks(study, contents),
        "unblinding": plain(unblinding) if unblinding else None,
        "rate_address": rate_address,
        "rules": EXCLUSION_RULES,
    }


def _contents(study: Study, contents: Contents) -> View:
    """What is compared; in a draft by name, which its owner gave, later without."""
    items = [item for item in contents.items if not item.dropped]
    flags = Counter(flag for output in contents.outputs for flag in output.measures.flags)
    draft = study.status == "draft"
    named = draft or study.status == "unblinded"
    names = [system.name for system in contents.systems] if named else []
    return {
        "systems": len(contents.systems),
        "names": names,
        "unsearched": [name for name in names if len(name) < SHORTEST],
        "items": dict(Counter(item.kind for item in items)),
        "dropped": len(contents.items) - len(items),
        "flags": dict(flags),
        "pairings": _pairings(study, contents),
        "shown": [_item(item) for item in items[:MOST_ITEMS]] if draft else [],
    }


def _item(item: Item) -> View:
    return {"key": item.key, "prompt": item.prompt[:300], "stratum": item.stratum, "kind": item.kind}


def _pairings(study: Study, contents: Contents) -> View:
    try:
        found = contents.pairings or pair_up(contents, study.protocol)
    except BadStudy:
        return {"asked": 0, "identical": 0}
    alike = sum(one.identical for one in found)
    return {"asked": len(found) - alike, "identical": alike}


def _leaks(study: Study, contents: Contents) -> View:
    """The queue, in a draft only: later it would show which text holds whose name."""
    waiting = [leak for leak in contents.leaks if leak.decision == "open"]
    decided = [leak for leak in contents.leaks if leak.decision != "open"]
    shown = [asdict(leak) for leak in [*waiting, *decided][:MOST_LEAKS]] if study.status == "draft" else []
    often = Counter(leak.decision for leak in decided)
    return {"waiting": len(waiting), "decided": dict(often), "shown": shown}


def progress(found: Monitor, marks: Sequence[Mark], events: Sequence[Event], ids: Mapping[str, int]) -> View:
    """The monitor, the owner's own marks and the end of the log."""
    shown: View = plain(found)
    for rater in shown["raters"]:
        rater["id"] = ids[rater["code"]]
    return {**shown, "marks": plain(marks), "events": plain(events[-MOST_EVENTS:][::-1])}


def planned(plan: Plan, pairings: int) -> View:
    """A plan of votes, and what it means for the study's own pairings."""
    each = -(-plan.votes // pairings) if pairings else 0
    return {**plain(plan), "pairings": pairings, "target": each}
