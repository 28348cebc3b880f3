"""What the person set up: data folder, database, endpoints. Read once, passed on as a value.

Keys are never in it: an endpoint names the environment variable that holds its key, and of a key that
was typed in it is only known that there was one. Endpoints that are added at run time are kept in
endpoints.json in the data folder; that is the only file that is ever written.
"""

from __future__ import annotations

import json
import math
import os
import re
import tempfile
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from core.domain import Price

SLOTS = 8
"""Requests that an endpoint is sent at one time, where nothing else was said."""


class ConfigError(ValueError):
    """The configuration file can't be used; the message names the file and what to change."""


@dataclass(frozen=True)
class Endpoint:
    """An OpenAI-compatible endpoint; `models` are those offered in lists.

    `slots` requests at most are made at one time.

    `added` says that it came at run time, not from the configuration file; `keyed` that a key was
    typed in for it, which is kept nowhere.
    """

    name: str
    base_url: str
    key_env: str = ""
    models: tuple[str, ...] = ()
    context_tokens: int | None = None
    price: Price | None = None
    added: bool = False
    keyed: bool = False
    slots: int = SLOTS


@dataclass(frozen=True)
class Config:
    """Where things are kept and which endpoints there are."""

    home: Path
    database_url: str
    endpoints: tuple[Endpoint, ...] = ()


OPENAI = "https://api.openai.com/v1"
ENDPOINT_KEYS = {"base_url", "key_env", "models", "context_tokens", "price", "slots"}
RESERVED = ("starter", "openai", "hf", "gguf")
PRICE_KEYS = {"prompt", "completion", "cached"}
ADDED_KEYS = {"base_url", "models", "context_tokens", "price", "keyed", "slots"}
ADDRESS = "An address begins with http:// or https:// and names a host, such as http://127.0.0.1:11434/v1."
KEY_SHAPE = re.compile(r"sk-|gsk_|xai-|AIza|hf_[A-Za-z0-9]{20}")
SECRET_NAME = re.compile(r"key|token|secret|auth|pass|pwd|sig|cred", re.IGNORECASE)


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
    written_here = {"openai", *(endpoint.name for endpoint in named)}
    added = (endpoint for endpoint in read_added(home) if endpoint.name not in written_here)
    return Config(home, url, (openai, *named, *added))


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
        slots=_slots(where, values.get("slots", SLOTS)),
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


def _slots(where: str, value: Any) -> int:
    if type(value) is not int or not 1 <= value <= 1000:
        raise ConfigError(f"{where}: slots is a whole number from 1 to 1000, such as {SLOTS}.")
    return value


def _price(where: str, value: Any) -> Price | None:
    if value is None:
        return None
    numbers = isinstance(value, dict) and all(type(each) in (int, float) for each in value.values())
    if not numbers or set(value) - PRICE_KEYS or not all(0 <= each < math.inf for each in value.values()):
        raise ConfigError(f"{where}: price takes {', '.join(sorted(PRICE_KEYS))}, each per million tokens.")
    return Price(**value)


def new_endpoint(
    name: str, base_url: str, *, key: str = "", context_tokens: int | None = None, price: Any = None
) -> Endpoint:
    """An endpoint to add at run time; `price` is a table as in the configuration file.

    Raises ConfigError, whose words repeat nothing that may be a key.
    """
    base_url = base_url.strip().rstrip("/")
    if KEY_SHAPE.match(name):
        raise ConfigError("The name looks like a key. Choose a short name; the key has a field of its own.")
    if name in RESERVED or not re.fullmatch(r"[A-Za-z0-9_-]{1,40}", name):
        raise ConfigError(
            f"A name has letters, digits, - and _, at most 40, and is none of {', '.join(RESERVED)}."
        )
    _check_address(base_url)
    check_apart(key, name, base_url)
    return Endpoint(
        name,
        base_url,
        context_tokens=_context("Context", context_tokens),
        price=_price("Price", price),
        added=True,
        keyed=bool(key),
    )


def _check_address(url: str) -> None:
    """Raises ConfigError where it is no address, or holds what looks like a secret."""
    try:
        parts = urlsplit(url)
        good = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0 and len(url) <= 500
    except ValueError:
        good = False
    if not good or re.search(r"[\s\x00-\x1f\x7f]", url):
        raise ConfigError(ADDRESS)
    if "@" in parts.netloc:
        raise ConfigError(
            "The address holds a user name or password, and addresses are kept. Leave them out."
        )
    words = [*parts.path.split("/"), *(value for _, value in parse_qsl(parts.query))]
    secret = any(SECRET_NAME.search(name) for name, _ in parse_qsl(parts.query, keep_blank_values=True))
    if parts.fragment or secret or any(KEY_SHAPE.match(w) or len(w) >= 60 for w in words):
        raise ConfigError(
            "The address holds what looks like a key, and addresses are kept. Put it into the field for keys."
        )


def clean_key(key: str) -> str:
    """A key without the blanks around it, "" for none. Raises ConfigError."""
    if not re.fullmatch(r"[\x21-\x7e]{0,4096}", key.strip()):
        raise ConfigError("The key holds blanks or characters that no key has. Copy it again.")
    return key.strip()


def check_apart(key: str, *kept: str) -> None:
    """Raises ConfigError where something that is kept holds the key."""
    if any(is_in(key, text) for text in kept):
        raise ConfigError("The key stands in the name or the address, which are kept. Leave it out there.")


def is_in(key: str, text: str) -> bool:
    """Whether the text holds the key; short ones are words such as "none", put in where one is asked for."""
    return len(key) >= 8 and key in text


def shown_address(url: str) -> str:
    """An address without credentials and query: what may be shown."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return "an address that can't be read"
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def read_added(home: Path) -> tuple[Endpoint, ...]:
    """The endpoints that were added at run time. Raises ConfigError."""
    file = home / "endpoints.json"
    if not file.exists():
        return ()
    try:
        table = json.loads(file.read_text(encoding="utf-8"))
        return tuple(_added(name, values) for name, values in table["endpoints"].items())
    except ConfigError as error:
        raise ConfigError(f"{file}: {error} Mend the file, or move it away.") from error
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ConfigError(f"{file} can't be read. Mend the file, or move it away.") from error


def _added(name: str, values: Mapping[str, Any]) -> Endpoint:
    if set(values) - ADDED_KEYS:
        raise ConfigError(f"an endpoint has only {', '.join(sorted(ADDED_KEYS))}.")
    endpoint = new_endpoint(
        name,
        str(values["base_url"]),
        context_tokens=values.get("context_tokens"),
        price=values.get("price"),
    )
    keyed = values.get("keyed") is True
    slots = _slots("endpoint", values.get("slots", SLOTS))
    return replace(endpoint, models=_models("endpoint", values.get("models", [])), keyed=keyed, slots=slots)


def write_added(home: Path, endpoints: Iterable[Endpoint]) -> None:
    """Keep these as the endpoints added at run time: the whole file or none of it. Raises ConfigError."""
    table = {"endpoints": {endpoint.name: _row(endpoint) for endpoint in endpoints}}
    try:
        home.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=home, prefix="endpoints-") as folder:
            new = Path(folder) / "endpoints.json"
            with new.open("w", encoding="utf-8") as file:
                json.dump(table, file, indent=1)
                file.flush()
                os.fsync(file.fileno())
            new.replace(home / "endpoints.json")
    except OSError as error:
        raise ConfigError(f"The endpoint could not be kept in {home} ({error.strerror}).") from error


def _row(endpoint: Endpoint) -> dict[str, Any]:
    """What is kept of an endpoint. Named one by one, so that nothing gets in by being added to it."""
    price = endpoint.price and {k: v for k, v in asdict(endpoint.price).items() if v is not None}
    row = {
        "base_url": endpoint.base_url,
        "models": list(endpoint.models),
        "context_tokens": endpoint.context_tokens,
        "price": price,
        "keyed": endpoint.keyed,
        "slots": endpoint.slots if endpoint.slots != SLOTS else None,
    }
    return {name: value for name, value in row.items() if value}
