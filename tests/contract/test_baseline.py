"""A table of keys, values and updated_at as people have it, held against the answers of a projection over real Postgres."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict
from typer.testing import CliRunner

from chronofact.cli.__main__ import app
from chronofact.cli.outcome import ExitCode, Failure
from chronofact.domain.events import Cardinality, FactEnded, FactSuperseded
from chronofact.domain.identity import tenant_id_of
from chronofact.domain.interval import parse_instant
from chronofact.postgres.projections import create_projection
from chronofact.postgres.session import connect
from tests.contract.memory_log import MemoryTopic
from tests.contract.shadowing import BASE, Scoped, add_projection, project, spoil
from tests.integration.fixtures_stack import database_like
from tests.integration.saying import Fact

ACME: Final = tenant_id_of("acme")
SELECT: Final = "SELECT org AS tenant, user_email AS subject, scope, key, value, updated_at FROM memory ORDER BY id"
NFC: Final = "caf\u00e9"
NFD: Final = "cafe\u0301"


class Kept(Scoped):
    """A fact of the tenant acme."""

    def __init__(self, subject: str, key: str, scope: str = "user:self") -> None:
        super().__init__(subject, key, scope, tenant=ACME)


SAME: Final = Kept("ana@acme.test", "package_manager", "repo:acme/web")
NUMBER: Final = Kept("ana@acme.test", "tab_width")
OBJECT: Final = Kept("ana@acme.test", "theme")
OLDER: Final = Kept("bob@acme.test", "editor")
OTHER: Final = Kept("bob@acme.test", "shell")
RIVALS: Final = Kept("cid@acme.test", "city")
MOVED_TO: Final = Kept("cid@acme.test", "license", "repo:acme/api")
ENDED: Final = Kept("dan@acme.test", "project")
OURS: Final = Kept("dan@acme.test", "coffee")
LIKES: Final = Kept("eve@acme.test", "likes")
SOME: Final = Kept("eve@acme.test", "drinks")

TABLE: Final = """
create table memory (
    id bigint generated always as identity primary key, org text, user_email text, scope text, key text,
    value jsonb, updated_at timestamptz not null default now()
)
"""
LINES: Final[list[tuple[Any, ...]]] = [
    ("acme", "ana@acme.test", "repo:Acme/Web.git/", "package_manager", "pnpm"),  # as the writer spells it: equal
    ("acme", "ana@acme.test", None, "tab_width", 4.0),
    ("acme", "ana@acme.test", "user:self", "theme", {"b": [1, None], "a": NFC}),
    ("acme", "bob@acme.test", "user:self", "editor", "vim"),  # superseded since
    ("acme", "bob@acme.test", "user:self", "shell", "fish"),  # nobody ever told us
    ("acme", "cid@acme.test", "user:self", "city", "Rome"),  # we know of two
    ("acme", "cid@acme.test", "repo:acme/web", "license", "MIT"),  # at another scope of ours
    ("acme", "dan@acme.test", "user:self", "project", "apollo"),  # has ended
    ("acme", "dan@acme.test", "user:self", "hobby", "chess"),  # not imported
    ("acme", "eve@acme.test", "user:self", "likes", ["water", "tea"]),  # all of several
    ("acme", "eve@acme.test", "user:self", "drinks", "tea"),  # one of several
]
BAD: Final[list[tuple[tuple[Any, ...], str, str]]] = [
    (("acme", "ana@acme.test", "repo:acme/web", "package_manager", "npm"), "key", "fact_named_twice"),
    (("acme", "ana@acme.test", "user:self", "Package Manager", "npm"), "key", "key_malformed"),
    (("acme", "ana@acme.test", "planet:mars", "x", 1), "scope", "scope_kind_unknown"),
    (("acme", None, "user:self", "x", 1), "subject", "field_missing"),
    (("", "ana", "user:self", "x", 1), "tenant", "field_missing"),
    (("acme", "ana@acme.test", "user:self", "x", None), "value", "field_missing"),
    (("acme", "ana@acme.test", "user:self", "y", "z" * 70_000), "value", "value_too_large"),
]


@pytest.fixture(scope="module")
def filled(postgres: str, database_template: str) -> Iterator[str]:
    """A projection, and the table beside it in the same database; its name."""
    start = "2026-01-01T00:00:00Z"
    vim, emacs = OLDER.asserts("vim", start), OLDER.asserts("emacs", "2026-02-01T00:00:00Z", source="later")
    apollo = ENDED.asserts("apollo", start)
    many = Cardinality.MANY
    said = [
        SAME.asserts("pnpm"),
        NUMBER.asserts(4),
        OBJECT.asserts({"a": NFC, "b": [1, None]}),
        vim,
        emacs,
        OLDER.says(FactSuperseded(emacs.version_id or b"", vim.version_id or b"", None, None, "changed")),
        OTHER.asserts("zsh"),
        RIVALS.asserts("Rome"),
        RIVALS.asserts("Oslo"),
        MOVED_TO.asserts("MIT"),
        apollo,
        ENDED.says(FactEnded(apollo.version_id or b"", parse_instant("2026-03-01T00:00:00Z"), "done")),
        OURS.asserts("black"),
        *[LIKES.asserts(one, cardinality=many) for one in ("tea", "water")],
        *[SOME.asserts(one, cardinality=many) for one in ("tea", "wine")],
        Fact("of another tenant").asserts("x"),
    ]
    with database_like(postgres, database_template) as address:
        topic = MemoryTopic()
        topic.append(said, appended_at=BASE)
        project(address, topic)
        with psycopg.connect(address) as connection:
            connection.execute(TABLE)
            add(connection, LINES)
        yield str(conninfo_to_dict(address)["dbname"])


@pytest.fixture
def address(postgres: str, filled: str) -> Iterator[str]:
    with database_like(postgres, filled) as copy:
        yield copy


def add(connection: psycopg.Connection[Any], lines: list[tuple[Any, ...]]) -> None:
    cursor = connection.cursor()
    cursor.executemany(
        "insert into memory (org, user_email, scope, key, value) values (%s, %s, %s, %s, %s::jsonb)",
        [(*one[:4], None if one[4] is None else json.dumps(one[4])) for one in lines],
    )


def report(address: str, *said: str, expect: int | None = None) -> dict[str, Any]:
    ran = CliRunner().invoke(
        app, ["shadow", "report", "--json", *said], env={"CHRONOFACT_POSTGRES": address}, catch_exceptions=True
    )
    if isinstance(ran.exception, Failure):
        raise ran.exception
    assert expect is None or ran.exit_code == expect, (ran.output, ran.exception)
    found: dict[str, Any] = json.loads(ran.stdout.splitlines()[-1])
    return found


def by_key(found: dict[str, Any]) -> dict[tuple[str, str], tuple[str, str]]:
    return {
        (one["fact"]["subject"].partition("@")[0] + " " + one["fact"]["key"], one["fact"]["scope"]): (
            one["class"],
            one["reason"],
        )
        for one in found["samples"]
    }


EXPECTED: Final = {
    ("bob editor", "user:self"): ("correcting", "held_before"),
    ("bob shell", "user:self"): ("correcting", "value_never_recorded"),
    ("cid city", "user:self"): ("discovered_conflict", "conflict"),
    ("cid license", "repo:acme/web"): ("scope_change", "moved"),
    ("cid license", "repo:acme/api"): ("scope_change", "moved"),
    ("dan project", "user:self"): ("correcting", "ended"),
    ("dan hobby", "user:self"): ("unknown", "never_recorded"),
    ("dan coffee", "user:self"): ("correcting", "only_ours"),
    ("eve drinks", "user:self"): ("correcting", "one_of_several"),
}


def test_every_class_by_a_table_as_people_have_it(address: str) -> None:
    found = report(address, "--baseline", SELECT, "--samples", "50", expect=1)
    assert by_key(found) == EXPECTED
    assert (found["lines"], found["bad"], found["equal"], found["both"]) == (11, 0, 4, 8)
    assert (found["only_baseline"], found["only_projection"]) == (3, 2)
    assert (found["differences"], found["unknown"]) == (9, 1)
    assert found["columns_ignored"] == ["updated_at"]
    assert found["tenants_not_in_baseline"] == 1
    assert found["classes"]["correcting"] == {
        "facts": 5,
        "reasons": {"held_before": 1, "value_never_recorded": 1, "ended": 1, "only_ours": 1, "one_of_several": 1},
    }
    assert [one["tenant"] for one in found["tenants"]] == [str(ACME)]
    said = {one["fact"]["key"]: one for one in found["samples"]}
    assert said["editor"]["old"] == {"kind": "value", "value": "vim", "line": 4}
    assert (said["editor"]["new"]["value"], said["editor"]["valid_during"]) == ("emacs", ["2026-02-01T00:00:00Z", None])
    assert said["coffee"]["old"] == {"kind": "not_there"}
    assert said["hobby"]["new"] == {"kind": "not_there"}
    assert {one["value"] for one in said["city"]["new"]["versions"]} == {"Rome", "Oslo"}


def test_an_answer_of_ours_that_the_check_disagrees_with_is_never_explained(address: str) -> None:
    wrong = "update {p}.timeline set kind = 0, reason = 2, versions = '{{}}', winner = null, answer_key = null where fact_no = {no} and kind > 0"
    for fact in (OTHER, RIVALS, MOVED_TO):
        spoil(address, "p1", wrong, fact)
    found = report(address, "--baseline", SELECT, "--samples", "50", expect=1)
    sorts = by_key(found)
    for key in ("bob shell", "cid city"):
        assert sorts[key, "user:self"][0] == "unknown"
        assert sorts[key, "user:self"][1].startswith("check_disagrees ")
    assert sorts["cid license", "repo:acme/web"] == ("unknown", "never_recorded")  # what is wrong explains nothing


def test_the_answers_of_another_instant(address: str) -> None:
    found = report(address, "--baseline", SELECT, "--samples", "50", "--valid-at", "2026-01-15")
    sorts = by_key(found)
    assert ("bob editor", "user:self") not in sorts
    assert ("dan project", "user:self") not in sorts
    assert found["valid_at"] == "2026-01-15T00:00:00Z"


def test_nothing_left_to_explain_ends_well(address: str) -> None:
    found = report(address, "--baseline", f"select * from ({SELECT}) as m where m.key <> 'hobby'", expect=0)
    assert found["unknown"] == 0


def test_bad_lines_are_named_by_number_and_why(address: str) -> None:
    with psycopg.connect(address) as connection:
        add(connection, [line for line, _, _ in BAD])
    found = report(address, "--baseline", SELECT, "--samples", "50", expect=1)
    assert by_key(found) == EXPECTED
    told = {one["line"]: (one["field"], one["code"]) for one in found["bad_lines"]}
    assert told == {number: (field, code) for number, (_, field, code) in enumerate(BAD, start=len(LINES) + 1)}
    assert (found["lines"], found["bad"]) == (len(LINES) + len(BAD), len(BAD))
    assert any("same fact as line 1" in one["message"] for one in found["bad_lines"])


def test_values_kept_as_text_may_be_json_or_a_text(address: str) -> None:
    as_text = (
        "select org as tenant, user_email as subject, scope, key,"
        " case when key in ('package_manager') then value #>> '{}' else value::text end as value from memory"
    )
    found = report(address, "--baseline", as_text, "--samples", "50")
    assert by_key(found) == EXPECTED
    assert found["equal"] == 4


@pytest.mark.parametrize(
    ("value", "is_equal"),
    [("4", True), ("4::numeric", True), ("4.0::float8", True), ("'4'::text", True), ("'4'::json", True), ("true", False),
     ("'\"4\"'::jsonb", False), ("array[4]", False), ("date '2026-01-01'", False), ("'4'::varchar(9)", True)],
)  # fmt: skip
def test_values_of_any_type(address: str, value: str, is_equal: bool) -> None:
    statement = (
        f"select 'acme' as tenant, 'ana@acme.test' as subject, null as scope, 'tab_width' as key, {value} as value"
    )
    assert report(address, "--baseline", statement)["equal"] == is_equal


SPELLED: Final[dict[str, tuple[Any, Any]]] = {
    "object": ({"a": NFC, "b": 1}, {"a": NFD, "b": 1}),
    "partly": (f"{NFC} {NFD}", f"{NFC} {NFC}"),
    "angstrom": ("\u212b", "\u00c5"),
    "composed": ("\u00c5", "\u212b"),
}


def test_by_rule_2_a_value_that_unicode_spells_otherwise_is_equal(database: str) -> None:
    many, start, topic = Cardinality.MANY, "2026-01-01T00:00:00Z", MemoryTopic()
    older, likes = Kept("ana", "older"), Kept("ana", "likes")
    before, after = older.asserts(NFC, start), older.asserts("tea", "2026-02-01T00:00:00Z")
    topic.append(
        [
            *(Kept("ana", key).asserts(ours) for key, (ours, _) in SPELLED.items()),
            *(likes.asserts(one, cardinality=many) for one in (NFC, NFD, "tea")),
            before,
            after,
            older.says(FactSuperseded(after.version_id or b"", before.version_id or b"")),
        ],
        appended_at=BASE,
    )
    project(database, topic)
    add_projection(database, topic, rule=2)
    theirs = {**{key: value for key, (_, value) in SPELLED.items()}, "likes": ["tea", NFD], "older": NFD}
    lines = [
        {"tenant": "acme", "subject": "ana", "scope": None, "key": key, "value": value} for key, value in theirs.items()
    ]
    statement = (
        "select * from json_to_recordset($lines$" + json.dumps(lines, ensure_ascii=False)
        + "$lines$) as t (tenant text, subject text, scope text, key text, value json)"
    )  # fmt: skip
    found = report(database, "--baseline", statement, "--samples", "9", "--projection", "p1")
    assert (found["equal"], by_key(found)["ana older", "user:self"][1]) == (0, "value_never_recorded")
    found = report(database, "--baseline", statement, "--samples", "9", "--projection", "p2")
    assert by_key(found) == {("ana older", "user:self"): ("correcting", "held_before")}
    assert found["equal"] == len(SPELLED) + 1


@pytest.mark.parametrize(
    ("statement", "told"),
    [
        ("select org, user_email as subject, key, value from memory", "lacks tenant"),
        (
            "select org as tenant, user_email as subjects, scope, key, value from memory",
            "lacks subject; did you mean subjects?",
        ),
        ("select 1", "lacks tenant, subject, scope, key, value"),
        (f"{SELECT.replace(', updated_at', ', value')}", "column twice: value"),
        ("delete from memory returning *", "fails"),
        ("select * from nowhere", 'relation "nowhere" does not exist'),
        ("select * frm memory", "syntax error"),
        (f"{SELECT.replace('value', 'value / 0 as value')}", "fails"),
        (
            "select org as tenant, user_email as subject, scope, key, 1 / (id - 5) as value from memory order by id",
            "division by zero",
        ),
        ("with gone as (delete from memory returning *) select * from gone", "fails"),
        ("select 1) as b; delete from memory; select * from (select 2", "cannot insert multiple commands"),
        ("", "empty"),
        ("   ; ", "empty"),
    ],
)
def test_a_statement_that_can_t_be_read_is_told_and_nothing_is_written(address: str, statement: str, told: str) -> None:
    with pytest.raises(Failure) as refused:
        report(address, "--baseline", statement)
    assert told in refused.value.message
    assert refused.value.code is ExitCode.USAGE
    with psycopg.connect(address) as connection:
        assert connection.execute("select count(*) from memory").fetchone() == (len(LINES),)


def test_a_semicolon_a_comment_and_a_percent_sign_do_no_harm(address: str) -> None:
    found = report(address, "--baseline", f"{SELECT.replace(' ORDER', ' where key like chr(37) ORDER')} ; ")
    assert found["lines"] == len(LINES)
    assert report(address, "--baseline", f"{SELECT} -- all of % it")["lines"] == len(LINES)


def test_the_table_may_be_elsewhere_and_of_one_tenant(
    address: str, postgres: str, database_template: str, tmp_path: Path
) -> None:
    with database_like(postgres, database_template) as elsewhere:
        with psycopg.connect(elsewhere) as connection:
            connection.execute(TABLE)
            add(connection, LINES[:4])
        file = tmp_path / "all.ndjson"
        statement = "select user_email as subject, scope, key, value from memory"
        found = report(
            address,
            "--baseline",
            statement,
            "--baseline-url",
            elsewhere,
            "--tenant",
            "acme",
            "--out",
            str(file),
            "--samples",
            "0",
        )
    assert (found["lines"], found["equal"], found["samples"]) == (4, 3, [])
    told = [json.loads(line) for line in file.read_text().splitlines()]
    assert len(told) == found["differences"]


def test_a_tenant_that_is_given_is_that_of_all_lines_and_a_column_of_tenants_not_looked_at(address: str) -> None:
    found = report(address, "--baseline", SELECT.replace("org AS", "'another' AS"), "--tenant", "acme")
    assert (found["equal"], found["columns_ignored"]) == (4, ["tenant", "updated_at"])


def test_options_that_do_not_go_together(address: str) -> None:
    for said in (["--out", "x"], ["--baseline", SELECT, "--now"], ["--class", "unknow"], ["--valid-at", "2026-01-01"]):
        with pytest.raises(Failure) as refused:
            report(address, *said)
        assert refused.value.code is ExitCode.USAGE
    with pytest.raises(Failure, match="no projection p9"):
        report(address, "--baseline", SELECT, "--projection", "p9")
    with pytest.raises(Failure, match=r"^--baseline-url: Postgres can't be reached") as away:
        report(address, "--baseline", SELECT, "--baseline-url", "host=127.0.0.1 port=1 dbname=x")
    assert away.value.code is ExitCode.UNREACHABLE
    with pytest.raises(Failure, match="--baseline-url: the address of Postgres can't be read"):
        report(address, "--baseline", SELECT, "--baseline-url", "nonsense")


def test_a_table_without_a_line(address: str) -> None:
    found = report(address, "--baseline", f"{SELECT.replace(' ORDER', ' where false ORDER')}", expect=0)
    assert (found["lines"], found["differences"], found["tenants_not_in_baseline"]) == (0, 0, 2)


def test_for_a_person(address: str) -> None:
    with psycopg.connect(address) as connection:
        add(connection, [BAD[1][0]])
    ran = CliRunner().invoke(
        app, ["shadow", "report", "--baseline", SELECT], env={"CHRONOFACT_POSTGRES": address, "COLUMNS": "120"}
    )
    assert ran.exit_code == 1
    for told in (
        "12 lines against p1", "line 12: key:", "scope_change", "bad line", "conflict of 2: ", "baseline: value vim, line 4",
        "columns that were not looked at: updated_at", f"unknown: hobby of {'dan@acme.test'} in user:self",
    ):  # fmt: skip
        assert told in ran.stdout, told


def test_a_tenant_s_table_is_held_against_what_that_tenant_reads(address: str) -> None:
    with connect(address, "test", autocommit=True) as connection:
        create_projection(connection, "p2", rule=1, state="ready")
        connection.execute("insert into chronofact.tenant_route (tenant_id, projection) values (%s, 'p2')", (ACME,))
    asked = ("--baseline", SELECT)
    assert report(address, *asked, "--tenant", "acme")["projection"] == "p2"
    assert report(address, *asked, "--tenant", "another")["projection"] == "p1"
    assert report(address, *asked, "--tenant", "acme", "--projection", "p1")["projection"] == "p1"


def test_a_name_that_is_no_tenant_of_ours_is_only_theirs(address: str) -> None:
    found = report(address, "--baseline", SELECT.replace("org AS", f"'{uuid4()}' AS"), expect=1)
    assert (found["unknown"], found["equal"], found["tenants_not_in_baseline"]) == (len(LINES), 0, 2)
