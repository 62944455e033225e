"""Explanations by example: standings with their causes, sentences, and limits."""

from __future__ import annotations

import time
from hashlib import sha256
from itertools import pairwise
from typing import Any

import pytest

from chronofact.domain.errors import Rejected
from chronofact.domain.events import (
    Cardinality,
    ConflictResolved,
    Decider,
    Event,
    EventDropped,
    FactActivated,
    FactAsserted,
    FactEnded,
    FactRevoked,
    FactSuperseded,
    Happening,
    Lifecycle,
    Mode,
    RelationDeclared,
    Succession,
    Supersession,
    Verdict,
)
from chronofact.domain.explain import COVERS_MAX, explain
from chronofact.domain.explained import Explanation, Stands, Why
from chronofact.domain.interval import Interval, parse_instant
from chronofact.domain.sentences import TEXT_CHARS_MAX, Around, Told, sentences, shortened, when

MARCH, JUNE, JULY, AUGUST = (parse_instant(f"2026-{month}-01T00:00:00Z") for month in ("03", "06", "07", "08"))
LEARNED = parse_instant("2026-06-15T10:30:00Z")


def version(value: str) -> bytes:
    return sha256(value.encode()).digest()[:16]


def said(
    value: str, start: int | None = MARCH, end: int | None = None, source: str = "chat", **more: Any
) -> FactAsserted:
    text = f'"{value}"'.encode()
    of = value if source == "chat" else f"{value} {source}"
    return FactAsserted(version(of), text, sha256(text).digest(), Interval(start, end), source, bytes(32), **more)


def pair(a: FactAsserted, b: FactAsserted) -> tuple[bytes, bytes]:
    left, right = sorted((a.version_id, b.version_id))
    return left, right


def decided(a: FactAsserted, b: FactAsserted, keep: bytes | None = None) -> ConflictResolved:
    return ConflictResolved(*pair(a, b), keep, JULY)


def event_id(what: Happening) -> bytes:
    return sha256(repr(what).encode()).digest()[:16]


def logged(*what: Happening) -> list[Event]:
    return [Event(event_id(one), one, LEARNED + 1_000_000 * number) for number, one in enumerate(what)]


def told(*what: Happening, at: int = AUGUST, as_of: int | None = None) -> Explanation:
    return explain(logged(*what), valid_at=at, system_as_of=as_of)


def lines(*what: Happening, at: int = AUGUST, as_of: int | None = None, around: Around | None = None) -> list[str]:
    return sentences(told(*what, at=at, as_of=as_of), around or Around(as_of=as_of))


NPM, PNPM = said("npm"), said("pnpm", JULY)
OVER = FactSuperseded(PNPM.version_id, NPM.version_id, reason="we moved")
PAIR = pair(NPM, PNPM)
KEEP = ConflictResolved(PAIR[0], PAIR[1], NPM.version_id, JULY, "ada", "npm it is")


def test_what_holds_says_since_when_by_whom_and_that_nothing_supersedes_it() -> None:
    assert lines(NPM, around=Around(start=MARCH)) == [
        "npm has held since 1 March 2026: it was said by source chat, and nothing supersedes it."
    ]
    again = said("npm", JUNE, source="wiki")
    assert lines(NPM, again, around=Around(MARCH, AUGUST))[0] == (
        "npm holds from 1 March 2026 until 1 August 2026: it was said by the sources wiki and chat, and nothing supersedes it."
    )
    assert lines(said("npm", None))[0].startswith("npm has always held: ")


def test_a_supersession_is_told_with_its_effect_and_its_reason() -> None:
    assert lines(NPM, PNPM, OVER)[1:] == [
        "npm is superseded by pnpm from 1 July 2026 on, by a supersession (“we moved”)."
    ]
    bounded = said("bun", JULY, AUGUST, supersedes=(Supersession(NPM.version_id),))
    assert lines(NPM, bounded, at=JULY)[1] == (
        "npm is superseded by bun from 1 July 2026 until 1 August 2026, which says so itself."
    )
    automatic = said("bun", JULY, succession=Succession.AUTOMATIC)
    assert lines(NPM, automatic)[1] == (
        "npm is superseded by bun from 1 July 2026 on, which starts later and succeeds it automatically."
    )
    always = said("bun", None, supersedes=(Supersession(NPM.version_id, mode=Mode.OVERRIDE),))
    assert lines(NPM, always)[1] == "npm is superseded by bun, which says so itself."


def test_a_way_over_several_versions_is_told_step_by_step() -> None:
    middle = said("yarn", JUNE, supersedes=(Supersession(NPM.version_id),))
    new = said("bun", JULY, supersedes=(Supersession(middle.version_id),))
    explained = told(NPM, middle, new, FactRevoked(middle.version_id))
    npm = next(one for one in explained.versions if one.version_id == NPM.version_id)
    (cover,) = npm.covered_by
    assert [(hop.new, hop.old) for hop in cover.path] == [
        (new.version_id, middle.version_id),
        (middle.version_id, NPM.version_id),
    ]
    assert cover.is_only_way
    assert lines(NPM, middle, new, FactRevoked(middle.version_id))[1] == (
        "npm is superseded by bun, as bun supersedes yarn and yarn supersedes npm."
    )
    assert "npm is superseded by yarn from 1 June 2026 on, which says so itself, and by 1 other." in lines(
        NPM, middle, new
    )


def test_every_standing_has_its_words() -> None:
    never, ended = FactEnded(PNPM.version_id, JUNE, "mistake"), FactEnded(NPM.version_id, JULY, None)
    assert "npm ended on 1 July 2026, by an end." in lines(NPM, ended)
    assert "npm ended on 1 July 2026, as it said itself." in lines(said("npm", MARCH, JULY))
    late = FactEnded(NPM.version_id, JULY + 1)
    assert "npm ended on 1 July 2026, as it said itself." in lines(said("npm", MARCH, JULY), late)
    assert "pnpm never holds: its end, 1 June 2026, is not after its start, by an end (“mistake”)." in lines(
        NPM, PNPM, never
    )
    assert "pnpm starts later, on 1 July 2026." in lines(NPM, PNPM, at=JUNE)
    assert "npm was taken back (“a joke”)." in lines(NPM, FactRevoked(NPM.version_id, reason="a joke"))
    assert "npm was proposed and never admitted." in lines(said("npm", lifecycle=Lifecycle.PROPOSED))
    assert "npm was proposed, and admitted later." in lines(
        said("npm", lifecycle=Lifecycle.PROPOSED), FactActivated(NPM.version_id)
    )
    settled = lines(NPM, PNPM, KEEP)
    assert "The decision of 1 July 2026 by ada (“npm it is”) keeps npm." in settled
    assert "pnpm does not count: the decision of 1 July 2026 by ada (“npm it is”) judged it wrong." in settled


def test_conflicts_values_and_silence_are_told_as_what_they_are() -> None:
    assert lines(NPM, said("yarn"))[0] == (
        "It is not settled: npm and yarn both claim to hold; no supersession and no decision says which to keep."
    )
    three = lines(NPM, said("yarn"), said("bun"), around=Around(start=MARCH))[0]
    assert three.startswith("It is not settled since 1 March 2026: ")
    assert " all claim to hold" in three
    many: Any = {"cardinality": Cardinality.MANY}
    assert lines(said("tea", **many))[0] == "tea holds: many values may, and nothing supersedes it."
    drinks = [said(f"drink {number}", **many) for number in range(7)]
    assert lines(*drinks)[0].endswith(" and 2 more hold: many values may, and nothing supersedes them.")
    assert lines() == ["Nothing is known to hold: nothing was ever said about it."]
    assert lines(NPM, as_of=JUNE) == [
        "Nothing is known to hold: nothing about it had been learned by then.",
        "1 event was learned after 1 June 2026 and left out, with 1 new version.",
    ]


def test_a_circle_decides_nothing() -> None:
    both = lines(
        said("npm"),
        said("yarn"),
        FactSuperseded(version("npm"), version("yarn")),
        FactSuperseded(version("yarn"), version("npm")),
    )
    assert "npm and yarn supersede one another in a circle, which decides nothing." in both
    assert both[0].startswith("It is not settled: ")


def test_near_duplicates_and_contradictions_of_texts_are_told() -> None:
    many: Any = {"cardinality": Cardinality.MANY}
    tea, chai, mate = said("tea", **many), said("chai", JUNE, **many), said("mate", JULY, **many)
    left, right = pair(tea, chai)
    joined = RelationDeclared(left, right, Verdict.NEAR_DUPLICATE, None, JULY, Decider.MODEL)
    newer = RelationDeclared(*pair(tea, mate), Verdict.SUPERSEDES, mate.version_id, JULY, Decider.PERSON, "asked")
    assert "chai says nearly the same as tea and was merged into it." in lines(tea, chai, joined)
    both = lines(tea, chai, mate, joined, newer)
    assert "chai is superseded by mate from 1 July 2026 on, by the verdict of a person (“asked”)." in both
    against = RelationDeclared(left, right, Verdict.CONTRADICTS, None, JULY, Decider.RULE)
    waiting = [one for one in lines(tea, chai, against) if one.endswith("and waits for a review.")]
    assert len(waiting) == 1


def test_what_does_not_count_is_told_with_why() -> None:
    stranger = FactSuperseded(version("nobody"), NPM.version_id)
    assert lines(NPM, stranger)[1] == (
        "A supersession about npm, learned on 15 June 2026, 10:30:01 UTC, does not count then: it names a version that nobody has asserted."
    )
    back = FactRevoked(event_id=event_id(OVER), reason="no")
    assert any("does not count then: it was taken back (“no”)." in one for one in lines(NPM, PNPM, OVER, back))
    early = FactSuperseded(PNPM.version_id, NPM.version_id, JUNE, Mode.OVERRIDE)
    assert any("it has effect since 1 July 2026 only" in one for one in lines(NPM, PNPM, early, at=JUNE))
    strangers = [FactEnded(version(f"nobody {number}"), JUNE) for number in range(8)]
    assert lines(NPM, *strangers)[-1] == "2 other things said do not count then either."
    assert lines(NPM, *strangers[:7])[-1] == "1 other thing said does not count then either."
    assert lines(NPM, EventDropped("t", 0, 1, "ada", "r")) == lines(NPM)


@pytest.mark.parametrize(
    ("why", "what"),
    [
        (Why.EARLIER_END, (NPM, FactEnded(NPM.version_id, JULY), FactEnded(NPM.version_id, AUGUST))),
        (Why.NO_TIME, (NPM, said("bun", JULY, AUGUST), FactSuperseded(version("bun"), NPM.version_id, AUGUST, Mode.OVERRIDE))),
        (Why.COVERS_NOTHING, (NPM, PNPM, OVER, FactRevoked(PNPM.version_id))),
        (Why.OVERRIDDEN, (NPM, PNPM, KEEP, ConflictResolved(PAIR[0], PAIR[1], None, JUNE))),
        (Why.NO_TIME, (NPM, said("old", JUNE, JULY), said("bun", JULY), decided(said("old"), said("bun")))),
        (Why.OTHER_TIME, (NPM, said("old", JUNE, JULY), decided(said("old"), NPM))),
        (Why.NOT_ACTIVE, (NPM, PNPM, KEEP, FactRevoked(NPM.version_id))),
        (Why.TO_ITSELF, (NPM, ConflictResolved(NPM.version_id, NPM.version_id, None, JULY))),
        (Why.KEEP_NOT_IN_PAIR, (NPM, PNPM, ConflictResolved(PAIR[0], PAIR[1], version("bun"), JULY))),
        (Why.NEWER_NOT_IN_PAIR, (NPM, PNPM, RelationDeclared(PAIR[0], PAIR[1], Verdict.SUPERSEDES, version("bun"), JULY, Decider.RULE))),
        (Why.NOTHING_TO_TAKE_BACK, (NPM, FactRevoked(event_id=bytes(16)))),
        (Why.VERSION_UNKNOWN, (FactActivated(NPM.version_id),)),
    ],
)  # fmt: skip
def test_each_sort_of_what_does_not_count_is_named(why: Why, what: tuple[Happening, ...]) -> None:
    assert why in [one.why for one in told(*what).ignored]


def test_neighbours_along_both_clocks_are_told() -> None:
    before = Told("value", ('"yarn"',), None, None, MARCH)
    after = Told("conflict", ('"npm"', '"bun"'), None, AUGUST, None)
    then = Told("unknown", (), "not_yet_known", None, None)
    assert lines(NPM, at=JUNE, around=Around(MARCH, AUGUST, before, after, then))[1:] == [
        "On 1 June 2026 we would have said that nothing is known to hold, since nothing about it had been learned by then.",
        "Before 1 March 2026, yarn holds.",
        "From 1 August 2026 on, it is not settled between npm and bun.",
    ]
    values = ("values", ('"tea"', '"chai"'), None)
    before, after = Told(*values, JUNE, JULY), Told(*values, AUGUST, parse_instant("2026-09-01T00:00:00Z"))
    assert lines(NPM, around=Around(JULY, AUGUST, before, after))[1:] == [
        "From 1 June 2026 until 1 July 2026, tea and chai hold.",
        "From 1 August 2026 until 1 September 2026, tea and chai hold.",
    ]


def test_a_chain_of_scopes_says_why_nearer_ones_did_not_answer() -> None:
    around = Around(scope="user:self", silent=(("task:t1", "never_recorded"),))
    assert lines(NPM, around=around)[1] == (
        "task:t1 answers nothing (nothing was ever said about it), so user:self was asked."
    )


def test_instants_and_values_are_short() -> None:
    assert when(parse_instant("2026-03-01T08:05:00Z")) == "1 March 2026, 08:05 UTC"
    assert when(parse_instant("2026-03-01T00:00:07Z")) == "1 March 2026, 00:00:07 UTC"
    assert when(parse_instant("0001-01-01T00:00:00.120000Z")) == "1 January 1, 00:00:00.12 UTC"
    assert shortened('{"a":1}') == '{"a":1}'
    assert shortened('"a\\"b"') == '"a\\"b"'
    assert len(shortened(f'"{"x" * 500}"')) == TEXT_CHARS_MAX


def test_versions_of_one_value_are_told_apart_by_their_source() -> None:
    again = said("npm", JULY, source="wiki", supersedes=(Supersession(NPM.version_id),))
    assert lines(NPM, again)[1] == (
        "npm (said by chat since 1 March 2026) is superseded by npm (said by wiki since 1 July 2026) from 1 July 2026 on, which says so itself."
    )


# -- limits


def claims(count: int, **more: Any) -> list[FactAsserted]:
    return [said(f"v{number}", MARCH + number, **more) for number in range(count)]


def test_ten_thousand_versions_are_explained_in_bounded_time() -> None:
    events = logged(*claims(10_000, succession=Succession.AUTOMATIC))
    started = time.process_time()
    explained = explain(events, valid_at=AUGUST, system_as_of=None)
    assert time.process_time() - started < 5
    assert len(explained.versions) == 1_000
    assert explained.counts == {Stands.SUPERSEDED: 9_999, Stands.ELIGIBLE: 1}
    assert explained.versions[0].version_id == version("v9999")
    assert {len(one.covered_by) for one in explained.versions[1:]} == {COVERS_MAX}
    assert all(one.is_cut for one in explained.versions[1:])
    text = sentences(explained, Around())
    assert text[-1] == "9,987 more versions do not hold."
    assert text[1].endswith(", and by others.")


def test_a_circle_of_too_many_versions_is_refused() -> None:
    circle = [said(f"v{n}", MARCH, supersedes=(Supersession(version(f"v{(n + 1) % 501}")),)) for n in range(501)]
    with pytest.raises(Rejected) as refused:
        told(*circle)
    assert refused.value.code == "explanation_too_large"


def test_too_many_edges_to_look_at_are_refused() -> None:
    versions = claims(1_500, succession=Succession.AUTOMATIC)
    apart = [decided(a, b) for a, b in pairwise(versions)]
    with pytest.raises(Rejected) as refused:
        told(*versions, *apart, said("old", JUNE), at=JUNE)
    assert refused.value.code == "explanation_too_large"


def test_versions_beyond_the_list_are_counted_and_those_on_it_named() -> None:
    many = [said(f"v{number}", cardinality=Cardinality.MANY) for number in range(7)]
    few = explain(logged(*many), valid_at=AUGUST, system_as_of=None, versions_max=1)
    assert sentences(few, Around())[0] == "v0 and 6 more hold: many values may, and nothing supersedes them."
    over = said("bun", MARCH, supersedes=(Supersession(NPM.version_id),))
    cut = explain(
        logged(NPM, over, FactEnded(over.version_id, JULY)), valid_at=AUGUST, system_as_of=None, versions_max=1
    )
    assert sentences(cut, Around())[1] == (
        "npm is superseded by a version that is not listed from 1 March 2026 on, which says so itself."
    )
