"""``python -m chronofact.reconciler.rebuilding``: a worker of a rebuild.

It ends with its runner: by the end of its standard input, or because the rebuild's epoch is another. On standard output
it gives signs of life, and tells as one JSON line what ended it.
"""

from __future__ import annotations

import gc
import os
import sys
import threading
from contextlib import suppress
from typing import Final

import orjson
import structlog

from chronofact.contracts.rebuilding import RebuildCancelled, RebuildLost
from chronofact.postgres.load_work import LoadWork
from chronofact.reconciler.rebuilding.patience import Patience
from chronofact.reconciler.rebuilding.signs import Signs
from chronofact.reconciler.rebuilding.worker import Worker
from chronofact.runtime.config import settings_or_exit
from chronofact.runtime.failures import Corruption, Unfit
from chronofact.runtime.logging import configure_logging, place_of

FAILED: Final = 1
NICENESS: Final = 10
"""What applies, serves and accepts on the same cores goes first."""


def main() -> None:
    """Run with the arguments that ``processes`` gives."""
    signs = Signs(_give)
    settings = settings_or_exit()
    configure_logging("reconciler", settings.log_level)
    threading.Thread(target=_end_with_runner, daemon=True).start()
    os.nice(NICENESS)
    gc.freeze()
    gc.disable()  # histories leave without a collection, and lines have no cycles; one a bucket takes what is left
    rebuild_id, epoch, number, projection = sys.argv[1:]
    conninfo = settings.postgres.get_secret_value()
    named = {"epoch": int(epoch), "worker": int(number)}
    work = LoadWork(conninfo, int(rebuild_id), projection=projection, step=signs.step, **named)
    threading.Thread(target=signs.give, args=(lambda: work.is_asking,), daemon=True).start()
    try:
        Worker(settings, work, Patience(signs.rest, name=f"rebuild worker {number}")).run()
    except (RebuildLost, RebuildCancelled) as end:
        _tell(signs, kind=type(end).__name__)
    except Unfit as unfit:
        message = str(unfit).removesuffix(f"; {unfit.remedy}")
        _tell(signs, kind="Unfit", code=unfit.code, message=message, remedy=unfit.remedy)
    except Corruption as damage:
        _tell(signs, kind="Corruption", message=str(damage))
    except Exception as fault:  # noqa: BLE001 - a process's entry: whatever it is, it ends here and loudly
        structlog.get_logger().critical("failed", code="fault", message=place_of(fault))
        sys.exit(FAILED)
    finally:
        work.close()


def _give(sign: bytes) -> None:
    with suppress(BrokenPipeError):  # the runner is gone, and so is this, soon
        os.write(1, sign)


def _tell(signs: Signs, **said: str) -> None:
    signs.end()
    sys.stdout.buffer.write(orjson.dumps(said) + b"\n")
    sys.stdout.buffer.flush()


def _end_with_runner() -> None:
    """Nobody takes what a worker without runner finds out, and another runner may be at work by now."""
    while os.read(0, 1):  # not by sys.stdin, whose lock would be held at our own end
        pass
    os._exit(FAILED)


if __name__ == "__main__":
    main()
