"""What the adjudicator says is over in the facts of a memory: once, with the verdicts, before the check that counts them."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from chronofact.adjudicator.judging import Outcome
from chronofact.domain.events import Verdict
from chronofact.postgres.memories import StoredMemory
from chronofact.runtime.failures import Transient
from tests.unit.adjudicator_twins import Model, World, world_of
from tests.unit.conversing import JULY, JUNE, MARCH, as_candidate, facts_of, heard

ACME, OVER, FIRED = "I work at Acme.", "I no longer work at Acme.", "I got laid off."
BOTH = "I work at Acme and live in Oslo."


def world(new: StoredMemory, *others: StoredMemory, cosine: float | None = None, **more: Any) -> World:
    return world_of(new, *(as_candidate(one, cosine) for one in others), **more)


def employer(text: str, source: str = "chat") -> str:
    (version_id,) = (version_id for version_id, fact in facts_of(text, source=source).items() if fact[0] == "employer")
    return str(UUID(bytes=version_id))


def types(world: World) -> list[str]:
    return [one["type"] for one in world.log.said]


@pytest.mark.parametrize("order", ["as it was", "the ending first"])
async def test_an_ending_ends_the_fact_whichever_was_told_first(order: str) -> None:
    was, now = heard(ACME, number=1), heard(OVER, JUNE, number=2)
    first, later = (was, now) if order == "as it was" else (now._replace(event_seq=1), was._replace(event_seq=2))
    here = world(later, first)
    assert await here.judge.judge(here.ref) is Outcome.CHECKED
    assert types(here) == ["declare_relation", "end", "check_relations"]
    assert here.log.ends == [
        {
            "type": "end",
            "key": "employer",
            "version_id": employer(ACME),
            "effective_at": JUNE,
            "reason": f"ended by memory {UUID(bytes=now.version_id)}",
        }
    ]
    assert here.seen.ended == 1
    assert await here.judge.judge(here.ref, is_again=True) is Outcome.ALREADY_CHECKED
    assert len(here.log.ends) == 1


async def test_a_memory_that_gave_no_fact_has_none_ended() -> None:
    was = heard(ACME)
    plain = was._replace(frames=[{name: one for name, one in frame.items() if name != "told"} for frame in was.frames])
    here = world(heard(OVER, JUNE, number=2), plain)
    await here.judge.judge(here.ref)
    assert types(here) == ["declare_relation", "check_relations"]


async def test_every_restatement_is_ended_each_once() -> None:
    others = [heard(text, source=source) for text, source in ((ACME, "a"), (ACME, "b"), ("I work at Acme now.", "c"))]
    here = world(heard(OVER, JUNE, number=9), *others)
    await here.judge.judge(here.ref)
    expected = [employer(ACME, "a"), employer(ACME, "b"), employer("I work at Acme now.", "c")]
    assert [one["version_id"] for one in here.log.ends] == expected


async def test_a_part_of_a_sentence_is_ended_though_its_memory_stands() -> None:
    here = world(heard(OVER, JUNE, number=2), heard(BOTH), cosine=0.5)
    assert await here.judge.judge(here.ref) is Outcome.CHECKED
    assert types(here) == ["end", "check_relations"]
    assert [one["version_id"] for one in here.log.ends] == [employer(BOTH)]


async def test_after_a_crash_before_the_check_the_same_events_are_said() -> None:
    here = world(heard(OVER, JUNE, number=2), heard(ACME))
    await here.judge.judge(here.ref)
    assert here.store.look_now is not None
    # the verdict is in the projection, the check is not in the log
    here.store.look_now = here.store.look_now._replace(check=None)
    assert await here.judge.judge(here.ref) is Outcome.CHECKED
    assert (len(here.log.relations), len(here.log.ends)) == (1, 2)
    assert here.log.ends[0] == here.log.ends[1]


async def test_a_writer_that_is_away_leaves_the_memory_unchecked() -> None:
    here = world(heard(OVER, JUNE, number=2), heard(ACME))
    here.log.fails = [Transient("writer_unreachable", "away")]
    with pytest.raises(Transient):
        await here.judge.judge(here.ref)
    assert (here.log.said, here.seen.ended) == ([], 0)
    await here.judge.judge(here.ref)
    assert types(here) == ["declare_relation", "end", "check_relations"]


async def test_where_a_model_says_so_the_fact_is_over_and_later_looks_say_nothing_again() -> None:
    equal = heard(ACME, MARCH)._replace(valid_from=None)  # of a memory whose start is not known; of the fact it is
    fired, over = heard(FIRED, JUNE, number=8), heard(OVER, JULY, source="late")
    model = Model(Verdict.SUPERSEDES, "model_unreachable")
    here = world(fired, equal, over, model=model, cosine=0.9)
    assert await here.judge.judge(here.ref) is Outcome.PENDING
    assert here.log.ends == []
    model.why_not = None
    assert await here.judge.judge(here.ref, is_again=True) is Outcome.CHECKED
    assert [(one["version_id"], one["effective_at"]) for one in here.log.ends] == [(employer(ACME), JUNE)]
    assert types(here)[-2:] == ["end", "check_relations"]


async def test_what_the_rule_ended_is_not_said_again_while_a_pair_waits_nor_when_it_is_decided() -> None:
    model = Model(Verdict.SUPERSEDES, "model_unreachable")
    here = world(heard(OVER, JUNE, number=8), heard(BOTH), cosine=0.9, model=model)
    assert await here.judge.judge(here.ref) is Outcome.PENDING
    assert await here.judge.judge(here.ref, is_again=True) is Outcome.STILL_PENDING
    model.why_not = None
    assert await here.judge.judge(here.ref, is_again=True) is Outcome.CHECKED
    assert [one["version_id"] for one in here.log.ends] == [employer(BOTH)]


async def test_of_pairs_that_a_model_decides_one_after_another_each_ends_its_fact_once() -> None:
    others = [heard(ACME, source=source)._replace(valid_from=None) for source in ("a", "b")]
    here = world(heard(FIRED, JUNE, number=9), *others, cosine=0.9, model=Model(Verdict.SUPERSEDES, answers_max=1))
    assert await here.judge.judge(here.ref) is Outcome.PENDING
    assert len(here.log.ends) == 1
    assert await here.judge.judge(here.ref, is_again=True) is Outcome.CHECKED
    assert sorted(one["version_id"] for one in here.log.ends) == sorted(employer(ACME, source) for source in ("a", "b"))


async def test_in_rounds_of_few_pairs_each_end_is_said_once() -> None:
    others = [heard(BOTH, source=f"chat-{number}")._replace(event_seq=number) for number in range(5)]
    here = world(heard(OVER, JUNE, number=9), *others, cosine=0.9, model=Model(Verdict.SUPERSEDES), asked_max=2)
    assert await here.judge.judge(here.ref) is Outcome.CHECKED
    assert here.model is not None
    assert len(here.model.asked) == 3
    assert len(here.log.ends) == len({one["version_id"] for one in here.log.ends}) == 5


@pytest.mark.parametrize(
    ("decided_by", "relation", "ended"),
    [("person", "unrelated", 0), ("person", "supersedes", 1), ("model", "unrelated", 1), ("rule", "supersedes", 1)],
)
async def test_what_was_decided_before_the_look_counts(decided_by: str, relation: str, ended: int) -> None:
    was, now = heard(ACME), heard(OVER, JUNE, number=2)
    here = world(now, was)
    await here.log.send(b"", here.store.look_now.names, [declared(was, now, decided_by, relation)])  # type: ignore[union-attr]
    await here.judge.judge(here.ref)
    assert (len(here.log.ends), here.log.checks[0]["decided"]) == (ended, 1)


async def test_a_person_who_says_it_the_other_way_round_is_believed() -> None:
    was, now = heard(ACME), heard(OVER, JUNE, number=2)
    here = world(now, was)
    said = declared(was, now, "person", "supersedes") | {"newer_version_id": str(UUID(bytes=was.version_id))}
    await here.log.send(b"", here.store.look_now.names, [said])  # type: ignore[union-attr]
    await here.judge.judge(here.ref)
    assert here.log.ends == []


async def test_a_pair_that_waits_and_that_a_person_decides_ends_the_fact() -> None:
    was, now = heard(ACME)._replace(valid_from=None), heard(FIRED, JUNE, number=2)
    here = world(now, was, cosine=0.9)
    assert await here.judge.judge(here.ref) is Outcome.PENDING
    await here.log.send(b"", here.store.look_now.names, [declared(was, now, "person", "supersedes")])  # type: ignore[union-attr]
    assert await here.judge.judge(here.ref, is_again=True) is Outcome.CHECKED
    assert [one["version_id"] for one in here.log.ends] == [employer(ACME)]


def declared(was: StoredMemory, now: StoredMemory, decided_by: str, relation: str) -> dict[str, Any]:
    return {
        "type": "declare_relation",
        "left_version_id": str(UUID(bytes=was.version_id)),
        "right_version_id": str(UUID(bytes=now.version_id)),
        "relation": relation,
        "newer_version_id": str(UUID(bytes=now.version_id)) if relation == "supersedes" else None,
        "decided_by": decided_by,
        "reason": None,
        "llm_call_made": False,
        "model": None,
    }
