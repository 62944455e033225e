"""All that a projection holds, by fact and free of what may differ between two runs (fact numbers, batches)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from chronofact.contracts.projection import HELD, Head
from tests.contract.memory_store import MemoryStore

Line: TypeAlias = "tuple[Any, ...]"
SAYINGS = ("edges", "endings", "decisions", "relations", "checks")
LABEL_FIELDS = ("lifecycle", "supersedes_id", "superseded_by_id", "merged_into_id", "confidence")


@dataclass
class FactPicture:
    """One fact."""

    head: Line = ()
    label: str | None = None
    events: list[Line] = field(default_factory=list)
    versions: dict[int, Line] = field(default_factory=dict)
    labels: dict[int, Line] = field(default_factory=dict)
    sayings: dict[str, list[Line]] = field(default_factory=dict)
    timeline: list[Line] = field(default_factory=list)
    conflicts: set[tuple[bytes, bytes, str]] = field(default_factory=set)


@dataclass
class Picture:
    """A whole projection."""

    facts: dict[bytes, FactPicture]
    parked: dict[tuple[int, int], Line]
    dropped: set[tuple[int, int]]
    released: list[tuple[int, int]]
    checkpoints: dict[int, int]


def picture_of(store: MemoryStore) -> Picture:
    """What a twin holds."""
    tables = store.tables
    lines = {name: _by_fact(found.values()) for name, found in tables.lines.items()}
    conflicts = _by_fact(tables.conflicts.values())
    facts = {
        fact_id: _fact(head, tables.labels.get(head.fact_no), lines, conflicts[head.fact_no])
        for fact_id, head in tables.facts.items()
    }
    return Picture(
        facts,
        {(partition, offset): _parked(line) for (_, partition, offset), line in tables.parked.items()},
        {(partition, offset) for _, partition, offset in tables.dropped},
        [(partition, offset) for _, (_, partition, offset) in sorted(tables.released.items())],
        {partition: next_offset for (_, partition), (next_offset, _) in tables.checkpoints.items()},
    )


def differences(found: Picture, wanted: Picture) -> list[str]:
    """Where two projections of one log differ; how the released ones came to be released is their own matter."""
    told = _between("parked", found.parked, wanted.parked)
    told += _between("checkpoint", found.checkpoints, wanted.checkpoints)
    told += [f"{place} is dropped in one only" for place in found.dropped ^ wanted.dropped]
    for fact_id in found.facts.keys() | wanted.facts.keys():
        a, b = found.facts.get(fact_id), wanted.facts.get(fact_id)
        if a is None or b is None:
            told.append(f"fact {fact_id.hex()} is in one only")
        elif a != b:
            told += [
                f"fact {fact_id.hex()}: {name} {getattr(a, name)} instead of {getattr(b, name)}"
                for name in FactPicture.__dataclass_fields__
                if getattr(a, name) != getattr(b, name)
            ]
    return told


def held_behind_nothing(picture: Picture) -> list[str]:
    """Facts of which the first parked message waits for an earlier one."""
    first: dict[bytes, Line] = {}
    for place, line in sorted(picture.parked.items()):
        if line[1] is not None:
            first.setdefault(line[1], (place, line[0]))
    return [f"{place} is held behind nothing" for place, code in first.values() if code == HELD]


def in_order(lines: Iterable[Line]) -> list[Line]:
    """By what they look like, since their parts may be None."""
    return sorted(lines, key=lambda line: [str(part) for part in line])


def _between(name: str, found: Mapping[Any, Any], wanted: Mapping[Any, Any]) -> list[str]:
    return [
        f"{name} {key}: {found.get(key)} instead of {wanted.get(key)}"
        for key in sorted(found.keys() | wanted.keys())
        if found.get(key) != wanted.get(key)
    ]


def _by_fact(lines: Iterable[Any]) -> Mapping[int, list[Any]]:
    found = defaultdict(list)
    for line in lines:
        found[line.fact_no].append(line)
    return found


def _fact(
    head: Head, label: str | None, lines: Mapping[str, Mapping[int, list[Any]]], conflicts: list[Any]
) -> FactPicture:
    mine = {name: in_order(line[1:] for line in found.get(head.fact_no, ())) for name, found in lines.items()}
    versions = {line.version_no: line for line in lines["versions"].get(head.fact_no, ())}
    changes = sorted(lines["labels"].get(head.fact_no, ()), key=lambda line: line.event_seq)
    labels = {number: _label(line) for number, line in versions.items()}
    labels |= {line.version_no: _label(line) for line in changes}
    return FactPicture(
        head[1:-1],
        label,
        [line[1:] for line in sorted(lines["events"].get(head.fact_no, ()))],
        {number: line[2:11] for number, line in versions.items()},
        labels,
        {name: mine[name] for name in SAYINGS},
        mine["timeline"],
        {(line.left_version_id, line.right_version_id, line.relation) for line in conflicts},
    )


def _label(line: Any) -> Line:
    return tuple(getattr(line, name) for name in LABEL_FIELDS)


def _parked(line: Any) -> Line:
    return (line.code, line.fact_id, line.appended_at, line.key, line.value)
