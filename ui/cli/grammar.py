"""The grammar of the command line: commands, options, and the help that says what they mean. Runs nothing."""

from __future__ import annotations

import argparse
from typing import get_args

from core.domain import Role
from core.models.catalog import STARTER
from core.recipes import LARGEST_SEED
from core.scoring.catalog import SCORERS
from core.strategies import STRATEGIES
from ui.cli.history_grammar import history_arguments
from ui.cli.readers import number as _number
from ui.cli.readers import whole as _whole
from ui.cli.study_grammar import STUDY_EPILOG, study_arguments

EPILOG = """\
model names:
  starter                 the small model that comes with Redraft; shows how it works, not how well
  openai:MODEL            OpenAI, or any endpoint like it (OPENAI_API_KEY, OPENAI_BASE_URL)
  ENDPOINT:MODEL          an endpoint of the configuration file
  hf:ID-or-path           a model in this process, by transformers
  gguf:PATH-or-REPO/FILE  a GGUF file in this process, by llama.cpp

settings:
  REDRAFT_HOME            data folder (default ~/.local/share/redraft)
  REDRAFT_DATABASE_URL    database (default: SQLite in the data folder)
  REDRAFT_USER            the name that your decisions carry (default: person)
  config.toml             in the data folder, or --config FILE:
                            [endpoints.local]
                            base_url = "http://127.0.0.1:11434/v1"
                            key_env = "LOCAL_KEY"        # the variable that holds the key
                            models = ["qwen3:4b"]        # offered in lists
                            context_tokens = 8192
                            price = {prompt = 0.1, completion = 0.4}   # per million tokens

exit codes: 0 done, 1 the run failed or waits (resumable; it says how), 2 bad usage
"""


def parser() -> argparse.ArgumentParser:
    """The command line's grammar."""
    top = argparse.ArgumentParser(
        prog="python app.py",
        description="Redraft refines LLM text with a person in the loop. Without a command it serves.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    top.add_argument("--config", help="configuration file (TOML)")
    commands = top.add_subparsers(dest="command", metavar="COMMAND")
    serve = commands.add_parser("serve", help="serve the pages (default)")
    serve.add_argument("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
    serve.add_argument("--port", type=int, default=7860, help="port to listen on (default: %(default)s)")
    serve.add_argument(
        "--allow-host",
        action="append",
        default=[],
        metavar="NAME",
        help="a name of this server besides localhost, such as a proxy in front of it uses (repeatable)",
    )
    serve.add_argument(
        "--rate-port",
        type=int,
        metavar="PORT",
        help="serve the raters' pages, and nothing else, on a port of their own: the one to open to the "
        "world by a tunnel or a proxy, since whoever reaches the other port owns every study",
    )
    serve.add_argument(
        "--rate-host", default="127.0.0.1", help="address to listen on for raters (default: %(default)s)"
    )
    serve.add_argument(
        "--rate-url",
        default="",
        metavar="URL",
        help="where raters reach that port, such as https://rate.example.org; links begin with it",
    )
    _refine_arguments(commands.add_parser("refine", help="refine a text", epilog=EPILOG,
                      formatter_class=argparse.RawDescriptionHelpFormatter))  # fmt: skip
    history_arguments(
        commands.add_parser("history", help="list, show, export and import sessions; training data")
    )
    _models_arguments(commands.add_parser("models", help="list, check and fetch models"))
    study_arguments(commands.add_parser("study", help="blind preference studies", epilog=STUDY_EPILOG,
                    formatter_class=argparse.RawDescriptionHelpFormatter))  # fmt: skip
    return top


def _refine_arguments(p: argparse.ArgumentParser) -> None:
    p.add_argument("text", nargs="?", help="the text, or @FILE")
    p.add_argument("--resume", metavar="ID", help="go on with a session instead of beginning one")
    p.add_argument("--instruction", default="", help="what to do with the text")
    p.add_argument("--target", default="", help="the target, for presets that have one")
    p.add_argument("--reference", default="", help="a known good answer, or a program's tests; or @FILE")
    p.add_argument("--preset", default="rewrite", help="kind of task (default: %(default)s)")
    p.add_argument(
        "--strategy", default="self_refine", choices=sorted(STRATEGIES), help="default: %(default)s"
    )
    p.add_argument("--json", action="store_true", help="print the session as one JSON document")
    _model_arguments(p.add_argument_group("models"))
    _strategy_arguments(p.add_argument_group("strategy"))
    _score_arguments(p.add_argument_group("scores and gates"))
    _budget_arguments(p.add_argument_group("budget"))


def _model_arguments(p: argparse._ArgumentGroup) -> None:
    p.add_argument("--model", default=STARTER, help="default: %(default)s")
    p.add_argument(
        "--role",
        action="append",
        default=[],
        type=_role,
        metavar="ROLE=MODEL",
        help=f"another model in one role (repeatable): {', '.join(get_args(Role))}",
    )
    p.add_argument("--temperature", type=_number, default=0.7, help="default: %(default)s")
    p.add_argument("--max-tokens", type=_whole(1), help="tokens of one draft at most")
    p.add_argument("--seed", type=_whole(0, LARGEST_SEED), help="default: drawn, and kept with the session")


def _strategy_arguments(p: argparse._ArgumentGroup) -> None:
    p.add_argument("--rounds", type=_whole(0), help="rounds at most (default: the preset's)")
    p.add_argument("--candidates", type=_whole(1, 64), default=4, help="drafts side by side (default: 4)")
    p.add_argument("--width", type=_whole(1, 16), default=2, help="drafts that a beam keeps (default: 2)")
    p.add_argument("--children", type=_whole(1, 16), default=2, help="revisions of each of them (default: 2)")
    p.add_argument("--lookahead", action="store_true", help="rank them by one more revision of each")
    p.add_argument("--feedback", default="specific", choices=["specific", "generic", "none"])
    p.add_argument(
        "--history",
        choices=["full", "latest", "by_score"],
        help="how much of it prompts hold (default: the preset's)",
    )
    p.add_argument("--step-by-step", action="store_true", help="ask for the steps before the answer")
    p.add_argument("--audit", action="store_true", help="ask after each revision which points it meets")
    p.add_argument(
        "--patience", type=_whole(0), default=2, help="stop after so many rounds without a gain (default: 2)"
    )
    p.add_argument("--target-score", type=_number, help="stop at this score")


def _score_arguments(p: argparse._ArgumentGroup) -> None:
    p.add_argument(
        "--scorer",
        action="append",
        default=[],
        choices=[*SCORERS, "none"],
        help="what to measure (repeatable; default: the preset's, if it can be had)",
    )
    p.add_argument("--gate-scorer", choices=[*SCORERS], help="the gates' score (default: the first)")
    p.add_argument(
        "--verifier",
        choices=[*SCORERS, "none"],
        help="a score that gates compare first (default: the preset's)",
    )
    p.add_argument("--judge", action="append", default=[], metavar="MODEL", help="who judges (repeatable)")
    p.add_argument("--judge-samples", type=_whole(1, 32), default=1, help="ratings a judge (default: 1)")
    p.add_argument("--gate", default="score", choices=["score", "margin", "always", "human"],
                   help="who or what accepts a revision (default: %(default)s)")  # fmt: skip
    p.add_argument("--margin", type=_number, default=0.0, help="for --gate margin")


def _budget_arguments(p: argparse._ArgumentGroup) -> None:
    p.add_argument("--max-calls", type=_whole(1), help="model calls")
    p.add_argument("--max-total-tokens", type=_whole(1), help="tokens read and written")
    p.add_argument("--max-seconds", type=_number, help="seconds of model time")


def _models_arguments(p: argparse.ArgumentParser) -> None:
    actions = p.add_subparsers(dest="action", required=True)
    list_ = actions.add_parser("list", help="models that can be named")
    list_.add_argument("--json", action="store_true")
    check = actions.add_parser("check", help="reach one, say what it can do, score one line")
    check.add_argument("name")
    check.add_argument("--json", action="store_true")
    fetch = actions.add_parser("fetch", help="get the starter's files now")
    fetch.add_argument("name", choices=[STARTER])


def _role(text: str) -> tuple[str, str]:
    role, _, model = text.partition("=")
    if role not in get_args(Role) or not model:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not ROLE=MODEL with one of {', '.join(get_args(Role))}"
        )
    return role, model
