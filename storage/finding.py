"""Finds sessions among very many: by facets, ranges and words, in one of several orders, page by page.

Without statistics a database may choose to walk through everything, so the walk is chosen here. A condition
or word that few sessions meet gives the sessions to look at; where there is none, the sessions are walked
through in the order that is asked for until a page is full. Knows no page and no value of core but Filter
and Order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, func, select, tuple_
from sqlalchemy.orm import aliased

from core.listing import Filter, Order
from core.words import terms_of
from storage.facts import STARRED, milliseconds
from storage.tables import FacetRow, FactsRow, SearchRow
from storage.text_search import holding, holding_each, holds

FEW = 1000
"""So many sessions are looked at and sorted at once; more are walked through."""

_COLUMNS: dict[str, Any] = {
    "newest": FactsRow.number,
    "changed": FactsRow.changed_at,
    "change": FactsRow.change,
    "cost": FactsRow.money,
    "tokens": FactsRow.tokens,
    "rounds": FactsRow.rounds,
}
_NAMED = ("preset", "strategy", "model", "outcome", "decision", "flag", "tag")


@dataclass(frozen=True)
class Finding:
    """One question to the database: what is wanted, in which order."""

    connection: Connection
    wanted: Filter
    order: Order

    def numbers(self, limit: int, after: int | None = None) -> list[int]:
        """Up to `limit` sessions from the one after number `after` on."""
        few = None if self._one_walk else self._few()
        if few is not None:
            return self._among(few, limit, after)
        words = holding(self.connection, self.terms) if self.terms and self._newest_first else None
        return self._walk(limit, after) if words is None else self._by_words(words, limit, after)

    # -- what is asked for ----------------------------------------------------------------------

    @property
    def terms(self) -> tuple[str, ...]:
        """What texts must hold."""
        return terms_of(self.wanted.query)

    @property
    def facets(self) -> list[str]:
        """The facets that sessions must have."""
        named = [f"{kind}:{value}" for kind in _NAMED if (value := getattr(self.wanted, kind))]
        return named + [STARRED] * self.wanted.starred

    @property
    def _newest_first(self) -> bool:
        return self.order == Order()

    @property
    def _one_walk(self) -> bool:
        """Whether one index leads through the answer in its order, be it short or long."""
        plain = not self.terms and not _ranges(self.wanted)
        return self.order.sort == "newest" and plain and len(self.facets) <= 1

    def _conditions(self, number: Any, facets: Sequence[str], own: Any = None) -> list[ColumnElement[bool]]:
        """What must hold of a row of facts, words left out; `number` and `own` may use an index."""
        found = [self._aside(FactsRow.deleted) == 0, *_moments(self.wanted, number)]
        for column, least, most in _ranges(self.wanted):
            found += _within(column if column is own else self._aside(column), least, most)
        for facet in facets:
            other = aliased(FacetRow)
            has = select(other.number).where(other.facet == facet, other.number == FactsRow.number)
            found.append(has.correlate(FactsRow).exists())
        return found

    def _aside(self, column: Any) -> Any:
        """The column, on SQLite out of its indexes' reach; PostgreSQL has statistics and is not to be led."""
        return column + 0 if self.connection.dialect.name == "sqlite" else column

    def _held(self) -> list[ColumnElement[bool]]:
        """The words, looked for in the text itself."""
        if not self.terms:
            return []
        looked = holds(self.connection, self.terms, SearchRow.text)
        own = select(SearchRow.number).where(SearchRow.number == FactsRow.number, *looked)
        return [own.correlate(FactsRow).exists()]

    # -- few -------------------------------------------------------------------------------------

    def _few(self) -> Select[int] | None:
        """The sessions of the narrowest condition, if they are few."""
        each = list(self._single_conditions())
        if not each:
            return None
        # All counted in one statement: reading so many numbers takes longer than counting them.
        counts = (select(func.count()).select_from(query.limit(FEW + 1).subquery()) for query in each)
        found = self.connection.execute(select(*(count.scalar_subquery() for count in counts))).one()
        narrowest = min(range(len(each)), key=lambda which: found[which])
        return each[narrowest] if found[narrowest] <= FEW else None

    def _single_conditions(self) -> Iterator[Select[int]]:
        """For each condition by itself the sessions that meet it."""
        for facet in self.facets:
            yield select(FacetRow.number).where(FacetRow.facet == facet)
        listed = select(FactsRow.number).where(FactsRow.deleted == 0)
        for column, least, most in _ranges(self.wanted):
            yield listed.where(*_within(column, least, most))
        if self.order.sort != "newest" and (moments := _moments(self.wanted, FactsRow.number)):
            yield listed.where(*moments)
        yield from holding_each(self.connection, self.terms)
        if self.terms and not self._newest_first:
            found = holding(self.connection, self.terms)
            yield from [] if found is None else [found]

    def _among(self, few: list[int] | Select[int], limit: int, after: int | None) -> list[int]:
        """Those of these sessions that meet all conditions, in order."""
        column = _COLUMNS[self.order.sort]
        conditions = [*self._conditions(FactsRow.number, self.facets), *self._held()]
        query = select(FactsRow.number, column).where(FactsRow.number.in_(few), *conditions)
        rows = sorted(
            self.connection.execute(query), key=_sort_key(self.order), reverse=not self.order.ascending
        )
        if after is not None:
            last = self.connection.execute(
                select(FactsRow.number, column).where(FactsRow.number == after)
            ).one()
            key, bound = _sort_key(self.order), _sort_key(self.order)(last)
            rows = [row for row in rows if (key(row) > bound if self.order.ascending else key(row) < bound)]
        return [row[0] for row in rows[:limit]]

    # -- many ------------------------------------------------------------------------------------

    def _by_words(self, words: Select[int], limit: int, after: int | None) -> list[int]:
        """Newest first out of the index of words; a text is looked at after all other conditions."""
        [key] = words.selected_columns
        conditions = [FactsRow.number == key, *self._conditions(FactsRow.number, self.facets)]
        query = words.where(select(FactsRow.number).where(*conditions, *self._held()).exists())
        if after is not None:
            query = query.where(key < after)
        return list(self.connection.scalars(query.order_by(key.desc()).limit(limit)))

    def _walk(self, limit: int, after: int | None) -> list[int]:
        if self.order.sort == "newest":
            return self._walk_by_time(limit, after)
        column = _COLUMNS[self.order.sort]
        last = None
        if after is not None:
            last = self.connection.execute(select(column).where(FactsRow.number == after)).scalar_one()
        conditions = [*self._conditions(self._aside(FactsRow.number), self.facets, column), *self._held()]
        listed = select(FactsRow.number).where(FactsRow.deleted == 0, *conditions)
        found: list[int] = []
        if after is None or last is not None:
            found = self._next(
                listed.where(column.is_not(None)), (column, FactsRow.number), limit, (last, after)
            )
        if len(found) < limit:  # then those of which it is not known
            from_start = (None, None) if last is not None or after is None else (None, after)
            unknown = listed.where(column.is_(None))
            found += self._next(unknown, (FactsRow.number,), limit - len(found), from_start[1:])
        return found

    def _walk_by_time(self, limit: int, after: int | None) -> list[int]:
        """By the index of a facet where one is asked for, else by that of the starts."""
        facets = self.facets
        if not facets:
            conditions = [*self._conditions(FactsRow.number, ()), *self._held()]
            listed = select(FactsRow.number).where(FactsRow.deleted == 0, *conditions)
            return self._next(listed, (FactsRow.number,), limit, (after,))
        conditions = [*self._conditions(FacetRow.number, facets[1:]), *self._held()]
        both = select(FacetRow.number).join(FactsRow, FactsRow.number == FacetRow.number)
        having = both.where(FacetRow.facet == facets[0], *conditions)
        return self._next(having, (FacetRow.number,), limit, (after,))

    def _next(self, query: Any, key: tuple[Any, ...], limit: int, last: tuple[Any, ...]) -> list[int]:
        """The next rows in the order of a key, from the one after `last` on (whose end is None: all)."""
        if last[-1] is not None:
            here, there = (tuple_(*key), tuple_(*last)) if len(key) > 1 else (key[0], last[0])
            query = query.where(here > there if self.order.ascending else here < there)
        ordered = [each.asc() if self.order.ascending else each.desc() for each in key]
        return list(self.connection.scalars(query.order_by(*ordered).limit(limit)))


def _within(column: Any, least: float | None, most: float | None) -> list[ColumnElement[bool]]:
    at_least = [column >= least] if least is not None else []
    return at_least + ([column <= most] if most is not None else [])


def _ranges(wanted: Filter) -> list[tuple[Any, float | None, float | None]]:
    """The columns that are bounded, each with its least and most."""
    found = (
        (FactsRow.change, wanted.change_least, wanted.change_most),
        (FactsRow.money, wanted.cost_least, wanted.cost_most),
    )
    return [each for each in found if each[1:] != (None, None)]


def _moments(wanted: Filter, number: Any) -> list[ColumnElement[bool]]:
    found = [number >= milliseconds(wanted.since)] if wanted.since else []
    return found + ([number < milliseconds(wanted.until)] if wanted.until else [])


def _sort_key(order: Order) -> Any:
    """Of a row (number, value): what is not known comes last either way."""

    def key(row: Any) -> tuple[bool, Any, int]:
        number, value = row
        known = value is not None
        return (known != order.ascending, value if known else 0, number)

    return key
