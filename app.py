"""Redraft: reads the configuration, wires store, models, workbench and pages together, and runs.

The only module that sees core, storage and ui.
"""

from __future__ import annotations

import argparse
import math
import os
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from core.config import Config, ConfigError, read_config
from core.models.catalog import STARTER, Models, UnknownModel
from core.preset_schema import PresetError
from core.presets import Preset, find_presets, read_preset
from core.recipes import LARGEST_SEED
from core.scoring.catalog import SCORERS, open_scorer
from core.strategies import STRATEGIES
from core.workbench import Workbench
from storage.database import DatabaseTooNew, open_database
from storage.store import SqlStore
from ui import cli
from ui.cli.common import DONE, USAGE, Tools
from ui.cli.models import fetch

PRESETS = Path(__file__).parent / "assets" / "presets"
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


def main(argv: Sequence[str] | None = None) -> int:
    """The command line; gives the exit code."""
    args = parser().parse_args(argv)
    try:
        config = read_config(os.environ, Path(args.config) if args.config else None)
        return _run(config, args)
    except (ConfigError, PresetError, UnknownModel) as error:
        print(f"error: {error}", file=sys.stderr)
        return USAGE


def _run(config: Config, args: argparse.Namespace) -> int:
    models = Models(config, os.environ)
    if args.command == "models" and args.action == "fetch":
        return fetch(lambda report: _fetch(config, args.name, report))
    bench = Workbench(SqlStore(_database(config.database_url)), models.open, open_scorer, models.price)
    tools = Tools(bench, models, _presets(config), config.endpoints, _person())
    if args.command in (None, "serve"):
        return _serve(tools, args)
    return cli.run(tools, args)


def _database(url: str) -> Engine:
    """The database, or a ConfigError that says what to look at; the address may hold a password."""
    try:
        return open_database(url)
    except (SQLAlchemyError, DatabaseTooNew, ImportError, OSError) as error:
        # Only the driver's own words: what SQLAlchemy adds to them shows statement and address.
        reason = getattr(error, "orig", None) or (
            error if isinstance(error, OSError | DatabaseTooNew) else type(error).__name__
        )
        raise ConfigError(
            f"the database can't be opened ({reason}). Look at REDRAFT_DATABASE_URL, or at database_url in "
            "the configuration file; it looks like sqlite:////path/to/redraft.db"
        ) from error


def _person() -> str:
    """Who decides on this machine. Raises ConfigError for names that mean someone else."""
    name = os.environ.get("REDRAFT_USER") or "person"
    if name in ("policy", "model"):
        raise ConfigError(
            f"REDRAFT_USER can't be {name!r}: decisions and texts of Redraft's own carry that name."
        )
    return name


def _presets(config: Config) -> dict[str, Preset]:
    """Every preset, the general one first; a user's own takes the place of one of ours of the same name."""
    found = find_presets(config.home / "presets", PRESETS)
    order = sorted(found, key=lambda name: (name != "rewrite", name))
    return {name: read_preset(found[name]) for name in order}


def _fetch(config: Config, name: str, report: Callable[[str], None]) -> None:
    if name != STARTER:
        raise UnknownModel(
            f"Only {STARTER!r} is fetched beforehand; {name!r} is fetched when it is first used."
        )
    from core.models.starter import ensure_scoring_weights, ensure_weights

    ensure_weights(config.home, report)
    ensure_scoring_weights(config.home, report)


def _serve(tools: Tools, args: argparse.Namespace) -> int:
    import uvicorn

    from ui.starting import load_gradio

    load_gradio()
    from ui.guard import LOOPBACK
    from ui.server import make_app

    host, port = getattr(args, "host", "127.0.0.1"), getattr(args, "port", 7860)
    # On loopback the names are known; who listens on other addresses goes by any, unless told.
    allowed = set(getattr(args, "allow_host", []))
    names = LOOPBACK | allowed if allowed or host in LOOPBACK else None
    if host not in LOOPBACK:
        print("There is no sign-in: whoever reaches this address can use it.", file=sys.stderr)
    app = make_app(tools.bench, tools.models, dict(tools.presets), tools.person, names)
    print(f"Redraft is at http://{host}:{port}/", flush=True)
    # Pages hold their event streams open; a server that is told to end does not wait for them.
    uvicorn.run(app, host=host, port=port, log_level="warning", timeout_graceful_shutdown=1)
    return DONE


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
    _refine_arguments(commands.add_parser("refine", help="refine a text", epilog=EPILOG,
                      formatter_class=argparse.RawDescriptionHelpFormatter))  # fmt: skip
    _history_arguments(commands.add_parser("history", help="list, show and export sessions"))
    _models_arguments(commands.add_parser("models", help="list, check and fetch models"))
    return top


def _refine_arguments(p: argparse.ArgumentParser) -> None:
    p.add_argument("text", nargs="?", help="the text, or @FILE")
    p.add_argument("--resume", metavar="ID", help="go on with a session instead of beginning one")
    p.add_argument("--instruction", default="", help="what to do with the text")
    p.add_argument("--target", default="", help="the target, for presets that have one")
    p.add_argument("--reference", default="", help="a known good answer")
    p.add_argument("--preset", default="rewrite", help="kind of task (default: %(default)s)")
    p.add_argument(
        "--strategy", default="self_refine", choices=sorted(STRATEGIES), help="default: %(default)s"
    )
    p.add_argument("--model", default=STARTER, help="default: %(default)s")
    p.add_argument("--rounds", type=_whole(0), help="rounds at most (default: the preset's)")
    p.add_argument("--scorer", choices=[*SCORERS, "none"], help="default: the preset's, if the model can")
    p.add_argument("--gate", default="score", choices=["score", "margin", "always", "human"],
                   help="who or what accepts a revision (default: %(default)s)")  # fmt: skip
    p.add_argument("--margin", type=_number, default=0.0, help="for --gate margin")
    p.add_argument("--target-score", type=_number, help="stop at this score")
    p.add_argument(
        "--patience", type=_whole(0), default=2, help="stop after so many rounds without a gain (default: 2)"
    )
    p.add_argument("--feedback", default="specific", choices=["specific", "generic", "none"])
    p.add_argument(
        "--history", choices=["full", "latest"], help="how much of it prompts hold (default: the preset's)"
    )
    p.add_argument("--step-by-step", action="store_true", help="ask for the steps before the answer")
    p.add_argument("--temperature", type=_number, default=0.7, help="default: %(default)s")
    p.add_argument("--max-tokens", type=_whole(1), help="tokens of one draft at most")
    p.add_argument("--seed", type=_whole(0, LARGEST_SEED), help="default: drawn, and kept with the session")
    p.add_argument("--max-calls", type=_whole(1), help="budget: model calls")
    p.add_argument("--max-total-tokens", type=_whole(1), help="budget: tokens read and written")
    p.add_argument("--max-seconds", type=_number, help="budget: seconds of model time")
    p.add_argument("--json", action="store_true", help="print the session as one JSON document")


def _history_arguments(p: argparse.ArgumentParser) -> None:
    actions = p.add_subparsers(dest="action", required=True)
    list_ = actions.add_parser("list", help="the newest sessions")
    list_.add_argument("--limit", type=_whole(1), default=20)
    list_.add_argument("--json", action="store_true")
    show = actions.add_parser("show", help="one session, to read")
    show.add_argument("id")
    show.add_argument("--json", action="store_true")
    export = actions.add_parser("export", help="one session as a file")
    export.add_argument("id")
    export.add_argument("--format", choices=["json", "md", "html"], default="json")
    export.add_argument("--output", metavar="FILE", help="default: standard output")


def _models_arguments(p: argparse.ArgumentParser) -> None:
    actions = p.add_subparsers(dest="action", required=True)
    list_ = actions.add_parser("list", help="models that can be named")
    list_.add_argument("--json", action="store_true")
    check = actions.add_parser("check", help="reach one, say what it can do, score one line")
    check.add_argument("name")
    check.add_argument("--json", action="store_true")
    fetch = actions.add_parser("fetch", help="get the starter's files now")
    fetch.add_argument("name", choices=[STARTER])


def _whole(least: int, most: int | None = None) -> Callable[[str], int]:
    """A reader of whole numbers in these limits."""
    wanted = f"a whole number from {least} {'on' if most is None else f'to {most}'}"

    def read(text: str) -> int:
        value = int(text) if re.fullmatch(r"-?[0-9]{1,18}", text) else least - 1
        if value < least or (most is not None and value > most):
            raise argparse.ArgumentTypeError(f"{text!r} is not {wanted}")
        return value

    return read


def _number(text: str) -> float:
    """A number that can be written down: JSON has neither infinity nor not-a-number."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number")
    return value


if __name__ == "__main__":
    sys.exit(main())
