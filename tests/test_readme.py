"""The README keeps its word: files it names exist, options it shows are real, its commands run."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from app import main
from ui.cli.grammar import parser

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def commands() -> list[list[str]]:
    """Every `python app.py ...` of the README's blocks, as arguments."""
    blocks = re.findall(r"```\n(.*?)```", README, re.S)
    lines = "\n".join(blocks).replace("\\\n", " ").splitlines()
    return [shlex.split(line)[2:] for line in lines if line.startswith("python app.py")]


def tree() -> list[str]:
    """The paths that the tree names, one a line, in folders by indentation."""
    block = next(b for b in re.findall(r"```\n(.*?)```", README, re.S) if b.startswith("app.py"))
    found: list[str] = []
    folders: list[str] = []
    for line in block.splitlines():
        depth = (len(line) - len(line.lstrip())) // 2
        name = line.split()[0].rstrip("/")
        folders = [*folders[:depth], name]
        found.append("/".join(folders))
    return found


def test_every_file_of_the_tree_exists() -> None:
    assert len(tree()) > 40
    assert [name for name in tree() if not (ROOT / name).exists()] == []


def test_every_module_is_in_the_tree() -> None:
    named = set(tree())
    modules = [
        path.relative_to(ROOT)
        for folder in ("core", "storage", "ui")
        for path in (ROOT / folder).rglob("*.py")
        if path.name != "__init__.py" and "migrations" not in path.parts
    ]
    whole_folders = {"core/models/endpoint", "ui/cli"}
    missing = [str(m) for m in modules if str(m) not in named and str(m.parent) not in whole_folders]
    assert missing == []


@pytest.mark.parametrize("arguments", commands(), ids=" ".join)
def test_every_command_is_understood(arguments: list[str]) -> None:
    if "--help" in arguments:
        with pytest.raises(SystemExit) as end:
            main(arguments)
        assert end.value.code == 0
    else:
        assert parser().parse_args(arguments)


def test_every_picture_is_there() -> None:
    pictures = re.findall(r"!\[[^]]*\]\(([^)]+)\)", README)
    assert pictures and all((ROOT / picture).exists() for picture in pictures)


def test_every_benchmark_is_in_the_table() -> None:
    scripts = {path.name for path in (ROOT / "benchmarks").glob("*.py") if path.name != "__init__.py"}
    assert {name for name in scripts if name not in README} == set()
