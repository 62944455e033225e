"""The golden messages of schemas/examples; run as a module it writes those of a schema version that has none yet."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from chronofact.contracts.codec import VERSIONS, FactEvent, encode_event
from chronofact.contracts.payload import id_text, payload_of
from chronofact.domain.canonical import canonical, digest
from chronofact.domain.events import (
    Cardinality,
    ConflictResolved,
    Decider,
    EventDropped,
    FactActivated,
    FactAsserted,
    FactEnded,
    FactRevoked,
    FactSuperseded,
    Happening,
    Lifecycle,
    Mode,
    RelationDeclared,
    RelationsChecked,
    Succession,
    Supersession,
    Verdict,
)
from chronofact.domain.identity import FactIdentity, event_id_of, fact_id_of, subject_id_of, tenant_id_of
from chronofact.domain.interval import Interval, parse_instant
from chronofact.runtime.resources import schema_path

FOLDER = schema_path("examples")
TENANT = tenant_id_of("example")
IDENTITY = FactIdentity(TENANT, subject_id_of(TENANT, "Zoë"), "repo", "acme/web", "package_manager")
FACT = fact_id_of(IDENTITY)
LEFT, RIGHT = sorted(uuid5(NAMESPACE_URL, f"example:version:{name}").bytes for name in ("left", "right"))
OTHER_EVENT = uuid5(NAMESPACE_URL, "example:event").bytes
JULY = parse_instant("2026-07-01T00:00:00Z")
AUGUST = parse_instant("2026-08-01T12:30:00.000001+02:00")
VALUE = canonical({"name": "pnpm", "since": [1, 1.5, None, True], "é": "\u2028"})

HAPPENINGS: tuple[Happening, ...] = (
    FactAsserted(
        LEFT,
        VALUE,
        digest(VALUE),
        Interval(JULY, None),
        'ticket "12"',
        digest(b"evidence"),
        Lifecycle.PROPOSED,
        Cardinality.ONE,
        Succession.AUTOMATIC,
        0.75,
        (Supersession(RIGHT, AUGUST, Mode.OVERRIDE), Supersession(RIGHT)),
    ),
    FactActivated(LEFT, "reviewed"),
    FactSuperseded(LEFT, RIGHT, JULY, Mode.REPLACE, None),
    FactEnded(LEFT, AUGUST, "moved on"),
    FactRevoked(event_id=OTHER_EVENT, reason="entered by mistake"),
    ConflictResolved(LEFT, RIGHT, None, AUGUST, "ada", "both are wrong"),
    RelationDeclared(LEFT, RIGHT, Verdict.SUPERSEDES, RIGHT, AUGUST, Decider.MODEL, "newer", True, "some-model"),
    RelationsChecked(LEFT, 3, 2, 1, "no model reachable", False),
    EventDropped("9dff15ce-cd38-4d20-847d-6f7479a79232", 3, 4_711, "ada", "written by a broken producer"),
)


def event_of(what: Happening) -> FactEvent:
    kind, payload = type(what).__name__, payload_of(what)
    asserted = what if isinstance(what, FactAsserted) else None
    return FactEvent(
        event_id_of(FACT, kind, payload),
        kind,
        IDENTITY.canonical(),
        "Zoë" if asserted else None,
        payload,
        b"\x00derived" if asserted else None,
        LEFT if asserted else None,
        asserted.value_hash if asserted else None,
        asserted.source_hash if asserted else None,
        AUGUST if asserted else None,
        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01" if asserted else None,
    )


def told(event: FactEvent) -> dict[str, Any]:
    """The message as a reader of the repository sees it."""
    return {
        "message_key": id_text(FACT),
        "event_id": id_text(event.event_id),
        "kind": event.kind,
        "identity": json.loads(event.identity),
        "subject_label": event.subject_label,
        "payload": event.payload.decode(),
        "derived": None if event.derived is None else event.derived.hex(),
        "version_id": None if event.version_id is None else id_text(event.version_id),
        "value_hash": None if event.value_hash is None else event.value_hash.hex(),
        "source_hash": None if event.source_hash is None else event.source_hash.hex(),
        "import_time": event.import_time,
        "trace": event.trace,
    }


def path_of(what: Happening, suffix: str, schema: str = VERSIONS[-1]) -> Path:
    return FOLDER / f"{schema.removesuffix('.avsc')}.{type(what).__name__}.{suffix}"


if __name__ == "__main__":
    for happening in HAPPENINGS:
        message = event_of(happening)
        if not path_of(happening, "bin").exists():
            path_of(happening, "bin").write_bytes(encode_event(message))
            shown = json.dumps(told(message), indent=1, ensure_ascii=False)
            path_of(happening, "json").write_text(shown + "\n", encoding="utf-8")
