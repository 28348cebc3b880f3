"""The grammar of `history`: its actions, options and help. Runs nothing."""

from __future__ import annotations

import argparse

from core.importing.tables import COLUMNS
from core.scoring.catalog import SCORERS
from core.training.contamination import PASSAGE
from ui.cli.readers import number, whole


def history_arguments(p: argparse.ArgumentParser) -> None:
    """The actions of `history`."""
    actions = p.add_subparsers(dest="action", required=True)
    list_ = actions.add_parser("list", help="the newest sessions")
    list_.add_argument("--limit", type=whole(1), default=20)
    list_.add_argument("--json", action="store_true")
    show = actions.add_parser("show", help="one session, to read")
    show.add_argument("id")
    show.add_argument("--json", action="store_true")
    _export(actions.add_parser("export", help="one session as a file, or many as lines"))
    _import(actions.add_parser("import", help="sessions of elsewhere: all of a file or nothing"))
    _training(actions.add_parser("training", help="training data in TRL's forms"))


def _export(p: argparse.ArgumentParser) -> None:
    p.add_argument("id", nargs="*", help="the session, or several with --format jsonl")
    p.add_argument("--all", action="store_true", help="every session that is not deleted")
    p.add_argument("--query", help="those that have these words")
    p.add_argument(
        "--format",
        choices=["json", "jsonl", "md", "html"],
        help="jsonl: a session a line, to be imported elsewhere (default for many); json: one of them",
    )
    p.add_argument("--output", metavar="FILE", help="default: standard output")


def _import(p: argparse.ArgumentParser) -> None:
    p.add_argument("files", nargs="+", metavar="FILE", help="an export, trajectories, CSV, JSONL")
    p.add_argument(
        "--as",
        dest="kind",
        choices=["redraft", "self-refine", "drafts"],
        help="what the files hold (default: known by how each begins)",
    )
    p.add_argument("--model", default="", help="who wrote the texts (default: imported:FILE's name)")
    p.add_argument("--source", default="", help="the name that ids are made of (default: FILE's name)")
    p.add_argument(
        "--column",
        action="append",
        default=[],
        type=_column,
        metavar="NAME=COLUMN",
        help=f"a column of a table by its own name (repeatable); NAME is one of {', '.join(COLUMNS)}",
    )
    p.add_argument("--json", action="store_true")


def _training(p: argparse.ArgumentParser) -> None:
    p.add_argument("--kind", required=True, choices=["sft", "dpo", "gsr"])
    p.add_argument("--out", required=True, metavar="DIR", help="a new folder for the data")
    p.add_argument("--json", action="store_true", help="print the manifest")
    which = p.add_argument_group("which sessions")
    which.add_argument("--query", default="", help="those that have these words")
    which.add_argument("--preset", help="of this preset")
    which.add_argument("--strategy", help="of this strategy")
    which.add_argument("--model", help="by this model")
    why = p.add_argument_group("what is good enough")
    why.add_argument(
        "--from",
        dest="reasons",
        action="append",
        choices=["accepted", "verifier", "scores", "votes"],
        help="repeatable; default: accepted and verifier, and what --scorer and --votes name",
    )
    why.add_argument("--scorer", choices=[*SCORERS, "given"], help="the score of --threshold and pairs")
    why.add_argument("--threshold", type=number, help="the least score of a text to learn")
    why.add_argument("--margin", type=number, default=0.0, help="the least difference of a pair's scores")
    why.add_argument("--by-person", action="store_true", help="what a person ruled, not the policy")
    why.add_argument("--steps", action="store_true", help="sft: revisions with their own requests too")
    why.add_argument("--votes", action="append", default=[], metavar="FILE", help="a study's preference rows")
    how = p.add_argument_group("how the rows are made")
    how.add_argument("--min-chars", type=whole(1), default=1, help="of a text to learn")
    how.add_argument("--max-chars", type=whole(1))
    how.add_argument("--near", type=_share, default=0.8, help="from which likeness on two texts are one")
    how.add_argument("--most", type=whole(1), help="rows at most, of all clusters in turn")
    how.add_argument("--held-out", type=_share, default=0.1, help="share of the tasks kept apart")
    how.add_argument("--seed", type=whole(0), default=7)
    how.add_argument("--test-file", action="append", default=[], metavar="FILE",
                     help="leave out rows that share a passage with this file (repeatable)")  # fmt: skip
    how.add_argument("--words", type=whole(5, 100), default=PASSAGE, help="words of a passage")


def _column(text: str) -> tuple[str, str]:
    name, _, theirs = text.partition("=")
    if name not in COLUMNS or not theirs:
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=COLUMN with one of {', '.join(COLUMNS)}")
    return name, theirs


def _share(text: str) -> float:
    value = number(text)
    if not 0 <= value <= 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 0 to 1")
    return value
