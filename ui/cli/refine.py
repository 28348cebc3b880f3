"""`refine`: run a session on the terminal, with a person at its gates or without."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from core.checks import BadDecision, BadTask
from core.domain import Budget, Decision, Mode, Task
from core.engine import Finished, HistoryMismatch, Place
from core.models.protocol import Delta, ModelError, Notice
from core.preset_library import UnknownPreset
from core.presets import Preset
from core.recipes import Wishes, make_recipe
from core.running import Began, Event, Stop
from core.sessions import StaleStep
from core.steps import Ask, CritiqueGate, Gate, Measure, PickGate
from ui.cli.common import DONE, FAILED, Tools, print_session, say
from ui.cli.terminal import to_person


def refine(tools: Tools, args: argparse.Namespace) -> int:
    """Start a session, or go on with one, and run it to its end."""
    if args.resume and args.text:
        raise BadTask(
            "--resume goes on with a session as it is: give it no text. A new text makes a new session."
        )
    if args.resume:
        session_id = args.resume
        tools.bench.store.load(session_id)
    else:
        session_id = asyncio.run(_new_session(tools, args))
    if not args.json:
        say(f"session {session_id}")
    try:
        place = asyncio.run(_run_to_end(tools, session_id, quiet=args.json))
    except (ModelError, StaleStep, HistoryMismatch) as error:
        print_session(tools, session_id, args.json)
        say(f"error: {error}\nNothing recorded is lost. To go on: python app.py refine --resume {session_id}")
        return FAILED
    print_session(tools, session_id, args.json)
    if isinstance(place, Finished):
        return DONE
    say(f"The session waits for a decision. To go on: python app.py refine --resume {session_id}")
    return FAILED


async def _new_session(tools: Tools, args: argparse.Namespace) -> str:
    preset = _preset(tools, args.preset)
    task = Task(
        _text(args.text),
        instruction=args.instruction,
        target=args.target or preset.target,
        reference=_text(args.reference),
    )
    try:
        capabilities = await tools.models.open(args.model).capabilities()
    except ModelError as error:
        raise BadTask(str(error)) from error
    recipe = make_recipe(preset, args.model, capabilities, _wishes(args), task)
    recipe = replace(recipe, models=tuple(args.role))
    for name in (*dict(recipe.models).values(), *recipe.judges):
        tools.models.open(name)
    mode: Mode = "ask" if args.gate == "human" else "auto"
    return tools.bench.start(task, recipe, mode)


def _preset(tools: Tools, name: str) -> Preset:
    try:
        return tools.presets[name]
    except UnknownPreset as refusal:
        raise BadTask(f"{refusal} There are: {', '.join(tools.presets)}.") from None


def _text(text: str | None) -> str:
    """The text itself, or that of the file named after an @."""
    if text is None:
        raise BadTask("There is no text to work on. Give one, or @FILE.")
    if not text.startswith("@"):
        return text
    try:
        # Not read_text: it would change the line ends.
        return Path(text[1:]).read_bytes().decode("utf-8-sig")
    except (OSError, ValueError) as error:
        raise BadTask(f"{text[1:]} can't be read as UTF-8 text: {error}") from error


def _wishes(args: argparse.Namespace) -> Wishes:
    named = tuple(name for name in args.scorer if name != "none")
    return Wishes(
        strategy=args.strategy,
        rounds=args.rounds,
        scorer="none" if args.scorer and not named else None,
        scorers=named,
        gate_scorer=args.gate_scorer,
        verifier=args.verifier,
        judges=tuple(args.judge),
        judge_samples=args.judge_samples,
        candidates=args.candidates,
        width=args.width,
        children=args.children,
        lookahead=args.lookahead,
        audit=args.audit,
        gate="score" if args.gate == "human" else args.gate,
        margin=args.margin,
        target_score=args.target_score,
        patience=args.patience,
        feedback=args.feedback,
        history=args.history,
        step_by_step=args.step_by_step,
        temperature=args.temperature,
        max_tokens=args.max_tokens,
        seed=args.seed,
        budget=Budget(args.max_calls, args.max_total_tokens, args.max_seconds, None),
    )


async def _run_to_end(tools: Tools, session_id: str, *, quiet: bool) -> Place:
    """Advance; where a gate is open, ask on the terminal, until the end or the end of input."""
    watch = _watcher(quiet)
    while True:
        place = await tools.bench.advance(session_id, watch, Stop())
        if isinstance(place, Finished) or not isinstance(place.request, Gate):
            return place
        decision = await asyncio.to_thread(_ask_person, place.request, tools.person)
        if decision is None:
            return place
        try:
            tools.bench.decide(session_id, place.position, decision)
        except (BadDecision, BadTask) as error:
            say(f"error: {error}")


def _watcher(quiet: bool) -> Callable[[Event], None]:
    """Tells what happens; of texts that are written side by side only the first is shown as it streams."""
    shown = 0

    def watch(event: Event) -> None:
        nonlocal shown
        if isinstance(event, Notice):
            say(event.text)
        elif quiet:
            return
        elif isinstance(event, Delta) and event.index == shown:
            to_person(event.text, end="")
        elif isinstance(event, Began) and isinstance(event.request, Ask):
            ask = event.request
            shown = ask.part if ask.role == "synthesise" else 0
            which = f" {ask.part + 1}" if ask.part else ""
            say(f"\n--- {ask.role}{which}, round {ask.round}")
        elif isinstance(event, Began) and isinstance(event.request, Measure):
            say(f"\n--- scoring: {', '.join(event.request.scorers)}")

    return watch


CHOICES = {"a": "accept", "r": "reject", "e": "edit", "n": "retry", "s": "stop"}


def _ask_person(gate: Gate, person: str) -> Decision | None:
    """A ruling from the terminal, or None at the end of input."""
    if isinstance(gate, CritiqueGate):
        say("\n--- the critic's points")
        for number, point in enumerate(gate.critique.points, 1):
            say(f"{number}. {point.quote} {point.problem} {point.action}")
        return _ask("[a]ccept the critique, [n]ew critique, [s]top? ", "ans", person)
    if isinstance(gate, PickGate):
        return _ask_pick(gate, person)
    say(f"\n--- the gate: {gate.verdict.reason}")
    return _ask("[a]ccept, [r]eject, [e]dit, [n]ew revision with a note, [s]top? ", "arens", person)


def _ask_pick(gate: PickGate, person: str) -> Decision | None:
    """A choice among candidates: a number, or what else can be done."""
    for number, draft in enumerate(gate.candidates, 1):
        scores = ", ".join(f"{s.scorer} {s.value:.4g}" for s in draft.scores if s.value is not None)
        say(f"\n--- candidate {number} ({', '.join(filter(None, [scores, *draft.flags]))})\n{draft.text}")
    say(f"\n--- the policy: {gate.reason}")
    return _ask("[p]ick, write one from [t]hese, [e]dit, [n]ew ones with a note, [s]top? ", "ptens", person)


def _ask(question: str, letters: str, person: str) -> Decision | None:
    try:
        while (letter := _read(question)[:1].lower()) not in letters or not letter:
            say(f"Answer one of: {', '.join(letters)}")
        if letter in "pt":
            numbers = _read("Which numbers? ").replace(",", " ").split()
            picks = tuple(int(number) - 1 for number in numbers if number.isdecimal())
            return Decision("pick" if letter == "p" else "synthesise", person, picks=picks)
        if letter == "e":
            return Decision("edit", person, text=_read("Your text (one line): "))
        note = _read("What should be different? ") if letter == "n" else ""
        return Decision(CHOICES[letter], person, note=note)  # type: ignore[arg-type]
    except EOFError:
        return None


def _read(question: str) -> str:
    print(question, end="", file=sys.stderr, flush=True)
    line = sys.stdin.readline()
    if not line:
        raise EOFError
    return line.rstrip("\n")
