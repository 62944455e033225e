import gc

from chronofact.contracts.codec import decode_event
from chronofact.contracts.payload import happening_of
from chronofact.domain.events import Event
from chronofact.domain.history import History
from chronofact.projecting.cache import FactCache, Slot
from tests.bench.workload import mixed


def slot(number: int, partition: int = 0) -> Slot:
    fact_no = (partition << 40) | number
    return Slot(fact_no, fact_no.to_bytes(16), History(), has_label=False, is_stored=True)


WEIGHT = History().weight() + 600


def test_what_is_taken_is_gone_until_put_back() -> None:
    cache = FactCache(10 * WEIGHT)
    first = slot(1)
    cache.put([first])
    assert cache.take(first.fact_id) is first
    assert cache.take(first.fact_id) is None
    assert cache.weight == 0


def test_the_least_recently_used_leave_first() -> None:
    cache = FactCache(3 * WEIGHT)
    slots = [slot(number) for number in range(1, 5)]
    cache.put(slots[:3])
    first = cache.take(slots[0].fact_id)
    assert first is not None
    cache.put([first, slots[3]])
    assert [cache.take(one.fact_id) is not None for one in slots] == [True, False, True, True]


def test_a_partition_is_forgotten_whole() -> None:
    cache = FactCache(10 * WEIGHT)
    mine, other = slot(1, partition=4), slot(1, partition=5)
    cache.put([mine, other])
    cache.forget(4)
    assert cache.take(mine.fact_id) is None
    assert cache.take(other.fact_id) is other
    assert cache.weight == 0


def test_what_leaves_is_freed_without_a_collection() -> None:
    slots: dict[bytes, Slot] = {}
    for number, said in enumerate(mixed(40, 800), start=1):
        one = slots.setdefault(said.key, slot(number))
        event = decode_event(said.value)
        if not one.history.knows(event.event_id):
            one.history.apply(Event(event.event_id, happening_of(event.kind, event.payload), number))
    cache = FactCache(1)
    gc.collect()
    gc.disable()
    try:
        cache.put(slots.values())
        slots.clear()
        del one
        assert len(cache) == 0
        assert gc.collect() == 0
    finally:
        gc.enable()
