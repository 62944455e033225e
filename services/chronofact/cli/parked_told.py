"""Parked messages for a person to read, and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import orjson
from rich import box
from rich.table import Table

from chronofact.cli.counted import counted
from chronofact.cli.render import when
from chronofact.contracts.codec import decode_event
from chronofact.contracts.error_codes import CODES, remedy_of
from chronofact.domain.errors import Rejected

if TYPE_CHECKING:
    from chronofact.postgres.parking_store import Dropped, Parked

SHOWN_BYTES: Final = 64


def remedy(code: str) -> str:
    """What helps against a code."""
    return remedy_of(code) or "report it: this code is not known to park messages"


def place(one: Parked | Dropped) -> str:
    """``partition:offset``, as the commands take it."""
    return f"{one.partition}:{one.kafka_offset}"


def parked_json(one: Parked) -> dict[str, Any]:
    """A line of ``parked list --json``."""
    return {
        "partition": one.partition,
        "offset": one.kafka_offset,
        "topic_id": str(one.topic_id),
        "fact_id": None if one.fact_id is None else str(one.fact_id),
        "key": (one.message_key or b"").hex(),
        "code": one.code,
        "reason": one.reason,
        "behind": one.behind,
        "size_bytes": one.size_bytes or 0,
        "appended_at": one.appended_at.isoformat(),
        "parked_at": one.parked_at.isoformat(),
        "tried_at": one.tried_at.isoformat(),
        "attempts": one.attempts,
        "release_asked_at": None if one.release_asked_at is None else one.release_asked_at.isoformat(),
    }


def dropped_json(one: Dropped) -> dict[str, Any]:
    """A line of ``parked list --dropped --json``."""
    return {
        "partition": one.partition,
        "offset": one.kafka_offset,
        "topic_id": str(one.topic_id),
        "key": (one.message_key or b"").hex(),
        "drop_offset": one.drop_offset,
        "dropped_by": one.dropped_by,
        "reason": one.reason,
        "dropped_at": one.dropped_at.isoformat(),
    }


def parked_table(found: Sequence[Parked]) -> Table:
    """One line a message, or a held fact."""
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1))
    for head in ("where", "code", "behind", "parked", "tries", "fact", "why"):
        table.add_column(head, overflow="fold")
    for one in found:
        fact = "" if one.fact_id is None else str(one.fact_id)
        behind = str(one.behind or "")
        table.add_row(place(one), one.code, behind, when(one.parked_at)[:19], str(one.attempts), fact, one.reason)
    return table


def dropped_table(found: Sequence[Dropped]) -> Table:
    """One line a message that was given up."""
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1))
    for head in ("where", "dropped", "by", "why"):
        table.add_column(head, overflow="fold")
    for one in found:
        table.add_row(place(one), when(one.dropped_at)[:19], one.dropped_by, one.reason)
    return table


def content_of(message: bytes) -> dict[str, Any]:
    """What the bytes say, as far as they can be read; else how they begin."""
    try:
        event = decode_event(message)
    except Rejected as rejected:
        return {"event": None, "undecodable": rejected.message, "begins": message[:SHOWN_BYTES].hex(" ")}
    told = {
        "kind": event.kind,
        "event_id": event.event_id.hex(),
        "identity": _json(event.identity),
        "subject_label": event.subject_label,
        "payload": _json(event.payload),
        "import_time": event.import_time,
    }
    return {"event": told}


def _json(data: bytes) -> Any:
    """Parsed, or as text where it can't be."""
    try:
        return orjson.loads(data)
    except ValueError:
        return data.decode(errors="replace")


def message_table(one: Parked, content: dict[str, Any]) -> Table:
    """All about a message."""
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    table.add_column(style="dim")
    table.add_column(overflow="fold")
    key = (one.message_key or b"").hex()
    event = content["event"]
    said = f"undecodable: {content['undecodable']}; it begins {content['begins']}" if event is None else event["kind"]
    rows: list[tuple[str, object]] = [
        ("where", f"{place(one)} of topic {one.topic_id}"),
        ("code", f"{one.code}: {CODES.get(one.code, '')}"),
        ("why", one.reason),
        ("fact", one.fact_id or "none is held by it"),
        ("key", key or "none"),
        ("waiting behind it", one.behind),
        ("appended", when(one.appended_at)),
        ("parked", f"{when(one.parked_at)}; tried {counted(one.attempts, 'time')}, last {when(one.tried_at)}"),
        ("size", f"{one.size_bytes or 0} bytes"),
        ("says", said),
    ]
    if event is not None:
        spelled = {name: orjson.dumps(event[name]).decode() for name in ("identity", "payload")}
        rows += list(spelled.items())
    rows.append(("what helps", remedy(one.code)))
    for name, told in rows:
        table.add_row(name, str(told))
    return table
