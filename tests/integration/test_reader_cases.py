"""Every scenario of semantics.json, over HTTP and by the SQL function: the same answers, as written."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from uuid import UUID

import psycopg

from chronofact.domain.canonical import canonical, digest
from chronofact.domain.events import (
    Cardinality,
    ConflictResolved,
    FactActivated,
    FactEnded,
    FactRevoked,
    FactSuperseded,
    Lifecycle,
    Mode,
    Succession,
    Supersession,
)
from chronofact.domain.identity import version_id_of
from chronofact.domain.interval import parse_instant
from tests.integration.reading import NOW, world_on
from tests.integration.saying import Fact, Said
from tests.property.cases import Case, cases

KEY = "package_manager"
RESOLVE = """
select r.kind, r.reason, r.version_ids::text[], lower(r.valid_during), upper(r.valid_during)
from chronofact.resolve(%s::uuid, %s::timestamptz, %s::timestamptz) as r
"""


class Scenario:
    """One case as a fact of its own; its labels as version ids."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.fact = Fact(case["name"])
        self.ids = {one["version"]: self._id(one) for one in case["events"] if one["type"] == "assert"}

    def _id(self, said: Case) -> bytes:
        return version_id_of(
            self.fact.fact_id,
            value=canonical(said["value"]),
            valid_from=at(said["valid_from"]),
            valid_to=at(said["valid_to"]),
            source_id=said.get("source", "s1"),
            source_hash=digest(said.get("source", "s1").encode()),
        )

    def said(self) -> Iterator[Said]:
        for one in self.case["events"]:
            yield self._said(one, parse_instant(one["recorded_at"]))

    def _said(self, one: Case, then: int) -> Said:
        match one["type"]:
            case "assert":
                return self._asserted(one, then)
            case "activate":
                return self.fact.says(FactActivated(self.ids[one["version"]]), import_time=then)
            case "end":
                ended = FactEnded(self.ids[one["version"]], parse_instant(one["effective_at"]))
                return self.fact.says(ended, import_time=then)
            case "revoke":
                return self.fact.says(FactRevoked(version_id=self.ids[one["version"]]), import_time=then)
            case "supersede":
                mode = Mode(one["mode"]) if one.get("mode") else None
                new, old = self.ids[one["new"]], self.ids[one["old"]]
                return self.fact.says(FactSuperseded(new, old, at(one.get("effective_at")), mode), import_time=then)
            case "resolve_conflict":
                left, right = sorted((self.ids[one["left"]], self.ids[one["right"]]))
                keep = None if one["keep"] is None else self.ids[one["keep"]]
                decided = ConflictResolved(left, right, keep, parse_instant(one["decided_at"]))
                return self.fact.says(decided, import_time=then)
            case kind:
                raise AssertionError(kind)

    def _asserted(self, one: Case, then: int) -> Said:
        supersedes = tuple(
            Supersession(
                self.ids[edge["version"]],
                at(edge.get("effective_at")),
                Mode(edge["mode"]) if edge.get("mode") else None,
            )
            for edge in one.get("supersedes", [])
        )
        said = self.fact.asserts(
            one["value"],
            one["valid_from"],
            one["valid_to"],
            source=one.get("source", "s1"),
            lifecycle=Lifecycle(one.get("lifecycle", "ACTIVE")),
            cardinality=Cardinality(one.get("cardinality", "one")),
            succession=Succession(one.get("succession", "explicit")),
            supersedes=supersedes,
            import_time=then,
        )
        assert said.version_id == self.ids[one["version"]]
        return said

    def version_ids(self, labels: list[str]) -> list[str]:
        return sorted(str(UUID(bytes=self.ids[label])) for label in labels)


def at(text: str | None) -> int | None:
    return None if text is None else parse_instant(text)


def behind(answer: Any) -> list[str]:
    match answer["kind"]:
        case "value":
            assert answer["version_id"] in answer["agreeing"]
            return list(answer["agreeing"])
        case "values":
            return [one["version_id"] for one in answer["values"]]
        case "conflict":
            return [one["version_id"] for one in answer["versions"]]
        case _:
            return []


def differs(scenario: Scenario, wanted: Case, got: Any) -> str | None:
    name, said = scenario.case["name"], (got["kind"], got.get("reason"), behind(got))
    if said != (wanted["kind"], wanted.get("reason"), scenario.version_ids(wanted.get("versions", []))):
        return f"{name} at {wanted['valid_at']} as of {wanted['as_of']}: {said}, not {wanted}"
    if "value" in wanted and got["value"] != wanted["value"]:
        return f"{name}: value {got['value']}"
    return None


async def test_every_scenario_is_answered_as_written(database: str) -> None:
    scenarios = [Scenario(case) for case in cases()]
    asked = [(scenario, wanted) for scenario in scenarios for wanted in scenario.case["answers"]]
    async with world_on(database) as world:
        after = world.tell(*(said for scenario in scenarios for said in scenario.said()), appended_at=NOW)
        queries = [
            {"subject": one.case["name"], "key": KEY, "valid_at": wanted["valid_at"], "as_of": wanted["as_of"]}
            for one, wanted in asked
        ]
        answers = (await world.ask({"queries": queries, "after": after, "wait_ms": 0}))["answers"]
        wrong = [differs(*one, got) for one, got in zip(asked, answers, strict=True)]
        assert [one for one in wrong if one] == []
        assert len(answers) > 100
        for scenario in scenarios:
            edges = (await world.get("/v1/conflicts", subject=scenario.case["name"]))["conflicts"]
            got = {(one["left"]["version_id"], one["right"]["version_id"], one["relation"]) for one in edges}
            assert got == {
                (*scenario.version_ids([left, right]), relation) for left, right, relation in scenario.case["conflicts"]
            }, scenario.case["name"]
    with psycopg.connect(database, options="-c timezone=UTC") as connection:
        for (scenario, wanted), answer in zip(asked, answers, strict=True):
            parameters = UUID(bytes=scenario.fact.fact_id), wanted["valid_at"], wanted["as_of"]
            kind, reason, ids, start, end = connection.execute(RESOLVE, parameters).fetchone() or ()
            assert (kind, reason, ids) == (answer["kind"], answer.get("reason"), behind(answer))
            assert [start and instant(start), end and instant(end)] == answer["valid_during"]


def instant(moment: Any) -> str:
    return str(moment.isoformat()).removesuffix("+00:00") + "Z"
