"""Free ports on loopback, remembered with the data so that a restart keeps them."""

from __future__ import annotations

import random
import socket
from collections.abc import Mapping, Sequence

from chronofact.embedded.errors import EmbeddedError

LOOPBACK = "127.0.0.1"
# Below the range that outgoing connections take their ports from, so that none steals one of ours.
RANGE = range(20_000, 30_000)
TRIES_MAX = 200
# Of the machine, not of the seeded generator: two processes with one seed would ask for the same ports at once.
CHANCE = random.SystemRandom()


def is_free(port: int) -> bool:
    """Whether a listener could be opened on the port now."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
            probe.listen(1)
        except OSError:
            return False
    return True


def choose_ports(names: Sequence[str], remembered: Mapping[str, int], base: int | None = None) -> dict[str, int]:
    """A port for each name: `base` and those after it, else the remembered one if free, else any."""
    if base is not None:
        return _from_base(names, base)
    chosen: dict[str, int] = {}
    for name in names:
        port = remembered.get(name)
        if port is None or port in chosen.values() or not is_free(port):
            port = _any_free({*chosen.values(), *remembered.values()})
        chosen[name] = port
    return chosen


def _from_base(names: Sequence[str], base: int) -> dict[str, int]:
    chosen = {name: base + step for step, name in enumerate(names)}
    taken = [f"{name} {port}" for name, port in chosen.items() if not is_free(port)]
    if taken:
        raise EmbeddedError(f"ports in use: {', '.join(taken)}", remedy="take another --port-base, or none")
    return chosen


def _any_free(avoided: set[int]) -> int:
    for _ in range(TRIES_MAX):
        port = CHANCE.choice(RANGE)
        if port not in avoided and is_free(port):
            return port
    raise EmbeddedError(f"no free port between {RANGE.start} and {RANGE.stop}")
