"""Model names to models, one of each per process. Knows every backend's name and no backend's library.

Endpoints come from the configuration and are added at run time. A key that is typed in lives in this
object's memory and nowhere else: not in the Endpoint, not in a file, not in any answer.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from core.config import Config, ConfigError, Endpoint, check_apart, clean_key, is_in, write_added
from core.domain import Price
from core.models.endpoint.places import Places
from core.models.protocol import Model, ModelError

if TYPE_CHECKING:
    from core.models.openai_compatible import OpenAICompatible, Patience

STARTER = "starter"
MOST_MODELS, LONGEST_NAME = 2000, 200
KeyState = Literal["none", "known", "missing"]


class UnknownModel(ValueError):
    """There is no model, or no endpoint, of this name."""


class Models:
    """Opens models by name: `starter`, `ENDPOINT:MODEL`, `hf:ID-or-path`, `gguf:PATH-or-REPO/FILE`."""

    def __init__(self, config: Config, env: Mapping[str, str]) -> None:
        self._home, self._env = config.home, env
        self._endpoints = {endpoint.name: endpoint for endpoint in config.endpoints}
        self._keys: dict[str, str] = {}
        self._open: dict[str, Model] = {}
        self._places: dict[str, Places] = {}
        self._lock = threading.RLock()

    def open(self, name: str) -> Model:
        """The model of that name; nothing is loaded or reached yet. Raises UnknownModel, ModelError."""
        with self._lock:
            if name not in self._open:
                self._open[name] = self._make(name)
            return self._open[name]

    def impatient(self, name: str) -> Model | None:
        """The model for one call that is not tried again when it fails; None where it is in no network.

        Raises UnknownModel, ModelError.
        """
        from core.models.openai_compatible import Patience

        endpoint, model = self._parts(name)
        return self._endpoint(endpoint, model, Patience(retries=0)) if endpoint else None

    def names(self) -> tuple[str, ...]:
        """The names to offer: the starter and what the endpoints list."""
        return (STARTER, *(f"{e.name}:{model}" for e in self.endpoints() for model in e.models))

    def endpoints(self) -> tuple[Endpoint, ...]:
        """Every endpoint, those of the configuration first."""
        return tuple(self._endpoints.values())

    def endpoint_of(self, name: str) -> Endpoint | None:
        """The endpoint that the model of this name is at; None for models in this process."""
        return self._parts(name)[0]

    def price(self, name: str) -> Price | None:
        """What the model of this name costs, where its endpoint has a price."""
        try:
            endpoint = self.endpoint_of(name)
        except UnknownModel:
            return None
        return endpoint.price if endpoint else None

    # -- endpoints at run time --------------------------------------------------------------

    def add_endpoint(self, endpoint: Endpoint, key: str | None = None) -> None:
        """Add an endpoint, or put it in the place of an added one of its name; it is kept on disk.

        Without a key, one that was entered before stays known for as long as the address is the
        same: no other host is ever sent it. Raises ConfigError.
        """
        key = clean_key(key or "")
        with self._lock:
            old = self._endpoints.get(endpoint.name)
            if old is not None and not old.added:
                raise ConfigError(f"{old.name!r} is set in the configuration. Choose another name.")
            same = old is not None and old.base_url == endpoint.base_url
            kept = key or (self._keys.get(endpoint.name, "") if same else "")
            self._put(replace(endpoint, added=True, keyed=bool(kept)))
            self._know(endpoint.name, kept)

    def remove_endpoint(self, name: str) -> None:
        """Forget an added endpoint and its key. Raises UnknownModel, ConfigError."""
        with self._lock:
            if not self.endpoint(name).added:
                raise ConfigError(f"{name!r} is set in the configuration; it can be removed only there.")
            left = {known: e for known, e in self._endpoints.items() if known != name}
            self._write(left)
            self._endpoints = left
            self._know(name, "")

    def set_key(self, name: str, key: str) -> None:
        """Use this key for the endpoint until the process ends; "" forgets it.

        Raises UnknownModel, ConfigError.
        """
        key = clean_key(key)
        with self._lock:
            endpoint = self.endpoint(name)
            check_apart(key, endpoint.name, endpoint.base_url)
            if endpoint.added:
                self._put(replace(endpoint, keyed=bool(key)))
            self._know(name, key)

    def key_state(self, name: str) -> KeyState:
        """Whether a key is known, or one is wanted and missing. Raises UnknownModel."""
        endpoint = self.endpoint(name)
        if self._key(endpoint):
            return "known"
        return "missing" if endpoint.keyed or endpoint.key_env else "none"

    def endpoint(self, name: str) -> Endpoint:
        """The endpoint of that name. Raises UnknownModel."""
        if name not in self._endpoints:
            raise UnknownModel(f"There is no endpoint {name!r}. There are: {', '.join(self._endpoints)}.")
        return self._endpoints[name]

    async def fetch_models(self, name: str) -> tuple[str, ...]:
        """The models that the endpoint itself lists; from now on they are offered.

        Raises UnknownModel, ModelError, ConfigError.
        """
        endpoint = self.endpoint(name)
        found = await self._endpoint(endpoint, "The list of models").list_models()
        key = self._key(endpoint) or ""
        usable = _usable(found, key)
        with self._lock:
            if self._endpoints.get(name) is endpoint:  # else it was changed meanwhile
                models = usable if endpoint.added else tuple(dict.fromkeys((*endpoint.models, *usable)))
                self._put(replace(endpoint, models=models))
        return usable

    def _put(self, endpoint: Endpoint) -> None:
        changed = {**self._endpoints, endpoint.name: endpoint}
        if endpoint.added:
            self._write(changed)
        self._endpoints = changed

    def _write(self, endpoints: Mapping[str, Endpoint]) -> None:
        write_added(self._home, [endpoint for endpoint in endpoints.values() if endpoint.added])

    def _know(self, name: str, key: str) -> None:
        """Remember the key and let go of the models that were opened without it."""
        self._keys.pop(name, None)
        if key:
            self._keys[name] = key
        for opened in [opened for opened in self._open if opened.startswith(f"{name}:")]:
            del self._open[opened]

    def _key(self, endpoint: Endpoint) -> str | None:
        if endpoint.name in self._keys:
            return self._keys[endpoint.name]
        return self._env.get(endpoint.key_env) if endpoint.key_env else None

    # -- backends ---------------------------------------------------------------------------

    def _make(self, name: str) -> Model:
        endpoint, rest = self._parts(name)
        if endpoint is not None:
            return self._endpoint(endpoint, rest)
        if name == STARTER:
            from core.models.starter import Starter

            return Starter(self._home)
        makers: dict[str, Callable[[str], Model]] = {"hf": _transformers, "gguf": _gguf}
        return makers[name.partition(":")[0]](rest)

    def _parts(self, name: str) -> tuple[Endpoint | None, str]:
        """The endpoint, None for this process, and the name there. Raises UnknownModel."""
        kind, _, rest = name.partition(":")
        endpoint = self._endpoints.get(kind)
        if name != STARTER and (not rest or (endpoint is None and kind not in ("hf", "gguf"))):
            raise UnknownModel(self._help(name))
        return endpoint, rest

    def _help(self, name: str) -> str:
        endpoints = ", ".join(f"{endpoint}:MODEL" for endpoint in self._endpoints)
        return (
            f"There is no model {name!r}. A model is named {STARTER}, {endpoints}, hf:ID-or-path, "
            "or gguf:PATH-or-REPO/FILE; further endpoints are added on the page under Models, or in the "
            "configuration file."
        )

    def _endpoint(self, endpoint: Endpoint, model: str, patience: Patience | None = None) -> OpenAICompatible:
        from core.models.openai_compatible import OpenAICompatible

        key = self._key(endpoint)
        if key is None and endpoint.keyed:
            raise ModelError(
                f"The key of {endpoint.name!r} is kept nowhere and is not known any more: enter its key "
                "again under Models. For the command line, name a variable in key_env of the configuration."
            )
        return OpenAICompatible(
            name=f"{endpoint.name}:{model}",
            base_url=endpoint.base_url,
            model=model,
            api_key=key,
            context_tokens=endpoint.context_tokens,
            patience=patience,
            places=self._places_at(endpoint),
        )

    def _places_at(self, endpoint: Endpoint) -> Places:
        """The places that all models of an endpoint share."""
        with self._lock:
            known = self._places.get(endpoint.name)
            if known is None or known.slots != endpoint.slots:
                known = self._places[endpoint.name] = Places(endpoint.name, endpoint.slots)
            return known


def _usable(names: Sequence[str], key: str) -> tuple[str, ...]:
    """Names that can be shown and kept; one that repeats the key is not."""
    good = (
        name
        for name in names[:MOST_MODELS]
        if name.isprintable() and 0 < len(name) <= LONGEST_NAME and not is_in(key, name)
    )
    return tuple(dict.fromkeys(good))


def _transformers(source: str) -> Model:
    from core.models.transformers_local import TransformersModel

    return TransformersModel(source)


def _gguf(source: str) -> Model:
    from core.models.llama_server import GgufModel

    return GgufModel(source)
