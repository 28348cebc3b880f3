"""A model behind any OpenAI-style HTTP API: asks, waits, retries, adapts, and tells in plain words.

Knows what may be tried again and remembers what the endpoint refuses. Does not know how a request is
made (endpoint/wire, call), worded (endpoint/request) or answered (endpoint/answer).
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from core.domain import Message, Sampling, Token
from core.models.endpoint.answer import Part, Stage, finished_part, joined_parts, scored
from core.models.endpoint.call import gather_answer, model_names
from core.models.endpoint.chunks import Gathering
from core.models.endpoint.faults import Failed, Fault, explain, reason
from core.models.endpoint.places import Places
from core.models.endpoint.request import Body, adaptation, body_for, front_dropped, notes_for
from core.models.endpoint.scoring import answer_tokens, prompt_of, scores_at_all
from core.models.endpoint.wire import Endpoint, Wire
from core.models.protocol import Capabilities, Listener, ModelError, Reply, unheard

Sleep = Callable[[float], Awaitable[object]]
T = TypeVar("T")


@dataclass(frozen=True)
class Patience:
    """How often to try again, and how long at most to wait before it: in seconds.

    A refused connection is tried again soon and seldom: a server that isn't there is not busy.
    """

    retries: int = 5
    refused_retries: int = 2
    refused_wait: float = 0.25
    first_wait: float = 1.0
    longest_backoff: float = 30.0
    longest_wait: float = 120.0

    def tries(self, fault: Fault) -> int:
        """How often to try again after this fault."""
        return min(self.retries, self.refused_retries) if fault.kind == "refused" else self.retries

    def wait(self, fault: Fault, failures: int) -> float | None:
        """Seconds to wait after so many failures; None where there is no use in trying again."""
        if not fault.retryable or failures > self.tries(fault):
            return None
        if fault.kind == "refused":
            return self.refused_wait
        backoff = min(self.first_wait * 2.0 ** (failures - 1), self.longest_backoff)
        wait = backoff if fault.wait is None else fault.wait
        return wait if wait <= self.longest_wait else None


class OpenAICompatible:
    """One model at one endpoint; it remembers what the endpoint has refused."""

    def __init__(
        self,
        name: str,
        *,
        base_url: str,
        model: str,
        api_key: str | None = None,
        connect_timeout: float = 10.0,
        read_timeout: float = 120.0,
        patience: Patience | None = None,
        sleep: Sleep = asyncio.sleep,
        context_tokens: int | None = None,
        headers: Mapping[str, str] | None = None,
        places: Places | None = None,
    ) -> None:
        self._name = name
        self._model = model
        self._endpoint = Endpoint(base_url, api_key, connect_timeout, read_timeout, headers or {})
        self._wire = Wire(self._endpoint)
        self._patience = patience or Patience()
        self._places = places or Places(name)
        self._sleep = sleep
        self._context_tokens = context_tokens
        self._adapted: dict[str, None] = {}
        self._gave: dict[str, bool] = {}
        self._scores: bool | None = None

    @property
    def name(self) -> str:
        """The name it was asked for by."""
        return self._name

    async def capabilities(self) -> Capabilities:
        """What is known of the endpoint so far; asks nothing of it."""
        logprobs = self._known("logprobs")
        return Capabilities(
            logprobs=logprobs,
            top_logprobs=False if logprobs is False else self._known("top_logprobs"),
            scoring=self._scores is True,
            seed=self._known("seed"),
            n=self._known("n"),
            streaming="stream" not in self._adapted,
            context_tokens=self._context_tokens,
        )

    def _known(self, name: str) -> bool | None:
        return False if name in self._adapted else self._gave.get(name)

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        n: int = 1,
        sampling: Sampling,
        listen: Listener = unheard,
    ) -> Reply:
        """Write n texts after `messages`. Raises ModelError. Cancelling the task closes the connection."""
        stage = Stage(listen)
        parts: list[Part] = []
        if n == 1 or "n" not in self._adapted:
            parts.append(await self._part(messages, range(n), sampling, stage))
        got = sum(len(part.completions) for part in parts)
        if got < n:
            # Either n was refused, or it was ignored: from now on each is asked for by itself.
            self._adapted["n"] = None
            parts += await self._one_by_one(messages, range(got, n), sampling, stage)
        elif n > 1:
            self._gave["n"] = True
        return self._reply(parts, messages, notes_for(messages, n, sampling, self._adapted), stage)

    def _reply(
        self, parts: Sequence[Part], messages: Sequence[Message], adapted: Sequence[str], stage: Stage
    ) -> Reply:
        reply = joined_parts(parts, stage.retries)
        dropped = front_dropped(messages, parts[0].usage)
        notes = dict.fromkeys(filter(None, [*adapted, *reply.notes, dropped]))
        model = self._endpoint.hide(reply.model) or self._model
        return replace(reply, model=model, notes=tuple(map(self._endpoint.hide, notes)))

    async def _one_by_one(
        self, messages: Sequence[Message], indices: range, sampling: Sampling, stage: Stage
    ) -> list[Part]:
        async def one(index: int) -> Part:
            # The same seed would give the same text again.
            own = replace(sampling, seed=None if sampling.seed is None else sampling.seed + index)
            return await self._part(messages, range(index, index + 1), own, stage)

        tasks = [asyncio.create_task(one(index)) for index in indices]
        try:
            return list(await asyncio.gather(*tasks))
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _part(
        self, messages: Sequence[Message], indices: range, sampling: Sampling, stage: Stage
    ) -> Part:
        """What one request brings for these candidates, adapted and tried again as need be."""
        failures = 0
        while True:
            body = body_for(self._model, messages, len(indices), sampling, self._adapted)
            gathering = Gathering()
            try:
                return await self._attempt(body, gathering, indices, stage)
            except Failed as failed:
                if not self._adapt(failed.fault, body):
                    failures += 1
                    await self._wait(failed.fault, failures, gathering.partial, stage)
                stage.void(indices)

    async def _attempt(self, body: Body, gathering: Gathering, indices: range, stage: Stage) -> Part:
        await self._wire.client()  # making a client is not the model's time
        async with self._places.place(stage.tell):  # nor is waiting for others
            started = time.monotonic()
            await gather_answer(self._wire, body, gathering, lambda piece: stage.say(piece, indices))
            seconds = time.monotonic() - started
        asked = "logprobs" in body
        part = finished_part(gathering, len(indices), tokens_asked=asked, seconds=seconds)
        if not part.completions:
            raise Failed(Fault("malformed", "the answer held no text at all"))
        stage.close(indices)
        if asked and any(completion.text for completion in part.completions):
            self._gave["logprobs"], self._gave["top_logprobs"] = scored(part)
        return part

    def _adapt(self, fault: Fault, body: Body) -> bool:
        name = adaptation(fault, body)
        if name is not None:
            self._adapted[name] = None
        return name is not None

    async def _wait(self, fault: Fault, failures: int, partial: str, stage: Stage) -> None:
        wait = self._patience.wait(fault, failures)
        if wait is None:
            raise self._error(fault, partial)
        why = self._endpoint.hide(reason(fault))
        stage.retry(f"retrying in {wait:.3g} s, {failures} of {self._patience.tries(fault)}: {why}", why)
        await self._sleep(wait)

    def _error(self, fault: Fault, partial: str = "") -> ModelError:
        keyed = bool(self._endpoint.authorization)
        said = explain(fault, where=self._endpoint.where, model=self._model, keyed=keyed)
        if fault.retryable and (fault.wait or 0) > self._patience.longest_wait:
            said += f" The provider asks to wait {fault.wait:.0f} seconds."
        return ModelError(self._endpoint.hide(said), retryable=fault.retryable, partial=partial)

    async def list_models(self) -> list[str]:
        """The names of the models that the endpoint offers. Raises ModelError; tries once."""
        try:
            return await model_names(self._wire)
        except Failed as failed:
            raise self._error(failed.fault) from failed

    async def can_score(self) -> bool:
        """Whether the endpoint scores given text: asked once with a tiny request, then remembered.

        Raises ModelError where the endpoint could not be asked.
        """
        if self._scores is None:
            try:
                async with self._places.place():
                    self._scores = await scores_at_all(self._wire, self._model)
            except Failed as failed:
                if failed.fault.status not in (400, 422, 501):
                    raise self._error(failed.fault) from failed
                self._scores = False
        return self._scores

    async def score(self, messages: Sequence[Message], texts: Sequence[str]) -> list[tuple[Token, ...]]:
        """The tokens of each text with their natural logprob given `messages` alone. Raises ModelError."""
        if not any(texts):
            return [() for _ in texts]
        if not await self.can_score():
            raise self._no_score("cannot score given text. Use a vLLM endpoint or a local model for that.")
        opening = await self._patiently(lambda: prompt_of(self._wire, self._model, messages, None))
        return [await self._scored(messages, text, opening or []) if text else () for text in texts]

    async def _scored(
        self, messages: Sequence[Message], text: str, opening: Sequence[tuple[str, Mapping[str, object]]]
    ) -> tuple[Token, ...]:
        whole = await self._patiently(lambda: prompt_of(self._wire, self._model, messages, text))
        tokens = answer_tokens(list(opening), whole or [], text)
        if not tokens:
            raise self._no_score("does not count the tokens of this text apart from its prompt: not scored.")
        return tokens

    def _no_score(self, why: str) -> ModelError:
        return ModelError(f"{self._endpoint.where} {why}")

    async def _patiently(self, call: Callable[[], Awaitable[T]]) -> T:
        failures = 0
        while True:
            try:
                async with self._places.place():
                    return await call()
            except Failed as failed:
                failures += 1
                await self._wait(failed.fault, failures, "", Stage(unheard))
