"""The grammar of `history`: its actions, options and help. Runs nothing."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from core.importing.tables import COLUMNS
from core.listing import SORTS
from core.scoring.catalog import SCORERS
from core.training.contamination import PASSAGE
from ui.cli.choosing import choosing_arguments, filter_arguments
from ui.cli.readers import number, whole

BYS = ("preset", "strategy", "model")
"""core.insight's, which brings numpy along."""
if TYPE_CHECKING:
    Actions = argparse._SubParsersAction[argparse.ArgumentParser]


def history_arguments(p: argparse.ArgumentParser) -> None:
    """The actions of `history`."""
    actions = p.add_subparsers(dest="action", required=True)
    _looking(actions)
    _marking(actions)
    _export(actions.add_parser("export", help="one session as a file, or many as lines"))
    _import(actions.add_parser("import", help="sessions of elsewhere: all of a file or nothing"))
    _training(actions.add_parser("training", help="training data in TRL's forms"))


def _looking(actions: Actions) -> None:
    """Lists, sessions, steps and figures."""
    list_ = actions.add_parser("list", help="sessions found by words and filters, in an order")
    list_.add_argument("--limit", type=whole(1), default=20, help="sessions at most (default: 20)")
    list_.add_argument("--after", metavar="ID", help="go on after this session")
    list_.add_argument("--sort", choices=SORTS, default="newest", help="most or newest first")
    list_.add_argument("--ascending", action="store_true", help="least or oldest first")
    _as_data(list_)
    filter_arguments(list_)
    show = actions.add_parser("show", help="one session, to read")
    show.add_argument("id")
    show.add_argument("--json", action="store_true")
    steps = actions.add_parser("steps", help="a line a step, or all that was sent and came back at one")
    steps.add_argument("id")
    steps.add_argument("step", nargs="?", type=whole(0), help="the step's number, from 0")
    steps.add_argument("--json", action="store_true")
    differ = actions.add_parser("diff", help="the text of one step against that of another")
    differ.add_argument("id")
    differ.add_argument("old", type=whole(0), help="the step that brought the older text")
    differ.add_argument("new", type=whole(0), help="the step that brought the newer text")
    differ.add_argument("--json", action="store_true")
    compare = actions.add_parser(
        "compare", help="a row a session: scores first, last and best, and the price"
    )
    choosing_arguments(compare, "the sessions")
    compare.add_argument("--aligned", action="store_true", help="two to four of them, round by round")
    _as_data(compare)
    _insight(actions.add_parser("insight", help="what helped, over all sessions: figures with intervals"))


def _as_data(p: argparse.ArgumentParser) -> None:
    forms = p.add_mutually_exclusive_group()
    forms.add_argument("--json", action="store_true", help="print one JSON document")
    forms.add_argument("--csv", action="store_true", help="print a table with a header")


def _insight(p: argparse.ArgumentParser) -> None:
    p.add_argument("--by", choices=BYS, default="strategy", help="what is told apart (default: strategy)")
    p.add_argument("--preset", default="", metavar="NAME", help="sessions of this preset")
    p.add_argument("--strategy", default="", metavar="NAME", help="of this strategy")
    p.add_argument("--model", default="", metavar="NAME", help="by this model")
    p.add_argument("--tag", default="", metavar="TAG", help="with this tag")
    p.add_argument("--scorer", default="", choices=[*SCORERS, "given"], metavar="NAME",
                   help="whose scores count (default: the most frequent gate's)")  # fmt: skip
    p.add_argument("--since", default="", metavar="DAY", help="that began on this day (UTC) or later")
    p.add_argument("--until", default="", metavar="DAY", help="that began on this day or earlier")
    _as_data(p)


def _marking(actions: Actions) -> None:
    """Tags, stars and deletions."""
    tag = actions.add_parser("tag", help="put a tag on sessions, or take it off")
    tag.add_argument("tag_name", metavar="TAG")
    tag.add_argument("--off", action="store_true", help="take it off")
    delete = actions.add_parser("delete", help="leave sessions out of lists; undo brings them back")
    for each in (tag, delete):
        choosing_arguments(each, "the sessions")
        each.add_argument("--json", action="store_true")
    star = actions.add_parser("star", help="put a star on a session or a candidate, or take it off")
    star.add_argument("id")
    star.add_argument("--step", type=whole(0), help="the step that wrote the candidate")
    star.add_argument("--off", action="store_true", help="take it off")
    undo = actions.add_parser("undo", help="undo a tag or delete by the name that it printed")
    undo.add_argument("name", help="such as 'delete 2026-11-30T21:00:00+00:00'")
    undo.add_argument("--json", action="store_true")


def _export(p: argparse.ArgumentParser) -> None:
    choosing_arguments(p, "the session, or several with --format jsonl or csv")
    p.add_argument(
        "--format",
        choices=["json", "jsonl", "csv", "md", "html"],
        help="jsonl: a session a line, to be imported elsewhere (default for many); csv: a row for every "
        "text and ruling; json (default for one), md and html: one session",
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
    filter_arguments(p)
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
