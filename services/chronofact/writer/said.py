"""What a command says that asserts nothing: of versions that others made, and of pairs of them."""

from __future__ import annotations

from typing import Final, TypeAlias, assert_never

from chronofact.contracts.commands import (
    Activate,
    CheckRelations,
    DeclareRelation,
    End,
    ResolveConflict,
    Revoke,
    Supersede,
)
from chronofact.domain.errors import Rejected
from chronofact.domain.events import (
    ConflictResolved,
    Decider,
    FactActivated,
    FactEnded,
    FactRevoked,
    FactSuperseded,
    Happening,
    RelationDeclared,
    RelationsChecked,
    Verdict,
)
from chronofact.writer.fields import bound_at, id_of, instant_at, mode_of, optional_id_of

_PAIRS_MAX: Final = 1_000_000

Rest: TypeAlias = Activate | Supersede | End | Revoke | ResolveConflict | DeclareRelation | CheckRelations


def said_of(command: Rest) -> tuple[Happening, bytes | None]:
    """What the command says, and the version that its event is of, if it is of one.

    Raises:
        Rejected: a code of the closed list, with the field.
    """
    match command:
        case Activate():
            version_id = id_of("version_id", command.version_id)
            return FactActivated(version_id, command.reason), version_id
        case End():
            version_id = id_of("version_id", command.version_id)
            return FactEnded(version_id, instant_at("effective_at", command.effective_at), command.reason), version_id
        case Supersede():
            return _superseded(command)
        case Revoke():
            return _revoked(command)
        case ResolveConflict():
            return _resolved(command), None
        case DeclareRelation():
            return _declared(command), None
        case CheckRelations():
            return _checked(command)
        case _:
            assert_never(command)


def _superseded(command: Supersede) -> tuple[FactSuperseded, bytes]:
    new = id_of("new_version_id", command.new_version_id)
    old = id_of("old_version_id", command.old_version_id)
    if new == old:
        raise Rejected("supersedes_itself", "a version can't supersede itself", field="old_version_id")
    effective_at = bound_at("effective_at", command.effective_at)
    return FactSuperseded(new, old, effective_at, mode_of(command.mode), command.reason), new


def _revoked(command: Revoke) -> tuple[FactRevoked, bytes | None]:
    if (command.version_id is None) == (command.event_id is None):
        raise Rejected("revoke_names_one", "revoke names a version_id or an event_id, and one only", field="version_id")
    version_id = optional_id_of("version_id", command.version_id)
    event_id = optional_id_of("event_id", command.event_id)
    return FactRevoked(version_id, event_id, command.reason), version_id


def _resolved(command: ResolveConflict) -> ConflictResolved:
    left, right = _pair(command.left_version_id, command.right_version_id)
    keep = optional_id_of("keep", command.keep)
    if keep not in {None, left, right}:
        raise Rejected("keep_not_in_pair", "keep is neither of the two versions", field="keep")
    decided_at = instant_at("decided_at", command.decided_at)
    return ConflictResolved(left, right, keep, decided_at, command.decided_by, command.reason)


def _declared(command: DeclareRelation) -> RelationDeclared:
    left, right = _pair(command.left_version_id, command.right_version_id)
    newer = optional_id_of("newer_version_id", command.newer_version_id)
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
        instant_at("decided_at", command.decided_at),
        Decider(command.decided_by),
        command.reason,
        command.llm_call_made,
        command.model,
    )


def _checked(command: CheckRelations) -> tuple[RelationsChecked, bytes]:
    version_id = id_of("version_id", command.version_id)
    pairs, decided, pending = command.pairs, command.decided, command.pending
    if min(decided, pending) < 0 or not decided + pending <= pairs <= _PAIRS_MAX:
        raise Rejected("pairs_miscounted", "pairs are at least those decided and those pending", field="pairs")
    return RelationsChecked(version_id, pairs, decided, pending, command.reason, command.llm_call_made), version_id


def _pair(left_text: str, right_text: str) -> tuple[bytes, bytes]:
    """The two ids, lower one first: a pair has no order."""
    left, right = id_of("left_version_id", left_text), id_of("right_version_id", right_text)
    if left == right:
        raise Rejected("pair_of_one", "a pair is of two different versions", field="right_version_id")
    return (left, right) if left < right else (right, left)
