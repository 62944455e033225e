"""What a read asks is planned once a connection, in snapshots too: to plan takes several times as long as to look."""

from __future__ import annotations

from uuid import uuid4

from chronofact.contracts.memories import MemoriesWanted
from chronofact.domain.identity import DEVELOPMENT_TENANT
from chronofact.postgres.reading_store import ReadingStore

READS = 3


async def test_what_comes_again_in_another_snapshot_is_not_planned_again(database: str) -> None:
    store = ReadingStore(database, connections_max=1)
    wanted = MemoriesWanted(DEVELOPMENT_TENANT, uuid4(), (), None, None, 0, None, None)
    await store.open()
    try:
        for _ in range(READS):
            async with store.snapshot(DEVELOPMENT_TENANT) as snapshot:
                assert await snapshot.memory_facts(wanted) == []
        async with store.snapshot(DEVELOPMENT_TENANT) as snapshot:
            found = await snapshot._connection.execute("select statement, generic_plans from pg_prepared_statements")
            planned = [
                plans for statement, plans in await found.fetchall() if "facts that hold text memories" in statement
            ]
    finally:
        await store.close()
    assert planned == [READS]
