"""Judges one text memory: waits for the projection, decides what can be decided, says it, and that it has been looked at.

What is done twice, after a crash or by two at once, is the same event, or is seen in the log and not done again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, Protocol
from uuid import UUID

from chronofact.adjudicator.ledger import claimed
from chronofact.adjudicator.passing import Passing
from chronofact.adjudicator.ports import Asker, Claims, Memories, Writer
from chronofact.adjudicator.weighing import Pair, Weighed, keys_of, weigh
from chronofact.contracts.pending import PendingPair, pending_in, reason_of_check
from chronofact.domain.events import Decider, Verdict
from chronofact.domain.interval import format_instant
from chronofact.postgres.claims import Claim
from chronofact.postgres.looking import Look, Reach, Ref
from chronofact.postgres.memories import Check
from chronofact.text.answers import PairVerdict
from chronofact.text.gate import NOT_CONFIGURED, Asked, Undecided
from chronofact.text.pairs import Thresholds

CLAIM_PAUSE_S: Final = 0.2
PENDING: Final = "pending"
REVIEW: Final = "review"
REVOKED: Final = "revoked"


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
    """The projection has no such memory: it is parked, or no text; the sweep finds it when it comes."""


class Observer(Protocol):
    """Told what is done."""

    def weighed(self, weighed: Weighed, seconds: float) -> None: ...

    def ran(self, weighed: Weighed, asked: Asked, seconds: float) -> None: ...


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
        try:
            # after the claim: what its former holder said is below the end that is waited for
            projection = await self._passing.passed(ref)
            begun = self._monotonic()
            look = await self._memories.look(projection, ref, self._reach)
            if look is None:
                return Outcome.NOT_THERE
            if look.check is not None and not (is_again and look.check.pending):
                return Outcome.ALREADY_CHECKED
            return await self._decide(ref, look, claim, begun, is_too_old=is_too_old)
        finally:
            await self._claims.give_back(claim)

    async def _decide(self, ref: Ref, look: Look, claim: Claim, begun: float, *, is_too_old: bool) -> Outcome:
        if look.memory.lifecycle == "REVOKED":
            await self._say(ref, look, [_checked(ref, 0, 0, (), REVOKED, has_asked=False)])
            return Outcome.CHECKED
        weighed = weigh(look, self._thresholds, asked_max=self._asked_max)
        self._observer.weighed(weighed, self._monotonic() - begun)
        # what the rule decides waits for no model
        await self._declare(ref, look, self._by_rule(look, weighed))
        in_review = look.check is not None and is_in_review(look.check.reason)
        asked = _left_to_a_person(weighed) if in_review else await self._ask(weighed)
        if asked.calls:
            # who stood still meanwhile has nothing to say: another has asked, or will
            await self._claims.check(claim)
        await self._declare(ref, look, self._by_model(weighed, asked))
        # a check says that the verdicts are in the log, so it comes after they are
        outcome = await self._check(ref, look, weighed, asked, for_review=is_too_old or in_review)
        self._observer.ran(weighed, asked, self._monotonic() - begun)
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

    async def _check(self, ref: Ref, look: Look, weighed: Weighed, asked: Asked, *, for_review: bool) -> Outcome:
        decided = weighed.known + len(weighed.by_rule) + len(asked.verdicts)
        has_asked = weighed.has_asked or asked.calls > 0
        pending = [PendingPair(one.other, REVIEW if for_review else one.reason) for one in asked.undecided]
        # a reason that changes while the same pairs wait is no news: the log is not to fill with it
        if pending and look.check is not None and _is_told(look.check, len(pending), for_review=for_review):
            return Outcome.STILL_PENDING
        why = _why(weighed, asked) if not pending else REVIEW if for_review else PENDING
        await self._say(ref, look, [_checked(ref, weighed.pairs, decided, pending, why, has_asked=has_asked)])
        if not pending:
            return Outcome.CHECKED
        return Outcome.IN_REVIEW if for_review else Outcome.PENDING

    async def _declare(self, ref: Ref, look: Look, verdicts: Iterable[_Verdict]) -> None:
        await self._say(ref, look, [one.command(ref.version_id) for one in verdicts])

    async def _say(self, ref: Ref, look: Look, commands: Sequence[Mapping[str, Any]]) -> None:
        if commands:
            await self._writer.send(ref.tenant_id, look.names, commands)


def _model_verdict(said: PairVerdict, pair: Pair, decided_at: int, model: str | None) -> _Verdict:
    """Its reason tells why the model was asked, and what it says why."""
    reason = f"{pair.judgement.reason}:{said.because}"
    return _Verdict(said.other, said.relation, said.newer, Decider.MODEL, decided_at, reason, model)


def _checked(
    ref: Ref, pairs: int, decided: int, pending: Sequence[PendingPair], why: str, *, has_asked: bool
) -> dict[str, Any]:
    return {
        "type": "check_relations",
        "version_id": str(UUID(bytes=ref.version_id)),
        "pairs": pairs,
        "decided": decided,
        "pending": len(pending),
        "reason": reason_of_check(why, pending),
        "llm_call_made": has_asked,
    }


def is_in_review(reason: str | None) -> bool:
    """Whether a check left its pairs to a person."""
    return any(one.reason == REVIEW for one in pending_in(reason))


def _is_told(check: Check, pending: int, *, for_review: bool) -> bool:
    return check.pending == pending and is_in_review(check.reason) == for_review


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
