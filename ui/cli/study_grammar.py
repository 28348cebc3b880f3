"""The grammar of `study`: its actions, options and examples. Runs nothing, and knows no study."""

from __future__ import annotations

import argparse

STUDY_EPILOG = """\
from texts to a report:
  python app.py study new "Drafts against outcomes" --question "Which text is better?" --target 3
  python app.py study import ID texts.csv            # prompt, and a column (or a row) for each system
  python app.py study import ID --session SESSION    # a session's first draft against its outcome
  python app.py study leaks ID --all redact          # names that would give a system away
  python app.py study open ID
  python app.py study links ID --number 3 --base-url https://study.example.org
  python app.py study monitor ID
  python app.py study lock ID
  python app.py study unblind ID --why "every pair has its three votes"
  python app.py study report ID
  python app.py study export ID --format csv --output votes.csv

votes that were collected elsewhere (FastChat, MT-Bench, or rater,item,system_a,system_b,winner):
  python app.py study new "Arena"
  python app.py study import ID battles.jsonl
  python app.py study lock ID

Until the lock nothing tells who wins; until the unblinding systems are masked labels.
exit codes: 0 done, 1 the database is busy (try again), 2 bad usage; nothing is half done
"""
FORMS = ["csv", "jsonl", "fastchat", "preferences", "protocol", "report"]
DECISIONS = ["redact", "keep", "drop"]


def study_arguments(p: argparse.ArgumentParser) -> None:
    """The actions of `study` and their options."""
    actions = p.add_subparsers(dest="action", required=True, metavar="ACTION")
    new = actions.add_parser("new", help="make a draft")
    new.add_argument("name", help="for you; raters never see it")
    _protocol_arguments(new)
    change = actions.add_parser("protocol", help="show a study's protocol, or change a draft's")
    change.add_argument("id")
    _protocol_arguments(change)
    actions.add_parser("list", help="all studies").add_argument("--json", action="store_true")
    _import_arguments(actions.add_parser("import", help="put items, or votes from elsewhere, into a draft"))
    _leak_arguments(actions.add_parser("leaks", help="names found in what raters will read"))
    _link_arguments(actions.add_parser("links", help="make links for raters; they are shown this once"))
    for name, said in (
        ("open", "freeze the protocol and let raters in; also after a pause"),
        ("pause", "give out no more pairs for now"),
        ("lock", "end the voting for good"),
        ("unblind", "put names in the place of the masks, for good"),
    ):
        step = _of_a_study(actions, name, said)
        step.add_argument("--why", default="", required=name == "unblind", help="kept with the study")
    _of_a_study(actions, "monitor", "progress, pace, balance and quality; never who wins")
    _of_a_study(actions, "report", "every figure, once the study is locked")
    export = _of_a_study(actions, "export", "votes, protocol or report as a file")
    export.add_argument("--format", choices=FORMS, default="csv", help="default: %(default)s")
    export.add_argument("--output", metavar="FILE", help="default: standard output")


def _of_a_study(
    actions: argparse._SubParsersAction[argparse.ArgumentParser], name: str, said: str
) -> argparse.ArgumentParser:
    p = actions.add_parser(name, help=said)
    p.add_argument("id")
    p.add_argument("--json", action="store_true", help="print one JSON document")
    return p


def _protocol_arguments(p: argparse.ArgumentParser) -> None:
    p.add_argument("--protocol", metavar="FILE", help="settings as one JSON object")
    p.add_argument("--question", help="what raters are asked about each pair")
    p.add_argument("--instructions", help="what they read before")
    p.add_argument("--target", type=int, help="votes for each pair of texts (default: 3)")
    p.add_argument("--per-rater", type=int, help="answers of one rater at most")
    p.add_argument("--criterion", action="append", default=[], help="asked beside the question (repeatable)")
    p.add_argument("--alias", action="append", default=[], help="another name to look for (repeatable)")
    p.add_argument("--seed", type=int, help="for the orders (default: 0)")
    p.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=JSON",
        help="any other setting, such as retest_share=0.1 (repeatable; `study protocol ID` shows all)",
    )
    p.add_argument("--json", action="store_true", help="print one JSON document")


def _import_arguments(p: argparse.ArgumentParser) -> None:
    p.add_argument("id")
    p.add_argument("file", nargs="?", help="CSV, JSON or JSON lines")
    p.add_argument("--system", action="append", default=[], help="a column with texts (repeatable)")
    p.add_argument("--limit", type=int, help="so many items of the file")
    p.add_argument("--session", action="append", default=[], metavar="ID",
                   help="first draft against outcome (repeatable)")  # fmt: skip
    p.add_argument("--arm", action="append", default=[], metavar="NAME=ID,ID",
                   help="outcomes of these sessions under this name; two arms at least")  # fmt: skip
    p.add_argument("--json", action="store_true", help="print one JSON document")


def _leak_arguments(p: argparse.ArgumentParser) -> None:
    p.add_argument("id")
    p.add_argument("--decide", action="append", default=[], metavar="NUMBER=DECISION",
                   help=f"one of them (repeatable): {', '.join(DECISIONS)}")  # fmt: skip
    p.add_argument("--all", choices=DECISIONS, help="all that wait")
    p.add_argument("--json", action="store_true", help="print one JSON document")


def _link_arguments(p: argparse.ArgumentParser) -> None:
    p.add_argument("id")
    p.add_argument("--number", type=int, default=0, help="so many raters")
    p.add_argument("--name", action="append", default=[], help="a rater, by a note for you (repeatable)")
    p.add_argument("--open", action="store_true", help="one link for everybody; an earlier one ends")
    p.add_argument("--base-url", default="http://127.0.0.1:7860", help="default: %(default)s")
    p.add_argument("--json", action="store_true", help="print one JSON document")
