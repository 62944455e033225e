"""Lines spelled as COPY takes them where they are made: those of the tables that nearly every event adds to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain, starmap
from typing import Final

from chronofact.contracts.projection import Lines
from chronofact.postgres import copy
from chronofact.postgres.copy import event_line, timeline_line, version_label_line, version_line
from chronofact.postgres.memory_lines import checked_line, memory_line
from chronofact.postgres.raw_values import fact_line

TABLES: Final = (
    ("event", "events", event_line),
    ("version", "versions", version_line),
    ("version_label", "labels", version_label_line),
    ("edge", "edges", copy.edge_line),
    ("ending", "endings", copy.ending_line),
    ("decision", "decisions", copy.decision_line),
    ("relation", "relations", copy.relation_line),
    ("memory", "memories", memory_line),
    ("checked", "checks", checked_line),
    ("timeline", "timeline", timeline_line),
)
"""Append-only tables, each with its list in ``Lines`` and its encoder."""


@dataclass(slots=True)
class PackedLines(Lines):
    """``Lines`` that keeps events, versions, labels and timeline as bytes, and no object of them."""

    packed_events: list[bytes] = field(default_factory=list)
    packed_versions: list[bytes] = field(default_factory=list)
    packed_labels: list[bytes] = field(default_factory=list)
    packed_timeline: list[bytes] = field(default_factory=list)

    @property
    def timeline_count(self) -> int:
        """Lines of the timeline so far."""
        return len(self.packed_timeline) + len(self.timeline)

    def packed(self) -> dict[str, list[bytes]]:
        """What is spelled, by table."""
        return {
            "event": self.packed_events,
            "version": self.packed_versions,
            "version_label": self.packed_labels,
            "timeline": self.packed_timeline,
        }

    def add_event(
        self,
        fact_no: int,
        event_seq: int,
        event_id: bytes,
        recorded_at: int,
        event_type: str,
        version_ids: tuple[bytes, ...],
        payload: bytes,
        payload_hash: bytes,
        kafka_partition: int,
        kafka_offset: int,
    ) -> None:
        """A line of ``event``."""
        self.packed_events.append(
            event_line(
                fact_no,
                event_seq,
                event_id,
                recorded_at,
                event_type,
                version_ids,
                payload,
                payload_hash,
                kafka_partition,
                kafka_offset,
            )
        )

    def add_version(
        self,
        fact_no: int,
        version_no: int,
        version_id: bytes,
        value: bytes,
        value_hash: bytes,
        valid_from: int | None,
        valid_to: int | None,
        recorded_at: int,
        event_seq: int,
        source_id: str,
        source_hash: bytes,
        confidence: float | None,
        lifecycle: str,
        supersedes_id: bytes | None,
        superseded_by_id: bytes | None,
        merged_into_id: bytes | None,
    ) -> None:
        """A line of ``version``."""
        self.packed_versions.append(
            version_line(
                fact_no,
                version_no,
                version_id,
                value,
                value_hash,
                valid_from,
                valid_to,
                recorded_at,
                event_seq,
                source_id,
                source_hash,
                confidence,
                lifecycle,
                supersedes_id,
                superseded_by_id,
                merged_into_id,
            )
        )

    def add_label(
        self,
        fact_no: int,
        version_no: int,
        event_seq: int,
        lifecycle: str,
        supersedes_id: bytes | None,
        superseded_by_id: bytes | None,
        merged_into_id: bytes | None,
        confidence: float | None,
    ) -> None:
        """A line of ``version_label``."""
        self.packed_labels.append(
            version_label_line(
                fact_no,
                version_no,
                event_seq,
                lifecycle,
                supersedes_id,
                superseded_by_id,
                merged_into_id,
                confidence,
            )
        )

    def add_stretch(
        self,
        fact_no: int,
        lane: int,
        known_from: int,
        event_seq: int,
        valid_from: int | None,
        valid_to: int | None,
        kind: int,
        reason: int | None,
        answer_key: bytes | None,
        versions: tuple[int, ...] | None,
        winner: int | None,
    ) -> None:
        """A line of ``timeline``."""
        self.packed_timeline.append(
            timeline_line(
                fact_no,
                lane,
                known_from,
                event_seq,
                valid_from,
                valid_to,
                kind,
                reason,
                answer_key,
                versions,
                winner,
            )
        )


def encoded(lines: Lines) -> Iterator[tuple[str, Iterable[bytes]]]:
    """The lines of each table that has some, but for heads and conflicts, facts first."""
    if lines.facts:
        yield "fact", map(fact_line, lines.facts)
    packed = lines.packed() if isinstance(lines, PackedLines) else {}
    for table, name, encode in TABLES:
        found, spelled = getattr(lines, name), packed.get(table, [])
        if found or spelled:
            yield table, chain(spelled, starmap(encode, found))
