"""Lists in pages: where one begins, how long it is at most, and the cursor of the next one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple, TypeVar

from fastapi import Request

from chronofact.reconciler.requests import number_of, only

T = TypeVar("T")

LIMIT_MAX: Final = 1_000
NUMBER_MAX: Final = 2**62
"""The largest number of a run, a rebuild or a line of a list."""
PAGE: Final[list[dict[str, Any]]] = [
    {
        "name": "limit",
        "in": "query",
        "required": False,
        "schema": {"type": "integer", "minimum": 1, "maximum": LIMIT_MAX, "default": 100},
    },
    {"name": "cursor", "in": "query", "required": False, "schema": {"type": "string"}},
]


class Page(NamedTuple):
    """A page that somebody asks for."""

    limit: int
    cursor: int = 0
    """The number before which, or behind which, it begins."""

    def of(
        self, name: str, found: Sequence[T], *, told: Callable[[T], Any], cursor: Callable[[T], object]
    ) -> dict[str, Any]:
        """What was found, under its name, and the cursor of the next page: None where this is the last one."""
        last = cursor(found[-1]) if len(found) == self.limit else None
        return {name: [told(one) for one in found], "cursor": None if last is None else str(last)}


def newest_first(request: Request) -> Page:
    """A page of a list by falling number.

    Raises:
        Rejected: ``parameter_unknown``, ``parameter_malformed``.
    """
    return Page(limit_of(request), number_of(request, "cursor", NUMBER_MAX, 1, NUMBER_MAX))


def oldest_first(request: Request) -> Page:
    """A page of a list by growing number.

    Raises:
        Rejected: ``parameter_unknown``, ``parameter_malformed``.
    """
    return Page(limit_of(request), number_of(request, "cursor", 0, 0, NUMBER_MAX))


def limit_of(request: Request) -> int:
    """How many at most, of a call that has no parameters but this one and a cursor.

    Raises:
        Rejected: ``parameter_unknown``, ``parameter_malformed``.
    """
    only(request, "cursor", "limit")
    return number_of(request, "limit", 100, 1, LIMIT_MAX)
