"""The projector's composition root: adapters for the ports, and a process that ends when it is told to."""

from __future__ import annotations

import gc
import random
import sys
import threading
import time

import structlog

from chronofact.contracts.topics import facts_topic
from chronofact.kafka.admin import Admin
from chronofact.kafka.consumer import LogConsumer
from chronofact.postgres.projection_store import ProjectionStore
from chronofact.projecting.parking import ParkingLimit, ParkingLimits
from chronofact.projector.log import KafkaLog
from chronofact.projector.loop import Limits, Projector
from chronofact.projector.serving import HealthServer
from chronofact.projector.stall import Stall
from chronofact.projector.telling import PART, Telling
from chronofact.runtime.config import Settings, settings_or_exit
from chronofact.runtime.failures import Corruption
from chronofact.runtime.health import Health
from chronofact.runtime.lifecycle import stop_on_signals
from chronofact.runtime.logging import configure_logging, place_of
from chronofact.runtime.metrics import Metrics
from chronofact.runtime.serve import CannotListen, listening_or_exit

GC_THRESHOLDS = (100_000, 10, 10_000)
"""Histories live long and leave without a collection (FactCache): looking through them all would only cost time."""


def main() -> None:
    """Run until SIGTERM or SIGINT; leaves with 1 when something is wrong with us."""
    settings = settings_or_exit()
    configure_logging("projector", settings.log_level)
    gc.freeze()
    gc.set_threshold(*GC_THRESHOLDS)
    with stop_on_signals() as stopping, listening_or_exit("projector"):
        sys.exit(_run(settings, stopping))


def _run(settings: Settings, stopping: threading.Event) -> int:
    log = structlog.get_logger()
    health = Health(PART)
    metrics = Metrics("projector")
    with HealthServer(health, metrics, host=settings.projector_host, port=settings.projector_port) as server:
        store = ProjectionStore(settings.postgres.get_secret_value(), settings.projection, name=settings.projector_name)
        projector = _compose(settings, store, Telling(health, metrics, wall_s=time.time))
        stall = Stall(health, monotonic=time.monotonic, cut=store.cut)
        server.watch(stall.look)
        try:
            while not stopping.is_set():
                stall.turned()
                projector.step()
                server.check()
        except (ParkingLimit, Corruption) as fault:
            log.critical("failed", code=type(fault).__name__, message=str(fault))
            return 1
        except CannotListen:
            raise
        except Exception as fault:  # noqa: BLE001 - a process's entry: whatever it is, it ends here and loudly
            log.critical("failed", code="fault", message=place_of(fault))
            return 1
        finally:
            projector.close()
    log.info("stopped")
    return 0


def _compose(settings: Settings, store: ProjectionStore, telling: Telling) -> Projector:
    topic = facts_topic(settings.facts_topic)

    def consumer() -> LogConsumer:
        return LogConsumer(
            settings.kafka,
            topic.name,
            # the topic too: in one cluster there may be several, each with a p1 and members of the same names
            group=f"chronofact.projector.{topic.name}.{settings.projection}",
            member=settings.projector_name,
            options=settings.kafka_options,
        )

    admin = Admin(settings.kafka, options=settings.kafka_options)
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
    )


if __name__ == "__main__":
    main()
