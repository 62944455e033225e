"""Relations of text memories: which verdict counts for a pair, and the groups of near duplicates (semantics §3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chronofact.domain.edges import Edge
from chronofact.domain.events import Decider, RelationDeclared, Verdict
from chronofact.domain.spans import NEG

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from chronofact.domain.standing import Version


class Relation:
    """All that was declared of one pair; ``counts`` is the declaration of the highest rank, then the latest."""

    def __init__(self, left: Version, right: Version) -> None:
        self.left, self.right = left, right
        self.counts: RelationDeclared | None = None
        self._weight: tuple[bool, int, bytes] = (False, 0, b"")
        self.edges: dict[bytes, Edge] = {}

    @property
    def event_id(self) -> bytes:
        """The event of the declaration that counts."""
        return self._weight[2]

    def take(self, event_id: bytes, said: RelationDeclared) -> None:
        """One more declaration."""
        weight = (said.decided_by is Decider.PERSON, said.decided_at, event_id)
        if self.counts is None or weight > self._weight:
            self.counts, self._weight = said, weight

    def says(self, verdict: Verdict) -> bool:
        """Whether that is the verdict that counts."""
        return self.counts is not None and self.counts.relation is verdict


class Relations:
    """The declared pairs of one fact."""

    def __init__(self) -> None:
        self.pairs: dict[tuple[bytes, bytes], Relation] = {}
        self.has_groups = False
        self._of: dict[Version, list[Relation]] = {}

    def declare(
        self, event_id: bytes, said: RelationDeclared, find: Callable[[bytes], Version], link: Callable[[Edge], None]
    ) -> set[Version]:
        """Takes a declaration in; the versions whose edges or groups it may have changed."""
        ids = (said.left_version_id, said.right_version_id)
        if ids[0] == ids[1] or (said.relation is Verdict.SUPERSEDES and said.newer_version_id not in ids):
            return set()
        key = (min(ids), max(ids))
        relation = self.pairs.get(key)
        if relation is None:
            relation = self.pairs[key] = Relation(find(key[0]), find(key[1]))
            for version in (relation.left, relation.right):
                self._of.setdefault(version, []).append(relation)
        relation.take(event_id, said)
        newer = relation.counts.newer_version_id if relation.counts and relation.says(Verdict.SUPERSEDES) else None
        if newer is not None and newer not in relation.edges:
            new, old = (relation.left, relation.right) if newer == key[0] else (relation.right, relation.left)
            relation.edges[newer] = edge = Edge(event_id, new, old, None, None, is_wish=False)
            link(edge)
        return self.settle(relation.left) | self.settle(relation.right)

    def settle(self, version: Version) -> set[Version]:
        """After a change of its standing or relations: its edges and its group; the versions that may be concerned."""
        if version not in self._of:
            return set()
        for relation in self._of[version]:
            said = relation.counts
            for newer, edge in relation.edges.items():
                edge.is_taken_back = (
                    not relation.says(Verdict.SUPERSEDES) or said is None or said.newer_version_id != newer
                )
                edge.effective_at = None if edge.src.valid_from_known or said is None else said.decided_at
        before = set(version.group or ())
        group = self._group(version)
        for left in before - group:
            rest = self._group(left)
            _name(rest)
        _name(group)
        self.has_groups |= len(group) > 1
        return before | group | {version}

    def contradictions(self) -> Iterator[tuple[bytes, bytes]]:
        """The pairs that contradict, while both are active."""
        for key, relation in self.pairs.items():
            if relation.says(Verdict.CONTRADICTS) and relation.left.active and relation.right.active:
                yield key

    def _group(self, version: Version) -> set[Version]:
        found = {version}
        waiting = [version]
        while waiting:
            at = waiting.pop()
            for relation in self._of.get(at, ()):
                if not relation.says(Verdict.NEAR_DUPLICATE):
                    continue
                other = relation.right if at is relation.left else relation.left
                if other not in found and at.ever_active and other.ever_active:
                    found.add(other)
                    waiting.append(other)
        return found


def _name(group: set[Version]) -> None:
    """Writes into each member whom it is grouped with, and the survivor that it is merged into."""
    active = [version for version in group if version.active]
    survivor = min(active, key=_seniority) if active else None
    members = tuple(group) if len(group) > 1 else None
    for version in group:
        version.group = members
        version.merged_into = survivor if members and survivor is not version else None


def _seniority(version: Version) -> tuple[bool, int, bytes]:
    """The earliest known start comes first, ties by the lowest id."""
    return (not version.valid_from_known, version.start if version.valid_from_known else NEG, version.id)
