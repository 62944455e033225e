"""Makes the C library give memory back after large requests, so that a process stays as small as its usual work."""

from __future__ import annotations

import ctypes
import gc
import sys
from typing import Final

_TRIM_THRESHOLD: Final = -1
_MMAP_THRESHOLD: Final = -3
_ARENA_MAX: Final = -8


def settle_memory() -> None:
    """Call once, after everything is imported and before the first request.

    Collections need not look at what is loaded by now, and come rarely enough not to be felt. Of glibc: few arenas, and
    a threshold that does not grow with the largest block that was ever freed; other C libraries are left as they are.
    """
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
    if sys.platform != "linux":
        return
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except AttributeError:
        return
    for parameter, setting in ((_MMAP_THRESHOLD, 131_072), (_TRIM_THRESHOLD, 1_048_576), (_ARENA_MAX, 2)):
        mallopt(parameter, setting)
