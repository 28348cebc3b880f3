"""Scores given text at an endpoint that tells the logprobs of its prompt, as vLLM's chat API does.

The answer is sent as an assistant turn that the prompt ends inside, and counted apart from what the
prompt is without it; where the two do not part cleanly there is no score, rather than a wrong one.
Legacy `echo` would need the rendered chat prompt, which a client does not have.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from core.domain import Message, Token
from core.models.endpoint.call import post
from core.models.endpoint.chunks import Entry
from core.models.endpoint.request import Body, turns
from core.models.endpoint.tokens import forced, prompt_ids
from core.models.endpoint.wire import Wire

Prompt = list[tuple[str, Entry]]


async def prompt_of(wire: Wire, model: str, messages: Sequence[Message], answer: str | None) -> Prompt | None:
    """The prompt's tokens up to where an answer begins, or to the end of this one; None if not told.

    Raises Failed.
    """
    turn = [] if answer is None else [Message("assistant", answer)]
    body: Body = {
        "model": model,
        "messages": turns([*messages, *turn], ()),
        "max_tokens": 1,
        "prompt_logprobs": 0,
        "add_generation_prompt": answer is None,
        "continue_final_message": answer is not None,
    }
    rows = (await post(wire, body)).get("prompt_logprobs")
    return prompt_ids(rows) if isinstance(rows, list) else None


async def scores_at_all(wire: Wire, model: str) -> bool:
    """Whether a word after a greeting comes back scored. Raises Failed where that can't be asked."""
    greeting, word = [Message("user", "Hi")], "Hello"
    whole = await prompt_of(wire, model, greeting, word)
    opening = await prompt_of(wire, model, greeting, None) if whole else None
    return bool(whole and opening and answer_tokens(opening, whole, word))


def answer_tokens(opening: Prompt, whole: Prompt, text: str) -> tuple[Token, ...]:
    """The tokens of the answer, or () where they can't be told from those of the prompt.

    The first token of a prompt has no logprob, hence no id that could be compared.
    """
    size = len(opening)
    same = [a for a, _ in opening[1:]] == [b for b, _ in whole[1:size]]
    rows: list[Mapping[str, object]] = [row for _, row in whole[size:]]
    return forced(rows, text) if same and size > 1 and rows else ()
