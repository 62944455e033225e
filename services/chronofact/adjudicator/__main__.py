"""``python -m chronofact.adjudicator``: the one place that picks the adjudicator's adapters."""

from __future__ import annotations

import asyncio
import random
import secrets
import time
from collections.abc import Awaitable, Callable, Coroutine
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import structlog
import uvloop

from chronofact.adjudicator.around import Around
from chronofact.adjudicator.judging import Judge
from chronofact.adjudicator.ledger import DayLedger
from chronofact.adjudicator.page import Today, Told, add_pending, looked_up
from chronofact.adjudicator.passing import Passing
from chronofact.adjudicator.ports import Asker, Ends, LogEnds
from chronofact.adjudicator.service import PART, Adjudicator, attempted, end_of_process
from chronofact.adjudicator.stream import TextStream
from chronofact.adjudicator.sweeping import Sweeps
from chronofact.adjudicator.telling import Telling
from chronofact.adjudicator.unlooked import Left
from chronofact.adjudicator.writing import PART as WRITER
from chronofact.adjudicator.writing import WriterCalls
from chronofact.contracts.topics import facts_topic, texts_topic
from chronofact.kafka.admin import Admin
from chronofact.postgres.judging_store import JudgingStore
from chronofact.postgres.model_store import ModelStore
from chronofact.postgres.session import address_of
from chronofact.runtime.config import Settings, is_loopback, settings_or_exit, start_or_exit
from chronofact.runtime.failures import Transient, Unfit
from chronofact.runtime.http import create_app
from chronofact.runtime.lifecycle import stop_loop_on_signals
from chronofact.runtime.logging import configure_logging
from chronofact.runtime.memory import settle_memory
from chronofact.runtime.metrics import Metrics
from chronofact.runtime.serve import listening_or_exit, serve
from chronofact.text.pairs import Thresholds

if TYPE_CHECKING:
    from chronofact.text.gate import Gate

POSTGRES: Final = "postgres"
STREAM: Final = "stream"
LOOK_S: Final = 1.0
FORGET_S: Final = 3_600.0
ROUNDS: Final = ("sweep", "retry", "forget")
"""Of timers: what hindered one is known to have passed only when it comes again, up to an hour later."""
LEAVE_S: Final = 1.0
STOP_S: Final = 3.0
"""Of the drain, for Faust to commit and leave its group."""
SUMMARY: Final = "Decides how text memories relate; here health, metrics and what waits."


def main() -> None:
    """Runs the adjudicator until SIGTERM."""
    settings = settings_or_exit()
    configure_logging("adjudicator", settings.log_level)
    with start_or_exit(settings):
        key = _key(settings)
    settle_memory()
    with listening_or_exit("adjudicator"):
        uvloop.run(run(settings, key))


async def run(settings: Settings, key: str | None) -> None:
    """The service from its first look around to its last verdict."""
    metrics = Metrics("adjudicator")
    health = Around(addresses(settings), metrics, rounds=ROUNDS, monotonic=time.monotonic)
    health.ready(PART)
    service = Service(settings, key, health, metrics)
    await service.store.open()
    app = create_app("adjudicator", SUMMARY, health=health, metrics=metrics)
    add_pending(app, service.pending)
    with stop_loop_on_signals(leave_within_s=settings.drain_timeout_s + LEAVE_S) as stopping:
        working = watched(service.work())
        try:
            await serve(
                app,
                host=settings.adjudicator_host,
                port=settings.adjudicator_port,
                health=health,
                stopping=stopping,
                drain_timeout_s=settings.drain_timeout_s,
            )
        finally:
            working.cancel()
            await asyncio.gather(working, return_exceptions=True)
            await service.stop(settings.drain_timeout_s - STOP_S)
    structlog.get_logger().info("stopped")


class Service:
    """Everything put together."""

    def __init__(self, settings: Settings, key: str | None, health: Around, metrics: Metrics) -> None:
        self._settings = settings
        self._health = health
        self._telling = Telling(metrics)
        conninfo = settings.postgres.get_secret_value()
        self.store = JudgingStore(conninfo)
        self._spending = ModelStore(self.store.pool)
        self.today = Today(0, settings.model_calls_per_day, 0, settings.model_tokens_per_day)
        self.gate = self._gate(key)
        lacks_token = settings.auth == "tokens" and settings.adjudicator_token is None
        self._writer = WriterCalls(*_writer(settings), health, lacks_token=lacks_token, retried=self._telling.retried)
        left = Left()
        self._adjudicator = Adjudicator(self._judge(self.gate), health, self._telling, left=left)
        self.sweeps = Sweeps(
            self.store,
            self._adjudicator.judge,
            self.gate,
            at_once=min(settings.adjudicator_at_once, 8),
            unseen_s=settings.sweep_s,
            retry_s=settings.pending_retry_s,
            review_after_s=settings.pending_review_s,
            now=_now,
            monotonic=time.monotonic,
            left=left,
        )
        self._stream: TextStream | None = None
        self._looking: list[asyncio.Task[None]] = []

    def _gate(self, key: str | None) -> Gate | None:
        settings = self._settings
        if not settings.model_url:
            return None
        # the client of models takes a second to import, which is spared where none is asked
        from chronofact.text.budget import Price  # noqa: PLC0415
        from chronofact.text.calling import Model  # noqa: PLC0415
        from chronofact.text.endpoint import Endpoint  # noqa: PLC0415
        from chronofact.text.gate import Gate, Limits  # noqa: PLC0415

        temperature = None if settings.model_temperature < 0 else settings.model_temperature
        return Gate(
            Endpoint(Model(settings.model_url, settings.model_name, key, settings.model_timeout_s, temperature)),
            DayLedger(
                self._spending,
                calls_max=settings.model_calls_per_day,
                tokens_max=settings.model_tokens_per_day,
                claims=self.store.claims,
            ),
            limits=Limits(settings.model_concurrency, settings.model_attempts_max, settings.model_pairs_max),
            price=Price(settings.model_price_read, settings.model_price_written),
            told=self._telling.called,
            token=lambda: secrets.token_hex(4),
            dice=random.Random(),  # noqa: S311 - the order of questions; names are of `secrets`
        )

    def _judge(self, asker: Asker | None) -> Judge:
        passing = Passing(self.store, log_ends(self._settings), monotonic=time.monotonic)
        return Judge(
            self.store,
            self.store.claims,
            passing,
            self._writer,
            asker,
            observer=self._telling,
            thresholds=Thresholds(),
            asked_max=self._settings.model_pairs_max,
            now=_now,
            monotonic=time.monotonic,
        )

    async def pending(self) -> Told:
        """What waits, for a page; texts of memories only where nobody from elsewhere can ask for it."""
        picture = self.sweeps.picture
        readable = self.store if is_loopback(self._settings.adjudicator_host) else None
        return Told(picture, self.gate, self.today, *await looked_up(picture, self.store, readable))

    async def work(self) -> None:
        """Joins the group once it can, then looks around until cancelled."""
        self._looking.append(watched(self._look_around()))
        self._stream = await self._joined()
        self._looking.append(watched(self._look_at_kafka()))
        await attempted("retry", self._retry, self._health)
        while True:
            await asyncio.sleep(LOOK_S)
            if (reason := self._stream.crashed) is not None:
                end_of_process(reason)
            self._telling.owns(self._stream.partitions, self._stream.working)

    async def _joined(self) -> TextStream:
        """Kafka and the topic have to be there: Faust starts once, and is not asked to wait."""
        settings = self._settings
        topic = texts_topic(settings.texts_topic)
        admin = Admin(settings.kafka, options=settings.kafka_options)
        while True:
            try:
                await asyncio.to_thread(admin.state, topic)
                stream = TextStream(
                    settings.kafka,
                    topic.name,
                    group=f"chronofact.adjudicator.{topic.name}",
                    member=settings.adjudicator_name,
                    handle=self._adjudicator.take,
                    fault=end_of_process,
                    at_once=settings.adjudicator_at_once,
                    options=settings.kafka_options,
                )
                for seconds, name, round_of in self._rounds():
                    stream.every(seconds, name, partial(attempted, name, round_of, self._health))
                await stream.start()
            except (Transient, Unfit) as failure:
                self._health.hindered(STREAM, failure)
                self._telling.retried(failure.code)
                await asyncio.sleep(LOOK_S)
            else:
                return stream

    def _rounds(self) -> list[tuple[float, str, Callable[[], Awaitable[object]]]]:
        """What Faust's timers do."""
        return [
            (self._settings.sweep_s, "sweep", self._sweep),
            (self._settings.pending_retry_s, "retry", self._retry),
            (FORGET_S, "forget", lambda: self._spending.forget(self._settings.model_answers_days)),
        ]

    async def _sweep(self) -> None:
        self._telling.swept(await self.sweeps.sweep())

    async def _retry(self) -> None:
        await self.sweeps.retry()
        self._telling.saw(self.sweeps.picture)

    async def _look_at_kafka(self) -> None:
        """Whether the topic is there: Faust waits for it in silence."""
        topic = texts_topic(self._settings.texts_topic)
        admin = Admin(self._settings.kafka, timeout_s=LOOK_S, options=self._settings.kafka_options)
        while True:
            try:
                await asyncio.to_thread(admin.topic_id, topic.name)
            except (Transient, Unfit) as failure:
                self._health.hindered(STREAM, failure)
            else:
                self._health.ready(STREAM)
            await asyncio.sleep(LOOK_S)

    async def _look_around(self) -> None:
        """Whether Postgres and the writer are there, and what today has cost."""
        while True:
            try:
                calls, tokens = await self._spending.spent()
            except (Transient, Unfit) as failure:
                self._health.hindered(POSTGRES, failure)
            else:
                self._health.ready(POSTGRES)
                self.today = self.today._replace(calls=calls, tokens=tokens)
                is_silent = self.gate is not None and self.gate.opens_in_s > 0
                self._telling.spent(calls, tokens, is_silent=is_silent)
            await self._writer.look()
            await asyncio.sleep(LOOK_S)

    async def stop(self, drain_timeout_s: float) -> None:
        """Finishes what was taken."""
        for task in self._looking:
            task.cancel()
        if self._stream is not None:
            await self._stream.stop(drain_timeout_s)
        if self.gate is not None:
            await self.gate.close()
        await self._writer.close()
        await self.store.close()


def watched(work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
    """What runs beside the server; a fault in it ends the process, as one anywhere else does."""

    def ended(task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (error := task.exception()) is not None:
            end_of_process(error)

    task = asyncio.create_task(work)
    task.add_done_callback(ended)
    return task


def addresses(settings: Settings) -> dict[str, str | None]:
    """What is needed, and where it is looked for."""
    return {
        POSTGRES: address_of(settings.postgres.get_secret_value()),
        STREAM: settings.kafka,
        WRITER: _writer(settings)[0],
        PART: None,
    }


def log_ends(settings: Settings) -> LogEnds:
    """Asks Kafka where the facts topic ends."""
    topic = facts_topic(settings.facts_topic, settings.facts_partitions)
    admin = Admin(settings.kafka, options=settings.kafka_options)

    async def ask() -> Ends:
        return Ends(*await asyncio.to_thread(admin.ends, topic.name))

    return ask


def _writer(settings: Settings) -> tuple[str, str | None]:
    """Its URL, and our token."""
    url = settings.adjudicator_writer or f"http://{settings.writer_host}:{settings.writer_port}"
    token = settings.adjudicator_token
    return url, None if token is None else token.get_secret_value()


def _key(settings: Settings) -> str | None:
    """The model's key.

    Raises:
        OSError: its file can't be read.
    """
    return None if settings.model_key_file is None else settings.model_key_file.read_text().strip()


def _now() -> int:
    return time.time_ns() // 1_000


if __name__ == "__main__":
    main()
