"""Pages of the reconciler's lists: their cursors, and what is refused."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from fastapi import Request

from chronofact.domain.errors import Rejected
from chronofact.reconciler.paging import LIMIT_MAX, Page, newest_first, oldest_first

NEWEST = [7, 6, 5, 4, 3, 2, 1]
Begin = Callable[[Request], Page]


def asked(query: str) -> Request:
    return Request({"type": "http", "query_string": query.encode(), "headers": []})


@pytest.mark.parametrize(
    ("begin", "order"), [(newest_first, NEWEST), (oldest_first, NEWEST[::-1])], ids=["newest", "oldest"]
)
@pytest.mark.parametrize("limit", [1, 3, 4, 7, 8])
def test_page_by_page_every_line_is_there_once(begin: Begin, order: list[int], limit: int) -> None:
    found, query, count = list[str](), f"limit={limit}", 0
    while True:
        page = begin(asked(query))
        left = [one for one in order if (one < page.cursor if begin is newest_first else one > page.cursor)]
        body = page.of("lines", left[: page.limit], told=str, cursor=lambda one: one)
        found += body["lines"]
        count += 1
        if body["cursor"] is None:
            break
        query = f"limit={limit}&cursor={body['cursor']}"
    assert found == [*map(str, order)]
    assert count == len(order) // limit + 1


def test_a_line_without_a_cursor_of_its_own_ends_the_list() -> None:
    assert Page(1).of("lines", ["one"], told=str, cursor=lambda _one: None) == {"lines": ["one"], "cursor": None}


@pytest.mark.parametrize("begin", [newest_first, oldest_first])
@pytest.mark.parametrize(
    ("query", "code", "field"),
    [
        ("cursor=-1", "parameter_malformed", "cursor"),
        ("cursor=x", "parameter_malformed", "cursor"),
        ("limit=0", "parameter_malformed", "limit"),
        (f"limit={LIMIT_MAX + 1}", "parameter_malformed", "limit"),
        ("limit=1&limit=2", "parameter_unknown", "limit"),
        ("page=2", "parameter_unknown", "page"),
    ],
)
def test_what_is_no_page_is_refused(begin: Begin, query: str, code: str, field: str) -> None:
    with pytest.raises(Rejected) as refused:
        begin(asked(query))
    assert (refused.value.code, refused.value.field) == (code, field)
