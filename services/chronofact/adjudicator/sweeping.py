"""What timers do: look at memories that nobody has looked at, ask again about pairs that wait, and give old ones to a person."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple, Protocol, TypeVar

from chronofact.adjudicator.judging import BEYOND, PENDING, REVIEW, Outcome, is_in_review
from chronofact.adjudicator.ports import Asker, Memories
from chronofact.adjudicator.unlooked import RELEASED_MAX, Left, Reached, Unlooked
from chronofact.contracts.pending import PendingPair, beyond_in, pending_in
from chronofact.postgres.judging_store import Waiting
from chronofact.postgres.looking import Ref
from chronofact.postgres.memories import Unchecked, Window

PAGE: Final = 200
FIRST_PAUSE_S: Final = 60.0
PAUSE_S_MAX: Final = 6 * 3_600.0
LISTED_MAX: Final = 200
SWEEP_SHARE: Final = 20
FIRST_PLACE: Final = (0, 0)
T = TypeVar("T", Unchecked, Waiting)
S = TypeVar("S")


class Again(Protocol):
    """Looks at a memory, whatever befalls."""

    async def __call__(self, ref: Ref, *, is_again: bool, is_too_old: bool) -> Outcome | None: ...


class Open(NamedTuple):
    """A memory with undecided pairs, as it is listed."""

    ref: Ref
    pending: int
    beyond: int
    """Further ones that are not named."""
    named: tuple[PendingPair, ...]
    pending_since: int
    projection: str
    tries: int
    """In vain, since this process began."""
    next_try_at: int | None
    """None where nobody is asked: a person decides, or no model is configured."""


@dataclass(slots=True)
class Picture:
    """What waits, as last seen."""

    pairs: Counter[str] = field(default_factory=Counter)
    """Undecided pairs by reason; ``review`` waits for a person."""
    memories: int = 0
    oldest_since: int | None = None
    listed: list[Open] = field(default_factory=list)
    """The first of them."""
    seen_at: int | None = None


class Sweeps:
    """The rounds of one process; several of them at once do nothing twice, since each memory is claimed."""

    def __init__(
        self,
        memories: Memories,
        judge: Again,
        asker: Asker | None,
        *,
        at_once: int,
        unseen_s: float,
        retry_s: float,
        review_after_s: float,
        now: Callable[[], int],
        monotonic: Callable[[], float],
        left: Left,
    ) -> None:
        self._memories = memories
        self._judge = judge
        self._asker = asker
        self._at_once = at_once
        self._unseen_us = int(unseen_s * 1_000_000)
        self._retry_s = retry_s
        self._left = left
        self._review_after_us = int(review_after_s * 1_000_000)
        self._now = now
        self._monotonic = monotonic
        self._vain: dict[bytes, tuple[int, float]] = {}
        self._sweeps_at = 0.0
        self._unlooked: dict[str, Unlooked] = {}
        self.picture = Picture()

    async def sweep(self) -> int:
        """Memories that were recorded a while ago and that nobody has looked at; how many there were.

        Raises:
            Transient, Unfit: Postgres is away; the next round begins anew.
        """
        found = 0
        for projection in await self._memories.routes():
            reached = _reached(await self._memories.ends(projection))
            unlooked = self._unlooked.setdefault(projection, Unlooked(self._unseen_us / 1_000_000))
            released = await self._memories.released(projection, after=unlooked.released, limit=RELEASED_MAX)
            begun = self._monotonic()
            windows = unlooked.windows(begun, reached, released)
            if windows is None and begun < self._sweeps_at:
                continue
            found += await (self._whole(projection) if windows is None else self._recent(projection, windows))
            unlooked.looked(begun, reached, released, is_whole=windows is None)
        left = self._left.listed()
        await self._each(left, lambda ref: self._look(ref, is_again=False, is_too_old=False))
        return found

    async def _whole(self, projection: str) -> int:
        """Of all memories; not again before twenty times what that took have passed."""
        begun, found = self._monotonic(), 0
        older_than = self._now() - self._unseen_us
        place = FIRST_PLACE
        while page := await self._memories.unchecked(projection, older_than=older_than, limit=PAGE, after=place):
            place = page[-1].place
            found += await self._unchecked(page, projection)
        ended = self._monotonic()
        self._sweeps_at = ended + SWEEP_SHARE * (ended - begun)
        return found

    async def _recent(self, projection: str, windows: Sequence[Window]) -> int:
        """Of those that came since the last sweep."""
        page = await self._memories.unchecked_within(projection, windows) if windows else []
        return await self._unchecked(page, projection)

    async def _unchecked(self, page: Sequence[Unchecked], projection: str) -> int:
        mine = await self._routed(page, projection)
        await self._all(mine, is_again=False)
        return len(mine)

    async def retry(self) -> None:
        """Every memory whose pairs wait, once, while the model answers; and what waits, counted anew.

        Raises:
            Transient, Unfit: as of ``sweep``.
        """
        picture = Picture(seen_at=self._now())
        for projection in await self._memories.routes():
            place = FIRST_PLACE
            while page := await self._memories.pending(projection, limit=PAGE, after=place):
                place = page[-1].place
                mine = await self._routed(page, projection)
                await self._all([one for one in mine if self._is_worth_a_try(one)], is_again=True)
                for one in mine:
                    self._count(picture, one, projection)
        self.picture = picture

    def _is_worth_a_try(self, waiting: Waiting) -> bool:
        """Whether the model answers, or the pairs are too old to wait for it; not what failed a moment ago by itself."""
        if self._is_old(waiting) or is_in_review(waiting.reason):
            return True
        if self._asker is None or self._asker.opens_in_s > 0:
            return False
        _, not_before = self._vain.get(waiting.version_id, (0, 0.0))
        return self._monotonic() >= not_before

    def _is_old(self, waiting: Waiting) -> bool:
        return self._now() - waiting.pending_since > self._review_after_us

    async def _all(self, found: Sequence[T], *, is_again: bool) -> None:
        await self._each(found, lambda one: self._one(one, is_again=is_again))

    async def _each(self, found: Sequence[S], look: Callable[[S], Awaitable[object]]) -> None:
        """A few at a time."""
        waiting = list(reversed(found))

        async def work() -> None:
            while waiting:
                await look(waiting.pop())

        await asyncio.gather(*(work() for _ in range(min(self._at_once, len(found)))))

    async def _look(self, ref: Ref, *, is_again: bool, is_too_old: bool) -> Outcome | None:
        outcome = await self._judge(ref, is_again=is_again, is_too_old=is_too_old)
        if outcome is Outcome.NOT_THERE:
            self._left.keep(ref)
        else:
            self._left.done(ref)
        return outcome

    async def _one(self, found: Unchecked | Waiting, *, is_again: bool) -> None:
        is_old = isinstance(found, Waiting) and self._is_old(found)
        if isinstance(found, Waiting) and not self._is_worth_a_try(found):
            # the model failed a moment ago: it is not asked about all the others as well
            return
        ref = Ref(found.tenant_id, found.fact_id, found.version_id)
        outcome = await self._look(ref, is_again=is_again, is_too_old=is_old)
        if outcome is Outcome.STILL_PENDING and not is_old:
            times = self._vain.get(ref.version_id, (0, 0.0))[0] + 1
            pause_s = min(PAUSE_S_MAX, FIRST_PAUSE_S * 2.0 ** min(times, 16))
            silent = self._asker is not None and self._asker.opens_in_s > 0
            if not silent:
                self._vain[ref.version_id] = times, self._monotonic() + pause_s
        else:
            self._vain.pop(ref.version_id, None)

    async def _routed(self, page: Sequence[T], projection: str) -> list[T]:
        """Those whose tenants read this projection: of others it is the other one that counts."""
        routes = {tenant: await self._memories.route(tenant) for tenant in {one.tenant_id for one in page}}
        return [one for one in page if routes[one.tenant_id] == projection]

    def _count(self, picture: Picture, one: Waiting, projection: str) -> None:
        named = pending_in(one.reason)
        beyond = beyond_in(one.reason)
        # of more pairs than a reason has room to name, the rest are as the check as a whole is
        rest = REVIEW if is_in_review(one.reason) else PENDING
        picture.pairs.update(pair.reason for pair in named)
        for reason, number in ((rest, one.pending - len(named)), (BEYOND, beyond)):
            if number > 0:
                picture.pairs[reason] += number
        picture.memories += 1
        picture.oldest_since = min(one.pending_since, picture.oldest_since or one.pending_since)
        if len(picture.listed) < LISTED_MAX:
            ref = Ref(one.tenant_id, one.fact_id, one.version_id)
            tries = self._vain.get(one.version_id, (0, 0.0))[0]
            next_try = self._next_try_at(one)
            told = (tuple(named), one.pending_since, projection, tries, next_try)
            picture.listed.append(Open(ref, one.pending, beyond, *told))

    def _next_try_at(self, waiting: Waiting) -> int | None:
        if self._asker is None or is_in_review(waiting.reason):
            return None
        _, not_before = self._vain.get(waiting.version_id, (0, 0.0))
        pause_s = max(self._retry_s, not_before - self._monotonic(), self._asker.opens_in_s)
        return self._now() + int(pause_s * 1_000_000)


def _reached(ends: Sequence[tuple[bytes, int, int]]) -> Reached | None:
    """None where it has read several topics, or none: offsets alone say nothing then."""
    topics = {topic for topic, _, _ in ends}
    return Reached(topics.pop(), {partition: at for _, partition, at in ends}) if len(topics) == 1 else None
