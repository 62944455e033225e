"""Verifications in the background, over twins in memory: begun, refused, failed, stopped."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from chronofact.contracts.verification import (
    Aspects,
    Difference,
    Verification,
    VerificationRunning,
    VerificationState,
    VerifyWanted,
)
from chronofact.domain.errors import Rejected
from chronofact.reconciler.verify import Verified
from chronofact.reconciler.verify_http import wanted_of
from chronofact.reconciler.verify_service import AT_ONCE, Verifying
from chronofact.runtime.failures import Transient, Unfit

BEGUN = datetime(2026, 1, 1, tzinfo=UTC)
WANTED = VerifyWanted("p1", "p2")


class Kept:
    """Every number there is."""

    def verification(self, verification_id: int) -> Verification | None:
        return Verification(verification_id, WANTED, (1, 1), VerificationState.RUNNING, BEGUN, None, None, None)

    def verifications(self, *, before: int | None, limit: int) -> list[Verification]:
        raise AssertionError

    def differences(self, verification_id: int, *, after: int, limit: int) -> list[tuple[int, Difference]]:
        raise AssertionError

    def bury(self) -> None:
        raise AssertionError


class ScriptedVerifier:
    """Begins, unless it is refused before, and then waits until it may end."""

    def __init__(self, *, before: Exception | None = None, after: Exception | None = None) -> None:
        self.before, self.after = before, after
        self.may_end = threading.Event()
        self.has_ended = threading.Event()
        self.asked: dict[str, Any] = {}
        self.catch_up_s = 0.0

    def verify(self, left: str, right: str, *, begun: Callable[[int], None], **asked: Any) -> Verified:
        self.asked = asked
        try:
            if self.before is not None:
                raise self.before
            begun(7)
            assert self.may_end.wait(20)
            if self.after is not None:
                raise self.after
            return Verified(7, True, 2, 0, 9, 0.1, 0.1, {0: 3})
        finally:
            self.has_ended.set()

    def stop(self, why: Exception) -> None:
        self.after = why
        self.may_end.set()


class Scene:
    """The service, and the verifiers that it will be given."""

    def __init__(self) -> None:
        self.made: list[ScriptedVerifier] = []
        self.next: list[ScriptedVerifier] = []
        self.verifying = Verifying(Kept(), self._make)  # type: ignore[arg-type]  # as much of it as is called

    def _make(self, wait_s: float) -> ScriptedVerifier:
        verifier = self.next.pop(0) if self.next else ScriptedVerifier()
        verifier.catch_up_s = wait_s
        self.made.append(verifier)
        return verifier

    async def start(self, wanted: VerifyWanted = WANTED) -> Verification:
        return await self.verifying.start(wanted, wait_s=60)


@pytest.fixture
async def scene() -> AsyncIterator[Scene]:
    made = Scene()
    yield made
    await made.verifying.stop()


async def ended(verifier: ScriptedVerifier) -> None:
    assert await asyncio.to_thread(verifier.has_ended.wait, 20)
    await asyncio.sleep(0.05)


async def test_it_is_told_once_it_has_begun_and_goes_on_alone(scene: Scene) -> None:
    begun = await scene.start(VerifyWanted("p1", "p2", Aspects.SAID, "p2"))
    verifier = scene.made[0]
    assert (begun.verification_id, verifier.has_ended.is_set()) == (7, False)
    assert (verifier.asked, verifier.catch_up_s) == ({"aspects": "said", "held": "p2"}, 60)
    verifier.may_end.set()
    await ended(verifier)


@pytest.mark.parametrize(
    ("failure", "code"),
    [
        (VerificationRunning("p1"), "verification_running"),
        (
            Unfit("projection_missing", "there are no two projections p1 and p2", remedy="name others"),
            "projection_unknown",
        ),
    ],
)
async def test_what_can_not_begin_is_refused(scene: Scene, failure: Exception, code: str) -> None:
    scene.next.append(ScriptedVerifier(before=failure))
    with pytest.raises(Rejected) as refused:
        await scene.start()
    assert (refused.value.code, "name others" in refused.value.message) == (code, False)


async def test_postgres_away_at_the_beginning_is_told(scene: Scene) -> None:
    scene.next.append(ScriptedVerifier(before=Transient("postgres_away", "no Postgres here")))
    with pytest.raises(Transient, match="no Postgres"):
        await scene.start()


async def test_so_many_at_once_and_no_more_until_one_is_over(scene: Scene) -> None:
    for _ in range(AT_ONCE):
        await scene.start()
    with pytest.raises(Rejected) as refused:
        await scene.start()
    assert refused.value.code == "verification_running"
    assert len(scene.made) == AT_ONCE
    scene.made[0].after = Unfit("projection_lags", "too late", remedy="wait")
    scene.made[0].may_end.set()
    await ended(scene.made[0])
    await scene.start()


async def test_the_end_of_the_service_ends_them_all(scene: Scene) -> None:
    for _ in range(AT_ONCE):
        await scene.start()
    await asyncio.wait_for(scene.verifying.stop(), 5)
    assert all(one.has_ended.is_set() for one in scene.made)


@pytest.mark.parametrize(
    ("body", "code", "field"),
    [
        ({}, "field_missing", "left"),
        ({"left": "p1"}, "field_missing", "right"),
        ({"left": "p1", "right": "p1"}, "field_value", "right"),
        ({"left": "p1", "right": "P2"}, "field_value", "right"),
        ({"left": 1, "right": "p2"}, "field_type", "left"),
        ({"left": "p1", "right": "p2", "hold": "p3"}, "field_value", "hold"),
        ({"left": "p1", "right": "p2", "aspects": "some"}, "field_value", "aspects"),
        ({"left": "p1", "right": "p2", "aspects": None}, "field_type", "aspects"),
        ({"left": "p1", "right": "p2", "wait_s": 0}, "field_type", "wait_s"),
        ({"left": "p1", "right": "p2", "wait_s": True}, "field_type", "wait_s"),
        ({"left": "p1", "right": "p2", "rigth": "p2"}, "field_unknown", "rigth"),
    ],
)
def test_bodies_that_are_not_as_they_must_be(body: dict[str, Any], code: str, field: str) -> None:
    with pytest.raises(Rejected) as refused:
        wanted_of(body)
    assert (refused.value.code, refused.value.field) == (code, field)


def test_a_body_that_says_all() -> None:
    body = {"left": "p1", "right": "p2", "aspects": "said", "hold": "p1", "wait_s": 5}
    assert wanted_of(body) == (VerifyWanted("p1", "p2", Aspects.SAID, "p1"), 5.0)
    assert wanted_of({"left": "p2", "right": "p1"}) == (VerifyWanted("p2", "p1"), 600.0)
