"""The commands that shut a program off: what it sees, what it may use, who it is there. Runs nothing itself.

Two tools can do it: bubblewrap, and unshare with mount (util-linux), which needs by hand what the other one
does by itself. A program of the super-user is not held by the limit on processes, so it is given a user
number of its own; a program of anybody else is of the same user as the launcher and could falsify the CPU
time that this one reports, which is why nothing but a time is taken from there.
"""

from __future__ import annotations

import importlib.util
import itertools
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Tool = Literal["bubblewrap", "unshare"]
TOOLS: dict[Tool, tuple[str, ...]] = {
    "bubblewrap": ("bwrap",),
    "unshare": ("unshare", "mount", "setpriv", "sh"),
}
"""The ways to shut a program off, the better one first, and the programs that each needs."""
PACKAGES = ("numpy",)
"""Packages that programs may import besides the standard library, where they are installed."""
_USERS = itertools.count()


@dataclass(frozen=True)
class Limits:
    """What a program may use: seconds of wall and CPU time, megabytes, processes, kilobytes of output."""

    seconds: float = 10.0
    cpu_seconds: int = 10
    memory_mb: int = 512
    disk_mb: int = 16
    processes: int = 32
    output_kb: int = 1024


# Runs inside, around the program: its child takes the limits, gives up the super-user and becomes the
# program; itself it waits and reports the CPU time.
_LAUNCHER = """
import json, os, resource, sys
given = json.loads(sys.argv[1])
child = os.fork()
if not child:
    os.close(given["report"])
    for name, limits in given["limits"].items():
        resource.setrlimit(getattr(resource, name), limits)
    if given["user"]:
        os.setgroups([])
        os.setgid(given["user"])
        os.setuid(given["user"])
    os.execve(sys.executable, [sys.executable, "-B", *sys.argv[2:]], given["env"])
status, used = os.wait4(child, 0)[1:]
os.write(given["report"], json.dumps(used.ru_utime + used.ru_stime).encode())
code = os.waitstatus_to_exitcode(status)
os._exit(code if code >= 0 else 128 - code)
"""

# What unshare needs done by hand: a root of its own, with nothing in it but what is named.
_MOUNTS = """
set -e
umask 022
root=$1; input=$2; size=$3; shift 3
mount --make-rprivate /
mount -t tmpfs -o size=1m,mode=755 none "$root"
while [ "$1" != -- ]; do
  mkdir -p "$root$2"
  mount --bind "$1" "$root$2"
  mount -o remount,bind,ro,nosuid,nodev "$root$2"
  shift 2
done
shift
for name in bin lib lib64; do if [ -L /$name ]; then ln -s "usr/$name" "$root/$name"; fi; done
mkdir -p "$root/proc" "$root/dev" "$root/box" "$root/tmp" "$root/old"
for name in null zero urandom; do touch "$root/dev/$name"; mount --bind /dev/$name "$root/dev/$name"; done
mount -t tmpfs -o "size=$size,mode=777,nosuid,nodev" none "$root/box"
cd "$root"
PATH=$PATH:/usr/sbin:/sbin
pivot_root . old
mount -t proc -o nosuid,nodev,noexec none /proc
umount -l /old
rmdir /old
mount -o remount,ro,bind /
cd /box
exec setpriv --no-new-privs --inh-caps=-all --bounding-set="$SANDBOX_BOUNDS" "$@"
"""


def command(tool: Tool, given: Path, root: Path, inside: Sequence[str], limits: Limits) -> list[str]:
    """The command that runs what is inside, with the folder `given` as /input and `root` to mount on."""
    shut_off = _bubblewrap if tool == "bubblewrap" else _unshare
    return [*shut_off(given, root, limits), *inside]


def launcher(limits: Limits, report: int) -> list[str]:
    """What runs a program within the limits; it writes the seconds of CPU to the pipe `report`."""
    megabyte = 1024 * 1024
    bounds = {
        "RLIMIT_CORE": 0,
        "RLIMIT_CPU": limits.cpu_seconds,
        "RLIMIT_AS": limits.memory_mb * megabyte,
        "RLIMIT_FSIZE": limits.disk_mb * megabyte,
        "RLIMIT_NPROC": limits.processes,
        "RLIMIT_NOFILE": 128,
    }
    # The CPU limit's second number kills what ignores the first one's signal.
    pairs = {name: (bound, bound + (name == "RLIMIT_CPU")) for name, bound in bounds.items()}
    env = {
        "PATH": "/usr/bin:/bin", "HOME": "/box", "TMPDIR": "/box", "LANG": "C.UTF-8",
        "PYTHONPATH": "/packages",
        "PYTHONUTF8": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONHASHSEED": "0",
    }  # fmt: skip
    user = 61_000 + next(_USERS) % 4_000 if os.geteuid() == 0 else 0
    given = json.dumps({"limits": pairs, "user": user, "env": env, "report": report})
    return [_python(), "-I", "-S", "-B", "-c", _LAUNCHER, given]


def _python() -> str:
    """Python itself, not the environment's link to it, which is not to be seen inside."""
    return os.path.realpath(sys.executable)


def _shown(given: Path) -> list[tuple[str, str]]:
    """The folders that are to be seen inside, for reading, and where."""
    system = [name for name in ("/bin", "/lib", "/lib64") if os.path.isdir(name) and not os.path.islink(name)]
    prefix = os.path.realpath(sys.base_prefix)
    own = [] if prefix.startswith("/usr") else [prefix]
    shown = [("/usr", "/usr"), *((place, place) for place in [*system, *own]), (str(given), "/input")]
    for name in PACKAGES:
        found = importlib.util.find_spec(name)
        for place in (found.submodule_search_locations or ()) if found else ():
            shown.append((place, f"/packages/{name}"))
            if os.path.isdir(f"{place}.libs"):
                shown.append((f"{place}.libs", f"/packages/{name}.libs"))
    return shown


def _bubblewrap(given: Path, root: Path, limits: Limits) -> list[str]:
    command = [
        "bwrap",
        "--unshare-pid",
        "--unshare-net",
        "--unshare-ipc",
        "--unshare-uts",
        "--cap-drop",
        "ALL",
    ]
    if os.geteuid() == 0:
        command += ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    else:
        command += ["--unshare-user"]
    command += ["--die-with-parent", "--new-session", "--clearenv"]
    for outside, inside in _shown(given):
        for parent in reversed(Path(inside).parents[:-1]):  # made by itself it would be closed to others
            command += ["--perms", "0755", "--dir", str(parent)]
        command += ["--ro-bind", outside, inside]
    for name in ("bin", "lib", "lib64"):
        if os.path.islink(f"/{name}"):
            command += ["--symlink", f"usr/{name}", f"/{name}"]
    size = str(limits.disk_mb * 1024 * 1024)
    command += ["--proc", "/proc", "--dev", "/dev", "--dir", "/tmp"]
    command += ["--perms", "0777", "--size", size, "--tmpfs", "/box"]
    return [*command, "--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/box", "--"]


def _unshare(given: Path, root: Path, limits: Limits) -> list[str]:
    command = ["unshare", "--mount", "--pid", "--net", "--ipc", "--uts", "--fork", "--kill-child"]
    bounds = "-all,+setuid,+setgid" if os.geteuid() == 0 else "-all"
    if os.geteuid() != 0:
        command += ["--user", "--map-root-user"]
    shown = [place for pair in _shown(given) for place in pair]
    size = str(limits.disk_mb * 1024 * 1024)
    script = ["env", f"SANDBOX_BOUNDS={bounds}", "sh", "-c", _MOUNTS, "sh", str(root), str(given), size]
    return [*command, *script, *shown, "--"]
