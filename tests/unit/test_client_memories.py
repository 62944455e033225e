from __future__ import annotations

from datetime import date
from hashlib import sha256
from typing import Any
from uuid import UUID

import pytest

from chronofact.client import AsyncClient, Client, Refused, Rejected, Rejection, Source
from tests.unit.scripted_service import Told, serving
from tests.unit.test_client import ID, accepted, token

FRAMES = [{"entity": "user", "slot": "prefers", "value": "Python"}]


def remembered(position: str) -> dict[str, Any]:
    return accepted(position) | {"frames": FRAMES}


def test_a_memory_is_sent_as_the_writer_takes_it() -> None:
    with serving(Told(remembered(token(p3=7)), status=201)) as writer, Client(writer=writer.url) as client:
        result = client.remember(
            "ana",
            "preference",
            "User prefers Python",
            source=Source("chat-42", text="I prefer Python."),
            valid_from="2026-03-01T01:00:00+01:00",
            confidence=0.5,
        )
        assert client.position == token(p3=7)
    assert (result.version_id, result.frames) == (UUID(ID["a"]), tuple(FRAMES))
    (asked,) = writer.asked
    assert (asked.method, asked.path, asked.params) == ("POST", "/v1/memories", [])
    assert asked.json() == {
        "subject": "ana",
        "category": "preference",
        "text": "User prefers Python",
        "source": {"id": "chat-42", "hash": sha256(b"I prefer Python.").hexdigest()},
        "valid_from": "2026-03-01T00:00:00Z",
        "confidence": 0.5,
    }


def test_a_source_that_is_only_named_has_the_text_as_evidence() -> None:
    with serving(Told(remembered(token(p3=7)), status=201)) as writer, Client(writer=writer.url) as client:
        client.remember("ana", "note", "User prefers Python", source="chat-42")
    assert writer.asked[0].json()["source"]["hash"] == sha256(b"User prefers Python").hexdigest()


def test_many_memories_go_in_batches_and_keep_their_places() -> None:
    error = {"code": "text_empty", "message": "the text says nothing", "field": "text", "index": 0}
    refused = {"status": "rejected", "error": error}
    first = {"results": [remembered(token(p0=1))] * 200, "position": token(p0=9)}
    last = {"results": [refused, remembered(token(p1=1))], "position": token(p1=1)}
    with serving(Told(first), Told(last)) as writer, Client(writer=writer.url) as client:
        texts = ({"subject": "ana", "category": "note", "text": str(number), "source": "s"} for number in range(202))
        sent = client.remember_many(texts)
    assert [len(asked.json()) for asked in writer.asked] == [200, 2]
    assert sent.rejections == (Rejection(200, "text_empty", "the text says nothing", "text"),)
    assert sent.position == token(p0=9, p1=1)


def test_a_trial_says_so() -> None:
    with (
        serving(Told(accepted(token()) | {"position": None, "frames": []})) as writer,
        Client(writer=writer.url) as one,
    ):
        assert one.remember("ana", "note", "a", source="s", dry_run=True).position is None
    assert writer.asked[0].params == [("dry_run", "true")]


async def test_the_same_in_an_event_loop() -> None:
    with serving(Told(remembered(token(p3=7)), status=201)) as writer:
        client = AsyncClient(writer=writer.url)
        assert (await client.remember("ana", "note", "a", source="s")).frames == tuple(FRAMES)
        await client.close()


def test_a_writer_without_texts_is_not_asked_again() -> None:
    refusal = Told({"error": {"code": "text_not_installed", "message": "spacy"}}, 501)
    with serving(refusal) as writer, Client(writer=writer.url) as client, pytest.raises(Refused) as raised:
        client.remember("ana", "note", "a", source="s")
    assert (raised.value.code, len(writer.asked)) == ("text_not_installed", 1)


@pytest.mark.parametrize(
    ("start", "code"), [("2026-03-01T00:00:00", "offset_missing"), (date(2026, 3, 1), "instant_malformed")]
)
def test_a_start_that_is_no_instant_is_refused_here(start: Any, code: str) -> None:
    with Client(writer="http://127.0.0.1:9") as client, pytest.raises(Rejected) as raised:
        client.remember("ana", "note", "a", source="s", valid_from=start)
    assert (raised.value.code, raised.value.field) == (code, "valid_from")


def test_a_turn_that_was_said_at_no_instant_is_named() -> None:
    turns = [{"role": "user", "text": "a"}, {"role": "user", "text": "b", "at": "2026-06-17"}]
    with Client(writer="http://127.0.0.1:9") as client, pytest.raises(Rejected) as raised:
        client.interact("ana", turns, source="chat-17")
    assert (raised.value.code, raised.value.field) == ("instant_malformed", "turns.1.at")


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"content": "b"}, "memory 1: got an unexpected keyword argument 'content'; did you mean text?"),
        ({"text": ...}, "memory 1: missing 1 required positional argument: 'text'"),
        ({"whatever": 1}, "memory 1: got an unexpected keyword argument 'whatever'"),
    ],
)
def test_of_many_the_one_with_wrong_arguments_is_named(wrong: dict[str, Any], told: str) -> None:
    right: dict[str, Any] = {"subject": "ana", "category": "note", "text": "a", "source": "s"}
    other = {name: one for name, one in (right | wrong).items() if one is not ...}
    with Client(writer="http://127.0.0.1:9") as client, pytest.raises(TypeError) as raised:
        client.remember_many([right, other])
    assert str(raised.value) == told


def test_of_many_the_one_with_a_wrong_instant_is_named() -> None:
    right: dict[str, Any] = {"subject": "ana", "source": "s"}
    with Client(writer="http://127.0.0.1:9") as client:
        with pytest.raises(Rejected) as raised:
            client.remember_many([{**right, "category": "note", "text": "a", "valid_from": "2026"}])
        assert raised.value.field == "0.valid_from"
        with pytest.raises(Rejected) as raised:
            client.assert_many([{**right, "key": "k", "value": 1, "valid_to": "2026"}])
        assert raised.value.field == "0.valid_to"
        with pytest.raises(TypeError, match=r"^turn 0: .*'content'; did you mean text\?$"):
            client.interact("ana", [{"role": "user", "content": "a"}], source="s")
