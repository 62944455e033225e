"""The scenarios of tests/data/semantics.json as the oracle's events and answers."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

from tests.property.oracle import (
    OActivate,
    OAssert,
    OEnd,
    OEvent,
    OResolve,
    ORevoke,
    OSupersede,
    OSupersedes,
)

DATA = Path(__file__).parent.parent / "data" / "semantics.json"
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

Case = dict[str, Any]


def cases() -> list[Case]:
    loaded: list[Case] = json.loads(DATA.read_text())["cases"]
    return loaded


def events_of(case: Case) -> list[OEvent]:
    return [READ[said["type"]](said, event_id_of(said), instant(said["recorded_at"])) for said in case["events"]]


def event_id_of(said: Case) -> bytes:
    content = {name: value for name, value in said.items() if name != "recorded_at"}
    return sha256(json.dumps(content, sort_keys=True).encode()).digest()[:16]


def version_id(label: str) -> bytes:
    """Sixteen bytes that sort as the labels do."""
    return label.encode().ljust(16, b"\x00")


def label(version: bytes) -> str:
    return version.rstrip(b"\x00").decode()


def bound(text: str | None) -> int | None:
    return None if text is None else instant(text)


def instant(text: str) -> int:
    return (datetime.fromisoformat(text) - EPOCH) // timedelta(microseconds=1)


def value_text(value: Any) -> str:
    """Equal for equal JSON values: 2 and 2.0 are one."""
    return json.dumps(_plain(value), sort_keys=True)


def _plain(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    return value


def _assert(said: Case, event_id: bytes, recorded_at: int) -> OEvent:
    return OAssert(
        event_id,
        recorded_at,
        version_id(said["version"]),
        value_text(said["value"]),
        bound(said["valid_from"]),
        bound(said["valid_to"]),
        lifecycle=said.get("lifecycle", "ACTIVE"),
        cardinality=said.get("cardinality", "one"),
        succession=said.get("succession", "explicit"),
        supersedes=tuple(
            OSupersedes(version_id(s["version"]), bound(s.get("effective_at")), s.get("mode"))
            for s in said.get("supersedes", ())
        ),
    )


def _supersede(said: Case, event_id: bytes, recorded_at: int) -> OEvent:
    effective_at = bound(said["effective_at"])
    return OSupersede(
        event_id, recorded_at, version_id(said["new"]), version_id(said["old"]), effective_at, said["mode"]
    )


def _decide(said: Case, event_id: bytes, recorded_at: int) -> OEvent:
    keep = None if said["keep"] is None else version_id(said["keep"])
    left, right = version_id(said["left"]), version_id(said["right"])
    return OResolve(event_id, recorded_at, left, right, keep, instant(said["decided_at"]))


READ: dict[str, Callable[[Case, bytes, int], OEvent]] = {
    "assert": _assert,
    "activate": lambda said, event_id, at: OActivate(event_id, at, version_id(said["version"])),
    "supersede": _supersede,
    "end": lambda said, event_id, at: OEnd(event_id, at, version_id(said["version"]), instant(said["effective_at"])),
    "revoke": lambda said, event_id, at: ORevoke(event_id, at, version=version_id(said["version"])),
    "resolve_conflict": _decide,
}
