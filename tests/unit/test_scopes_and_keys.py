from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chronofact.contracts.fact_keys import KeyDeclarations
from chronofact.contracts.scope_kinds import ScopeKinds, covers
from chronofact.domain.errors import Rejected
from chronofact.domain.events import Cardinality, Succession

KINDS = ScopeKinds.load()
KEYS = KeyDeclarations.load()


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("repo:Acme/Web", "repo:acme/web"),
        ("repo:/Acme//Web.git/", "repo:acme/web"),
        ("repo:acme%2Dcorp/w%c3%a9b", "repo:acme-corp/wéb"),
        ("repo:acme%2Fweb", "repo:acme%2fweb"),
        ("repo:acme/we\u0301b", "repo:acme/wéb"),
        ("repo:100%", "repo:100%"),
        ("task:9F3E", "task:9f3e"),
        ("org:STRASSE", "org:strasse"),
        ("org:Straße", "org:strasse"),
        ("user:Ada", "user:Ada"),
        ("user", "user:self"),
        ("agent", "agent:self"),
        ("global", "global:all"),
        ("global:ALL", "global:all"),
        ("device:Phone:2", "device:phone:2"),
    ],
)
def test_a_scope_has_one_spelling(said: str, meant: str) -> None:
    assert str(KINDS.normalise(said)) == meant


@pytest.mark.parametrize(
    ("said", "code"),
    [
        ("planet:mars", "scope_kind_unknown"),
        ("Repo:acme", "scope_malformed"),
        ("", "scope_malformed"),
        (":x", "scope_malformed"),
        ("repo", "scope_malformed"),
        ("repo:", "scope_malformed"),
        ("repo:///", "scope_malformed"),
        ("repo: acme", "scope_malformed"),
        ("user:a\nb", "scope_malformed"),
        ("global:some", "scope_malformed"),
        ("user:a\x00", "nul_character"),
        ("user:\ud800", "surrogate_lone"),
        ("user:" + "é" * 257, "scope_too_long"),
    ],
)
def test_what_is_no_scope_is_refused_by_name(said: str, code: str) -> None:
    with pytest.raises(Rejected) as refused:
        KINDS.normalise(said)
    assert (refused.value.code, refused.value.field) == (code, "scope")


@given(st.sampled_from(KINDS.names()), st.text(alphabet="aÉß%2F46cC3aA9/.-~gitİ\u0345\u0301 ", max_size=24))
def test_a_normalised_scope_stays_as_it_is(kind: str, key: str) -> None:
    try:
        once = KINDS.normalise(f"{kind}:{key}")
    except Rejected:
        return
    assert KINDS.normalise(str(once)) == once


@pytest.mark.parametrize(
    ("pattern", "scope", "is_covered"),
    [
        ("*", "user:self", True),
        ("repo:Acme/*", "repo:acme/web", True),
        ("repo:acme/*", "repo:acmeinc/web", False),
        ("repo:*", "repo:x", True),
        ("global:*", "global:all", True),
        ("repo:acme/web", "repo:ACME/web/", True),
        ("repo:acme/web", "repo:acme/web2", False),
        ("repo:*", "user:self", False),
    ],
)
def test_a_pattern_covers_what_it_names(pattern: str, scope: str, is_covered: bool) -> None:
    assert covers([KINDS.pattern(pattern)], KINDS.normalise(scope)) is is_covered


def test_users_add_kinds_and_change_none(tmp_path: Path) -> None:
    added = tmp_path / "kinds.yaml"
    added.write_text("kinds:\n  room: {steps: [nfc, fold]}\n")
    assert str(ScopeKinds.load(added).normalise("room:B12")) == "room:b12"
    added.write_text("kinds:\n  repo: {steps: [nfc]}\n")
    with pytest.raises(ValueError, match="can't be changed"):
        ScopeKinds.load(added)
    added.write_text("kinds:\n  room: {steps: [rot13]}\n")
    with pytest.raises(ValueError, match="steps are"):
        ScopeKinds.load(added)


def test_undeclared_keys_are_single_valued_and_explicit() -> None:
    found = KEYS.of("package_manager")
    assert (found.cardinality, found.succession, found.is_declared) == (Cardinality.ONE, Succession.EXPLICIT, False)


def test_the_first_pattern_that_matches_counts(tmp_path: Path) -> None:
    declared = tmp_path / "keys.yaml"
    declared.write_text(
        "keys:\n  - {pattern: likes/music, cardinality: one}\n  - {pattern: 'office.*', succession: automatic}\n"
    )
    keys = KeyDeclarations.load(declared)
    assert KEYS.of("likes/music").cardinality is Cardinality.MANY
    assert keys.of("likes/music").cardinality is Cardinality.ONE
    assert keys.of("likes/food").cardinality is Cardinality.MANY
    assert keys.of("office.party").succession is Succession.AUTOMATIC
    assert not keys.of("office").is_declared


@pytest.mark.parametrize(
    "text", ["keys: 3", "keys:\n - {pattern: A}", "keys:\n - {pattern: a, cardinality: two}", "x: []"]
)
def test_a_bad_file_of_declarations_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "keys.yaml").write_text(text)
    with pytest.raises(ValueError, match=r"keys\.yaml"):
        KeyDeclarations.load(tmp_path / "keys.yaml")


@pytest.mark.parametrize(
    "fields", ["default: 5", "default: yes", "keys: [all, 1]", "keys: [on]", "keys: all", "default: ''", "keys: ['']"]
)
def test_a_kind_whose_keys_are_no_texts_is_refused_before_anybody_names_it(tmp_path: Path, fields: str) -> None:
    (tmp_path / "kinds.yaml").write_text(f"kinds:\n  team: {{{fields}}}\n")
    with pytest.raises(ValueError, match=r"kinds\.yaml"):
        ScopeKinds.load(tmp_path / "kinds.yaml")


def test_a_kind_may_have_a_default_and_few_keys(tmp_path: Path) -> None:
    (tmp_path / "kinds.yaml").write_text("kinds:\n  team: {default: 'on', keys: ['on', 'off']}\n")
    kinds = ScopeKinds.load(tmp_path / "kinds.yaml")
    assert str(kinds.normalise("team")) == "team:on"
    with pytest.raises(Rejected):
        kinds.normalise("team:5")


@pytest.mark.parametrize("key", ["a", "a_b", "memory/food", "office.party", "a-b/c.d", "0", "a" * 200])
def test_keys_of_the_alphabet_are_taken(key: str) -> None:
    KEYS.of(key)


@pytest.mark.parametrize(
    ("key", "code"),
    [
        ("", "key_empty"),
        ("a" * 201, "key_too_long"),
        ("A", "key_malformed"),
        ("a..b", "key_malformed"),
        ("/a", "key_malformed"),
        ("a/", "key_malformed"),
        ("a b", "key_malformed"),
        ("ä", "key_malformed"),
        ("a\n", "key_malformed"),
        ("a\x00", "key_malformed"),
    ],
)
def test_what_is_no_key_is_refused_by_name(key: str, code: str) -> None:
    with pytest.raises(Rejected) as refused:
        KEYS.of(key)
    assert (refused.value.code, refused.value.field) == (code, "key")
