from hashlib import sha256
from uuid import NAMESPACE_URL, UUID, uuid5

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from chronofact.domain.canonical import digest
from chronofact.domain.identity import (
    DEVELOPMENT_TENANT,
    FactIdentity,
    derived_id,
    event_id_of,
    fact_id_of,
    subject_id_of,
    tenant_id_of,
    version_id_of,
)
from chronofact.domain.interval import parse_instant

TENANT = tenant_id_of("acme")
IDENTITY = FactIdentity(TENANT, subject_id_of(TENANT, "ada"), "repo", 'acme/"wéb"', "package_manager")
FACT = fact_id_of(IDENTITY)
HASH = digest(b"evidence")


def version(**said: object) -> bytes:
    claim = {"value": b'"npm"', "valid_from": 0, "valid_to": None, "source_id": "s", "source_hash": HASH} | said
    return version_id_of(FACT, **claim)  # type: ignore[arg-type]


def test_a_uuid_names_itself_and_other_text_is_derived() -> None:
    text = "6BA7B811-9DAD-11D1-80B4-00C04FD430C8"
    assert tenant_id_of(text) == UUID(text) == subject_id_of(TENANT, text.lower())
    assert tenant_id_of("acme") == uuid5(NAMESPACE_URL, "chronofact:tenant:acme")
    assert subject_id_of(TENANT, "ada") == uuid5(TENANT, "ada")
    assert uuid5(NAMESPACE_URL, "chronofact:development") == DEVELOPMENT_TENANT


@pytest.mark.parametrize(
    "text", ["{6ba7b811-9dad-11d1-80b4-00c04fd430c8}", "6ba7b8119dad11d180b400c04fd430c8", "urn:uuid:x"]
)
def test_other_spellings_of_a_uuid_are_plain_text(text: str) -> None:
    assert tenant_id_of(text) == uuid5(NAMESPACE_URL, f"chronofact:tenant:{text}")


def test_identity_is_the_canonical_array_of_its_parts() -> None:
    parts = [str(TENANT), str(IDENTITY.subject_id), "repo", 'acme/"wéb"', "package_manager"]
    assert IDENTITY.canonical() == rfc8785.dumps(parts)


def test_ids_are_uuids_of_version_8_that_never_change() -> None:
    assert UUID(bytes=FACT).version == 8
    assert UUID(bytes=FACT).variant == "specified in RFC 4122"
    assert str(UUID(bytes=fact_id_of(FactIdentity(UUID(int=1), UUID(int=2), "user", "self", "a")))) == GOLDEN_FACT
    assert str(UUID(bytes=event_id_of(bytes(16), "FactEnded", b"{}"))) == GOLDEN_EVENT
    claim = version_id_of(
        bytes(16),
        value=b"1",
        valid_from=parse_instant("2026-07-01T00:00:00Z"),
        valid_to=None,
        source_id="s",
        source_hash=HASH,
    )
    assert str(UUID(bytes=claim)) == GOLDEN_VERSION


def test_each_part_of_a_claim_makes_another_version() -> None:
    others = [
        version(value=b'"pnpm"'),
        version(valid_from=None),
        version(valid_from=1),
        version(valid_to=9),
        version(source_id="t"),
        version(source_hash=digest(b"other")),
    ]
    assert len({version(), *others}) == len(others) + 1


GOLDEN_FACT = "15f5b72b-21a2-80ff-a4e0-7c31901e54d8"
GOLDEN_EVENT = "aa6d8738-54b2-89f4-af33-4ae0a0c0a428"
GOLDEN_VERSION = "31cf319b-678a-8e28-a150-0132f7807b36"


@given(st.binary(max_size=80))
def test_a_derived_id_is_a_uuid_of_version_8_over_the_hash(content: bytes) -> None:
    number = int.from_bytes(sha256(b"event\x00" + content).digest()[:16])
    fields = (0xF << 76) | (0b11 << 62)
    assert derived_id(b"event", content) == (number & ~fields | 0x8 << 76 | 0b10 << 62).to_bytes(16)
    assert UUID(bytes=derived_id(b"event", content)).version == 8


@given(st.binary(min_size=16, max_size=16), st.binary(max_size=80))
def test_ids_are_derived_from_what_they_name(fact_id: bytes, payload: bytes) -> None:
    assert event_id_of(fact_id, "FactEnded", payload) == derived_id(b"event", fact_id + b"FactEnded\x00" + payload)
