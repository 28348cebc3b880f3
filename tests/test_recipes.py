"""Recipes: what a person wishes, what the preset says and what the task and the model allow."""

from __future__ import annotations

import pytest

from core.domain import Settings, Task
from core.models.protocol import Capabilities
from core.presets import BUILT_IN, Preset, load_preset, read_preset
from core.recipes import Wishes, make_recipe
from core.scoring.catalog import SCORERS, UnknownScorer
from tests.small_preset import RICH, SMALL

CAN = Capabilities(True, True, True, True, True, True)
CAN_NOT_SCORE = Capabilities(True, True, False, True, True, True)
PAIRS = '[{"input": "1", "output": "1"}]'


def built_in(name: str) -> Preset:
    return read_preset(BUILT_IN / f"{name}.yaml")


def settings(
    preset: Preset,
    wishes: Wishes | None = None,
    task: Task | None = None,
    capabilities: Capabilities = CAN,
    model: str = "m",
) -> Settings:
    return make_recipe(preset, model, capabilities, wishes or Wishes(), task).settings


def gate(
    preset: Preset, task: Task | None = None, capabilities: Capabilities = CAN
) -> tuple[str | None, ...]:
    found = settings(preset, None, task, capabilities)
    return found.verifier, found.gate_scorer


def test_a_reference_decides_how_math_is_scored() -> None:
    math = built_in("math_reasoning")
    assert gate(math, Task("1+1", reference="2")) == (None, "math_equivalence")
    assert gate(math, Task("1+1")) == (None, "logprob")
    assert gate(math, Task("1+1", reference=" \n")) == (None, "logprob")
    assert gate(math) == (None, "logprob")
    assert gate(math, Task("1+1"), CAN_NOT_SCORE) == (None, "self_evaluation")


def test_tests_decide_how_a_program_is_scored() -> None:
    code = built_in("code_optimisation")
    assert gate(code, Task("x", reference=PAIRS)) == ("unit_tests", "speed")
    assert gate(code, Task("x", reference="assert f(1) == 1")) == ("unit_tests", "logprob")
    assert gate(code, Task("x")) == (None, "logprob")
    measured = settings(code, None, Task("x", reference=PAIRS)).scorers
    assert measured == ("unit_tests", "speed")


def test_a_scorer_that_is_not_there_is_passed_over() -> None:
    preset = load_preset(SMALL.replace("fields:", "scorer: [no_such, coverage, logprob]\nfields:"))
    assert gate(preset) == (None, "coverage")
    last = load_preset(SMALL.replace("fields:", "scorer: no_such\nfields:"))
    with pytest.raises(UnknownScorer, match="no_such"):
        settings(last)


def test_the_starter_is_no_judge_but_another_model_may_be() -> None:
    preset = load_preset(RICH)
    assert settings(preset, model="starter").gate_scorer == "logprob"
    usual = "judge" if "judge" in SCORERS else "logprob"
    assert settings(preset, model="big:one").gate_scorer == usual
    assert settings(preset, Wishes(judges=("big:one",)), model="starter").gate_scorer == usual


def test_what_a_person_names_is_taken_at_their_word() -> None:
    math = built_in("math_reasoning")
    named = settings(math, Wishes(scorer="math_equivalence"), Task("1+1"))
    assert (named.scorers, named.gate_scorer) == (("math_equivalence",), "math_equivalence")
    several = settings(math, Wishes(scorers=("heuristic", "logprob")))
    assert (several.scorers, several.gate_scorer) == (("heuristic", "logprob"), "heuristic")
    chosen = settings(math, Wishes(scorers=("heuristic", "logprob"), gate_scorer="logprob"))
    assert (chosen.scorers, chosen.gate_scorer) == (("heuristic", "logprob"), "logprob")
    added = settings(math, Wishes(scorers=("heuristic",), gate_scorer="logprob"))
    assert (added.scorers, added.gate_scorer) == (("heuristic", "logprob"), "logprob")


def test_no_scorer_means_no_verifier_either() -> None:
    none = settings(built_in("constrained_generation"), Wishes(scorer="none"))
    assert (none.scorers, none.gate_scorer, none.verifier) == ((), None, None)


def test_the_verifier_is_measured_first_and_can_be_left_away_or_named() -> None:
    words = built_in("constrained_generation")
    plain = Wishes(scorer="logprob")
    assert settings(words, plain).scorers == ("coverage", "logprob")
    assert settings(words, plain).verifier == "coverage"
    without = settings(words, Wishes(scorer="logprob", verifier="none"))
    assert (without.scorers, without.verifier) == (("logprob",), None)
    named = settings(built_in("rewrite"), Wishes(verifier="rules"))
    assert (named.scorers, named.verifier) == (("rules", "judge"), "rules")
    same = settings(words, Wishes(scorer="coverage"))
    assert (same.scorers, same.gate_scorer, same.verifier) == (("coverage",), "coverage", None)


@pytest.mark.parametrize(
    "wishes",
    [Wishes(scorer="x"), Wishes(scorers=("logprob", "x")), Wishes(gate_scorer="x"), Wishes(verifier="x")],
)
def test_an_unknown_scorer_is_named(wishes: Wishes) -> None:
    with pytest.raises(UnknownScorer, match="'x'"):
        settings(built_in("rewrite"), wishes)


def test_every_wish_reaches_the_recipe() -> None:
    wishes = Wishes(
        candidates=9, width=3, children=5, lookahead=True, judge_samples=7, audit=True, judges=("a", "b")
    )
    recipe = make_recipe(built_in("rewrite"), "m", CAN, wishes)
    made = recipe.settings
    assert (made.candidates, made.width, made.children, made.lookahead) == (9, 3, 5, True)
    assert (made.judge_samples, made.audit, recipe.judges) == (7, True, ("a", "b"))
    assert make_recipe(built_in("acronym"), "m", CAN, Wishes()).settings.history == "by_score"
    assert settings(built_in("acronym"), Wishes(history="full")).history == "full"


def test_wishes_left_out_are_the_settings_own() -> None:
    made, usual = settings(built_in("rewrite")), Settings()
    for name in ("candidates", "width", "children", "lookahead", "judge_samples", "audit"):
        assert getattr(made, name) == getattr(usual, name)
