"""Sentences as the writer keeps them: their memories, with the facts that they gave."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import cache

import orjson

from chronofact.contracts.codec import FactEvent
from chronofact.contracts.derived import decode
from chronofact.contracts.memories import MEMORY_PREFIX
from chronofact.postgres.memories import Candidate, StoredMemory
from chronofact.text.ending import End
from tests.contract.remembering import RememberingWriter
from tests.unit.test_interactions_route import asserted, interact, models, user

MARCH, JUNE, JULY = "2026-03-01T09:00:00Z", "2026-06-17T10:30:00Z", "2026-07-01T00:00:00Z"


def heard(text: str, at: str | None = MARCH, *, number: int = 1, source: str = "chat") -> StoredMemory:
    """The only memory of what somebody said then."""
    (event,) = [one for one in _events(text, at, source) if orjson.loads(one.identity)[4].startswith(MEMORY_PREFIX)]
    what, derived = asserted(event), decode(event.derived or b"")
    assert derived is not None
    return StoredMemory(
        7,
        what.version_id,
        number,
        1_000 + number,
        orjson.loads(what.value),
        what.valid.start,
        what.valid.end,
        "ACTIVE",
        derived.extractor,
        derived.frames,
        derived.keys,
        None,
        None,
    )


def facts_of(text: str, at: str | None = MARCH, *, source: str = "chat") -> dict[bytes, tuple[str, str]]:
    """Each fact's version in the log, its key and its value."""
    found = {}
    for event in _events(text, at, source):
        key = orjson.loads(event.identity)[4]
        if not key.startswith(MEMORY_PREFIX):
            what = asserted(event)
            found[what.version_id] = key, orjson.loads(what.value)
    return found


@cache
def _writer() -> RememberingWriter:
    return RememberingWriter(models)


@cache
def _events(text: str, at: str | None, source: str) -> list[FactEvent]:
    writer = _writer()
    writer.log.partitions.clear()
    with ThreadPoolExecutor(1) as thread:  # a loop of its own, also for tests that run in one
        said = thread.submit(interact, writer, user(text, at=at), source={"id": source})
    assert said.result().status_code == 201
    return writer.events()


def as_candidate(memory: StoredMemory, cosine: float | None = None) -> Candidate:
    return Candidate(
        memory.version_id,
        memory.event_seq,
        memory.text,
        memory.valid_from,
        memory.valid_to,
        memory.frames,
        cosine,
        ("keys",),
        memory.lifecycle,
        None,
    )


def keys(ends: list[End]) -> list[str]:
    return [one.key for one in ends]
