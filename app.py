"""Redraft: reads the configuration, wires store, models, workbench and pages together, and runs.

The only module that sees core, storage and ui.
"""

from __future__ import annotations

import argparse
import os
import socket
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING

from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from core.config import Config, ConfigError, read_config
from core.models.catalog import STARTER, Models, UnknownModel
from core.preset_library import PresetLibrary
from core.preset_schema import PresetError
from core.scoring.catalog import open_scorer
from core.workbench import Workbench
from storage.database import DatabaseTooNew, open_database
from storage.insight_store import SqlInsightStore
from storage.store import SqlStore
from ui import cli
from ui.cli.common import DONE, USAGE, Tools
from ui.cli.grammar import parser
from ui.cli.models import fetch

if TYPE_CHECKING:
    from core.studies.desks import StudyStore


def main(argv: Sequence[str] | None = None) -> int:
    """The command line; gives the exit code."""
    if odd := [word for word in (sys.argv[1:] if argv is None else argv) if not _is_text(word)]:
        print(f"error: {odd[0]!a} is no text in UTF-8", file=sys.stderr)
        return USAGE
    args = parser().parse_args(argv)
    try:
        config = read_config(os.environ, Path(args.config) if args.config else None)
        return _run(config, args)
    except (ConfigError, PresetError, UnknownModel) as error:
        print(f"error: {error}", file=sys.stderr)
        return USAGE


def _is_text(word: str) -> bool:
    """Whether an argument was text: what was not comes with half surrogates, which can't be kept."""
    return not any("\ud800" <= char <= "\udfff" for char in word)


def _run(config: Config, args: argparse.Namespace) -> int:
    models = Models(config, os.environ)
    if args.command == "models" and args.action == "fetch":
        return fetch(lambda report: _fetch(config, args.name, report))
    engine = _database(config.database_url)
    bench = Workbench(SqlStore(engine), models.open, open_scorer, models.price)
    presets, person = _presets(config), _person()
    studies, counts = (lambda: _studies(engine)), SqlInsightStore(engine)
    tools = Tools(bench, models, presets, config.endpoints, person, studies, counts)
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


def _studies(engine: Engine) -> StudyStore:
    """The store of studies; importing it takes a while, and most commands don't need it."""
    from storage.study_store import SqlStudyStore

    return SqlStudyStore(engine)


def _person() -> str:
    """Who decides on this machine. Raises ConfigError for names that mean someone else."""
    name = os.environ.get("REDRAFT_USER") or "person"
    if name in ("policy", "model"):
        raise ConfigError(
            f"REDRAFT_USER can't be {name!r}: decisions and texts of Redraft's own carry that name."
        )
    return name


def _presets(config: Config) -> PresetLibrary:
    """Every preset; says which files have a mistake and are left out."""
    library = PresetLibrary(config.home)
    for broken in (one for one in library.all() if one.preset is None):
        print(f"note: the preset {broken.name} is left out: {broken.error}", file=sys.stderr)
    return library


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
    studies = tools.studies()
    with raters_port(studies, args, lambda words: print(words, flush=True)) as address:
        app = make_app(
            tools.bench, tools.models, tools.presets, tools.person, studies, tools.counts, names, address
        )
        print(f"Redraft is at http://{host}:{port}/", flush=True)
        # Pages hold their event streams open; a server that is told to end does not wait for them.
        uvicorn.run(app, host=host, port=port, log_level="warning", timeout_graceful_shutdown=1)
    return DONE


@contextmanager
def raters_port(studies: StudyStore, args: argparse.Namespace, say: Callable[[str], None]) -> Iterator[str]:
    """While it lasts, raters have a port of their own if they were promised one; gives its address, or ""."""
    port = getattr(args, "rate_port", None)
    if port is None:
        yield ""
        return
    import uvicorn

    from ui.rate_routes import rate_app

    server = uvicorn.Server(uvicorn.Config(rate_app(studies), log_level="warning"))
    listening = _listen(args.rate_host, port)
    thread = Thread(target=server.run, args=([listening],), name="raters")
    thread.start()
    port = listening.getsockname()[1]
    address = args.rate_url.rstrip("/") or f"http://{args.rate_host}:{port}"
    say(f"Raters, and nothing but their pages, are at {address}/ (port {port} of {args.rate_host})")
    try:
        yield address
    finally:
        server.should_exit = True
        thread.join()


def _listen(host: str, port: int) -> socket.socket:
    """A socket there, of which TCP is said: on others asyncio leaves a delay of 40 ms in every answer."""
    try:
        family, kind, protocol, _, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listening = socket.socket(family, kind, protocol)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(place)
    except (OSError, OverflowError) as error:
        raise ConfigError(f"raters can't be served at {host}, port {port} ({error})") from error
    return listening


if __name__ == "__main__":
    sys.exit(main())
