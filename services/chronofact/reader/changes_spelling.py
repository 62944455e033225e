"""A changed answer as its listeners see it (docs/changes.md)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import orjson

from chronofact.contracts.changes import OPEN_END, OPEN_START, EventApplied, Said
from chronofact.reader.answers import REASONS
from chronofact.reader.changes_diff import CONFLICT, UNKNOWN, UNLISTED, VALUE, Stretch

LISTED_MAX: Final = 100
"""Versions listed for one stretch; ``count`` tells how many there are."""
VERSIONS_MAX: Final = 200
"""Versions listed in one message; stretches beyond come without their answer."""
STRETCHES_MAX: Final = 100
MESSAGE_BYTES_MAX: Final = 2**20
_KINDS: Final = ("unknown", "value", "conflict", "values", "unlisted")

Body = dict[str, Any]
Versions = Mapping[tuple[int, int], Said]


def versions_named(fact_no: int, stretches: Sequence[Stretch]) -> Iterator[tuple[int, int]]:
    """The versions that a message about these needs; those of a crowd all, to find who answers for it."""
    for stretch in _listable(stretches):
        numbers = stretch.versions
        if stretch.kind != VALUE or stretch.winner is not None:
            numbers = numbers[:LISTED_MAX]
        yield from ((fact_no, number) for number in numbers)
        if stretch.winner is not None:
            yield fact_no, stretch.winner


def spelled(event: EventApplied, stretches: Sequence[Stretch], said: Versions, *, projection: str) -> bytes:
    """The JSON of one message."""
    body: Body = {
        "fact": {
            "fact_id": event.fact_id,
            "subject": event.subject_label or event.subject_id,
            "scope": f"{event.scope_kind}:{event.scope_key}",
            "key": event.fact_key,
        },
        "event_id": event.event_id,
        "event_seq": event.event_seq,
        "event_type": event.event_type,
        "recorded_at": event.recorded_at,
        "projection": projection,
        "changed": [_stretch_body(event.fact_no, one, said) for one in _listable(stretches)],
    }
    whole = orjson.dumps(body)
    if len(whole) <= MESSAGE_BYTES_MAX:
        return whole
    body["changed"] = [_stretch_body(event.fact_no, _unlisted(one), said) for one in _listable(stretches)]
    return orjson.dumps(body)


def _listable(stretches: Sequence[Stretch]) -> list[Stretch]:
    """As many as a message holds; what is beyond its limits comes without the answer."""
    listed: list[Stretch] = []
    versions = 0
    for at, stretch in enumerate(stretches):
        if at == STRETCHES_MAX:
            rest = stretches[at:]
            return [*listed, Stretch(rest[0].start, rest[-1].end, UNLISTED, None, ())]
        versions += min(len(stretch.versions), LISTED_MAX)
        listed.append(stretch if versions <= VERSIONS_MAX else _unlisted(stretch))
    return listed


def _unlisted(stretch: Stretch) -> Stretch:
    return Stretch(stretch.start, stretch.end, UNLISTED, None, ())


def _stretch_body(fact_no: int, stretch: Stretch, said: Versions) -> Body:
    start = None if stretch.start == OPEN_START else stretch.start + "Z"
    end = None if stretch.end == OPEN_END else stretch.end + "Z"
    body: Body = {"kind": _KINDS[stretch.kind], "valid_during": (start, end)}
    if stretch.kind == UNKNOWN:
        return {**body, "reason": REASONS[stretch.reason or 0]}
    if stretch.kind == UNLISTED:
        return body
    found = {number: said[fact_no, number] for number in stretch.versions if (fact_no, number) in said}
    listed = sorted(found.values(), key=lambda one: one.version_id)[:LISTED_MAX]
    if len(stretch.versions) > len(listed):
        body["count"] = len(stretch.versions)
    if stretch.kind == VALUE:
        winner = _winner(list(found.values())) if stretch.winner is None else said[fact_no, stretch.winner]
        body["value"] = orjson.Fragment(winner.value)
        body["version_id"] = winner.version_id
        return {**body, "agreeing": [one.version_id for one in listed]}
    return {**body, "versions" if stretch.kind == CONFLICT else "values": [_said_body(one) for one in listed]}


def _said_body(one: Said) -> Body:
    return {"version_id": one.version_id, "value": orjson.Fragment(one.value), "source_id": one.source_id}


def _winner(agreeing: Sequence[Said]) -> Said:
    """The latest start, ties by the lowest id (semantics §4)."""
    latest = max(one.start for one in agreeing)
    return min((one for one in agreeing if one.start == latest), key=lambda one: one.version_id)
