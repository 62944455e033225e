"""A rebuild's load beside a test: begun, run in a thread, its workers killed, its result told."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psycopg
import pytest

from chronofact.contracts.rebuilding import Rebuild, RebuildWanted
from chronofact.postgres.load_store import Loaded
from chronofact.postgres.rebuild_store import RebuildStore
from chronofact.reconciler.rebuilding.load import load, plan
from chronofact.reconciler.rebuilding.processes import DEATHS_MAX
from chronofact.runtime.config import Settings
from chronofact.runtime.failures import Transient

WORKER = b"chronofact.reconciler.rebuilding\x00"


def settings_for(kafka: str, topic: str, database: str, **further: object) -> Settings:
    """Settings as a service would have them."""
    said = {"kafka": kafka, "facts_topic": topic, "postgres": database, "auth": "off", **further}
    return Settings.model_validate(said)


@contextmanager
def taken(
    database: str, rebuild_id: int | None = None, *, workers: int = 2, rule: int | None = None
) -> Iterator[Rebuild]:
    """A rebuild in our hands: a new one, or another go at one."""
    store = RebuildStore(database)
    if rebuild_id is None:
        rebuild_id = store.begin(RebuildWanted(workers=workers, rule=rule), workers=workers).rebuild.rebuild_id
    with store.take(rebuild_id) as hold:
        assert hold is not None
        yield hold.rebuild


def loaded(settings: Settings, rebuild: Rebuild) -> Loaded:
    """Planned and loaded."""
    return load(settings, plan(settings, rebuild), report=lambda _parts: None, stopping=threading.Event())


def prepare_only(settings: Settings, rebuild: Rebuild) -> None:
    """Its schema is made, and nothing is loaded."""
    stopping = threading.Event()
    stopping.set()
    with pytest.raises(Transient, match="about to stop"):
        load(settings, rebuild, report=lambda _parts: None, stopping=stopping)


def rebuilt(settings: Settings, **wanted: int) -> Loaded:
    """A whole new rebuild's load."""
    with taken(settings.postgres.get_secret_value(), **wanted) as rebuild:
        return loaded(settings, rebuild)


def worker_pids() -> list[int]:
    """Workers that this process started."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            parent = int(path.joinpath("stat").read_text().rpartition(")")[2].split()[1])
            if parent == os.getpid() and WORKER in path.joinpath("cmdline").read_bytes():
                found.append(int(path.name))
    return found


def keep_killing(stop: threading.Event, pauses_s: Iterable[float], database: str) -> int:
    """SIGKILL to one of the workers after each pause, until the load is over; how many.

    On a busy machine they may come faster than a worker gets anything done, which is its end for a reason of its own.
    """
    kills = since = done = 0
    for pause_s in pauses_s:
        if stop.wait(pause_s):
            break
        if (found := _buckets_done(database)) > done:
            done, since = found, 0
        pids = worker_pids()
        if pids and since < DEATHS_MAX - 2:
            with suppress(ProcessLookupError):
                os.kill(pids[kills % len(pids)], signal.SIGKILL)
                kills += 1
                since += 1
    return kills


def _buckets_done(database: str) -> int:
    with psycopg.connect(database) as connection:
        found = connection.execute("select coalesce(sum(buckets_done), 0)::int from chronofact.rebuild_part").fetchone()
    return int(found[0]) if found else 0
