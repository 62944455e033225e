from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest
import pytest_asyncio

from tests.integration.fixtures_stack import database_like
from tests.integration.remembering import Memory, memory_on


@pytest.fixture(scope="module")
def shared_database(postgres: str, database_template: str) -> Iterator[str]:
    with database_like(postgres, database_template) as url:
        yield url


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def memory(shared_database: str) -> AsyncIterator[Memory]:
    async with memory_on(shared_database) as memory:
        yield memory
