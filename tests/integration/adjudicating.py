"""Adjudicators in processes of their own over a real log, projection and writer; memories are said without the models."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final, NamedTuple, Self
from uuid import UUID, uuid4

import httpx
import orjson
import psycopg

from chronofact.contracts.topics import facts_topic, texts_topic
from chronofact.domain.events import Cardinality
from chronofact.domain.identity import DEVELOPMENT_TENANT
from chronofact.kafka.admin import Admin
from chronofact.text.frames import Frame, Holds, Temporality
from chronofact.text.pairs import index_keys
from chronofact.text.told import Given, Told, with_told
from tests.integration.deriving import derived
from tests.integration.projecting import ProjectorProcess, ServiceProcess, append
from tests.integration.saying import Fact, Said
from tests.integration.writing import WriterProcess

MARCH, JUNE = "2026-03-01T00:00:00Z", "2026-06-01T00:00:00Z"
WAIT_S: Final = 40
LANGUAGE: Final = "programming language"
PYTHON = Frame("user", "prefer", "python", LANGUAGE, cardinality=Holds.ONE)
GO = Frame("user", "switch", "go", LANGUAGE, temporality=Temporality.CHANGE, cues=("change",))


class AdjudicatorProcess(ServiceProcess):
    """`python -m chronofact.adjudicator`."""

    service = "adjudicator"

    def get(self, path: str) -> httpx.Response:
        return httpx.get(f"http://127.0.0.1:{self.port}{path}", verify=False)

    def pending(self) -> dict[str, Any]:
        found: dict[str, Any] = self.get("/v1/pending").json()
        return found

    def metric(self, line: str) -> float:
        """A line of /metrics, by what stands before its number."""
        for told in self.get("/metrics").text.splitlines():
            if told.startswith(f"{line} "):
                return float(told.rpartition(" ")[2])
        return 0.0


class Check(NamedTuple):
    """A ``RelationsChecked`` as the projection has it."""

    pairs: int
    decided: int
    pending: int
    reason: str
    llm_call_made: bool


class Relation(NamedTuple):
    relation: str
    newer: bytes | None
    decided_by: str
    reason: str
    model: str | None


class Judged:
    """The log, its projection and its writer; each test says memories of subjects of its own."""

    def __init__(self, kafka: str, topic: str, database: str, writer: WriterProcess) -> None:
        self.kafka, self.topic, self.database, self.writer = kafka, topic, database, writer
        self.texts = ""

    def begin(self) -> None:
        """A topic of texts of the test's own."""
        self.texts = f"test.texts.{uuid4().hex}"
        Admin(self.kafka).create([texts_topic(self.texts)])

    @contextmanager
    def adjudicator(self, name: str = "adjudicator-1", **settings: object) -> Iterator[AdjudicatorProcess]:
        with AdjudicatorProcess(
            self.kafka,
            self.topic,
            self.database,
            **{
                "texts_topic": self.texts,
                "adjudicator_name": name,
                "adjudicator_writer": str(self.writer.http.base_url).rstrip("/"),
                "sweep_s": 3_600,
                "pending_retry_s": 3_600,
            }
            | settings,
        ) as process:
            yield process

    def say(self, *said: Said, is_told: bool = True) -> None:
        """Puts memories into the log, and tells of them."""
        append(self.kafka, self.topic, said)
        if is_told:
            self.tell(*said)

    def tell(self, *said: Said) -> None:
        append(self.kafka, self.texts, [one._replace(value=notice(one)) for one in said])

    def decide(self, subject: str, one: Said, other: Said) -> None:
        """A person says that two memories have nothing to do with each other."""
        sides = zip(("left", "right"), (one, other), strict=True)
        declared = self.writer.send(
            {
                "type": "declare_relation",
                "subject": subject,
                "key": "memory/preference",
                **{f"{side}_version_id": str(UUID(bytes=said.version_id or b"")) for side, said in sides},
                "relation": "unrelated",
                "decided_at": JUNE,
                "decided_by": "person",
                "reason": "asked them",
            }
        )
        assert declared.status_code == 201, declared.text

    def checks(self, said: Said) -> list[Check]:
        """In the order of the log."""
        return [
            Check(*line)
            for line in self._lines(
                "select pairs, decided, pending, reason, llm_call_made from p1.checked"
                " where version_id = %s order by event_seq",
                UUID(bytes=said.version_id or b""),
            )
        ]

    def relations(self, one: Said, other: Said) -> list[Relation]:
        """All that were declared of a pair."""
        left, right = sorted((one.version_id or b"", other.version_id or b""))
        return [
            Relation(kind, None if newer is None else newer.bytes, by, reason, model)
            for kind, newer, by, reason, model in self._lines(
                "select relation, newer_version_id, decided_by, reason, model from p1.relation"
                " where left_version_id = %s and right_version_id = %s order by event_seq",
                UUID(bytes=left),
                UUID(bytes=right),
            )
        ]

    def ends(self, said: Said) -> list[tuple[str, str]]:
        """Of a version of a fact: since when, and why."""
        return self._lines(
            "select e.canonical_payload::json ->> 'effective_at', e.canonical_payload::json ->> 'reason'"
            " from chronofact.memory_fact_event as e where e.event_type = 'FactEnded'"
            " and e.canonical_payload::json ->> 'version_id' = %s order by e.event_seq",
            str(UUID(bytes=said.version_id or b"")),
        )

    def lifecycle(self, said: Said) -> str:
        ((found,),) = self._lines(
            "select lifecycle from chronofact.memory_fact_version where id = %s", UUID(bytes=said.version_id or b"")
        )
        return str(found)

    def answers(self) -> list[tuple[Any, ...]]:
        """What is kept of the model's calls."""
        return self._lines(
            "select version_id, outcome, model, tokens_read, raw from chronofact.model_answer order by number"
        )

    def calls_today(self) -> int:
        """That count for the day's budget."""
        ((calls,),) = self._lines("select coalesce(sum(calls), 0)::bigint from chronofact.model_day")
        return int(calls)

    def await_checks(self, said: Said, number: int = 1) -> list[Check]:
        """Until the log has so many checks of a memory."""
        eventually(lambda: len(self.checks(said)) >= number)
        return self.checks(said)

    def _lines(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        with psycopg.connect(self.database, autocommit=True) as connection:
            return connection.execute(statement, values).fetchall()


@contextmanager
def judged_on(kafka: str, topic: str, database: str) -> Iterator[Judged]:
    """Its writer and projector run while the block does."""
    Admin(kafka).create([facts_topic(topic)])
    with ExitStack() as stack:
        stack.enter_context(ProjectorProcess(kafka, topic, database))
        writer = stack.enter_context(WriterProcess(kafka, topic, texts="off"))
        writer.await_ready()
        yield Judged(kafka, topic, database, writer)


def remembered(
    subject: str, text: str, *frames: Frame, since: str | None = None, source: str = "chat", gave: Sequence[Given] = ()
) -> Said:
    """A text memory with these frames, and the facts that its sentence gave."""
    stored = derived(index_keys(frames), frames=with_told([one.to_json() for one in frames], Told(frames, tuple(gave))))
    return Fact(subject, "memory/preference").asserts(
        text,
        since,
        source=source,
        cardinality=Cardinality.MANY,
        derived=stored,
        valid_from_known=since is not None,
    )


def notice(said: Said) -> bytes:
    """As the writer tells of a memory."""
    return orjson.dumps(
        {
            "fact_id": str(UUID(bytes=said.key)),
            "position": "",
            "tenant_id": str(DEVELOPMENT_TENANT),
            "version_id": str(UUID(bytes=said.version_id or b"")),
        }
    )


def eventually(holds: Callable[[], bool], *, timeout_s: float = WAIT_S) -> None:
    until = time.monotonic() + timeout_s
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.05)


class Held:
    """A writer in front of the writer: it passes requests on, but holds those that say a memory was looked at."""

    def __init__(self, writer: str) -> None:
        self.held = threading.Event()
        self._let_go = threading.Event()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_args: object) -> None:
                """Nothing is logged."""

            def do_GET(self) -> None:
                self._pass_on("GET", b"")

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if b"check_relations" in body:
                    outer.held.set()
                    outer._let_go.wait(WAIT_S)
                    self.close_connection = True
                    return
                self._pass_on("POST", body)

            def _pass_on(self, method: str, body: bytes) -> None:
                headers = {"content-type": "application/json"}
                told = httpx.request(method, f"{writer}{self.path}", content=body, headers=headers, verify=False)
                self.send_response(told.status_code)
                self.send_header("Content-Length", str(len(told.content)))
                self.end_headers()
                self.wfile.write(told.content)

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}"
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.02})

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_about: object) -> None:
        self._let_go.set()
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()
