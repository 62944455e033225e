"""A service whose own work fails does not stay up without it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from structlog.testing import capture_logs

from chronofact.embedded.ports import LOOPBACK
from chronofact.runtime.health import Health
from chronofact.runtime.http import create_app
from chronofact.runtime.metrics import Metrics
from chronofact.runtime.serve import FAILED, STOPPED, serve

Work = Callable[[], Awaitable[None]]


async def fails() -> None:
    await asyncio.sleep(0.05)
    raise LookupError("not to be told")


async def goes_on() -> None:
    await asyncio.sleep(60)


async def served(*works: Work, stop_after_s: float | None = None) -> tuple[int, Health, asyncio.Event]:
    health, stopping = Health(), asyncio.Event()
    app = create_app("writer", "A test's.", health=health, metrics=Metrics("writer"))
    beside = [asyncio.ensure_future(work()) for work in works]
    if stop_after_s is not None:
        asyncio.get_running_loop().call_later(stop_after_s, stopping.set)
    try:
        code = await asyncio.wait_for(
            serve(app, host=LOOPBACK, port=0, health=health, stopping=stopping, drain_timeout_s=1, beside=beside), 20
        )
    finally:
        for one in beside:
            one.cancel()
    return code, health, stopping


async def test_what_fails_beside_ends_the_service_and_is_told_by_its_place() -> None:
    with capture_logs() as logs:
        code, health, stopping = await served(goes_on, fails)
    assert code == FAILED
    assert stopping.is_set()
    assert health.why("process") is not None
    (told,) = [one for one in logs if one["event"] == "failed"]
    assert (told["log_level"], told["code"]) == ("critical", "fault")
    assert told["message"].startswith("LookupError at ")
    assert "not to be told" not in str(logs)


@pytest.mark.parametrize("works", [(), (goes_on,)])
async def test_one_that_is_told_to_stop_has_not_failed(works: tuple[Work, ...]) -> None:
    with capture_logs() as logs:
        code, _, _ = await served(*works, stop_after_s=0.05)
    assert code == STOPPED
    assert [one["event"] for one in logs] == ["started", "stopping"]
