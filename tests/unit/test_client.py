from __future__ import annotations

import socket
import ssl
from datetime import UTC, datetime, timedelta, timezone
from hashlib import sha256
from inspect import signature
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, uuid5

import pytest

from chronofact.client import (
    Accepted,
    AsyncClient,
    Busy,
    Client,
    Conflict,
    Refused,
    Rejected,
    Rejection,
    Source,
    Supersedes,
    Unknown,
    Unreachable,
    Value,
)
from chronofact.client.shells import certificates
from chronofact.contracts.position import Position
from tests.unit.scripted_service import Told, serving

ID = {name: str(uuid5(NAMESPACE_URL, name)) for name in ("event", "fact", "a", "b")}
TOPIC = bytes(range(16))
AT = "2026-07-10T00:00:00Z"
FACT = {"fact_id": ID["fact"], "subject": "ana", "scope": "repo:acme/web", "key": "package_manager"}
FRESH = {"projection": "p1", "rule": 1, "position": "…", "lag_events": 0, "lag_s": 0.0, "stale": False}


def token(**next_offsets: int) -> str:
    return Position(TOPIC, {int(name[1:]): offset for name, offset in next_offsets.items()}).encode()


def accepted(position: str) -> dict[str, Any]:
    return {
        "status": "accepted",
        "event_id": ID["event"],
        "version_id": ID["a"],
        "fact_id": ID["fact"],
        "position": position,
    }


def rejected(index: int) -> dict[str, Any]:
    error = {"code": "key_empty", "message": "key is empty", "field": "key", "index": index}
    return {"status": "rejected", "error": error}


def answer(kind: str, **content: Any) -> dict[str, Any]:
    return {"kind": kind, "fact": FACT, "valid_at": AT, "as_of": None, "freshness": FRESH, **content}


def value(held: Any = "pnpm") -> dict[str, Any]:
    during = ["2026-07-01T00:00:00Z", None]
    return answer("value", value=held, version_id=ID["a"], agreeing=[ID["a"]], valid_during=during, recorded_at=AT)


def test_a_fact_is_sent_as_the_writer_takes_it() -> None:
    with serving(Told(accepted(token(p3=7)), status=201)) as writer, Client(writer=writer.url, token="t0") as client:
        result = client.assert_fact(
            "ana",
            "package_manager",
            {"name": "pnpm"},
            scope="repo:Acme/Web",
            valid_from=datetime(2026, 7, 1, 2, tzinfo=timezone(timedelta(hours=2))),
            source=Source("chat-42", text="we use pnpm"),
            supersedes=Supersedes(ID["b"], mode="replace"),
        )
    assert isinstance(result, Accepted)
    assert (str(result.version_id), result.position) == (ID["a"], token(p3=7))
    asked = writer.asked[0]
    assert (asked.method, asked.path, asked.headers["Authorization"]) == ("POST", "/v1/events", "Bearer t0")
    assert asked.json() == {
        "type": "assert",
        "subject": "ana",
        "scope": "repo:Acme/Web",
        "key": "package_manager",
        "value": {"name": "pnpm"},
        "valid_from": "2026-07-01T00:00:00Z",
        "source": {"id": "chat-42", "hash": sha256(b"we use pnpm").hexdigest()},
        "supersedes": [{"version_id": ID["b"], "mode": "replace"}],
    }


def test_null_is_a_value() -> None:
    with serving(Told(accepted(token(p0=1)), status=201)) as writer, Client(writer=writer.url) as client:
        client.assert_fact("ana", "editor", None, source="s")
    assert writer.asked[0].json()["value"] is None


def test_many_commands_go_in_batches_and_keep_their_places() -> None:
    first = {"results": [accepted(token(p0=1))] * 999 + [rejected(999)], "position": token(p0=9)}
    last = {"results": [rejected(0), accepted(token(p1=1))], "position": token(p1=1)}
    with serving(Told(first), Told(last)) as writer, Client(writer=writer.url) as client:
        facts = [{"subject": "ana", "key": "k", "value": number, "source": "s"} for number in range(1_002)]
        sent = client.assert_many(facts)
    assert [len(asked.json()) for asked in writer.asked] == [1_000, 2]
    assert sent.rejections == (
        Rejection(999, "key_empty", "key is empty", "key"),
        Rejection(1_000, "key_empty", "key is empty", "key"),
    )
    assert sent.position == token(p0=9, p1=1)


def test_busy_and_cut_off_are_sent_again() -> None:
    busy = Told({"error": {"code": "queue_full", "message": "later"}}, 429, (("Retry-After", "0"),))
    with (
        serving(busy, Told(status=0), busy, Told(accepted(token(p0=1)), status=201)) as writer,
        Client(writer=writer.url) as client,
    ):
        client.assert_fact("ana", "k", 1, source="s")
    assert len(writer.asked) == 4
    assert len({asked.body for asked in writer.asked}) == 1


def test_patience_ends() -> None:
    busy = Told({"error": {"code": "kafka_unreachable", "message": "no answer"}}, 503)
    with serving(busy) as writer, Client(writer=writer.url, patience_s=0.2) as client, pytest.raises(Busy) as raised:
        client.assert_fact("ana", "k", 1, source="s")
    assert raised.value.code == "kafka_unreachable"
    assert len(writer.asked) > 1


def test_nobody_there() -> None:
    with serving(Told()) as gone:
        pass
    with Client(reader=gone.url, patience_s=0.1) as client, pytest.raises(Unreachable):
        client.resolve("ana", "k")


@pytest.mark.parametrize("client", [Client, AsyncClient])
def test_calls_show_their_arguments_and_their_answer(client: type[Client | AsyncClient]) -> None:
    shown = signature(client.resolve)
    assert list(shown.parameters)[:4] == ["self", "subject", "key", "scope"]
    assert shown.return_annotation == "Answer"
    assert list(signature(client().resolve).parameters)[:2] == ["subject", "key"]


def test_who_takes_a_request_and_says_nothing_is_waited_for_once() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with Client(reader=address, timeout_s=0.2, patience_s=0.2) as client, pytest.raises(Unreachable) as raised:
            client.resolve("ana", "k")
        silent.setblocking(False)
        silent.accept()[0].close()
        with pytest.raises(BlockingIOError):
            silent.accept()
    assert str(raised.value) == f"{address}/ can't be reached: no answer within 0.2 s"


def test_a_refusal_carries_code_and_field_and_is_not_repeated() -> None:
    refusal = Told({"error": {"code": "key_empty", "message": "key is empty", "field": "key"}}, 422)
    with serving(refusal) as writer, Client(writer=writer.url) as client, pytest.raises(Refused) as raised:
        client.assert_fact("ana", "", 1, source="s")
    assert (raised.value.code, raised.value.field, len(writer.asked)) == ("key_empty", "key", 1)


def test_what_was_written_is_read_back() -> None:
    with (
        serving(Told(accepted(token(p3=7)), status=201), Told(accepted(token(p4=2)), status=201)) as writer,
        serving(Told(value())) as reader,
        Client(writer=writer.url, reader=reader.url) as client,
    ):
        client.assert_fact("ana", "k", 1, source="s")
        client.end("ana", "k", ID["a"], effective_at=AT)
        held = client.resolve("ana", "package_manager", scope=["task:1", "repo:acme/web"], valid_at=AT)
    assert isinstance(held, Value)
    assert (held.value, held.reading.valid_during) == ("pnpm", (datetime(2026, 7, 1, tzinfo=UTC), None))
    assert reader.asked[0].params == [
        ("subject", "ana"),
        ("key", "package_manager"),
        ("scope", "task:1"),
        ("scope", "repo:acme/web"),
        ("valid_at", AT),
        ("after", token(p3=7, p4=2)),
    ]


def test_many_questions_are_one_request() -> None:
    claims = [{"version_id": ID[side], "value": side, "valid_during": [None, None]} for side in ("a", "b")]
    edges = [{"left": ID["a"], "right": ID["b"], "relation": "OPEN"}]
    answers = [value(), answer("conflict", versions=claims, edges=edges), answer("unknown", reason="ended")]
    with serving(Told({"answers": answers})) as reader, Client(reader=reader.url) as client:
        got = client.resolve_many([{"subject": "ana", "key": "k", "valid_at": AT}] * 3)
    assert [type(one) for one in got] == [Value, Conflict, Unknown]
    assert reader.asked[0].json() == {"queries": [{"subject": "ana", "key": "k", "valid_at": AT}] * 3}


def test_a_naive_time_is_refused_before_anything_is_sent() -> None:
    with Client() as client, pytest.raises(Rejected) as raised:
        client.resolve("ana", "k", valid_at=datetime(2026, 7, 1))  # noqa: DTZ001 - that it is naive is the point
    assert raised.value.code == "offset_missing"


async def test_the_async_client_makes_the_same_calls() -> None:
    busy = Told({"error": {"code": "queue_full", "message": "later"}}, 429)
    with (
        serving(busy, Told(accepted(token(p3=7)), status=201)) as writer,
        serving(Told(status=0), Told(value())) as reader,
    ):
        async with AsyncClient(writer=writer.url, reader=reader.url) as client:
            await client.assert_fact("ana", "package_manager", "pnpm", source="chat-42")
            held = await client.resolve("ana", "package_manager")
    assert isinstance(held, Value)
    assert reader.asked[-1].params[-1] == ("after", token(p3=7))


def test_both_clients_have_the_same_calls() -> None:
    def calls(kind: type) -> set[str]:
        return {name for name in vars(kind) if not name.startswith("_")}

    assert calls(Client) == calls(AsyncClient)


@pytest.mark.parametrize("odd", [float("nan"), [1, float("inf")], {"a": (None, float("-inf"))}])
def test_a_number_that_json_lacks_is_refused_and_not_sent_as_null(odd: object) -> None:
    with serving(Told()) as writer, Client(writer=writer.url) as memory:
        with pytest.raises(Rejected) as refused:
            memory.assert_fact("ana", "k", odd, source="s")
        assert refused.value.code == "number_not_finite"
        with pytest.raises(Rejected):
            memory.send([{"type": "assert", "value": odd}])
    assert writer.asked == []


def test_a_refused_argument_is_named() -> None:
    with Client() as memory, pytest.raises(Rejected, match=r"^valid_to: not an RFC 3339 instant"):
        memory.assert_fact("ana", "k", 1, source="s", valid_to="2026")


def test_a_folder_without_a_stack_says_how_to_start_one(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="chronofact up --data"):
        Client.of_stack(tmp_path)


@pytest.mark.parametrize("name", ["http_proxy", "all_proxy"])
async def test_this_machine_is_asked_without_the_proxy(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(name, "http://127.0.0.1:9")
    for spelt in ("127.0.0.1", "localhost"):
        with serving(Told(value())) as reader:
            address = reader.url.replace("127.0.0.1", spelt)
            with Client(reader=address, patience_s=0) as memory:
                memory.resolve("ana", "package_manager")
            async with AsyncClient(reader=address, patience_s=0) as memory:
                await memory.resolve("ana", "package_manager")


@pytest.mark.parametrize(
    ("addresses", "is_spared"),
    [
        (("http://127.0.0.1:8080", "http://localhost:8081"), True),
        (("http://[::1]:8080",), True),
        (("http://127.0.0.1:8080", "https://127.0.0.1:8081"), False),
        (("http://memory.example:8080",), False),
    ],
)
def test_certificates_are_loaded_where_something_may_be_encrypted(
    addresses: tuple[str, ...], *, is_spared: bool
) -> None:
    found = certificates(*addresses)
    assert (found is not True) is is_spared
    assert found is True or isinstance(found, ssl.SSLContext)
    assert found is True or (found.verify_mode is ssl.CERT_REQUIRED and not found.get_ca_certs()), "it trusts nobody"
