"""Judges one text memory: waits for the projection, decides what can be decided, says it, and that it has been looked at.

What is done twice, after a crash or by two at once, is the same event, or is seen in the log and not done again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import Any, Final, NamedTuple, Protocol
from uuid import UUID

from chronofact.adjudicator.ledger import claimed
from chronofact.adjudicator.passing import Passing
from chronofact.adjudicator.ports import Asker, Claims, Memories, Writer
from chronofact.adjudicator.weighing import Pair, Weighed, ends_beside_rule, keys_of, weigh
from chronofact.contracts.pending import PendingPair, pending_in, reason_of_check
from chronofact.domain.events import Decider, Verdict
from chronofact.domain.interval import format_instant
from chronofact.postgres.claims import Claim
from chronofact.postgres.looking import Look, Reach, Ref
from chronofact.postgres.memories import Check
from chronofact.runtime.failures import Transient
from chronofact.text.answers import PairVerdict
from chronofact.text.ending import End
from chronofact.text.gate import NOT_CONFIGURED, Asked, Undecided
from chronofact.text.pairs import Thresholds

CLAIM_PAUSE_S: Final = 0.2
PENDING: Final = "pending"
REVIEW: Final = "review"
REVOKED: Final = "revoked"
BEYOND: Final = "beyond"
"""Why a pair waits that is not named: nearer ones are to be decided first."""


class Outcome(StrEnum):
    """What became of one look at a memory."""

    CHECKED = "checked"
    """Every pair is decided or left alone, and the log says so."""
    PENDING = "pending"
    """Some pairs wait for a model, and the log says so."""
    STILL_PENDING = "still_pending"
    """They waited before, and the log says so already."""
    IN_REVIEW = "in_review"
    """They wait for a person now."""
    ALREADY_CHECKED = "already_checked"
    NOT_THERE = "not_there"
    """The projection has no such memory: it or its fact is held behind what is parked, or it is no text.

    The sweep finds it when it comes: verdicts of a held fact would not be seen, and a model be asked again and again.
    """


class Observer(Protocol):
    """Told what is done."""

    def weighed(self, weighed: Weighed, seconds: float) -> None: ...

    def ran(self, weighed: Weighed, asked: Asked, seconds: float) -> None: ...

    def ended_facts(self, number: int) -> None: ...


@dataclass(frozen=True, slots=True)
class _Verdict:
    """A ``RelationDeclared`` to be."""

    other: bytes
    relation: Verdict
    newer: bytes | None
    decided_by: Decider
    decided_at: int
    reason: str
    model: str | None

    def command(self, version_id: bytes) -> dict[str, Any]:
        return {
            "type": "declare_relation",
            "left_version_id": str(UUID(bytes=version_id)),
            "right_version_id": str(UUID(bytes=self.other)),
            "relation": self.relation,
            "newer_version_id": None if self.newer is None else str(UUID(bytes=self.newer)),
            "decided_at": format_instant(self.decided_at),
            "decided_by": self.decided_by,
            "reason": self.reason,
            "llm_call_made": self.decided_by is Decider.MODEL,
            "model": self.model,
        }


class _Case(NamedTuple):
    """A memory that is ours to judge, as it was looked at."""

    ref: Ref
    look: Look
    claim: Claim
    begun: float
    ended: set[End]
    """Facts that were said to be over since it was claimed."""


class Judge:
    """Over the ports; ``asker`` None where no model is configured."""

    def __init__(
        self,
        memories: Memories,
        claims: Claims,
        passing: Passing,
        writer: Writer,
        asker: Asker | None,
        *,
        observer: Observer,
        thresholds: Thresholds,
        asked_max: int,
        now: Callable[[], int],
        monotonic: Callable[[], float],
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._memories = memories
        self._claims = claims
        self._passing = passing
        self._writer = writer
        self._asker = asker
        self._observer = observer
        self._thresholds = thresholds
        self._reach = Reach(keys_of, thresholds.near, thresholds.nearest)
        self._asked_max = asked_max
        self._now = now
        self._monotonic = monotonic
        self._sleep = sleep

    async def judge(self, ref: Ref, *, is_again: bool = False, is_too_old: bool = False) -> Outcome:
        """Looks at a memory; ``is_again`` also where its pairs wait, ``is_too_old`` to give those to a person.

        Raises:
            Transient, Unfit: nothing was lost, and it can be tried again.
            Rejected: the writer refuses what we say.
        """
        while (claim := await self._claims.take(ref.version_id)) is None:
            await self._sleep(CLAIM_PAUSE_S)
        claimed.set(claim)
        declared = -1
        ended: set[End] = set()
        try:
            while True:
                # after the claim: what its former holder said is below the end that is waited for
                projection = await self._passing.passed(ref)
                begun = self._monotonic()
                look = await self._memories.look(projection, ref, self._reach)
                if look is None:
                    return Outcome.NOT_THERE
                if look.check is not None and not (is_again and look.check.pending):
                    return Outcome.ALREADY_CHECKED
                if len(look.declared) <= declared:
                    # never asked again in a circle
                    raise Transient("projection_behind", f"{projection} does not show the verdicts of a memory")
                declared = len(look.declared)
                outcome = await self._decide(_Case(ref, look, claim, begun, ended), is_too_old=is_too_old)
                if outcome is not None:
                    return outcome
        finally:
            await self._claims.give_back(claim)

    async def _decide(self, case: _Case, *, is_too_old: bool) -> Outcome | None:
        """What became of it; None where all that was asked about is decided, and there is more to ask about."""
        if case.look.memory.lifecycle == "REVOKED":
            await self._say(case, [_checked(case.ref, 0, 0, 0, REVOKED, has_asked=False)])
            return Outcome.CHECKED
        weighed = weigh(case.look, self._thresholds, asked_max=self._asked_max)
        self._observer.weighed(weighed, self._monotonic() - case.begun)
        # what the rule decides waits for no model
        await self._declare(case, self._by_rule(case.look, weighed), weighed.ends)
        in_review = case.look.check is not None and is_in_review(case.look.check.reason)
        asked = _left_to_a_person(weighed) if in_review else await self._ask(weighed)
        if asked.calls:
            # who stood still meanwhile has nothing to say: another has asked, or will
            await self._claims.check(case.claim)
        await self._declare(case, self._by_model(weighed, asked), _ended_by_model(weighed, asked))
        # a check says that the verdicts are in the log, so it comes after they are
        outcome = await self._check(case, weighed, asked, for_review=is_too_old or in_review)
        self._observer.ran(weighed, asked, self._monotonic() - case.begun)
        return outcome

    async def _ask(self, weighed: Weighed) -> Asked:
        others = [one.other for one in weighed.to_ask]
        if self._asker is None:
            return Asked(undecided=tuple(Undecided(one.version_id, NOT_CONFIGURED) for one in others))
        return await self._asker.ask(weighed.new, others)

    def _by_rule(self, look: Look, weighed: Weighed) -> Iterable[_Verdict]:
        for pair in weighed.by_rule:
            judged = pair.judgement
            if judged.verdict is not None:
                # of the later arrival, so that the same pair decided again is the same event
                yield _Verdict(
                    pair.other.version_id,
                    judged.verdict,
                    judged.newer,
                    Decider.RULE,
                    look.memory.recorded_at,
                    judged.reason,
                    None,
                )

    def _by_model(self, weighed: Weighed, asked: Asked) -> Iterable[_Verdict]:
        decided_at = self._now()
        asked_for: Mapping[bytes, Pair] = {one.other.version_id: one for one in weighed.to_ask}
        for one in asked.verdicts:
            yield _model_verdict(one, asked_for[one.other], decided_at, asked.model)

    async def _check(self, case: _Case, weighed: Weighed, asked: Asked, *, for_review: bool) -> Outcome | None:
        decided = weighed.known + len(weighed.by_rule) + len(asked.verdicts)
        has_asked = weighed.has_asked or asked.calls > 0
        pending = [PendingPair(one.other, REVIEW if for_review else one.reason) for one in asked.undecided]
        if not pending and weighed.beyond:
            return None
        # a reason that changes while the same pairs wait is no news: the log is not to fill with it
        if pending and case.look.check is not None and _is_told(case.look.check, pending, for_review=for_review):
            return Outcome.STILL_PENDING
        why = _why(weighed, asked) if not pending else REVIEW if for_review else PENDING
        reason = reason_of_check(why, pending, beyond=weighed.beyond)
        said = _checked(case.ref, weighed.pairs, decided, len(pending), reason, has_asked=has_asked)
        await self._say(case, [said])
        if not pending:
            return Outcome.CHECKED
        return Outcome.IN_REVIEW if for_review else Outcome.PENDING

    async def _declare(self, case: _Case, verdicts: Iterable[_Verdict], ends: Iterable[End]) -> None:
        fresh = [one for one in ends if one not in case.ended]
        said = [one.command(case.ref.version_id) for one in verdicts]
        await self._say(case, [*said, *map(_ended, fresh)])
        case.ended.update(fresh)
        self._observer.ended_facts(len(fresh))

    async def _say(self, case: _Case, commands: Sequence[Mapping[str, Any]]) -> None:
        if commands:
            # who could not say it for a while may have lost the memory meanwhile
            still = partial(self._claims.check, case.claim)
            await self._writer.send(case.ref.tenant_id, case.look.names, commands, still=still)


def _model_verdict(said: PairVerdict, pair: Pair, decided_at: int, model: str | None) -> _Verdict:
    """Its reason tells why the model was asked, and what it says why."""
    reason = f"{pair.judgement.reason}:{said.because}"
    return _Verdict(said.other, said.relation, said.newer, Decider.MODEL, decided_at, reason, model)


def _ended_by_model(weighed: Weighed, asked: Asked) -> Iterable[End]:
    others = {pair.other.version_id: pair.other for pair in weighed.to_ask}
    for one in asked.verdicts:
        yield from ends_beside_rule(weighed.new, others[one.other], one.newer)


def _ended(end: End) -> dict[str, Any]:
    """Of another fact than the memory's: that which its key names. Its id is the same, whichever pair ends it."""
    return {
        "type": "end",
        "key": end.key,
        "version_id": str(UUID(bytes=end.version_id)),
        "effective_at": format_instant(end.effective_at),
        "reason": f"ended by memory {UUID(bytes=end.by)}",
    }


def _checked(ref: Ref, pairs: int, decided: int, pending: int, reason: str, *, has_asked: bool) -> dict[str, Any]:
    return {
        "type": "check_relations",
        "version_id": str(UUID(bytes=ref.version_id)),
        "pairs": pairs,
        "decided": decided,
        "pending": pending,
        "reason": reason,
        "llm_call_made": has_asked,
    }


def is_in_review(reason: str | None) -> bool:
    """Whether a check left its pairs to a person."""
    return any(one.reason == REVIEW for one in pending_in(reason))


def _is_told(check: Check, pending: Sequence[PendingPair], *, for_review: bool) -> bool:
    named = {one.other for one in pending_in(check.reason)}
    are_named = named <= {one.other for one in pending}
    return check.pending == len(pending) and are_named and is_in_review(check.reason) == for_review


def _left_to_a_person(weighed: Weighed) -> Asked:
    return Asked(undecided=tuple(Undecided(one.other.version_id, REVIEW) for one in weighed.to_ask))


def _why(weighed: Weighed, asked: Asked) -> str:
    if not weighed.pairs:
        return "no_pairs"
    by_model = weighed.has_asked or bool(asked.verdicts)
    by_rule = bool(weighed.by_rule) or (weighed.known > 0 and not weighed.has_asked)
    if by_model and by_rule:
        return "rule_and_model"
    return "model" if by_model else "rule" if by_rule else "nothing_close"
