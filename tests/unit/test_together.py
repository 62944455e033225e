"""What several ask for is done in one go, and none of them is served wrongly for it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from chronofact.runtime.together import Together


async def test_those_who_ask_while_others_are_served_are_served_together_in_their_order() -> None:
    goes: list[list[int]] = []

    async def work(asked: Sequence[int]) -> list[int]:
        goes.append(list(asked))
        await asyncio.sleep(0.01)
        return [one * 10 for one in asked]

    together = Together(work, most=4)
    first = [asyncio.create_task(together.ask(n)) for n in range(2)]
    await asyncio.sleep(0.005)
    later = [asyncio.create_task(together.ask(n)) for n in range(2, 8)]
    assert await asyncio.gather(*first, *later) == [n * 10 for n in range(8)]
    assert goes == [[0, 1], [2, 3, 4, 5], [6, 7]]
    assert await together.ask(9) == 90
    assert not together.is_busy


async def test_no_more_goes_at_once_than_there_are_lanes() -> None:
    running = most = 0

    async def work(asked: Sequence[int]) -> Sequence[int]:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.01)
        running -= 1
        return asked

    together = Together(work, most=1, lanes=2)
    assert await asyncio.gather(*(together.ask(n) for n in range(6))) == list(range(6))
    assert most == 2


async def test_what_fails_is_told_to_all_of_that_go_and_to_nobody_else() -> None:
    async def work(asked: Sequence[int]) -> Sequence[int]:
        await asyncio.sleep(0)
        if 1 in asked:
            raise ValueError("no")
        return asked

    together = Together(work, most=2)
    told = await asyncio.gather(*(together.ask(n) for n in range(4)), return_exceptions=True)
    assert [str(one) for one in told] == ["no", "no", "2", "3"]


async def test_who_leaves_takes_nobody_along() -> None:
    asked_for: list[list[int]] = []

    async def work(asked: Sequence[int]) -> Sequence[int]:
        asked_for.append(list(asked))
        await asyncio.sleep(0.01)
        return asked

    together = Together(work, most=8)
    tasks = [asyncio.create_task(together.ask(n)) for n in range(3)]
    await asyncio.sleep(0.005)
    late = [asyncio.create_task(together.ask(n)) for n in range(3, 5)]
    await asyncio.sleep(0)
    for task in (tasks[0], late[0]):
        task.cancel()
    told = await asyncio.gather(*tasks, *late, return_exceptions=True)
    assert [isinstance(one, asyncio.CancelledError) for one in told] == [True, False, False, True, False]
    assert asked_for == [[0, 1, 2], [4]]
    with pytest.raises(asyncio.CancelledError):
        tasks[0].result()
