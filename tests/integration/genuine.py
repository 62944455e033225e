"""Random histories as a writer would have said them: every id derived from what it names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

from chronofact.contracts.codec import FactEvent, encode_event
from chronofact.contracts.payload import payload_of
from chronofact.domain.events import Event, FactAsserted, Happening, Supersession
from chronofact.domain.identity import event_id_of, version_id_of
from tests.integration.saying import Fact, Said


class Genuine:
    """Gives the events of one fact their true ids."""

    def __init__(self, fact: Fact, events: Sequence[Event]) -> None:
        self._fact = fact
        self._said = {event.event_id: event.what for event in events}
        self._versions: dict[bytes, bytes] = {}
        for event in events:
            if isinstance(event.what, FactAsserted):
                what = self._sourced(event.what)
                self._versions[event.what.version_id] = version_id_of(
                    fact.fact_id,
                    value=what.value,
                    valid_from=what.valid.start,
                    valid_to=what.valid.end,
                    source_id=what.source_id,
                    source_hash=what.source_hash,
                )
        self._events: dict[bytes, bytes] = {}

    def event(self, event: Event) -> Event:
        """The event as the projection knows it."""
        return replace(event, event_id=self._event_id(event.event_id), what=self._renamed(event.what))

    def message(self, event: Event, *, label: str | None) -> Said:
        """The event as a message of the facts topic."""
        what = self._renamed(event.what)
        sent = FactEvent(
            self._event_id(event.event_id), type(what).__name__, self._fact.canonical, label, payload_of(what)
        )
        return Said(self._fact.partition, self._fact.fact_id, encode_event(sent), sent.event_id, None)

    def _sourced(self, what: FactAsserted) -> FactAsserted:
        """Claims of the strategies differ in nothing but their ids; here the source tells them apart."""
        return replace(what, source_id=what.version_id.hex())

    def _renamed(self, what: Happening) -> Happening:
        if isinstance(what, FactAsserted):
            what = self._sourced(what)
        named: Mapping[str, Any] = {one.name: self._new(one.name, getattr(what, one.name)) for one in fields(what)}
        return replace(what, **named)

    def _new(self, name: str, value: Any) -> Any:
        if name == "supersedes":
            return tuple(Supersession(self._versions.get(v, v), at, mode) for v, at, mode in map(_parts, value))
        if name == "event_id" and isinstance(value, bytes):
            return self._event_id(value)
        if name.endswith("version_id") or name == "keep":
            return self._versions.get(value, value)
        return value

    def _event_id(self, old: bytes) -> bytes:
        if old not in self._said:
            return old
        if old not in self._events:
            what = self._renamed(self._said[old])
            self._events[old] = event_id_of(self._fact.fact_id, type(what).__name__, payload_of(what))
        return self._events[old]


def _parts(stated: Supersession) -> tuple[bytes, int | None, Any]:
    return stated.version_id, stated.effective_at, stated.mode
