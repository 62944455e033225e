"""What came of a person's decision, however the ids of its versions were spelled."""

from __future__ import annotations

from typing import Any

import pytest

from chronofact.client import Client
from tests.unit.scripted_service import Told, serving
from tests.unit.test_client import AT, FACT, FRESH, ID, accepted, token, value

SPELLINGS = [str.lower, str.upper]


def conflicts(**edge: Any) -> dict[str, Any]:
    sides = {"left": {"version_id": ID["a"]}, "right": {"version_id": ID["b"]}}
    return {"conflicts": [{**sides, **edge}], "cursor": None, "freshness": FRESH}


def relations(event_id: str) -> dict[str, Any]:
    relation = {"left": ID["a"], "right": ID["b"], "event_id": event_id}
    return {"fact": FACT, "relations": [relation], "pending": [], "cursor": None, "freshness": FRESH}


@pytest.mark.parametrize("spelled", SPELLINGS)
def test_a_conflict_is_settled(spelled: Any) -> None:
    found = conflicts(decision={"event_id": ID["event"]})
    with (
        serving(Told(accepted(token(p3=7)), status=201)) as writer,
        serving(Told(found), Told(value())) as reader,
        Client(writer=writer.url, reader=reader.url) as client,
    ):
        left, right = spelled(ID["a"]), spelled(ID["b"])
        done = client.settle("ana", "package_manager", left, right, keep=left, decided_at=AT)
    assert done.counts is True


@pytest.mark.parametrize("spelled", SPELLINGS)
def test_a_relation_is_decided(spelled: Any) -> None:
    with (
        serving(Told(accepted(token(p3=7)), status=201)) as writer,
        serving(Told(conflicts()), Told(relations(ID["event"]))) as reader,
        Client(writer=writer.url, reader=reader.url) as client,
    ):
        done = client.decide("ana", "food", spelled(ID["a"]), spelled(ID["b"]), "unrelated", decided_at=AT)
    assert done.counts is True


def test_another_word_that_counts_is_told() -> None:
    with (
        serving(Told(accepted(token(p3=7)), status=201)) as writer,
        serving(Told(conflicts()), Told(relations(ID["fact"]))) as reader,
        Client(writer=writer.url, reader=reader.url) as client,
    ):
        done = client.decide("ana", "food", ID["a"], ID["b"], "unrelated", decided_at=AT)
    assert done.counts is False
    assert done.relation == relations(ID["fact"])["relations"][0]
