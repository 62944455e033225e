"""A text memory to its event: a version of the many-valued fact ``memory/<category>``, whose value is the text."""

from __future__ import annotations

from typing import Final

from chronofact.contracts.commands import Memory, Source
from chronofact.contracts.fact_keys import check_key
from chronofact.domain.canonical import canonical, digest
from chronofact.domain.errors import Rejected
from chronofact.domain.events import FactAsserted, Lifecycle
from chronofact.domain.identity import version_id_of
from chronofact.writer.accept import (
    VALUE_BYTES_MAX,
    Accepted,
    Acceptor,
    Authority,
    event_of,
    import_time_of,
    source_hash_of,
)
from chronofact.writer.fields import interval_of

_PREFIX: Final = "memory/"


def remembered(acceptor: Acceptor, memory: Memory, authority: Authority, *, trace: str | None = None) -> Accepted:
    """The event of a memory, with nothing derived yet.

    Raises:
        Rejected: a code of the closed list, with the field.
    """
    value = text_value(memory.text)
    slot = acceptor.slot(memory.subject, memory.scope, memory_key(memory.category), authority)
    import_time = import_time_of(memory.recorded_at, authority)
    valid = interval_of(memory.valid_from, memory.valid_to)
    source_hash = _evidence(memory.source, memory.text)
    version_id = version_id_of(
        slot.fact_id,
        value=value,
        valid_from=valid.start,
        valid_to=valid.end,
        source_id=memory.source.id,
        source_hash=source_hash,
    )
    what = FactAsserted(
        version_id,
        value,
        digest(value),
        valid,
        memory.source.id,
        source_hash,
        Lifecycle.ACTIVE,
        slot.declared.cardinality,
        slot.declared.succession,
        memory.confidence,
        valid_from_known=memory.valid_from is not None,
    )
    event = event_of(slot, what, version_id, import_time, trace, value_hash=what.value_hash, source_hash=source_hash)
    return Accepted(slot.fact_id, event, version_id)


def memory_key(category: str) -> str:
    """The fact key of a category, which is written in the key alphabet.

    Raises:
        Rejected: ``key_empty``, ``key_too_long``, ``key_malformed``, in the field ``category``.
    """
    key = _PREFIX + category
    try:
        check_key(key if category else category)
    except Rejected as error:
        raise Rejected(error.code, error.message.replace("key", "category", 1), field="category") from None
    return key


def text_value(text: str) -> bytes:
    """The value of a memory: its text as it came, in canonical JSON.

    Raises:
        Rejected: ``text_empty``, ``text_too_large``, ``surrogate_lone``, ``nul_character``.
    """
    if not text or text.isspace():
        raise Rejected("text_empty", "the text says nothing", field="text")
    try:
        value = canonical(text)
    except Rejected as error:
        raise error.at("text") from None
    if len(value) > VALUE_BYTES_MAX:
        raise Rejected("text_too_large", "the text's canonical JSON is larger than 64 KiB", field="text")
    return value


def _evidence(source: Source, text: str) -> bytes:
    """What was said is its own evidence where the source has neither a hash nor another text."""
    return digest(text.encode()) if source.hash is None and source.text is None else source_hash_of(source)
