"""``chronofact revoke --source``: a source was wrong, so none of its versions ever counted."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any, Final

import orjson
import typer

from chronofact.cli.counted import counted
from chronofact.cli.options import (
    DataFolder,
    Json,
    Target,
    Tenant,
    Token,
    Writer,
    database,
    failures_told,
    outside_told,
)
from chronofact.cli.outcome import ExitCode, Failure

if TYPE_CHECKING:
    from chronofact.cli.revoking import Revoked
    from chronofact.postgres.source_store import SourceWanted

PANEL: Final = "Facts"
SHOWN_MAX: Final = 10
_HASH_CHARS: Final = 64


def register(app: typer.Typer) -> None:
    """Adds the command of this module."""
    app.command("revoke", rich_help_panel=PANEL)(revoke)


def revoke(
    source: Annotated[str, typer.Option("--source", metavar="ID", help="The source's id, as assertions named it.")],
    source_hash: Annotated[
        str | None, typer.Option("--source-hash", metavar="HEX", help="Only what rests on evidence of this SHA-256.")
    ] = None,
    subject: Annotated[str | None, typer.Option("--subject", help="Only versions about this subject.")] = None,
    reason: Annotated[str | None, typer.Option("--reason", help="Why; part of the events for ever.")] = None,
    data: DataFolder = None,
    writer: Writer = None,
    tenant: Tenant = None,
    token: Token = None,
    *,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be revoked.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Don't ask.")] = False,
    wait: Annotated[bool, typer.Option("--wait", help="Until the tenant's projection has applied it.")] = False,
    json: Json = False,
) -> None:
    """Revoke every version of a source that is not revoked yet; what it had covered holds again.

    Each is an event: what was known before stays known as of then. It can't be taken back. Only the facts that it touches are computed anew.

    Repeating the command, whole or cut off, changes nothing: with the same --reason it says the same events.

    What the source says later is not revoked by this; then run it again. Ends, supersessions and decisions name no source: revoke them by their event.
    """
    from chronofact.cli.revoking import Revoking
    from chronofact.postgres.source_store import SourceStore

    wanted = _wanted(source, source_hash, subject, tenant)
    target = Target(data=data, writer=writer, tenant=tenant or str(wanted.tenant_id), token=token)
    with outside_told(), SourceStore(database(data)[0], wanted.tenant_id) as store:
        revoking = Revoking(store, wanted, reason, quiet=json)
        revoking.await_log(data)
        revoking.outcome.is_dry_run = dry_run
        found = revoking.count()
        _tell_found(revoking, json=json)
        if found.versions and not dry_run and not yes:
            _confirm(found.versions, found.facts, json=json)
        if found.versions:
            with failures_told(), target.patient_client() as client:
                revoking.send(client)
        if wait and not dry_run:
            revoking.await_applied()
        _tell(revoking.outcome, json=json)
    if revoking.outcome.rejected:
        raise typer.Exit(ExitCode.FAILED)


def _wanted(source: str, source_hash: str | None, subject: str | None, tenant: str | None) -> SourceWanted:
    from chronofact.domain.identity import DEVELOPMENT_TENANT, subject_id_of, tenant_id_of
    from chronofact.postgres.source_store import SourceWanted

    tenant_id = DEVELOPMENT_TENANT if tenant is None else tenant_id_of(tenant)
    try:
        evidence = None if source_hash is None else bytes.fromhex(source_hash)
    except ValueError:
        evidence = b""
    if evidence is not None and len(evidence) != _HASH_CHARS // 2:
        raise typer.BadParameter(f"{source_hash!a} is not {_HASH_CHARS} hexadecimal digits", param_hint="--source-hash")
    if "\x00" in source:
        raise typer.BadParameter("a source's id has no U+0000", param_hint="--source")
    return SourceWanted(tenant_id, source, evidence, None if subject is None else subject_id_of(tenant_id, subject))


def _confirm(versions: int, facts: int, *, json: bool) -> None:
    if json or not sys.stdin.isatty():
        raise Failure("this can't be taken back: say --yes, too, or --dry-run", code=ExitCode.USAGE)
    typer.confirm(f"revoke {counted(versions, 'version')} of {counted(facts, 'fact')} for good?", abort=True, err=True)


def _tell_found(revoking: Any, *, json: bool) -> None:
    found, outcome = revoking.found, revoking.outcome
    if json:
        return
    already = f"; {found.revoked:,} {'is' if found.revoked == 1 else 'are'} revoked already" if found.revoked else ""
    print(f"{counted(found.versions, 'version')} of {counted(found.facts, 'fact')} in {outcome.projection}{already}")
    if found.facts_held:
        are = (
            "fact is held: its revocations wait" if found.facts_held == 1 else "facts are held: their revocations wait"
        )
        print(f"{found.facts_held:,} {are} behind what is parked; chronofact parked list shows it")
    for place, fact_id in outcome.parked[:SHOWN_MAX]:
        print(f"parked, and so not revoked by this: {place}, of fact {fact_id}")
    if len(outcome.parked) > SHOWN_MAX:
        print(f"and {len(outcome.parked) - SHOWN_MAX:,} more parked messages of this source")
    if outcome.parked:
        print("chronofact parked drop gives them up; or release them, and run this again")
    if outcome.is_parked_cut:
        print("more is parked than was looked at")
    if outcome.unseen:
        print(
            f"{outcome.projection} lacks {counted(outcome.unseen, 'event')} of the log: run this again once it has them"
        )


def _tell(outcome: Revoked, *, json: bool) -> None:
    if json:
        print(orjson.dumps(outcome.body()).decode())
        return
    if outcome.is_dry_run:
        print(f"{outcome.revoked:,} would be revoked, {outcome.rejected:,} rejected; nothing was sent")
    elif outcome.revoked or outcome.rejected:
        rate = outcome.revoked / max(outcome.seconds, 0.001)
        print(
            f"{outcome.revoked:,} revoked, {outcome.rejected:,} rejected in {outcome.seconds:.1f} s ({rate:,.0f} a second)"
        )
    for code, many in outcome.rejected_by.items():
        print(f"rejected: {many:,} by {code}")
    if outcome.is_applied is not None:
        print("applied" if outcome.is_applied else f"{outcome.projection} has not applied it yet; it will")
