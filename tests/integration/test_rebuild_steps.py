"""A rebuild's load that is crashed, refused, cancelled or disturbed at each of its steps."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from random import Random
from typing import Any
from unittest.mock import patch

import psycopg
import pytest
from confluent_kafka import Producer

from chronofact.contracts.drops import Drop
from chronofact.contracts.rebuilding import RebuildCancelled, RebuildLost
from chronofact.contracts.topics import facts_topic
from chronofact.kafka.admin import Admin, create_topics
from chronofact.postgres.load_work import BucketWriter, LoadWork
from chronofact.postgres.projections import create_projection
from chronofact.postgres.rebuild_store import RebuildStore
from chronofact.reconciler.rebuilding.load import discard, load, plan
from chronofact.reconciler.rebuilding.patience import Patience
from chronofact.reconciler.rebuilding.worker import Worker
from chronofact.runtime.config import Settings
from chronofact.runtime.failures import Unfit
from tests.bench.workload import mixed
from tests.integration.comparing import assert_alike, told
from tests.integration.cut_wire import wire_to
from tests.integration.nasty import POISON, Nasty
from tests.integration.poison import UNKNOWN_FINGERPRINT
from tests.integration.projecting import append
from tests.integration.rebuilding import loaded, prepare_only, rebuilt, settings_for, taken, worker_pids
from tests.integration.saying import Fact, Said

EASY = {"parked_share_max": 1.0, "parked_row_max": 1_000_000}
SMALL = {"rebuild_bucket_bytes": 30_000, "rebuild_memory_bytes": 60_000}
ADA = Fact("ada")
CATALOGUE = """
select 'column' as what, c.table_name::text, c.column_name::text, c.data_type::text, c.is_nullable::text, ''
from information_schema.columns as c where c.table_schema = %(schema)s
union all
select 'constraint', c.relname, k.conname, pg_get_constraintdef(k.oid),
    concat(k.contype, k.convalidated, k.conislocal, k.coninhcount),
    concat(p.conname, case when k.contype not in ('p', 'u') then k.connoinherit end) -- of an index it means nothing
from pg_constraint as k join pg_class as c on c.oid = k.conrelid left join pg_constraint as p on p.oid = k.conparentid
where k.connamespace = %(schema)s::regnamespace
union all
select 'index', c.relname, x.relname, pg_get_indexdef(i.indexrelid),
    concat(i.indisvalid, i.indisready, i.indisunique, i.indisprimary, i.indnullsnotdistinct),
    coalesce((select h.inhparent::regclass::text from pg_inherits as h where h.inhrelid = x.oid), '')
from pg_index as i join pg_class as c on c.oid = i.indrelid join pg_class as x on x.oid = i.indexrelid
where c.relnamespace = %(schema)s::regnamespace
union all
select 'relation', c.relname, c.relkind::text, concat(c.relpersistence, array_to_string(c.reloptions, ',')),
    coalesce((select array_to_string(t.reloptions, ',') from pg_class as t where t.oid = c.reltoastrelid), ''),
    coalesce(pg_get_expr(c.relpartbound, c.oid), '')
from pg_class as c where c.relnamespace = %(schema)s::regnamespace
union all
select 'function', p.proname, md5(pg_get_functiondef(p.oid)), '', '', '' from pg_proc as p
where p.pronamespace = %(schema)s::regnamespace
order by 1, 2, 3, 4
"""


@pytest.fixture
def topic(kafka: str, topic_name: str) -> str:
    create_topics(kafka, topic_name)
    return topic_name


@pytest.fixture
def filled_topic(kafka: str, topic: str) -> str:
    append(kafka, topic, mixed(300, 3_000))
    return topic


def catalogue(database: str, schema: str) -> list[tuple[str, ...]]:
    with psycopg.connect(database) as connection:
        found = connection.execute(CATALOGUE.encode(), {"schema": schema}).fetchall()
    return [tuple(str(part).replace(f"{schema}.", "") for part in line if len(str(part)) != 32) for line in found]


def test_the_finished_schema_equals_a_migrated_one(kafka: str, filled_topic: str, database: str) -> None:
    with psycopg.connect(database, autocommit=True) as connection:
        create_projection(connection, "p7", rule=1)
    settings = settings_for(kafka, filled_topic, database)
    with taken(database) as rebuild:
        loaded(settings, rebuild)
        built = catalogue(database, rebuild.projection)
    assert built == catalogue(database, "p7")
    assert {line[0] for line in built} == {"column", "constraint", "index", "relation", "function"}
    with psycopg.connect(database) as connection:
        left = connection.execute(
            "select (select count(*) from chronofact.rebuild_index) + (select count(*) from chronofact.rebuild_aside)"
        ).fetchone()
    assert left == (0,)


class Crash(BaseException):
    """The process is gone: nothing that waits out failures sees it."""


@contextmanager
def crashing(after: int) -> Iterator[None]:
    """Of the calls to the database, the one behind so many crashes, before it does anything or once it is done."""
    left = [after]

    def wrapped(original: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **named: Any) -> Any:
            left[0] -= 1
            if left[0] < 0:
                raise Crash
            answer = original(*arguments, **named)
            left[0] -= 1
            if left[0] < 0:
                raise Crash
            return answer

        return call

    names = ("planned", "claim", "dropped", "read", "relations", "index", "is_indexed", "aside")
    steps = [*((LoadWork, name) for name in names), (BucketWriter, "write"), (BucketWriter, "commit")]
    with ExitStack() as stack:
        for owner, name in steps:
            stack.enter_context(patch.object(owner, name, wrapped(getattr(owner, name))))
        yield


@pytest.mark.parametrize(
    ("lives", "crashes_min"), [((40, 90, 170, 400), 0), pytest.param((1, 2, 5, 13, 40, 90), 20, marks=pytest.mark.soak)]
)
def test_a_worker_that_crashes_at_any_step_is_gone_on_with(
    kafka: str, topic: str, database: str, lives: tuple[int, ...], crashes_min: int
) -> None:
    seed = int.from_bytes(os.urandom(4))
    print(f"seed {seed}")
    random = Random(seed)
    nasty = Nasty(seed, Admin(kafka).state(facts_topic(topic)).topic_id)
    append(kafka, topic, nasty.messages)
    settings = settings_for(kafka, topic, database, **EASY, **SMALL)
    assert rebuilt(settings, workers=1).messages == len(nasty.messages)
    crashes = 0
    with taken(database) as rebuild:
        planned = plan(settings, rebuild)
        prepare_only(settings, planned)
        while not (is_done := crashed(settings, planned, random.choice(lives) if crashes else lives[0])):
            crashes += 1
        assert is_done
        loaded(settings, planned)
        assert_alike(told(database, "p2"), told(database, rebuild.projection))
    assert crashes > crashes_min


def crashed(settings: Settings, rebuild: Any, after: int) -> bool:
    """One life of a worker; whether it came to its end."""
    database = settings.postgres.get_secret_value()
    work = LoadWork(database, rebuild.rebuild_id, epoch=rebuild.epoch, worker=1, projection=rebuild.projection)
    try:
        with crashing(after):
            Worker(settings, work, Patience(time.sleep, name="test")).run()
    except Crash:
        return False
    finally:
        work.close()
    return True


@pytest.mark.parametrize("is_aborted", [False, True])
def test_a_log_that_ends_behind_a_marker_has_an_end(kafka: str, topic: str, database: str, is_aborted: bool) -> None:
    append(kafka, topic, [ADA.asserts(0)])
    producer = Producer({"bootstrap.servers": kafka, "transactional.id": topic})
    producer.init_transactions(30)
    said = [ADA.asserts(1), *(Fact(f"ada {number}").asserts(number) for number in range(40))]
    for part in (said[:20], said[20:]):
        producer.begin_transaction()
        for one in part:
            producer.produce(topic, one.value, one.key, one.partition)
        producer.flush(30)
        producer.abort_transaction(30) if is_aborted else producer.commit_transaction(30)
    settings = settings_for(kafka, topic, database)
    with taken(database) as rebuild:
        planned = plan(settings, rebuild)
        assert sum(planned.targets) > 1 + len(said)
        result = loaded(settings, planned)
    # read uncommitted, as the projector reads
    assert result.events == 1 + len(said)
    with psycopg.connect(database) as connection:
        found = connection.execute(
            "select next_offset from chronofact.checkpoint where projection = 'p2' order by partition"
        ).fetchall()
    assert [next_offset for (next_offset,) in found] == [*planned.targets]


def test_cancelling_leaves_nothing(kafka: str, filled_topic: str, database: str) -> None:
    append(kafka, filled_topic, [Said(ADA.partition, ADA.fact_id, POISON, b"", None)])
    settings = settings_for(kafka, filled_topic, database, **EASY, rebuild_bucket_bytes=10_000)
    before = everything(database)
    with taken(database) as rebuild:
        planned = plan(settings, rebuild)

        def cancel(parts: Any) -> None:
            if any(part.buckets_done for part in parts):
                RebuildStore(database).ask_cancel(rebuild.rebuild_id)

        with pytest.raises(RebuildCancelled):
            load(settings, planned, report=cancel, stopping=threading.Event())
        assert worker_pids() == []
        assert catalogue(database, "p2")
        discard(settings, planned)
        discard(settings, planned)
    assert everything(database) == before


def test_what_is_finished_can_be_discarded_unless_it_serves(kafka: str, filled_topic: str, database: str) -> None:
    append(kafka, filled_topic, [Said(ADA.partition, ADA.fact_id, POISON, b"", None)])
    settings = settings_for(kafka, filled_topic, database)
    before = everything(database)
    with taken(database) as rebuild:
        loaded(settings, rebuild)
        with psycopg.connect(database, autocommit=True) as connection:
            connection.execute("update chronofact.projection set state = 'ready' where name = 'p2'")
            with pytest.raises(Unfit) as unfit:
                discard(settings, rebuild)
            connection.execute("update chronofact.projection set state = 'failed' where name = 'p2'")
        assert unfit.value.code == "projection_serves"
        discard(settings, rebuild)
    assert everything(database) == before


def everything(database: str) -> dict[str, Any]:
    """How many lines each table has that outlives projections, and the schemas."""
    with psycopg.connect(database) as connection:
        tables = connection.execute(
            "select relname from pg_class where relnamespace = 'chronofact'::regnamespace and relkind = 'r'"
        ).fetchall()
        found: dict[str, Any] = {
            name: connection.execute(f"select count(*) from chronofact.{name}".encode()).fetchall()
            for (name,) in tables
            if name != "rebuild"
        }
        found["schemas"] = connection.execute(
            "select nspname from pg_namespace where nspname !~ 'temp' order by 1"
        ).fetchall()
    return found


def test_another_runner_ends_the_first(kafka: str, filled_topic: str, database: str) -> None:
    settings = settings_for(kafka, filled_topic, database, rebuild_bucket_bytes=10_000)
    with taken(database) as rebuild:
        planned = plan(settings, rebuild)

        def take(_parts: Any) -> None:
            with psycopg.connect(database) as connection:
                connection.execute("update chronofact.rebuild set epoch = epoch + 1")

        with pytest.raises(RebuildLost):
            load(settings, planned, report=take, stopping=threading.Event())
        with pytest.raises(RebuildLost):
            discard(settings, planned)
    assert worker_pids() == []
    with taken(database, rebuild.rebuild_id) as again:
        assert loaded(settings, again).events == 3_000


def test_a_changed_fold_is_refused(kafka: str, filled_topic: str, database: str) -> None:
    settings = settings_for(kafka, filled_topic, database)
    with taken(database) as rebuild:
        planned = plan(settings, rebuild)
        prepare_only(settings, planned)
        with psycopg.connect(database) as connection:
            connection.execute("update chronofact.rebuild set fingerprint = 'of other code'")
        with pytest.raises(Unfit) as unfit:
            loaded(settings, rebuild)
    assert unfit.value.code == "fold_changed"
    assert "cancel" in unfit.value.remedy


def test_a_schema_that_is_unknown_is_refused_unless_its_message_was_given_up(
    kafka: str, topic: str, database: str
) -> None:
    said = ADA.asserts("npm")
    newer = said._replace(value=UNKNOWN_FINGERPRINT + said.value[10:])
    append(kafka, topic, [said, newer])
    settings = settings_for(kafka, topic, database)
    with taken(database) as rebuild, pytest.raises(Unfit) as unfit:
        loaded(settings, rebuild)
    assert unfit.value.code == "schema_unknown"
    assert f"partition {ADA.partition}, offset 1" in str(unfit.value)
    drop = Drop(Admin(kafka).state(facts_topic(topic)).topic_id, ADA.partition, 1, ADA.fact_id, "of a test", "ada")
    append(kafka, topic, [Said(ADA.partition, ADA.fact_id, drop.message().value, b"", None)])
    with psycopg.connect(database) as connection:
        connection.execute("update chronofact.rebuild set state = 'failed'")
    with taken(database) as rebuild:
        result = loaded(settings, rebuild)
    assert (result.events, result.parked, result.dropped) == (1, 0, 1)


@pytest.mark.parametrize(("poisoned", "facts"), [(60, 1), (400, 400)])
def test_the_limits_of_parking_hold(kafka: str, topic: str, database: str, poisoned: int, facts: int) -> None:
    of = [Fact(f"poisoned {number}") for number in range(12 * facts)]
    here = [fact for fact in of if fact.partition == of[0].partition][:facts]
    append(
        kafka,
        topic,
        [Said(here[0].partition, here[one % len(here)].fact_id, POISON, b"", None) for one in range(poisoned)],
    )
    settings = settings_for(kafka, topic, database)
    with taken(database) as rebuild, pytest.raises(Unfit) as unfit:
        loaded(settings, rebuild)
    assert unfit.value.code == "parking_limit"


def test_workers_that_die_again_and_again_end_it(kafka: str, filled_topic: str, database: str) -> None:
    with taken(database) as rebuild:
        planned = plan(settings_for(kafka, filled_topic, database), rebuild)
        with patch.object(sys, "executable", "/bin/false"), pytest.raises(Unfit) as unfit:
            loaded(settings_for(kafka, filled_topic, database), planned)
    assert unfit.value.code == "worker_dies"


def test_a_name_that_is_taken_is_refused(kafka: str, filled_topic: str, database: str) -> None:
    settings = settings_for(kafka, filled_topic, database)
    with taken(database) as rebuild:
        with psycopg.connect(database, autocommit=True) as connection:
            create_projection(connection, rebuild.projection, rule=1)
        with pytest.raises(Unfit) as unfit:
            plan(settings, rebuild)
        assert unfit.value.code == "projection_exists"
        discard(settings, rebuild)
    assert catalogue(database, rebuild.projection)  # it is not ours


async def test_postgres_away_is_waited_out(kafka: str, filled_topic: str, database: str) -> None:
    append(kafka, filled_topic, mixed(2_000, 20_000, prefix="more"))
    async with wire_to(database) as (wire, address):
        settings = settings_for(kafka, filled_topic, address, rebuild_bucket_bytes=100_000)
        with taken(database) as rebuild:
            planned = plan(settings_for(kafka, filled_topic, database), rebuild)
            loading = asyncio.create_task(asyncio.to_thread(loaded, settings, planned))
            for pause_s in (1.5, 0.3, 0.7):
                await asyncio.sleep(pause_s)
                wire.cut()
                await asyncio.sleep(0.4)
                wire.mend()
            result = await loading
    assert result.events == 23_000
