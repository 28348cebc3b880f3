"""`history training`: sessions and votes as data to train models on."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from core.importing.tables import rows_in
from core.interchange import ImportProblem
from core.listing import Chosen
from core.training.building import DataSet, Plan, build
from core.training.contamination import BadTestFile, Tests, read_tests
from core.training.evidence import Evidence
from core.training.examples import Example, Origin, Preference, from_votes
from core.training.picking import examples_of
from core.training.writing import FolderTaken, write
from ui.cli.choosing import filter_by, given
from ui.cli.common import DONE, FAILED, USAGE, Tools, say
from ui.cli.progress import shown


def training(tools: Tools, args: argparse.Namespace) -> int:
    """Write a folder of training data."""
    try:
        votes = [vote for name in args.votes for vote in _votes(Path(name))]
        tests = _tests(args)
        _check(args)
    except (OSError, ImportProblem, BadTestFile, ValueError) as error:
        say(f"error: {error}")
        return USAGE
    plan = Plan(args.kind, args.near, args.held_out, args.seed, args.most, args.min_chars, args.max_chars)
    evidence = _evidence(args)
    data = build(_examples(tools, args, evidence, votes), plan, tests)
    if not data.rows:
        say(f"There is nothing to learn from here. {data.left_out()}")
        return FAILED
    try:
        manifest = write(data, Path(args.out), _chosen(args, evidence))
    except FolderTaken as error:
        say(f"error: {error}")
        return USAGE
    _say(data, args.out)
    if args.json:
        print(json.dumps(manifest))
    return DONE


def _check(args: argparse.Namespace) -> None:
    """Raises ValueError for options that don't go together."""
    if args.threshold is not None and not args.scorer:
        raise ValueError("--threshold needs --scorer: a threshold of which score?")
    if args.reasons and "scores" in args.reasons and not args.scorer:
        raise ValueError("--from scores needs --scorer.")
    if args.reasons and "votes" in args.reasons and not args.votes:
        raise ValueError("--from votes needs --votes FILE; `study export --format preferences` makes one.")
    if args.reasons and "scores" not in args.reasons and (args.scorer or args.threshold is not None):
        raise ValueError("--scorer and --threshold are for --from scores, which is not among these.")
    if args.margin and not args.scorer:
        raise ValueError("--margin needs --scorer: a difference of which score?")
    if args.margin < 0:
        raise ValueError("--margin is 0 or more.")
    if args.steps and args.kind != "sft":
        raise ValueError("--steps goes with --kind sft.")
    if args.max_chars is not None and args.max_chars < args.min_chars:
        raise ValueError("--max-chars is less than --min-chars.")
    if args.held_out == 1:
        raise ValueError("--held-out 1 would leave nothing to train on.")
    if not args.near:
        raise ValueError("--near must be above 0.")
    if args.kind == "gsr" and args.votes:
        raise ValueError("Votes say nothing of candidates: --votes goes with --kind sft and dpo.")


def _votes(path: Path) -> Iterator[Preference]:
    for row in rows_in(path.read_bytes()):
        texts = [row.values.get(name) for name in ("prompt", "chosen", "rejected")]
        if not all(isinstance(text, str) for text in texts):
            raise ImportProblem(row.place, "prompt, chosen and rejected must be texts.")
        prompt, chosen, rejected = map(str, texts)
        yield Preference(
            prompt, chosen, rejected, Origin("preferred by votes", study=f"{path.name}, {row.place}")
        )


def _tests(args: argparse.Namespace) -> Tests | None:
    files = {Path(name).name: Path(name).read_bytes() for name in args.test_file}
    return read_tests(files, args.words) if files else None


def _evidence(args: argparse.Namespace) -> Evidence:
    reasons = args.reasons or ["accepted", "verifier", *(["scores"] if args.scorer else [])]
    return Evidence(
        accepted="accepted" in reasons,
        verifier="verifier" in reasons,
        scorer=args.scorer if "scores" in reasons else None,
        threshold=args.threshold if "scores" in reasons else None,
        margin=args.margin,
        by_person=args.by_person,
        steps=args.steps,
    )


def _examples(
    tools: Tools, args: argparse.Namespace, evidence: Evidence, votes: list[Preference]
) -> Iterator[Example]:
    chosen = Chosen(filter=filter_by(args))
    total = max(tools.bench.store.archive.count(chosen), 1)
    for kept in shown(tools.bench.store.archive.kept(chosen), "reading", lambda count: count / total):
        yield from examples_of(kept.session, args.kind, evidence)
    yield from from_votes(votes, args.kind)


def _chosen(args: argparse.Namespace, evidence: Evidence) -> dict[str, Any]:
    """How the rows were chosen, for the manifest."""
    votes = [Path(name).name for name in args.votes]
    return {"filter": given(args), "evidence": asdict(evidence), "votes": votes}


def _say(data: DataSet, folder: str) -> None:
    say(f"{data.told()} They are in {folder}.")
    for what, number in sorted(data.tally.warned.items()):
        say(f"note: {number} rows: {what}")
    say(f"Vendi score of the texts: {data.before.vendi:.1f} before, {data.after.vendi:.1f} now.")
