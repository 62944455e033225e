"""An operator's call: to give up a parked message."""

from __future__ import annotations

from typing import Any

import orjson

from chronofact.client.exchange import Ask, Steps, exchange


def drop(
    writer: str,
    *,
    topic_id: str,
    partition: int,
    offset: int,
    key: bytes,
    reason: str,
    dropped_by: str,
    patience_s: float,
) -> Steps[dict[str, Any]]:
    """Sends one EventDropped, for a client to ``carry_out``; it counts once a projector has read it."""
    body = {
        "topic_id": topic_id,
        "partition": partition,
        "offset": offset,
        "key": key.hex(),
        "reason": reason,
        "dropped_by": dropped_by,
    }
    told: dict[str, Any] = yield from exchange(
        Ask("POST", f"{writer.rstrip('/')}/v1/drops", content=orjson.dumps(body)), patience_s=patience_s
    )
    return told
