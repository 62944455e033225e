"""``chronofact retire``: a projection that nobody reads any more is fed no longer, and dropped if that is wanted."""

from __future__ import annotations

from typing import Annotated, Final

import orjson
import typer

from chronofact.cli.options import DataFolder, Json, database, outside_told, read_settings
from chronofact.cli.outcome import ExitCode, Failure

PANEL: Final = "Operations"
_EPILOG: Final = (
    "Ends with 0 when done, 1 when it was refused and nothing was changed, 2 for usage, 3 when Postgres can't be reached. "
    "docs/operations/feeding.md tells what each refusal means."
)


def register(app: typer.Typer) -> None:
    """Adds the command of this module."""
    app.command("retire", rich_help_panel=PANEL, epilog=_EPILOG)(retire)


def retire(
    projection: Annotated[str, typer.Argument(metavar="PROJECTION", help="Which, like p1.")],
    reason: Annotated[str | None, typer.Option("--reason", help="Why; it is kept. --force needs it.")] = None,
    data: DataFolder = None,
    *,
    drop: Annotated[
        bool, typer.Option("--drop", help="Remove its tables, too; only a rebuild brings them back.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Also within the rollback window.")] = False,
    json: Json = False,
) -> None:
    """End a projection that nobody reads: it is fed no more, and nobody can roll back to it.

    Refuses while any route names it, and until the rollback window is over (CHRONOFACT_ROLLBACK_WINDOW_S, a week, from when its last route left). The log keeps everything: a rebuild makes the same again.
    """
    from chronofact.postgres.retire_store import NotRetirable, RetireStore

    if force and not (reason or "").strip():
        raise Failure("--force takes a --reason", code=ExitCode.USAGE)
    with outside_told():
        settings = read_settings()
        store = RetireStore(database(data)[0], window_s=settings.rollback_window_s)
        try:
            store.retire(projection, is_forced=force, reason=reason)
        except NotRetirable as refused:
            remedy = "nothing was changed; --force --reason WHY does it all the same" if refused.can_be_forced else None
            raise Failure(f"refused: {refused} ({refused.code})", remedy=remedy) from None
        if drop:
            store.drop(projection)
    if json:
        print(orjson.dumps({"projection": projection, "state": "dropped" if drop else "retired"}).decode())
    else:
        print(f"{projection} is retired" + (", its tables are gone" if drop else "; --drop removes its tables"))
