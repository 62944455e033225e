"""``chronofact changes`` at a terminal: the id to go on from, and what is said of the stream."""

from __future__ import annotations

import orjson
import pytest

from chronofact.contracts.fact_keys import check_prefix
from chronofact.domain.errors import Rejected
from tests.unit.scripted_service import Told, serving
from tests.unit.test_cli import Command, chronofact
from tests.unit.test_client_changes import message

__all__ = ["chronofact"]
BEGUN = b"retry: 1\nid: start\n\n"


def stream(*parts: bytes) -> Told:
    return Told(orjson.Fragment(b"".join(parts)))


def test_the_id_to_go_on_from_is_told_at_the_end(chronofact: Command) -> None:
    with serving(Told(), stream(BEGUN, message("b"), message("c"), message("d"))) as reader:
        assert chronofact("changes", "--limit", "2", "--reader", reader.url) == 0
    assert chronofact.out.count("k of ada in user:self") == 2
    assert chronofact.err.splitlines() == ["following from now; Ctrl-C ends", "to go on from here: --after c"]


def test_an_interruption_is_told_with_where_it_goes_on(chronofact: Command) -> None:
    with serving(Told(), stream(BEGUN, message("b")), Told(status=0), stream(message("c"))) as reader:
        assert chronofact("changes", "--limit", "2", "--after", "a", "--reader", reader.url) == 0
    began, interrupted, again, end = chronofact.err.splitlines()
    assert began.startswith("following after a;")
    assert interrupted.startswith("interrupted: the service has ended the stream; trying again")
    assert again == "following again, from where it broke off: b"
    assert end == "to go on from here: --after c"
    assert [asked.headers["Last-Event-ID"] for asked in reader.asked[1:]] == ["a", "b", "b"]


def test_lines_of_json_stay_alone_on_standard_output(chronofact: Command) -> None:
    with serving(Told(), stream(BEGUN, message("b"))) as reader:
        assert chronofact("changes", "--limit", "1", "--json", "--reader", reader.url) == 0
    assert orjson.loads(chronofact.out)["id"] == "b"


def test_what_is_refused_is_not_said_to_be_followed(chronofact: Command) -> None:
    refused = Told({"error": {"code": "parameter_malformed", "message": "no", "field": "prefix"}}, 400)
    with serving(Told(), refused) as reader:
        assert chronofact("changes", "--prefix", "ABC", "--reader", reader.url) == 1
    assert "parameter_malformed" in chronofact.err
    assert "--after" not in chronofact.err


def test_an_id_that_none_gave_is_refused_by_its_option(chronofact: Command) -> None:
    refused = Told({"error": {"code": "position_malformed", "message": "no", "field": "Last-Event-ID"}}, 422)
    with serving(Told(), refused) as reader:
        assert chronofact("changes", "--after", "xyz", "--reader", reader.url) == 1
    assert "refused: position_malformed at --after: no" in chronofact.err


@pytest.mark.parametrize("prefix", ["", "a", "pack_", "a.b", "a.", "a/b-", "x" * 200])
def test_some_key_starts_so(prefix: str) -> None:
    check_prefix(prefix)


@pytest.mark.parametrize("prefix", ["ABC", ".", "a..", "a b", "%", "ü", "\x00", "a/.b", "x" * 201])
def test_no_key_starts_so(prefix: str) -> None:
    with pytest.raises(Rejected, match="no beginning of a key") as refused:
        check_prefix(prefix)
    assert (refused.value.code, refused.value.field) == ("parameter_malformed", "prefix")
