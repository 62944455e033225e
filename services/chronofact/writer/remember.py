"""A text memory to its event: a version of the many-valued fact ``memory/<category>``, whose value is the text."""

from __future__ import annotations

from chronofact.contracts.commands import Memory
from chronofact.contracts.fact_keys import KEY_BYTES_MAX, check_key
from chronofact.contracts.memories import MEMORY_PREFIX
from chronofact.domain.canonical import digest
from chronofact.domain.errors import Rejected
from chronofact.domain.events import FactAsserted, Lifecycle
from chronofact.domain.identity import version_id_of
from chronofact.writer.accept import Accepted, Acceptor, Authority, event_of, evidence_of, import_time_of
from chronofact.writer.fields import interval_of, text_value


def remembered(acceptor: Acceptor, memory: Memory, authority: Authority, *, trace: str | None = None) -> Accepted:
    """The event of a memory, with nothing derived yet.

    Raises:
        Rejected: a code of the closed list, with the field.
    """
    value = text_value(memory.text)
    slot = acceptor.slot(memory.subject, memory.scope, memory_key(memory.category), authority)
    import_time = import_time_of(memory.recorded_at, authority)
    valid = interval_of(memory.valid_from, memory.valid_to)
    source_hash = evidence_of(memory.source, memory.text)
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
    return Accepted(slot.fact_id, event, version_id, memory.text)


def memory_key(category: str) -> str:
    """The fact key of a category, which is written in the key alphabet.

    Raises:
        Rejected: ``key_empty``, ``key_too_long``, ``key_malformed``, in the field ``category``.
    """
    key = MEMORY_PREFIX + category
    try:
        check_key(key if category else category)
    except Rejected as error:
        message = error.message.replace("key", "category", 1)
        if error.code == "key_too_long":
            message = f"category is longer than {KEY_BYTES_MAX - len(MEMORY_PREFIX)} bytes"
        raise Rejected(error.code, message, field="category") from None
    return key
