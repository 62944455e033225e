"""What of a source is parked: messages that nobody of ours wrote are looked at, too."""

from __future__ import annotations

import json
from typing import Any
from uuid import UUID

import pytest

from chronofact.cli.revoking import _is_of
from chronofact.postgres.source_store import SourceWanted

TENANT, SUBJECT, OTHER = UUID(int=1), UUID(int=2), UUID(int=3)
SAID = json.dumps({"source_id": "import"}).encode()


def identity(subject: Any = str(SUBJECT), tenant: Any = str(TENANT)) -> bytes:
    return json.dumps([tenant, subject, "user", "self", "k"]).encode()


def test_a_claim_by_the_source_is_told() -> None:
    for wanted in (SourceWanted(TENANT, "import"), SourceWanted(TENANT, "import", b"h", SUBJECT)):
        assert _is_of(identity(), SAID, b"h", wanted)
        assert not _is_of(identity(tenant=str(OTHER)), SAID, b"h", wanted)
        assert not _is_of(identity(), b'{"source_id":"another"}', b"h", wanted)
        assert not _is_of(identity(), b'["source_id"]', b"h", wanted)
    assert not _is_of(identity(str(OTHER)), SAID, b"h", SourceWanted(TENANT, "import", None, SUBJECT))
    assert not _is_of(identity(), SAID, b"another", SourceWanted(TENANT, "import", b"h"))


@pytest.mark.parametrize("said", [b"5", b"null", b"{}", b"[]", b"[1]", b'{"a":1,"b":2}', b"no json", b"\xff"])
def test_an_identity_that_is_none_is_of_no_source(said: bytes) -> None:
    assert not _is_of(said, SAID, None, SourceWanted(TENANT, "import"))
    assert not _is_of(identity(), said, None, SourceWanted(TENANT, "import"))


@pytest.mark.parametrize("subject", ["abc", None, 5, [], {}])
def test_a_subject_that_is_none_is_told_where_any_is_asked_for(subject: Any) -> None:
    assert _is_of(identity(subject), SAID, None, SourceWanted(TENANT, "import"))
    assert not _is_of(identity(subject), SAID, None, SourceWanted(TENANT, "import", None, SUBJECT))
