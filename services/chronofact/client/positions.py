"""Positions of what was written, put together."""

from __future__ import annotations

from chronofact.contracts.position import Position


def merged(known: Position | None, added: Position) -> Position:
    """Both; a position of another topic takes the place of the old one, whose log is gone."""
    if known is None or known.topic_id != added.topic_id:
        return added
    return known.merge(added)


def further(known: Position | None, token: str | None) -> Position | None:
    """Both; the second as a token, or None."""
    return known if token is None else merged(known, Position.parse(token))
