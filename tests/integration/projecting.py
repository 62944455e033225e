"""A projector in a process of its own, what it reads, and what it wrote."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterable
from types import TracebackType
from typing import Any, Protocol, Self

import httpx
import orjson
import psycopg
from confluent_kafka import KafkaError, Message, Producer
from confluent_kafka.admin import AdminClient

from chronofact.embedded.compiled import with_build

STOP_S = 20
WAIT_S = 60
LOGGED_SHOWN = 40


class Sayable(Protocol):
    """A message for the log."""

    @property
    def partition(self) -> int: ...
    @property
    def key(self) -> bytes: ...
    @property
    def value(self) -> bytes: ...


class ServiceProcess:
    """A service on a free port of loopback; killed at the end of the block if it still runs."""

    service: str

    def __init__(self, kafka: str, topic: str, database: str, **settings: object) -> None:
        environ = {name: value for name, value in os.environ.items() if not name.startswith("CHRONOFACT_")} | {
            "CHRONOFACT_KAFKA": kafka,
            "CHRONOFACT_POSTGRES": database,
            "CHRONOFACT_FACTS_TOPIC": topic,
            "CHRONOFACT_AUTH": "off",
            f"CHRONOFACT_{self.service.upper()}_PORT": "0",
            **{f"CHRONOFACT_{name.upper()}": str(said) for name, said in settings.items()},
        }
        line = [sys.executable, "-m", f"chronofact.{self.service}"]
        self.process = subprocess.Popen(line, env=with_build(environ), stderr=subprocess.PIPE)
        self.logged: list[dict[str, Any]] = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            print(*self.logged[-LOGGED_SHOWN:], sep="\n")
        self.kill()

    def _read(self) -> None:
        assert self.process.stderr is not None
        with self.process.stderr:
            for line in self.process.stderr:
                self.logged.append(orjson.loads(line) if line.startswith(b"{") else {"event": "raw", "line": line})

    def events(self, name: str) -> list[dict[str, Any]]:
        """What it logged under this name."""
        return [one for one in self.logged if one["event"] == name]

    def await_event(self, name: str, count: int = 1) -> dict[str, Any]:
        """The so many-th log line of this name."""
        deadline = time.monotonic() + WAIT_S
        while len(found := self.events(name)) < count:
            assert time.monotonic() < deadline, self.logged
            assert self.process.poll() is None or self._reader.is_alive() or self.events(name), self.logged
            time.sleep(0.02)
        return found[count - 1]

    @property
    def port(self) -> int:
        """Where it listens."""
        return int(self.await_event("started")["port"])

    def readyz(self) -> list[str]:
        """What /readyz names; empty when ready."""
        address = f"http://127.0.0.1:{self.port}/readyz"
        # loading certificates would take 24 ms each time
        return [reason["code"] for reason in httpx.get(address, verify=False).json()["reasons"]]

    def await_readyz(self, *wanted: str) -> None:
        """Until /readyz names just these."""
        deadline = time.monotonic() + WAIT_S
        while (found := self.readyz()) != list(wanted):
            assert time.monotonic() < deadline, found
            time.sleep(0.05)

    def kill(self) -> None:
        """SIGKILL, and wait until it is gone."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(STOP_S)
        self._reader.join(STOP_S)

    def stop(self) -> int:
        """SIGTERM; its exit code."""
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(STOP_S)
        self._reader.join(STOP_S)
        return code


class ProjectorProcess(ServiceProcess):
    """`python -m chronofact.projector`."""

    service = "projector"


def append(kafka: str, topic: str, messages: Iterable[Sayable]) -> int:
    """Puts messages into the topic, in order; how many. Fails where the broker did not take one."""
    producer = Producer({"bootstrap.servers": kafka, "linger.ms": 5, "enable.idempotence": True, "log_level": 2})
    refused: list[KafkaError] = []

    def delivered(error: KafkaError | None, _message: Message) -> None:
        if error is not None:
            refused.append(error)

    count = 0
    for count, one in enumerate(messages, start=1):
        producer.produce(topic, one.value, one.key, one.partition, on_delivery=delivered)
        if count % 5_000 == 0:
            producer.flush(WAIT_S)
    assert producer.flush(WAIT_S) == 0
    assert not refused, f"{len(refused)} of {count}: {refused[0]}"
    return count


def delete_topic(kafka: str, topic: str) -> None:
    """Until the broker tells of it no more, a moment later: whoever made it anew before would take it to be there."""
    admin = AdminClient({"bootstrap.servers": kafka, "log_level": 2})
    admin.delete_topics([topic])[topic].result(WAIT_S)
    deadline = time.monotonic() + WAIT_S
    while topic in admin.list_topics(timeout=WAIT_S).topics:
        assert time.monotonic() < deadline
        time.sleep(0.02)


def await_offsets(database: str, total: int, *, timeout_s: float = WAIT_S) -> None:
    """Until the checkpoints of p1 add up to so many messages."""
    deadline = time.monotonic() + timeout_s
    statement = "select coalesce(sum(next_offset), 0)::bigint from chronofact.checkpoint where projection = 'p1'"
    with psycopg.connect(database, autocommit=True) as connection:
        while (found := _one(connection, statement)[0]) < total:
            assert time.monotonic() < deadline, f"{found} of {total}"
            time.sleep(0.02)


def state_of(database: str) -> dict[bytes, tuple[int, bytes]]:
    """Each fact's sequence and state hash."""
    with psycopg.connect(database) as connection:
        lines = connection.execute("select uuid_send(fact_id), event_seq, state_hash from p1.fact").fetchall()
    return {fact_id: (event_seq, state_hash) for fact_id, event_seq, state_hash in lines}


def assert_counted_once(database: str) -> None:
    """Each fact's events are numbered 1, 2, 3, ... in log order, none twice, none behind its head."""
    with psycopg.connect(database) as connection:
        faults = connection.execute(
            """
            select f.fact_no, f.event_seq, count(e.*), min(e.event_seq), max(e.event_seq), count(distinct e.event_id)
            from p1.fact as f left join p1.event as e on e.fact_no = f.fact_no
            group by f.fact_no
            having count(e.*) <> f.event_seq or count(distinct e.event_id) <> f.event_seq
                or min(e.event_seq) <> 1 or max(e.event_seq) <> f.event_seq
            """
        ).fetchall()
        disordered = _one(
            connection,
            """
            select count(*) from (
                select kafka_offset < lag(kafka_offset) over w or recorded_at < lag(recorded_at) over w as falls
                from p1.event window w as (partition by fact_no order by event_seq)
            ) as step where falls
            """,
        )
    assert faults == []
    assert disordered == (0,)


def _one(connection: psycopg.Connection[Any], statement: str) -> tuple[Any, ...]:
    found: tuple[Any, ...] | None = connection.execute(statement).fetchone()
    assert found is not None
    return found
