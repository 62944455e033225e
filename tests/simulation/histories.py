"""The property tests' dense histories, with the ids that the writer would derive."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random

from chronofact.contracts.payload import payload_of
from chronofact.domain.events import (
    ConflictResolved,
    Event,
    EventDropped,
    FactActivated,
    FactAsserted,
    FactEnded,
    FactRevoked,
    FactSuperseded,
    Happening,
    RelationDeclared,
    RelationsChecked,
)
from chronofact.domain.identity import event_id_of, version_id_of
from tests.property.spelled import spelled
from tests.property.strategies import random_history


def written_history(
    random: Random, size: int, profile: str, *, fact_id: bytes, is_spelled: bool = False
) -> list[Event]:
    """Events in log order, as the writer would have made them; drops are no fact's."""
    events = [one for one in random_history(random, size, profile) if not isinstance(one.what, EventDropped)]
    return _Written(fact_id, spelled(events) if is_spelled else events).events()


class _Written:
    def __init__(self, fact_id: bytes, events: Sequence[Event]) -> None:
        self._fact_id = fact_id
        self._events = events
        self._said = {event.event_id: event.what for event in events}
        self._versions = {
            what.version_id: self._version_id(what) for what in self._said.values() if isinstance(what, FactAsserted)
        }

    def events(self) -> list[Event]:
        """In their order."""
        written = []
        for event in self._events:
            what = self._what(event.what)
            written.append(Event(self._event_id(what), what, event.recorded_at))
        return written

    def _version_id(self, what: FactAsserted) -> bytes:
        return version_id_of(
            self._fact_id,
            value=what.value,
            valid_from=what.valid.start,
            valid_to=what.valid.end,
            source_id=_source_of(what),
            source_hash=what.source_hash,
        )

    def _event_id(self, what: Happening) -> bytes:
        return event_id_of(self._fact_id, type(what).__name__, payload_of(what))

    def _version(self, version_id: bytes) -> bytes:
        return self._versions.get(version_id, version_id)

    def _pair(self, left: bytes, right: bytes) -> tuple[bytes, bytes]:
        one, other = sorted((self._version(left), self._version(right)))
        return one, other

    def _taken_back(self, event_id: bytes) -> bytes:
        said = self._said.get(event_id)
        return event_id if said is None else self._event_id(self._what(said))

    def _what(self, what: Happening) -> Happening:
        match what:
            case FactAsserted():
                edges = tuple(replace(one, version_id=self._version(one.version_id)) for one in what.supersedes)
                return replace(
                    what, version_id=self._version(what.version_id), source_id=_source_of(what), supersedes=edges
                )
            case FactSuperseded():
                new, old = self._version(what.new_version_id), self._version(what.old_version_id)
                return replace(what, new_version_id=new, old_version_id=old)
            case FactActivated() | FactEnded() | RelationsChecked():
                return replace(what, version_id=self._version(what.version_id))
            case FactRevoked():
                if what.version_id is not None:
                    return replace(what, version_id=self._version(what.version_id))
                return replace(what, event_id=self._taken_back(what.event_id or b""))
            case ConflictResolved():
                left, right = self._pair(what.left_version_id, what.right_version_id)
                keep = None if what.keep is None else self._version(what.keep)
                return replace(what, left_version_id=left, right_version_id=right, keep=keep)
            case RelationDeclared():
                left, right = self._pair(what.left_version_id, what.right_version_id)
                newer = None if what.newer_version_id is None else self._version(what.newer_version_id)
                return replace(what, left_version_id=left, right_version_id=right, newer_version_id=newer)
            case EventDropped():
                raise AssertionError("a drop is of no fact")


def _source_of(what: FactAsserted) -> str:
    """Claims of equal content are still different claims of the generator."""
    return f"source {what.version_id[-1]}"
