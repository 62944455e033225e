"""How one message of the log counts: whoever folds the log, live, again or only its tail, reads it by these rules."""

from __future__ import annotations

from typing import Final, assert_never

from chronofact.contracts.codec import FactEvent, decode_event
from chronofact.domain.errors import Rejected
from chronofact.domain.events import (
    ConflictResolved,
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
from chronofact.domain.identity import derived_id

KEY_BYTES: Final = 16


def event_in(key: bytes, value: bytes) -> FactEvent:
    """The event of a message.

    Raises:
        Rejected: ``message_key_malformed``, ``value_missing``, ``event_undecodable``.
    """
    if len(key) != KEY_BYTES:
        raise Rejected("message_key_malformed", "the message key is not the 16 bytes of a fact's id")
    if not value:
        raise Rejected("value_missing", "the message has no value")
    return decode_event(value)


def check_identity(key: bytes, event: FactEvent) -> None:
    """Refuses an event under the key of another fact.

    Raises:
        Rejected: ``identity_mismatch``.
    """
    if derived_id(b"fact", event.identity) != key:
        raise Rejected("identity_mismatch", "the message key is not the id of the event's identity")


def recorded_at_of(appended_at: int, event: FactEvent) -> int:
    """When the event was learned, before it is raised to that of the fact's last one (semantics §1, §8)."""
    if event.import_time is not None and event.import_time < appended_at:
        return event.import_time
    return appended_at


def versions_named(what: Happening) -> tuple[bytes, ...]:
    """The versions that an event names, as said."""
    match what:
        case FactAsserted():
            if not what.supersedes:
                return (what.version_id,)
            return (what.version_id, *(stated.version_id for stated in what.supersedes))
        case FactSuperseded():
            return (what.new_version_id, what.old_version_id)
        case ConflictResolved() | RelationDeclared():
            return (what.left_version_id, what.right_version_id)
        case FactRevoked():
            return () if what.version_id is None else (what.version_id,)
        case FactActivated() | FactEnded() | RelationsChecked():
            return (what.version_id,)
        case EventDropped():
            return ()
        case _:
            assert_never(what)
