"""The projector with one of its safeguards taken out, to see that the simulation misses it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from unittest.mock import patch

from psycopg import errors

from chronofact.contracts.projection import Claim, Step, beyond
from chronofact.domain.errors import Rejected
from chronofact.domain.history import History
from chronofact.projecting import apply, release
from chronofact.projecting.apply import Applier
from chronofact.projecting.cache import FactCache, Slot
from chronofact.projecting.draft import Draft, Owned
from chronofact.projecting.ports import Applied, Message
from chronofact.projector import loop
from chronofact.projector.loop import Projector
from chronofact.runtime.failures import ConstraintBroken, Transient
from tests.contract import memory_store
from tests.contract.memory_store import MemoryBatch, MemoryStore
from tests.simulation.group import SimLog


@contextmanager
def without_fence() -> Iterator[None]:
    """A batch is written whatever epoch its owner has."""
    advance = MemoryBatch.advance

    def any_epoch(self: MemoryBatch, topic_id: bytes, steps: Sequence[Step]) -> Mapping[int, int]:
        table = self.transaction.get
        now = [step._replace(epoch=(table("checkpoints", (topic_id, step.partition)) or (0, 0))[1]) for step in steps]
        return advance(self, topic_id, now)

    with patch.object(MemoryBatch, "advance", any_epoch), without_look_at_checkpoint():
        yield


@contextmanager
def without_look_at_checkpoint() -> Iterator[None]:
    """A batch goes on from wherever the checkpoint stands."""
    with (
        patch.object(apply, "refuse_moved", lambda *_: None),
        patch.object(release, "refuse_moved", lambda *_: None),
        patch.object(loop, "refuse_moved", lambda *_: None),
    ):
        yield


@contextmanager
def without_offset_guards() -> Iterator[None]:
    """What comes is applied, whether it was before or not."""
    read = Draft.read

    def everything(self: Draft, messages: Sequence[Message], before: Mapping[int, int]) -> None:
        read(self, messages, dict.fromkeys(before, 0))

    def wanted(self: Projector, messages: Sequence[Message]) -> Sequence[Message]:
        return [one for one in messages if one.partition in self.owned]

    with (
        patch.object(Draft, "read", everything),
        patch.object(Projector, "_wanted", wanted),
        without_look_at_checkpoint(),
    ):
        yield


@contextmanager
def believing_every_hole() -> Iterator[None]:
    """An offset that is missing once is taken for none."""

    def wanted(self: Projector, messages: Sequence[Message]) -> Sequence[Message]:
        return [
            one
            for one in messages
            if one.partition in self.owned and one.offset >= self.owned[one.partition].next_offset
        ]

    with patch.object(Projector, "_wanted", wanted):
        yield


class _Any:
    """Is whatever it is compared with."""

    def __ne__(self, other: object) -> bool:
        return False

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 0


@contextmanager
def believing_a_hole_by_its_start() -> Iterator[None]:
    """A hole seen twice may end elsewhere the second time: what was found by the first seeds."""

    def read_again(self: Projector, partition: int, wanted: int, _found: int) -> Sequence[Message]:
        return original(self, partition, wanted, _Any())  # type: ignore[arg-type]

    original = Projector._read_again
    with patch.object(Projector, "_read_again", read_again):
        yield


@contextmanager
def looking_once_before_a_claim() -> Iterator[None]:
    """What the owner before applied since the look makes the log look shortened: found by the simulation too."""
    with patch.object(loop, "LOOKS_MAX", 1):
        yield


@contextmanager
def settled_before_commit() -> Iterator[None]:
    """Memory learns of a batch before the database has it."""
    close = Draft.close

    def settled(self: Draft) -> Any:
        lines = close(self)
        ends: dict[int, int] = {}
        for message in self._messages:
            ends[message.partition] = message.offset + 1
        if ends:
            self.settle(ends)
        return lines

    with patch.object(Draft, "close", settled), without_look_at_checkpoint(), _never_letting_go():
        yield


@contextmanager
def _never_letting_go() -> Iterator[None]:
    """After a failure the projector goes on with what it has in memory."""

    def stand_back(self: Projector, failure: Any) -> None:
        self._observer.hindered(failure)
        if failure.code == "fenced":
            self._let_go()

    with patch.object(Projector, "_stand_back", stand_back):
        yield


@contextmanager
def going_on_after_a_failure() -> Iterator[None]:
    """A batch that failed is passed over."""
    with _never_letting_go():
        yield


@contextmanager
def keeping_histories_on_rollback() -> Iterator[None]:
    """The cache gives what it keeps, so that a batch that is undone leaves its marks there."""

    def take(self: FactCache, fact_id: bytes) -> Slot | None:
        return self._slots.get(fact_id)

    with patch.object(FactCache, "take", take):
        yield


@contextmanager
def keeping_histories_that_others_wrote() -> Iterator[None]:
    """Histories outlive a time in which another owned their partition."""
    with patch.object(FactCache, "forget", lambda *_: None):
        yield


@contextmanager
def forgetting_what_is_held() -> Iterator[None]:
    """A new owner does not ask which facts are held."""
    claim = MemoryStore.claim

    def claimed(self: MemoryStore, topic_id: bytes, partition: int, *, watermarks: tuple[int, int]) -> Claim:
        return claim(self, topic_id, partition, watermarks=watermarks)._replace(held=frozenset())

    with patch.object(MemoryStore, "claim", claimed):
        yield


@contextmanager
def holding_nothing() -> Iterator[None]:
    """What follows a parked message of its fact is applied."""

    def park(self: Draft, message: Message, rejected: Any, **more: Any) -> None:
        original(self, message, rejected, **more)
        self._held.clear()

    original = Draft.park
    with patch.object(Draft, "park", park):
        yield


@contextmanager
def holding_for_ever() -> Iterator[None]:
    """A fact whose parked messages were all let through is still held."""
    with patch.object(Draft, "free", lambda *_: None):
        yield


@contextmanager
def reading_on_where_it_was() -> Iterator[None]:
    """After an assignment or a failure the log is read on from where it was, not from the checkpoint."""

    def start(self: SimLog, next_offsets: Mapping[int, int]) -> None:
        self._step("start")
        known = self.__dict__.setdefault("reached", {})
        known.update(self.positions)
        self.positions = {one: known.get(one, at) for one, at in next_offsets.items()}

    def hear(self: SimLog) -> None:
        self.__dict__.setdefault("reached", {}).update(self.positions)
        original(self)

    original = SimLog._hear
    with patch.object(SimLog, "start", start), patch.object(SimLog, "_hear", hear):
        yield


@contextmanager
def epochs_that_stand_still() -> Iterator[None]:
    """A claim changes nothing, so that nobody is fenced by it."""
    claim = MemoryStore._claim

    def same(self: MemoryStore, transaction: Any, topic_id: bytes, *more: Any) -> Claim:
        found = claim(self, transaction, topic_id, *more)
        place = (topic_id, more[0])
        epoch = max(found.epoch_before, 1)
        transaction.put("checkpoints", place, (found.next_offset, epoch))
        return found._replace(epoch=epoch)

    with patch.object(MemoryStore, "_claim", same):
        yield


@contextmanager
def taking_outages_for_poison() -> Iterator[None]:
    """A deadlock or a full disk parks the events that met it."""

    def attempt(self: Applier, *args: Any) -> Applied:
        try:
            return original(self, *args)
        except Transient as failure:
            if failure.code in {"postgres_serialization", "postgres_resources"}:
                raise ConstraintBroken(errors.DeadlockDetected.sqlstate or "") from failure
            raise

    original = Applier._attempt
    with patch.object(Applier, "_attempt", attempt):
        yield


@contextmanager
def without_import_times() -> Iterator[None]:
    """Events count as known when the broker appended them, whatever an importer said."""
    apply_one = Draft._fold_one

    def late(self: Draft, message: Message, event: Any, *more: Any) -> None:
        apply_one(self, message, replace(event, import_time=None), *more)

    with patch.object(Draft, "_fold_one", late):
        yield


@contextmanager
def known_when_released() -> Iterator[None]:
    """A released message counts as known from its release on."""
    original = Draft.release

    def late(self: Draft, messages: Any) -> bool:
        return original(self, [one._replace(appended_at=one.appended_at + 60_000_000) for one in messages])

    with patch.object(Draft, "release", late):
        yield


@contextmanager
def forgetting_what_was_given_up() -> Iterator[None]:
    """A new projection meets a dropped message as if nobody had dropped it."""

    def read(self: Draft, messages: Sequence[Message], before: Mapping[int, int]) -> None:
        for own in self._owned.values():
            own.dropped.clear()
        original(self, messages, before)

    original = Draft.read
    with patch.object(Draft, "read", read):
        yield


@contextmanager
def seeing_repeats_as_new() -> Iterator[None]:
    """A repeated event id is folded again."""
    with patch.object(History, "knows", lambda *_: False):
        yield


@contextmanager
def stopping_at_what_the_fold_refuses() -> Iterator[None]:
    """One message that the database refuses takes its whole batch with it into the parking lot."""

    def bisect(self: Applier, owned: Mapping[int, Owned], messages: Sequence[Message]) -> Applied:
        culprits = {(one.partition, one.offset): Rejected("constraint_broken", "made up") for one in messages}
        return self._attempt(owned, messages, culprits)

    with patch.object(Applier, "_bisect", bisect):
        yield


@contextmanager
def passing_holds() -> Iterator[None]:
    """A batch goes on where somebody holds its partition."""
    with patch.object(memory_store, "beyond", lambda *_: {}):
        yield


@contextmanager
def releasing_within_holds() -> Iterator[None]:
    """What is parked in a held partition is released all the same."""

    def moving_only(steps: Sequence[Step], before: Mapping[int, int], stop_at: Mapping[int, int]) -> dict[int, int]:
        return beyond([step for step in steps if step.next_offset > before[step.partition]], before, stop_at)

    with patch.object(memory_store, "beyond", moving_only):
        yield


@contextmanager
def standing_at_a_hold_for_ever() -> Iterator[None]:
    """A partition that was held once is never tried again."""
    with patch.object(Projector, "_try_held", lambda *_: None):
        yield


MUTANTS = {
    one.__name__: one
    for one in (
        without_fence,
        without_offset_guards,
        believing_every_hole,
        believing_a_hole_by_its_start,
        looking_once_before_a_claim,
        settled_before_commit,
        going_on_after_a_failure,
        keeping_histories_on_rollback,
        keeping_histories_that_others_wrote,
        forgetting_what_is_held,
        holding_nothing,
        holding_for_ever,
        reading_on_where_it_was,
        epochs_that_stand_still,
        taking_outages_for_poison,
        without_import_times,
        known_when_released,
        forgetting_what_was_given_up,
        seeing_repeats_as_new,
        stopping_at_what_the_fold_refuses,
        passing_holds,
        releasing_within_holds,
        standing_at_a_hold_for_ever,
    )
}
