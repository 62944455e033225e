"""Faults of every kind at random, one after the other, for as long as the seed says; counts still agree."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from random import Random

import pytest

from chronofact.kafka.admin import create_topics
from chronofact.postgres.migrate import migrate
from tests.integration.faults.servers import Server, address_of, addresses, kafka_in, postgres_in
from tests.integration.faults.services import Site, site, stop_process, wake
from tests.integration.faults.wire import Wire, wire_to
from tests.integration.projecting import ProjectorProcess

TOPIC = "memory.facts.v1"
FAULTS = int(os.environ.get("CHRONOFACT_SOAK_S", "300")) // 6


class Storm:
    """Two projectors, one of them over a wire, and everything that may happen to them."""

    def __init__(self, random: Random, here: Site, kafka: Server, postgres: Server, wire: Wire, through: str) -> None:
        self._random, self._here, self._kafka, self._postgres = random, here, kafka, postgres
        self._wire, self._through = wire, through
        self.projectors = {name: self._start(name) for name in ("a", "b")}

    def _start(self, name: str) -> ProjectorProcess:
        return self._here.projector(name, database=self._through if name == "b" else None)

    def strike(self) -> str:
        """One fault; its name."""
        fault: Callable[[], None] = self._random.choice(
            [
                self.kill_projector,
                self.stop_projector,
                self.kill_writer,
                self.stop_writer,
                self.kill_kafka,
                self.stop_postgres,
                self.cut,
                self.cut_at_commit,
            ]
        )
        fault()
        time.sleep(self._random.uniform(0, 1))
        return fault.__name__

    def kill_projector(self) -> None:
        name = self._random.choice(["a", "b"])
        self.projectors[name].kill()
        self.projectors[name] = self._start(name)

    def stop_projector(self) -> None:
        projector = self.projectors[self._random.choice(["a", "b"])]
        stop_process(projector)
        time.sleep(self._random.choice([0.2, 1, 8]))
        wake(projector)

    def kill_writer(self) -> None:
        self._here.replace_writer()

    def stop_writer(self) -> None:
        stop_process(self._here.writer)
        time.sleep(self._random.uniform(0, 2))
        wake(self._here.writer)

    def kill_kafka(self) -> None:
        self._kafka.kill()
        time.sleep(self._random.uniform(0, 3))
        self._kafka.start()

    def stop_postgres(self) -> None:
        self._random.choice([self._postgres.stop_immediately, self._postgres.kill, self._postgres.stop])()
        time.sleep(self._random.uniform(0, 3))
        self._postgres.start()

    def cut(self) -> None:
        self._wire.cut_after(self._random.randrange(1, 100_000), to=self._random.choice(["server", "client"]))

    def cut_at_commit(self) -> None:
        self._wire.cut_at_commit(self._random.choice(["before", "after"]))


@pytest.mark.soak
@pytest.mark.timeout(7_200)
def test_a_storm(stack_folder: Path) -> None:
    seed = int.from_bytes(os.urandom(4))
    print(f"seed {seed}, {FAULTS} faults")
    kafka, postgres = kafka_in(stack_folder / "log"), postgres_in(stack_folder / "store")
    with ExitStack() as leaving:
        for one in (kafka, postgres):
            leaving.callback(one.stop)
            one.start()
        database = address_of(postgres)
        migrate(database)
        create_topics(addresses([kafka]), TOPIC)
        here = leaving.enter_context(site(addresses([kafka]), TOPIC, database, topic_check_s=1))
        wire, through = leaving.enter_context(wire_to(database))
        storm = Storm(Random(seed), here, kafka, postgres, wire, through)
        for number in range(FAULTS):
            here.load.await_more(60, timeout_s=120)
            print(number, storm.strike(), len(here.load.acknowledged), flush=True)
        here.assert_agreed(timeout_s=180)
        for projector in storm.projectors.values():
            projector.await_readyz()
