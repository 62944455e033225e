"""The projector's loop: poll, claim what was assigned, apply, go on; whatever fails is undone and begun anew."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from chronofact.contracts.projection import Claim
from chronofact.projecting.apply import Applier
from chronofact.projecting.draft import Owned, Topic, refuse_moved
from chronofact.projecting.parking import ParkingLimits, ParkingMeter
from chronofact.projecting.ports import Applied, Message, Store
from chronofact.projector.ports import Assignment, Log, Observer, TopicLook, Turn
from chronofact.projector.turns import OfTurns, Turns
from chronofact.runtime.failures import Fenced, Held, Transient, Unfit

NO_GENERATION: Final = -1
LOOKS_MAX: Final = 4
"""So often a claim looks at a growing log before it believes that it is too short."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How much at once, and how long."""

    batch_events_max: int = 2_000
    batch_wait_s: float = 0.1
    linger_s: float = 0.01
    pause_min_s: float = 0.05
    pause_max_s: float = 5.0
    commit_every_s: float = 1.0
    look_every_s: float = 10.0
    release_every_s: float = 1.0
    held_look_s: float = 0.2
    silent_s: float = 60.0
    parking: ParkingLimits = field(default_factory=ParkingLimits)
    cache_bytes_max: int = 144 * 2**20


class Projector:
    """Keeps one projection in step with the partitions that the group gives it."""

    def __init__(
        self,
        log: Log,
        store: Store,
        *,
        observer: Observer,
        monotonic: Callable[[], float],
        jitter: Callable[[], float],
        limits: Limits | None = None,
        turn: Turn | None = None,
    ) -> None:
        self._log = log
        self._store = store
        self._observer = observer
        self._monotonic = monotonic
        self._jitter = jitter
        self.limits = limits or Limits()
        self._turn_to_apply = turn or OfTurns(Turns())
        self._topic_id = b""
        self._partitions = 0
        self.applier = Applier(
            store,
            lambda: Topic(self._topic_id, self._partitions),
            cache_bytes_max=self.limits.cache_bytes_max,
            monotonic=monotonic,
        )
        self.owned: dict[int, Owned] = {}
        self._remembered: dict[int, Owned] = {}
        self._generation = NO_GENERATION
        self._assigned: frozenset[int] = frozenset()
        self._is_member = False
        self._is_ready = False
        self._pause_s = 0.0
        self._retry_at = 0.0
        self._look_at = 0.0
        self._commit_at = 0.0
        self._release_at = 0.0
        self._holes: dict[tuple[int, int], int] = {}
        self._held: dict[int, float] = {}
        """Partitions that somebody holds, and when to try them again."""
        self._silent: dict[int, tuple[int, float]] = {}
        """Partitions that are behind the log's end: at which offset, and since when."""
        self._newest_appended_at = 0

    def step(self) -> Applied | None:
        """One turn: at most one batch. Returns what it did, None when there was nothing to apply.

        Raises:
            ParkingLimit, Corruption: the process has to stop.
        """
        try:
            return self._turn()
        except Fenced as fenced:
            self._stand_back(Transient("fenced", str(fenced)))
            self._log.rejoin()
        except (Transient, Unfit) as failure:
            self._stand_back(failure)
        return None

    def close(self) -> None:
        """Leave the group and let go of the database; a batch is never under way here."""
        if self.owned:
            self._log.commit({partition: own.next_offset for partition, own in self.owned.items()})
        self._log.close()
        self._store.close()

    def _turn(self) -> Applied | None:
        messages = self._poll()
        self._follow(self._log.assignment())
        now = self._monotonic()
        if self._is_waiting():
            if now >= self._retry_at:
                self._claim()
            return None
        if now >= self._look_at:
            self._look()
        self._try_held(now)
        done = self._apply_in_turn(self._wanted(messages))
        if now >= self._release_at:
            self._release_at = now + self.limits.release_every_s
            done = self._release(done)
        self._hint(now)
        return done

    def _apply_in_turn(self, work: Sequence[Message]) -> Applied | None:
        if not work:
            return None
        with self._turn_to_apply:
            return self._apply(work)

    def _apply(self, work: Sequence[Message]) -> Applied | None:
        if not work:
            return None
        try:
            applied = self.applier.apply(self.owned, work)
        except Held as held:
            refuse_moved(self.owned, held.before)
            return self._apply(self._up_to(held.stop_at, work))
        self._newest_appended_at = applied.newest_appended_at
        self._observer.applied(applied)
        return applied

    def _up_to(self, stop_at: Mapping[int, int], work: Sequence[Message]) -> Sequence[Message]:
        """What is not applied yet and may be; held partitions are silent until they are tried again."""
        until = self._monotonic() + self.limits.held_look_s
        self._held.update(dict.fromkeys(stop_at, until))
        self._start()
        left = [one for one in work if one.offset >= self.owned[one.partition].next_offset]
        return [one for one in left if one.partition not in stop_at or one.offset < stop_at[one.partition]]

    def _try_held(self, now: float) -> None:
        if self._held and (due := [partition for partition, at in self._held.items() if now >= at]):
            for partition in due:
                del self._held[partition]
            self._start()

    def _start(self) -> None:
        """Have what is owned and not held delivered from its checkpoint on."""
        self._log.start({one: own.next_offset for one, own in self.owned.items() if one not in self._held})

    def _release(self, done: Applied | None) -> Applied | None:
        """Try again what somebody asks for."""
        for ask in self._store.asked(self._topic_id, sorted(self.owned)):
            try:
                released = self.applier.release(self.owned, ask)
            except Held as held:  # since we were asked; it stays asked for
                refuse_moved(self.owned, held.before)
                continue
            self._observer.applied(released)
            done = done or Applied()
            done.add(released)
        return done

    def _poll(self) -> Sequence[Message]:
        try:
            events_max = self._turn_to_apply.events_max(self.limits.batch_events_max)
            return self._log.poll(events_max=events_max, wait_s=self.limits.batch_wait_s)
        except (Transient, Unfit):
            # silent until then, so a consumer that fails at once does not spin
            if self._monotonic() >= self._retry_at:
                self._log.rejoin()
            raise

    def _follow(self, assignment: Assignment) -> None:
        """After a rebalance nothing is ours before it is claimed anew."""
        if assignment.generation == self._generation:
            return
        self._generation, self._assigned, self._is_member = assignment
        self._let_go()
        self._retry_at = 0.0

    def _is_waiting(self) -> bool:
        """A member with no partitions claims them too, and so hears that it is ready to step in."""
        return self.owned.keys() != self._assigned or (self._is_member and not self._is_ready)

    def _claim(self) -> None:
        """Take over every assigned partition and have it delivered from its checkpoint."""
        look = self._look()
        if leaderless := self._assigned - look.watermarks.keys():
            raise Transient("kafka_unreachable", f"no leader answers for partitions {sorted(leaderless)}")
        claimed = {}
        for partition in sorted(self._assigned):
            claim = self._take(look, partition)
            before = self._remembered.get(partition)
            if before is None or (before.epoch, before.next_offset) != (claim.epoch_before, claim.next_offset):
                self._forget(partition)
            self.applier.cache.fold_by(claim.rule)
            claimed[partition] = Owned(
                claim.epoch,
                claim.next_offset,
                claim.fact_no_last,
                set(claim.held),
                ParkingMeter(claim.parked_offsets, next_offset=claim.next_offset, limits=self.limits.parking),
                claim.parked,
                dict(claim.dropped),
            )
            self._remembered[partition] = claimed[partition]
        self.owned = claimed
        self._start()
        self._pause_s = 0.0
        self._release_at = 0.0
        self._is_ready = True
        self._observer.ready(sorted(claimed))

    def _take(self, look: TopicLook, partition: int) -> Claim:
        """Claim one partition; the owner before may have applied what was appended since we looked."""
        for _ in range(LOOKS_MAX - 1):
            try:
                return self._store.claim(look.topic_id, partition, watermarks=look.watermarks[partition])
            except Unfit as unfit:
                if unfit.code != "log_shortened":
                    raise
                seen, look = look, self._look()
                if look.watermarks[partition] <= seen.watermarks[partition]:
                    raise
        return self._store.claim(look.topic_id, partition, watermarks=look.watermarks[partition])

    def _look(self) -> TopicLook:
        look = self._log.look()
        self._topic_id, self._partitions = look.topic_id, look.partitions
        self._look_at = self._monotonic() + self.limits.look_every_s
        return look

    def _wanted(self, messages: Sequence[Message]) -> Sequence[Message]:
        """Those that are ours and not applied yet, up to the first hole of any partition."""
        expected = {partition: own.next_offset for partition, own in self.owned.items()}
        if self._holes:
            self._holes = {hole: to for hole, to in self._holes.items() if hole[1] >= expected.get(hole[0], 0)}
        work = []
        for message in messages:
            partition, offset = message.partition, message.offset
            wanted = expected.get(partition)
            if wanted is None or offset < wanted:
                continue
            if offset > wanted and self._holes.get((partition, wanted)) != offset:
                return self._read_again(partition, wanted, offset)
            expected[partition] = offset + 1
            work.append(message)
        return work

    def _read_again(self, partition: int, wanted: int, found: int) -> Sequence[Message]:
        """Offsets are missing: believe it (a transaction's marker leaves one) only when the same one follows twice."""
        self._holes[partition, wanted] = found
        self._start()
        return ()

    def _hint(self, now: float) -> None:
        if now >= self._commit_at and self.owned:
            self._commit_at = now + self.limits.commit_every_s
            self._log.commit({partition: own.next_offset for partition, own in self.owned.items()})
            ends = self._log.ends()
            lag = {
                partition: max(0, ends.get(partition, 0) - own.next_offset)
                for partition, own in self.owned.items()
                if partition not in self._held
            }
            self._observer.lag(lag, newest_appended_at=self._newest_appended_at)
            self._rouse(lag, now)
            owned = self.owned.values()
            self._observer.parking(messages=sum(own.parked for own in owned), facts=sum(len(own.held) for own in owned))

    def _rouse(self, lag: Mapping[int, int], now: float) -> None:
        """Read again from its checkpoint what has brought nothing for long though the log goes on.

        A message that the consumer ran past shows by the next one; past the last one nothing would ever show it.
        """
        places = {partition: self.owned[partition].next_offset for partition, behind in lag.items() if behind}
        since = self._silent
        self._silent = {
            partition: since[partition] if partition in since and since[partition][0] == offset else (offset, now)
            for partition, offset in places.items()
        }
        if any(now - began >= self.limits.silent_s for _, began in self._silent.values()):
            self._silent.clear()
            self._start()

    def _stand_back(self, failure: Transient | Unfit) -> None:
        """Own and remember nothing until it is claimed anew, after a pause that grows.

        The database may come back as a copy of itself that lacks the last commits, with the same epochs and checkpoints.
        """
        self._let_go()
        self._remembered.clear()
        self.applier.cache.clear()
        self._pause_s = min(max(2 * self._pause_s, self.limits.pause_min_s), self.limits.pause_max_s)
        self._retry_at = self._monotonic() + self._pause_s * (0.5 + self._jitter())
        self._observer.hindered(failure)

    def _let_go(self) -> None:
        self.owned = {}
        self._is_ready = False
        self._holes.clear()
        self._held.clear()
        self._silent.clear()
        self._log.start({})

    def _forget(self, partition: int) -> None:
        self._remembered.pop(partition, None)
        self.applier.cache.forget(partition)
