"""``chronofact decide``: a person says how two text memories relate."""

from __future__ import annotations

import getpass
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Final, NamedTuple

import typer

from chronofact.cli.memories import Relation, relation_told
from chronofact.cli.options import DataFolder, Json, Reader, Tenant, Token, Writer
from chronofact.cli.outcome import ExitCode, Failure
from chronofact.cli.reads import PANEL, OneScope, asking, show

if TYPE_CHECKING:
    from chronofact.client import Client
    from chronofact.client.verdicts import Pair

CHOICES: Final = {
    "1": "the first supersedes the second",
    "2": "the second supersedes the first",
    "c": "contradicts",
    "n": "near_duplicate",
    "u": "unrelated",
    "s": "skip",
}


class Wanted(NamedTuple):
    """A verdict; ``newer`` is the one that supersedes."""

    relation: Relation
    newer: str | None


def register(app: typer.Typer) -> None:
    """Adds the command of this module."""
    app.command("decide", rich_help_panel=PANEL)(decide)


def decide(
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="LEFT [RELATION] RIGHT",
            help="Two memories by their version ids, and between them supersedes (the left one is the newer), contradicts, near_duplicate or unrelated. Without, it asks.",
        ),
    ],
    reason: Annotated[str | None, typer.Option("--reason", help="Why; part of the event.")] = None,
    by: Annotated[
        str | None, typer.Option("--by", help="Who decides; default the login name. It begins the reason.")
    ] = None,
    subject: Annotated[
        str | None, typer.Option("--subject", metavar="NAME", help="Whose memories, where nobody has checked them yet.")
    ] = None,
    category: Annotated[
        str, typer.Option("--category", metavar="WORD", help="Their category; only with --subject.")
    ] = "note",
    revoke_ends: Annotated[
        bool,
        typer.Option("--revoke-ends", help="Also take back that either memory ended facts of the other; for good."),
    ] = False,
    scope: OneScope = None,
    data: DataFolder = None,
    writer: Writer = None,
    reader: Reader = None,
    tenant: Tenant = None,
    token: Token = None,
    *,
    json: Json = False,
) -> None:
    """Say how two text memories relate. Waits until it shows, and says what counts now.

    A person's word outranks those of rule and model, before and after it. The latest of a person's counts: a later one takes it back, and "unrelated" undoes what a verdict did, whoever gave it. Saying again what counts already says nothing.
    """
    from chronofact.contracts.memories import MEMORY_PREFIX

    left, said, right = _parts(words)
    if said is None and (json or not sys.stdin.isatty()):
        raise Failure("say how they relate: LEFT RELATION RIGHT", code=ExitCode.USAGE)
    with asking(data, reader, tenant, token, writer=writer) as client:
        pair = client.pair(left, right)
        fact: Mapping[str, Any] = {"subject": subject, "key": MEMORY_PREFIX + category, "scope": scope}
        if subject is None:
            fact = _fact(client, pair, right)
        wanted = _asked(pair, left, right) if said is None else _wanted(said, left)
        if wanted is None:
            return
        revoked = _taken_back(client, fact, pair, reason) if revoke_ends else []
        if reason is None and _is_said(pair.relation, wanted):
            told = {"decided": pair.relation, "counts": True, "event_id": None, "position": None, "revoked": revoked}
            _tell(told, json=json)
            return
        verdict = client.decide(
            fact["subject"],
            fact["key"].removeprefix(MEMORY_PREFIX),
            left,
            right,
            wanted.relation.value,
            newer=wanted.newer,
            scope=fact["scope"],
            by=by or getpass.getuser(),
            reason=reason,
        )
    accepted = verdict.accepted
    ids = {"event_id": str(accepted.event_id), "position": accepted.position, "revoked": revoked}
    _tell({"decided": verdict.relation, "counts": verdict.counts, **ids}, json=json)
    _check_counts(counts=verdict.counts)


def _parts(words: list[str]) -> tuple[str, Relation | None, str]:
    """Two ids, and what is said of them."""
    if len(words) not in {2, 3}:
        raise Failure("name two memories, and how they relate: LEFT RELATION RIGHT", code=ExitCode.USAGE)
    left, *between, right = words
    if left.lower() == right.lower():
        raise Failure("a pair is of two different memories", code=ExitCode.USAGE)
    if between and between[0] not in set(Relation):
        raise Failure(f"between the two stands one of {', '.join(Relation)}", code=ExitCode.USAGE)
    return left.lower(), Relation(between[0]) if between else None, right.lower()


def _fact(client: Client, pair: Pair, right: str) -> Mapping[str, Any]:
    """Where both are."""
    other = client.relations(version_id=right, limit=1, wait_ms=0)["fact"]
    if pair.fact is None or other is None:
        raise Failure(
            "nothing is known of one of them as a checked memory of this tenant",
            remedy="if nobody has checked them yet: --subject NAME --category WORD",
        )
    if pair.fact["fact_id"] != other["fact_id"]:
        raise Failure("they are memories of two facts; only within one subject, scope and category memories relate")
    return pair.fact


def _check_counts(*, counts: bool | None) -> None:
    if counts is False:
        raise Failure(
            "a person's word of a later instant counts, not this one", remedy="is this computer's clock slow?"
        )
    if counts is None:
        raise Failure("it was accepted, but does not show yet: the projection is behind")


def _taken_back(client: Client, fact: Mapping[str, Any], pair: Pair, reason: str | None) -> list[str]:
    """The ends of facts that the two brought about and that count: each is revoked, and waited for until that shows."""
    from chronofact.client.verdicts import DECIDED_WITHIN_MS

    ended = pair.relation.get("ended", []) if pair.relation else []
    for one in ended:
        event_id, scope = one["event_id"], fact["scope"]
        said = client.revoke(fact["subject"], one["key"], event_id=event_id, scope=scope, reason=reason)
        params = [("fact_id", str(said.fact_id)), ("limit", "1")]
        client.get("/v1/conflicts", params, after=said.position, wait_ms=DECIDED_WITHIN_MS)
    return [one["event_id"] for one in ended]


def _wanted(relation: Relation, left: str) -> Wanted:
    return Wanted(relation, left if relation is Relation.SUPERSEDES else None)


def _is_said(relation: Mapping[str, Any] | None, wanted: Wanted) -> bool:
    said = relation and (relation["decided_by"], relation["relation"], relation["newer"])
    return said == ("person", wanted.relation.value, wanted.newer)


def _asked(pair: Pair, left: str, right: str) -> Wanted | None:
    """Shows both and asks until one of the answers is given."""
    from chronofact.cli.shown import shown

    known = pair.relation or pair.pending
    texts = {known[side]: known[f"{side}_text"] for side in ("left", "right")} if known else {}
    for number, one in enumerate((left, right), start=1):
        print(f"{number}  {shown(texts.get(one) or one)}")
    for letter, meaning in CHOICES.items():
        print(f"  {letter}  {meaning}")
    while (answer := typer.prompt("how do they relate?").strip().lower()[:1]) not in CHOICES:
        print(f"type one of {', '.join(CHOICES)}")
    if answer == "s":
        return None
    if answer in {"1", "2"}:
        return Wanted(Relation.SUPERSEDES, left if answer == "1" else right)
    return _wanted(next(one for one in Relation if one.value.startswith(answer)), left)


def _tell(body: dict[str, Any], *, json: bool) -> None:
    relation = body["decided"]
    show(body, lambda: relation_told(relation) if relation else "it was accepted", json=json)
    if relation is None or json:
        return
    undoing = f"chronofact decide {relation['left']} unrelated {relation['right']}"
    if relation["relation"] != Relation.UNRELATED:
        print(f"to take it back: {undoing}")
    ended = [one["key"] for one in relation.get("ended", []) if one["event_id"] not in body["revoked"]]
    if ended:
        print(f"ended by what the later one says: {', '.join(ended)}; to take that back, too: {undoing} --revoke-ends")
