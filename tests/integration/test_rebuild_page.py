"""docs/operations/rebuild.md, its commands as they are written: all state made anew, switched to and back."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Final

from chronofact.kafka.admin import create_topics
from tests.bench.workload import mixed
from tests.integration.projecting import WAIT_S, append, await_offsets
from tests.integration.rebuild_world import Rebuilding

PAGE: Final = (Path(__file__).parents[2] / "docs" / "operations" / "rebuild.md").read_text(encoding="utf-8")
ROUTED: Final = "select projection from chronofact.tenant_route where tenant_id is null"


def test_a_projection_is_made_anew_as_the_page_says(kafka: str, topic_name: str, database: str) -> None:
    create_topics(kafka, topic_name)
    append(kafka, topic_name, mixed(100, 1_000))
    world = Rebuilding(kafka, topic_name, database)
    with world.projector(), world.reconciler() as reconciler:
        await_offsets(database, 1_000)
        world.ready(reconciler)
        environ = {name: said for name, said in os.environ.items() if not name.startswith("CHRONOFACT_")} | {
            "CHRONOFACT_KAFKA": kafka,
            "CHRONOFACT_POSTGRES": database,
            "CHRONOFACT_AUTH": "off",
            "CHRONOFACT_RECONCILER_PORT": str(world.port),
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        }
        lines = [line for block in re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL) for line in block.splitlines()]
        assert len(lines) == 5
        for line in lines:
            ran = subprocess.run(
                ["sh", "-c", line], env=environ, capture_output=True, text=True, check=False, timeout=WAIT_S
            )
            assert ran.returncode == 0, (line, ran.stdout, ran.stderr)
            if "switch" in line:
                assert world.ask(ROUTED) == "p2"
        assert world.ask(ROUTED) == "p1"
