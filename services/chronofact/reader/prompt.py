"""What is settled as lines for a prompt, one a line whatever a value holds: nothing in it can look like a line of ours."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from chronofact.domain.inert import inert, quoted

SOURCES_TOLD: Final = 3
_SHORT_CHARS: Final = 120
_PLAIN_SCOPE: Final = re.compile(r"[a-z0-9_]+:[\w./@+~%-]+", re.ASCII)


def short(text: str) -> str:
    """The beginning of a text that is too long to ask about."""
    return text if len(text) <= _SHORT_CHARS else f"{text[:_SHORT_CHARS]}…"


def scope_told(scope: str) -> str:
    """A scope as it is, or quoted where it has more than plain characters."""
    return scope if _PLAIN_SCOPE.fullmatch(scope) else quoted(scope)


def line(
    key: str,
    scope: str,
    value: bytes,
    during: tuple[str | None, str | None],
    sources: Sequence[str],
    *,
    sources_count: int,
    is_start_known: bool = True,
) -> str:
    """One settled value: what, where, since when, and by whose word."""
    told = ", ".join(quoted(source) for source in sources[:SOURCES_TOLD])
    more = sources_count - min(len(sources), SOURCES_TOLD)
    beside = f" and {more} more" if more > 0 else ""
    return f"- {key} in {scope_told(scope)}: {inert(value.decode())} ({_span(*during, is_start_known=is_start_known)}; source {told}{beside})"


def _span(start: str | None, end: str | None, *, is_start_known: bool) -> str:
    if not is_start_known:
        return "start unknown" if end is None else f"start unknown, until {end}"
    if start is None:
        return "always" if end is None else f"until {end}"
    return f"since {start}" if end is None else f"from {start} until {end}"
