"""``chronofact verify A B --across-topics``: the same facts, wherever their messages lie."""

from __future__ import annotations

import time
from pathlib import Path

import orjson
import typer

from chronofact.cli.counted import counted
from chronofact.cli.options import database, outside_told
from chronofact.cli.outcome import ExitCode


def verify_across(data: Path | None, left: str, right: str, samples: int, *, json: bool) -> None:
    """Compares, tells, and ends with 1 where something differs."""
    from chronofact.postgres.across_topics import compare_across, keep

    started = time.monotonic()
    with outside_told():
        conninfo = database(data)[0]
        found = compare_across(conninfo, left, right, samples=samples)
        seconds = time.monotonic() - started
        number = keep(conninfo, left, right, found)
    if json:
        compared = {name: count for name, count in found._asdict().items() if name not in {"cuts", "looked_at"}}
        body = {"identical": found.identical, **compared, "seconds": round(seconds, 3), "verification": number}
        print(orjson.dumps(body).decode())
    else:
        kept = "" if number is None else f"verification {number} across topics: "
        print(f"{kept}{counted(found.facts, 'fact')} and {counted(found.events, 'event')} a side in {seconds:.1f} s")
        for line in found.samples:
            print(f"fact {line}")
        if found.further:
            print(
                f"{counted(found.further, 'fact')} with more events on one side: only what both have was compared;"
                " let no writer run, and both catch up"
            )
        if found.parked:
            print(f"{counted(found.parked, 'message')} parked on one side only")
        told = f"{counted(found.differences, 'fact')} {'differs' if found.differences == 1 else 'differ'}"
        print("identical" if found.identical else told)
    if not found.identical:
        raise typer.Exit(ExitCode.FAILED)
