"""librdkafka options that every client of ours shares."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def client_options(bootstrap: str, name: str, further: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Connection options; ``further`` are the operator's (security, SASL) and may not change what we rely on."""
    return {
        **(further or {}),
        "bootstrap.servers": bootstrap,
        "client.id": f"chronofact-{name}",
        "socket.keepalive.enable": True,
        "reconnect.backoff.ms": 50,
        # a broker that is back is found within a second, however long it was away
        "reconnect.backoff.max.ms": 1_000,
        "topic.metadata.refresh.interval.ms": 10_000,
        # connection losses reach us as errors, with a name; on stderr they would be noise
        "log_level": 2,
        "log.connection.close": False,
    }
