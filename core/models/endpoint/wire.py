"""The way to an endpoint: one openai client a running event loop, and faults out of its exceptions.

Knows the address and its secrets, and is the only place that puts a secret on the wire: the last
thing before the socket adds the key, the credentials and the query, so that neither the SDK nor the
HTTP library has them to log. For the same reason the SDK's habit of reading keys, organisations
and headers from the environment has no effect here: headers that we did not choose are not sent.
"""

from __future__ import annotations

import asyncio
import base64
import re
from collections.abc import AsyncGenerator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, quote, quote_plus, unquote, urlsplit, urlunsplit

from core.models.endpoint.faults import Failed, Fault, Kind, reported
from core.models.protocol import ModelError

if TYPE_CHECKING:
    import httpx2
    import openai

    Holder = AsyncGenerator[openai.AsyncOpenAI, None]

SHORTEST_SECRET = 6
"""Shorter words are dummies such as "x" and "none", and stand in ordinary text."""
HIDDEN = "[hidden]"
SENT = ("host", "accept", "accept-encoding", "connection", "content-type", "content-length", "user-agent")


@dataclass(frozen=True)
class Endpoint:
    """Where to ask and as whom; times in seconds. Raises ModelError where that can't be."""

    base_url: str = field(repr=False)
    api_key: str | None = field(default=None, repr=False)
    connect_timeout: float = 10.0
    read_timeout: float = 120.0
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        if not _reachable(self.base_url):
            raise ModelError("The endpoint's base URL must start with http:// or https:// and name a host.")
        if self.api_key is not None and not re.fullmatch(r"[\x21-\x7e]*", self.api_key.strip()):
            raise ModelError("The key holds blanks or characters that no key has. Copy it again.")

    @property
    def where(self) -> str:
        """The address without credentials and query: what may be shown."""
        parts = urlsplit(self.base_url)
        host = parts.netloc.rpartition("@")[2]
        return urlunsplit((parts.scheme, host, parts.path.rstrip("/"), "", ""))

    @property
    def key(self) -> str:
        """The key without the line end it was pasted with; "" where there is none."""
        return (self.api_key or "").strip()

    @property
    def credentials(self) -> str:
        """user:password of the address, "" where it has none."""
        parts = urlsplit(self.base_url)
        return f"{unquote(parts.username or '')}:{unquote(parts.password or '')}" if parts.username else ""

    @property
    def query(self) -> str:
        """The query of the address, as written."""
        return urlsplit(self.base_url).query

    @property
    def authorization(self) -> str:
        """The Authorization header, "" for none. Credentials in the address are what its writer means."""
        if self.credentials:
            return "Basic " + base64.b64encode(self.credentials.encode()).decode()
        return f"Bearer {self.key}" if self.key else ""

    def hide(self, text: str) -> str:
        """The text without any secret of this endpoint, however encoded."""
        for secret in self._secrets():
            text = text.replace(secret, HIDDEN)
        return text

    def _secrets(self) -> list[str]:
        words = [self.key, self.credentials, *self.credentials.split(":", 1), self.query]
        words += [value for _, value in parse_qsl(self.query)]
        words += [value for value in self.headers.values() if len(value) >= SHORTEST_SECRET]
        forms = {form for word in words if len(word) >= SHORTEST_SECRET for form in _forms(word)}
        return sorted(forms, key=len, reverse=True)


def _reachable(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def _forms(secret: str) -> set[str]:
    """A secret as it may turn up: plain, URL-encoded, in base64 at any place of a longer text."""
    raw = secret.encode()
    forms = {secret, quote(secret, safe=""), quote(secret), quote_plus(secret)}
    for shift in range(3):
        # The characters at both ends also depend on the neighbours, so they are not looked for.
        coded = base64.b64encode(b"\0" * shift + raw).decode()
        core = coded[(0, 2, 3)[shift] : (len(raw) + shift) * 8 // 6]
        forms |= {core, core.replace("+", "-").replace("/", "_")} if len(core) >= 4 else set()
    return forms


class Wire:
    """Hands out the client of the running event loop; it is closed when that loop ends.

    Made once a loop, since making one takes 45-100 ms (measured) and loses the open connections.
    """

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self._open: dict[asyncio.AbstractEventLoop, tuple[Holder, openai.AsyncOpenAI]] = {}

    async def client(self) -> openai.AsyncOpenAI:
        """The client for the loop that is running."""
        loop = asyncio.get_running_loop()
        if loop not in self._open:
            # Importing the SDK takes about a second, for which the loop must not stand still.
            await asyncio.to_thread(import_module, "openai")
        if loop not in self._open:
            for other in [known for known in self._open if known.is_closed()]:
                self._open.pop(other, None)
            # An asynchronous generator is what a loop itself closes at its end.
            holder = _held(self.endpoint)
            self._open[loop] = holder, await anext(holder)
        return self._open[loop][1]


async def _held(endpoint: Endpoint) -> Holder:
    client = _client(endpoint)
    try:
        yield client
    finally:
        await client.close()


def _client(endpoint: Endpoint) -> openai.AsyncOpenAI:
    import httpx2
    import openai

    times = httpx2.Timeout(endpoint.read_timeout, connect=endpoint.connect_timeout)
    return openai.AsyncOpenAI(
        api_key="added on the wire",
        base_url=endpoint.where,
        max_retries=0,
        timeout=times,
        http_client=httpx2.AsyncClient(transport=_transport(endpoint), timeout=times, trust_env=False),
    )


def _transport(endpoint: Endpoint) -> httpx2.AsyncBaseTransport:
    import httpx2

    class Sealed(httpx2.AsyncBaseTransport):
        """Puts the secrets on a copy of each request and sends that."""

        def __init__(self) -> None:
            # Certificates take 40 ms to load and a plain http address has no use for them.
            plain = urlsplit(endpoint.base_url).scheme == "http"
            self._inner = httpx2.AsyncHTTPTransport(verify=not plain, trust_env=False)

        async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
            return await self._inner.handle_async_request(_sealed(request, endpoint))

        async def aclose(self) -> None:
            await self._inner.aclose()

    return Sealed()


def _sealed(request: httpx2.Request, endpoint: Endpoint) -> httpx2.Request:
    import httpx2

    headers = {name: value for name, value in request.headers.items() if name.lower() in SENT}
    headers |= dict(endpoint.headers)
    if endpoint.authorization:
        headers["authorization"] = endpoint.authorization
    url = request.url.copy_with(query=endpoint.query.encode()) if endpoint.query else request.url
    return httpx2.Request(
        request.method, url, headers=headers, stream=request.stream, extensions=request.extensions
    )


@contextmanager
def faults() -> Iterator[None]:
    """Turns what the SDK and the HTTP library raise into Failed."""
    import httpx2
    import openai

    try:
        yield
    except (openai.APITimeoutError, httpx2.TimeoutException) as error:
        raise Failed(Fault("timeout")) from error
    except openai.APIStatusError as error:
        raise Failed(_refusal(error)) from error
    except (httpx2.RemoteProtocolError, httpx2.ReadError) as error:
        raise Failed(Fault("cut", _plain(error))) from error
    except (openai.APIConnectionError, httpx2.HTTPError, httpx2.StreamError) as error:
        kind: Kind = "refused" if _refused(error) else "network"
        raise Failed(Fault(kind, _plain(error.__cause__ or error))) from error


def _refused(error: BaseException | None) -> bool:
    """Whether nothing listened at any of the host's addresses."""
    if isinstance(error, BaseExceptionGroup):
        return all(map(_refused, error.exceptions))
    if error is None or isinstance(error, ConnectionRefusedError):
        return error is not None
    return _refused(error.__cause__ or error.__context__)


def _refusal(error: openai.APIStatusError) -> Fault:
    body = error.body if error.body else error.response.text
    return reported(body, error.status_code, error.response.headers)


def _plain(error: BaseException) -> str:
    """The words of an exception without the names of exceptions in it."""
    words = re.sub(r"\b[A-Za-z_.]*(Error|Exception)\b\W*", "", str(error))
    return re.sub(r"^[\s\[(<]+|[\s.:]+$", "", words) if words else ""
