"""docs/operations/divergence.md, as it is written, over projections whose lines somebody has changed."""

from __future__ import annotations

from typing import Final

from chronofact.kafka.admin import create_topics
from tests.bench.workload import mixed
from tests.integration.comparing import assert_alike, told
from tests.integration.projecting import append, await_offsets
from tests.integration.rebuild_world import Rebuilding, ended

EVENTS: Final = 600
ROUTED: Final = "select projection from chronofact.tenant_route where tenant_id is null"
SPOILED: Final = "select fact_id::text from {}.fact where fact_no = (select max(fact_no) from {}.fact)"
SPOIL: Final = """
    update {0}.timeline as t set known_from = t.known_from + interval '1 s'
    where t.fact_no = (select max(fact_no) from {0}.fact) and t.event_seq = (
        select max(event_seq) from {0}.timeline where fact_no = t.fact_no)
"""


def test_a_projection_that_was_spoiled_is_replaced(kafka: str, topic_name: str, database: str) -> None:
    create_topics(kafka, topic_name)
    append(kafka, topic_name, mixed(60, EVENTS))
    world = Rebuilding(kafka, topic_name, database)
    with world.projector(), world.reconciler(rebuild_workers=1) as reconciler:
        await_offsets(database, EVENTS)
        world.ready(reconciler)
        code, found = ended(world.command("start", "--wait", "--json"))
        assert code == 0, found
        sound = told(database, "p1")
        with world.walk("operations/divergence.md") as walk:
            assert walk.execute("chronofact switch --all --to p2").returncode == 0
            world.execute(SPOIL.format("p2"))
            spoiled = str(world.ask(SPOILED.format("p2", "p2")))
            assert walk.execute("chronofact check run").returncode == 1
            shown = walk.step("chronofact check show")
            assert (spoiled in shown, "known_from" in shown, "of p2" in shown) == (True, True, True), shown
            assert "p2" in walk.step("chronofact routes")
            walk.step("chronofact check run --projection p2", code=1)
            walk.step("chronofact check run --projection p1")
            walk.step("chronofact rollback")
            assert world.ask(ROUTED) == "p1"
            assert "verified against p1" in walk.step("chronofact rebuild start")
            walk.step("chronofact switch")
            assert world.ask(ROUTED) == "p3"
            assert "no divergences" in walk.step("chronofact check run")
            differing = walk.step("chronofact verify p2 p3", code=1)
            assert (spoiled in differing, "timeline" in differing) == (True, True), differing
            assert " 1\n(1 row)" in walk.step("psql")
            walk.step("chronofact retire p2")
            assert "schema" not in world.left("p2")
            for projection in ("p1", "p3"):
                world.execute(SPOIL.format(projection))
            assert "by the independent check" in walk.step("chronofact rebuild start")
            walk.step("chronofact switch")
            walk.step("chronofact check run")
        assert world.ask(ROUTED) == "p4"
        assert_alike(sound, told(database, "p4"))
