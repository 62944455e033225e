"""What /readyz says of a fault: its own remedy, else the one of its code."""

from __future__ import annotations

import pytest

from chronofact.contracts.error_codes import CODES, remedy_of, status_of
from chronofact.runtime.failures import Transient, Unfit
from chronofact.runtime.health import Health, Reason, reason_of


@pytest.mark.parametrize("code", [code for code in CODES if status_of(code) >= 429])
def test_every_fault_that_is_not_the_callers_has_a_remedy(code: str) -> None:
    assert remedy_of(code)


@pytest.mark.parametrize("code", ["field_missing", "json_malformed", "no_such_code"])
def test_what_the_caller_must_change_has_none(code: str) -> None:
    assert remedy_of(code) is None


def test_a_fault_without_a_remedy_of_its_own_takes_that_of_its_code() -> None:
    health = Health("part")
    assert health.reasons()["part"].remedy == remedy_of("starting")
    for failure in (Transient("postgres_away", "gone"), Reason("postgres_away", "gone")):
        health.hindered("part", failure)
        assert health.reasons() == {"part": Reason("postgres_away", "gone", remedy_of("postgres_away"))}
    assert reason_of(Unfit("topic_missing", "none", remedy="make it")).remedy == "make it"
