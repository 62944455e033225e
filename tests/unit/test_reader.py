"""The reader's own decisions: lag, chains, cursors, conflict edges, and waiting."""

from __future__ import annotations

import asyncio
import time
from itertools import pairwise
from typing import Any
from uuid import uuid4

import pytest

from chronofact.contracts.context import Contradiction
from chronofact.contracts.position import Position
from chronofact.contracts.reading import Claim, Found, Standing, Watermarks
from chronofact.domain.errors import Rejected
from chronofact.reader.answers import (
    EDGES_MAX,
    NOTHING,
    Behind,
    answer_body,
    open_pairs,
    open_pairs_count,
    wanted_claims,
)
from chronofact.reader.chains import nearest
from chronofact.reader.freshness import LogWatch, freshness_body
from chronofact.reader.questions import Wait, fact_id_in, wait_of
from chronofact.reader.waiting import Waiting, check_partitions, check_within, has_passed

TOPIC = bytes(range(16))
SILENT = Found(*[None] * 11)


def at(**next_offsets: int) -> Position:
    return Position(TOPIC, {int(name[1:]): offset for name, offset in next_offsets.items()})


def standing(position: Position | None) -> Standing:
    return Standing("p1", 1, position, holds=False)


def found(kind: int, reason: int | None = None) -> Found:
    return SILENT._replace(fact_no=1, kind=kind, reason=reason)


def watch_that_saw(*looks: tuple[float, dict[int, int]]) -> LogWatch:
    watch = LogWatch(lambda: Watermarks(TOPIC, {}))
    for now, ends in looks:
        watch.saw(Watermarks(TOPIC, ends), now)
    return watch


def just_seen(ends: dict[int, int]) -> LogWatch:
    return watch_that_saw((time.monotonic(), ends))


# -- lag


def test_lag_counts_what_is_missing_and_since_when() -> None:
    watch = watch_that_saw((10.0, {0: 5, 1: 5}), (11.0, {0: 5, 1: 5}), (12.0, {0: 8, 1: 5}), (13.0, {0: 8, 1: 9}))
    assert watch.behind(at(p0=8, p1=9), 13.0) == (0, 0.0)
    assert watch.behind(at(p0=8, p1=5), 13.5) == (4, 0.5)
    assert watch.behind(at(p0=5, p1=5), 13.5) == (7, 1.5)
    assert watch.behind(None, 13.5) == (17, 3.5)


def test_a_projection_ahead_of_the_last_look_is_not_behind() -> None:
    assert watch_that_saw((10.0, {0: 5})).behind(at(p0=50), 10.5) == (0, 0.0)


def test_nobody_knows_the_lag_before_the_first_look() -> None:
    assert LogWatch(lambda: Watermarks(TOPIC, {})).behind(at(p0=1), 0.0)[0] is None


def test_a_log_that_was_not_seen_for_long_makes_no_answer_fresh() -> None:
    lag_events, lag_s = watch_that_saw((10.0, {0: 5})).behind(at(p0=5), 70.0)
    assert (lag_events, lag_s) == (None, 60.0)


def test_held_answers_are_stale() -> None:
    body = freshness_body(standing(at(p0=5)), just_seen({0: 5}), held=2)
    assert (body["stale"], body["held"], body["because"]) == (True, 2, "held")


def test_an_answer_that_lacks_what_was_asked_for_is_never_zero_events_behind() -> None:
    seen = just_seen({0: 5})
    body = freshness_body(standing(at(p0=5)), seen, because="behind", lacks=at(p0=7, p1=1))
    assert (body["stale"], body["lag_events"]) == (True, 3)
    body = freshness_body(standing(at(p0=5)), just_seen({0: 50}), because="behind", lacks=at(p0=7))
    assert body["lag_events"] == 45


def test_nothing_is_fresh_once_the_log_was_not_heard_of_for_five_seconds() -> None:
    watch = watch_that_saw((10.0, {0: 5}))
    assert watch.doubt(at(p0=5), 15.0) is None
    assert watch.doubt(at(p0=5), 15.1) == "log_unheard"
    watch.saw(Watermarks(TOPIC, {0: 5}), 16.0)
    assert watch.doubt(at(p0=5), 16.1) is None


def test_another_topic_under_the_name_says_nothing_of_the_lag() -> None:
    watch = watch_that_saw((10.0, {0: 5}))
    watch.saw(Watermarks(bytes(16), {0: 900}), 11.0)
    assert watch.behind(at(p0=5), 11.5) == (None, 0.5)
    assert watch.doubt(at(p0=5), 11.5) == "topic_recreated"


def test_a_look_that_began_before_is_no_proof_of_where_the_log_ends() -> None:
    watch = LogWatch(lambda: Watermarks(TOPIC, {}))
    watch.saw(Watermarks(TOPIC, {0: 5}), 12.0, asked_at=10.0)
    assert watch.ends_since(10.5) is None
    assert watch.ends_since(10.0) == Watermarks(TOPIC, {0: 5})


async def test_who_asks_while_a_look_is_under_way_waits_for_that() -> None:
    looks = 0

    def ends() -> Watermarks:
        nonlocal looks
        looks += 1
        time.sleep(0.05)
        return Watermarks(TOPIC, {0: looks})

    watch = LogWatch(ends)
    await asyncio.gather(*(watch.look() for _ in range(20)))
    assert looks == 1


# -- positions


def test_positions_that_the_log_can_not_have_are_refused() -> None:
    ends = Watermarks(TOPIC, {0: 5, 1: 7})
    check_within(at(p0=5, p1=7), ends)
    refused = {"position_beyond_log": at(p0=6), "position_of_other_topic": Position(bytes(16), {0: 1})}
    for code, position in refused.items():
        with pytest.raises(Rejected) as refusal:
            check_within(position, ends)
        assert (refusal.value.code, refusal.value.field) == (code, "after")
    check_partitions(at(p11=1), 12)
    with pytest.raises(Rejected) as refusal:
        check_partitions(at(p12=1), 12)
    assert refusal.value.code == "position_partition_unknown"
    with pytest.raises(Rejected) as refusal:  # of a topic with more of them
        check_partitions(Position(bytes(16), {12: 1}), 12, ends)
    assert refusal.value.code == "position_of_other_topic"


def test_a_projection_that_has_read_nothing_has_passed_only_the_start() -> None:
    assert has_passed(standing(None), at(p3=0))
    assert not has_passed(standing(None), at(p3=1))


async def test_waiters_of_one_tenant_share_their_looks() -> None:
    looks = 0

    class Slow:
        async def standing(self, tenant_id: Any) -> Standing:
            nonlocal looks
            looks += 1
            await asyncio.sleep(0.01)
            return standing(at(p0=1 if looks < 4 else 2))

    waiting = Waiting(Slow(), just_seen({0: 2}))  # type: ignore[arg-type]
    tenant, wait = uuid4(), Wait(at(p0=2), 5_000)
    await asyncio.gather(*(waiting.until_passed(tenant, wait) for _ in range(50)))
    assert looks < 10
    await waiting.until_passed(tenant, wait)
    assert looks < 10, "what was seen once needs no further look"


def test_what_to_wait_for_is_checked() -> None:
    assert wait_of(None, None) == Wait(None, 1_000)
    assert wait_of(at(p0=1).encode(), "0") == Wait(at(p0=1), 0)
    for after, wait_ms in ((1, None), ("x", None), (None, 30_001), (None, True), (None, 1.5), (None, "")):
        with pytest.raises(Rejected) as refused:
            wait_of(after, wait_ms)
        assert refused.value.field in {"after", "wait_ms"}


# -- chains of scopes


def test_the_nearest_scope_that_is_not_unknown_answers() -> None:
    assert nearest([found(0, 4), found(1), found(1)]) == 1
    assert nearest([found(2), found(1)]) == 0


def test_if_all_are_unknown_the_nearest_that_has_something_to_say_does() -> None:
    assert nearest([SILENT, found(0, 7), found(0, 2), found(0, 3)]) == 2
    assert nearest([SILENT, found(0, 7)]) == 0


# -- conflicts


def claims(*values: str) -> list[Claim]:
    return [Claim(0, f"{n:04}", b"1", value, None, None, "s", "t") for n, value in enumerate(values)]


def test_every_pair_that_differs_is_an_edge() -> None:
    assert [*open_pairs(claims("a", "b", "a"))] == [("0000", "0001"), ("0001", "0002")]
    assert open_pairs_count(claims("a", "b", "a")) == 2


def test_edges_and_versions_of_a_crowd_are_bounded_and_counted() -> None:
    crowd = found(2)._replace(versions=list(range(10_000)))
    assert len(wanted_claims(0, crowd, None)) == 1_000
    body = answer_body(crowd, Behind(claims(*map(str, range(100)))))
    assert (len(body["edges"]), body["edges_count"]) == (EDGES_MAX, 100 * 99 // 2)
    assert body["count"] == 10_000


def test_a_verdict_joins_versions_that_agree_and_marks_the_one_under_review() -> None:
    said = Contradiction(0, "0000", "0002", "0002", "t")
    torn = answer_body(found(2), Behind(claims("a", "b", "a"), [said, said._replace(left="0001")]))
    assert [(one["left"], one["right"]) for one in torn["edges"]] == [
        ("0000", "0001"),
        ("0000", "0002"),
        ("0001", "0002"),
    ]
    assert "edges_count" not in torn
    assert [one.get("pending_review") for one in torn["versions"]] == [None, None, True]
    many = answer_body(found(3), Behind(claims("a", "b", "a"), [said]))
    assert many["edges"] == [{"left": "0000", "right": "0002", "relation": "OPEN"}]
    assert "edges" not in answer_body(found(3), Behind(claims("a", "b")))


def test_agreeing_versions_beyond_those_listed_are_counted() -> None:
    one = found(1)._replace(version_id="0", versions=list(range(1_500)), agreeing=[str(n) for n in range(1_000)])
    assert answer_body(one, NOTHING)["agreeing_count"] == 1_500
    assert "agreeing_count" not in answer_body(one._replace(versions=list(range(1_000))), NOTHING)


def test_what_has_no_line_was_never_recorded() -> None:
    assert answer_body(SILENT, NOTHING)["reason"] == "never_recorded"


# -- ids


def test_a_fact_id_is_a_uuid_in_its_usual_form() -> None:
    usual = "01234567-89ab-8def-8123-456789abcdef"
    assert fact_id_in(usual) == fact_id_in(usual.upper())
    for odd in (usual.replace("-", ""), f"{{{usual}}}", "x", f"urn:uuid:{usual}"):
        with pytest.raises(Rejected):
            fact_id_in(odd)


def test_the_lag_never_falls_while_nothing_is_applied() -> None:
    watch = watch_that_saw(*((float(second), {0: second}) for second in range(1, 20)))
    lags = [watch.behind(at(p0=3), 20.0 + second)[1] for second in range(3)]
    assert all(before < after for before, after in pairwise(lags))
