"""A command to its event: checked, normalised, canonical, hashed. Pure but for look-ups that are remembered."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple
from uuid import UUID

from chronofact.contracts.codec import FactEvent
from chronofact.contracts.commands import (
    VALUE_BYTES_MAX,
    Assert,
    CheckRelations,
    Command,
    DeclareRelation,
    Source,
    Supersedes,
)
from chronofact.contracts.fact_keys import KeyDeclaration, KeyDeclarations
from chronofact.contracts.memories import MEMORY_PREFIX
from chronofact.contracts.payload import payload_of
from chronofact.contracts.scope_kinds import DEFAULT_SCOPE, Scope, ScopeKinds, covers
from chronofact.contracts.verifying import SUPERSEDES_MAX
from chronofact.domain.canonical import canonical, digest
from chronofact.domain.errors import Rejected
from chronofact.domain.events import (
    Cardinality,
    FactAsserted,
    Happening,
    Lifecycle,
    Succession,
    Supersession,
)
from chronofact.domain.identity import (
    FactIdentity,
    event_id_of,
    fact_id_of_canonical,
    is_uuid,
    subject_id_of,
    version_id_of,
)
from chronofact.writer.fields import bound_at, id_of, instant_at, interval_of, mode_of, text_value
from chronofact.writer.said import said_of

CLOCK_SLACK_US: Final = 5 * 60 * 1_000_000
_SLOTS_KEPT: Final = 8_192
_HASH_CHARS: Final = 64


@dataclass(frozen=True, slots=True)
class Authority:
    """What the caller may say: for which tenant, in which scopes, with what system time; ``now`` is the writer's clock."""

    tenant_id: UUID
    scopes: tuple[str, ...]
    may_import: bool
    now: int
    is_service: bool = False


class Slot(NamedTuple):
    """One fact as a command names it."""

    fact_id: bytes
    identity: bytes
    label: str | None
    scope: Scope
    declared: KeyDeclaration


class Accepted(NamedTuple):
    """The event of a command; ``version_id`` is that of the version which an assertion makes.

    ``text`` is that of a text memory: what is derived of it is to come into the event.
    """

    fact_id: bytes
    event: FactEvent
    version_id: bytes | None
    text: str | None = None


class Acceptor:
    """Makes events of commands by the declared keys and kinds of scope."""

    def __init__(self, keys: KeyDeclarations, kinds: ScopeKinds) -> None:
        self._keys = keys
        self._kinds = kinds
        self._slot = lru_cache(_SLOTS_KEPT)(self._slot_of)

    def accept(self, command: Command, authority: Authority, *, trace: str | None = None) -> Accepted:
        """The event that the command asks for.

        Raises:
            Rejected: a code of the closed list, with the field.
        """
        slot = self.slot(command.subject, command.scope, command.key, authority)
        import_time = import_time_of(command.recorded_at, authority)
        if isinstance(command, Assert):
            return _asserted(command, slot, import_time, trace)
        if isinstance(command, DeclareRelation | CheckRelations):
            _check_relating(command, authority)
        what, version_id = said_of(command)
        return Accepted(slot.fact_id, event_of(slot, what, version_id, import_time, trace), None)

    def slot(self, subject: str, scope: str | None, key: str, authority: Authority) -> Slot:
        """The fact that is spoken of.

        Raises:
            Rejected: it can't be named so, or the caller may not speak of it.
        """
        found = self._slot(authority.tenant_id, subject, DEFAULT_SCOPE if scope is None else scope, key)
        if not covers(authority.scopes, found.scope):
            raise Rejected("scope_not_covered", "the credential does not cover this scope", field="scope")
        return found

    def _slot_of(self, tenant_id: UUID, subject: str, scope: str, key: str) -> Slot:
        declared = self._keys.of(key)
        named = self._kinds.normalise(scope)
        identity = FactIdentity(tenant_id, subject_id_of(tenant_id, subject), named.kind, named.key, key)
        spelled = identity.canonical()
        label = None if is_uuid(subject) else subject
        return Slot(fact_id_of_canonical(spelled), spelled, label, named, declared)


def event_of(
    slot: Slot,
    what: Happening,
    version_id: bytes | None,
    import_time: int | None,
    trace: str | None,
    *,
    value_hash: bytes | None = None,
    source_hash: bytes | None = None,
) -> FactEvent:
    """The event of what is said of a fact; nothing is derived yet."""
    kind = type(what).__name__
    payload = payload_of(what)
    event_id = event_id_of(slot.fact_id, kind, payload)
    return FactEvent(
        event_id,
        kind,
        slot.identity,
        slot.label,
        payload,
        None,
        version_id,
        value_hash,
        source_hash,
        import_time,
        trace,
    )


def import_time_of(recorded_at: str | None, authority: Authority) -> int | None:
    """The original system time, where one is said and the caller may say it.

    Raises:
        Rejected: ``import_not_allowed``, ``recorded_at_in_future``, or what is wrong with an instant.
    """
    if recorded_at is None:
        return None
    if not authority.may_import:
        raise Rejected("import_not_allowed", "recorded_at needs the role import", field="recorded_at")
    instant = instant_at("recorded_at", recorded_at)
    if instant > authority.now + CLOCK_SLACK_US:
        raise Rejected("recorded_at_in_future", "recorded_at is later than now plus 5 minutes", field="recorded_at")
    return instant


def _check_relating(command: DeclareRelation | CheckRelations, authority: Authority) -> None:
    """Only text memories have relations (semantics §2), and only our own jobs say that they were checked."""
    if isinstance(command, CheckRelations) and not authority.is_service:
        raise Rejected("check_not_allowed", "check_relations needs the role service", field="type")
    if not command.key.startswith(MEMORY_PREFIX):
        raise Rejected(
            "key_not_memory",
            "only text memories have relations: their key is memory/<category>; of other versions, say supersede or resolve_conflict",
            field="key",
        )


# -- assertions ------------------------------------------------------------------------------------


def _asserted(command: Assert, slot: Slot, import_time: int | None, trace: str | None) -> Accepted:
    text = _text(command) if command.key.startswith(MEMORY_PREFIX) else None
    value = _value(command) if text is None else text_value(text, "value")
    valid = interval_of(command.valid_from, command.valid_to)
    source_hash = source_hash_of(command.source) if text is None else evidence_of(command.source, text)
    version_id = version_id_of(
        slot.fact_id,
        value=value,
        valid_from=valid.start,
        valid_to=valid.end,
        source_id=command.source.id,
        source_hash=source_hash,
    )
    what = FactAsserted(
        version_id,
        value,
        digest(value),
        valid,
        command.source.id,
        source_hash,
        Lifecycle.ACTIVE if command.lifecycle == "ACTIVE" else Lifecycle.PROPOSED,
        _cardinality(command, slot.declared),
        slot.declared.succession if command.succession is None else Succession(command.succession),
        command.confidence,
        () if command.supersedes is None else _supersedes(command.supersedes, version_id),
        valid_from_known=text is None or command.valid_from is not None,
    )
    event = event_of(slot, what, version_id, import_time, trace, value_hash=what.value_hash, source_hash=source_hash)
    return Accepted(slot.fact_id, event, version_id, text)


def _text(command: Assert) -> str:
    """What a text memory says, whichever way it came (semantics §7)."""
    if not isinstance(command.value, str):
        raise Rejected(
            "value_not_text",
            "a key memory/… holds texts: send the text as a JSON string, or another key",
            field="value",
        )
    return command.value


def _value(command: Assert) -> bytes:
    try:
        value = canonical(command.value)
    except Rejected as error:
        raise error.at("value") from None
    if len(value) > VALUE_BYTES_MAX:
        raise Rejected("value_too_large", "the value's canonical JSON is larger than 64 KiB", field="value")
    return value


def source_hash_of(source: Source) -> bytes:
    """The hash of the evidence, said or made of its text.

    Raises:
        Rejected: ``source_hash_missing``, ``source_hash_malformed``, ``source_hash_differs``.
    """
    of_text = None if source.text is None else digest(source.text.encode())
    if source.hash is None:
        if of_text is None:
            raise Rejected("source_hash_missing", "source needs hash, or text to hash", field="source")
        return of_text
    try:
        found = bytes.fromhex(source.hash) if len(source.hash) == _HASH_CHARS and source.hash.isalnum() else None
    except ValueError:
        found = None
    if found is None:
        raise Rejected("source_hash_malformed", "a hash is 64 hexadecimal digits", field="source.hash")
    if of_text is not None and of_text != found:
        raise Rejected("source_hash_differs", "source.hash is not the SHA-256 of source.text", field="source.hash")
    return found


def evidence_of(source: Source, text: str) -> bytes:
    """That of a memory: its text is its own evidence where the source has neither a hash nor another text."""
    return digest(text.encode()) if source.hash is None and source.text is None else source_hash_of(source)


def _cardinality(command: Assert, declared: KeyDeclaration) -> Cardinality:
    if command.cardinality is None:
        return declared.cardinality
    if declared.is_declared and command.cardinality != declared.cardinality:
        raise Rejected(
            "cardinality_declared", f"the key is declared with cardinality {declared.cardinality}", field="cardinality"
        )
    return Cardinality(command.cardinality)


def _supersedes(said: Supersedes | list[Supersedes], version_id: bytes) -> tuple[Supersession, ...]:
    edges = [said] if isinstance(said, Supersedes) else said
    if len(edges) > SUPERSEDES_MAX:
        raise Rejected("supersedes_too_many", f"supersedes names at most {SUPERSEDES_MAX} versions", field="supersedes")
    found = tuple(_supersession(edge) for edge in edges)
    if any(edge.version_id == version_id for edge in found):
        raise Rejected("supersedes_itself", "a version can't supersede itself", field="supersedes")
    return found


def _supersession(edge: Supersedes) -> Supersession:
    return Supersession(
        id_of("supersedes.version_id", edge.version_id),
        bound_at("supersedes.effective_at", edge.effective_at),
        mode_of(edge.mode),
    )
