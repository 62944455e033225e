"""Each class of difference, by lines spoilt on either side: what is wrong with the old one is explained, with the new one never."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from typing import Final
from uuid import UUID

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from chronofact.contracts.shadow import SweepRunning
from chronofact.domain.events import Cardinality
from chronofact.postgres import shadow_store
from chronofact.runtime.failures import Transient, Unfit
from tests.contract.memory_log import MemoryTopic
from tests.contract.shadowing import BASE, Compared, Scoped, add_projection, fill, project, spoil
from tests.integration.fixtures_stack import database_like
from tests.integration.saying import Fact

PLAIN: Final = Fact("ann")
RIVALS: Final = Fact("bob")
MANY: Final = Fact("cid", "likes")
FROM: Final = Scoped("dan", "editor", "user:self")
TO: Final = Scoped("dan", "editor", "repo:acme/web")
LATER: Final = "2026-03-01T00:00:00Z"

SAYS_ENDED: Final = (
    "update {p}.timeline set kind = 0, reason = 2, versions = '{{}}', winner = null, answer_key = null"
    " where fact_no = {no} and kind = 1"
)
SAYS_FIRST: Final = "update {p}.timeline set kind = 1, versions = '{{1}}', winner = 1 where fact_no = {no} and kind = 2"
GOES_ON: Final = (
    "update {p}.timeline set kind = 1, reason = null, versions = '{{1}}', winner = 1"
    " where fact_no = {no} and kind = 0 and reason = 2"
)


@pytest.fixture(scope="module")
def filled(postgres: str, database_template: str) -> Iterator[tuple[str, MemoryTopic]]:
    """Two projections that are alike; the name of their database."""
    with database_like(postgres, database_template) as address:
        topic = fill(
            address,
            [
                PLAIN.asserts("npm", "2026-01-01T00:00:00Z"),
                RIVALS.asserts("yarn", "2026-01-01T00:00:00Z"),
                FROM.asserts("vim", "2026-01-01T00:00:00Z", LATER),
                *[Fact(f"other {number}").asserts(number) for number in range(40)],
            ],
            [RIVALS.asserts("pnpm", "2026-01-01T00:00:00Z"), TO.asserts("vim", LATER)],
        )
        yield str(conninfo_to_dict(address)["dbname"]), topic


@pytest.fixture
def compared(postgres: str, filled: tuple[str, MemoryTopic]) -> Iterator[Compared]:
    with database_like(postgres, filled[0]) as address:
        yield Compared(address)


def test_what_is_alike_has_no_difference(compared: Compared) -> None:
    swept = compared.sweep()
    assert (swept.facts, swept.in_flight, swept.differing, swept.judged) == (44, 0, 0, 0)
    assert compared.samples() == []
    assert compared.standing() == (False, 0)


@pytest.mark.parametrize(("side", "sort"), [("p1", "correcting"), ("p2", "unknown")])
def test_an_answer_that_is_wrong(compared: Compared, side: str, sort: str) -> None:
    spoil(compared.address, side, SAYS_ENDED, PLAIN)
    assert compared.sweep().differing == 1
    (found,) = compared.samples(PLAIN)
    assert found.sort == sort
    assert (found.valid_from is not None, found.valid_to, found.is_behind) == (True, None, False)
    assert found.valid_from is not None
    assert found.valid_from.isoformat() == "2026-01-01T00:00:00+00:00"
    ended, holds = {"kind": "unknown", "reason": "ended"}, ("value", "npm")
    wrong, right = (found.old_said, found.new_said) if side == "p1" else (found.new_said, found.old_said)
    assert wrong == ended
    assert (right["kind"], right["value"]) == holds
    assert found.reason == ("check_agrees" if side == "p1" else "check_disagrees " + found.reason.split(" ", 1)[-1])
    assert compared.standing() == (False, 0 if side == "p1" else 1)


@pytest.mark.parametrize(("side", "sort"), [("p1", "discovered_conflict"), ("p2", "unknown")])
def test_a_conflict_that_one_side_does_not_see(compared: Compared, side: str, sort: str) -> None:
    spoil(compared.address, side, SAYS_FIRST, RIVALS)
    compared.sweep()
    (found,) = compared.samples(RIVALS)
    assert found.sort == sort
    said = {one["kind"]: one for one in (found.old_said, found.new_said)}
    assert {one["value"] for one in said["conflict"]["versions"]} == {"yarn", "pnpm"}
    assert said["value"]["value"] in {"yarn", "pnpm"}


@pytest.mark.parametrize(("side", "sort"), [("p1", "scope_change"), ("p2", "unknown")])
def test_a_value_that_moved_to_another_scope(compared: Compared, side: str, sort: str) -> None:
    spoil(compared.address, side, GOES_ON, FROM)
    spoil(compared.address, side, SAYS_ENDED, TO)
    compared.sweep()
    assert (compared.sorts(FROM), compared.sorts(TO)) == ({sort}, {sort})
    if side == "p1":
        assert {one.reason for one in compared.samples()} == {"check_agrees"}
        # as one end goes, the other one is a plain correction
        with psycopg.connect(compared.address) as connection:
            connection.execute(
                "update p1.fact set state_hash = n.state_hash from p2.fact as n where n.fact_id = p1.fact.fact_id and n.scope_kind = 'repo'"
            )
        compared.sweep()
        assert (compared.sorts(FROM), compared.sorts(TO)) == ({"correcting"}, set())


@pytest.mark.parametrize(("side", "sort"), [("p1", "correcting"), ("p2", "unknown")])
def test_a_fact_that_is_not_there(compared: Compared, side: str, sort: str) -> None:
    for table in ("event", "version", "timeline"):
        spoil(compared.address, side, f"delete from {{p}}.{table} where fact_no = {{no}}", PLAIN)
    with psycopg.connect(compared.address) as connection:
        connection.execute(f"delete from {side}.fact where fact_id = %s", (UUID(bytes=PLAIN.fact_id),))
    swept = compared.sweep()
    assert (swept.facts, swept.in_flight, swept.differing) == (44, 0, 1)
    found = compared.samples(PLAIN)
    assert {one.sort for one in found} == {sort}
    assert {one.reason for one in found} == {"not_in_old" if side == "p1" else "not_in_new"}
    absent = [one.old_said if side == "p1" else one.new_said for one in found]
    assert absent == [{"kind": "not_there"}] * len(found)


@pytest.mark.parametrize(("side", "sort"), [("p1", "correcting"), ("p2", "unknown")])
def test_what_lies_behind_the_same_answers(compared: Compared, side: str, sort: str) -> None:
    spoil(compared.address, side, "update {p}.fact set conflicts_open = 7 where fact_no = {no}", PLAIN)
    compared.sweep()
    (found,) = compared.samples(PLAIN)
    assert (found.sort, found.is_behind, found.valid_from, found.valid_to) == (sort, True, None, None)
    assert {found.old_said["conflicts_open"], found.new_said["conflicts_open"]} == {0, 7}


@pytest.mark.parametrize(("side", "sort"), [("p1", "correcting"), ("p2", "unknown")])
def test_other_versions_of_a_value_that_goes_on(database: str, side: str, sort: str) -> None:
    said = [PLAIN.asserts("npm", "2026-01-01T00:00:00Z", LATER), PLAIN.asserts("npm", LATER)]
    fill(database, said)
    compared = Compared(database)
    spoil(
        database,
        side,
        "update {p}.timeline set versions = '{{1}}', winner = 1 where fact_no = {no} and versions = '{{2}}'",
        PLAIN,
    )
    compared.sweep()
    (found,) = compared.samples(PLAIN)
    assert (found.sort, found.is_behind, found.valid_to) == (sort, False, None)
    assert found.valid_from == datetime.fromisoformat(LATER)
    told = [str(UUID(bytes=one.version_id)) for one in said if one.version_id is not None]
    sides = [found.old_said["version_id"], found.new_said["version_id"]]
    assert sides == (told if side == "p1" else told[::-1])


def test_a_rule_by_which_a_value_goes_on_changes_no_answer_behind(database: str) -> None:
    nfc, nfd, many = "caf\u00e9", "cafe\u0301", Cardinality.MANY
    topic = MemoryTopic()
    said = [
        MANY.asserts(nfc, "2026-01-01T00:00:00Z", LATER, cardinality=many),
        *(MANY.asserts(one, LATER, cardinality=many) for one in (nfc, nfd)),
    ]
    topic.append(said, appended_at=BASE)
    project(database, topic)
    add_projection(database, topic, rule=2)
    compared = Compared(database)
    compared.sweep()
    (found,) = compared.samples(MANY)
    assert (found.sort, found.is_behind) == ("correcting", True)


@pytest.mark.parametrize(("side", "sort"), [("p1", "correcting"), ("p2", "unknown")])
def test_an_event_that_is_not_there(compared: Compared, side: str, sort: str) -> None:
    spoil(compared.address, side, "delete from {p}.event where fact_no = {no} and event_seq = 2", RIVALS)
    spoil(compared.address, side, "update {p}.fact set event_seq = 1 where fact_no = {no}", RIVALS)
    assert compared.sweep().in_flight == 0
    found = compared.samples(RIVALS)
    assert {one.sort for one in found} == {sort}


@pytest.mark.parametrize("column", ["recorded_at = recorded_at + interval '1 s'", "versions = versions + 1"])
@pytest.mark.parametrize(("side", "sort"), [("p1", "correcting"), ("p2", "unknown")])
def test_what_no_rule_changes(compared: Compared, side: str, sort: str, column: str) -> None:
    spoil(compared.address, side, f"update {{p}}.fact set {column} where fact_no = {{no}}", PLAIN)
    with psycopg.connect(compared.address) as connection:
        connection.execute(
            f"update {side}.fact as f set state_hash = o.state_hash from {'p2' if side == 'p1' else 'p1'}.fact as o where o.fact_id = f.fact_id"
        )
    compared.sweep()
    (found,) = compared.samples(PLAIN)
    assert found.sort == sort


def test_what_is_in_flight_is_looked_at_again(compared: Compared, filled: tuple[str, MemoryTopic]) -> None:
    topic = MemoryTopic()
    topic.partitions = {number: list(messages) for number, messages in filled[1].partitions.items()}
    new = Fact("eve")
    topic.append([new.asserts("bun"), PLAIN.asserts("pnpm", LATER)], appended_at=BASE + 9_000_000)
    spoil(compared.address, "p1", SAYS_ENDED, PLAIN)
    compared.sweep()
    before = compared.samples()
    project(compared.address, topic)  # p1 alone
    swept = compared.sweep()
    assert (swept.in_flight, swept.differing) == (2, 0)
    assert compared.samples() == before  # not settled: nobody knows
    project(compared.address, topic, "p2")
    swept = compared.sweep()
    assert swept.in_flight == 0
    assert compared.sorts(new) == set()


def test_what_goes_away_is_settled_and_may_come_again(compared: Compared) -> None:
    compared.sweep()
    spoil(compared.address, "p1", SAYS_FIRST, RIVALS)
    compared.sweep()
    (first,) = compared.samples()
    compared.sweep()
    (again,) = compared.samples()
    assert again.first_seen_at == first.first_seen_at
    assert first.last_seen_at is not None
    assert again.last_seen_at is not None
    assert again.last_seen_at > first.last_seen_at
    with psycopg.connect(compared.address) as connection:
        hashes = "update p1.fact as f set state_hash = {} where f.conflicts_open > 0"
        connection.execute(hashes.format("(select n.state_hash from p2.fact as n where n.fact_id = f.fact_id)"))
    compared.sweep()
    assert compared.samples() == []
    counted = compared.store.report(compared.shadow).counted
    assert [(one.sort, one.differences, one.facts, one.settled) for one in counted] == [
        ("discovered_conflict", 0, 0, 1)
    ]
    with psycopg.connect(compared.address) as connection:
        connection.execute(hashes.format("sha256(f.state_hash)"))
    compared.sweep()
    (back,) = compared.samples()
    assert back.first_seen_at == first.first_seen_at


def test_beyond_the_limit_all_are_counted_and_nobody_calls_them_explained(compared: Compared) -> None:
    with psycopg.connect(compared.address) as connection:
        connection.execute("update p1.fact set state_hash = sha256(state_hash)")
    swept = compared.sweep(kept_max=10, judged_max=4)
    assert (swept.differing, swept.judged) == (44, 4)
    assert compared.standing() == (False, 40)
    for _ in range(3):
        compared.sweep(kept_max=10, judged_max=4)
    report = compared.store.report(compared.shadow)
    assert (report.shadow.facts_differing, report.shadow.facts_beyond) == (44, 34)
    assert [(one.sort, one.facts) for one in report.counted] == [("correcting", 10)]
    assert compared.standing() == (False, 34)


def test_a_window_ends_with_the_first_sweep_behind_it(compared: Compared) -> None:
    assert compared.standing() == (False, 0)
    with psycopg.connect(compared.address) as connection:
        connection.execute("update chronofact.shadow set until = clock_timestamp()")
    assert compared.standing() == (False, 0)  # nobody has looked since
    compared.sweep()
    assert compared.standing() == (True, 0)
    assert compared.store.newest("p2")[0].ended_at is not None
    assert compared.store.newest("p2", is_open=True) == []


def test_windows_are_opened_once_and_named_when_they_can_t_be(compared: Compared) -> None:
    again, is_new = compared.store.open("p2", "p1", window_s=1)
    assert (again.shadow_id, again.until, is_new) == (compared.shadow.shadow_id, compared.shadow.until, False)
    for new, old in (("p2", "p9"), ("p9", "p1")):
        with pytest.raises(Unfit) as refused:
            compared.store.open(new, old, window_s=1)
        assert refused.value.code == "projection_missing"
    assert compared.store.close("p2")
    assert not compared.store.close("p2")
    assert compared.standing() == (False, 0)
    assert compared.store.newest("p2")[0].failure == "stopped"
    assert compared.store.open("p2", "p1", window_s=1)[1]


def test_who_loses_a_sweep_holds_nobody_up_and_leaves_nothing(compared: Compared) -> None:
    spoil(compared.address, "p1", SAYS_ENDED, PLAIN)
    with pytest.raises(Transient):
        _lose(compared)
    assert [one.sort for one in compared.samples(PLAIN)] == ["correcting"]


def _lose(compared: Compared) -> None:
    """A sweep that has written something, as another one begins instead of it."""
    with (
        compared.store.sweep(compared.shadow) as first,
        ThreadPoolExecutor(1) as pool,
        psycopg.connect(compared.address, autocommit=True) as connection,
    ):
        first.finish()
        ended = connection.execute(
            "select pg_terminate_backend(pid, 5000) from pg_locks where locktype = 'advisory' and classid = %s"
            " and database = (select oid from pg_database where datname = current_database())",
            (shadow_store.LOCK_CLASS,),
        ).fetchall()
        assert ended == [(True,)]
        assert pool.submit(compared.sweep).result(20).judged == 1


def test_one_sweep_at_a_time_and_none_of_what_is_not_fed(compared: Compared) -> None:
    with compared.store.sweep(compared.shadow), pytest.raises(SweepRunning):
        compared.sweep()
    with psycopg.connect(compared.address) as connection:
        connection.execute("update chronofact.projection set state = 'retired' where name = 'p1'")
    with pytest.raises(Unfit) as refused:
        compared.sweep()
    assert refused.value.code == "projection_not_fed"
