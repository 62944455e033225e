"""The projector's composition root: adapters for the ports, and a process that ends when it is told to."""

from __future__ import annotations

import gc
import random
import sys
import threading
import time
from collections.abc import Callable

import structlog

from chronofact.contracts.topics import facts_topic
from chronofact.kafka.admin import Admin
from chronofact.kafka.consumer import LogConsumer
from chronofact.postgres.feeding import Roster
from chronofact.postgres.projection_store import ProjectionStore
from chronofact.projecting.parking import ParkingLimits
from chronofact.projector.feeding import LOOK_S, PART, Feed, Feeder, refusals_told
from chronofact.projector.log import KafkaLog
from chronofact.projector.loop import Limits, Projector
from chronofact.projector.serving import HealthServer
from chronofact.projector.stall import Stall
from chronofact.projector.telling import Telling
from chronofact.projector.turns import OfTurns, Turns
from chronofact.runtime.config import Settings, settings_or_exit
from chronofact.runtime.environment import log_unknown_settings
from chronofact.runtime.failures import Transient, Unfit
from chronofact.runtime.health import Health
from chronofact.runtime.lifecycle import stop_on_signals
from chronofact.runtime.logging import configure_logging, place_of
from chronofact.runtime.metrics import Metrics
from chronofact.runtime.serve import CannotListen, listening_or_exit

CACHE_BYTES_MAX = 144 * 2**20
"""Of all histories in memory, whatever projection they are of."""
GC_THRESHOLDS = (10_000, 1, 1_000_000)
"""Histories live long and leave without a collection (FactCache): looking through them all would only cost time.

Looking through what is new is done in small portions: all projections of the process stand still meanwhile.
"""


def main() -> None:
    """Run until SIGTERM or SIGINT; leaves with 1 when something is wrong with us."""
    settings = settings_or_exit()
    configure_logging("projector", settings.log_level)
    log_unknown_settings()
    gc.freeze()
    gc.set_threshold(*GC_THRESHOLDS)
    with stop_on_signals() as stopping, listening_or_exit("projector"):
        sys.exit(_run(settings, stopping))


def _run(settings: Settings, stopping: threading.Event) -> int:
    log = structlog.get_logger()
    health = Health(PART)
    metrics = Metrics("projector")
    roster = Roster(settings.postgres.get_secret_value())
    turns = Turns()
    feeder = Feeder(
        roster,
        lambda projection: _feed(settings, projection, health, metrics, OfTurns(turns)),
        health,
        only=frozenset(filter(None, settings.feeds.split(","))),
        cache_bytes_max=CACHE_BYTES_MAX,
        guard=_guarded,
    )
    with HealthServer(health, metrics, host=settings.projector_host, port=settings.projector_port) as server:
        server.watch(feeder.look_at_stalls)
        try:
            while not stopping.is_set():
                if not feeder.look():
                    return 1
                server.check()
                stopping.wait(LOOK_S)
        except CannotListen:
            raise
        except Exception as fault:  # noqa: BLE001 - a process's entry: whatever it is, it ends here and loudly
            log.critical("failed", code="fault", message=place_of(fault))
            return 1
        finally:
            feeder.close()
            roster.close()
    log.info("stopped")
    return 0


def _guarded(feed: Callable[[], None], failed: Callable[[str, str], None]) -> None:
    try:
        refusals_told(feed, failed)
    except Exception as fault:  # noqa: BLE001 - a thread's entry: whatever it is, it ends here and loudly
        failed("fault", place_of(fault))


def _feed(settings: Settings, projection: str, health: Health, metrics: Metrics, turn: OfTurns) -> Feed:
    store = ProjectionStore(settings.postgres.get_secret_value(), projection, name=settings.projector_name)
    telling = Telling(health, metrics, projection, wall_s=time.time)
    return Feed(
        projection,
        lambda: _compose(settings, projection, store, telling, turn),
        telling,
        Stall(health, monotonic=time.monotonic, cut=store.cut, part=f"loop {projection}"),
        turn=turn,
    )


def _compose(settings: Settings, projection: str, store: ProjectionStore, telling: Telling, turn: OfTurns) -> Projector:
    admin = Admin(settings.kafka, options=settings.kafka_options)
    try:
        # what was made from a topic that is moved away from is fed from that one
        topic = admin.made_of(store.made_of(), facts_topic(settings.facts_topic, settings.facts_partitions))
    except (Transient, Unfit):
        store.close()
        raise

    def consumer() -> LogConsumer:
        return LogConsumer(
            settings.kafka,
            topic.name,
            # the topic too: in one cluster there may be several, each with a p1 and members of the same names
            group=f"chronofact.projector.{topic.name}.{projection}",
            member=settings.projector_name,
            options=settings.kafka_options,
        )

    limits = Limits(
        batch_events_max=settings.batch_events_max,
        batch_wait_s=settings.batch_wait_ms / 1_000,
        look_every_s=settings.topic_check_s,
        parking=ParkingLimits(settings.parked_share_max, settings.parked_row_max),
    )
    return Projector(
        KafkaLog(consumer, admin, topic, linger_s=limits.linger_s),
        store,
        observer=telling,
        monotonic=time.monotonic,
        jitter=random.random,
        limits=limits,
        turn=turn,
    )


if __name__ == "__main__":
    main()
