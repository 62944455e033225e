"""Tasks in threads of which one runs at a time, on a clock of their own; who goes on when is the seed's choice alone."""

from __future__ import annotations

import threading
from collections import Counter, deque
from collections.abc import Callable
from heapq import heappop, heappush
from random import Random
from typing import Final, TypeAlias
from zlib import crc32

TAIL: Final = 400
"""So many last steps of a schedule are kept."""
STUCK_S: Final = 60.0
"""Real time after which a run that does not come back is given up."""


class Crash(BaseException):
    """The process is gone: nothing catches it, and what its thread still calls has no effect."""


class Stuck(Exception):
    """A run did not come back: a thread waits for something outside of the schedule."""


class Task:
    """One simulated process: a thread that runs only while it holds the baton."""

    def __init__(self, name: str, run: Callable[[], None]) -> None:
        self.name = name
        self.run = run
        self.turn = 0
        self.is_killed = False
        self.is_done = False
        self.is_blocked = False
        self.is_outside = False
        self.is_in_transaction = False
        self.baton = threading.Lock()
        self.baton.acquire()
        self.back = threading.Event()


_Entry: TypeAlias = "tuple[float, float, int, Task | Callable[[], None]]"


class Scheduler:
    """Hands the baton on at each pause. The thread that made it is a task too, and sees the failures of the others."""

    kept: int | None = TAIL

    def __init__(self, random: Random) -> None:
        self.random = random
        self.now_s = 0.0
        self.counts: Counter[str] = Counter()
        self.tail: deque[tuple[float, str, str]] = deque(maxlen=self.kept)
        self.steps = 0
        self.fingerprint = 0
        self.failures: list[BaseException] = []
        self.main = Task("main", lambda: None)
        self.current = self.main
        self._queue: list[_Entry] = []

    def start(self, name: str, run: Callable[[], None], *, after_s: float = 0.0) -> Task:
        """A new task, to run when its time has come."""
        task = Task(name, run)
        threading.Thread(target=self._body, args=(task,), name=name, daemon=True).start()
        self._push(task, self.now_s + after_s)
        return task

    def at(self, after_s: float, act: Callable[[], None]) -> None:
        """Have something happen between two steps; it can't pause."""
        heappush(self._queue, (self.now_s + after_s, self.random.random(), 0, act))

    def pause(self, label: str, *, takes_s: float = 0.0) -> None:
        """Let others go on; comes back when it takes no longer, if the process still lives.

        Raises:
            Crash: it does not.
        """
        me = self.current
        if me.is_killed:
            raise Crash(me.name)
        self.note(label)
        self._push(me, self.now_s + takes_s)
        self._hand_on(me)
        if me.is_killed:
            raise Crash(me.name)

    def block(self, label: str, *, timeout_s: float) -> bool:
        """Pause until woken; False when nobody did in time."""
        me = self.current
        me.is_blocked = True
        self.pause(label, takes_s=timeout_s)
        is_woken, me.is_blocked = not me.is_blocked, False
        return is_woken

    def outside(self, call: Callable[[], None]) -> None:
        """Make a call that waits for what another task will do, and give the baton away meanwhile; see ``fetch``."""
        me = self.current
        me.turn += 1
        me.is_outside = True
        me.back.clear()
        self._pass_to(self._next(), me)
        try:
            call()
        finally:
            me.back.set()
            self._wait(me.baton)

    def fetch(self, task: Task) -> None:
        """The call of a task outside can end now: wait until it did, and let it go on in its turn."""
        if not task.back.wait(STUCK_S):
            raise Stuck(f"{task.name} did not come back")
        task.is_outside = False
        self._push(task, self.now_s)

    def wake(self, task: Task) -> None:
        """End a ``block``."""
        if task.is_blocked:
            task.is_blocked = False
            self._push(task, self.now_s)

    def kill(self, task: Task) -> None:
        """The task's next step is its last."""
        task.is_killed = True
        if not task.is_outside:
            self._push(task, self.now_s)

    def note(self, label: str) -> None:
        """One more step of the schedule."""
        self.steps += 1
        self.fingerprint = crc32(f"{self.now_s:.6f} {self.current.name} {label}".encode(), self.fingerprint)
        self.tail.append((self.now_s, self.current.name, label))

    def _push(self, task: Task, at: float) -> None:
        if task.is_done:
            return
        task.turn += 1
        heappush(self._queue, (at, self.random.random(), task.turn, task))

    def _hand_on(self, me: Task) -> None:
        following = self._next()
        if following is me:
            return
        self.counts["switch"] += 1
        if me.is_in_transaction:
            self.counts["switch inside a transaction"] += 1
        self._pass_to(following, me)
        self._wait(me.baton)

    def _pass_to(self, following: Task, me: Task) -> None:
        if following is not me:
            self.current = following
            following.baton.release()

    def _wait(self, baton: threading.Lock) -> None:
        if not baton.acquire(timeout=STUCK_S):
            raise Stuck("nobody handed the baton on")

    def _next(self) -> Task:
        while True:
            at, _, turn, item = heappop(self._queue)
            self.now_s = max(self.now_s, at)
            if isinstance(item, Task):
                if turn == item.turn and not item.is_done:
                    return item
                continue
            try:
                item()
            except Exception as failure:  # noqa: BLE001 - told by main, in whose test it happened
                self._fail(failure)

    def _fail(self, failure: BaseException) -> None:
        self.failures.append(failure)
        self._push(self.main, self.now_s)

    def _body(self, task: Task) -> None:
        task.baton.acquire()
        try:
            task.run()
        except Crash:
            pass
        except BaseException as failure:  # noqa: BLE001 - told by main, in whose test it happened
            self._fail(failure)
        task.is_done = True
        self._pass_to(self._next(), task)
