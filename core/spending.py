"""What a session has cost so far, added up from its replies; no clock is read."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

from core.domain import Budget, Cost, Price, Usage
from core.steps import Answer, costs_of


@dataclass(frozen=True)
class Spent:
    """Calls, tokens, seconds and money of a session; `uncounted` calls reported no usage;
    `priced` says whether any of them has a price."""

    calls: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0
    money: float = 0.0
    priced: bool = False
    uncounted: int = 0

    def after(self, answer: Answer) -> Spent:
        """This and what one more answer took."""
        return reduce(Spent._plus, costs_of(answer), self)

    def _plus(self, cost: Cost) -> Spent:
        usage = cost.usage
        return Spent(
            calls=self.calls + 1,
            prompt_tokens=self.prompt_tokens + (usage.prompt_tokens or 0),
            cached_tokens=self.cached_tokens + (usage.cached_tokens or 0),
            completion_tokens=self.completion_tokens + (usage.completion_tokens or 0),
            seconds=self.seconds + cost.seconds,
            money=self.money + (cost.money or 0.0),
            priced=self.priced or cost.money is not None,
            uncounted=self.uncounted + (usage.completion_tokens is None),
        )

    @property
    def tokens(self) -> int:
        """Prompt and completion tokens together."""
        return self.prompt_tokens + self.completion_tokens

    def over(self, budget: Budget) -> str:
        """Which limit of the budget is reached, in words, or ""."""
        limits: tuple[tuple[str, float, float | None], ...] = (
            ("calls", self.calls, budget.calls),
            ("tokens", self.tokens, budget.tokens),
            ("seconds", self.seconds, budget.seconds),
            ("money", self.money, budget.money),
        )
        reached = [
            f"{used:g} of {limit:g} {what}"
            for what, used, limit in limits
            if limit is not None and used >= limit
        ]
        return f"the budget is spent: {', '.join(reached)}" if reached else ""


def price_of(usage: Usage, price: Price) -> float:
    """Money for one reply; cached prompt tokens at their own price where there is one."""
    cached = usage.cached_tokens or 0
    fresh = max((usage.prompt_tokens or 0) - cached, 0)
    cached_price = price.prompt if price.cached is None else price.cached
    total = fresh * price.prompt + cached * cached_price + (usage.completion_tokens or 0) * price.completion
    return total / 1_000_000
