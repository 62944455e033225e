"""The events of a fact as they count: each id once, system time never falling (semantics §1)."""

from __future__ import annotations

from dataclasses import replace

from .says import OEvent, OLog


def counted(events: OLog) -> OLog:
    """The first sight of each ``event_id``, ``recorded_at`` raised where it would fall."""
    seen: set[bytes] = set()
    log: OLog = []
    for event in events:
        if event.event_id in seen:
            continue
        seen.add(event.event_id)
        log.append(_not_before(event, log))
    return log


def known_by(events: OLog, as_of: int | None) -> OLog:
    """The counted events with ``recorded_at <= as_of``; None: all of them."""
    return [event for event in counted(events) if as_of is None or event.recorded_at <= as_of]


def system_times(events: OLog) -> list[int]:
    """Each distinct ``recorded_at``, in order."""
    return sorted({event.recorded_at for event in counted(events)})


def _not_before(event: OEvent, log: OLog) -> OEvent:
    if log and event.recorded_at < log[-1].recorded_at:
        return replace(event, recorded_at=log[-1].recorded_at)
    return event
