"""A Faust agent over the new text memories that loses none: acknowledged in order, and only what was handled.

Faust acknowledges what an exception leaves behind, so none leaves the agent: what passes is repeated by who handles, and
a fault of ours ends the process without unwinding (docs/adr/0036-faust-hosts-the-adjudicator.md).
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

import faust
from aiokafka.errors import KafkaError
from faust import Stream
from faust.types import AppT, EventT, StreamT

from chronofact.adjudicator.broker import broker_settings
from chronofact.runtime.failures import Transient

Handle = Callable[[bytes], Awaitable[None]]
Fault = Callable[[BaseException], None]
SESSION_TIMEOUT_S: Final = 6.0
COMMIT_S: Final = 0.5


@dataclass(slots=True)
class _Taken:
    event: EventT[Any]
    is_done: bool = False


class InOrder:
    """What was taken of each partition and generation, so that nothing is acknowledged before what came ahead of it."""

    def __init__(self) -> None:
        self._taken: dict[tuple[Any, int | None], deque[_Taken]] = {}

    def take(self, event: EventT[Any]) -> _Taken:
        """One more, behind all others of its partition."""
        taken = _Taken(event)
        self._taken.setdefault(_line(event), deque()).append(taken)
        return taken

    def done(self, taken: _Taken) -> list[EventT[Any]]:
        """What may be acknowledged now, in order."""
        taken.is_done = True
        line = self._taken[_line(taken.event)]
        ready = []
        while line and line[0].is_done:
            ready.append(line.popleft().event)
        if not line:
            del self._taken[_line(taken.event)]
        return ready


def _line(event: EventT[Any]) -> tuple[Any, int | None]:
    return event.message.tp, event.message.generation_id


class _App(faust.App):
    def _create_directories(self) -> None:
        """None: there are no tables, and where a process begins it may not write."""


class TextStream:
    """Reads one topic in a group; ``handle`` is awaited for up to ``at_once`` messages at a time, of whatever order."""

    def __init__(
        self,
        bootstrap: str,
        topic: str,
        *,
        group: str,
        member: str,
        handle: Handle,
        fault: Fault,
        at_once: int = 32,
        options: Mapping[str, str] | None = None,
    ) -> None:
        self._handle = handle
        self._fault = fault
        self._room = asyncio.Semaphore(at_once)
        self._order = InOrder()
        self._working: set[asyncio.Task[None]] = set()
        self._is_started = self._is_stopping = False
        self.app: AppT = _App(
            group,
            # the group says the topic, too: in one cluster there may be several
            **broker_settings(bootstrap, options),
            broker_client_id="chronofact-adjudicator",
            consumer_group_instance_id=member,
            consumer_auto_offset_reset="earliest",
            broker_session_timeout=SESSION_TIMEOUT_S,
            broker_heartbeat_interval=1.0,
            broker_commit_interval=COMMIT_S,
            broker_max_poll_records=at_once,
            stream_buffer_maxsize=at_once,
            stream_wait_empty=False,
            topic_allow_declare=False,
            topic_disable_leader=True,
            web_enabled=False,
            autodiscover=False,
            store="memory://",
        )
        texts = self.app.topic(topic, key_serializer="raw", value_serializer="raw", internal=False)
        self.app.agent(texts, name="texts", concurrency=1)(self._texts)

    @property
    def working(self) -> int:
        """Messages taken and not yet handled."""
        return len(self._working)

    @property
    def partitions(self) -> int:
        """Partitions that are ours now."""
        return len(self.app.consumer.assignment()) if self._is_started else 0

    @property
    def crashed(self) -> BaseException | None:
        """What ended Faust, if something did."""
        if not self.app.crashed:
            return None
        return self.app.crash_reason or RuntimeError("Faust has ended")

    def every(self, seconds: float, name: str, work: Callable[[], Awaitable[None]]) -> None:
        """Has this done again and again once the stream is started; what it raises is a fault of ours."""

        async def round_of() -> None:
            try:
                await work()
            except Exception as error:
                self._fault(error)
                raise

        self.app.timer(seconds, name=name)(round_of)

    async def start(self) -> None:
        """Joins the group.

        Raises:
            Transient: ``kafka_unreachable``; make another stream to try again.
        """
        self.app.finalize()
        try:
            await self.app.start()
        except KafkaError as error:
            raise Transient("kafka_unreachable", f"Kafka can't be reached: {type(error).__name__}") from None
        self._is_started = True

    async def stop(self, drain_timeout_s: float) -> None:
        """Takes nothing more, lets what was taken come to its end, and leaves; what did not end comes again."""
        self._is_stopping = True
        if self._working:
            _, left = await asyncio.wait(self._working, timeout=drain_timeout_s)
            for task in left:
                task.cancel()
            await asyncio.gather(*left, return_exceptions=True)
        await self.app.stop()

    async def _texts(self, stream: StreamT[Any]) -> None:
        source = cast(Stream[Any], cast(Stream[Any], stream).noack())
        async for event in source.events():
            if self._is_stopping:
                continue
            taken = self._order.take(event)
            await self._room.acquire()
            task = asyncio.create_task(self._work(source, taken))
            self._working.add(task)
            task.add_done_callback(self._working.discard)

    async def _work(self, stream: Stream[Any], taken: _Taken) -> None:
        try:
            await self._handle(taken.event.value or b"")
        except Exception as error:
            # nothing of it may reach Faust: the process ends here
            self._fault(error)
            raise
        finally:
            self._room.release()
        for event in self._order.done(taken):
            if event.message.generation_id == self.app.consumer_generation_id:
                await stream.ack(event)
