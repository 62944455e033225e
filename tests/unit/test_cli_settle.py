"""Which conflict a decision on the command line is about, however its ids are spelled."""

from __future__ import annotations

from typing import Any, cast

import pytest

from chronofact.cli.conflicts import _decided, _edges
from chronofact.client import Client

LEFT, RIGHT, OTHER = (f"{one}0000000-0000-4000-8000-000000000000" for one in "abc")


def edge(left: str, right: str) -> dict[str, Any]:
    return {"left": {"version_id": left}, "right": {"version_id": right}}


class Listing:
    """A reader that has two conflicts of one fact."""

    edges = (edge(LEFT, RIGHT), edge(LEFT, OTHER))

    def get(self, path: str, params: object) -> dict[str, Any]:
        return {"conflicts": [*self.edges], "cursor": None}


@pytest.mark.parametrize("spelled", [str.lower, str.upper])
def test_a_pair_is_found_by_its_ids(spelled: Any) -> None:
    found = _edges(cast("Client", Listing()), "fact", (spelled(LEFT), spelled(OTHER)), again=False)
    assert found == [edge(LEFT, OTHER)]


@pytest.mark.parametrize("spelled", [str.lower, str.upper])
def test_a_version_is_kept_against_all_others(spelled: Any) -> None:
    assert [*_decided(Listing.edges, spelled(LEFT))] == [(one, LEFT) for one in Listing.edges]
    assert [*_decided(Listing.edges, spelled(OTHER))] == [(edge(LEFT, OTHER), OTHER)]
