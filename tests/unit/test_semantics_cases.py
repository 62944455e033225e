"""Every scenario of semantics.json in the domain: its answers, its conflict edges, and the same in any order."""

from __future__ import annotations

from itertools import islice, permutations
from typing import Any

import pytest

from chronofact.domain.canonical import canonical, digest
from chronofact.domain.events import (
    Cardinality,
    ConflictResolved,
    Event,
    FactActivated,
    FactAsserted,
    FactEnded,
    FactRevoked,
    FactSuperseded,
    Happening,
    Lifecycle,
    Mode,
    Succession,
    Supersession,
)
from chronofact.domain.history import History
from chronofact.domain.interval import Interval
from chronofact.domain.resolve import Conflict, Unknown, Value, Values, resolve
from tests.property.cases import Case, bound, cases, event_id_of, instant, version_id

ORDERS_MAX = 120


def happening(said: Case) -> Happening:
    match said["type"]:
        case "assert":
            value = canonical(said["value"])
            return FactAsserted(
                version_id(said["version"]),
                value,
                digest(value),
                Interval(bound(said["valid_from"]), bound(said["valid_to"])),
                said.get("source", "s1"),
                digest(said.get("source", "s1").encode()),
                Lifecycle(said.get("lifecycle", "ACTIVE")),
                Cardinality(said.get("cardinality", "one")),
                Succession(said.get("succession", "explicit")),
                None,
                tuple(
                    Supersession(version_id(s["version"]), bound(s.get("effective_at")), mode(s.get("mode")))
                    for s in said.get("supersedes", ())
                ),
            )
        case "activate":
            return FactActivated(version_id(said["version"]))
        case "supersede":
            return FactSuperseded(
                version_id(said["new"]), version_id(said["old"]), bound(said["effective_at"]), mode(said["mode"])
            )
        case "end":
            return FactEnded(version_id(said["version"]), instant(said["effective_at"]))
        case "revoke":
            return FactRevoked(version_id(said["version"]))
        case "resolve_conflict":
            keep = None if said["keep"] is None else version_id(said["keep"])
            left, right = version_id(said["left"]), version_id(said["right"])
            return ConflictResolved(left, right, keep, instant(said["decided_at"]))
        case unknown:
            raise LookupError(unknown)


def mode(name: str | None) -> Mode | None:
    return None if name is None else Mode(name)


def events_of(case: Case) -> list[Event]:
    return [Event(event_id_of(said), happening(said), instant(said["recorded_at"])) for said in case["events"]]


def check(events: list[Event], asked: dict[str, Any]) -> None:
    as_of = None if asked["as_of"] is None else instant(asked["as_of"])
    answer = resolve(events, valid_at=instant(asked["valid_at"]), system_as_of=as_of)
    versions = tuple(sorted(version_id(label) for label in asked.get("versions", ())))
    match answer:
        case Unknown(reason):
            assert (asked["kind"], asked.get("reason")) == ("unknown", reason)
        case Value(winner, agreeing):
            assert (asked["kind"], versions) == ("value", agreeing)
            stated = {e.what.version_id: e.what.value for e in events if isinstance(e.what, FactAsserted)}
            assert stated[winner] == canonical(asked["value"])
        case Values(ids):
            assert (asked["kind"], versions) == ("values", ids)
        case Conflict(ids):
            assert (asked["kind"], versions) == ("conflict", ids)


def edges(events: list[Event]) -> set[tuple[bytes, bytes, str]]:
    history = History()
    for event in events:
        if not history.knows(event.event_id):
            history.apply(event)
    return set(history.take_outcome().conflicts_now)


@pytest.mark.parametrize("case", cases(), ids=lambda case: case["name"])
def test_scenario(case: Case) -> None:
    events = events_of(case)
    for asked in case["answers"]:
        check(events, asked)
    wanted = {(*sorted((version_id(a), version_id(b))), relation) for a, b, relation in case["conflicts"]}
    assert edges(events) == wanted


@pytest.mark.parametrize("case", cases(), ids=lambda case: case["name"])
def test_scenario_in_any_order(case: Case) -> None:
    events = events_of(case)
    times = [event.recorded_at for event in events]
    if times != sorted(times):
        return
    for order in islice(permutations(events), ORDERS_MAX):
        for asked in case["answers"]:
            if asked["as_of"] is None:
                check(list(order), asked)
        assert edges(list(order)) == edges(events)
