"""Core's values as JSON text and back, exactly."""

from __future__ import annotations

from functools import cache
from typing import Annotated, Any, TypeVar

from pydantic import Discriminator, TypeAdapter

from core.domain import Recipe, Task
from core.steps import Answer, Request

T = TypeVar("T")


@cache
def _adapter(of: Any) -> TypeAdapter[Any]:
    return TypeAdapter(of)


TASK, RECIPE = Task, Recipe
REQUEST = Annotated[Request, Discriminator("kind")]
ANSWER = Annotated[Answer, Discriminator("kind")]


def dump(value: object, of: Any) -> str:
    """JSON text of a frozen value of type `of`."""
    return _adapter(of).dump_json(value).decode()


def load(text: str, of: Any) -> Any:
    """The value that `dump` wrote."""
    return _adapter(of).validate_json(text)


def load_strictly(text: str, of: Any) -> Any:
    """The same for text that others may have written: no value is taken for one of another type.

    Raises pydantic.ValidationError.
    """
    return _adapter(of).validate_json(text, strict=True)
