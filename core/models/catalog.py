"""Model names to models, one of each per process. Knows every backend's name and no backend's library."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from core.config import Config, Endpoint
from core.models.protocol import Model

STARTER = "starter"


class UnknownModel(ValueError):
    """There is no model of this name."""


class Models:
    """Opens models by name: `starter`, `ENDPOINT:MODEL`, `hf:ID-or-path`, `gguf:PATH-or-REPO/FILE`."""

    def __init__(self, config: Config, env: Mapping[str, str]) -> None:
        self._config, self._env = config, env
        self._open: dict[str, Model] = {}

    def open(self, name: str) -> Model:
        """The model of that name; nothing is loaded or reached yet. Raises UnknownModel."""
        if name not in self._open:
            self._open[name] = self._make(name)
        return self._open[name]

    def names(self) -> tuple[str, ...]:
        """The names to offer: the starter and what the configuration lists."""
        listed = (f"{e.name}:{model}" for e in self._config.endpoints for model in e.models)
        return (STARTER, *listed)

    def _make(self, name: str) -> Model:
        if name == STARTER:
            from core.models.starter import Starter

            return Starter(self._config.home)
        kind, _, rest = name.partition(":")
        makers: dict[str, Callable[[str], Model]] = {"hf": self._transformers, "gguf": self._gguf}
        if rest and kind in makers:
            return makers[kind](rest)
        endpoint = next((e for e in self._config.endpoints if e.name == kind), None)
        if endpoint is None or not rest:
            raise UnknownModel(self._help(name))
        return self._endpoint(endpoint, rest)

    def _help(self, name: str) -> str:
        endpoints = ", ".join(f"{e.name}:MODEL" for e in self._config.endpoints)
        return (
            f"There is no model {name!r}. A model is named {STARTER}, {endpoints}, hf:ID-or-path, "
            "or gguf:PATH-or-REPO/FILE; further endpoints go into the configuration file."
        )

    def _endpoint(self, endpoint: Endpoint, model: str) -> Model:
        from core.models.openai_compatible import OpenAICompatible

        key = self._env.get(endpoint.key_env) if endpoint.key_env else None
        return OpenAICompatible(
            name=f"{endpoint.name}:{model}",
            base_url=endpoint.base_url,
            model=model,
            api_key=key,
            context_tokens=endpoint.context_tokens,
        )

    def _transformers(self, source: str) -> Model:
        from core.models.transformers_local import TransformersModel

        return TransformersModel(source)

    def _gguf(self, source: str) -> Model:
        from core.models.llama_server import GgufModel

        return GgufModel(source)
