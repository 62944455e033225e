"""Two streams in the same order, met key by key."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from heapq import merge
from itertools import groupby
from operator import itemgetter
from typing import Any, TypeVar

T = TypeVar("T")


def side_by_side(
    left: Iterable[T], right: Iterable[T], key: Callable[[T], Any]
) -> Iterator[tuple[Any, list[T], list[T]]]:
    """Each key of either stream, with what both have of it; both come in the order of their keys."""
    tagged = merge(((key(one), 0, one) for one in left), ((key(one), 1, one) for one in right), key=itemgetter(0, 1))
    for found, group in groupby(tagged, key=itemgetter(0)):
        sides: tuple[list[T], list[T]] = ([], [])
        for _, side, one in group:
            sides[side].append(one)
        yield found, *sides
