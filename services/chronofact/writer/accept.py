"""A command to its event: checked, normalised, canonical, hashed. Pure but for look-ups that are remembered."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple, TypeAlias, assert_never
from uuid import UUID

from chronofact.contracts.codec import FactEvent
from chronofact.contracts.commands import (
    Activate,
    Assert,
    Command,
    DeclareRelation,
    End,
    ResolveConflict,
    Revoke,
    Source,
    Supersede,
    Supersedes,
)
from chronofact.contracts.fact_keys import KeyDeclaration, KeyDeclarations
from chronofact.contracts.payload import id_bytes, payload_of
from chronofact.contracts.scope_kinds import DEFAULT_SCOPE, Scope, ScopeKinds, covers
from chronofact.domain.canonical import canonical, digest
from chronofact.domain.errors import Rejected
from chronofact.domain.events import (
    Cardinality,
    ConflictResolved,
    Decider,
    FactActivated,
    FactAsserted,
    FactEnded,
    FactRevoked,
    FactSuperseded,
    Happening,
    Lifecycle,
    Mode,
    RelationDeclared,
    Succession,
    Supersession,
    Verdict,
)
from chronofact.domain.identity import (
    FactIdentity,
    event_id_of,
    fact_id_of_canonical,
    is_uuid,
    subject_id_of,
    version_id_of,
)
from chronofact.domain.interval import Interval, parse_instant

VALUE_BYTES_MAX: Final = 65_536
SUPERSEDES_MAX: Final = 100
CLOCK_SLACK_US: Final = 5 * 60 * 1_000_000
_SLOTS_KEPT: Final = 8_192
_INSTANTS_KEPT: Final = 4_096
_HASH_CHARS: Final = 64

_instant = lru_cache(_INSTANTS_KEPT)(parse_instant)


@dataclass(frozen=True, slots=True)
class Authority:
    """What the caller may say: for which tenant, in which scopes, with what system time; ``now`` is the writer's clock."""

    tenant_id: UUID
    scopes: tuple[str, ...]
    may_import: bool
    now: int


class Slot(NamedTuple):
    """One fact as a command names it."""

    fact_id: bytes
    identity: bytes
    label: str | None
    scope: Scope
    declared: KeyDeclaration


class Accepted(NamedTuple):
    """The event of a command; ``version_id`` is that of the version which an assertion makes."""

    fact_id: bytes
    event: FactEvent
    version_id: bytes | None


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
        scope = DEFAULT_SCOPE if command.scope is None else command.scope
        slot = self._slot(authority.tenant_id, command.subject, scope, command.key)
        if not covers(authority.scopes, slot.scope):
            raise Rejected("scope_not_covered", "the credential does not cover this scope", field="scope")
        import_time = _import_time(command.recorded_at, authority)
        if isinstance(command, Assert):
            return _asserted(command, slot, import_time, trace)
        what, version_id = _said(command)
        return Accepted(slot.fact_id, _event(slot, what, version_id, import_time, trace), None)

    def _slot_of(self, tenant_id: UUID, subject: str, scope: str, key: str) -> Slot:
        declared = self._keys.of(key)
        named = self._kinds.normalise(scope)
        identity = FactIdentity(tenant_id, subject_id_of(tenant_id, subject), named.kind, named.key, key)
        spelled = identity.canonical()
        label = None if is_uuid(subject) else subject
        return Slot(fact_id_of_canonical(spelled), spelled, label, named, declared)


def _event(
    slot: Slot,
    what: Happening,
    version_id: bytes | None,
    import_time: int | None,
    trace: str | None,
    *,
    value_hash: bytes | None = None,
    source_hash: bytes | None = None,
) -> FactEvent:
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


def _import_time(recorded_at: str | None, authority: Authority) -> int | None:
    if recorded_at is None:
        return None
    if not authority.may_import:
        raise Rejected("import_not_allowed", "recorded_at needs the role import", field="recorded_at")
    instant = _at("recorded_at", recorded_at)
    if instant > authority.now + CLOCK_SLACK_US:
        raise Rejected("recorded_at_in_future", "recorded_at is later than now plus 5 minutes", field="recorded_at")
    return instant


# -- assertions ------------------------------------------------------------------------------------


def _asserted(command: Assert, slot: Slot, import_time: int | None, trace: str | None) -> Accepted:
    value = _value(command)
    valid = Interval(_bound("valid_from", command.valid_from), _bound("valid_to", command.valid_to))
    source_hash = _source_hash(command.source)
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
    )
    event = _event(slot, what, version_id, import_time, trace, value_hash=what.value_hash, source_hash=source_hash)
    return Accepted(slot.fact_id, event, version_id)


def _value(command: Assert) -> bytes:
    try:
        value = canonical(command.value)
    except Rejected as error:
        raise error.at("value") from None
    if len(value) > VALUE_BYTES_MAX:
        raise Rejected("value_too_large", "the value's canonical JSON is larger than 64 KiB", field="value")
    return value


def _source_hash(source: Source) -> bytes:
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
        _id("supersedes.version_id", edge.version_id),
        _bound("supersedes.effective_at", edge.effective_at),
        _mode(edge.mode),
    )


# -- everything else -------------------------------------------------------------------------------

Rest: TypeAlias = Activate | Supersede | End | Revoke | ResolveConflict | DeclareRelation


def _said(command: Rest) -> tuple[Happening, bytes | None]:
    match command:
        case Activate():
            version_id = _id("version_id", command.version_id)
            return FactActivated(version_id, command.reason), version_id
        case End():
            version_id = _id("version_id", command.version_id)
            return FactEnded(version_id, _at("effective_at", command.effective_at), command.reason), version_id
        case Supersede():
            return _superseded(command)
        case Revoke():
            return _revoked(command)
        case ResolveConflict():
            return _resolved(command), None
        case DeclareRelation():
            return _declared(command), None
        case _:
            assert_never(command)


def _superseded(command: Supersede) -> tuple[FactSuperseded, bytes]:
    new = _id("new_version_id", command.new_version_id)
    old = _id("old_version_id", command.old_version_id)
    if new == old:
        raise Rejected("supersedes_itself", "a version can't supersede itself", field="old_version_id")
    effective_at = _bound("effective_at", command.effective_at)
    return FactSuperseded(new, old, effective_at, _mode(command.mode), command.reason), new


def _revoked(command: Revoke) -> tuple[FactRevoked, bytes | None]:
    if (command.version_id is None) == (command.event_id is None):
        raise Rejected("revoke_names_one", "revoke names a version_id or an event_id, and one only", field="version_id")
    version_id = _optional_id("version_id", command.version_id)
    event_id = _optional_id("event_id", command.event_id)
    return FactRevoked(version_id, event_id, command.reason), version_id


def _resolved(command: ResolveConflict) -> ConflictResolved:
    left, right = _pair(command.left_version_id, command.right_version_id)
    keep = _optional_id("keep", command.keep)
    if keep not in {None, left, right}:
        raise Rejected("keep_not_in_pair", "keep is neither of the two versions", field="keep")
    decided_at = _at("decided_at", command.decided_at)
    return ConflictResolved(left, right, keep, decided_at, command.decided_by, command.reason)


def _declared(command: DeclareRelation) -> RelationDeclared:
    left, right = _pair(command.left_version_id, command.right_version_id)
    newer = _optional_id("newer_version_id", command.newer_version_id)
    relation = Verdict(command.relation)
    if relation is not Verdict.SUPERSEDES and newer is not None:
        raise Rejected(
            "newer_not_allowed", "only the relation supersedes has a newer version", field="newer_version_id"
        )
    if relation is Verdict.SUPERSEDES and newer is None:
        raise Rejected("newer_missing", "the relation supersedes needs newer_version_id", field="newer_version_id")
    if newer not in {None, left, right}:
        raise Rejected("newer_not_in_pair", "newer_version_id is neither of the two versions", field="newer_version_id")
    return RelationDeclared(
        left,
        right,
        relation,
        newer,
        _at("decided_at", command.decided_at),
        Decider(command.decided_by),
        command.reason,
        command.llm_call_made,
        command.model,
    )


def _pair(left_text: str, right_text: str) -> tuple[bytes, bytes]:
    """The two ids, lower one first: a pair has no order."""
    left, right = _id("left_version_id", left_text), _id("right_version_id", right_text)
    if left == right:
        raise Rejected("pair_of_one", "a pair is of two different versions", field="right_version_id")
    return (left, right) if left < right else (right, left)


def _mode(mode: str | None) -> Mode | None:
    return None if mode is None else Mode(mode)


def _id(field: str, text: str) -> bytes:
    try:
        return id_bytes(text)
    except ValueError:
        raise Rejected("id_malformed", "not a UUID of 36 characters", field=field) from None


def _optional_id(field: str, text: str | None) -> bytes | None:
    return None if text is None else _id(field, text)


def _at(field: str, text: str) -> int:
    try:
        return _instant(text)
    except Rejected as error:
        raise error.at(field) from None


def _bound(field: str, text: str | None) -> int | None:
    return None if text is None else _at(field, text)
