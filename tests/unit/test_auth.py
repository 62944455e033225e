import json
from hashlib import sha256
from pathlib import Path
from uuid import UUID

import pytest

from chronofact.contracts.scope_kinds import ScopeKinds
from chronofact.domain.errors import Rejected
from chronofact.domain.identity import DEVELOPMENT_TENANT, tenant_id_of
from chronofact.runtime.auth import OpenCredentials, Role, TokenCredentials, credentials_of
from chronofact.runtime.config import Settings
from tests.contract.writing import JSON, WriterInProcess, assertion

PATTERN = ScopeKinds.load().pattern


def hashed(token: str) -> str:
    return sha256(token.encode()).hexdigest()


TOML = f"""
[[tokens]]
name = "importer"
sha256 = "{hashed("t-import")}"
tenant = "acme"
roles = ["write", "import"]

[[tokens]]
sha256 = "{hashed("t-repo")}"
tenant = "acme"
roles = ["write"]
scopes = ["repo:Acme/*"]

[[tokens]]
sha256 = "{hashed("t-read")}"
tenant = "acme"
roles = ["read"]

[[tokens]]
sha256 = "{hashed("t-service")}"
roles = ["write", "service"]
"""


@pytest.fixture
def credentials(tmp_path: Path) -> TokenCredentials:
    file = tmp_path / "tokens.toml"
    file.write_text(TOML)
    return TokenCredentials.load(file, normalise_scope=PATTERN)


@pytest.fixture
def writer(credentials: TokenCredentials) -> WriterInProcess:
    return WriterInProcess(credentials)


def bearing(token: str, **headers: str) -> dict[str, str]:
    return {**JSON, "authorization": f"Bearer {token}", **headers}


def test_a_token_names_its_tenant(credentials: TokenCredentials) -> None:
    caller = credentials.caller("bearer t-import", None)
    assert caller.tenant_id == tenant_id_of("acme")
    assert caller.roles == {Role.WRITE, Role.IMPORT}
    assert credentials.caller("Bearer t-import", "acme") == caller


@pytest.mark.parametrize(
    ("authorization", "tenant", "code"),
    [
        (None, None, "token_missing"),
        ("Basic dTpw", None, "token_missing"),
        ("Bearer", None, "token_missing"),
        ("Bearer ", None, "token_unknown"),
        ("Bearer t-other", None, "token_unknown"),
        ("Bearer t-import", "rival", "tenant_not_covered"),
        ("Bearer t-service", None, "parameter_missing"),
        ("Bearer t-service", "", "parameter_malformed"),
    ],
)
def test_other_credentials_are_refused(
    credentials: TokenCredentials, authorization: str | None, tenant: str | None, code: str
) -> None:
    with pytest.raises(Rejected) as refused:
        credentials.caller(authorization, tenant)
    assert refused.value.code == code


def test_a_service_names_the_tenant_by_header(credentials: TokenCredentials) -> None:
    assert credentials.caller("Bearer t-service", "acme").tenant_id == tenant_id_of("acme")


def test_without_authentication_everyone_may_everything() -> None:
    everyone = OpenCredentials()
    assert everyone.caller(None, None).tenant_id == DEVELOPMENT_TENANT
    assert everyone.caller(None, str(UUID(int=7))).tenant_id == UUID(int=7)
    assert everyone.caller(None, None).roles == frozenset(Role)


@pytest.mark.parametrize(
    "text",
    [
        "x = 1",
        "[[tokens]]\nsha256 = 'plain'\ntenant = 'a'\nroles = ['read']",
        f"[[tokens]]\nsha256 = '{'0' * 64}'\nroles = ['read']",
        f"[[tokens]]\nsha256 = '{'0' * 64}'\ntenant = 'a'\nroles = ['read', 'service']",
        f"[[tokens]]\nsha256 = '{'0' * 64}'\ntenant = 'a'\nroles = ['admin']",
        f"[[tokens]]\nsha256 = '{'0' * 64}'\ntenant = 'a'\nroles = []",
        f"[[tokens]]\nsha256 = '{'0' * 64}'\ntenant = 'a'\nroles = ['read']\nscopes = ['planet:*']",
    ],
)
def test_a_bad_file_of_tokens_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "tokens.toml").write_text(text)
    with pytest.raises(ValueError, match=r"tokens.toml"):
        TokenCredentials.load(tmp_path / "tokens.toml", normalise_scope=PATTERN)


def test_a_token_of_two_owners_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "tokens.toml"
    file.write_text(TOML + f'\n[[tokens]]\nsha256 = "{hashed("t-read")}"\ntenant = "initech"\nroles = ["read"]\n')
    with pytest.raises(ValueError, match=r"tokens\.toml: .* twice"):
        TokenCredentials.load(file, normalise_scope=PATTERN)


def test_tokens_may_be_json(tmp_path: Path) -> None:
    token = {"sha256": hashed("x"), "tenant": "acme", "roles": ["read"]}
    (tmp_path / "tokens.json").write_text(json.dumps({"tokens": [token]}))
    settings = Settings(tokens_file=tmp_path / "tokens.json")
    assert credentials_of(settings, normalise_scope=PATTERN).caller("Bearer x", None).scopes == ("*",)


def test_tokens_without_a_file_are_refused() -> None:
    with pytest.raises(ValueError, match="CHRONOFACT_TOKENS_FILE"):
        credentials_of(Settings(), normalise_scope=PATTERN)


def test_the_writer_asks_for_a_token_and_the_role(writer: WriterInProcess) -> None:
    unnamed = writer.send(assertion())
    assert (unnamed.status_code, unnamed.headers["www-authenticate"]) == (401, "Bearer")
    assert writer.send(assertion(), bearing("t-read")).json()["error"]["code"] == "role_missing"
    assert writer.send(assertion(), bearing("t-import")).status_code == 201
    assert writer.ask("GET", "/livez").status_code == 200


def test_a_scope_that_is_not_covered_is_refused_for_its_command_alone(writer: WriterInProcess) -> None:
    commands = [assertion(), assertion(scope="repo:ACME/web"), assertion(scope="repo:other/web")]
    results = writer.send(commands, bearing("t-repo")).json()["results"]
    assert [one.get("error", {}).get("code") for one in results] == ["scope_not_covered", None, "scope_not_covered"]


def test_original_system_time_needs_the_role(writer: WriterInProcess) -> None:
    command = assertion(recorded_at="2020-01-01T00:00:00Z")
    refused = writer.send(command, bearing("t-repo") | {}, query="")
    assert refused.json()["error"]["code"] == "scope_not_covered"
    refused = writer.send(assertion(recorded_at="2020-01-01T00:00:00Z", scope="repo:acme/x"), bearing("t-repo"))
    assert refused.json()["error"]["code"] == "import_not_allowed"
    assert writer.send(command, bearing("t-import")).status_code == 201
    assert writer.events()[0].import_time == 1_577_836_800_000_000


def test_two_tenants_never_share_a_fact(writer: WriterInProcess) -> None:
    ids = {
        writer.send(assertion(), bearing("t-service", **{"x-tenant-id": tenant})).json()["fact_id"]
        for tenant in ("acme", "rival")
    }
    assert len(ids) == 2


def test_only_a_service_says_that_pairs_were_checked(writer: WriterInProcess) -> None:
    check: dict[str, str | int] = {
        "type": "check_relations",
        "subject": "ada",
        "key": "memory/a",
        "version_id": str(UUID(int=1)),
    }
    check |= {"pairs": 0, "decided": 0, "pending": 0}
    refused = writer.send(check, bearing("t-import"))
    assert (refused.status_code, refused.json()["error"]["code"]) == (422, "check_not_allowed")
    assert writer.send(check, bearing("t-service", **{"x-tenant-id": "acme"})).status_code == 201


def test_the_tokens_of_the_page_are_taken_and_every_role_is_explained(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "operations" / "README.md").read_text(encoding="utf-8")
    tokens = page.partition("```toml\n")[2].partition("```")[0]
    assert tokens.count("…") == 2
    file = tmp_path / "tokens.toml"
    first, second = (sha256(word.encode()).hexdigest() for word in ("person", "adjudicator"))
    file.write_text(tokens.replace("…", first, 1).replace("…", second, 1), encoding="utf-8")
    found = TokenCredentials.load(file, normalise_scope=ScopeKinds.load().pattern)
    assert found.caller("Bearer person", None).roles == {Role.WRITE, Role.READ}
    assert found.caller("Bearer adjudicator", "acme").roles == {Role.WRITE, Role.SERVICE}
    explained = page.partition("| role | may |")[2].partition("\n\n")[0]
    assert [role for role in Role if f"`{role}`" not in explained] == []
