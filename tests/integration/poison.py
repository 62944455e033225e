"""Messages that no writer of ours appends: each on a fact of its own, with the code under which it parks, or None.

None means that it is applied because it is harmless. Ids and hashes are right wherever they are not what is wrong.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple
from uuid import UUID

from chronofact.contracts.codec import FactEvent, encode_event
from chronofact.contracts.payload import id_text
from chronofact.domain.canonical import canonical, digest
from chronofact.domain.identity import derived_id, event_id_of, version_id_of
from chronofact.kafka.partitioning import partition_of
from tests.integration.saying import PARTITIONS, Fact, Said

OTHER_TOPIC = UUID(int=7)
UNKNOWN_FINGERPRINT = b"\xc3\x01" + bytes(8)


class Poison(NamedTuple):
    """One message, what it is called, and the code under which it parks."""

    name: str
    message: Said
    code: str | None
    fact: Fact | None
    """The fact that its key names, if it does."""

    @property
    def holds(self) -> bool:
        """Whether that fact waits: not for drops, nor for what lies in another partition than it does."""
        is_here = self.fact is not None and self.fact.partition == self.message.partition
        return self.code is not None and is_here and not self.name.startswith("drop")


def said(fact: Fact, value: bytes, *, key: bytes | None = None) -> Said:
    """Raw bytes under a fact's key, or another one."""
    return Said(fact.partition, fact.fact_id if key is None else key, value, b"", None)


def spelled(fields: Any) -> bytes:
    """JSON as it comes, NaN and lone surrogates included."""
    return json.dumps(fields, sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode()


def asserted(fact: Fact, value: Any = "npm", **said: Any) -> dict[str, Any]:
    """The payload of an assertion; its version id is derived from what it says, as far as it can be."""
    fields: dict[str, Any] = {
        "cardinality": "one",
        "confidence": None,
        "lifecycle": "ACTIVE",
        "source_hash": digest(b"test").hex(),
        "source_id": "test",
        "succession": "explicit",
        "supersedes": [],
        "valid_from": None,
        "valid_from_known": True,
        "valid_to": None,
        "value": value,
        **said,
    }
    return {**fields, "version_id": said.get("version_id", _version_id(fact, fields))}


def _version_id(fact: Fact, fields: dict[str, Any]) -> str:
    try:
        version_id = version_id_of(
            fact.fact_id,
            value=spelled(fields["value"]),
            valid_from=None,
            valid_to=None,
            source_id=fields["source_id"],
            source_hash=bytes.fromhex(fields["source_hash"]),
        )
    except (TypeError, ValueError, AttributeError):
        return str(UUID(int=1))
    return id_text(version_id)


def event(fact: Fact, payload: bytes, kind: str = "FactAsserted", **said: Any) -> bytes:
    """An event whose id is derived from its payload, unless said otherwise."""
    fields = {"identity": fact.canonical, "subject_label": fact.label, **said}
    event_id = fields.pop("event_id", None) or event_id_of(fact.fact_id, kind, payload)
    return encode_event(FactEvent(event_id, kind, payload=payload, **fields))


def _bytes(fact: Fact) -> Iterator[tuple[str, Said, str | None]]:
    """What can't be decoded."""
    good = fact.asserts("npm").value
    undecodable = "event_undecodable"
    yield "undecodable bytes", said(fact, b"no event"), undecodable
    yield "empty value", said(fact, b""), "value_missing"
    yield "no key", said(fact, good, key=b""), "message_key_malformed"
    yield "key too short", said(fact, good, key=b"short"), "message_key_malformed"
    yield "key too long", said(fact, good, key=bytes(17)), "message_key_malformed"
    yield "key of 100 kB", said(fact, good, key=bytes(100_000)), "message_key_malformed"
    elsewhere = (fact.partition + 1) % PARTITIONS
    yield "in another partition", said(fact, good)._replace(partition=elsewhere), "partition_mismatch"
    yield "undecodable in another partition", said(fact, b"no event")._replace(partition=elsewhere), undecodable
    yield "header alone", said(fact, good[:10]), undecodable
    yield "unknown schema", said(fact, UNKNOWN_FINGERPRINT + good[10:]), undecodable
    yield "another marker", said(fact, b"\x00" + good[1:]), undecodable
    yield "truncated", said(fact, good[:-20]), undecodable
    yield "trailing bytes", said(fact, good + b"\x00"), undecodable
    yield "unknown kind", said(fact, good[:26] + b"\x40" + good[27:]), undecodable
    yield "negative length", said(fact, good[:27] + b"\x01" + good[28:]), undecodable
    yield "endless length", said(fact, good[:27] + b"\xff" * 9 + b"\x01" + good[28:]), undecodable
    yield (
        "text that is not UTF-8",
        said(fact, good.replace(fact.label.encode(), b"\xff" * len(fact.label))),
        undecodable,
    )


def _identities(fact: Fact) -> Iterator[tuple[str, Said, str | None]]:
    """Whose fact it is."""
    payload = spelled(asserted(fact))
    other = Fact("somebody else")
    yield "identity of another fact", said(fact, event(fact, payload, identity=other.canonical)), "identity_mismatch"
    tenant = str(UUID(int=1))
    payload, kind = spelled({"reason": None, "version_id": tenant}), "FactActivated"
    for name, identity, code in (
        ("no JSON", b"nonsense", "event_undecodable"),
        ("of four parts", canonical([tenant, tenant, "user", "self"]), "event_undecodable"),
        ("not canonical", b'["%s", "%s","user","self","k"]' % ((tenant.encode(),) * 2), "event_undecodable"),
        ("of a list", canonical([tenant, tenant, ["user"], "self", "k"]), "event_undecodable"),
        ("of a number", canonical([tenant, tenant, "user", 7, "k"]), "event_undecodable"),
        ("with an empty key", canonical([tenant, tenant, "user", "self", ""]), "identity_invalid"),
        ("with a bad key", canonical([tenant, tenant, "user", "self", "No Key!"]), "identity_invalid"),
        ("with an endless key", canonical([tenant, tenant, "user", "self", "k" * 900_000]), "identity_invalid"),
        ("with a bad kind", canonical([tenant, tenant, "User Kind", "self", "k"]), "identity_invalid"),
        ("with an endless scope", canonical([tenant, tenant, "repo", "x" * 100_000, "k"]), "identity_invalid"),
        ("with an empty scope", canonical([tenant, tenant, "repo", "", "k"]), "identity_invalid"),
        ("with NUL", b'["%s","%s","repo","a\\u0000b","k"]' % ((tenant.encode(),) * 2), "event_undecodable"),
    ):
        key = derived_id(b"fact", identity)
        value = encode_event(FactEvent(event_id_of(key, kind, payload), kind, identity, None, payload))
        yield f"identity {name}", Said(partition_of(key, PARTITIONS), key, value, b"", None), code


def _shapes(fact: Fact) -> Iterator[tuple[str, Said, str | None]]:
    """Payloads that are none."""
    for name, payload in (
        ("not JSON", b"nonsense"),
        ("empty", b""),
        ("not UTF-8", b'"\xff"'),
        ("an array", b"[]"),
        ("a number", b"12"),
        ("null", b"null"),
        ("without fields", b"{}"),
        ("nested deep", b"[" * 100_000),
        ("with a field more", spelled({**asserted(fact), "more": 1})),
        ("with a field less", spelled({k: v for k, v in asserted(fact).items() if k != "confidence"})),
    ):
        yield f"payload {name}", said(fact, event(fact, payload)), "event_undecodable"
    for kind in ("FactActivated", "FactSuperseded", "FactEnded", "FactRevoked", "ConflictResolved", "RelationDeclared"):
        yield (
            f"{kind} of another's payload",
            said(fact, event(fact, spelled(asserted(fact)), kind)),
            "event_undecodable",
        )


_IMPOSSIBLE: dict[str, dict[str, Any]] = {
    "value NaN": {"value": float("nan")},
    "value infinite": {"value": float("inf")},
    "value of an unsafe integer": {"value": 2**53 + 1},
    "value of an endless integer": {"value": 10**400},
    "value with NUL": {"value": "a\x00b"},
    "value with NUL in a key": {"value": {"a\x00b": 1}},
    "value with a lone surrogate": {"value": "\ud800"},
    "value nested too deep": {"value": json.loads("[" * 100 + "]" * 100)},
    "value not canonical": {"value": 1.0},
    "confidence above one": {"confidence": 1.5},
    "confidence NaN": {"confidence": float("nan")},
    "confidence of a text": {"confidence": "high"},
    "confidence true": {"confidence": True},
    "cardinality unknown": {"cardinality": "few"},
    "cardinality of a list": {"cardinality": ["one"]},
    "lifecycle unknown": {"lifecycle": "REVOKED"},
    "succession unknown": {"succession": 7},
    "source id of a number": {"source_id": 7},
    "source id with NUL": {"source_id": "a\x00b"},
    "source id with a lone surrogate": {"source_id": "\udfff"},
    "source hash cut short": {"source_hash": "ab"},
    "source hash of a number": {"source_hash": 12},
    "valid_from_known of a text": {"valid_from_known": "yes"},
    "version id of a number": {"version_id": 12},
    "version id not a UUID": {"version_id": "x" * 36},
    "supersedes a text": {"supersedes": "all"},
    "supersedes numbers": {"supersedes": [1, 2]},
    "supersedes with a field more": {
        "supersedes": [{"effective_at": None, "mode": None, "value": 1, "version_id": str(UUID(int=1))}]
    },
    "supersedes far too many": {
        "supersedes": [{"effective_at": None, "mode": None, "version_id": str(UUID(int=n))} for n in range(400)]
    },
    "instant of year zero": {"valid_from": "0000-01-01T00:00:00Z"},
    "instant of year ten thousand": {"valid_from": "10000-01-01T00:00:00Z"},
    "instant with an offset": {"valid_from": "2026-01-01T00:00:00+02:00"},
    "instant of a number": {"valid_from": 1_764_000_000},
    "instant of a leap second": {"valid_from": "2016-12-31T23:59:60Z"},
    "instant of no month": {"valid_from": "2026-13-01T00:00:00Z"},
    "interval reversed": {"valid_from": "2026-02-01T00:00:00Z", "valid_to": "2026-01-01T00:00:00Z"},
    "interval empty": {"valid_from": "2026-02-01T00:00:00Z", "valid_to": "2026-02-01T00:00:00Z"},
}


def _claims(fact: Fact) -> Iterator[tuple[str, Said, str | None]]:
    """Assertions of right shape and impossible content."""
    for name, wrong in _IMPOSSIBLE.items():
        yield name, said(fact, event(fact, spelled(asserted(fact, **wrong)))), "event_undecodable"
    good = asserted(fact)
    ids, hashes = "version_id_mismatch", "value_hash_mismatch"
    wrong_id = spelled({**good, "version_id": str(UUID(int=9))})
    plain = spelled(good)
    yield "version id of other content", said(fact, event(fact, wrong_id)), ids
    yield "version id of the event alone", said(fact, event(fact, plain, version_id=bytes(16))), ids
    yield "value hash of other content", said(fact, event(fact, plain, value_hash=bytes(32))), hashes
    yield "source hash of other content", said(fact, event(fact, plain, source_hash=bytes(32))), hashes
    yield "event id of other content", said(fact, event(fact, plain, event_id=bytes([1]) * 16)), "event_id_mismatch"
    yield "label with NUL", said(fact, event(fact, plain, subject_label="a\x00b")), "event_undecodable"


def _others(fact: Fact) -> Iterator[tuple[str, Said, str | None]]:
    """Corrections and decisions of impossible content."""
    one, two = str(UUID(int=1)), str(UUID(int=2))
    ended = {"effective_at": "2026-01-01T00:00:00Z", "reason": None, "version_id": one}
    revoked = {"event_id": None, "reason": None, "version_id": one}
    resolved = {
        "decided_at": "2026-01-01T00:00:00Z",
        "decided_by": None,
        "keep": None,
        "left_version_id": one,
        "reason": None,
        "right_version_id": two,
    }
    declared = {
        **{name: field for name, field in resolved.items() if name != "keep"},
        "decided_by": "model",
        "llm_call_made": True,
        "model": None,
        "newer_version_id": None,
        "relation": "contradicts",
    }
    checked = {"decided": 0, "llm_call_made": False, "pairs": 0, "pending": 0, "reason": None, "version_id": one}
    for kind, payload, wrong in (
        ("FactEnded", ended, {"effective_at": None}),
        ("FactEnded", ended, {"effective_at": "for ever"}),
        ("FactEnded", ended, {"reason": "a\x00b"}),
        ("FactRevoked", revoked, {"version_id": None}),
        ("FactRevoked", revoked, {"event_id": two}),
        ("FactActivated", {"reason": None, "version_id": one}, {"reason": ["why"]}),
        ("ConflictResolved", resolved, {"decided_at": "-0001-01-01T00:00:00Z"}),
        ("ConflictResolved", resolved, {"keep": "neither"}),
        ("RelationDeclared", declared, {"relation": "resembles"}),
        ("RelationDeclared", declared, {"decided_by": ["model"]}),
        ("RelationDeclared", declared, {"llm_call_made": 1}),
        ("RelationsChecked", checked, {"pairs": -1}),
        ("RelationsChecked", checked, {"pairs": 2**64}),
        ("RelationsChecked", checked, {"pending": 1.5}),
    ):
        (field,) = wrong
        name = f"{kind} with {field} {wrong[field]!a}"
        yield name, said(fact, event(fact, spelled({**payload, **wrong}), kind)), "event_undecodable"


def _drops(fact: Fact) -> Iterator[tuple[str, Said, str | None]]:
    """EventDropped that says nothing, or too much."""
    good = {
        "dropped_by": "ada",
        "offset": 0,
        "partition": fact.partition,
        "reason": "no use",
        "topic_id": str(OTHER_TOPIC),
    }
    for name, payload, code in (
        ("with garbage", b"garbage", "event_undecodable"),
        ("with no fields", b"{}", "event_undecodable"),
        ("of a negative offset", spelled({**good, "offset": -1}), "event_undecodable"),
        ("of an endless offset", spelled({**good, "offset": 2**64}), "event_undecodable"),
        ("with NUL", spelled({**good, "reason": "a\x00b"}), "event_undecodable"),
        ("of a foreign topic", spelled(good), "drop_misplaced"),
        ("of no topic", spelled({**good, "topic_id": "topic"}), "drop_misplaced"),
    ):
        yield f"drop {name}", said(fact, event(fact, payload, "EventDropped", identity=b"")), code
    yield "drop with an identity", said(fact, event(fact, spelled(good), "EventDropped")), "drop_misplaced"
    yield (
        "drop cut short",
        said(fact, event(fact, spelled(good), "EventDropped", identity=b"")[:50]),
        "event_undecodable",
    )


def _harmless(fact: Fact) -> Iterator[tuple[str, Said, str | None]]:
    """What is odd, and right as far as anybody can tell."""
    yield "900 kB", said(fact, event(fact, spelled(asserted(fact, "x" * 900_000)))), None
    yield "an import of year 9999", said(fact, fact.asserts("npm", import_time=253_402_300_799_000_000).value), None
    yield "an import of the far future", said(fact, fact.asserts("npm", import_time=2**63 - 1).value), None
    yield "an import of before 1970", said(fact, fact.asserts("npm", import_time=-1).value), None
    yield "an import of before all time", said(fact, fact.asserts("npm", import_time=-(2**63)).value), None
    yield "a label of 100 kB", said(fact, event(fact, spelled(asserted(fact)), subject_label="x" * 100_000)), None
    one = str(UUID(int=1))
    myself = asserted(fact)["version_id"]
    itself = [{"effective_at": None, "mode": None, "version_id": myself}]
    yield "a version that supersedes itself", said(fact, event(fact, spelled(asserted(fact, supersedes=itself)))), None
    unknown = spelled({"reason": None, "version_id": one})
    yield "an activation of nothing", said(fact, event(fact, unknown, "FactActivated")), None
    resolved = {
        "decided_at": "9999-12-31T23:59:59.999999Z",
        "decided_by": None,
        "keep": str(UUID(int=3)),
        "left_version_id": one,
        "reason": None,
        "right_version_id": one,
    }
    yield "a decision on one version", said(fact, event(fact, spelled(resolved), "ConflictResolved")), None


_MAKERS: tuple[Callable[[Fact], Iterator[tuple[str, Said, str | None]]], ...] = (
    _bytes,
    _identities,
    _shapes,
    _claims,
    _others,
    _drops,
    _harmless,
)


def corpus() -> Iterator[Poison]:
    """All of it, each on a fact of its own."""
    for maker in _MAKERS:
        for index, (name, _, _) in enumerate(maker(Fact("ada"))):
            fact = Fact(f"poisoned by {name}")
            _, message, code = next(one for number, one in enumerate(maker(fact)) if number == index)
            yield Poison(name, message, code, fact if message.key == fact.fact_id else None)
