"""The adjudicator's edges: the writer's API, Kafka's options, the order of acknowledgements, the end that is waited for."""

from __future__ import annotations

import asyncio
import logging
from hashlib import sha256
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import httpx
import orjson
import pytest

from chronofact.adjudicator.broker import broker_settings
from chronofact.adjudicator.passing import Passing
from chronofact.adjudicator.ports import Ends
from chronofact.adjudicator.stream import InOrder
from chronofact.adjudicator.writing import WriterCalls
from chronofact.contracts.payload import happening_of
from chronofact.domain.errors import Rejected
from chronofact.domain.events import RelationsChecked
from chronofact.domain.identity import DEVELOPMENT_TENANT
from chronofact.postgres.looking import FactNames, Ref
from chronofact.runtime.auth import TokenCredentials
from chronofact.runtime.failures import Transient, Unfit
from chronofact.runtime.health import Health
from chronofact.runtime.seldom import Seldom
from tests.contract.writing import WriterInProcess
from tests.unit.adjudicator_twins import FACT, TENANT, Store, version

NAMES = FactNames("ada", "user:self", "memory/preference")
CHECK = {
    "type": "check_relations",
    "version_id": "01010101-0101-0101-0101-010101010101",
    "pairs": 0,
    "decided": 0,
    "pending": 0,
    "reason": "no_pairs",
    "llm_call_made": False,
}


def calls(writer: WriterInProcess, token: str | None, health: Health) -> WriterCalls:
    """Without a wire."""

    async def sleep(_seconds: float) -> None:
        raise InterruptedError

    made = WriterCalls("http://127.0.0.1:1", token, health, sleep=sleep)
    made._http = httpx.AsyncClient(
        transport=httpx.ASGITransport(writer.app), base_url="http://writer", headers=made._http.headers
    )
    return made


async def still() -> None:
    """It is ours to say."""


@pytest.fixture
def tokens(tmp_path: Path) -> TokenCredentials:
    lines = [
        "[[tokens]]",
        f'sha256 = "{sha256(b"ours").hexdigest()}"',
        'roles = ["write", "service"]',
        "[[tokens]]",
        f'sha256 = "{sha256(b"theirs").hexdigest()}"',
        'roles = ["write"]',
        'tenant = "acme"',
    ]
    path = tmp_path / "tokens.toml"
    path.write_text("\n".join(lines))
    return TokenCredentials.load(path, normalise_scope=str)


async def test_a_services_token_names_the_tenant_of_each_memory(tokens: TokenCredentials) -> None:
    writer = WriterInProcess(tokens)
    await calls(writer, "ours", Health("writer")).send(DEVELOPMENT_TENANT.bytes, NAMES, [CHECK] * 3, still=still)
    events = writer.events()
    assert len({event.event_id for event in events}) == 1
    assert str(DEVELOPMENT_TENANT).encode() in events[0].identity
    assert isinstance(happening_of(events[0].kind, events[0].payload), RelationsChecked)


async def test_a_token_that_may_not_is_told_by_name_and_asked_with_again(tokens: TokenCredentials) -> None:
    for token in (None, "unknown"):
        health = Health("writer")
        with pytest.raises(InterruptedError):
            await calls(WriterInProcess(tokens), token, health).send(
                DEVELOPMENT_TENANT.bytes, NAMES, [CHECK], still=still
            )
        assert [reason.code for reason in health.reasons().values()] == ["writer_refuses"]


async def test_no_token_where_the_writer_wants_one_is_told_before_anything_is_said() -> None:
    health = Health("writer")
    await WriterCalls("http://127.0.0.1:1", None, health, lacks_token=True).look()
    assert [reason.code for reason in health.reasons().values()] == ["writer_refuses"]


async def test_a_writer_that_is_away_is_asked_until_it_is_back() -> None:
    writer, health = WriterInProcess(), Health("writer")
    writer.log.is_silent = True
    made = calls(writer, None, health)
    waits = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)
        assert [reason.code for reason in health.reasons().values()] == ["writer_busy"]
        if len(waits) == 12:
            writer.log.is_silent = False

    made._sleep = sleep
    await made.send(DEVELOPMENT_TENANT.bytes, NAMES, [CHECK], still=still)
    assert len(writer.events()) == 1
    assert health.reasons() == {}
    assert max(waits) <= 10


async def test_what_the_writer_refuses_is_a_refusal() -> None:
    with pytest.raises(Rejected) as refused:
        await calls(WriterInProcess(), None, Health("writer")).send(
            DEVELOPMENT_TENANT.bytes, NAMES, [CHECK, CHECK | {"pairs": -1}], still=still
        )
    assert refused.value.code == "pairs_miscounted"


async def test_what_is_said_of_several_memories_at_once_is_one_request_and_each_hears_of_its_own() -> None:
    writer = WriterInProcess()
    made = calls(writer, None, Health("writer"))
    requests: list[int] = []
    once = made._once

    async def counted(tenant: str, body: bytes) -> httpx.Response:
        requests.append(len(orjson.loads(body)))
        return await once(tenant, body)

    made._once = counted  # type: ignore[method-assign]
    good = [CHECK | {"version_id": str(UUID(bytes=version(n)))} for n in range(5)]
    said: list[list[dict[str, object]]] = [[one] for one in good[:3]]
    said += [[good[3], CHECK | {"pairs": -1}], [good[4]]]
    told = await asyncio.gather(
        *(made.send(DEVELOPMENT_TENANT.bytes, NAMES, one, still=still) for one in said), return_exceptions=True
    )
    assert [getattr(one, "code", None) for one in told] == [None, None, None, "pairs_miscounted", None]
    assert len(writer.events()) == 5
    assert requests == [6]


async def test_a_request_that_is_refused_as_a_whole_is_said_again_memory_by_memory() -> None:
    writer = WriterInProcess()
    made = calls(writer, None, Health("writer"))
    once = made._once

    async def too_large(tenant: str, body: bytes) -> httpx.Response:
        if len(orjson.loads(body)) > 1 or str(UUID(bytes=version(2))).encode() in body:
            return httpx.Response(413, json={"error": {"code": "body_too_large", "message": "no"}})
        return await once(tenant, body)

    made._once = too_large  # type: ignore[method-assign]
    said = [CHECK | {"version_id": str(UUID(bytes=version(n)))} for n in range(4)]
    told = await asyncio.gather(
        *(made.send(DEVELOPMENT_TENANT.bytes, NAMES, [one], still=still) for one in said), return_exceptions=True
    )
    assert [getattr(one, "code", None) for one in told] == [None, None, "body_too_large", None]
    assert len(writer.events()) == 3


async def test_who_lost_the_memory_while_the_writer_was_away_says_it_no_more_and_others_do() -> None:
    writer = WriterInProcess()
    made = calls(writer, None, Health("writer"))
    writer.log.is_silent = True
    asked = 0

    async def sleep(_seconds: float) -> None:
        writer.log.is_silent = False

    async def lost() -> None:
        nonlocal asked
        asked += 1
        raise Transient("claim_lost", "another's")

    made._sleep = sleep
    mine, other = (CHECK | {"version_id": str(UUID(bytes=version(n)))} for n in range(2))
    told = await asyncio.gather(
        made.send(DEVELOPMENT_TENANT.bytes, NAMES, [mine], still=lost),
        made.send(DEVELOPMENT_TENANT.bytes, NAMES, [other], still=still),
        return_exceptions=True,
    )
    assert [getattr(one, "code", None) for one in told] == ["claim_lost", None]
    assert asked == 1
    (event,) = writer.events()
    assert str(UUID(bytes=version(1))).encode() in event.payload


def test_options_of_security_reach_fausts_client_and_unknown_ones_are_refused() -> None:
    assert broker_settings("a:1,b:2") == {"broker": "kafka://a:1;kafka://b:2"}
    assert broker_settings("a:1", {"socket.timeout.ms": "9"}) == {"broker": "kafka://a:1"}
    told = broker_settings(
        "a:1",
        {
            "security.protocol": "SASL_PLAINTEXT",
            "sasl.mechanisms": "SCRAM-SHA-512",
            "sasl.username": "u",
            "sasl.password": "p",
        },
    )["broker_credentials"]
    assert (told.username, told.password, told.mechanism.value) == ("u", "p", "SCRAM-SHA-512")
    assert broker_settings("a:1", {"security.protocol": "ssl"})["broker_credentials"].context.check_hostname
    with pytest.raises(Unfit) as refused:
        broker_settings("a:1", {"security.protocol": "sasl_ssl", "sasl.mechanism": "GSSAPI"})
    assert refused.value.code == "kafka_options_unknown"


def test_a_library_says_the_same_once_a_minute() -> None:
    now = 0.0
    seldom = Seldom(monotonic=lambda: now)

    def passes(name: str, template: str) -> bool:
        return seldom.filter(logging.LogRecord(name, logging.ERROR, "", 1, template, (now,), None))

    assert [passes("aiokafka", "no node %s") for _ in range(3)] == [True, False, False]
    assert passes("aiokafka", "another")
    assert passes("faust", "no node %s")
    now = 61.0
    assert passes("aiokafka", "no node %s")


def event(partition: int, offset: int, generation: int = 1) -> Any:
    return SimpleNamespace(message=SimpleNamespace(tp=partition, offset=offset, generation_id=generation))


def test_nothing_is_acknowledged_before_what_came_ahead_of_it() -> None:
    dice = Random(11)
    for _ in range(50):
        order = InOrder()
        taken = [order.take(event(n % 3, n)) for n in range(30)]
        dice.shuffle(taken)
        acknowledged: dict[int, list[int]] = {0: [], 1: [], 2: []}
        for one in taken:
            for ready in order.done(one):
                acknowledged[int(ready.message.tp)].append(ready.message.offset)  # type: ignore[call-overload]
        for partition, offsets in acknowledged.items():
            assert offsets == list(range(partition, 30, 3))
        assert order._taken == {}


def test_another_generation_of_a_partition_waits_for_nothing_of_the_one_before() -> None:
    order = InOrder()
    order.take(event(0, 1, generation=1))
    again = order.take(event(0, 1, generation=2))
    assert [one.message.generation_id for one in order.done(again)] == [2]


async def test_waits_that_begin_together_share_a_look_that_begins_after_them() -> None:
    looks = 0
    running = asyncio.Event()

    async def ends() -> Ends:
        nonlocal looks
        looks += 1
        mine = looks
        running.set()
        await asyncio.sleep(0.01)
        return Ends(b"t" * 16, {0: mine})

    store = Store(None, at=0)

    store.at = 2
    passing = Passing(store, ends, monotonic=lambda: 0.0)
    first = asyncio.create_task(passing.passed(Ref(TENANT, FACT, version(1))))
    await running.wait()
    later = [asyncio.create_task(passing.passed(Ref(TENANT, FACT, version(n)))) for n in range(5)]
    assert await asyncio.gather(first, *later) == ["p1"] * 6
    # the first one's look had begun before the others asked
    assert looks == 2


async def test_a_projection_that_stays_behind_is_told_and_tried_again_by_who_asked() -> None:
    now = 0.0

    async def ends() -> Ends:
        return Ends(b"t" * 16, {0: 10})

    async def sleep(seconds: float) -> None:
        nonlocal now
        now += seconds

    passing = Passing(Store(None, at=9), ends, monotonic=lambda: now, sleep=sleep)
    with pytest.raises(Transient) as behind:
        await passing.passed(Ref(TENANT, FACT, version(1)))
    assert behind.value.code == "projection_behind"
    assert 30 < now < 31
