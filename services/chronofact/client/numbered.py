"""Arguments of many calls at once: what is wrong with one says which one it is."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from inspect import signature
from typing import Any, Final, TypeVar

from chronofact.contracts.meant import hint
from chronofact.domain.errors import Rejected

_T = TypeVar("_T")
_CALLEE: Final = re.compile(r"^[\w.]+\(\) ")
_UNEXPECTED: Final = re.compile(r"unexpected keyword argument '(\w+)'")


def each(what: str, make: Callable[..., _T], several: Iterable[Mapping[str, Any]]) -> Iterator[_T]:
    """What is made of each mapping of arguments, in order.

    Raises:
        TypeError: of ``what`` number so and so, counted from 0: an argument that is missing, or that there is not.
        Rejected: what is wrong with one, its number before the field.
    """
    for index, one in enumerate(several):
        try:
            yield make(**one)
        except TypeError as error:
            raise TypeError(f"{what} {index}: {_told(str(error), make)}") from None
        except Rejected as error:
            raise error.at(str(index)) from None


def _told(message: str, make: Callable[..., Any]) -> str:
    message = _CALLEE.sub("", message)
    unexpected = _UNEXPECTED.search(message)
    return message + hint(unexpected[1], tuple(signature(make).parameters)) if unexpected else message
