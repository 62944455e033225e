"""The connection to Postgres cut within a COPY, either way, and at the commit, so that no one knows what became of it."""

from __future__ import annotations

from random import Random

import pytest

from chronofact.kafka.admin import create_topics
from tests.integration.faults.services import Site, site
from tests.integration.faults.wire import To, Wire, wire_to
from tests.integration.projecting import ProjectorProcess

CUT_S = 20


@pytest.fixture
def topic(kafka: str, topic_name: str) -> str:
    create_topics(kafka, topic_name)
    return topic_name


def await_cut_and_recovery(here: Site, wire: Wire, projector: ProjectorProcess, recovered: int) -> None:
    assert wire.has_cut.wait(CUT_S)
    projector.await_event("recovered", recovered)
    here.load.await_more(40)


def cut_up(kafka: str, topic: str, database: str, *, cuts: int, seed: int) -> None:
    """Cuts at random bytes of both directions, and before and after commits."""
    random, recovered = Random(seed), 0
    print(f"seed {seed}")
    with (
        site(kafka, topic, database) as here,
        wire_to(database) as (wire, through),
        here.projector(database=through) as projector,
    ):
        projector.await_event("claimed")
        for number in range(cuts):
            match number % 4:
                case 0:
                    wire.cut_after(random.randrange(1, 60_000), to="server")
                case 1:
                    wire.cut_at_commit("before")
                case 2:
                    wire.cut_after(random.randrange(1, 2_000), to="client")
                case _:
                    wire.cut_at_commit("after")
            recovered += 1
            await_cut_and_recovery(here, wire, projector, recovered)
        assert {one["code"] for one in projector.events("hindered")} == {"postgres_away"}
        here.assert_agreed()
        assert wire.cuts == cuts


def test_eight_cuts(kafka: str, topic: str, database: str) -> None:
    cut_up(kafka, topic, database, cuts=8, seed=8)


@pytest.mark.soak
@pytest.mark.timeout(900)
def test_two_hundred_cuts(kafka: str, topic: str, database: str) -> None:
    cut_up(kafka, topic, database, cuts=200, seed=Random().randrange(2**32))


@pytest.mark.soak
@pytest.mark.timeout(900)
@pytest.mark.parametrize("to", ["server", "client"])
def test_a_cut_at_every_so_many_bytes_of_a_claim_and_a_batch(kafka: str, topic: str, database: str, to: To) -> None:
    """The first kilobytes hold log-in, claims and a batch; cuts in a row grow the pauses, so this takes minutes."""
    step = 997 if to == "server" else 331
    with (
        site(kafka, topic, database) as here,
        wire_to(database) as (wire, through),
        here.projector(database=through) as projector,
    ):
        projector.await_event("claimed")
        for number in range(30):
            before = wire.cuts
            wire.cut_after(1 + number * step, to=to)
            assert wire.has_cut.wait(CUT_S)
            assert wire.cuts > before
        here.load.await_more(100)
        here.assert_agreed()
