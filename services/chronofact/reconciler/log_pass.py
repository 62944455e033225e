"""The log, message by message, beside what the projection keeps of it: loss, doubles, wrong places, wrong times.

Both are streams in the order of offsets, so that memory stays flat however long the log is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final
from uuid import UUID

from chronofact.contracts.checking import Divergence, StoredLine
from chronofact.contracts.codec import FactEvent, decode_event
from chronofact.contracts.derived import decode
from chronofact.domain.errors import Rejected
from chronofact.domain.interval import INSTANT_MIN
from chronofact.reconciler.derived_parts import is_text, parts_that_differ
from chronofact.reconciler.ports import Cut, LogMessage

ASKED_AT_ONCE: Final = 500
UNLABELLED_MAX: Final = 50_000
"""Facts without a label so far whose first one is still waited for; of more, labels are not looked at."""
CONTROL: Final = "EventDropped"
END: Final = StoredLine(2**63 - 1, "end", None, None, None, 0, "", 0, None, None, None)


class PartitionPass:
    """One partition."""

    def __init__(self, partition: int, cut: Cut, found: Callable[[list[Divergence]], None]) -> None:
        self._partition = partition
        self._cut = cut
        self._found = found
        self._stored: Iterator[StoredLine] = cut.stored(partition)
        self._line = next(self._stored, END)
        self._unplaced: list[tuple[bytes, bytes, int]] = []
        self._unlabelled: dict[int, str | None] = {}
        self._without_memory: list[StoredLine] = []

    def take(self, messages: Iterable[LogMessage]) -> None:
        """The next messages of the log."""
        for message in messages:
            while self._line.offset < message.offset:
                self._tell(self._line, "offset", None, str(self._line.offset))
                self._go_on()
            if self._line.offset > message.offset:
                self._without_line(message)
                continue
            self._beside(message, self._line)
            offset = self._line.offset
            self._go_on()
            while self._line.offset == offset:
                self._tell(self._line, "double", "one line", self._line.sort)
                self._go_on()
        if max(len(self._unplaced), len(self._without_memory)) >= ASKED_AT_ONCE:
            self._ask()

    def finish(self) -> None:
        """The log has ended at the cut."""
        while self._line is not END:
            self._tell(self._line, "offset", "below the cut", str(self._line.offset))
            self._go_on()
        self._ask()
        for fact_no, label in self._unlabelled.items():
            if label is not None:
                self._tell_fact(fact_no, None, "subject_label", None, "a label")

    def _go_on(self) -> None:
        self._line = next(self._stored, END)

    def _without_line(self, message: LogMessage) -> None:
        """A repeat, or a control event; anything else is lost."""
        try:
            event = decode_event(message.value)
        except Rejected:
            self._lost(message.key, message.offset, "neither applied nor parked")
            return
        if event.kind == CONTROL:
            return
        if len(message.key) == 16:
            self._unplaced.append((message.key, event.event_id, message.offset))
        else:
            self._lost(message.key, message.offset, "neither applied nor parked")

    def _ask(self) -> None:
        """Whether what has no line of its own was a repeat."""
        if self._unplaced:
            known = self._cut.known(self._unplaced)
            for place, (key, event_id, offset) in enumerate(self._unplaced):
                if place not in known:
                    self._lost(key, offset, str(UUID(bytes=event_id)))
            self._unplaced.clear()
        if self._without_memory:
            for place in self._cut.first_asserted([(one.fact_no, one.event_seq) for one in self._without_memory]):
                self._tell_memory(self._without_memory[place], "missing", "what was derived", None)
            self._without_memory.clear()

    def _beside(self, message: LogMessage, line: StoredLine) -> None:
        if line.sort == "dropped":
            return
        if line.sort == "parked":
            if (line.payload or b"") != message.value:
                self._tell(line, "message", "the bytes of the log", "others")
            return
        try:
            event = decode_event(message.value)
        except Rejected:
            self._tell(line, "canonical_payload", "an event that can't be read", "one that was applied")
            return
        self._compare(message, event, line)

    def _compare(self, message: LogMessage, event: FactEvent, line: StoredLine) -> None:
        if message.key != line.fact_id:
            self._tell(line, "fact_no", _uuid(message.key), _uuid(line.fact_id or b""))
        if event.event_id != line.event_id:
            self._tell(line, "event_id", _uuid(event.event_id), _uuid(line.event_id or b""))
        if event.kind != line.event_type:
            self._tell(line, "event_type", event.kind, line.event_type)
        if event.payload != line.payload:
            self._tell(line, "canonical_payload", "the bytes of the log", "others")
        recorded_at = message.appended_at
        if event.import_time is not None:
            recorded_at = min(recorded_at, event.import_time)
        recorded_at = max(recorded_at, INSTANT_MIN if line.recorded_before is None else line.recorded_before)
        if recorded_at != line.recorded_at:
            self._tell(line, "recorded_at", str(recorded_at), str(line.recorded_at))
        self._look_at_label(event, line)
        if event.derived is not None or line.derived is not None:
            self._look_at_derived(event, line)

    def _look_at_derived(self, event: FactEvent, line: StoredLine) -> None:
        """What was derived from a text counts with the event that first asserts it, and never else."""
        found = decode(event.derived) if event.derived is not None and is_text(event) else None
        if line.derived is None:
            if found is not None:
                self._without_memory.append(line)
        elif found is None:
            self._tell_memory(line, "extra", None, "a memory")
        else:
            for aspect in parts_that_differ(found, line.derived):
                self._tell_memory(line, aspect, "as in the log", "otherwise")

    def _look_at_label(self, event: FactEvent, line: StoredLine) -> None:
        """The first label that an event of the fact shows is the fact's."""
        if line.fact_no is None:
            return
        is_waited_for = line.event_seq == 1 or line.fact_no in self._unlabelled
        if not is_waited_for:
            return
        if event.subject_label is None:
            if len(self._unlabelled) < UNLABELLED_MAX:
                self._unlabelled[line.fact_no] = line.subject_label
            return
        self._unlabelled.pop(line.fact_no, None)
        if event.subject_label != line.subject_label:
            self._tell_fact(line.fact_no, line.fact_id, "subject_label", "the label of the log", "another")

    def _lost(self, key: bytes, offset: int, what: str) -> None:
        fact_id = UUID(bytes=key) if len(key) == 16 else None
        place = f"partition {self._partition}, offset {offset}"
        self._found([Divergence(None, fact_id, "log", "lost", place, what, None)])

    def _tell(self, line: StoredLine, aspect: str, expected: str | None, found: str | None) -> None:
        fact_id = UUID(bytes=line.fact_id) if line.fact_id and len(line.fact_id) == 16 else None
        place = f"partition {self._partition}, offset {line.offset}, event {line.event_seq}"
        self._found([Divergence(line.fact_no, fact_id, "log", aspect, place, expected, found)])

    def _tell_memory(self, line: StoredLine, aspect: str, expected: str | None, found: str | None) -> None:
        fact_id = None if line.fact_id is None else UUID(bytes=line.fact_id)
        self._found([Divergence(line.fact_no, fact_id, "memory", aspect, f"event {line.event_seq}", expected, found)])

    def _tell_fact(self, fact_no: int, fact_id: bytes | None, aspect: str, expected: str | None, found: str) -> None:
        named = None if fact_id is None else UUID(bytes=fact_id)
        self._found([Divergence(fact_no, named, "fact", aspect, "head", expected, found)])


def _uuid(raw: bytes) -> str:
    return str(UUID(bytes=raw)) if len(raw) == 16 else raw.hex()
