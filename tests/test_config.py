"""What is read from environment and file, and what is refused in words that hold no secret."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.config import OPENAI, ConfigError, Endpoint, read_added, read_config, write_added
from core.domain import Price

WHOLE = """
database_url = "sqlite:///there.db"
[endpoints.local]
base_url = "http://127.0.0.1:11434/v1"
key_env = "LOCAL_KEY"
models = ["a:1b", "b"]
context_tokens = 8192
price = {prompt = 0.1, completion = 2}
slots = 3
[endpoints.bare]
base_url = "https://host/v1"
"""


def test_without_a_file_there_are_defaults(tmp_path: Path) -> None:
    config = read_config({"REDRAFT_HOME": str(tmp_path / "x")})
    assert config.home == tmp_path / "x"
    assert config.database_url == f"sqlite:///{tmp_path}/x/redraft.db"
    assert config.endpoints == (Endpoint("openai", OPENAI, "OPENAI_API_KEY"),)


def test_the_usual_data_folder_is_in_the_persons_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert read_config({}).home == tmp_path / ".local" / "share" / "redraft"
    assert read_config({"REDRAFT_HOME": "~/x"}).home == tmp_path / "x"


def test_everything_that_a_file_can_say(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text(WHOLE, encoding="utf-8")
    config = read_config({"REDRAFT_HOME": str(tmp_path)})
    assert config.database_url == "sqlite:///there.db"
    assert config.endpoints[1:] == (
        Endpoint(
            "local",
            "http://127.0.0.1:11434/v1",
            "LOCAL_KEY",
            ("a:1b", "b"),
            8192,
            Price(0.1, 2, None),
            slots=3,
        ),
        Endpoint("bare", "https://host/v1"),
    )
    assert config.endpoints[2].slots == 8


def test_the_environment_outranks_the_file(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text(WHOLE, encoding="utf-8")
    environment = {
        "REDRAFT_HOME": str(tmp_path),
        "REDRAFT_DATABASE_URL": "sqlite:///mine.db",
        "OPENAI_BASE_URL": "http://gate/v1",
    }
    config = read_config(environment)
    assert config.database_url == "sqlite:///mine.db"
    assert config.endpoints[0].base_url == "http://gate/v1"


def test_empty_variables_are_as_none(tmp_path: Path) -> None:
    environment = {"REDRAFT_HOME": str(tmp_path), "REDRAFT_DATABASE_URL": "", "OPENAI_BASE_URL": ""}
    config = read_config(environment)
    assert config.database_url.startswith("sqlite:///") and config.endpoints[0].base_url == OPENAI


def test_a_named_file_is_read_instead(tmp_path: Path) -> None:
    file = tmp_path / "other.toml"
    file.write_text('database_url = "sqlite:///other.db"', encoding="utf-8")
    assert read_config({"REDRAFT_HOME": str(tmp_path)}, file).database_url == "sqlite:///other.db"


@pytest.mark.parametrize("named", ["none.toml", "."])
def test_a_named_file_that_is_none_is_refused(tmp_path: Path, named: str) -> None:
    with pytest.raises(ConfigError, match="there is no such file"):
        read_config({}, tmp_path / named)


SECRET = "sk-CANARY-123"
URL = 'base_url = "http://h/v1"'


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a = 1\nb =", "not valid TOML"),
        ("colour = 1", "unknown setting 'colour'. Known: database_url, endpoints"),
        ("database_url = 7", "database_url is a text"),
        ("endpoints = 7", r"begins with \[endpoints.NAME\]"),
        ("[endpoints]\nx = 7", "endpoint 'x' needs a base_url"),
        ("[endpoints.x]\nmodels = []", "endpoint 'x' needs a base_url"),
        ('[endpoints.x]\nbase_url = "localhost:1"', "endpoint 'x' needs a base_url"),
        (f"[endpoints.hf]\n{URL}", "endpoint 'hf': this name can't be used"),
        (f"[endpoints.openai]\n{URL}", "'openai': this name can't be used"),
        (f'[endpoints."a:b"]\n{URL}', "'a:b': this name can't be used"),
        (f"[endpoints.x]\n{URL}\nmodel = 1", "unknown setting 'model'. Known: base_url, context_tokens"),
        (f'[endpoints.x]\n{URL}\nmodels = "abc"', "models is a list of names"),
        (f"[endpoints.x]\n{URL}\nmodels = [1]", "models is a list of names"),
        (f'[endpoints.x]\n{URL}\ncontext_tokens = "8k"', "context_tokens is a whole number"),
        (f"[endpoints.x]\n{URL}\ncontext_tokens = 0", "context_tokens is a whole number"),
        (f"[endpoints.x]\n{URL}\ncontext_tokens = true", "context_tokens is a whole number"),
        (f"[endpoints.x]\n{URL}\nslots = 0", "slots is a whole number from 1 to 1000"),
        (f"[endpoints.x]\n{URL}\nslots = true", "slots is a whole number"),
        (f"[endpoints.x]\n{URL}\nprice = 3", "price takes cached, completion, prompt"),
        (f"[endpoints.x]\n{URL}\nprice = {{input = 3}}", "price takes"),
        (f'[endpoints.x]\n{URL}\nprice = {{prompt = "3"}}', "price takes"),
        (f"[endpoints.x]\n{URL}\nprice = {{prompt = nan}}", "price takes"),
        (f"[endpoints.x]\n{URL}\nprice = {{prompt = -1}}", "price takes"),
        (f'[endpoints.x]\n{URL}\nkey = "{SECRET}"', "Keys are not read from files"),
        (f'[endpoints.x]\n{URL}\napi_key = "{SECRET}"', "Keys are not read from files"),
        (f'[endpoints.x]\n{URL}\nkey_env = "{SECRET}"', "Keys are not read from files"),
        (f"[endpoints.x]\n{URL}\nkey_env = 7", "Keys are not read from files"),
    ],
)
def test_a_wrong_file_is_refused_in_words(tmp_path: Path, text: str, words: str) -> None:
    file = tmp_path / "config.toml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=words) as caught:
        read_config({"REDRAFT_HOME": str(tmp_path)})
    assert str(file) in str(caught.value) and SECRET not in str(caught.value)


def test_the_slots_of_an_added_endpoint_are_kept(tmp_path: Path) -> None:
    write_added(tmp_path, [Endpoint("mine", "http://h/v1", added=True, slots=2)])
    assert [endpoint.slots for endpoint in read_added(tmp_path)] == [2]


def test_a_file_of_another_encoding_is_refused(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_bytes("# caf\xe9".encode("latin-1"))
    with pytest.raises(ConfigError, match="not valid TOML"):
        read_config({"REDRAFT_HOME": str(tmp_path)})


def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    (tmp_path / "config.toml").mkdir()
    with pytest.raises(ConfigError, match="can't be read"):
        read_config({"REDRAFT_HOME": str(tmp_path)})
