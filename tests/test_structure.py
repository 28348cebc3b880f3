"""The house rules that a machine can check: who may import whom, and what starting loads."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FORBIDDEN = {"core": {"ui", "storage", "app"}, "ui": {"storage", "app"}, "storage": {"ui", "app"}}


def imports(path: Path) -> set[str]:
    """Top-level names of every import in a file, wherever it stands."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.split(".")[0])
    return found


@pytest.mark.parametrize("package", sorted(FORBIDDEN))
def test_dependencies_point_one_way(package: str) -> None:
    wrong = {
        f"{path.relative_to(ROOT)} imports {name}"
        for path in (ROOT / package).rglob("*.py")
        for name in imports(path) & FORBIDDEN[package]
    }
    assert not wrong


def loaded_by(statement: str) -> set[str]:
    """The top-level modules in a new Python after `statement`."""
    code = f"{statement}\nimport sys\nprint(' '.join(sys.modules))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    return {name.split(".")[0] for name in run.stdout.split()}


def test_core_loads_no_heavy_library() -> None:
    modules = [
        ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for path in (ROOT / "core").rglob("*.py")
        if path.name != "__init__.py"
    ]
    loaded = loaded_by("\n".join(f"import {name}" for name in modules))
    assert not loaded & {"torch", "transformers", "gradio", "sqlalchemy", "openai", "xllamacpp", "fastapi"}
    assert not loaded & {"scipy", "statsmodels", "evalica"}  # the statistics load scipy with the first figure


def test_the_command_line_loads_neither_models_nor_pages() -> None:
    assert not loaded_by("import app") & {"torch", "transformers", "gradio", "openai", "xllamacpp", "scipy"}


def test_serving_loads_no_model_library() -> None:
    assert not loaded_by("import app, ui.server") & {"torch", "transformers", "openai", "xllamacpp", "scipy"}
