"""What a verification that comes to nothing means for the rebuild that asked for it."""

from __future__ import annotations

from datetime import UTC, datetime
from threading import Event
from typing import Any

import pytest

from chronofact.contracts.rebuilding import Comparable, Rebuild, RebuildCancelled, RebuildLost, RebuildState
from chronofact.reconciler import rebuild_steps
from chronofact.reconciler.rebuild_steps import RebuildSteps
from chronofact.runtime.config import Settings
from chronofact.runtime.failures import Transient, Unfit

REBUILD = Rebuild(1, "p2", 1, RebuildState.VERIFYING, 2, 1, datetime(2026, 3, 1, tzinfo=UTC))


class Refusing:
    """A verifier that can't compare."""

    code = ""

    def __init__(self, *_said: Any) -> None: ...

    def stop(self, why: Exception) -> None: ...

    def verify(self, *_said: Any, **_named: Any) -> None:
        raise Unfit(self.code, "it can't be compared", remedy="see")


class GivenUp:
    """A verifier that ends when it is told to, for the reason that it is told."""

    def __init__(self, *_said: Any) -> None:
        self._over = Event()

    def stop(self, why: Exception) -> None:
        self._why = why
        self._over.set()

    def verify(self, *_said: Any, **_named: Any) -> None:
        assert self._over.wait(20)
        raise self._why


@pytest.mark.parametrize("why", [RebuildCancelled(), RebuildLost(1), Transient("shutting_down", "it stops")])
def test_what_ends_the_rebuild_ends_its_verification_and_is_told_as_it_is(
    monkeypatch: pytest.MonkeyPatch, why: Exception
) -> None:
    def go_on() -> None:
        raise why

    monkeypatch.setattr(rebuild_steps, "Verifier", GivenUp)
    steps = RebuildSteps(Settings.model_validate({"auth": "off"}))
    with pytest.raises(type(why)) as ended:
        steps.verify(REBUILD, Comparable("p1", 1), go_on)
    assert ended.value is why


@pytest.mark.parametrize(
    ("code", "kind"),
    [("projection_stands_still", Transient), ("projection_lags", Transient), ("topics_differ", Unfit)],
)
def test_a_projector_that_is_away_is_waited_for(
    monkeypatch: pytest.MonkeyPatch, code: str, kind: type[Exception]
) -> None:
    monkeypatch.setattr(Refusing, "code", code)
    monkeypatch.setattr(rebuild_steps, "Verifier", Refusing)
    steps = RebuildSteps(Settings.model_validate({"auth": "off"}))
    with pytest.raises(kind) as failure:
        steps.verify(REBUILD, Comparable("p1", 1), lambda: None)
    assert failure.value.code == code  # type: ignore[attr-defined]
