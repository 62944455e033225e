"""Sets of instants as sorted, disjoint, half-open spans of plain integers; open ends are NEG and POS."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable

NEG: Final = -(1 << 62)
POS: Final = 1 << 62

Span: TypeAlias = tuple[int, int]
Spans: TypeAlias = tuple[Span, ...]

NOWHERE: Final[Spans] = ()
EVERYWHERE: Final[Spans] = ((NEG, POS),)


def clip(spans: Spans, start: int, end: int) -> Spans:
    """What of the spans lies in ``[start, end)``."""
    if len(spans) == 1:
        ((a, b),) = spans
        a, b = max(a, start), min(b, end)
        return ((a, b),) if a < b else NOWHERE
    return tuple([(max(a, start), min(b, end)) for a, b in spans if a < end and start < b]) if start < end else NOWHERE


def union(left: Spans, right: Spans) -> Spans:
    """The instants in either."""
    if not left or not right:
        return left or right
    if left[-1][1] < right[0][0]:
        return left + right
    return joined(left + right)


def joined(spans: Iterable[Span]) -> Spans:
    """Any spans sorted, with those that meet made one."""
    if not spans:
        return NOWHERE
    whole: list[Span] = []
    for a, b in sorted(spans):
        if whole and a <= whole[-1][1]:
            if b > whole[-1][1]:
                whole[-1] = (whole[-1][0], b)
        else:
            whole.append((a, b))
    return tuple(whole)


def subtract(left: Spans, right: Spans) -> Spans:
    """The instants of ``left`` that are not in ``right``."""
    if not left or not right:
        return left
    if len(left) == len(right) == 1:
        (a, b), (c, d) = left[0], right[0]
        if d <= a or b <= c:
            return left
        if c <= a:
            return ((d, b),) if d < b else NOWHERE
        return ((a, c), (d, b)) if d < b else ((a, c),)
    rest: list[Span] = []
    at = 0
    for start, b in left:
        a = start
        while at < len(right) and right[at][1] <= a:
            at += 1
        probe = at
        while a < b and probe < len(right) and right[probe][0] < b:
            c, d = right[probe]
            if a < c:
                rest.append((a, c))
            a = d
            probe += 1
        if a < b:
            rest.append((a, b))
    return tuple(rest)


def difference(left: Spans, right: Spans) -> Spans:
    """The instants in exactly one of the two."""
    if not left or not right:
        return left or right
    return union(subtract(left, right), subtract(right, left))


def contains(spans: Spans, instant: int) -> bool:
    """Whether the instant lies in one of them."""
    return any(a <= instant < b for a, b in spans)
