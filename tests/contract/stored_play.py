"""Histories folded by the domain and laid into a projection's tables as the projector would."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

from psycopg import Connection

from chronofact.domain.events import FactAsserted
from chronofact.domain.interval import datetime_of
from chronofact.postgres.copy import copy_lines, timeline_line, version_line
from tests.property.play import Play

KINDS = {0: "unknown", 1: "value", 2: "conflict", 3: "values"}
REASONS = dict(
    enumerate(
        [
            "excluded",
            "ended",
            "superseded",
            "not_yet_valid",
            "revoked",
            "proposed_only",
            "never_recorded",
            "not_yet_known",
        ],
        start=1,
    )
)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def lay(connection: Connection[Any], played: Play, *, fact_no: int = 1) -> UUID:
    """One fact with its versions and paintings; returns its id."""
    fact_id, history = uuid4(), played.history
    connection.execute(
        "insert into p1.fact values (%s, %s, %s, %s, 'user', 'self', 'k', null, %s, now(), %s, %s, 0, 0, '')",
        (fact_no, fact_id, uuid4(), uuid4(), history.event_seq, len(played.canvas.ids), history.lane_mode),
    )
    timeline = [
        timeline_line(fact_no, p.painting[0], p.known_from, p.event_seq, *p.painting[1:])
        for p in played.canvas.paintings
    ]
    copy_lines(connection, "p1", "timeline", timeline)
    numbers = {version_id: number for number, version_id in played.canvas.ids.items()}
    versions = []
    for seq, event in enumerate(played.counted, start=1):
        said = event.what
        if isinstance(said, FactAsserted) and said.version_id in numbers:
            versions.append(
                version_line(
                    fact_no,
                    numbers.pop(said.version_id),
                    said.version_id,
                    said.value,
                    said.value_hash,
                    said.valid.start,
                    said.valid.end,
                    event.recorded_at,
                    seq,
                    said.source_id,
                    said.source_hash,
                    *(None, "ACTIVE", None, None, None),
                )
            )
    copy_lines(connection, "p1", "version", versions)
    return fact_id


def micros(moment: datetime | None) -> int | None:
    return None if moment is None else (moment - EPOCH) // timedelta(microseconds=1)


def moment(instant: int | None) -> datetime | None:
    return None if instant is None else datetime_of(instant)
