"""What others said, as a terminal may be given it: no escape sequence, no turned direction, nothing invisible."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from typing import Any, TypeVar

from chronofact.domain.inert import inert

Body = TypeVar("Body")


def made_inert(body: Body) -> Body:
    """An answer of a service with every text in it escaped, changed in place; a text alone comes back escaped."""
    if isinstance(body, str):
        return inert(body)  # type: ignore[return-value]
    waiting: list[Any] = [body]
    while waiting:
        at = waiting.pop()
        for place, one in _parts(at):
            if isinstance(one, str):
                at[place] = inert(one)
            else:
                waiting.append(one)
        if isinstance(at, dict):
            for name in [name for name in at if inert(name) != name]:
                at[inert(name)] = at.pop(name)
    return body


def shown(body: Body) -> Body:
    """The same of a copy, where the answer itself is still to be used."""
    return made_inert(deepcopy(body))


def _parts(at: Any) -> Iterator[tuple[Any, Any]]:
    if isinstance(at, dict):
        yield from list(at.items())
    elif isinstance(at, list):
        yield from enumerate(at)
