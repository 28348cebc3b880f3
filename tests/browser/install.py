"""Finds a Chromium for the browser tests, or gets one: the system's package manager, then Playwright."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
HELP = """\
The browser tests need a Chromium, and none could be installed here.
Install one by hand, for example:  apt-get install chromium   (Debian, Ubuntu: chromium-browser)
or name one:                       REDRAFT_CHROMIUM=/path/to/chromium make test
"""


def find() -> str | None:
    """The Chromium to use: REDRAFT_CHROMIUM, the system's, or Playwright's own."""
    named = os.environ.get("REDRAFT_CHROMIUM")
    if named:
        return named
    found = next((path for name in NAMES if (path := shutil.which(name))), None)
    return found or _playwrights()


def _playwrights() -> str | None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    return path if os.path.exists(path) else None


def _nothing() -> bool:
    return True


def _apt() -> bool:
    """Debian's or Ubuntu's package; false where there is no apt-get or no right to use it."""
    if not shutil.which("apt-get"):
        return False
    root = os.geteuid() == 0
    if not root and not shutil.which("sudo"):
        return False
    command = ["apt-get"] if root else ["sudo", "-n", "apt-get"]
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for arguments in (["update"], ["install", "-y", "--no-install-recommends", "chromium"]):
        if subprocess.run([*command, *arguments], env=environment, stdout=sys.stderr).returncode:
            return False
    return True


def _playwright_install() -> bool:
    return subprocess.run([sys.executable, "-m", "playwright", "install", "chromium"]).returncode == 0


def main() -> int:
    """0 when there is a Chromium, after installing one where needed."""
    for install in (_nothing, _apt, _playwright_install):
        if install() and (path := find()):
            print(f"browser tests use {path}")
            return 0
    print(HELP, file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
