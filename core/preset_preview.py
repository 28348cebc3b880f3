"""What a preset asks, request by request, for one who edits it: made-up replies stand where a model's would.

Knows no model and keeps nothing.
"""

from __future__ import annotations

from core.domain import Feedback, Message, Point, Task
from core.presets import Prompts, load_preset

REPLY = "(the model's text)"
OTHER = "(another text of the model)"
POINT = Point("(what is wrong)", "(what to do about it)", "(words of the text)")
NOTE = "(what you ask for besides)"
REASON = "the score fell"
_WITHOUT: Feedback = "generic"


def preview(text: str, task: Task) -> tuple[tuple[str, str], ...]:
    """The title and the words of every request that this preset's text makes of the task, in their order.

    Raises PresetError, which names the line.
    """
    made = Prompts(load_preset(text))
    return (*_head(made, task), *_round(made, task), *_rest(made, task))


def _head(made: Prompts, task: Task) -> tuple[tuple[str, str], ...]:
    plain, reasoned = made.system_and_task(task), made.system_and_task(task, step_by_step=True)
    apart = (("Ask for a draft, step by step", reasoned[-1].content),) if reasoned[-1] != plain[-1] else ()
    return (*_turns(plain), *apart)


def _turns(head: tuple[Message, ...]) -> tuple[tuple[str, str], ...]:
    """The head of the chat, its worked examples numbered."""
    *before, last = head
    shown = [turn for turn in before if turn.role != "system"]
    names = {"user": "Worked example {}", "assistant": "Worked example {}: the answer"}
    examples = [(names[turn.role].format(place // 2 + 1), turn.content) for place, turn in enumerate(shown)]
    system = [("System", turn.content) for turn in before if turn.role == "system"]
    return (*system, *examples, ("Ask for a draft", last.content))


def _round(made: Prompts, task: Task) -> tuple[tuple[str, str], ...]:
    points = (POINT, *made.read_critique(task, "", REPLY).points)
    revise = made.revise_request(task, feedback="specific", points=points)
    return (
        ("Ask for points", made.critique_request(task, feedback="specific")),
        ("Ask whether it can be better, without points", made.critique_request(task, feedback=_WITHOUT)),
        ("The points as agreed", made.render_points((POINT,))),
        ("Ask for a revision by the points", revise),
        ("Ask for a revision without points", made.revise_request(task, feedback=_WITHOUT, points=())),
        (
            "Ask for the revision again, with a note",
            made.revise_request(task, feedback="specific", points=points, note=NOTE),
        ),
        (
            "Ask for points after a revision that was not kept",
            made.critique_request(task, feedback="specific", kept_reason=REASON, current=REPLY),
        ),
    )


def _rest(made: Prompts, task: Task) -> tuple[tuple[str, str], ...]:
    judged = [turn.content for turn in made.judge_prompt(task, REPLY)] if made.preset.rubric else []
    return (
        ("Ask which points the revision meets", made.audit_request(task, (POINT,))),
        ("Ask for one text made of several", made.synthesis_request(task, [(REPLY, 1), (OTHER, 2)])),
        ("Ask for one text where all are the same", made.synthesis_request(task, [(REPLY, 3)])),
        *(("Ask a judge, who sees nothing else", words) for words in judged),
    )
