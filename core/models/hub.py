"""Files of the Hugging Face hub: from the local cache first, so that nothing waits for a network in vain.

Knows huggingface_hub and how to say plainly what failed; knows no model library.
"""

from __future__ import annotations

import ssl
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

from core.models.protocol import ModelError

Say = Callable[[str], None]

WEIGHTS = ("*.json", "*.safetensors", "*.jinja", "*.model", "merges.txt", "vocab.txt")
"""What a model folder needs; never pickled weights, which could run code."""
_EVERY_SECONDS = 1.0


def hub_file(repo: str, name: str, say: Say) -> Path:
    """One file of a repository, downloaded when the cache lacks it. Raises ModelError."""
    from huggingface_hub import hf_hub_download

    def fetch(**keywords: Any) -> Path:
        return Path(hf_hub_download(repo, name, **keywords))

    return _cached_or_fetched(fetch, f"{repo}/{name}", say)


def hub_folder(repo: str, say: Say) -> Path:
    """A repository's weights, config and tokenizer, downloaded if not cached. Raises ModelError."""
    from huggingface_hub import snapshot_download

    def fetch(**keywords: Any) -> Path:
        return Path(snapshot_download(repo, allow_patterns=list(WEIGHTS), **keywords))

    return _cached_or_fetched(fetch, repo, say)


def _cached_or_fetched(fetch: Callable[..., Path], what: str, say: Say) -> Path:
    from httpx2 import HTTPError
    from huggingface_hub.errors import HFValidationError

    try:
        return fetch(local_files_only=True)
    except HFValidationError as error:
        raise ModelError(f"{what} is neither a path here nor a name on the hub: {error}") from error
    except OSError:  # not in the cache, or not all of it
        say(f"downloading {what} from the Hugging Face hub, once")
    try:
        check_reachable()
        return fetch(tqdm_class=_progress(say), etag_timeout=5)
    except (HTTPError, OSError, ValueError) as error:  # the hub's own errors are among these
        raise ModelError(_plainly(what, error), retryable=True) from error


def check_reachable() -> None:
    """Find out in seconds that there is no network: the hub's client would retry for half a minute.

    Raises OSError.
    """
    from huggingface_hub import constants

    if constants.HF_HUB_OFFLINE:
        raise OSError("the hub is switched off by HF_HUB_OFFLINE")
    request = urllib.request.Request(constants.ENDPOINT, method="HEAD")
    try:
        urllib.request.urlopen(request, timeout=5).close()
    except urllib.error.HTTPError as answered:  # any answer is a network
        answered.close()
    except urllib.error.URLError as error:
        if not isinstance(error.reason, ssl.SSLError):  # the hub's client may know other certificates
            raise


def _plainly(what: str, error: BaseException) -> str:
    first = (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")
    return (
        f"{what} is not on this machine and could not be downloaded ({first}). Check the name and "
        "the network, or download it elsewhere and give the path of the folder or file"
    )


def _progress(say: Say) -> type[Any]:
    """A progress bar that says how far it is about once a second and draws nothing."""
    from huggingface_hub.utils.tqdm import tqdm

    class Saying(tqdm):  # type: ignore[misc, type-arg, unused-ignore]
        def __init__(self, *args: Any, **keywords: Any) -> None:
            self._bytes = keywords.get("unit") == "B"
            self._said = time.monotonic()
            super().__init__(  # type: ignore[no-untyped-call, unused-ignore]
                *args, **{**keywords, "disable": True}
            )
            self._done, self._of = 0.0, keywords.get("total") or 0

        def update(self, n: float | None = 1) -> bool | None:
            self._done += n or 0
            if self._bytes and time.monotonic() - self._said >= _EVERY_SECONDS:
                self._said = time.monotonic()
                say(f"downloading: {self._done / 1e6:.0f} of {self._of / 1e6:.0f} MB")
            return None

    return Saying


def is_cached(repo: str) -> bool:
    """Whether the hub's model of that name has been downloaded before; asks no network."""
    from huggingface_hub import try_to_load_from_cache
    from huggingface_hub.errors import HFValidationError

    try:
        return isinstance(try_to_load_from_cache(repo, "config.json"), str)
    except HFValidationError:
        return False
