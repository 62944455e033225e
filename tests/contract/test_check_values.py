"""The check reads every JSON value as the projection does, SQL's null being none of them."""

from __future__ import annotations

from typing import Any

from chronofact.domain.events import Cardinality
from chronofact.postgres.projection_store import ProjectionStore
from tests.contract.checking import cut_of, judged
from tests.contract.memory_log import MemoryTopic
from tests.contract.projecting import projector_on, run_until_idle
from tests.integration.saying import Fact

VALUES: list[Any] = [
    None, True, False, 0, -1, 0.5, 1e21, "", "null", 'a "quoted" \\ back', "tab\tline\nend", "é\u202e🙂", [], {}, [None],
    {"a": None, "b": [1, {"c": ""}]},
]  # fmt: skip


def test_every_kind_of_value_alone_beside_another_and_among_many(database: str) -> None:
    topic = MemoryTopic()
    store = ProjectionStore(database, "p1")
    projector, _ = projector_on(topic.join(), store)
    for number, value in enumerate(VALUES):
        topic.append([Fact(f"alone {number}").asserts(value, "2026-01-01T00:00:00Z")])
        torn = Fact(f"torn {number}")
        topic.append([torn.asserts(value), torn.asserts("another", "2026-01-01T00:00:00Z")])
        agreed = Fact(f"agreed {number}")
        topic.append([agreed.asserts(value), agreed.asserts(value, source="again")])
        topic.append([Fact("many", "likes").asserts(value, cardinality=Cardinality.MANY)])
    run_until_idle(projector)
    store.close()
    with cut_of(database, with_ids=True) as cut:
        assert judged(cut) == []
