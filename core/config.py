"""What the person set up: data folder, database, endpoints. Read once, passed on as a value.

Keys are never in it: an endpoint names the environment variable that holds its key.
"""

from __future__ import annotations

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
PRICE_KEYS = {"prompt", "completion", "cached"}


def read_config(env: Mapping[str, str], file: Path | None = None) -> Config:
    """Configuration from the environment and a TOML file (default: config.toml in the data folder).

    Raises ConfigError.
    """
    home = Path(env.get("REDRAFT_HOME") or Path.home() / ".local" / "share" / "redraft").expanduser()
    file = file or home / "config.toml"
    table = _read_table(file)
    url = env.get("REDRAFT_DATABASE_URL") or table.pop("database_url", None) or f"sqlite:///{home}/redraft.db"
    endpoints = table.pop("endpoints", {})
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


def _endpoint(file: Path, name: str, values: Any) -> Endpoint:
    where = f"{file}: endpoint {name!r}"
    if not isinstance(values, dict) or not isinstance(values.get("base_url"), str):
        raise ConfigError(f'{where} needs a base_url, such as base_url = "http://127.0.0.1:11434/v1".')
    if "key" in values or "api_key" in values:
        raise ConfigError(
            f"{where} holds a key. Keys are not read from files: put it into an environment variable "
            "and name that in key_env."
        )
    if unknown := set(values) - ENDPOINT_KEYS:
        raise ConfigError(
            f"{where}: unknown setting {min(unknown)!r}. Known: {', '.join(sorted(ENDPOINT_KEYS))}."
        )
    price = values.get("price")
    if price is not None and (not isinstance(price, dict) or set(price) - PRICE_KEYS):
        raise ConfigError(f"{where}: price takes {', '.join(sorted(PRICE_KEYS))}, each per million tokens.")
    return Endpoint(
        name,
        values["base_url"],
        values.get("key_env", ""),
        tuple(values.get("models", ())),
        values.get("context_tokens"),
        Price(**price) if price else None,
    )
