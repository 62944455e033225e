"""Who supersedes a version is a function of its events, not of how they came: it is told the same of one and of many at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

from chronofact.contracts.codec import decode_event
from chronofact.contracts.payload import happening_of
from chronofact.domain.events import Cardinality, Decider, Event, RelationDeclared, Verdict
from chronofact.domain.history import History
from tests.integration.saying import Fact, Said

FACT = Fact("ann", "memory/preference")


def memory(text: str, since: str | None, source: str) -> Said:
    known = since is not None
    return FACT.asserts(text, since, source=source, cardinality=Cardinality.MANY, valid_from_known=known)


def declared(one: Said, other: Said, verdict: Verdict, newer: Said | None = None) -> Said:
    left, right = sorted((one.version_id or b"", other.version_id or b""))
    by = None if newer is None else newer.version_id
    return FACT.says(RelationDeclared(left, right, verdict, by, 5, Decider.RULE, "as it reads", False, None))


def superseded_by(said: Sequence[Said], *, at_once: bool) -> dict[int, bytes | None]:
    """By number of the version."""
    history, found = History.load([]), dict[int, bytes | None]()
    for place, one in enumerate(said, 1):
        event = decode_event(one.value)
        history.apply(Event(event.event_id, happening_of(event.kind, event.payload), place))
        if place == len(said) or not at_once:
            found |= {number: label.superseded_by_id for number, label in history.take_outcome().labels}
    return found


def stories() -> Iterator[tuple[Said, Said, list[Said]]]:
    """Python is superseded in July and in September, then said again without a date: a near duplicate of itself."""
    for number in range(8):
        python = memory("uses Python", "2026-03-01T00:00:00Z", f"march {number}")
        java = memory("uses Java", "2026-07-01T00:00:00Z", f"july {number}")
        ruby = memory("uses Ruby", "2026-09-01T00:00:00Z", f"september {number}")
        again = memory("uses Python", None, f"again {number}")
        yield (
            java,
            ruby,
            [
                *(python, java, ruby),
                *(declared(ruby, java, Verdict.SUPERSEDES, ruby), declared(ruby, python, Verdict.SUPERSEDES, ruby)),
                *(declared(java, python, Verdict.SUPERSEDES, java), again),
                declared(again, python, Verdict.NEAR_DUPLICATE),
            ],
        )


@pytest.mark.parametrize("at_once", [True, False])
def test_of_several_it_is_the_one_that_took_effect_first_for_all_of_a_group(at_once: bool) -> None:
    orders = set()
    for java, ruby, said in stories():
        orders.add((java.version_id or b"") < (ruby.version_id or b""))
        found = superseded_by(said, at_once=at_once)
        assert (found[1], found[2], found[4]) == (java.version_id, ruby.version_id, java.version_id)
    assert orders == {True, False}
