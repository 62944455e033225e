"""Kafka and Postgres alone, without the services, for development and tests.

    python -m chronofact.embedded --data DIR [--while-used FILE] [--throwaway]

Writes their addresses into `stack.json` of the folder. With `--while-used` it leaves once nobody holds a shared
lock on that file any more, so that test processes that die take it along.
"""

from __future__ import annotations

import argparse
import fcntl
import os
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path

from chronofact.embedded.errors import EmbeddedError
from chronofact.embedded.stack import Addresses, Stack
from chronofact.runtime.lifecycle import interrupt_on_signals

LOOK_S = 0.5
NAMES = ("writer", "reader", "reconciler", "projector", "kafka", "postgres")


def main() -> int:
    """Run until a signal or the end of use."""
    parser = argparse.ArgumentParser(prog="python -m chronofact.embedded")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--while-used", type=Path)
    parser.add_argument("--throwaway", action="store_true", help="wait for no disk, and leave nothing; for tests")
    options = parser.parse_args()
    try:
        with interrupt_on_signals():
            _run(Stack(options.data, is_durable=not options.throwaway), options.while_used)
        if options.throwaway:
            shutil.rmtree(options.data, ignore_errors=True)
    except KeyboardInterrupt:
        return 0
    except EmbeddedError as error:
        print(error, error.remedy, sep="\n", file=sys.stderr)
        return 1
    return 0


def _run(stack: Stack, used: Path | None) -> None:
    is_wanted = _always if used is None else _is_used(used)
    with stack as addresses:
        _publish(stack, addresses)
        try:
            while is_wanted():
                time.sleep(LOOK_S)
                for unit in stack.units.values():
                    if happened := unit.tick():
                        print(happened, file=sys.stderr)
        finally:
            stack.folder.stack_file.unlink(missing_ok=True)


def _always() -> bool:
    return True


def _publish(stack: Stack, addresses: Addresses) -> None:
    found = {"kafka": addresses.kafka, "postgres": addresses.postgres, "pid": os.getpid()}
    stack.folder.write("stack.json", dict.fromkeys(NAMES) | found)


def _is_used(file: Path) -> Callable[[], bool]:
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT, 0o600)

    def held_by_others() -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        return False

    return held_by_others


if __name__ == "__main__":
    sys.exit(main())
