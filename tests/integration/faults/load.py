"""A producer through the real writer that counts: what was acknowledged, and what was unknown and sent again."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from random import Random
from types import TracebackType
from typing import Any, Self
from uuid import UUID

import httpx
import orjson

from chronofact.client import Ids, Source
from tests.contract.writing import JSON

BATCH = 20
PAUSE_S = 0.05
GENERATION = 1_500
AGAIN_S = 0.1
SETTLE_S = 90
TIMEOUT_S = 15


def stream(facts: int, seed: int) -> Iterator[dict[str, Any]]:
    """Commands without end, no two alike: assertions, and ends, corrections and revocations of what was asserted."""
    random, ids = Random(seed), Ids()
    versions: dict[str, list[str]] = {}
    number = 0
    while True:
        number += 1
        # others after a while: a fact of hundreds of rivals is another test's matter
        subject, key = f"load-{seed}-{number // GENERATION}-{random.randrange(facts)}", "package_manager"
        known = versions.setdefault(subject, [])
        dice = random.random()
        day = f"{2000 + random.randrange(25)}-{random.randrange(1, 13):02}-{random.randrange(1, 29):02}T00:00:00Z"
        common = {"subject": subject, "key": key, "reason": f"told {number}"}
        if len(known) < 2 or dice < 0.8:
            evidence = f"{seed}:{number}"
            value, source = random.choice(("npm", "pnpm", "yarn", "bun")), {"id": evidence, "text": evidence}
            command = {"type": "assert", "subject": subject, "key": key, "value": value, "valid_from": day}
            known.append(
                str(ids.version_id(subject, key, value, source=Source(evidence, text=evidence), valid_from=day))
            )
            yield command | {"source": source, "succession": random.choice(("explicit", "automatic"))}
        elif dice < 0.87:
            yield common | {"type": "end", "version_id": random.choice(known), "effective_at": day}
        elif dice < 0.94:
            old, new = random.sample(known, 2)
            yield common | {"type": "supersede", "old_version_id": old, "new_version_id": new}
        else:
            yield common | {"type": "revoke", "version_id": known.pop(random.randrange(len(known)))}


class Load:
    """Sends until the block ends; what is not acknowledged is sent again until it is."""

    def __init__(self, port: Callable[[], int], *, seed: int = 1, facts: int = 120, pause_s: float = PAUSE_S) -> None:
        self._port = port
        self._commands = stream(facts, seed)
        self._pause_s = pause_s
        self._stopping = threading.Event()
        self._abandoned = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._failure: BaseException | None = None
        self.acknowledged: set[bytes] = set()
        self.sent_again = 0
        self.met: Counter[str] = Counter()
        """Every answer, by its code: `acknowledged`, a refusal's code, or the exception where none came."""

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stopping.set()
        if kind is None:
            self.finish()

    def finish(self) -> None:
        """Ends once the batch under way is acknowledged too, so that nothing is left unknown."""
        self._stopping.set()
        self._thread.join(SETTLE_S)
        assert not self._thread.is_alive(), self.met
        if self._failure is not None:
            raise self._failure

    def abandon(self) -> None:
        """Ends without an answer to the batch under way, which a refusal as a whole did not take."""
        self._abandoned.set()
        self.finish()

    def await_more(self, count: int, *, timeout_s: float = 60) -> None:
        """Until so many further events are acknowledged."""
        wanted, deadline = len(self.acknowledged) + count, time.monotonic() + timeout_s
        while len(self.acknowledged) < wanted:
            assert time.monotonic() < deadline, self.met
            assert self._thread.is_alive(), self._failure
            time.sleep(0.01)

    def await_answer(self, *codes: str, timeout_s: float = 60) -> None:
        """Until one of these was met."""
        deadline = time.monotonic() + timeout_s
        while not any(self.met[code] for code in codes):
            assert time.monotonic() < deadline, self.met
            time.sleep(0.02)

    def _run(self) -> None:
        try:
            with httpx.Client(timeout=TIMEOUT_S) as http:
                while not self._stopping.is_set():
                    self._send(http, [next(self._commands) for _ in range(BATCH)])
                    time.sleep(self._pause_s)
        except BaseException as failure:
            self._failure = failure
            raise

    def _send(self, http: httpx.Client, commands: list[dict[str, Any]]) -> None:
        body, deadline = orjson.dumps(commands), None
        while True:
            met = self._ask(http, body)
            self.met[met] += 1
            if met == "acknowledged" or self._abandoned.is_set():
                return
            self.sent_again += 1
            if self._stopping.is_set():
                deadline = deadline or time.monotonic() + SETTLE_S
                assert time.monotonic() < deadline, f"still unknown: {self.met}"
            time.sleep(AGAIN_S)

    def _ask(self, http: httpx.Client, body: bytes) -> str:
        try:
            answer = http.post(f"http://127.0.0.1:{self._port()}/v1/events", content=body, headers=JSON)
        except httpx.TransportError as error:
            return type(error).__name__
        told = answer.json()
        if answer.status_code != 200:
            assert answer.status_code == 503, told
            return str(told["error"]["code"])
        assert {one["status"] for one in told["results"]} == {"accepted"}, told
        self.acknowledged |= {UUID(one["event_id"]).bytes for one in told["results"]}
        return "acknowledged"
