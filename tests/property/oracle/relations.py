"""How the relations of text memories count (semantics §3, last paragraphs)."""

from __future__ import annotations

from collections.abc import Container

from .says import OLog, ORelation
from .standing import Version


def counting_relations(log: OLog, versions: dict[bytes, Version]) -> dict[tuple[bytes, bytes], ORelation]:
    """Per pair the highest rank, then the latest ``(decided_at, event_id)``; both known and ever active."""
    counts: dict[tuple[bytes, bytes], ORelation] = {}
    for event in log:
        if not isinstance(event, ORelation) or not _is_valid(event):
            continue
        left, right = sorted((event.left, event.right))
        if not all(v in versions and versions[v].is_ever_active for v in (left, right)):
            continue
        if (left, right) not in counts or _weight(event) > _weight(counts[left, right]):
            counts[left, right] = event
    return counts


def relation_edges(log: OLog, versions: dict[bytes, Version]) -> list[tuple[bytes, bytes, int | None]]:
    """``supersedes``: newer, older, and from when (None asks for the newer's ``valid_from``)."""
    edges = []
    for (left, right), relation in counting_relations(log, versions).items():
        if relation.relation == "supersedes" and relation.newer is not None:
            older = right if relation.newer == left else left
            at = None if versions[relation.newer].valid_from_known else relation.decided_at
            edges.append((relation.newer, older, at))
    return edges


def groups_of(log: OLog, versions: dict[bytes, Version]) -> dict[bytes, frozenset[bytes]]:
    """``near_duplicate``: the group of each version, itself included."""
    groups = {version_id: frozenset({version_id}) for version_id in versions}
    for (left, right), relation in counting_relations(log, versions).items():
        if relation.relation == "near_duplicate":
            joined = groups[left] | groups[right]
            groups.update(dict.fromkeys(joined, joined))
    return groups


def survivor(group: frozenset[bytes], versions: dict[bytes, Version]) -> bytes | None:
    """The active member with the earliest known ``valid_from``, ties by the lowest id."""
    active = [versions[v] for v in group if versions[v].is_active]
    return min(active, key=_seniority).version_id if active else None


def merged_into(log: OLog, versions: dict[bytes, Version]) -> dict[bytes, bytes]:
    """For each version that is merged: its survivor."""
    merged = {}
    for version_id, group in groups_of(log, versions).items():
        stays = survivor(group, versions)
        if stays is not None and stays != version_id:
            merged[version_id] = stays
    return merged


def contradictions(log: OLog, versions: dict[bytes, Version]) -> set[tuple[bytes, bytes]]:
    """``contradicts``: the pairs with an OPEN edge, while both are active."""
    return {
        pair
        for pair, relation in counting_relations(log, versions).items()
        if relation.relation == "contradicts" and all(versions[v].is_active for v in pair)
    }


def pending_review(
    log: OLog, versions: dict[bytes, Version], decided: Container[tuple[bytes, bytes]] = ()
) -> set[bytes]:
    """Of each contradicting pair without a decision the lower confidence; none is lowest, ties: the higher id."""
    return {
        min(pair, key=lambda v: (_confidence(versions[v]), _descending(v)))
        for pair in contradictions(log, versions)
        if pair not in decided
    }


def _is_valid(event: ORelation) -> bool:
    if event.left == event.right:
        return False
    return event.relation != "supersedes" or event.newer in {event.left, event.right}


def _weight(event: ORelation) -> tuple[bool, int, bytes]:
    return (event.decided_by == "person", event.decided_at, event.event_id)


def _seniority(version: Version) -> tuple[int, int, bytes]:
    if not version.valid_from_known:
        return (2, 0, version.version_id)
    if version.valid_from is None:
        return (0, 0, version.version_id)
    return (1, version.valid_from, version.version_id)


def _confidence(version: Version) -> tuple[int, float]:
    return (0, 0.0) if version.confidence is None else (1, version.confidence)


def _descending(version_id: bytes) -> int:
    return -int.from_bytes(version_id)
