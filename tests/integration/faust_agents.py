"""Run as a process: reads numbered messages by Faust and notes each that it handled; fails once, at the fifth.

    python -m tests.integration.faust_agents naive|ours BOOTSTRAP TOPIC NOTES

`naive` lets the exception leave its agent, as most do. `ours` is the stream that the adjudicator runs on. Whoever starts it
ends it by SIGTERM; it then leaves as its kind does.
"""

from __future__ import annotations

import asyncio
import signal
import sys
from pathlib import Path
from typing import Any

import faust

from chronofact.adjudicator.service import end_of_process
from chronofact.adjudicator.stream import TextStream

FAILS_AT = b"5"


class Notes:
    """A line a handled message, and a mark once it has failed."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._failed = path.with_suffix(".failed")

    async def handle(self, message: bytes) -> None:
        if message == FAILS_AT and not self._failed.exists():
            self._failed.touch()
            raise ValueError("a fault of ours")
        with self._path.open("ab") as notes:
            notes.write(message + b"\n")


async def naive(bootstrap: str, topic: str, notes: Notes, stopping: asyncio.Event) -> None:
    app: Any = faust.App(
        f"naive.{topic}",
        broker=f"kafka://{bootstrap}",
        consumer_auto_offset_reset="earliest",
        broker_commit_interval=0.2,
        stream_wait_empty=False,
        topic_allow_declare=False,
        topic_disable_leader=True,
        web_enabled=False,
        store="memory://",
    )

    async def agent(stream: Any) -> None:
        async for message in stream:
            await notes.handle(message)

    app.agent(app.topic(topic, value_serializer="raw"), name="agent")(agent)
    app.finalize()
    await app.start()
    await stopping.wait()
    await app.stop()


async def ours(bootstrap: str, topic: str, notes: Notes, stopping: asyncio.Event) -> None:
    stream = TextStream(
        bootstrap, topic, group=f"ours.{topic}", member="one", handle=notes.handle, fault=end_of_process, at_once=4
    )
    await stream.start()
    await stopping.wait()
    await stream.stop(2)


async def main() -> None:
    kind, bootstrap, topic, notes = sys.argv[1:]
    stopping = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopping.set)
    await {"naive": naive, "ours": ours}[kind](bootstrap, topic, Notes(Path(notes)), stopping)


if __name__ == "__main__":
    asyncio.run(main())
