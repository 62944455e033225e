"""Changed answers while listeners are slow, the database goes away, messages are parked, and processes die."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, suppress
from uuid import UUID

import httpx
import orjson
import psycopg
import pytest
from structlog.testing import capture_logs

from chronofact.client import Client
from chronofact.contracts.drops import Drop
from chronofact.kafka.admin import create_topics
from chronofact.reader import changes_hub
from chronofact.runtime.failures import Transient
from tests.integration.changing import Sent, changes_reader, listening
from tests.integration.projecting import ProjectorProcess, ServiceProcess, append
from tests.integration.reading import World, world_on
from tests.integration.saying import Fact, Said
from tests.integration.test_changes import claims, ids

POISON = b"\xc3\x01 no event"


@pytest.fixture
async def world(database: str) -> AsyncIterator[World]:
    async with world_on(database) as made:
        made.project()
        yield made


class ReaderProcess(ServiceProcess):
    """`python -m chronofact.reader`."""

    service = "reader"


async def test_what_was_parked_comes_when_it_is_released_in_its_facts_order(database: str, world: World) -> None:
    fact, other = Fact("ada"), Fact("bob")
    held = [fact.asserts("pnpm"), fact.asserts("yarn")]
    async with changes_reader(database) as reader:
        async with listening(reader) as listener:
            start = listener.last_id
            world.tell(first := fact.asserts("npm"))
            world.topic.append_raw(fact.partition, fact.fact_id, POISON, appended_at=2_000_000)
            world.tell(*held, beside := other.asserts("npm"))
            await listener.until(2)
            assert sorted(listener.event_ids) == sorted(ids([first, beside]))
            before_release = listener.ids[-1]
            drop = Drop(world.topic.topic_id, fact.partition, 1, fact.fact_id, "no use", "ada").message()
            world.topic.append_raw(drop.partition, drop.key, drop.value, appended_at=3_000_000)
            world.project()
            world.tell(last := fact.asserts("bun"))
            await listener.until(5)
            everything = ids([first, beside, *held, last])
            Sent().add(listener.changes).check(everything)
        for after, wanted in ((start, everything), (before_release, ids([*held, last]))):
            async with listening(reader, after=after) as again:
                Sent().add(await again.until(len(wanted))).check(wanted)
        released = listener.event_ids.index(ids(held)[0])
        async with listening(reader, after=listener.ids[released]) as again:
            assert [one["event_id"] for one in await again.until(2)] == ids([held[1], last])


async def test_a_plain_position_is_told_what_was_parked_behind_it_and_released_since(
    database: str, world: World
) -> None:
    fact = Fact("ada")
    position = world.tell(fact.asserts("npm"))
    world.topic.append_raw(fact.partition, fact.fact_id, POISON, appended_at=2_000_000)
    world.tell(held := fact.asserts("pnpm"))
    drop = Drop(world.topic.topic_id, fact.partition, 1, fact.fact_id, "no use", "ada").message()
    world.topic.append_raw(drop.partition, drop.key, drop.value, appended_at=3_000_000)
    world.project()
    behind = world.position()
    async with changes_reader(database) as reader:
        async with listening(reader, after=position) as listener:
            await listener.until(1)
            assert listener.event_ids == ids([held])
        async with listening(reader, after=behind) as listener:
            world.tell(last := fact.asserts("yarn"))
            await listener.until(1)
            assert listener.event_ids == ids([last])


async def test_who_is_turned_away_for_want_of_postgres_is_logged(
    database: str, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def away(*_: object) -> str:
        raise Transient("postgres_away", "no connection to Postgres in time")

    async with changes_reader(database) as reader, httpx.AsyncClient() as http:
        monkeypatch.setattr(reader.changes.source, "projection_of", away)
        with capture_logs() as logs:
            response = await http.get(reader.url)
        assert (response.status_code, response.json()["error"]["code"]) == (503, "postgres_away")
    (told,) = [one for one in logs if one["event"] == "listener_turned_away"]
    assert (told["code"], told["log_level"]) == ("postgres_away", "warning")


async def test_a_listener_that_does_not_read_is_caught_up_and_loses_nothing(
    database: str, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(changes_hub, "RING_ENTRIES", 100)
    said = [
        Fact(f"slow {at % 30}").asserts({"text": "x" * 4_000, "at": at}, at * 1_000_000, source=f"{at}")
        for at in range(700)
    ]
    async with changes_reader(database, sndbuf=65_536) as reader, listening(reader, subject="nobody") as lively:
        with socket.socket() as asleep:
            asleep.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65_536)
            asleep.setblocking(False)
            loop = asyncio.get_running_loop()
            await loop.sock_connect(asleep, ("127.0.0.1", reader.port))
            await loop.sock_sendall(asleep, b"GET /v1/changes HTTP/1.1\r\nHost: here\r\n\r\n")
            taken = await loop.sock_recv(asleep, 4_096)
            for start in range(0, len(said), 175):
                await asyncio.to_thread(world.tell, *said[start : start + 300])
            await asyncio.sleep(0.5)
            assert not lively.has_ended
            assert reader.changes.sent._value.get() < 500, "it was told far more than it took"
            found, count, tail = [taken], 0, b""
            async with asyncio.timeout(60):
                while count < len(said) or not found[-1].endswith(b"\n\n\r\n"):
                    found.append(await loop.sock_recv(asleep, 1 << 20))
                    count += (tail + found[-1]).count(b"event_type")
                    tail = (tail + found[-1])[-9:]
    blocks = unchunked(b"".join(found)).split(b"\n\n")
    bodies = [orjson.loads(block.split(b"\ndata: ")[1]) for block in blocks if b"\ndata: " in block]
    Sent().add(bodies).check(ids(said))


def unchunked(raw: bytes) -> bytes:
    """The body of an answer sent in chunks."""
    at = raw.index(b"\r\n\r\n") + 4
    body: list[bytes] = []
    while at < len(raw):
        end = raw.index(b"\r\n", at)
        size = int(raw[at:end], 16)
        body.append(raw[end + 2 : end + 2 + size])
        at = end + 2 + size + 2
    return b"".join(body)


async def test_a_database_that_drops_its_connections_delays_and_loses_nothing(database: str, world: World) -> None:
    said = claims(120)
    async with changes_reader(database) as reader, listening(reader) as listener:
        for start in range(0, 120, 20):
            world.tell(*said[start : start + 20])
            with psycopg.connect(database, autocommit=True) as connection:
                connection.execute(
                    "select pg_terminate_backend(pid) from pg_stat_activity"
                    " where application_name = 'chronofact reader changes' and datname = current_database()"
                )
        Sent().add(await listener.until(120)).check(ids(said))


FACTS = 60
EVENTS = 1_600


def test_processes_that_die_and_start_again_leave_no_gap_and_no_repeat(
    kafka: str, topic_name: str, database: str
) -> None:
    """Two projectors, one killed; two readers, one stopped and one killed; two listeners over all of it."""
    create_topics(kafka, topic_name)
    with ExitStack() as stack:
        projectors = [
            stack.enter_context(ProjectorProcess(kafka, topic_name, database, projector_name=f"p-{at}"))
            for at in range(2)
        ]
        projectors[0].await_readyz()
        reader = stack.enter_context(ReaderProcess(kafka, topic_name, database))
        port = reader.port
        reader.await_readyz()
        customers = [Customer(port), Customer(port)]
        for one in customers:
            stack.callback(one.close)
            one.has_come.wait(20)
        said = [
            Fact(f"dying {at % FACTS}").asserts(f"value {at}", at * 1_000_000, source=f"{at}") for at in range(EVENTS)
        ]
        for at, part in enumerate(_parts(said, 8)):
            append(kafka, topic_name, part)
            if at == 1:
                projectors[0].kill()
            if at in (2, 4):
                reader.await_readyz()
                assert reader.stop() == 0
                reader = stack.enter_context(ReaderProcess(kafka, topic_name, database, reader_port=port))
            if at == 5:
                reader.kill()
                reader = stack.enter_context(ReaderProcess(kafka, topic_name, database, reader_port=port))
            if at == 6:
                projectors.append(
                    stack.enter_context(ProjectorProcess(kafka, topic_name, database, projector_name="p-0"))
                )
            time.sleep(0.2)
        for one in customers:
            one.check(said)


def _parts(said: list[Said], count: int) -> Iterator[list[Said]]:
    size = len(said) // count
    for at in range(count):
        yield said[at * size : (at + 1) * size]


class Customer(threading.Thread):
    """Follows changes by the client until all have come."""

    def __init__(self, port: int) -> None:
        super().__init__(daemon=True)
        self.port = port
        self.has_come = threading.Event()
        self.got: list[dict[str, object]] = []
        self.client = Client(reader=f"http://127.0.0.1:{port}", patience_s=60)
        self.start()

    def run(self) -> None:
        self.client.get("/livez")
        following = self.client.changes(key="package_manager")
        self.has_come.set()
        with suppress(RuntimeError):  # closed
            for change in following:
                self.got.append(dict(change.body))
                if len(self.got) == EVENTS:
                    return

    def check(self, said: list[Said]) -> None:
        self.join(60)
        Sent().add(self.got).check([str(UUID(bytes=one.event_id)) for one in said])

    def close(self) -> None:
        self.client.close()
