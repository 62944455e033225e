"""The rule version of a projection, as long as this code knows it."""

from __future__ import annotations

from chronofact.domain.errors import Rejected
from chronofact.domain.rules import check_rule
from chronofact.runtime.failures import Unfit


def known_rule(projection: str, rule: int) -> int:
    """The rule, if it can be folded by.

    Raises:
        Unfit: ``rule_unknown``.
    """
    try:
        return check_rule(rule)
    except Rejected as unknown:
        raise Unfit(
            unknown.code,
            f"projection {projection} has another rule: {unknown}",
            remedy="run the version of Chronofact that made it, or rebuild it by a rule known here",
        ) from None
