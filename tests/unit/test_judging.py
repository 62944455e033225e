"""One memory judged: what is said of it, once, in which order, and what is left for later."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

import pytest

from chronofact.adjudicator.judging import Outcome
from chronofact.contracts.pending import beyond_in, pending_in
from chronofact.domain.errors import Rejected
from chronofact.domain.events import Verdict
from chronofact.domain.interval import format_instant
from chronofact.postgres.judging_store import Place, Standing
from chronofact.postgres.memories import Candidate
from chronofact.runtime.failures import Transient
from chronofact.text.gate import Asked
from chronofact.text.prompt import Told
from tests.unit.adjudicator_twins import GO, JUNE, MARCH, PYTHON, Model, candidate, stored, version, world_of

NEW = stored(9, "User is switching to Go", GO, since=JUNE)
OLD = candidate(1, "User prefers Python", PYTHON, since=MARCH)
UNKNOWN = NEW._replace(valid_from=None)


def by_a_person(other: Candidate) -> dict[str, Any]:
    """It has nothing to do with the new one."""
    return {
        "type": "declare_relation",
        "left_version_id": str(UUID(bytes=other.version_id)),
        "right_version_id": str(UUID(bytes=NEW.version_id)),
        "relation": "unrelated",
        "decided_by": "person",
        "reason": None,
        "llm_call_made": False,
        "model": None,
    }


async def test_a_memory_without_candidates_is_told_to_have_been_looked_at() -> None:
    world = world_of(NEW)
    assert await world.judge.judge(world.ref) is Outcome.CHECKED
    (check,) = world.log.said
    assert check == {
        "type": "check_relations",
        "version_id": str(UUID(bytes=NEW.version_id)),
        "pairs": 0,
        "decided": 0,
        "pending": 0,
        "reason": "no_pairs",
        "llm_call_made": False,
    }


async def test_a_pair_of_the_rule_is_the_same_event_however_often_it_is_decided() -> None:
    told = []
    for _ in range(2):
        world = world_of(NEW, OLD, model=Model())
        assert await world.judge.judge(world.ref) is Outcome.CHECKED
        relation, check = world.log.said
        told.append(relation)
        assert (check["pairs"], check["decided"], check["pending"], check["reason"]) == (1, 1, 0, "rule")
        assert check["llm_call_made"] is False
        assert world.model is not None
        assert world.model.asked == []
    assert told[0] == told[1]
    assert told[0]["decided_at"] == format_instant(NEW.recorded_at)
    assert (told[0]["relation"], told[0]["decided_by"], told[0]["reason"]) == ("supersedes", "rule", "value_changed")
    assert told[0]["newer_version_id"] == str(UUID(bytes=NEW.version_id))


async def test_an_unknown_start_goes_to_the_model_and_is_never_dropped() -> None:
    world = world_of(UNKNOWN, OLD, model=Model(Verdict.SUPERSEDES))
    assert await world.judge.judge(world.ref) is Outcome.CHECKED
    relation, check = world.log.said
    assert relation["reason"] == "valid_from_unknown:same_meaning"
    assert (relation["decided_by"], relation["model"], relation["llm_call_made"]) == ("model", "m 1", True)
    assert (check["reason"], check["llm_call_made"]) == ("model", True)


async def test_without_a_model_the_pair_waits_and_is_named() -> None:
    world = world_of(UNKNOWN, OLD)
    assert await world.judge.judge(world.ref) is Outcome.PENDING
    (check,) = world.log.said
    assert (check["pairs"], check["decided"], check["pending"]) == (1, 0, 1)
    assert [tuple(one) for one in pending_in(check["reason"])] == [(OLD.version_id, "model_not_configured")]


async def test_what_waits_is_not_told_again_until_something_is_decided() -> None:
    world = world_of(UNKNOWN, OLD, model=Model(Verdict.UNRELATED, "model_unreachable"))
    assert world.model is not None
    assert await world.judge.judge(world.ref) is Outcome.PENDING
    assert await world.judge.judge(world.ref) is Outcome.ALREADY_CHECKED
    for why in ("model_unreachable", "budget_calls", "model_unreachable"):
        world.model.why_not = why
        assert await world.judge.judge(world.ref, is_again=True) is Outcome.STILL_PENDING
    assert len(world.log.said) == 1
    world.model.why_not = None
    assert await world.judge.judge(world.ref, is_again=True) is Outcome.CHECKED
    assert [one["pending"] for one in world.log.checks] == [1, 0]
    assert await world.judge.judge(world.ref, is_again=True) is Outcome.ALREADY_CHECKED


async def test_a_pair_that_the_log_has_a_verdict_of_is_not_judged_again() -> None:
    world = world_of(UNKNOWN, OLD, model=Model(Verdict.UNRELATED))
    world.log.fails = [Transient("writer_unreachable", "away")]
    with pytest.raises(Transient):
        await world.judge.judge(world.ref)
    assert world.claims.mine == set()
    await world.judge.judge(world.ref)
    assert world.model is not None
    asked = len(world.model.asked)
    # as after a crash between the verdict and the check
    assert world.store.look_now is not None
    world.store.look_now = world.store.look_now._replace(check=None)
    assert await world.judge.judge(world.ref) is Outcome.CHECKED
    assert len(world.model.asked) == asked
    assert len(world.log.relations) == 1
    assert world.log.checks[0] == world.log.checks[1]


async def test_old_pairs_are_asked_about_once_more_and_then_left_to_a_person() -> None:
    world = world_of(UNKNOWN, OLD, model=Model(Verdict.UNRELATED, "model_unreachable"))
    assert world.model is not None
    await world.judge.judge(world.ref)
    assert await world.judge.judge(world.ref, is_again=True, is_too_old=True) is Outcome.IN_REVIEW
    assert len(world.model.asked) == 2
    assert [one.reason for one in pending_in(world.log.checks[-1]["reason"])] == ["review"]
    # a person's now: no model is asked, though it answers again
    world.model.why_not = None
    assert await world.judge.judge(world.ref, is_again=True, is_too_old=True) is Outcome.STILL_PENDING
    assert len(world.model.asked) == 2
    assert len(world.log.checks) == 2
    await world.log.send(b"", world.store.look_now.names, [by_a_person(OLD)])  # type: ignore[union-attr]
    assert await world.judge.judge(world.ref, is_again=True, is_too_old=True) is Outcome.CHECKED
    assert (world.log.checks[-1]["decided"], world.log.checks[-1]["pending"]) == (1, 0)


async def test_the_nearest_that_stand_are_asked_about_first_the_newest_of_these_and_then_the_others() -> None:
    standing = [candidate(n, f"likes {n}", PYTHON, cosine=(n // 2) / 100) for n in range(1, 7)]
    gave_way = [candidate(20 + n, f"liked {n}", PYTHON, cosine=0.99, lifecycle="SUPERSEDED") for n in range(3)]
    world = world_of(UNKNOWN, *standing, *gave_way, model=Model(), asked_max=4)
    assert world.model is not None
    assert await world.judge.judge(world.ref) is Outcome.CHECKED
    assert world.model.asked[0] == [version(n) for n in (6, 5, 4, 3)]
    # room is left in the second call, so those that gave way come along as far as it goes
    assert world.model.asked[1][:2] == [version(2), version(1)]
    assert len(world.model.asked) == 2
    assert [one.beyond for one in world.seen.weighs] == [2, 0]
    assert [one.left_alone for one in world.seen.weighs] == [["gave_way"] * 3, ["gave_way"]]
    (check,) = world.log.checks
    assert (check["pairs"], check["decided"], check["pending"], check["reason"]) == (9, 8, 0, "model")


async def test_of_many_pairs_without_a_model_few_wait_by_name_and_the_others_are_counted() -> None:
    many = [candidate(n, f"likes {n}", PYTHON) for n in range(1, 60)]
    world = world_of(UNKNOWN._replace(event_seq=60), *many, asked_max=16)
    assert await world.judge.judge(world.ref) is Outcome.PENDING
    (check,) = world.log.checks
    assert (check["pairs"], check["decided"], check["pending"]) == (59, 0, 16)
    assert {one.other for one in pending_in(check["reason"])} == {version(n) for n in range(44, 60)}
    assert beyond_in(check["reason"]) == 43
    # once a model answers, none of them is forgotten
    world.judge._asker = model = Model()
    assert await world.judge.judge(world.ref, is_again=True) is Outcome.CHECKED
    assert [len(one) for one in model.asked] == [16, 16, 16, 11]
    assert (world.log.checks[-1]["decided"], world.log.checks[-1]["pending"]) == (59, 0)


async def test_who_waits_by_name_is_told_anew_where_a_person_decides_one_of_them() -> None:
    many = [candidate(n, f"likes {n}", PYTHON) for n in range(1, 6)]
    world = world_of(UNKNOWN, *many, asked_max=2)
    await world.judge.judge(world.ref)
    assert [one.other for one in pending_in(world.log.checks[-1]["reason"])] == [version(4), version(5)]
    await world.log.send(b"", world.store.look_now.names, [by_a_person(many[4])])  # type: ignore[union-attr]
    assert await world.judge.judge(world.ref, is_again=True) is Outcome.PENDING
    assert [one.other for one in pending_in(world.log.checks[-1]["reason"])] == [version(3), version(4)]
    assert await world.judge.judge(world.ref, is_again=True) is Outcome.STILL_PENDING


async def test_a_model_is_not_asked_in_a_circle_where_its_verdicts_do_not_come_to_be_seen() -> None:
    many = [candidate(n, f"likes {n}", PYTHON) for n in range(1, 6)]
    world = world_of(UNKNOWN, *many, model=Model(), asked_max=2)
    world.log.shows = False
    with pytest.raises(Transient):
        await world.judge.judge(world.ref)
    assert world.model is not None
    assert len(world.model.asked) == 1


async def test_a_revoked_memory_is_held_against_nothing() -> None:
    world = world_of(UNKNOWN._replace(lifecycle="REVOKED"), OLD, model=Model())
    assert await world.judge.judge(world.ref) is Outcome.CHECKED
    assert [one["reason"] for one in world.log.said] == ["revoked"]


async def test_a_memory_that_the_projection_has_not_is_not_told_of() -> None:
    world = world_of(NEW)
    world.store.look_now = None
    assert await world.judge.judge(world.ref) is Outcome.NOT_THERE
    assert world.log.said == []


async def test_it_waits_for_another_that_judges_the_same_memory() -> None:
    world = world_of(NEW, OLD)
    world.claims.refuses = 3
    assert await world.judge.judge(world.ref) is Outcome.CHECKED
    assert world.claims.mine == set()


async def test_who_stood_still_while_a_model_answered_says_nothing_and_looks_again() -> None:
    world = world_of(UNKNOWN, OLD)

    class Slow(Model):
        async def ask(self, new: Told, others: Sequence[Told]) -> Asked:
            world.claims.lost = True
            return await super().ask(new, others)

    world.judge._asker = Slow()
    with pytest.raises(Transient):
        await world.judge.judge(world.ref)
    assert (world.log.said, world.claims.mine) == ([], set())


async def test_the_verdicts_are_in_the_log_before_the_check_that_counts_them() -> None:
    world = world_of(NEW, OLD, candidate(2, "User prefers Rust", PYTHON), model=Model())
    await world.judge.judge(world.ref)
    assert [one["type"] for one in world.log.said] == ["declare_relation", "declare_relation", "check_relations"]
    assert world.log.checks[0]["reason"] == "rule_and_model"


async def test_what_the_rule_decides_is_said_before_a_model_is_asked() -> None:
    world = world_of(NEW, OLD, candidate(2, "User prefers Rust", PYTHON))
    said: list[int] = []

    class Slow(Model):
        async def ask(self, new: Told, others: Sequence[Told]) -> Asked:
            said.append(len(world.log.said))
            return await super().ask(new, others)

    world.judge._asker = Slow()
    await world.judge.judge(world.ref)
    assert said == [1]


async def test_what_the_writer_refuses_comes_out_and_claims_nothing() -> None:
    world = world_of(NEW, OLD)
    world.log.fails = [Rejected("id_malformed", "no")]
    with pytest.raises(Rejected):
        await world.judge.judge(world.ref)
    assert world.claims.mine == set()


async def test_it_waits_until_the_projection_has_applied_what_the_log_holds() -> None:
    world = world_of(NEW)
    world.store.at = 9
    looked = 0

    async def standing(asked: Sequence[Place]) -> list[Standing | None]:
        nonlocal looked
        looked += 1
        return [Standing("p1", 9 + (looked > 3)) for _ in asked]

    world.store.standing = standing  # type: ignore[method-assign]
    assert await world.judge.judge(world.ref) is Outcome.CHECKED
    assert looked == 4
