"""docs/operations/failed-rebuild.md, as it is written, over rebuilds that fail for reasons that were really made."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from chronofact.kafka.admin import create_topics
from tests.bench.workload import mixed
from tests.integration.pages import Walk
from tests.integration.poison import UNKNOWN_FINGERPRINT
from tests.integration.projecting import append, await_offsets
from tests.integration.rebuild_world import Rebuilding, ended
from tests.integration.saying import Fact
from tests.integration.test_divergence_page import SPOIL
from tests.integration.writing import WriterProcess

EVENTS: Final = 600
ADA: Final = Fact("ada")
SMALL: Final = {"rebuild_bucket_bytes": 5_000, "rebuild_memory_bytes": 10_000, "rebuild_workers": 1}


def test_each_failure_is_got_over(kafka: str, topic_name: str, database: str, tmp_path: Path) -> None:
    create_topics(kafka, topic_name)
    newer = ADA.asserts("npm")
    newer = newer._replace(value=UNKNOWN_FINGERPRINT + newer.value[10:])
    append(kafka, topic_name, [*mixed(60, EVENTS), newer])
    world = Rebuilding(kafka, topic_name, database)
    (tmp_path / "file").touch()
    with WriterProcess(kafka, topic_name) as writer, world.projector():
        writer.await_ready()
        await_offsets(database, EVENTS + 1)
        with world.walk("operations/failed-rebuild.md") as walk:
            walk.settle(writer_port=writer.http.base_url.port, rebuild_folder=tmp_path)
            with world.reconciler(rebuild_folder=tmp_path / "file" / "none", **SMALL) as reconciler:
                world.ready(reconciler)
                walk.settle(reconciler_port=world.port)
                assert fails(world) == "rebuild_folder"
                assert "rebuild_folder" in walk.step("chronofact rebuild list")
                assert "CHRONOFACT_REBUILD_FOLDER" in walk.step("chronofact rebuild status")
            with world.reconciler(rebuild_folder=tmp_path, **SMALL) as reconciler:
                world.ready(reconciler)
                walk.settle(reconciler_port=world.port)
                goes_on(world, walk)


def goes_on(world: Rebuilding, walk: Walk) -> None:
    """The folder is there now, and what else is wrong comes to light."""
    walk.step("chronofact rebuild cancel")
    assert "schema" not in world.left("p2")
    assert "schema_unknown" in walk.step("chronofact rebuild start", code=1)
    assert "%" in walk.step("df -h")
    place = world.ask("select partition || ':' || kafka_offset from chronofact.parked_event")
    assert place in walk.step("chronofact parked list")
    for what in ("show", "drop"):
        walk.step(f"chronofact parked {what}", but=lambda line: line.replace("3:1207", place))
    walk.step("chronofact rebuild cancel")
    world.execute(SPOIL.format("p1"))
    assert "rebuild_differs" in walk.step("chronofact rebuild start", code=1)
    walk.step("chronofact check run --projection p1", code=1)
    walk.step("chronofact check run --projection p2")
    assert "timeline" in walk.step("psql")
    assert "by the independent check" in walk.step("chronofact rebuild verify 3")
    assert walk.execute("chronofact switch --all --to p2").returncode == 0


def fails(world: Rebuilding) -> str:
    """A rebuild; by which code."""
    code, found = ended(world.command("start", "--wait", "--json"))
    assert (code, found["state"]) == (1, "failed"), found
    return str(found["failure"]["code"])
