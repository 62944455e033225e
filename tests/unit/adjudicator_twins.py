"""In-memory twins of what the adjudicator needs: projections, claims, a writer that a log keeps, a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from chronofact.adjudicator.judging import Judge
from chronofact.adjudicator.passing import Passing
from chronofact.adjudicator.ports import Ends, Still
from chronofact.adjudicator.weighing import Weighed
from chronofact.domain.events import Verdict
from chronofact.postgres.claims import Claim
from chronofact.postgres.judging_store import Place, Released, Standing, Waiting
from chronofact.postgres.looking import FactNames, Look, Reach, Ref
from chronofact.postgres.memories import Candidate, Check, Counting, StoredMemory, Unchecked, Window
from chronofact.runtime.failures import Transient
from chronofact.text.answers import PairVerdict
from chronofact.text.frames import Frame, Holds, Temporality
from chronofact.text.gate import Asked, Undecided
from chronofact.text.pairs import Thresholds
from chronofact.text.prompt import Told

TENANT, FACT = bytes([1]) * 16, bytes([2]) * 16
LANGUAGE = "programming language"
PYTHON = Frame("user", "prefer", "python", LANGUAGE, cardinality=Holds.ONE)
GO = Frame("user", "switch", "go", LANGUAGE, temporality=Temporality.CHANGE, cues=("change",))
MARCH, JUNE = 1_772_323_200_000_000, 1_780_272_000_000_000


def version(number: int) -> bytes:
    return bytes([number]) * 16


def stored(number: int, text: str, *frames: Frame, since: int | None = None, lifecycle: str = "ACTIVE") -> StoredMemory:
    listed = [one.to_json() for one in frames]
    return StoredMemory(
        7, version(number), number, 1_000 + number, text, since, None, lifecycle, "x", listed, [], None, None
    )


def candidate(
    number: int,
    text: str,
    *frames: Frame,
    since: int | None = None,
    cosine: float | None = None,
    lifecycle: str = "ACTIVE",
) -> Candidate:
    listed = [one.to_json() for one in frames]
    return Candidate(version(number), number, text, since, None, listed, cosine, ("keys",), lifecycle, None)


@dataclass
class Store:
    """One memory's look, changed by what the writer is told, as a projection would be."""

    look_now: Look | None
    unchecked_pages: list[list[Unchecked]] = field(default_factory=list)
    pending_pages: list[list[Waiting]] = field(default_factory=list)
    routed: dict[bytes, str] = field(default_factory=dict)
    at: int = 10
    ends_now: list[tuple[bytes, int, int]] = field(default_factory=list)
    recent: list[list[Unchecked]] = field(default_factory=list)
    windows: list[list[Window]] = field(default_factory=list)
    released_now: list[Released] = field(default_factory=list)

    async def routes(self) -> list[str]:
        return ["p1"]

    async def route(self, tenant_id: bytes) -> str:
        return self.routed.get(tenant_id, "p1")

    async def standing(self, asked: Sequence[Place]) -> list[Standing | None]:
        return [Standing(await self.route(one.tenant_id), self.at) for one in asked]

    async def look(self, projection: str, wanted: Ref, reach: Reach) -> Look | None:
        if self.look_now is not None:
            reach.keys(self.look_now.memory)
        return self.look_now

    async def unchecked(
        self, projection: str, *, older_than: int, limit: int, after: tuple[int, int]
    ) -> list[Unchecked]:
        return self.unchecked_pages.pop(0) if self.unchecked_pages else []

    async def unchecked_within(self, projection: str, windows: Sequence[Window]) -> list[Unchecked]:
        self.windows.append(list(windows))
        return self.recent.pop(0) if self.recent else []

    async def ends(self, projection: str) -> list[tuple[bytes, int, int]]:
        return self.ends_now

    async def released(self, projection: str, *, after: int, limit: int) -> list[Released]:
        return [one for one in reversed(self.released_now) if one.number > after][:limit]

    async def pending(self, projection: str, *, limit: int, after: tuple[int, int]) -> list[Waiting]:
        return self.pending_pages.pop(0) if self.pending_pages else []


@dataclass
class Claims:
    mine: set[Claim] = field(default_factory=set)
    refuses: int = 0
    lost: bool = False

    async def take(self, version_id: bytes) -> Claim | None:
        if self.refuses:
            self.refuses -= 1
            return None
        self.lost = False
        self.mine.add(claim := Claim(version_id[0]))
        return claim

    async def check(self, claim: Claim) -> None:
        assert claim in self.mine
        if self.lost:
            raise Transient("claim_lost", "another's")

    async def give_back(self, claim: Claim) -> None:
        self.mine.discard(claim)


@dataclass
class Log:
    """What the writer was told; and what a projection then shows of it."""

    store: Store
    said: list[Mapping[str, Any]] = field(default_factory=list)
    fails: list[Exception] = field(default_factory=list)
    shows: bool = True

    async def send(
        self, tenant_id: bytes, names: FactNames, commands: Sequence[Mapping[str, Any]], *, still: Still | None = None
    ) -> None:
        if self.fails:
            raise self.fails.pop(0)
        for one in commands:
            self.said.append(one)
            # ends are of other facts
            if self.shows and one["type"] != "end":
                self._project(one, len(self.said))

    def _project(self, said: Mapping[str, Any], event_seq: int) -> None:
        look = self.store.look_now
        assert look is not None
        if said["type"] == "check_relations":
            told = (said["pairs"], said["decided"], said["pending"], said["reason"], said["llm_call_made"])
            look = look._replace(check=Check(look.memory.version_id, b"", event_seq, 0, *told))
        else:
            left, right = (UUID(said[f"{side}_version_id"]).bytes for side in ("left", "right"))
            lower, higher = sorted((left, right))
            newer = said.get("newer_version_id")
            declared = Counting(
                left=lower,
                right=higher,
                relation=said["relation"],
                newer=newer and UUID(newer).bytes,
                decided_at=0,
                decided_by=said["decided_by"],
                reason=said["reason"],
                llm_call_made=said["llm_call_made"],
                model=said["model"],
                event_id=b"",
                event_seq=event_seq,
            )
            look = look._replace(declared=[*look.declared, declared])
        self.store.look_now = look

    @property
    def checks(self) -> list[Mapping[str, Any]]:
        return [one for one in self.said if one["type"] == "check_relations"]

    @property
    def ends(self) -> list[Mapping[str, Any]]:
        return [one for one in self.said if one["type"] == "end"]

    @property
    def relations(self) -> list[Mapping[str, Any]]:
        return [one for one in self.said if one["type"] == "declare_relation"]


@dataclass
class Model:
    """Answers by a relation for all, or not at all."""

    relation: Verdict = Verdict.UNRELATED
    why_not: str | None = None
    asked: list[list[bytes]] = field(default_factory=list)
    opens_in_s: float = 0.0
    answers_max: int = 100

    @property
    def silent_why(self) -> str | None:
        return self.why_not

    async def ask(self, new: Told, others: Sequence[Told]) -> Asked:
        if not others:
            return Asked()
        self.asked.append([one.version_id for one in others])
        if self.why_not is not None:
            return Asked(undecided=tuple(Undecided(one.version_id, self.why_not) for one in others))
        newer = new.version_id if self.relation is Verdict.SUPERSEDES else None
        answered, left = others[: self.answers_max], others[self.answers_max :]
        return Asked(
            tuple(PairVerdict(one.version_id, self.relation, newer, "same_meaning") for one in answered),
            tuple(Undecided(one.version_id, "more_than_a_call") for one in left),
            1,
            "m 1",
        )


@dataclass
class Seen:
    weighs: list[Weighed] = field(default_factory=list)
    runs: list[tuple[Weighed, Asked]] = field(default_factory=list)
    ended: int = 0

    def weighed(self, weighed: Weighed, seconds: float) -> None:
        self.weighs.append(weighed)

    def ran(self, weighed: Weighed, asked: Asked, seconds: float) -> None:
        self.runs.append((weighed, asked))

    def ended_facts(self, number: int) -> None:
        self.ended += number


@dataclass
class World:
    judge: Judge
    store: Store
    log: Log
    claims: Claims
    model: Model | None
    seen: Seen
    ref: Ref


def world_of(memory: StoredMemory, *candidates: Candidate, model: Model | None = None, asked_max: int = 32) -> World:
    look = Look(FactNames("s", "user:self", "memory/x"), memory, None, [], list(candidates))
    store, claims, seen = Store(look), Claims(), Seen()
    log = Log(store)

    async def ends() -> Ends:
        return Ends(b"t" * 16, {0: 10})

    async def sleep(_seconds: float) -> None:
        return

    judge = Judge(
        store,
        claims,
        Passing(store, ends, monotonic=lambda: 0.0, sleep=sleep),
        log,
        model,
        observer=seen,
        thresholds=Thresholds(),
        asked_max=asked_max,
        now=lambda: 99_000_000,
        monotonic=lambda: 0.0,
        sleep=sleep,
    )
    return World(judge, store, log, claims, model, seen, Ref(TENANT, FACT, memory.version_id))
