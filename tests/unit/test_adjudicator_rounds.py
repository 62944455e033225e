"""The timers' rounds: what is looked at, tried again, left for later, and shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from uuid import UUID

import pytest

from chronofact.adjudicator.judging import Outcome
from chronofact.adjudicator.page import Today, Told, looked_up, page_of, told_of
from chronofact.adjudicator.service import Adjudicator, ref_of
from chronofact.adjudicator.sweeping import FIRST_PAUSE_S, Picture, Sweeps
from chronofact.adjudicator.telling import Telling
from chronofact.adjudicator.unlooked import Left
from chronofact.contracts.pending import PendingPair, pending_in, reason_of_check
from chronofact.domain.errors import Rejected
from chronofact.domain.interval import format_instant
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
        retry_s=60,
        review_after_s=7 * DAY_S,
        now=lambda: NOW,
        monotonic=clock or Clock(),
        left=Left(),
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


async def test_what_fails_in_a_round_is_not_asked_about_all_the_others() -> None:
    store, model = Store(None), Model()
    judging = Judging(Outcome.STILL_PENDING)
    rounds = sweeps(store, judging, model)

    async def failing(ref: Ref, *, is_again: bool, is_too_old: bool) -> Outcome | None:
        model.opens_in_s = 30
        return await judging(ref, is_again=is_again, is_too_old=is_too_old)

    rounds._judge = failing
    store.pending_pages = [[waiting(n) for n in range(1, 20)], [waiting(n) for n in range(20, 40)]]
    await rounds.retry()
    assert len(judging.asked) <= 2
    assert rounds.picture.pairs["model_unreachable"] == 39


def looked(picture: Picture, model: Model | None, **texts: str) -> Told:
    by_version = {version(int(name[1:])): text for name, text in texts.items()}
    return Told(picture, model, Today(3, 9, 700, 1), by_version, {version(1): 2})


async def test_the_page_shows_what_waits_since_when_and_until_when() -> None:
    store, model = Store(None), Model(why_not="model_limited", opens_in_s=90)
    store.pending_pages = [[waiting(1, why="<b>odd</b>", named=2)]]
    rounds = sweeps(store, Judging(), model)
    await rounds.retry()
    told = told_of(looked(rounds.picture, model, v1="<i>likes</i> tea", v100="likes mate"))
    assert told["pairs"] == {"<b>odd</b>": 2}
    assert told["model"] == {"asks": False, "why_not": "model_limited", "asks_in_s": 90}
    assert told["today"] == {"calls": 3, "calls_max": 9, "tokens": 700, "tokens_max": 1}
    (one,) = told["listed"]
    assert (one["text"], one["calls"], one["tries_in_vain"]) == ("<i>likes</i> tea", 2, 0)
    assert one["next_try_at"] == format_instant(NOW + 90_000_000)
    assert [(pair["reason"], pair["other_text"]) for pair in one["pairs"]] == [
        ("<b>odd</b>", "likes mate"),
        ("<b>odd</b>", None),
    ]
    page = page_of(told)
    assert f"&lt;i&gt;likes&lt;/i&gt; tea ({UUID(bytes=version(1))})" in page
    assert f"likes mate ({UUID(bytes=version(100))})" in page
    assert "&lt;b&gt;odd&lt;/b&gt;" in page
    assert "<b>" not in page
    assert "<i>" not in page
    assert "no model is asked: model_limited, again in 90 s" in page
    assert "2 pairs of 1 memory wait" in page
    assert "3 of 9 calls, 700 of 1 token." in page
    assert "http" not in page.replace("http-equiv", "")


async def test_the_page_counts_in_words_and_says_who_decides() -> None:
    for why, model, who in (("review", Model(), "a person decides"), ("model_slow", None, "no model is asked")):
        store = Store(None)
        one = waiting(1, why=why)
        store.pending_pages = [[one._replace(reason=reason_of_check("x", pending_in(one.reason), beyond=7))]]
        rounds = sweeps(store, Judging(Outcome.STILL_PENDING), model)
        await rounds.retry()
        assert rounds.picture.pairs == {why: 1, "beyond": 7}
        page = page_of(told_of(looked(rounds.picture, model)))
        assert "8 pairs of 1 memory wait" in page
        assert "7 further memories" in page
        assert who in page
    store.pending_pages = [[waiting(1)]]
    rounds = sweeps(store, Judging(), None)
    await rounds.retry()
    assert "1 pair of 1 memory waits" in page_of(told_of(looked(rounds.picture, None)))


async def test_without_postgres_the_page_has_no_texts() -> None:
    class Away:
        async def texts(self, projection: str, wanted: Sequence[tuple[bytes, bytes]]) -> list[str | None]:
            raise Transient("postgres_away", "away")

        async def calls(self, version_ids: Sequence[bytes]) -> dict[bytes, int]:
            return {version(1): 2}

    store = Store(None)
    store.pending_pages = [[waiting(1)]]
    rounds = sweeps(store, Judging(), None)
    await rounds.retry()
    assert await looked_up(rounds.picture, Away(), Away()) == ({}, {})
    assert await looked_up(rounds.picture, Away(), None) == ({}, {version(1): 2})


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
