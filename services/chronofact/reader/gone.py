"""What a memory gave way to, or says the same as, at two instants; a projected label tells of today alone (semantics §4)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Final, NamedTuple

from chronofact.domain.errors import Rejected
from chronofact.domain.events import Event
from chronofact.domain.moment import Cover, Moment
from chronofact.domain.standing import Standing

COVERS_MAX: Final = 50
"""Superseding memories that are looked at for one."""


class Gone(NamedTuple):
    """Ids, where there is one."""

    superseded_by: bytes | None
    merged_into: bytes | None


def gone(
    events: Iterable[Event], version_ids: Collection[bytes], *, valid_at: int, system_as_of: int | None, rule: int
) -> Mapping[bytes, Gone]:
    """By version id, from all events of the fact in log order; less of them where the work would have no bound.

    Of several that supersede one it is the nearest, of these the one whose edge takes effect first.
    """
    standing = Standing(rule)
    for event in events:
        if system_as_of is None or event.recorded_at <= system_as_of:
            standing.say(event)
    moment = Moment(standing, valid_at)
    found: dict[bytes, Gone] = {}
    try:
        for version_id in version_ids:
            version = standing.version(version_id)
            covers, _ = moment.covers(version, COVERS_MAX)
            into = version.merged_into
            by = min(covers, key=_nearness, default=None)
            found[version_id] = Gone(None if by is None else by.coverer.id, None if into is None else into.id)
    except Rejected:  # explanation_too_large
        return found
    return found


def _nearness(cover: Cover) -> tuple[int, int, bytes]:
    return len(cover.path), min(tie.effect()[0] for tie in cover.path[0]), cover.coverer.id
