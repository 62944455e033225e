"""All that two projections of one log must have alike, by fact and place; their own numbers aside."""

from __future__ import annotations

from typing import Any

import psycopg
from psycopg import sql

TABLES = {
    "fact": "event_seq, recorded_at, versions, lane_mode, painted, conflicts_open, state_hash, subject_label",
    "event": "event_seq, event_id, recorded_at, event_type, version_ids, payload_hash, kafka_partition, kafka_offset",
    "version": "version_no, version_id, value_hash, valid_from, valid_to, recorded_at, event_seq, source_id",
    "edge": "event_id, ordinal, event_seq, new_version_id, old_version_id, effective_at, mode",
    "ending": "event_id, event_seq, version_id, effective_at",
    "decision": "event_id, event_seq, left_version_id, right_version_id, keep, decided_at",
    "relation": "event_id, event_seq, left_version_id, right_version_id, relation, newer_version_id, decided_at, reason",
    "memory": "version_no, event_seq, text, extractor, frames, keys, embedder, embedding, search",
    "checked": "event_id, event_seq, version_id, pairs, decided, pending, reason, llm_call_made",
    "conflict": "left_version_id, right_version_id, relation",
    "timeline": "lane, known_from, event_seq, valid_from, valid_to, kind, reason, answer_key, versions, winner",
}
PARKED = """
    select partition, kafka_offset, fact_id, message_key, message, appended_at, code from chronofact.parked_event
    where projection = %s order by partition, kafka_offset
"""
DROPPED = """
    select partition, kafka_offset, message_key, drop_offset, dropped_by, reason, dropped_at
    from chronofact.dropped_event where projection = %s order by partition, kafka_offset
"""


def told(database: str, projection: str) -> dict[str, list[tuple[Any, ...]]]:
    """Every table's lines, sorted."""
    with psycopg.connect(database) as connection:
        found = {"parked": lines(connection, PARKED, projection), "dropped": lines(connection, DROPPED, projection)}
        for table, columns in TABLES.items():
            names = [sql.Identifier("t", name.strip()) for name in columns.split(",")]
            query = sql.SQL("select f.fact_id, {} from {} as f join {} as t using (fact_no)").format(
                sql.SQL(", ").join(names), sql.Identifier(projection, "fact"), sql.Identifier(projection, table)
            )
            found[table] = sorted(connection.execute(query).fetchall(), key=repr)
    return found


def lines(connection: psycopg.Connection[Any], query: str, projection: str) -> list[tuple[Any, ...]]:
    """Of one projection."""
    return connection.execute(query.encode(), (projection,)).fetchall()


def assert_alike(first: dict[str, list[tuple[Any, ...]]], second: dict[str, list[tuple[Any, ...]]]) -> None:
    """Table by table, so that a difference is named."""
    for table, expected in first.items():
        found = second[table]
        lacking, further = [[*map(repr, one)] for one in (expected, found)]
        lacking, further = sorted({*lacking} - {*further})[:3], sorted({*further} - {*lacking})[:3]
        assert found == expected, (table, lacking, further)
