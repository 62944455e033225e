"""Whatever the budget: no page is longer, pages follow one another without gap or repeat, and what never fits is named."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from chronofact.contracts.context import ChainFact, Contradiction
from chronofact.contracts.reading import Claim, Found
from chronofact.domain.interval import INSTANT_MIN, format_instant
from chronofact.reader.context import Page
from chronofact.reader.settled import CONFLICT, VALUE, VALUES, Answering, settled_of

STARTS = (
    st.none()
    | st.integers(0, 5).map(lambda day: format_instant(day * 86_400_000_000))
    | st.just(format_instant(INSTANT_MIN))
)
ids = st.integers(0, 10**6).map(lambda number: f"{number:08}-0000-8000-8000-000000000000")


@st.composite
def answerings(draw: st.DrawFn) -> list[Answering]:
    """Facts of a chain, each with claims; some in conflict, some under review."""
    made = []
    for number in range(draw(st.integers(0, 8))):
        kind = draw(st.sampled_from([VALUE, VALUES, VALUES, CONFLICT]))
        value = draw(st.integers(0, 3))
        version_ids = draw(st.lists(ids, min_size=1, max_size=4, unique=True))
        claims = []
        for version_id in version_ids:
            said = value if kind == VALUE else draw(st.integers(0, 3))
            text = f'"{"x" * 10 * said}"'.encode()
            claims.append(
                Claim(0, version_id, text, f"{said}", draw(STARTS), None, f"s{version_id[:3]}", "2026-01-01T00:00:00Z")
            )
        pending = draw(st.sets(st.sampled_from(version_ids)))
        pairs = [Contradiction(0, one, "other", one, "2026-01-01T00:00:00Z") for one in pending]
        found = Found(
            number, None, kind, None, list(range(len(claims))), draw(STARTS), None, version_ids[0], b"", None, None
        )
        fact = ChainFact(draw(st.integers(1, 3)), f"fact {number}", f"k{number}", None, found)
        made.append(Answering(fact, "user:self", (None, None), claims, pairs, 0))
    return made


def pages_of(made: list[Answering], budget: int) -> list[Page]:
    pages = [Page(made, budget, ())]
    while pages[-1].last is not None:
        place, since, key, version_id = pages[-1].last
        pages.append(Page(made, budget, (place, -since, key, version_id)))
        assert len(pages) < 100, "it never ends"
    return pages


@given(answerings(), st.integers(1, 400))
def test_pages_are_the_whole_list_in_order_within_the_budget(made: list[Answering], budget: int) -> None:
    bodies: list[Any] = [page.body() for page in pages_of(made, budget)]
    whole = Page(made, 10**9, ()).body()
    for body in bodies:
        assert len(body["text"]) == body["budget"]["used"] <= budget
        assert len(body["text"].splitlines()) == len(body["settled"])
    fits = [line for line in whole["text"].splitlines() if len(line) <= budget]
    assert [line for body in bodies for line in body["text"].splitlines()] == fits
    passed = sum(body["too_long_count"] for body in bodies)
    assert passed + len(fits) == len(whole["settled"])
    assert bodies[0]["left_out"] + len(bodies[0]["settled"]) + bodies[0]["too_long_count"] == len(whole["settled"])
    assert bodies[-1]["left_out"] == 0


@given(answerings())
def test_nothing_under_review_or_in_conflict_is_settled(made: list[Answering]) -> None:
    for one in made:
        settled = list(settled_of(one))
        said = {claim.version_id for value in settled for claim in value.claims}
        assert said.isdisjoint(one.pending())
        if one.fact.found.kind == CONFLICT:
            assert settled == []
        else:
            assert said == {claim.version_id for claim in one.claims} - one.pending()
        assert len({value.claims[0].value_key for value in settled}) == len(settled)


@given(answerings())
def test_nearer_scopes_and_later_starts_come_first(made: list[Answering]) -> None:
    ranks = [settled.rank() for one in made for settled in settled_of(one)]
    lines = [settled.line() for one in made for settled in settled_of(one)]
    ordered = [line for _, line in sorted(zip(ranks, lines, strict=True))]
    assert Page(made, 10**9, ()).body()["text"] == "\n".join(ordered)
    assert len(set(ranks)) == len(ranks)
