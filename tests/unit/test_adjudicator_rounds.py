"""The timers' rounds: what is looked at, tried again, left for later, and shown."""

from __future__ import annotations

from dataclasses import dataclass, field
from uuid import UUID

import pytest

from chronofact.adjudicator.judging import Outcome
from chronofact.adjudicator.page import Today, page_of, told_of
from chronofact.adjudicator.service import Adjudicator, ref_of
from chronofact.adjudicator.sweeping import FIRST_PAUSE_S, Sweeps
from chronofact.adjudicator.telling import Telling
from chronofact.contracts.pending import PendingPair, reason_of_check
from chronofact.domain.errors import Rejected
from chronofact.postgres.judging_store import Waiting
from chronofact.postgres.looking import Ref
from chronofact.postgres.memories import Unchecked
from chronofact.runtime.failures import Transient
from chronofact.runtime.health import Health
from chronofact.runtime.metrics import Metrics
from tests.unit.adjudicator_twins import FACT, TENANT, Model, Store, version

DAY_S = 86_400
NOW = 1_000 * DAY_S * 1_000_000


@dataclass
class Judging:
    """Notes what it is asked, and answers as the test says."""

    outcome: Outcome | None = Outcome.CHECKED
    asked: list[tuple[bytes, bool, bool]] = field(default_factory=list)

    async def __call__(self, ref: Ref, *, is_again: bool, is_too_old: bool) -> Outcome | None:
        self.asked.append((ref.version_id, is_again, is_too_old))
        return self.outcome


def waiting(
    number: int, *, days: float = 0, why: str = "model_unreachable", named: int = 1, pending: int = 1
) -> Waiting:
    reason = reason_of_check("pending", [PendingPair(version(100 + n), why) for n in range(named)])
    since = NOW - int(days * DAY_S * 1_000_000)
    return Waiting(FACT, TENANT, version(number), 3, pending, reason, since, (1, number))


def unchecked(number: int, tenant: bytes = TENANT) -> Unchecked:
    return Unchecked(FACT, tenant, version(number), NOW, (1, number))


@dataclass
class Clock:
    now: float = 0.0

    def __call__(self) -> float:
        return self.now


def sweeps(store: Store, judging: Judging, model: Model | None, clock: Clock | None = None) -> Sweeps:
    return Sweeps(
        store,
        judging,
        model,
        at_once=2,
        unseen_s=30,
        review_after_s=7 * DAY_S,
        now=lambda: NOW,
        monotonic=clock or Clock(),
    )


async def test_a_sweep_looks_at_all_pages_but_not_for_tenants_that_read_another_projection() -> None:
    other = bytes([9]) * 16
    store, judging = Store(None, routed={other: "p2"}), Judging()
    store.unchecked_pages = [[unchecked(1), unchecked(2, other)], [unchecked(3)]]
    assert await sweeps(store, judging, None).sweep() == 2
    assert sorted(judging.asked) == [(version(1), False, False), (version(3), False, False)]


async def test_a_sweep_that_took_long_comes_seldom() -> None:
    store, clock = Store(None), Clock()

    async def slowly(ref: Ref, *, is_again: bool, is_too_old: bool) -> Outcome:
        clock.now += 10
        return Outcome.CHECKED

    rounds = sweeps(store, Judging(), None, clock)
    rounds._judge = slowly
    swept = []
    for second in range(0, 600, 30):
        clock.now = max(clock.now, second)
        store.unchecked_pages = [[unchecked(1)]]
        if await rounds.sweep():
            swept.append(second)
    assert swept == [0, 210, 420]


async def test_pairs_are_tried_again_only_while_the_model_answers() -> None:
    for model, tried in ((None, 0), (Model(opens_in_s=9), 0), (Model(), 2)):
        store, judging = Store(None), Judging()
        store.pending_pages = [[waiting(1)], [waiting(2)]]
        rounds = sweeps(store, judging, model)
        await rounds.retry()
        assert len(judging.asked) == tried
        assert rounds.picture.pairs == {"model_unreachable": 2}
        assert rounds.picture.memories == 2


async def test_old_pairs_are_a_persons_whether_a_model_answers_or_not() -> None:
    store, judging = Store(None), Judging(Outcome.IN_REVIEW)
    store.pending_pages = [[waiting(1, days=8), waiting(2, days=6)]]
    await sweeps(store, judging, None).retry()
    assert judging.asked == [(version(1), True, True)]


async def test_what_is_a_persons_is_looked_at_so_that_a_persons_word_ends_it() -> None:
    store, judging = Store(None), Judging(Outcome.STILL_PENDING)
    store.pending_pages = [[waiting(1, why="review")]]
    await sweeps(store, judging, None).retry()
    assert judging.asked == [(version(1), True, False)]


async def test_what_fails_by_itself_is_tried_less_and_less_often() -> None:
    store, judging, clock = Store(None), Judging(Outcome.STILL_PENDING), Clock()
    rounds = sweeps(store, judging, Model(), clock)
    tried = []
    for minute in range(20):
        clock.now = minute * FIRST_PAUSE_S
        store.pending_pages = [[waiting(1)]]
        before = len(judging.asked)
        await rounds.retry()
        tried += [minute] * (len(judging.asked) - before)
    assert tried == [0, 2, 6, 14]


async def test_pairs_that_a_reason_has_no_room_to_name_are_counted_all_the_same() -> None:
    store = Store(None)
    store.pending_pages = [[waiting(1, named=2, pending=5)], [waiting(2, why="review", named=1, pending=3)]]
    rounds = sweeps(store, Judging(), None)
    await rounds.retry()
    assert rounds.picture.pairs == {"model_unreachable": 2, "pending": 3, "review": 3}


async def test_the_page_shows_what_waits_and_why_no_model_is_asked() -> None:
    store = Store(None)
    store.pending_pages = [[waiting(1, why="<b>odd</b>")]]
    rounds = sweeps(store, Judging(), None)
    await rounds.retry()
    told = told_of(rounds.picture, Model(why_not="model_limited", opens_in_s=12.3), Today(3, 9, 700, 900))
    assert told["pairs"] == {"<b>odd</b>": 1}
    assert told["model"] == {"asks": False, "why_not": "model_limited", "asks_in_s": 12.3}
    assert told["today"] == {"calls": 3, "calls_max": 9, "tokens": 700, "tokens_max": 900}
    page = page_of(told)
    assert "&lt;b&gt;odd&lt;/b&gt;" in page
    assert "<b>" not in page
    assert str(UUID(bytes=version(1))) in page
    assert "no model is asked: model_limited, again in 12 s" in page
    assert "http" not in page.replace("http-equiv", "")


class Failing:
    """A judge that is hindered so often, then answers."""

    def __init__(self, *failures: Exception) -> None:
        self._failures = list(failures)

    async def judge(self, ref: Ref, *, is_again: bool, is_too_old: bool) -> Outcome:
        if self._failures:
            raise self._failures.pop(0)
        return Outcome.CHECKED


def adjudicator(*failures: Exception) -> tuple[Adjudicator, Health, Metrics]:
    health, metrics = Health("judging"), Metrics("adjudicator")

    async def sleep(_seconds: float) -> None:
        assert [reason.code for reason in health.reasons().values()] == ["postgres_away"]

    judge = Failing(*failures)
    return Adjudicator(judge, health, Telling(metrics), sleep=sleep), health, metrics  # type: ignore[arg-type]


def counted(metrics: Metrics, outcome: str) -> float:
    found = metrics.registry.get_sample_value("chronofact_adjudicator_memories_total", {"outcome": outcome})
    return found or 0.0


async def test_what_passes_is_waited_for_however_long() -> None:
    away = Transient("postgres_away", "away")
    service, health, metrics = adjudicator(*[away] * 20)
    assert await service.judge(Ref(TENANT, FACT, version(1))) is Outcome.CHECKED
    assert health.reasons() == {}
    assert counted(metrics, "checked") == 1
    retried = metrics.registry.get_sample_value("chronofact_adjudicator_retries_total", {"code": "postgres_away"})
    assert retried == 20


async def test_what_the_writer_refuses_is_counted_and_the_next_memory_comes() -> None:
    service, _, metrics = adjudicator(Rejected("id_malformed", "no"))
    assert await service.judge(Ref(TENANT, FACT, version(1))) is None
    assert counted(metrics, "refused") == 1


@pytest.mark.parametrize("message", [b"", b"{", b"[]", b"7", b'{"tenant_id": 7}', b'{"tenant_id": "x"}', b"\xff"])
async def test_a_message_that_tells_of_nothing_is_counted_and_the_sweep_finds_what_it_meant(message: bytes) -> None:
    assert ref_of(message) is None
    service, _, metrics = adjudicator()
    await service.take(message)
    assert counted(metrics, "malformed") == 1


async def test_a_fault_of_ours_comes_out() -> None:
    service, _, _ = adjudicator(ValueError("ours"))
    with pytest.raises(ValueError, match="ours"):
        await service.judge(Ref(TENANT, FACT, version(1)))
