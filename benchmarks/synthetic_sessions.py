"""Very many sessions, drawn from a seed and put straight into the tables; for benchmarks and tests.

A handful of sessions is really run, on a scripted model, one of each kind; every other is a copy of one of
them with texts, scores, times, tokens, prices, tags and stars of its own, steps and facts alike: what a fold
of its steps would find is what the tables say (`tests/test_synthetic_sessions.py` checks it). Steps are most
of the bytes, and no list looks at them: a benchmark may give them to one session in some only.
"""

from __future__ import annotations

import asyncio
import json
import random
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import accumulate
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, insert, select

from core.domain import Completion, Recipe, Settings, Task, Usage
from core.facts import Facts, facts_of
from core.models.protocol import Model, Reply
from core.models.scripted import ScriptedModel
from core.round_facts import RoundFacts
from core.running import Stop
from core.scoring.catalog import open_scorer
from core.workbench import Workbench
from storage.database import for_writing, open_database
from storage.facts import WHOLE, facet_names, facts_values, milliseconds, round_values
from storage.store import SqlStore
from storage.tables import FacetRow, FactsRow, RoundFactsRow, SearchRow, SessionRow, StarRow, StepRow, TagRow
from storage.text_search import ADDED, END, FILL

LAST = datetime(2026, 11, 30, 12, tzinfo=UTC)
EVERY = timedelta(minutes=5)
PRESETS = Path(__file__).resolve().parents[1] / "assets" / "presets"
CRITIQUE = (
    '- [major] "@@0@@" | too weak | make it stronger\n- [minor] "@@0@@" | too long | cut it\nVERDICT: revise'
)
DONE = "VERDICT: done"
COMMON, RARE, PAIR = "harbour", "zyzzyva", "温度"
"""Words of two in three sessions, of a few, and (Japanese, two characters) of a few others."""
MODELS = {"starter": 6, "local:small": 2, "local:large": 1, "openai:some": 1}
FEW = 20
"""So many sessions, evenly spread, have what few have: a list of them is as long among however many."""
PROMPT, COMPLETION = 70_000_001, 80_000_001
"""Marks for the tokens of a call."""
BATCH = 1000


@dataclass(frozen=True)
class Kind:
    """A session that was really run: its rows as texts with marks in them, its facts with marked scores."""

    preset: str
    session: dict[str, str]
    steps: tuple[dict[str, Any], ...]
    facts: Facts
    drafts: int


# Preset, strategy, scores of the drafts in the order they are written (rulings follow from them), replies.
_KINDS: tuple[tuple[str, str, tuple[float, ...], tuple[str, ...]], ...] = (
    ("rewrite", "direct", (1,), ("@@0@@",)),
    ("rewrite", "self_refine", (1, 3), ("@@0@@", CRITIQUE, "@@1@@", DONE)),
    ("rewrite", "self_refine", (3, 1), ("@@0@@", CRITIQUE, "@@1@@", DONE)),
    ("sentiment_reversal", "self_refine", (1, 2, 4), ("@@0@@", CRITIQUE, "@@1@@", CRITIQUE, "@@2@@", DONE)),
    ("dialogue_response", "self_refine", (2, 4, 3), ("@@0@@", CRITIQUE, "@@1@@", CRITIQUE, "@@2@@", DONE)),
    ("math_reasoning", "best_of_n", (2, 4, 1), ("@@0@@", "@@1@@", "@@2@@")),
)


def _marked(rank: float) -> float:
    """A score as a number that occurs nowhere else."""
    return rank - 9.00390625


def _reply(text: str) -> Reply:
    return Reply((Completion(text),), Usage(PROMPT, COMPLETION), 0.5, "@@model@@")


@cache
def kinds() -> tuple[Kind, ...]:
    """The sessions that are really run."""
    with tempfile.TemporaryDirectory() as folder:
        store = SqlStore(open_database(f"sqlite:///{folder}/kinds.db"))
        return tuple(_run(store, *each) for each in _KINDS)


def _run(store: SqlStore, preset: str, strategy: str, ranks: Sequence[float], replies: Sequence[str]) -> Kind:
    scores = {f"@@{i}@@": _marked(rank) for i, rank in enumerate(ranks)}
    model = ScriptedModel([_reply(text) for text in replies], scores=scores)

    def opened(_: str) -> Model:
        return model

    bench = Workbench(store, opened, open_scorer)
    settings = Settings(
        rounds=3 if preset == "rewrite" else len(ranks) - 1,
        scorers=("logprob",),
        gate_scorer="logprob",
        candidates=len(ranks),
        patience=0,
    )
    text = (PRESETS / f"{preset}.yaml").read_text(encoding="utf-8")
    recipe = Recipe(strategy, text, "@@model@@", settings)
    session_id = bench.start(Task("@@task@@", "@@instruction@@"), recipe, "auto")
    asyncio.run(bench.advance(session_id, lambda _: None, Stop()))
    return _kind(store, session_id, preset, len(ranks))


def _kind(store: SqlStore, session_id: str, preset: str, drafts: int) -> Kind:
    with store._read.connect() as connection:  # a benchmark may look at rows
        own = select(SessionRow.__table__).where(SessionRow.id == session_id)
        row = connection.execute(own).mappings().one()
        steps = select(StepRow.__table__).where(StepRow.session_id == session_id)
        rows = connection.execute(steps.order_by(StepRow.position)).mappings().all()
    facts = facts_of(store.load(session_id), row["ending"])
    kept = {name: row[name] for name in ("task", "recipe", "mode", "ending")}
    return Kind(preset, kept, tuple(map(dict, rows)), facts, drafts)


@dataclass(frozen=True)
class Call:
    """What every call of a session takes."""

    prompt: int
    completion: int
    price: float | None

    def marks(self) -> dict[str, str]:
        """What stands for it in steps."""
        paid = {} if self.price is None else {'"money":null': f'"money":{self.price!r}'}
        return {str(PROMPT): str(self.prompt), str(COMPLETION): str(self.completion), **paid}

    def money(self, calls: int) -> float | None:
        """Of so many calls, added up as a fold adds."""
        return None if self.price is None or not calls else sum([self.price] * calls)


class Vocabulary:
    """Words as often as in natural texts: the n-th most frequent 1/n as often as the first."""

    def __init__(self, rng: random.Random, size: int = 8000) -> None:
        letters = "etaoinshrdlucmfwypvbgk"
        words = ("".join(rng.choices(letters, k=rng.randint(2, 10))) for _ in range(size))
        self.words = [word for word in words if word not in (COMMON, RARE)]
        self.weights = list(accumulate(1 / (i + 3) for i in range(len(self.words))))

    def text(self, rng: random.Random, words: int) -> str:
        """So many words."""
        return " ".join(rng.choices(self.words, cum_weights=self.weights, k=words))


class Sessions:
    """`count` sessions of a seed, oldest first, one in `steps_every` with its steps; as rows by table."""

    def __init__(self, count: int, seed: int = 7, steps_every: int = 1) -> None:
        self.count, self.rng, self.steps_every = count, random.Random(seed), steps_every
        self.kinds, self.vocabulary = kinds(), Vocabulary(self.rng)

    def rows(self, index: int) -> dict[Any, list[dict[str, Any]]]:
        """The rows of one session."""
        rng, kind = self.rng, self.rng.choice(self.kinds)
        at = LAST - (self.count - index) * EVERY + timedelta(milliseconds=rng.randrange(200_000))
        session_id, number = f"{rng.getrandbits(128):032x}", milliseconds(at)
        texts, model = self._texts(index, kind), self._model()
        scale, shift = rng.uniform(0.01, 0.6), rng.uniform(-3, -1)
        marks = {f"@@{name}@@": json.dumps(text, ensure_ascii=False)[1:-1] for name, text in texts.items()}
        numbers = {_marked(rank): shift + scale * (rank - 4) for rank in range(6)}
        marks |= {repr(mark): repr(value) for mark, value in numbers.items()}
        call = self._call()
        marks |= call.marks()
        facts = self._facts(replace(kind.facts, model=model, models=(model,)), numbers, call)
        filled = {k: _filled(text, marks | {"@@model@@": model}) for k, text in kind.session.items()}
        title = texts["instruction"][:40] + " " + texts["task"][:40]
        last = at + timedelta(seconds=20 * len(kind.steps))
        steps = () if index % self.steps_every else kind.steps
        shown = (title, texts["instruction"], texts["task"], *(texts[str(i)] for i in range(kind.drafts)))
        row = {"id": session_id, "created_at": at, "title": title, "problem": "", **filled}
        listed = {"number": number, "session_id": session_id, "changed_at": last, "steps": len(kind.steps)}
        marked = self._marked(number, index, at)
        facets = facet_names(facts) | {f"tag:{each['tag']}" for each in marked[TagRow]}
        facets |= {"starred"} if marked[StarRow] else set()
        return {
            SessionRow: [row],
            StepRow: [_step(each, session_id, at, marks) for each in steps],
            FactsRow: [{**facts_values(facts), **listed, "starred": len(marked[StarRow])}],
            RoundFactsRow: [round_values(number, each) for each in facts.each_round],
            FacetRow: [{"facet": facet, "number": number} for facet in sorted(facets)],
            SearchRow: [{"number": number, "text": "\n".join(dict.fromkeys(shown)) + END}],
            **marked,
        }

    def _texts(self, index: int, kind: Kind) -> dict[str, str]:
        rng, words = self.rng, self.vocabulary
        task = words.text(rng, rng.randint(20, 80))
        length = rng.randint(30, 90)
        found = {"task": task, "instruction": words.text(rng, 8)}
        found |= {str(i): words.text(rng, length) for i in range(kind.drafts)}
        if index % 3 or self._one_of_few(index, 1):
            found["0"] += f" {COMMON}"
        if self._one_of_few(index, 1):
            found["task"] += f" {RARE}"
        if self._one_of_few(index, 2):
            found["0"] += f" 海洋の{PAIR}は高い"
        return found

    def _model(self) -> str:
        return self.rng.choices(list(MODELS), list(MODELS.values()))[0]

    def _one_of_few(self, index: int, which: int) -> bool:
        """Whether this session has something that few have."""
        spread = max(self.count // FEW, 1)
        return index % spread == which % spread

    def _call(self) -> Call:
        """What each call takes; three of five have a price."""
        rng = self.rng
        price = round(rng.expovariate(400), 6) if rng.random() < 0.6 else None
        return Call(rng.randint(200, 3000), rng.randint(20, 400), price)

    def _facts(self, facts: Facts, numbers: dict[float, float], call: Call) -> Facts:
        """The facts with this session's scores and costs."""
        first, last, best = (
            None if value is None else numbers[value]
            for value in (facts.first_score, facts.last_score, facts.best_score)
        )
        change = None if first is None or last is None else last - first
        return replace(
            facts,
            first_score=first,
            last_score=last,
            best_score=best,
            change=change,
            prompt_tokens=facts.calls * call.prompt,
            completion_tokens=facts.calls * call.completion,
            money=call.money(facts.calls),
            each_round=tuple(_round(each, numbers, call) for each in facts.each_round),
        )

    def _marked(self, number: int, index: int, at: datetime) -> dict[Any, list[dict[str, Any]]]:
        tags = ["good"] * (index % 3 > 0) + ["paper"] * self._one_of_few(index, 3)
        return {
            TagRow: [{"number": number, "tag": tag, "added_at": at, "removed_at": None} for tag in tags],
            StarRow: [{"number": number, "step": WHOLE}] if self._one_of_few(index, 4) else [],
        }


def _round(each: RoundFacts, numbers: dict[float, float], call: Call) -> RoundFacts:
    before, after = (None if value is None else numbers[value] for value in (each.before, each.after))
    change = None if before is None or after is None else after - before
    tokens = each.calls * (call.prompt + call.completion)
    return replace(
        each, before=before, after=after, change=change, tokens=tokens, money=call.money(each.calls)
    )


def _filled(text: str, marks: dict[str, str]) -> str:
    for mark, value in marks.items():
        text = text.replace(mark, value)
    return text


def _step(step: dict[str, Any], session_id: str, at: datetime, marks: dict[str, str]) -> dict[str, Any]:
    moment = at + timedelta(seconds=20 * (step["position"] + 1))
    filled = {name: _filled(step[name], marks) for name in ("request", "answer")}
    return {**step, **filled, "session_id": session_id, "created_at": moment}


def fill(engine: Engine, count: int, seed: int = 7, steps_every: int = 1) -> None:
    """Put that many sessions into a database that has none."""
    made = Sessions(count, seed, steps_every)
    with for_writing(engine).begin() as connection:  # the index is quicker made at once
        connection.exec_driver_sql("DROP TRIGGER search_added")
    for begin in range(0, count, BATCH):
        tables: dict[Any, list[dict[str, Any]]] = {}
        for index in range(begin, min(begin + BATCH, count)):
            for table, rows in made.rows(index).items():
                tables.setdefault(table, []).extend(rows)
        with for_writing(engine).begin() as connection:
            for table, rows in tables.items():
                if rows:
                    connection.execute(insert(table), rows)
    with for_writing(engine).begin() as connection:
        connection.exec_driver_sql(FILL)
        connection.exec_driver_sql(ADDED)
