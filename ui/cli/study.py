"""`study`: make, fill, open, watch, lock, unblind, report and export blind preference studies."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from core.sessions import StoreBusy, UnknownSession
from core.studies.battles import holds_votes, read_votes
from core.studies.desks import StudyStore
from core.studies.exports import as_json, export, protocol_document
from core.studies.figures import Undefined
from core.studies.from_sessions import from_recipes, from_sessions
from core.studies.imports import Read, read_entries
from core.studies.leaks import SHORTEST, Leak
from core.studies.material import Added, systems_of
from core.studies.monitor import Monitor, monitor
from core.studies.protocol import BadStudy, StudyProtocol, read_protocol
from core.studies.records import Contents, UnknownStudy
from core.studies.results import report_of, results
from core.studies.service import Studies
from core.studies.summary import summary
from ui.cli.common import DONE, FAILED, USAGE, Tools, say


def study(tools: Tools, args: argparse.Namespace) -> int:
    """Do one action on a study."""
    try:
        return ACTIONS[args.action](tools, tools.studies(), args)
    except (BadStudy, UnknownStudy, UnknownSession) as error:
        say(f"error: {error}")
        return USAGE
    except StoreBusy as error:
        say(f"error: {error}")
        return FAILED


def _print(args: argparse.Namespace, document: Any, readable: str) -> int:
    print(as_json(document) if args.json else readable, flush=True)
    return DONE


# -- protocol ------------------------------------------------------------------------------------


def _new(tools: Tools, store: StudyStore, args: argparse.Namespace) -> int:
    study_id = Studies(store).new(args.name, _protocol(args, {}), tools.person)
    return _print(args, {"id": study_id}, study_id)


def _show_protocol(tools: Tools, store: StudyStore, args: argparse.Namespace) -> int:
    studies = Studies(store)
    before = studies.study(args.id).protocol
    after = _protocol(args, asdict(before))
    if after != before:
        studies.set_protocol(args.id, after, tools.person)
        studies.scan(args.id)
    print(protocol_document(studies.study(args.id)))
    return DONE


def _protocol(args: argparse.Namespace, before: dict[str, Any]) -> StudyProtocol:
    """The settings from before, those of the file, and the options, the later ones over the earlier."""
    values = {**before, **(_json_object(_read(args.protocol), args.protocol) if args.protocol else {})}
    named = ("question", "instructions", "target", "per_rater", "seed")
    values |= {name: getattr(args, name) for name in named if getattr(args, name) is not None}
    lists = {"criteria": args.criterion, "aliases": args.alias}
    values |= {name: given for name, given in lists.items() if given}
    for setting in args.set:
        name, _, value = setting.partition("=")
        try:
            values[name] = json.loads(value)
        except ValueError as error:
            raise BadStudy(
                f"--set wants NAME=JSON, such as target=3 or consent='\"Text\"': {error}"
            ) from error
    return read_protocol(values)


def _json_object(data: bytes, name: str) -> dict[str, Any]:
    try:
        found = json.loads(data.decode("utf-8-sig"))
    except ValueError as error:
        raise BadStudy(f"{name} can't be read as JSON: {error}.") from error
    if not isinstance(found, dict):
        raise BadStudy(f"{name} must hold one JSON object of settings.")
    return found.get("protocol", found) if isinstance(found.get("protocol"), dict) else found


def _read(name: str) -> bytes:
    try:
        return Path(name).read_bytes()
    except OSError as error:
        raise BadStudy(f"{name} can't be read: {error.strerror}.") from error


def _list(_: Tools, store: StudyStore, args: argparse.Namespace) -> int:
    found = store.studies()
    lines = [f"{one.id}  {one.created_at:%Y-%m-%d %H:%M}  {one.status}  {one.name}" for one in found]
    if not found:
        say("There are no studies yet. `python app.py study new NAME` makes one.")
    rows = [{"id": s.id, "name": s.name, "status": s.status, "created_at": s.created_at} for s in found]
    return _print(args, rows, "\n".join(lines))


# -- what is compared ----------------------------------------------------------------------------


def _import(tools: Tools, store: StudyStore, args: argparse.Namespace) -> int:
    if sum(map(bool, (args.file, args.session, args.arm))) != 1:
        raise BadStudy("Import from one thing: a file, --session, or --arm.")
    studies = Studies(store)
    if args.file and holds_votes(_read(args.file)):
        added = studies.add_votes(args.id, read_votes(_read(args.file)), tools.person)
        return _say_added(args, added, "votes", ())
    read = _entries(tools, args)
    entries = read.entries
    added = studies.add(args.id, entries, tools.person, "row" if args.file else "session")
    waiting = [leak for leak in studies.leaks(args.id) if leak.decision == "open"]
    notes = list(read.notes)
    notes += [f"{len(waiting)} names wait for a decision: study leaks {args.id}"] if waiting else []
    notes += _flagged(studies.contents(args.id))
    short = [name for name in systems_of(entries) if len(name) < SHORTEST]
    if short:
        notes.append(f"Too short to be looked for in the texts: {', '.join(short)}")
    return _say_added(args, added, "items", notes)


def _flagged(contents: Contents) -> list[str]:
    """What is flagged among the texts of the study."""
    often = Counter(flag for output in contents.outputs for flag in output.measures.flags)
    said = ", ".join(f"{flag} {number}" for flag, number in sorted(often.items()))
    return [f"Flagged among the texts of the study: {said}"] if said else []


def _entries(tools: Tools, args: argparse.Namespace) -> Read:
    if args.file:
        return read_entries(_read(args.file), args.system, args.limit)
    if args.session:
        return Read(from_sessions(tools.bench, args.session))
    arms = {name: ids.split(",") for name, _, ids in (arm.partition("=") for arm in args.arm)}
    return Read(from_recipes(tools.bench, arms))


def _say_added(args: argparse.Namespace, added: Added, what: str, notes: Any) -> int:
    for note in notes:
        say(f"note: {note}")
    readable = f"{added.new} new {what}, {added.repeated} that were there already"
    return _print(args, {"new": added.new, "repeated": added.repeated, "what": what}, readable)


def _leaks(tools: Tools, store: StudyStore, args: argparse.Namespace) -> int:
    studies = Studies(store)
    for said in args.decide:
        number, _, decision = said.partition("=")
        if not number.isdecimal():
            raise BadStudy(f"--decide wants NUMBER=DECISION, not {said!r}.")
        studies.decide_leak(args.id, int(number), decision, tools.person)
    while args.all and (waiting := [one for one in studies.leaks(args.id) if one.decision == "open"]):
        studies.decide_leak(args.id, waiting[0].id, args.all, tools.person)
    found = studies.leaks(args.id)
    if not found:
        say("No name was found.")
    return _print(args, found, "\n".join(map(_leak, found)))


def _leak(leak: Leak) -> str:
    times = f" ({leak.times} times)" if leak.times > 1 else ""
    return (
        f"{leak.id}  {leak.decision}  {leak.where} of item {leak.item}: {leak.alias}{times}: {leak.context}"
    )


def _links(tools: Tools, store: StudyStore, args: argparse.Namespace) -> int:
    base = args.base_url.rstrip("/")
    if args.open:
        url = f"{base}/r/{Studies(store).open_link(args.id, tools.person)}"
        return _print(args, {"open": url}, url)
    names = [*args.name, *[""] * args.number]
    if not names or args.number < 0:
        raise BadStudy("Say for whom: --number, --name or --open.")
    made = Studies(store).links(args.id, names, tools.person)
    links = [{"rater": link.code, "name": link.name, "url": f"{base}/r/{link.token}"} for link in made]
    return _print(args, links, "\n".join(f"{one['rater']}  {one['url']}  {one['name']}" for one in links))


# -- status, figures, files ------------------------------------------------------------------------


def _step(tools: Tools, store: StudyStore, args: argparse.Namespace) -> int:
    studies = Studies(store)
    if args.action == "open":
        studies.open(args.id, tools.person)
    elif args.action == "unblind":
        studies.unblind(args.id, tools.person, args.why)
    else:
        {"pause": studies.pause, "lock": studies.lock}[args.action](args.id, tools.person, args.why)
    now = studies.study(args.id)
    document = {"id": now.id, "status": now.status, "protocol_sha256": now.sha256}
    return _print(args, document, f"{now.name}: {now.status}, protocol {now.sha256}")


def _monitor(_: Tools, store: StudyStore, args: argparse.Namespace) -> int:
    found = monitor(store, args.id)
    return _print(args, found, "\n".join(_readable(found)))


def _readable(found: Monitor) -> list[str]:
    quality, ready = found.quality, found.pace.ready_at
    lines = [
        f"{found.name}: {found.status}",
        f"  votes: {found.votes} of {found.wanted}, {found.reserved} under way",
        f"  pace: {found.pace.last_hour} in the last hour, {found.pace.last_day} in the last day",
        f"  pairings: {found.coverage.full} of {found.coverage.pairings} have their target, "
        f"{found.coverage.identical} with identical texts are not asked",
        f"  sides: {found.left} of {found.decided} for the left; orders differ by {found.side_gap} at most",
        f"  skipped {quality.skipped}, left out {quality.excluded}, refused posts {quality.refused}",
    ]
    if not isinstance(ready, Undefined):
        lines.insert(3, f"  at this pace complete at {ready:%Y-%m-%d %H:%M} UTC")
    failed = [f"{check.rater} ({check.rule})" for check in quality.checks if check.verdict == "fail"]
    lines += [f"  checks failed: {', '.join(failed)}"] if failed else []
    lines += [f"  names that wait for a decision: {found.names_open}"] if found.names_open else []
    return lines + [
        f"  {rater.code}  {rater.state}  {rater.answers.votes if rater.answers else 0} votes  {rater.name}"
        for rater in found.raters
    ]


def _report(_: Tools, store: StudyStore, args: argparse.Namespace) -> int:
    if args.json:
        print(export(store, args.id, "report").text)
        return DONE
    print("\n".join(summary(report_of(results(store, args.id)))))
    return DONE


def _export(_: Tools, store: StudyStore, args: argparse.Namespace) -> int:
    made = export(store, args.id, "jsonl" if args.json else args.format)
    for note in made.notes:
        say(note)
    if not args.output:
        print(made.text, end="" if made.text.endswith("\n") else "\n")
        return DONE
    try:
        Path(args.output).write_bytes(made.text.encode("utf-8"))
    except OSError as error:
        raise BadStudy(f"{args.output} can't be written: {error.strerror}.") from error
    return DONE


ACTIONS: dict[str, Callable[[Tools, StudyStore, argparse.Namespace], int]] = {
    "new": _new,
    "protocol": _show_protocol,
    "list": _list,
    "import": _import,
    "leaks": _leaks,
    "links": _links,
    "open": _step,
    "pause": _step,
    "lock": _step,
    "unblind": _step,
    "monitor": _monitor,
    "report": _report,
    "export": _export,
}
