"""docs/operations/rebuild.md, its commands as they are written: all state made anew, switched to and back."""

from __future__ import annotations

from typing import Final

from chronofact.kafka.admin import create_topics
from tests.bench.workload import mixed
from tests.integration.projecting import append, await_offsets
from tests.integration.rebuild_world import Rebuilding

ROUTED: Final = "select projection from chronofact.tenant_route where tenant_id is null"


def test_a_projection_is_made_anew_as_the_page_says(kafka: str, topic_name: str, database: str) -> None:
    create_topics(kafka, topic_name)
    append(kafka, topic_name, mixed(100, 1_000))
    world = Rebuilding(kafka, topic_name, database)
    with world.projector(), world.reconciler(rebuild_workers=1) as reconciler:
        await_offsets(database, 1_000)
        world.ready(reconciler)
        with world.walk("operations/rebuild.md") as walk:
            walk.step("chronofact rebuild start")
            walk.step("chronofact rebuild status")
            walk.step("chronofact rebuild list")
            walk.step("chronofact switch")
            assert world.ask(ROUTED) == "p2"
            walk.step("chronofact rollback")
            assert world.ask(ROUTED) == "p1"
