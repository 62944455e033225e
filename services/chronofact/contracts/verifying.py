"""Holds an event of the log to its own content: what its ids, hashes and identity should be, whoever produced it (ADR 17)."""

from __future__ import annotations

import re
from typing import Final

import orjson

from chronofact.contracts.codec import FactEvent, IdentityParts, identity_of, parts_of
from chronofact.contracts.fact_keys import check_key
from chronofact.contracts.scope_kinds import SCOPE_BYTES_MAX
from chronofact.domain.canonical import DEPTH_MAX, SAFE_INTEGER, canonical, check_text
from chronofact.domain.errors import Rejected
from chronofact.domain.events import FactAsserted, Happening
from chronofact.domain.identity import FactIdentity, event_id_of, version_id_of

SUPERSEDES_MAX: Final = 100
_KIND: Final = re.compile(r"[a-z][a-z0-9_]{0,31}", re.ASCII)
_PLAIN: Final = re.compile(rb'"[ !#-\[\]-~]*"|true|false|null|0|-?[1-9][0-9]{0,14}')
"""Values whose canonical form is seen at a glance."""
_is_plainly_spelled: Final = _PLAIN.fullmatch
_loads: Final = orjson.loads
_dumps: Final = orjson.dumps
_SORTED: Final = orjson.OPT_SORT_KEYS


def check_event_id(fact_id: bytes, event: FactEvent) -> None:
    """Refuses an id that is not derived from the content, which would hide the event that it belongs to.

    Raises:
        Rejected: ``event_id_mismatch``.
    """
    if event.event_id != event_id_of(fact_id, event.kind, event.payload):
        raise Rejected("event_id_mismatch", "the event's id is not derived from its content")


def check_content(fact_id: bytes, event: FactEvent, what: Happening) -> None:
    """Refuses what Postgres can't hold, and a claim whose ids or hashes are not its own.

    Raises:
        Rejected: ``event_undecodable``, ``version_id_mismatch``, ``value_hash_mismatch``.
    """
    if b"\\" in event.payload and b"\\u0000" in event.payload:  # the one byte is looked for much faster
        _check_canonical(event.payload, "payload")
    if event.subject_label is not None and "\x00" in event.subject_label:
        raise Rejected("event_undecodable", "text has the character U+0000", field="subject_label")
    if type(what) is FactAsserted:
        _check_claim(fact_id, event, what)


def _check_claim(fact_id: bytes, event: FactEvent, what: FactAsserted) -> None:
    if len(what.supersedes) > SUPERSEDES_MAX:
        raise Rejected("event_undecodable", f"it supersedes more than {SUPERSEDES_MAX} versions", field="supersedes")
    if what.value[:1] == b"{" or _is_plainly_spelled(what.value) is None:
        _check_canonical(what.value, "value")
    valid = what.valid
    derived = version_id_of(
        fact_id,
        value=what.value,
        valid_from=valid.start,
        valid_to=valid.end,
        source_id=what.source_id,
        source_hash=what.source_hash,
    )
    if what.version_id != derived or _differs(event.version_id, derived):
        raise Rejected("version_id_mismatch", "the version's id is not derived from the claim")
    if _differs(event.value_hash, what.value_hash) or _differs(event.source_hash, what.source_hash):
        raise Rejected("value_hash_mismatch", "a hash of the event is not that of its payload")


def _differs(told: bytes | None, known: bytes) -> bool:
    return told is not None and told != known


def _check_canonical(spelled: bytes, field: str) -> None:
    try:
        value = _loads(spelled)
        is_canonical = _is_plain(value, 0) and _dumps(value, None, _SORTED) == spelled
        is_canonical = is_canonical or canonical(value) == spelled
    except Rejected as error:
        raise Rejected("event_undecodable", error.message, field=field) from None
    except ValueError:
        is_canonical = False
    if not is_canonical:
        raise Rejected("event_undecodable", "it is not canonical JSON", field=field)


def _is_plain(value: object, depth: int) -> bool:
    """Whether orjson spells it as RFC 8785 does and nothing of it is refused: no fraction, large number or odd key.

    What it has read holds no lone surrogate.
    """
    if isinstance(value, str):
        return "\x00" not in value
    if value is None or isinstance(value, bool):
        return True
    if isinstance(value, int):
        return -SAFE_INTEGER <= value <= SAFE_INTEGER
    if depth >= DEPTH_MAX:
        return False
    if isinstance(value, dict):
        # by code point is by UTF-16 unit for ASCII
        return all(name.isascii() and "\x00" not in name and _is_plain(part, depth + 1) for name, part in value.items())
    return isinstance(value, list) and all(_is_plain(part, depth + 1) for part in value)


def checked_identity(identity: bytes) -> FactIdentity:
    """The five parts, if a writer could have named a fact so; the kinds of scope of its configuration aside.

    Raises:
        Rejected: ``event_undecodable``, ``identity_invalid``.
    """
    parts = identity_of(identity)
    _check_named(parts.scope_kind, parts.scope_key, parts.fact_key)
    return parts


def checked_parts(identity: bytes) -> IdentityParts:
    """``checked_identity`` with ids as raw bytes.

    Raises:
        Rejected: ``event_undecodable``, ``identity_invalid``.
    """
    parts = parts_of(identity)
    _check_named(parts.scope_kind, parts.scope_key, parts.fact_key)
    return parts


def _check_named(scope_kind: str, scope_key: str, fact_key: str) -> None:
    try:
        check_key(fact_key)
        check_text(scope_key)
    except Rejected as error:
        raise Rejected("identity_invalid", error.message) from None
    scope_bytes = len(scope_kind) + 1 + len(scope_key.encode())
    if not scope_key or _KIND.fullmatch(scope_kind) is None or scope_bytes > SCOPE_BYTES_MAX:
        raise Rejected("identity_invalid", "the scope is not a kind and a key of up to 512 bytes")
