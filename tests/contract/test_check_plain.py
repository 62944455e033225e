"""Facts of a single assertion are judged by a step of their own: it, too, sees every changed column."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from chronofact.domain.events import Cardinality, Lifecycle
from chronofact.postgres.check_cut import CheckCut
from chronofact.postgres.projection_store import ProjectionStore
from tests.contract.checking import connection_of, cut_of, judged
from tests.contract.memory_log import MemoryTopic
from tests.contract.projecting import projector_on, run_until_idle
from tests.contract.test_check_mutations import BASE, columns_of, differences, is_named, lines_of, spoil
from tests.integration.fixtures_stack import database_like
from tests.integration.saying import Fact

TOLD = ("fact", "event", "version", "timeline")
PLAIN = 5
"""Open at both ends, at one, bounded, long over, and of the future."""
BOUNDS = {
    "ever": (None, None),
    "since": ("2026-01-01T00:00:00Z", None),
    "until": (None, "2029-01-01T00:00:00Z"),
    "over": ("2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z"),
    "to come": ("2028-01-01T00:00:00Z", "2029-01-01T00:00:00Z"),
}
EXTRA = {
    "version_label": "insert into p1.version_label values (%s, 1, 1, 'ACTIVE')",
    "conflict": "insert into p1.conflict values"
    " (%s, '00000000-0000-0000-0000-000000000001', '00000000-0000-0000-0000-000000000002', 'OPEN', 1, now())",
    "edge": "insert into p1.edge values (%s, gen_random_uuid(), 0, 1, gen_random_uuid(), gen_random_uuid())",
    "version": "insert into p1.version select fact_no, 2, gen_random_uuid(), value_json, value_hash, valid_from, valid_to,"
    " recorded_at, event_seq, source_id, source_hash, confidence, lifecycle from p1.version where fact_no = %s",
    "timeline": "insert into p1.timeline select fact_no, 2, known_from, event_seq, valid_from, valid_to, kind, reason,"
    " answer_key, versions, winner from p1.timeline where fact_no = %s and kind = 1",
}


@pytest.fixture(scope="module")
def projected(postgres: str, database_template: str) -> Iterator[tuple[str, MemoryTopic]]:
    """One fact each of BOUNDS, and some that are not quite plain."""
    with database_like(postgres, database_template) as address:
        topic = MemoryTopic()
        store = ProjectionStore(address, "p1")
        projector, _ = projector_on(topic.join(), store)
        told = [Fact(name).asserts(name, *bounds, source=name) for name, bounds in BOUNDS.items()]
        told.append(Fact("wish").asserts("wish", *BOUNDS["since"], source="s", lifecycle=Lifecycle.PROPOSED))
        told.append(Fact("many").asserts("many", *BOUNDS["since"], source="s", cardinality=Cardinality.MANY))
        topic.append(told, appended_at=BASE)
        run_until_idle(projector)
        store.close()
        yield address, topic


@pytest.fixture
def cut(projected: tuple[str, MemoryTopic]) -> Iterator[CheckCut]:
    with cut_of(projected[0], with_ids=True) as cut:
        yield cut


def test_they_are_taken_for_what_they_are(cut: CheckCut, projected: tuple[str, MemoryTopic]) -> None:
    assert differences(cut, projected[1]) == []
    found = connection_of(cut).execute("select count(*) from plain").fetchone()
    assert found == (PLAIN,)


def test_every_changed_column_is_found_and_named(cut: CheckCut, projected: tuple[str, MemoryTopic]) -> None:
    connection = connection_of(cut)
    for statement in ("alter table p1.fact drop constraint fact_parts_once", "drop index p1.timeline_painted_once"):
        connection.execute(statement)
    connection.execute("alter table p1.timeline drop constraint timeline_stretch_is_not_empty")
    unseen: list[str] = []
    for table, column, kind in columns_of(connection):
        if table not in TOLD:
            continue
        for place, fact_id, value in lines_of(connection, table, column, lines_max=4):
            connection.execute("savepoint before")
            spoil(connection, table, column, kind, place, value)
            found = differences(cut, projected[1])
            connection.execute("rollback to savepoint before")
            if not is_named(found, table, column, fact_id):
                told = {(one.relation, one.aspect, one.fact_id == fact_id) for one in found}
                unseen.append(f"{table}.{column} from {value!r} at {place}: {told or 'nothing'}")
    assert not unseen, "\n".join(unseen)


@pytest.mark.parametrize("table", sorted(EXTRA))
def test_a_line_too_many_is_found(cut: CheckCut, table: str) -> None:
    connection = connection_of(cut)
    for (fact_no,) in connection.execute("select fact_no from p1.fact order by fact_no").fetchall():
        connection.execute("savepoint before")
        laid = connection.execute(EXTRA[table], (fact_no,)).rowcount
        found = {one.relation for one in judged(cut) if one.fact_no == fact_no}
        connection.execute("rollback to savepoint before")
        assert (table in found) == (laid == 1), fact_no


@pytest.mark.parametrize("table", ["version", "timeline", "event"])
def test_a_line_too_few_is_found(cut: CheckCut, table: str) -> None:
    connection = connection_of(cut)
    lines = connection.execute(f"select tableoid::regclass, ctid, fact_no from p1.{table}").fetchall()
    assert lines
    for leaf, ctid, fact_no in lines:
        connection.execute("savepoint before")
        connection.execute(f"delete from {leaf} where ctid = %s", (ctid,))
        found = {one.fact_no for one in judged(cut)}
        connection.execute("rollback to savepoint before")
        assert fact_no in found
