"""Relations of text memories: which verdict counts for a pair, and who is joined as near duplicates (semantics §3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from chronofact.domain.edges import Edge
from chronofact.domain.events import Decider, RelationDeclared, Verdict
from chronofact.domain.groups import Group, members_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from chronofact.domain.standing import Version


class Relation:
    """All that was declared of one pair; ``counts`` is the declaration of the highest rank, then the latest."""

    def __init__(self, left: Version, right: Version) -> None:
        self.left, self.right = left, right
        self.counts: RelationDeclared | None = None
        self._weight: tuple[bool, int, bytes] = (False, 0, b"")
        self.edges: dict[bytes, Edge] = {}
        self.is_joined = False
        """Whether it is one of those that join its group."""

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
        self.is_single = False
        """As the fact is now: in a single-valued one automatic edges may point at any member."""
        self.is_upward = False
        """Whether a group was ever joined that an edge may lead around."""
        self.is_knotting = False
        """Whether the last change may have closed or opened a circle of edges."""
        self.has_news = False
        """Whether contradictions came or went since somebody noted them."""
        self._renamed: set[Version] = set()
        """Versions whose label alone may have changed, until somebody takes them."""
        self._regrouped: dict[Group, None] = {}
        """Likewise groups with another survivor, whose members are listed once however often that changed."""
        self._of: dict[Version, list[Relation]] = {}
        self._contradicting: dict[tuple[bytes, bytes], None] = {}

    def declare(
        self, event_id: bytes, said: RelationDeclared, find: Callable[[bytes], Version], link: Callable[[Edge], None]
    ) -> set[Version]:
        """Takes a declaration in; the versions that may be covered or eligible otherwise now."""
        self.is_knotting = False
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
            edge.is_taken_back = True  # until it is looked at below
            link(edge)
        return self._bring_up(key, relation)

    def settle(self, version: Version) -> set[Version]:
        """After a change of its standing: the other versions that may be covered or eligible otherwise now."""
        self.is_knotting = False
        if version not in self._of:
            return set()
        changed: set[Version] = set()
        if (group := version.group) is not None:
            before = group.survivor
            group.renew(version)
            if group.survivor is not before:
                self._regrouped[group] = None
                changed |= {one for one in (before, group.survivor) if one is not None}
            if self.is_single or version.ins:
                changed.update(group.members)
        for relation in self._of[version]:
            changed |= self._bring_up(_key(relation), relation)
        return changed

    def take_renamed(self) -> set[Version]:
        """Versions whose label alone may have changed since the last call."""
        renamed, self._renamed = self._renamed, set()
        for group in self._regrouped:
            renamed.update(group.members)
        self._regrouped.clear()
        return renamed

    def contradictions(self) -> Iterator[tuple[bytes, bytes]]:
        """The pairs that contradict, while both are active."""
        return iter(self._contradicting)

    def _bring_up(self, key: tuple[bytes, bytes], relation: Relation) -> set[Version]:
        """Edges, group and contradiction of a pair, by the declaration that counts and by how both stand."""
        changed: set[Version] = set()
        for newer, edge in relation.edges.items():
            changed |= self._turn(edge, relation, newer)
        left, right = relation.left, relation.right
        is_joined = relation.says(Verdict.NEAR_DUPLICATE) and left.ever_active and right.ever_active
        if is_joined != relation.is_joined:
            relation.is_joined = is_joined
            changed |= self._join(left, right) if is_joined else self._part(left, right)
        is_open = relation.says(Verdict.CONTRADICTS) and left.active and right.active
        if is_open != (key in self._contradicting):
            self.has_news = True
            if is_open:
                self._contradicting[key] = None
            else:
                del self._contradicting[key]
        return changed

    def _turn(self, edge: Edge, relation: Relation, newer: bytes) -> set[Version]:
        """An edge as the declaration that counts has it; whom that bears on."""
        said = relation.counts
        is_taken_back = not relation.says(Verdict.SUPERSEDES) or said is None or said.newer_version_id != newer
        effective_at = None if edge.src.valid_from_known or said is None else said.decided_at
        if (is_taken_back, effective_at) == (edge.is_taken_back, edge.effective_at):
            return set()
        was_doubled = _is_doubled(edge)
        edge.is_taken_back, edge.effective_at = is_taken_back, effective_at
        self.is_knotting = True
        self._renamed |= {edge.src, edge.dst}
        if was_doubled and _is_doubled(edge) and not self.is_single:
            return set()
        return {edge.dst, *members_of(edge.dst)}

    def _join(self, left: Version, right: Version) -> set[Version]:
        one, other = left.group or Group(left), right.group or Group(right)
        if one is other:
            return set()
        if len(one.members) < len(other.members):
            one, other = other, one
        self.has_groups = True
        changed: set[Version] = set()
        if self.is_single or other.entered:
            changed.update(one.members)
        if self.is_single or one.entered:
            changed.update(other.members)
        is_passage = (one.entered and other.leaving) or (other.entered and one.leaving)
        self.is_knotting |= self.is_single or bool(is_passage)
        before, came = (one.survivor, other.survivor), list(other.members)
        bounds = (one.low, one.high)
        one.take(other)
        # to the one that survives nothing has happened
        changed |= {survivor for survivor in before if survivor is not None and survivor is not one.survivor}
        self._renamed.update(came)
        if one.survivor is not before[0]:
            self._regrouped[one] = None
        if (one.entered or one.leaving) and not self.is_upward:
            self.is_upward = (bounds != (one.low, one.high) or any(v.ins or v.outs for v in came)) and one.is_upward()
        return changed

    def _part(self, left: Version, right: Version) -> set[Version]:
        """The pair joins no more: whoever is not joined by others goes apart."""
        group = left.group
        if group is None or group is not right.group:
            return set()
        first = self._joined_with(left)
        if right in first:
            return set()
        everyone = set(group.members)
        self.is_knotting = True
        for part in (first, self._joined_with(right)):
            _regroup(part)
        self._renamed |= everyone
        return everyone

    def _joined_with(self, version: Version) -> dict[Version, None]:
        found: dict[Version, None] = {version: None}
        waiting = [version]
        while waiting:
            at = waiting.pop()
            for relation in self._of.get(at, ()):
                if relation.is_joined:
                    other = relation.right if at is relation.left else relation.left
                    if other not in found:
                        found[other] = None
                        waiting.append(other)
        return found


def _regroup(members: Iterable[Version]) -> None:
    found = list(members)
    for version in found:
        version.group = None
    if len(found) > 1:
        group = Group(found[0])
        for version in found[1:]:
            group.take(Group(version))


def _key(relation: Relation) -> tuple[bytes, bytes]:
    return (relation.left.id, relation.right.id)


def _is_doubled(edge: Edge) -> bool:
    """Whether it adds nothing to the other edges from its source to the same group: it does not count, or one is like it."""
    if not edge.counts:
        return True
    effect, group = edge.effect(), edge.dst.group
    for other in edge.dst.ins if group is None else edge.src.outs:
        is_beside = other.dst is edge.dst or (group is not None and other.dst.group is group)
        if other is not edge and is_beside and other.src is edge.src and other.counts and other.effect() == effect:
            return True
    return False
