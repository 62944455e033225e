"""Text memories of one fact as semantics.md §3 has them, read once more and by brute force: sets of events to standings at an instant."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final, TypeAlias

from chronofact.domain.events import (
    ConflictResolved,
    Decider,
    Event,
    FactActivated,
    FactAsserted,
    FactEnded,
    FactRevoked,
    FactSuperseded,
    Lifecycle,
    Mode,
    RelationDeclared,
    Supersession,
    Verdict,
)

NEVER: Final = 10**18
ALWAYS: Final = -NEVER
Pair: TypeAlias = tuple[bytes, bytes]


@dataclass
class Memory:
    """A version, and how it stands."""

    start: int
    valid_to: int
    is_known: bool
    said: list[FactAsserted] = field(default_factory=list)
    is_ever_active: bool = False
    is_active: bool = False
    is_revoked: bool = False
    end: int = NEVER


class Page:
    """All that a set of events of a many-valued fact says."""

    def __init__(self, events: Iterable[Event]) -> None:
        self.events = {event.event_id: event for event in events}
        self.memories: dict[bytes, Memory] = {}
        revoked = [one.what for one in self.events.values() if isinstance(one.what, FactRevoked)]
        self._versions({one.version_id for one in revoked}, {one.event_id for one in revoked})
        self.ever = {id_ for id_, one in self.memories.items() if one.is_ever_active}
        self.verdicts = self._verdicts()
        self.groups = self._groups()
        self.merged = {one: survivor for group in self.groups.values() for one, survivor in self._merged(group)}
        self.edges = self._edges({one.event_id for one in revoked})
        self.decisions = self._decisions({one.event_id for one in revoked})

    def _versions(self, revoked: set[bytes | None], taken_back: set[bytes | None]) -> None:
        for event in self.events.values():
            if isinstance(said := event.what, FactAsserted):
                start = ALWAYS if said.valid.start is None else said.valid.start
                end = NEVER if said.valid.end is None else said.valid.end
                self.memories.setdefault(said.version_id, Memory(start, end, said.valid_from_known)).said.append(said)
        admitted = {one.what.version_id for one in self.events.values() if isinstance(one.what, FactActivated)}
        for version_id, memory in self.memories.items():
            told = [one for one in memory.said if one.lifecycle is Lifecycle.ACTIVE]
            memory.is_ever_active = bool(told) or version_id in admitted
            memory.said = memory.said if version_id in admitted else told
            memory.is_revoked = version_id in revoked
            memory.is_active = memory.is_ever_active and not memory.is_revoked
            ends = [
                one.what.effective_at
                for one in self.events.values()
                if isinstance(one.what, FactEnded) and one.what.version_id == version_id
                if one.event_id not in taken_back
            ]
            memory.end = min([memory.valid_to, *ends])

    def _verdicts(self) -> dict[Pair, RelationDeclared]:
        """Per pair the highest rank, then the latest."""
        best: dict[Pair, tuple[bool, int, bytes]] = {}
        for event in self.events.values():
            if isinstance(said := event.what, RelationDeclared):
                pair = (said.left_version_id, said.right_version_id)
                is_sound = said.relation is not Verdict.SUPERSEDES or said.newer_version_id in pair
                rank = (said.decided_by is Decider.PERSON, said.decided_at, event.event_id)
                if (
                    is_sound
                    and pair[0] != pair[1]
                    and self.ever.issuperset(pair)
                    and rank > best.get(pair, (False, ALWAYS, b""))
                ):
                    best[pair] = rank
        found = {pair: self.events[rank[2]].what for pair, rank in best.items()}
        return {pair: said for pair, said in found.items() if isinstance(said, RelationDeclared)}

    def _groups(self) -> dict[bytes, frozenset[bytes]]:
        groups = {one: frozenset({one}) for one in self.ever}
        for (left, right), said in self.verdicts.items():
            if said.relation is Verdict.NEAR_DUPLICATE:
                joined = groups[left] | groups[right]
                groups.update(dict.fromkeys(joined, joined))
        return groups

    def _merged(self, group: frozenset[bytes]) -> list[tuple[bytes, bytes]]:
        active = [one for one in group if self.memories[one].is_active]
        if not active:
            return []
        known = [one for one in active if self.memories[one].is_known] or active
        is_known = self.memories[known[0]].is_known
        survivor = min(known, key=lambda one: (self.memories[one].start if is_known else 0, one))
        return [(one, survivor) for one in group if one != survivor]

    def _edges(self, taken_back: set[bytes | None]) -> list[tuple[bytes, bytes, int, int]]:
        """New, old, and from when until when it has effect; what points at one of a group points at all."""
        stated = [one for one in self.events.values() if one.event_id not in taken_back]
        said = [
            (what.new_version_id, Supersession(what.old_version_id, what.effective_at, what.mode))
            for what in (one.what for one in stated)
            if isinstance(what, FactSuperseded)
        ]
        for version_id, memory in self.memories.items():
            said += [(version_id, one) for told in memory.said for one in told.supersedes]
        for (left, right), verdict in self.verdicts.items():
            if verdict.relation is Verdict.SUPERSEDES and (new := verdict.newer_version_id) is not None:
                at = None if self.memories[new].is_known else verdict.decided_at
                said.append((new, Supersession(left if new == right else right, at)))
        return [
            (new, member, *self._effect(self.memories[new], one))
            for new, one in said
            if new != one.version_id and self.ever.issuperset((new, one.version_id))
            for member in self.groups[one.version_id] - {new}
        ]

    @staticmethod
    def _effect(new: Memory, said: Supersession) -> tuple[int, int]:
        start = new.start if said.effective_at is None else said.effective_at
        mode = said.mode or (Mode.REPLACE if new.valid_to == NEVER else Mode.OVERRIDE)
        return (start, NEVER) if mode is Mode.REPLACE else (max(start, new.start), new.end)

    def _decisions(self, taken_back: set[bytes | None]) -> dict[Pair, bytes | None]:
        best: dict[Pair, tuple[int, bytes, bytes | None]] = {}
        for event in self.events.values():
            if isinstance(said := event.what, ConflictResolved) and event.event_id not in taken_back:
                pair = (said.left_version_id, said.right_version_id)
                if pair[0] == pair[1] or said.keep not in {None, *pair} or not self.ever.issuperset(pair):
                    continue
                if pair not in best or (said.decided_at, event.event_id) > best[pair][:2]:
                    best[pair] = (said.decided_at, event.event_id, said.keep)
        return {pair: keep for pair, (_, _, keep) in best.items()}

    def is_excluded(self, version_id: bytes, at: int) -> bool:
        """Whether a decision that counts excludes it then."""
        for pair, keep in self.decisions.items():
            both = [self.memories[one] for one in pair]
            if version_id in pair and all(one.start <= at < one.valid_to for one in both):
                if keep is None and all(one.is_active for one in both):
                    return True
                if keep is not None and keep != version_id and self.memories[keep].is_active:
                    return True
        return False

    def covers(self, at: int) -> dict[bytes, set[bytes]]:
        """Who covers whom at an instant: old to new."""
        steps: dict[bytes, set[bytes]] = {}
        for new, old, start, end in self.edges:
            if start <= at < end:
                steps.setdefault(new, set()).add(old)
        covers: dict[bytes, set[bytes]] = {}
        for new, memory in self.memories.items():
            if memory.is_active and memory.start < memory.end and not self.is_excluded(new, at):
                covers[new] = {old for old in _reached(steps, new) - {new} if not self._is_kept(old, new)}
        there = {new: _reached(covers, new) for new in covers}
        found: dict[bytes, set[bytes]] = {}
        for new, olds in covers.items():
            for old in olds:
                if new not in there.get(old, ()):
                    found.setdefault(old, set()).add(new)
        return found

    def _is_kept(self, old: bytes, new: bytes) -> bool:
        return self.decisions.get((min(old, new), max(old, new))) == old and self.memories[old].is_active

    def standing(self, version_id: bytes, at: int, covers: dict[bytes, set[bytes]]) -> str:
        """In the words of an explanation."""
        memory = self.memories[version_id]
        if memory.is_revoked or not memory.is_active:
            return "revoked" if memory.is_revoked else "proposed"
        if memory.start >= memory.end:
            return "never_holds"
        if not memory.start <= at < memory.end:
            return "later" if at < memory.start else "ended"
        if self.is_excluded(version_id, at):
            return "excluded"
        if covers.get(version_id):
            return "superseded"
        return "merged" if version_id in self.merged else "eligible"

    def instants(self) -> list[int]:
        """One in each stretch between two bounds, and one before all."""
        bounds = {bound for one in self.memories.values() for bound in (one.start, one.valid_to, one.end)}
        bounds.update(bound for edge in self.edges for bound in edge[2:])
        inner = sorted(bounds - {ALWAYS, NEVER})
        return [(inner or [0])[0] - 1, *inner, *((one + other) // 2 for one, other in pairwise(inner))]

    def lifecycle(self, version_id: bytes) -> tuple[Lifecycle, set[bytes]]:
        """The label, and who may be told to supersede it."""
        memory = self.memories[version_id]
        if memory.is_revoked or not memory.is_active:
            return (Lifecycle.REVOKED if memory.is_revoked else Lifecycle.PROPOSED), set()
        inside = [at for at in self.instants() if memory.start <= at < memory.end]
        by = self.covers(max(inside)).get(version_id) if inside else None
        return (Lifecycle.SUPERSEDED, by) if by else (Lifecycle.ACTIVE, set())

    def conflicts(self) -> dict[Pair, str]:
        """The edges: contradictions of active memories, and decisions."""
        found = {
            pair: "OPEN"
            for pair, said in self.verdicts.items()
            if said.relation is Verdict.CONTRADICTS and all(self.memories[one].is_active for one in pair)
        }
        return found | dict.fromkeys(self.decisions, "RESOLVED")


def _reached(steps: dict[bytes, set[bytes]], start: bytes) -> set[bytes]:
    found: set[bytes] = set()
    waiting = list(steps.get(start, ()))
    while waiting:
        if (at := waiting.pop()) not in found:
            found.add(at)
            waiting += steps.get(at, ())
    return found
