"""``python -m chronofact.writer``: the one place that picks the writer's adapters."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Callable
from functools import partial

import structlog
import uvloop
from fastapi import FastAPI

from chronofact.contracts.fact_keys import KeyDeclarations
from chronofact.contracts.scope_kinds import ScopeKinds
from chronofact.contracts.topics import Topic, facts_topic, texts_topic
from chronofact.domain.errors import Rejected
from chronofact.kafka.admin import Admin, check
from chronofact.kafka.producer import LogProducer
from chronofact.runtime.auth import Credentials, credentials_of
from chronofact.runtime.config import Settings, settings_or_exit, start_or_exit
from chronofact.runtime.environment import log_unknown_settings
from chronofact.runtime.health import Health
from chronofact.runtime.http import create_app
from chronofact.runtime.lifecycle import stop_loop_on_signals
from chronofact.runtime.logging import configure_logging
from chronofact.runtime.memory import settle_memory
from chronofact.runtime.metrics import Metrics
from chronofact.runtime.serve import listening_or_exit, serve
from chronofact.writer.accept import Acceptor
from chronofact.writer.drops import Drops, add_drops
from chronofact.writer.http import Events, add_events
from chronofact.writer.intake import Bodies
from chronofact.writer.interactions import Interactions, NoInteractions
from chronofact.writer.interactions_http import Conversations, add_interactions
from chronofact.writer.memories import Memories, NoMemories
from chronofact.writer.memories_http import add_memories
from chronofact.writer.notices import Notices
from chronofact.writer.ports import Log
from chronofact.writer.service import Writer
from chronofact.writer.text_side import TextSide
from chronofact.writer.texts import Texts, made, why_not
from chronofact.writer.watch import PART, Watch


def main() -> None:
    """Runs the writer until SIGTERM."""
    settings = settings_or_exit()
    configure_logging("writer", settings.log_level)
    log_unknown_settings()
    with start_or_exit(settings):
        kinds = ScopeKinds.load(settings.scope_kinds_file)
        acceptor = Acceptor(KeyDeclarations.load(settings.fact_keys_file), kinds)
        credentials = credentials_of(settings, normalise_scope=kinds.pattern)
        if settings.texts == "on" and (refusal := why_not(settings.texts)) is not None:
            raise ValueError(f"CHRONOFACT_TEXTS is on: {refusal.message}")
    settle_memory()
    with listening_or_exit("writer"):
        sys.exit(uvloop.run(run(settings, acceptor, credentials)))


async def run(settings: Settings, acceptor: Acceptor, credentials: Credentials) -> int:
    """The service from its first look at the topic to its last acknowledgement; the code to leave with."""
    topic = facts_topic(settings.facts_topic, settings.facts_partitions)
    health, metrics = Health(PART), Metrics("writer")
    watch = Watch(look_of(settings, topic), health, check_s=settings.topic_check_s)
    producer, text_side = _producer(settings, topic), _text_side(settings, metrics)
    app = build_app(
        settings,
        producer,
        acceptor,
        credentials,
        topic=topic,
        watch=watch,
        health=health,
        metrics=metrics,
        texts=text_side,
    )
    with stop_loop_on_signals() as stopping:
        watching = asyncio.create_task(watch.run())
        if settings.texts == "on" and isinstance(text_side, TextSide):
            await text_side.texts.load()
        code = await serve(
            app,
            host=settings.writer_host,
            port=settings.writer_port,
            health=health,
            stopping=stopping,
            drain_timeout_s=settings.drain_timeout_s,
            beside=[watching],
        )
        watching.cancel()
        if isinstance(text_side, TextSide):
            await text_side.close()
        await asyncio.to_thread(producer.close)
        structlog.get_logger().info("stopped")
        return code


def _producer(settings: Settings, topic: Topic) -> LogProducer:
    return LogProducer(
        settings.kafka,
        topic.name,
        delivery_timeout_s=settings.delivery_timeout_s,
        linger_ms=settings.linger_ms,
        queue_messages_max=settings.queue_messages_max,
        queue_bytes_max=settings.queue_bytes_max,
        options=settings.kafka_options,
    )


def _text_side(settings: Settings, metrics: Metrics) -> TextSide | Rejected:
    """What reads texts and tells of them, or why there is nothing that does."""
    if (refusal := why_not(settings.texts)) is not None:
        return refusal
    topic = texts_topic(settings.texts_topic)
    producer = _producer(settings, topic)
    texts = Texts(made, metrics, texts_max=2 * settings.commands_max)
    return TextSide(texts, Notices(producer, metrics, partitions=topic.partitions), partial(producer.close, 1))


def build_app(
    settings: Settings,
    log: Log,
    acceptor: Acceptor,
    credentials: Credentials,
    *,
    topic: Topic,
    watch: Watch,
    health: Health,
    metrics: Metrics,
    texts: TextSide | Rejected,
) -> FastAPI:
    """The application over any log; ``texts`` is what reads texts, or why they are refused."""
    app = create_app("writer", "Takes facts and appends them to the log.", health=health, metrics=metrics)
    metrics.gauge("chronofact_writer_queue_messages").set_function(log.queue_length)
    writer = Writer(
        log, acceptor, partitions=topic.partitions, watch=watch, health=health, metrics=metrics, texts=texts
    )
    bodies = Bodies(
        body_bytes_max=settings.body_bytes_max,
        bodies_bytes_max=settings.bodies_bytes_max,
        timeout_s=settings.body_timeout_s,
    )
    events = Events(writer, credentials, bodies, commands_max=settings.commands_max, clock=_now)
    add_events(app, events, metrics)
    add_drops(app, Drops(writer, credentials, bodies), metrics)
    taking = NoMemories(texts) if isinstance(texts, Rejected) else Memories(writer, acceptor)
    memories = Events(taking, credentials, bodies, commands_max=settings.commands_max, clock=_now)
    add_memories(app, memories, metrics)
    talking = (
        NoInteractions(texts)
        if isinstance(texts, Rejected)
        else Interactions(writer, acceptor, texts.texts, texts.notices)
    )
    add_interactions(app, Conversations(talking, credentials, bodies, clock=_now), metrics)
    return app


def look_of(settings: Settings, topic: Topic) -> Callable[[], bytes]:
    """A look at the topic that remembers which one it saw first."""
    admin = Admin(settings.kafka, options=settings.kafka_options)
    seen: list[bytes] = []

    def look() -> bytes:
        state = admin.state(topic, is_partial=True)
        check(topic, state, topic_id=seen[0] if seen else None)
        seen[:] = [state.topic_id]
        return state.topic_id

    return look


def _now() -> int:
    return time.time_ns() // 1_000


if __name__ == "__main__":
    main()
