"""Following changes without a service: what is whole, what comes again, and when a client gives up."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from chronofact.client.changes import Following, following
from chronofact.client.errors import Busy, Refused, Unreachable
from chronofact.client.exchange import Reply

ID = "00000000-0000-4000-8000-000000000001"
BODY: dict[str, Any] = {
    "fact": {"fact_id": ID, "subject": "ada", "scope": "user:self", "key": "k"},
    "event_id": ID,
    "event_seq": 3,
    "event_type": "FactAsserted",
    "recorded_at": "2026-07-01T00:00:00Z",
    "changed": [
        {"kind": "unknown", "valid_during": [None, "2026-01-01T00:00:00Z"], "reason": "not_yet_valid"},
        {"kind": "value", "valid_during": ["2026-01-01T00:00:00Z", None], "value": "a\u2028b", "version_id": ID, "agreeing": [ID]},
        {
            "kind": "conflict", "valid_during": [None, None], "count": 7,
            "versions": [{"version_id": ID, "value": 1, "source_id": "s"}],
        },
        {"kind": "unlisted", "valid_during": [None, None]},
    ],
}  # fmt: skip


def made(after: str | None = None) -> Following:
    return following("http://reader", subject="ada", key=None, after=after, patience_s=1.0)


def message(id_: str) -> bytes:
    return b"event: change\nid: " + id_.encode() + b"\ndata: " + orjson.dumps(BODY) + b"\n\n"


def test_a_change_is_read_whole() -> None:
    (change,) = made().came(message("x"))
    unknown, value, conflict, unlisted = change.changed
    assert (change.id, change.fact.key, change.event_seq) == ("x", "k", 3)
    assert change.recorded_at == datetime(2026, 7, 1, tzinfo=UTC)
    assert (unknown.reason, unknown.valid_during) == ("not_yet_valid", (None, datetime(2026, 1, 1, tzinfo=UTC)))
    assert (value.value, value.version_id, value.agreeing) == ("a\u2028b", UUID(ID), (UUID(ID),))
    assert (conflict.versions[0].value, conflict.versions[0].source_id, conflict.count) == (1, "s", 7)
    assert (unlisted.kind, unlisted.versions) == ("unlisted", ())


@given(st.lists(st.integers(1, 400), max_size=40))
def test_however_it_is_cut_each_comes_once(sizes: list[int]) -> None:
    sent = b"retry: 500\nid: a\n\n" + b"".join(message(str(at)) for at in range(4)) + b": heartbeat\nid: z\n\n"
    follow, got = made(), []
    for size in [*sizes, len(sent)]:
        got += [change.id for change in follow.came(sent[:size])]
        sent = sent[size:]
    assert got == ["0", "1", "2", "3"]
    assert follow.headers()["Last-Event-ID"] == "z"


def test_half_a_message_of_a_broken_stream_is_forgotten() -> None:
    follow = made(after="a")
    assert list(follow.came(message("b")[:-5])) == []
    follow.lost(Unreachable("http://reader", "cut"))
    assert follow.headers()["Last-Event-ID"] == "a"
    follow.opened()
    assert [change.id for change in follow.came(message("b"))] == ["b"]


def test_it_comes_again_with_growing_pauses_and_gives_up() -> None:
    follow, error = made(), Unreachable("http://reader", "away")
    pauses: list[float] = []

    def lose_again_and_again() -> None:
        while True:
            follow.lost(error)
            pauses.append(follow.pause_s)

    with pytest.raises(Unreachable):
        lose_again_and_again()
    assert pauses == sorted(pauses)
    assert 0.5 < sum(pauses) <= 1.0
    list(follow.came(b": heartbeat\nid: a\n\n"))
    follow.lost(error)
    assert follow.pause_s == pauses[0]


def test_what_it_sends_and_what_ends_it() -> None:
    follow = made()
    assert (follow.url, follow.params) == ("http://reader/v1/changes", (("subject", "ada"),))
    busy = Reply(429, orjson.dumps({"error": {"code": "listeners_too_many", "message": "full", "field": None}}), "1")
    follow.refused(busy)
    assert follow.pause_s == 1.0
    with pytest.raises(Busy, match="listeners_too_many"):
        follow.refused(busy)
    wrong = Reply(400, orjson.dumps({"error": {"code": "position_malformed", "message": "no", "field": "after"}}))
    with pytest.raises(Refused, match="position_malformed"):
        follow.refused(wrong)
    with pytest.raises(Unreachable, match="no server-sent events"):
        list(made().came(b"x" * (5 * 2**20)))
