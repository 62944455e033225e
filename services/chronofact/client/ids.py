"""Ids before anything is sent: the same that the writer derives."""

from __future__ import annotations

from functools import cache
from typing import Any
from uuid import UUID

from chronofact.client.commands import Source, When, instant_micros, source_of
from chronofact.contracts.fact_keys import check_key
from chronofact.contracts.scope_kinds import DEFAULT_SCOPE, ScopeKinds
from chronofact.domain.canonical import canonical
from chronofact.domain.identity import (
    DEVELOPMENT_TENANT,
    FactIdentity,
    fact_id_of,
    subject_id_of,
    tenant_id_of,
    version_id_of,
)
from chronofact.domain.interval import Interval

_shipped_kinds = cache(ScopeKinds.load)


class Ids:
    """The ids of one tenant's facts; ``kinds`` where the writer knows more kinds of scope than those shipped."""

    def __init__(self, tenant: str | None = None, *, kinds: ScopeKinds | None = None) -> None:
        self._tenant_id = DEVELOPMENT_TENANT if tenant is None else tenant_id_of(tenant)
        self._kinds = kinds

    def fact_id(self, subject: str, key: str, *, scope: str | None = None) -> UUID:
        """The id of the slot; raises Rejected for what the writer would refuse."""
        check_key(key)
        named = (self._kinds or _shipped_kinds()).normalise(DEFAULT_SCOPE if scope is None else scope)
        subject_id = subject_id_of(self._tenant_id, subject)
        return UUID(bytes=fact_id_of(FactIdentity(self._tenant_id, subject_id, named.kind, named.key, key)))

    def version_id(
        self,
        subject: str,
        key: str,
        value: Any,
        *,
        source: Source | str,
        scope: str | None = None,
        valid_from: When | None = None,
        valid_to: When | None = None,
    ) -> UUID:
        """The id of the claim that ``assert_fact`` with these arguments makes."""
        evidence = source_of(source)
        valid = Interval(instant_micros(valid_from), instant_micros(valid_to))
        claim = version_id_of(
            self.fact_id(subject, key, scope=scope).bytes,
            value=canonical(value),
            valid_from=valid.start,
            valid_to=valid.end,
            source_id=evidence.id,
            source_hash=evidence.hash_bytes(),
        )
        return UUID(bytes=claim)
