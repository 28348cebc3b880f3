"""A workbench on a real SQLite file with a scripted model, for tests above the core."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from core.domain import Mode, Recipe, Settings, Task
from core.models.protocol import Model
from core.models.scripted import Script, ScriptedModel
from core.scoring.catalog import open_scorer
from core.workbench import Workbench
from storage.database import open_database
from storage.store import SqlStore
from tests.values import TASK

PRESET = (Path(__file__).parent.parent / "assets" / "presets" / "rewrite.yaml").read_text(encoding="utf-8")
CRITIQUE = '- [major] "good" | too weak | write "splendid"\nVERDICT: revise'


def recipe(rounds: int = 2, scorer: str | None = "logprob", strategy: str = "self_refine") -> Recipe:
    """A recipe of the rewrite preset for the scripted model."""
    settings = Settings(rounds=rounds, scorers=(scorer,) if scorer else (), gate_scorer=scorer)
    return Recipe(strategy, PRESET, "scripted", settings)


class Bench(Workbench):
    """A workbench whose every model is the scripted one."""

    def __init__(
        self, folder: Path, script: Script, *, pace: float = 0.0, scores: Mapping[str, float] | None = None
    ):
        self.opened: list[str] = []
        self.model = ScriptedModel(script, pace=pace, scores=scores)
        store = SqlStore(open_database(f"sqlite:///{folder}/redraft.db"))
        super().__init__(store, self._open, open_scorer)

    def _open(self, name: str) -> Model:
        self.opened.append(name)
        return self.model

    def new(self, mode: Mode = "ask", made_by: Recipe | None = None, task: Task = TASK) -> str:
        """A new session's id."""
        return self.start(task, made_by or recipe(), mode)
