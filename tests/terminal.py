"""The command line in this process, on a data folder of its own, with a chat endpoint on loopback."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import app
from tests.fake_chat import Chat
from tests.fault_server import FaultServer
from tests.kill import writer_and_critic

TEXT = ["refine", "The food was fantastic.", "--instruction", "Make it negative."]
OPTIONS = ["--model", "fake:tiny-chat", "--rounds", "1", "--scorer", "none", "--seed", "7"]
SHORT = [*TEXT, *OPTIONS]


@dataclass(frozen=True)
class Ran:
    """What a command gave."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Its output as strict JSON."""
        return json.loads(self.out, parse_constant=_not_json)


def _not_json(word: str) -> None:
    raise AssertionError(f"{word} is no JSON")


@dataclass
class Cli:
    """Runs commands on a data folder of its own."""

    home: Path
    patch: pytest.MonkeyPatch
    capture: pytest.CaptureFixture[str]

    def endpoint(self, url: str, more: str = "") -> None:
        """Name that URL as the endpoint `fake`."""
        self.home.mkdir(exist_ok=True)
        settings = f'[endpoints.fake]\nbase_url = "{url}"\n{more}\n'
        (self.home / "config.toml").write_text(settings, encoding="utf-8")

    def __call__(self, *arguments: str, stdin: str = "") -> Ran:
        self.patch.setattr("sys.stdin", io.StringIO(stdin))
        try:
            code = app.main(arguments)
        except SystemExit as end:
            code = int(end.code or 0)
        told = self.capture.readouterr()
        return Ran(code, told.out, told.err)

    def only_session(self) -> str:
        """The id of the one session that there is."""
        (row,) = self("history", "list", "--json").json
        return str(row["id"])


@pytest.fixture(name="cli")
def cli_fixture(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    for name in ("REDRAFT_DATABASE_URL", "REDRAFT_USER", "OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("REDRAFT_HOME", str(tmp_path / "home"))
    return Cli(tmp_path / "home", monkeypatch, capsys)


@pytest.fixture(name="chat")
def chat_fixture(cli: Cli) -> Iterator[FaultServer]:
    with FaultServer(Chat(writer_and_critic)) as server:
        cli.endpoint(server.url, 'models = ["tiny-chat"]')
        yield server
