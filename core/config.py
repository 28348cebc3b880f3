"""What the person set up: data folder, database, endpoints. Read once, passed on as a value.

Keys are never in it: an endpoint names the environment variable that holds its key.
"""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.domain import Price


class ConfigError(ValueError):
    """The configuration file can't be used; the message names the file and what to change."""


@dataclass(frozen=True)
class Endpoint:
    """An OpenAI-compatible endpoint; `models` are those offered in lists."""

    name: str
    base_url: str
    key_env: str = ""
    models: tuple[str, ...] = ()
    context_tokens: int | None = None
    price: Price | None = None


@dataclass(frozen=True)
class Config:
    """Where things are kept and which endpoints there are."""

    home: Path
    database_url: str
    endpoints: tuple[Endpoint, ...] = ()


OPENAI = "https://api.openai.com/v1"
ENDPOINT_KEYS = {"base_url", "key_env", "models", "context_tokens", "price"}
RESERVED = ("starter", "openai", "hf", "gguf")
PRICE_KEYS = {"prompt", "completion", "cached"}


def read_config(env: Mapping[str, str], file: Path | None = None) -> Config:
    """Configuration from the environment and a TOML file (default: config.toml in the data folder).

    Raises ConfigError.
    """
    if file is not None and not file.is_file():
        raise ConfigError(f"{file}: there is no such file.")
    home = Path(env.get("REDRAFT_HOME") or Path.home() / ".local" / "share" / "redraft").expanduser()
    file = file or home / "config.toml"
    table = _read_table(file)
    written = table.pop("database_url", f"sqlite:///{home}/redraft.db")
    url = env.get("REDRAFT_DATABASE_URL") or written
    endpoints = table.pop("endpoints", {})
    if not isinstance(written, str) or not isinstance(endpoints, dict):
        raise ConfigError(f"{file}: database_url is a text, and an endpoint begins with [endpoints.NAME].")
    if table:
        raise ConfigError(f"{file}: unknown setting {next(iter(table))!r}. Known: database_url, endpoints.")
    named = tuple(_endpoint(file, name, values) for name, values in endpoints.items())
    openai = Endpoint("openai", env.get("OPENAI_BASE_URL") or OPENAI, "OPENAI_API_KEY")
    return Config(home, url, (openai, *named))


def _read_table(file: Path) -> dict[str, Any]:
    if not file.exists():
        return {}
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{file} is not valid TOML: {error}") from error
    except OSError as error:
        raise ConfigError(f"{file} can't be read: {error.strerror}") from error


def _endpoint(file: Path, name: str, values: Any) -> Endpoint:
    where = f"{file}: endpoint {name!r}"
    if name in RESERVED or not re.fullmatch(r"[A-Za-z0-9_.-]+", name):
        raise ConfigError(f"{where}: this name can't be used. Letters, digits, _ . - and none of {RESERVED}.")
    if not isinstance(values, dict) or not _is_url(values.get("base_url")):
        raise ConfigError(f'{where} needs a base_url, such as base_url = "http://127.0.0.1:11434/v1".')
    if "key" in values or "api_key" in values or not _is_variable(values.get("key_env", "KEY")):
        raise ConfigError(
            f"{where} holds a key. Keys are not read from files: put it into an environment variable "
            "and name that in key_env."
        )
    if unknown := set(values) - ENDPOINT_KEYS:
        raise ConfigError(
            f"{where}: unknown setting {min(unknown)!r}. Known: {', '.join(sorted(ENDPOINT_KEYS))}."
        )
    return Endpoint(
        name,
        values["base_url"],
        values.get("key_env", ""),
        _models(where, values.get("models", [])),
        _context(where, values.get("context_tokens")),
        _price(where, values.get("price")),
    )


def _is_url(value: Any) -> bool:
    return isinstance(value, str) and value.startswith(("http://", "https://"))


def _is_variable(value: Any) -> bool:
    """Whether it can name an environment variable; a key put in its place mostly can't."""
    return isinstance(value, str) and re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", value) is not None


def _models(where: str, value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise ConfigError(f'{where}: models is a list of names, such as models = ["qwen3:4b"].')
    return tuple(value)


def _context(where: str, value: Any) -> int | None:
    if value is not None and (type(value) is not int or value < 1):
        raise ConfigError(f"{where}: context_tokens is a whole number, such as 8192.")
    return value


def _price(where: str, value: Any) -> Price | None:
    if value is None:
        return None
    numbers = isinstance(value, dict) and all(type(each) in (int, float) for each in value.values())
    if not numbers or set(value) - PRICE_KEYS or not all(0 <= each < math.inf for each in value.values()):
        raise ConfigError(f"{where}: price takes {', '.join(sorted(PRICE_KEYS))}, each per million tokens.")
    return Price(**value)
