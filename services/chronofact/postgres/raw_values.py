"""Facts and their heads as COPY takes them: no datetime or UUID object is ever built."""

from __future__ import annotations

from struct import Struct
from typing import Final

from chronofact.contracts.projection import FactLine

_POSTGRES_EPOCH: Final = 946_684_800_000_000

_fact_start = Struct("!hiqi16si16si16s").pack
_head_middle = Struct("!iqiqiiihiiiqi32s").pack
_head_start = Struct("!hiqiqiqiiihiiiqi32s").pack
_text_size = Struct("!i").pack
_NULL: Final = b"\xff\xff\xff\xff"


def _text(text: str | None) -> bytes:
    if text is None:
        return _NULL
    data = text.encode()
    return _text_size(len(data)) + data


def fact_line(line: FactLine) -> bytes:
    fact_no, fact_id, tenant_id, subject_id, scope_kind, scope_key, fact_key, head = line
    return b"".join(
        (
            _fact_start(15, 8, fact_no, 16, fact_id, 16, tenant_id, 16, subject_id),
            _text(scope_kind),
            _text(scope_key),
            _text(fact_key),
            _text(head.subject_label),
            _head_middle(
                8,
                head.event_seq,
                8,
                head.recorded_at - _POSTGRES_EPOCH,
                4,
                head.versions,
                2,
                head.lane_mode,
                4,
                head.painted,
                8,
                head.conflicts_open,
                32,
                head.state_hash,
            ),
        )
    )


def head_line(
    fact_no: int,
    event_seq: int,
    recorded_at: int,
    versions: int,
    lane_mode: int,
    painted: int,
    conflicts_open: int,
    state_hash: bytes,
    subject_label: str | None,
) -> bytes:
    return _head_start(
        9,
        8,
        fact_no,
        8,
        event_seq,
        8,
        recorded_at - _POSTGRES_EPOCH,
        4,
        versions,
        2,
        lane_mode,
        4,
        painted,
        8,
        conflicts_open,
        32,
        state_hash,
    ) + _text(subject_label)
