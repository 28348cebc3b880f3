"""What the processor offers a model: number formats and cores. Loads no library; is handed torch."""

from __future__ import annotations

import contextlib
import os
import re
from pathlib import Path
from typing import Any


def cpu_flags() -> frozenset[str]:
    """The processor's features as Linux lists them; empty elsewhere."""
    with contextlib.suppress(OSError):
        found = re.search(r"^flags\s*:(.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
        return frozenset(found[1].split()) if found else frozenset()
    return frozenset()


def dtype_name(cuda: Any, flags: frozenset[str]) -> str:
    """Half precision only where the hardware computes it: emulated bfloat16 is ten times slower."""
    if cuda.is_available():
        return "bfloat16" if cuda.is_bf16_supported() else "float16"
    return "bfloat16" if flags & {"amx_bf16", "avx512_bf16"} else "float32"


def use_physical_cores(torch: Any) -> None:
    """Threads that share a core only get in each other's way; a person's own setting stands."""
    if "OMP_NUM_THREADS" not in os.environ:
        torch.set_num_threads(_physical_cores())


def _physical_cores() -> int:
    logical = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        listed = Path("/proc/cpuinfo").read_text()
    except OSError:
        return logical
    ids = re.findall(r"^physical id\s*: (\d+)$(?:.*\n)*?^core id\s*: (\d+)$", listed, re.MULTILINE)
    return min(logical, len(set(ids)) or logical)
