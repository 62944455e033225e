import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Sequence

import pytest

from chronofact.contracts.derived import EMBEDDING_BYTES
from chronofact.contracts.log import QueueFull
from chronofact.domain.errors import Rejected
from chronofact.text.frames import Frame
from chronofact.text.sentences import Sentence
from chronofact.text.worker import (
    BATCH_CHARS_MAX,
    BATCH_TEXTS_MAX,
    SPLIT_CHARS_MAX,
    SPLIT_TEXTS_MAX,
    Models,
    TextWorker,
)


class Twin:
    """Both models: notes the batches and the thread, and waits at a gate."""

    version = "twin"
    stumbled = 0

    def __init__(self) -> None:
        self.batches: list[list[str]] = []
        self.threads: set[str] = set()
        self.gate = threading.Event()
        self.gate.set()

    def frames_of_many(self, texts: Sequence[str]) -> list[tuple[Frame, ...]]:
        if "wreck" in texts:
            raise OSError("no model")
        return [(Frame("user", "says", text),) for text in texts]

    def embed_many(self, texts: Sequence[str]) -> list[bytes]:
        assert self.gate.wait(5)
        self.batches.append(list(texts))
        self.threads.add(threading.current_thread().name)
        return [bytes(EMBEDDING_BYTES)] * len(texts)


@pytest.fixture
def reading() -> Twin:
    return Twin()


@pytest.fixture
async def worker(reading: Twin) -> AsyncIterator[TextWorker]:
    made = TextWorker(lambda: Models(reading, reading), texts_max=100)
    yield made
    reading.gate.set()
    made.close()


async def values(worker: TextWorker, texts: Sequence[str]) -> list[str]:
    return [one.frames[0].value for one in await worker.derive(texts)]


async def until(is_so: Callable[[], bool]) -> None:
    async with asyncio.timeout(5):
        while not is_so():  # noqa: ASYNC110 - what it waits for is set by a thread
            await asyncio.sleep(0.001)


async def test_texts_are_parted_in_order_a_few_at_a_time() -> None:
    class Splitter:
        def __init__(self) -> None:
            self.batches: list[int] = []

        def sentences_of_many(self, texts: Sequence[str]) -> list[tuple[Sentence, ...]]:
            self.batches.append(len(texts))
            return [tuple(map(Sentence, text.split("."))) for text in texts]

    twin, splitter = Twin(), Splitter()
    made = TextWorker(lambda: Models(twin, twin, splitter), texts_max=40)
    texts = [*(f"a{number}.b" for number in range(SPLIT_TEXTS_MAX + 1)), "x" * SPLIT_CHARS_MAX, "c"]
    found = await made.split(texts)
    assert [[one.text for one in some] for some in found] == [text.split(".") for text in texts]
    assert splitter.batches == [SPLIT_TEXTS_MAX, 1, 1, 1]
    assert [one[0].value for one in await made.frames(texts)] == texts
    with pytest.raises(QueueFull):
        await made.split(["a"] * 41)
    assert made.waiting == 0
    made.close()
    with pytest.raises(Rejected, match="about to stop"):
        await made.split(["a"])


async def test_a_worker_that_parts_nothing_keeps_texts_whole(worker: TextWorker) -> None:
    assert await worker.split(["a. b."]) == [(Sentence("a. b."),)]


async def test_what_is_derived_comes_in_order_whoever_else_asks(worker: TextWorker) -> None:
    asked = [[f"{who} {number}" for number in range(count)] for who, count in (("a", 30), ("b", 1), ("c", 9))]
    assert await asyncio.gather(*(values(worker, texts) for texts in asked)) == asked
    assert worker.waiting == 0


async def test_one_thread_reads_all_and_not_that_of_the_loop(worker: TextWorker, reading: Twin) -> None:
    await asyncio.gather(*(worker.derive(["a"]) for _ in range(20)))
    assert len(reading.threads) == 1
    assert threading.current_thread().name not in reading.threads


async def test_one_text_does_not_wait_for_all_of_another_request(worker: TextWorker, reading: Twin) -> None:
    reading.gate.clear()
    long = asyncio.create_task(worker.derive(["many"] * 90))
    await until(lambda: worker.waiting == 90)
    short = asyncio.create_task(worker.derive(["one"]))
    await until(lambda: worker.waiting == 91)
    reading.gate.set()
    await short
    assert "one" in reading.batches[1]
    assert not long.done()
    assert len(await long) == 90


async def test_a_batch_has_a_limit_in_texts_and_one_in_characters(worker: TextWorker, reading: Twin) -> None:
    texts = ["short"] * 20 + ["x" * (BATCH_CHARS_MAX - 10)] * 3 + ["y" * (3 * BATCH_CHARS_MAX)]
    assert await values(worker, texts) == texts
    assert max(map(len, reading.batches)) == BATCH_TEXTS_MAX
    assert [batch for batch in reading.batches if len(batch) > 1 and sum(map(len, batch)) > BATCH_CHARS_MAX] == []


async def test_too_many_texts_are_refused_whole(worker: TextWorker, reading: Twin) -> None:
    reading.gate.clear()
    waiting = asyncio.create_task(worker.derive(["a"] * 60))
    await until(lambda: worker.waiting == 60)
    with pytest.raises(QueueFull):
        await worker.derive(["b"] * 41)
    reading.gate.set()
    assert len(await waiting) == 60
    assert len(await worker.derive(["b"] * 100)) == 100


async def test_a_failure_is_that_of_who_asked_and_of_nobody_after(worker: TextWorker) -> None:
    with pytest.raises(OSError, match="no model"):
        await worker.derive(["wreck"])
    assert await values(worker, ["fine"]) == ["fine"]


async def test_models_that_can_not_be_made_fail_each_call(reading: Twin) -> None:
    def make() -> Models:
        raise OSError("no file")

    worker = TextWorker(make, texts_max=10)
    for _ in range(2):
        with pytest.raises(OSError, match="no file"):
            await worker.derive(["a"])
    worker.close()


async def test_who_goes_away_is_read_no_further(worker: TextWorker, reading: Twin) -> None:
    reading.gate.clear()
    leaving = asyncio.create_task(worker.derive(["gone"] * 80))
    await until(lambda: worker.waiting == 80)
    leaving.cancel()
    with pytest.raises(asyncio.CancelledError):
        await leaving
    reading.gate.set()
    assert await values(worker, ["stays"]) == ["stays"]
    assert sum(batch.count("gone") for batch in reading.batches) <= BATCH_TEXTS_MAX
    assert worker.waiting == 0


async def test_closing_refuses_what_is_not_begun(worker: TextWorker, reading: Twin) -> None:
    reading.gate.clear()
    begun = asyncio.create_task(worker.derive(["begun"]))
    await until(lambda: worker.waiting == 1)
    further = asyncio.create_task(worker.derive(["further"]))
    await until(lambda: worker.waiting == 2)
    worker.close()
    with pytest.raises(Rejected) as refused:
        await further
    assert refused.value.code == "shutting_down"
    reading.gate.set()
    assert len(await begun) == 1


async def test_loading_makes_the_models_before_a_text_comes(reading: Twin) -> None:
    made: list[Models] = []

    def make() -> Models:
        made.append(Models(reading, reading))
        return made[-1]

    worker = TextWorker(make, texts_max=10)
    await worker.load()
    assert len(made) == 1
    await worker.derive(["a"])
    assert len(made) == 1
    worker.close()
