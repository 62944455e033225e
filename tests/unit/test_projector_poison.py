"""The corpus of poison, message by message, on the twins."""

from __future__ import annotations

import pytest

from chronofact.contracts.error_codes import CODES
from chronofact.contracts.projection import HELD
from tests.contract.memory_log import MemoryTopic
from tests.contract.memory_store import MemoryStore
from tests.contract.projecting import projector_on, run_until_idle
from tests.integration.poison import Poison, corpus
from tests.integration.saying import Fact

CORPUS = list(corpus())


def test_names_tell_them_apart_and_codes_are_of_the_list() -> None:
    assert len({one.name for one in CORPUS}) == len(CORPUS)
    assert {one.code for one in CORPUS if one.code is not None} <= CODES.keys()


@pytest.mark.parametrize("poison", CORPUS, ids=lambda one: one.name)
def test_it_parks_under_its_code_or_is_harmless_and_others_go_on(poison: Poison) -> None:
    topic, store = MemoryTopic(), MemoryStore()
    other = next(fact for fact in map(Fact, map(str, range(999))) if fact.partition == poison.message.partition)
    topic.append([poison.message, other.asserts("npm")], appended_at=1_764_000_000_000_000)
    if poison.fact is not None:
        topic.append([poison.fact.asserts("good")], appended_at=1_764_000_000_000_000)
    projector, witness = projector_on(topic.join(), store)
    run_until_idle(projector)
    expected = {poison.code: 1} if poison.code else {}
    if poison.holds:
        expected[HELD] = 1
    assert witness.total.parked == expected
    assert witness.hindrances == []
    assert other.fact_id in store.state()
    if poison.code:
        parked = next(iter(store.tables.parked.values()))
        assert (parked.key, parked.value) == (poison.message.key, poison.message.value)
    if poison.fact is not None and not poison.holds:
        assert poison.fact.fact_id in store.state()
