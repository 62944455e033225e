"""Routes changed and taken back: which are, in one transaction with what is kept of it, and which are refused by name."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from uuid import UUID, uuid4

import pytest

from chronofact.contracts.routing import Refusal, RouteRefused
from chronofact.domain.errors import Rejected
from chronofact.postgres.projections import create_projection, drop_projection, publish
from chronofact.postgres.session import connect
from tests.integration.reading import World, world_on
from tests.integration.saying import Fact
from tests.integration.two_sides import Side, asked, rollback, routes, side_of, state_of, switch

OTHER, THIRD = UUID(int=7), UUID(int=8)
REBUILT = """
insert into chronofact.rebuild (projection, rule, state, compared_with, workers) values ('p2', 1, 'ready', 'p1', 1)
"""
VERIFIED = """
insert into chronofact.verification (left_projection, right_projection, rule_left, rule_right, aspects, state, identical,
finished_at) values ('p1', 'p2', 1, 1, 'all', 'finished', %s, now())
"""
CHECKED = """
insert into chronofact.reconciliation_run (projection, state, finished_at, seed, past_max, with_log, with_adjudicated)
values ('p2', 'finished', now(), 1, 0, true, false)
"""
SHADOWED = """
insert into chronofact.shadow (old_projection, new_projection, state, until)
values ('p1', 'p2', %s, now() + interval '7 days') returning shadow_id
"""
DIFFERENCE = """
insert into chronofact.shadow_difference (shadow_id, fact_id, tenant_id, subject_id, scope_kind, scope_key, fact_key,
class, reason, old_said, new_said, gone, come, judged_at, first_seen_at, last_seen_at)
values (%s, gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 'user', 'self', 'k', %s, 'r', '{}', '{}', '{}',
'{}', now(), now(), now())
"""


@pytest.fixture
async def world(database: str) -> AsyncIterator[World]:
    async with world_on(database) as made:
        made.tell(Fact("ada").asserts("npm"), Fact("ada", tenant=OTHER).asserts("yarn"))
        yield made


@pytest.fixture
def p2(database: str, world: World) -> Iterator[Side]:
    with side_of(database, world.topic) as side:
        yield side


def refused(database: str, to: str, *tenants: UUID, lag_events_max: int = 1_000) -> list[str]:
    with pytest.raises(RouteRefused) as found:
        switch(database, to, *tenants, lag_events_max=lag_events_max)
    return [one.code for one in found.value.refusals]


def not_taken_back(database: str, *tenants: UUID) -> list[Refusal]:
    with pytest.raises(RouteRefused) as found:
        rollback(database, *tenants)
    return list(found.value.refusals)


def kept(database: str) -> list[tuple[object, ...]]:
    return asked(
        database,
        "select tenant_id, from_projection, to_projection, kind, undoes, is_forced, overridden, reason"
        " from chronofact.route_change order by number",
    )


# -- what changes


@pytest.mark.usefixtures("p2")
async def test_one_tenant_is_switched_and_goes_back(world: World, database: str) -> None:
    question = {"subject": "ada", "key": "package_manager"}
    other = {"X-Tenant-Id": str(OTHER)}
    assert (await world.get("/v1/resolve", **question))["freshness"]["projection"] == "p1"
    routed = switch(database, "p2", OTHER)
    assert [one[:3] for one in routed.moves] == [(OTHER, "p1", "p2")]
    assert routes(database) == {None: "p1", OTHER: "p2"}
    assert (await world.get("/v1/resolve", **question))["freshness"]["projection"] == "p1"
    theirs = (await world.http.get("/v1/resolve", params=question, headers=other)).json()
    assert (theirs["value"], theirs["freshness"]["projection"], theirs["freshness"]["rule"]) == ("yarn", "p2", 1)
    assert state_of(database, "p2") == ("live", True, False)
    assert state_of(database, "p1")[2] is False, "all others still read it"
    assert [one[:3] for one in rollback(database, OTHER).moves] == [(OTHER, "p2", "p1")]
    assert routes(database) == {None: "p1", OTHER: "p1"}
    assert state_of(database, "p2") == ("live", True, True)
    ((number,),) = asked(database, "select number from chronofact.route_change where kind = 'switch'")
    assert kept(database) == [
        (OTHER, "p1", "p2", "switch", None, False, [], None),
        (OTHER, "p2", "p1", "rollback", number, False, [], None),
    ]


@pytest.mark.usefixtures("p2")
def test_a_second_rollback_takes_the_switch_before_back_and_never_goes_forward(database: str, world: World) -> None:
    with side_of(database, world.topic, "p3"):
        switch(database, "p2", OTHER)
        switch(database, "p3", OTHER)
        rollback(database, OTHER)
        assert routes(database)[OTHER] == "p2"
        rollback(database, OTHER)
        assert routes(database)[OTHER] == "p1"
        (refusal,) = not_taken_back(database, OTHER)
        assert refusal.code == "rollback_nothing"
        assert "switch --to" in refusal.message
        assert routes(database)[OTHER] == "p1"
        switch(database, "p2", OTHER)
        rollback(database, OTHER)
        assert [one.code for one in not_taken_back(database, OTHER)] == ["rollback_nothing"]
        assert state_of(database, "p3") == ("live", True, True)


@pytest.mark.usefixtures("p2")
def test_all_are_those_without_a_line_and_those_whose_line_names_the_same(database: str, world: World) -> None:
    with side_of(database, world.topic, "p3"):
        switch(database, "p2", OTHER)
        rollback(database, OTHER)
        switch(database, "p3", THIRD)
        routed = switch(database, "p2")
        assert routes(database) == {None: "p2", OTHER: "p2", THIRD: "p3"}
        assert {one.tenant_id for one in routed.moves} == {None, OTHER}
        assert routed.elsewhere == {"p3": 1}
        assert state_of(database, "p1")[2] is True
        back = rollback(database)
        assert routes(database) == {None: "p1", OTHER: "p1", THIRD: "p3"}
        assert (back.projection, state_of(database, "p1")[2]) == ("p1", False)
        assert [one.code for one in not_taken_back(database)] == ["rollback_nothing"]


@pytest.mark.usefixtures("p2")
def test_a_tenant_without_a_line_goes_back_with_all_others(database: str) -> None:
    switch(database, "p2")
    (refusal,) = not_taken_back(database, OTHER)
    assert (refusal.code, "rollback --all" in refusal.message) == ("rollback_nothing", True)


@pytest.mark.usefixtures("p2")
def test_whoever_is_there_already_stays_and_nothing_is_kept_of_it(database: str) -> None:
    routed = switch(database, "p1", OTHER)
    assert ([one.tenant_id for one in routed.unchanged], routed.moves, routed.projection) == ([OTHER], [], "p1")
    assert (kept(database), routes(database)) == ([], {None: "p1"})


@pytest.mark.usefixtures("p2")
def test_a_line_that_was_changed_by_other_means_is_not_guessed_at(database: str) -> None:
    switch(database, "p2", OTHER)
    asked(database, "update chronofact.tenant_route set projection = 'p1' where tenant_id = %s", (OTHER,))
    assert [one.code for one in not_taken_back(database, OTHER)] == ["rollback_unclear"]


@pytest.mark.usefixtures("p2")
def test_one_refused_tenant_leaves_all_as_they_are(database: str) -> None:
    switch(database, "p2", OTHER)
    assert [one.code for one in not_taken_back(database, OTHER, THIRD)] == ["rollback_nothing"]
    assert routes(database)[OTHER] == "p2"


@pytest.mark.usefixtures("p2")
async def test_many_at_once_are_changed_one_after_the_other(database: str) -> None:
    tenants = [uuid4() for _ in range(12)]
    await asyncio.gather(*(asyncio.to_thread(switch, database, "p2", one) for one in tenants))
    found = routes(database)
    assert (found.pop(None), sorted(found, key=str), set(found.values())) == ("p1", sorted(tenants, key=str), {"p2"})
    assert len(kept(database)) == 12


# -- what is refused


def test_a_projection_that_is_not_there_is_unknown(database: str) -> None:
    assert refused(database, "p9", OTHER) == ["projection_unknown"]
    with pytest.raises(RouteRefused):
        switch(database, "p9", OTHER, force="nothing helps")


@pytest.mark.usefixtures("p2")
@pytest.mark.parametrize("state", ["catching_up", "verifying", "failed", "retired"])
def test_what_is_not_ready_is_refused_and_forced_is_published(database: str, state: str) -> None:
    asked(database, "update chronofact.projection set state = %s where name = 'p2'", (state,))
    with connect(database, "test", autocommit=True) as connection:
        publish(connection)
    assert refused(database, "p2", OTHER) == ["route_not_ready"]
    routed = switch(database, "p2", OTHER, force="we know why")
    assert [one.code for one in routed.overridden] == ["route_not_ready"]
    assert kept(database) == [(OTHER, "p1", "p2", "switch", None, True, ["route_not_ready"], "we know why")]
    assert state_of(database, "p2")[0] == "live"
    seen = "select value_json from chronofact.memory_current where tenant_id = %s"
    assert asked(database, seen, (OTHER,)) == [("yarn",)]


@pytest.mark.usefixtures("p2")
def test_half_a_projection_is_refused_whatever_is_forced(database: str) -> None:
    asked(database, "update chronofact.projection set state = 'building' where name = 'p2'")
    with pytest.raises(RouteRefused) as found:
        switch(database, "p2", OTHER, force="nothing helps")
    assert [one.code for one in found.value.refusals] == ["route_unfinished"]


@pytest.mark.usefixtures("p2")
def test_a_switch_waits_for_an_explained_and_finished_comparison(database: str) -> None:
    ((shadow_id,),) = asked(database, SHADOWED, ("open",))
    assert refused(database, "p2", OTHER) == ["route_shadow_open"]
    asked(database, DIFFERENCE, (shadow_id, "correcting"))
    asked(database, "update chronofact.shadow set state = 'over', until = now(), ended_at = now()")
    asked(database, DIFFERENCE, (shadow_id, "unknown"))
    assert refused(database, "p2", OTHER) == ["route_shadow_unknown"]
    asked(database, "update chronofact.shadow_difference set settled_at = now() where class = 'unknown'")
    switch(database, "p2", OTHER)


@pytest.mark.usefixtures("p2")
def test_another_rule_is_looked_at_in_shadow_before(database: str) -> None:
    asked(database, "update chronofact.projection set rule = 2 where name = 'p2'")
    assert refused(database, "p2", OTHER) == ["route_shadow_absent"]


@pytest.mark.usefixtures("p2")
def test_what_was_rebuilt_is_verified_first(database: str) -> None:
    asked(database, REBUILT)
    assert refused(database, "p2", OTHER) == ["route_unverified"]
    asked(database, VERIFIED, (False,))
    assert refused(database, "p2", OTHER) == ["route_verification_failed"]
    asked(database, VERIFIED, (True,))
    switch(database, "p2", OTHER)


@pytest.mark.usefixtures("p2")
def test_a_verification_that_left_the_answers_out_proves_nothing_by_one_rule(database: str) -> None:
    only_said = VERIFIED.replace("'all'", "'said'")
    asked(database, REBUILT)
    asked(database, only_said, (True,))
    assert refused(database, "p2", OTHER) == ["route_unverified"]
    asked(database, VERIFIED, (False,))
    asked(database, only_said, (True,))
    assert refused(database, "p2", OTHER) == ["route_verification_failed"]


@pytest.mark.usefixtures("p2")
def test_what_was_said_of_an_earlier_one_of_that_name_says_nothing(database: str) -> None:
    asked(database, VERIFIED, (False,))
    asked(database, CHECKED)
    assert refused(database, "p2", OTHER) == ["route_verification_failed"]
    asked(database, REBUILT.replace("'p1', 1)", "'none', 1)"))
    assert refused(database, "p2", OTHER) == ["route_unverified"]
    asked(database, CHECKED)
    switch(database, "p2", OTHER)


def test_what_lags_is_refused_by_how_much(database: str, world: World, p2: Side) -> None:
    world.tell(*(Fact("ada").asserts(f"v{number}", source=str(number)) for number in range(5)))
    assert refused(database, "p2", OTHER, lag_events_max=4) == ["route_lags"]
    switch(database, "p2", OTHER, lag_events_max=5)
    world.tell(*(Fact("bob").asserts(f"v{number}", source=str(number)) for number in range(1_001)))
    p2.project()
    assert [one[2] for one in rollback(database, OTHER).moves] == ["p1"]


@pytest.mark.usefixtures("world")
def test_what_nobody_feeds_is_refused(database: str) -> None:
    with connect(database, "test", autocommit=True) as connection:
        create_projection(connection, "p2", rule=1, state="ready")
        publish(connection)
    assert refused(database, "p2", OTHER) == ["route_not_fed"]


@pytest.mark.usefixtures("p2")
def test_a_projection_that_is_held_is_refused(database: str) -> None:
    asked(
        database,
        "update chronofact.checkpoint set stop_at = next_offset, stop_until = now() + interval '1 minute'"
        " where projection = 'p2' and next_offset > 0",
    )
    assert refused(database, "p2", OTHER) == ["route_not_fed"]


@pytest.mark.usefixtures("p2")
def test_all_that_speaks_against_it_is_told_at_once_and_force_takes_a_reason(database: str) -> None:
    asked(database, REBUILT)
    asked(database, SHADOWED, ("open",))
    assert refused(database, "p2", OTHER) == ["route_unverified", "route_shadow_open"]
    with pytest.raises(Rejected, match="reason"):
        switch(database, "p2", OTHER, force=" ")
    routed = switch(database, "p2", OTHER, force="an outage")
    assert [one.code for one in routed.overridden] == ["route_unverified", "route_shadow_open"]


@pytest.mark.usefixtures("p2")
def test_nobody_goes_back_to_what_is_retired_or_dropped_or_behind(database: str, world: World) -> None:
    switch(database, "p2")
    asked(database, "update chronofact.projection set state = 'retired' where name = 'p1'")
    assert [one.code for one in not_taken_back(database)] == ["rollback_gone"]
    asked(database, "update chronofact.projection set state = 'live' where name = 'p1'")
    asked(database, "update chronofact.checkpoint set next_offset = next_offset + 2000 where projection = 'p2'")
    (refusal,) = not_taken_back(database)
    assert (refusal.code, "chronofact switch" in refusal.message or refusal.can_be_forced) == ("route_lags", True)
    asked(database, "update chronofact.projection set state = 'retired' where name = 'p1'")
    world.close()
    with connect(database, "test", autocommit=True) as connection:
        publish(connection)
        drop_projection(connection, "p1")
    assert [one.code for one in not_taken_back(database)] == ["rollback_gone"]


@pytest.mark.usefixtures("p2")
def test_nobody_goes_back_to_another_projection_of_the_same_name(database: str, world: World) -> None:
    with side_of(database, world.topic, "p3"):
        switch(database, "p2", OTHER)
        switch(database, "p3", OTHER)
        asked(database, "update chronofact.projection set state = 'ready', live_since = null where name = 'p2'")
        assert [one.code for one in not_taken_back(database, OTHER)] == ["rollback_gone"]
        asked(database, "update chronofact.projection set state = 'live', live_since = now() where name = 'p2'")
        assert [one.code for one in not_taken_back(database, OTHER)] == ["rollback_gone"]
        switch(database, "p2", OTHER)


@pytest.mark.usefixtures("p2")
def test_what_was_live_needs_no_comparison_to_be_gone_back_to(database: str) -> None:
    asked(database, "update chronofact.projection set rule = 2 where name = 'p2'")
    switch(database, "p2", OTHER, force="a test")
    assert switch(database, "p1", OTHER).overridden == []
    assert switch(database, "p2", OTHER).overridden == []
    assert refused(database, "p2", THIRD) == refused(database, "p2") == ["route_shadow_absent"]  # forced for one alone


@pytest.mark.usefixtures("p2")
def test_a_change_that_dies_in_the_middle_changes_nothing(database: str) -> None:
    asked(
        database,
        "create function chronofact.broken() returns trigger language plpgsql as $$ begin raise 'no'; end $$;"
        "create trigger broken before update on chronofact.projection for each row execute function chronofact.broken()",
    )
    with pytest.raises(Exception, match="Postgres"):
        switch(database, "p2", OTHER)
    assert (routes(database), kept(database)) == ({None: "p1"}, [])
