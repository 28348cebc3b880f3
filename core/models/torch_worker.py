"""The one thread that torch works in, and what every model run by transformers needs before it is loaded.

torch and the loaded models are not for two threads at once, and the event loop must stay free. Knows no
kind of model.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from core.models.hardware import cpu_flags, dtype_name, use_physical_cores
from core.models.hub import hub_folder
from core.models.protocol import ModelError

Result = TypeVar("Result")

worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="torch")


async def in_worker(work: Callable[[], Result]) -> Result:
    """What `work` returns or raises, done in the thread."""
    return await asyncio.get_running_loop().run_in_executor(worker, work)


def find_folder(source: str, say: Callable[[str], None]) -> Path:
    """The folder of a local path or a hub name, fetched where it is not cached. Raises ModelError."""
    local = Path(source).expanduser()
    return local if local.is_dir() else hub_folder(source, say)


def prepared(exact: bool) -> tuple[str, Any]:
    """The device and the number format to load weights for; `exact` keeps float32."""
    # Threads that spin while they wait stall for seconds a token when anything else runs on the machine;
    # sleeping ones cost nothing measurable. Only heeded before torch is first imported.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    import torch
    import transformers

    hushed: Any = transformers.utils.logging
    hushed.set_verbosity_error()
    hushed.disable_progress_bar()
    use_physical_cores(torch)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    return device, torch.float32 if exact else getattr(torch, dtype_name(torch.cuda, cpu_flags()))


@contextmanager
def loading(source: str) -> Iterator[None]:
    """Turns what transformers raises for a folder that it can't load into ModelError."""
    try:
        yield
    except (OSError, ValueError, KeyError, ImportError, RuntimeError) as error:
        first = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise ModelError(f"{source} could not be loaded as a transformers model: {first}") from error
