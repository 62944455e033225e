"""Who calls: static tokens kept by hash, or everyone when every listener is on loopback."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, Protocol
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from chronofact.domain.errors import Rejected
from chronofact.domain.identity import DEVELOPMENT_TENANT, tenant_id_of
from chronofact.runtime.config import Settings

_TENANT_CHARS_MAX: Final = 256
_SCHEME: Final = "bearer "


class Role(StrEnum):
    """What a credential may do."""

    WRITE = "write"
    READ = "read"
    IMPORT = "import"
    OPERATE = "operate"
    SERVICE = "service"


@dataclass(frozen=True, slots=True)
class Caller:
    """One request's credential: its tenant, roles and normalised scope patterns."""

    tenant_id: UUID
    roles: frozenset[Role]
    scopes: tuple[str, ...]

    def require(self, role: Role) -> None:
        """Refuses a caller without the role.

        Raises:
            Rejected: ``role_missing``.
        """
        if role not in self.roles:
            raise Rejected("role_missing", f"this call needs the role {role}")


class Credentials(Protocol):
    """Tells who calls from two headers."""

    def caller(self, authorization: str | None, tenant: str | None) -> Caller:
        """The caller, or Rejected: ``token_missing``, ``token_unknown``, ``tenant_not_covered``, ``parameter_missing``."""
        ...


class OpenCredentials:
    """``CHRONOFACT_AUTH=off``: every role, every scope; X-Tenant-Id names the tenant."""

    def caller(self, authorization: str | None, tenant: str | None) -> Caller:  # noqa: ARG002 - no token is looked at
        """Everyone."""
        return Caller(DEVELOPMENT_TENANT if tenant is None else _tenant_id(tenant), frozenset(Role), ("*",))


class _Token(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    tenant: str | None = Field(None, min_length=1, max_length=_TENANT_CHARS_MAX)
    roles: frozenset[Role] = Field(min_length=1)
    scopes: tuple[str, ...] = ("*",)
    name: str | None = None


class TokenCredentials:
    """Static tokens by their SHA-256; the tokens themselves are nowhere."""

    def __init__(self, tokens: Mapping[bytes, tuple[UUID | None, frozenset[Role], tuple[str, ...]]]) -> None:
        self._tokens = tokens

    @classmethod
    def load(cls, path: Path, *, normalise_scope: Callable[[str], str]) -> TokenCredentials:
        """The tokens of a TOML or JSON file: ``[[tokens]]`` with sha256, tenant, roles, scopes.

        Raises:
            ValueError: the file is not of that form.
        """
        try:
            listed = [_Token.model_validate(one) for one in _read(path)["tokens"]]
        except ValidationError as error:
            first = error.errors(include_input=False, include_url=False)[0]
            raise ValueError(f"{path}: {'.'.join(map(str, first['loc']))}: {first['msg']}") from None
        except (KeyError, TypeError) as error:
            raise ValueError(f"{path}: not a file with a list of tokens") from error
        found: dict[bytes, tuple[UUID | None, frozenset[Role], tuple[str, ...]]] = {}
        for one in listed:
            if (one.tenant is None) != (Role.SERVICE in one.roles):
                raise ValueError(f"{path}: a token names its tenant, unless it is a service's, which names none")
            tenant_id = None if one.tenant is None else _tenant_id(one.tenant)
            try:
                scopes = tuple(map(normalise_scope, one.scopes))
            except Rejected as refusal:
                raise ValueError(f"{path}: scopes: {refusal.message}") from None
            digest = bytes.fromhex(one.sha256)
            if digest in found:
                raise ValueError(f"{path}: a token is listed twice: whose it is would be a guess")
            found[digest] = tenant_id, one.roles, scopes
        return cls(found)

    def caller(self, authorization: str | None, tenant: str | None) -> Caller:
        """The token's owner; X-Tenant-Id is needed from a service and may only agree otherwise."""
        if authorization is None or not authorization[: len(_SCHEME)].lower() == _SCHEME:
            raise Rejected("token_missing", "send the header `Authorization: Bearer …`")
        found = self._tokens.get(sha256(authorization[len(_SCHEME) :].strip().encode()).digest())
        if found is None:
            raise Rejected("token_unknown", "the bearer token is not known")
        tenant_id, roles, scopes = found
        named = None if tenant is None else _tenant_id(tenant)
        if tenant_id is None:
            if named is None:
                raise Rejected("parameter_missing", "a service names its tenant by X-Tenant-Id", field="X-Tenant-Id")
            return Caller(named, roles, scopes)
        if named not in {None, tenant_id}:
            raise Rejected("tenant_not_covered", "the credential is of another tenant", field="X-Tenant-Id")
        return Caller(tenant_id, roles, scopes)


def credentials_of(settings: Settings, *, normalise_scope: Callable[[str], str]) -> Credentials:
    """What the configuration asks for.

    Raises:
        ValueError: tokens are asked for and no file, or a bad one, is named.
    """
    if settings.auth == "off":
        return OpenCredentials()
    if settings.tokens_file is None:
        raise ValueError("CHRONOFACT_TOKENS_FILE must name a file of tokens, unless CHRONOFACT_AUTH is off")
    return TokenCredentials.load(settings.tokens_file, normalise_scope=normalise_scope)


def _tenant_id(tenant: str) -> UUID:
    if not tenant or len(tenant) > _TENANT_CHARS_MAX:
        raise Rejected("parameter_malformed", f"a tenant has 1 to {_TENANT_CHARS_MAX} characters", field="X-Tenant-Id")
    return tenant_id_of(tenant)


def _read(path: Path) -> dict[str, Any]:
    raw = path.read_bytes().decode()
    found: dict[str, Any] = json.loads(raw) if path.suffix == ".json" else tomllib.loads(raw)
    return found
