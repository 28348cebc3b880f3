"""The command line's models, settings, secrets and help."""

from __future__ import annotations

import base64
import sqlite3
from typing import Any
from urllib.parse import quote, quote_plus

import pytest

from tests.fake_chat import Chat
from tests.fault_server import Ask, FaultServer, Play, refusal
from tests.kill import writer_and_critic
from tests.terminal import SHORT, Cli, chat_fixture, cli_fixture
from ui.cli.grammar import parser

__all__ = ["chat_fixture", "cli_fixture"]

# -- models ---------------------------------------------------------------------------------


def test_models_are_listed(cli: Cli, chat: FaultServer) -> None:
    assert cli("models", "list", "--json").json["models"] == ["starter", "fake:tiny-chat"]
    assert "fake:MODEL" in cli("models", "list").out.splitlines()
    assert chat.asks == []


def test_a_model_is_checked(cli: Cli, chat: FaultServer) -> None:
    report = cli("models", "check", "fake:tiny-chat", "--json").json
    assert (report["model"], report["reached_as"]) == ("fake:tiny-chat", "tiny-chat")
    assert report["capabilities"]["logprobs"] is True
    assert "".join(text for text, _ in report["tokens"]) == report["reply"]
    assert "scored line: 'The':-0.05" in cli("models", "check", "fake:tiny-chat").out


def test_a_model_that_fails_its_check_says_why(cli: Cli) -> None:
    with FaultServer([refusal("no such model", 404)]) as server:
        cli.endpoint(server.url)
        ran = cli("models", "check", "fake:tiny-chat")
    assert ran.code == 1 and "tiny-chat" in ran.err and "Traceback" not in ran.err


# -- settings -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "url", ["nonsense", "sqlite:////proc/none/x.db", "mysql+nothing://me:secret@127.0.0.1/x"]
)
def test_a_database_that_cannot_be_had_is_said_without_its_password(cli: Cli, url: str) -> None:
    cli.patch.setenv("REDRAFT_DATABASE_URL", url)
    ran = cli("history", "list")
    assert (ran.code, ran.out) == (2, "")
    assert "the database can't be opened" in ran.err and "secret" not in ran.err


def test_a_preset_file_with_an_error_is_named_with_its_line(cli: Cli, chat: FaultServer) -> None:
    (cli.home / "presets").mkdir()
    (cli.home / "presets" / "mine.yaml").write_text("name: mine\ntemplates: [\n", encoding="utf-8")
    ran = cli(*SHORT, "--preset", "mine")
    assert ran.code == 2 and "error: mine.yaml, line 3: " in ran.err
    ran = cli(*SHORT)
    assert ran.code == 0 and "mine is left out: mine.yaml, line 3: " in ran.err


def test_a_key_that_is_none_is_refused_in_words(cli: Cli, chat: FaultServer) -> None:
    cli.endpoint(chat.url, 'key_env = "FAKE_KEY"')
    cli.patch.setenv("FAKE_KEY", "two words")
    ran = cli(*SHORT)
    assert ran.code == 2 and "Copy it again" in ran.err and "two words" not in ran.err


# -- secrets --------------------------------------------------------------------------------

KEY, PASSWORD, QUERY = "sk-CANARY-123", "hush:CANARY/pw", "CANARY+2"
QUOTED = quote(PASSWORD, safe="")


def _encoded(secret: str) -> set[bytes]:
    """A secret as it is, URL-encoded, and in base64 (the part that no neighbour changes)."""
    raw = secret.encode()
    shifted = [base64.b64encode(b"x" * shift + raw)[4 if shift else 0 : -4] for shift in range(3)]
    return {raw, quote(secret, safe="").encode(), quote_plus(secret).encode(), *shifted}


def _leaks(cli: Cli, printed: str) -> list[bytes]:
    files = [path for path in cli.home.rglob("*") if path.is_file() and path.name != "config.toml"]
    assert any(path.name == "redraft.db" for path in files)
    everything = b"\n".join([printed.encode(), *(path.read_bytes() for path in files)])
    return [form for secret in (KEY, PASSWORD, QUERY) for form in _encoded(secret) if form in everything]


def _authorization(ask: Ask) -> str:
    return next((value for name, value in ask.headers.items() if name.lower() == "authorization"), "")


def _telling(ask: Ask) -> Play:
    """Refuses, and repeats all that it was sent."""
    return refusal(f"Wrong key: {_authorization(ask)} at {ask.path}", 401)


@pytest.mark.parametrize("credentials", ["", f"user:{QUOTED}@"])
@pytest.mark.parametrize("refused", [True, False])
def test_no_secret_is_printed_or_kept(cli: Cli, credentials: str, refused: bool) -> None:
    cli.patch.setenv("FAKE_KEY", KEY)
    with FaultServer(_telling if refused else Chat(writer_and_critic)) as server:
        url = server.url.replace("://", f"://{credentials}")
        cli.endpoint(f"{url}?api_key={quote(QUERY, safe='')}", 'key_env = "FAKE_KEY"')
        ran = cli(*SHORT, "--json")
        assert ran.code == (1 if refused else 0), ran.err
        (sent, *_) = server.asks
        session = cli.only_session()
        told = [
            ran,
            cli(*SHORT),
            cli("refine", "--resume", session),
            cli("models", "check", "fake:tiny-chat"),
        ]
        told += [cli("history", "export", session, "--format", form) for form in ("json", "md", "html")]
        told += [cli("models", "list", "--json"), cli("history", "list"), cli("history", "show", session)]
    secret = PASSWORD if credentials else KEY
    assert quote(QUERY, safe="") in sent.path and _carries(sent, secret), "the endpoint got its secrets"
    assert _leaks(cli, "\n".join(each.out + each.err for each in told)) == []
    assert not refused or "Wrong key" in ran.err


def _carries(ask: Ask, secret: str) -> bool:
    kind, _, value = _authorization(ask).partition(" ")
    return secret in (base64.b64decode(value).decode() if kind == "Basic" else value)


def test_a_secret_that_is_kept_would_be_found(cli: Cli) -> None:
    cli("history", "list")
    for form in (KEY, base64.b64encode(f"user:{PASSWORD}".encode()).decode(), quote(QUERY, safe="")):
        assert _leaks(cli, f"...{form}...")


def test_a_key_in_the_configuration_file_is_refused_unseen(cli: Cli) -> None:
    for line in (f'api_key = "{KEY}"', f'key = "{KEY}"', f'key_env = "{KEY}"'):
        cli.endpoint("http://127.0.0.1:9/v1", line)
        ran = cli("models", "list")
        assert ran.code == 2 and "Keys are not read from files" in ran.err and KEY not in ran.err


# -- help -----------------------------------------------------------------------------------

COMMANDS: list[list[str]] = [
    [], ["serve"], ["refine"], ["history"], ["history", "list"], ["history", "show"], ["history", "steps"],
    ["history", "diff"], ["history", "compare"], ["history", "insight"], ["history", "tag"],
    ["history", "star"], ["history", "delete"], ["history", "undo"],
    ["history", "export"], ["history", "import"], ["history", "training"],
    ["models"], ["models", "list"], ["models", "check"], ["models", "fetch"],
    ["study"], ["study", "new"], ["study", "protocol"], ["study", "list"], ["study", "import"],
    ["study", "leaks"], ["study", "links"], ["study", "open"], ["study", "pause"], ["study", "lock"],
    ["study", "unblind"], ["study", "monitor"], ["study", "report"], ["study", "export"],
]  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_help_names_every_option(cli: Cli, command: list[str]) -> None:
    ran = cli(*command, "--help")
    assert (ran.code, ran.err) == (0, "")
    options = {o for action in _actions(command) for o in action.option_strings}
    assert options and all(option in ran.out for option in options)


def _actions(command: list[str]) -> list[Any]:
    """The actions of a sub-parser; every command of the tests' list is one."""
    found: Any = parser()
    for word in command:
        found = next(a for a in found._actions if a.choices and word in a.choices).choices[word]
    return list(found._actions)


def test_the_list_of_commands_is_whole() -> None:
    found: list[list[str]] = [[]]
    for name, sub in _choices(parser()).items():
        found += [[name], *([name, inner] for inner in _choices(sub))]
    assert sorted(found) == sorted(COMMANDS)


def _choices(parser: Any) -> dict[str, Any]:
    nested = [a.choices for a in parser._actions if isinstance(a.choices, dict)]
    return nested[0] if nested else {}


@pytest.mark.parametrize("name", ["policy", "model"])
def test_nobody_may_go_by_a_name_that_means_someone_else(cli: Cli, name: str) -> None:
    cli.patch.setenv("REDRAFT_USER", name)
    ran = cli("history", "list")
    assert ran.code == 2 and name in ran.err and "Traceback" not in ran.err


def test_a_database_of_a_newer_version_is_said_to_be_one(cli: Cli) -> None:
    assert cli("history", "list").code == 0
    with sqlite3.connect(cli.home / "redraft.db") as database:
        database.execute("UPDATE alembic_version SET version_num = '9999'")
    ran = cli("history", "list")
    assert ran.code == 2 and "newer version of Redraft" in ran.err and "Traceback" not in ran.err
