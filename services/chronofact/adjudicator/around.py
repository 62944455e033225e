"""What is away of all that the adjudicator needs: on /readyz, in its log once and then less and less often, and as metric."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

import structlog

from chronofact.runtime.failures import Transient, Unfit
from chronofact.runtime.health import Health, Reason, reason_of
from chronofact.runtime.metrics import Metrics

FIRST_PAUSE_S: Final = 60.0
PAUSE_S_MAX: Final = 3_600.0
AWAY: Final = "chronofact_adjudicator_away"


@dataclass(slots=True)
class _Hindrance:
    """Of one part: since when, by what, and when it is said again."""

    since: float
    code: str
    again_at: float
    pause_s: float = FIRST_PAUSE_S


class Around(Health):
    """Health that is told where each part is looked for, and says aloud what it is told."""

    def __init__(
        self, addresses: Mapping[str, str | None], metrics: Metrics, *, monotonic: Callable[[], float]
    ) -> None:
        super().__init__(*addresses)
        self._addresses = addresses
        self._monotonic = monotonic
        self._hindrances: dict[str, _Hindrance] = {}
        self._away = metrics.gauge(AWAY)
        for part in addresses:
            self._away.labels(part).set(0)

    def hindered(self, part: str, failure: Transient | Unfit | Reason) -> None:
        """As of Health; the address is told with it."""
        if isinstance(failure, Reason):
            # what we do ourselves, as leaving
            super().hindered(part, failure)
            return
        reason = reason_of(failure)
        address = self._addresses.get(part)
        if address is not None:
            reason = Reason(reason.code, f"{reason.message} ({address})", reason.remedy)
        super().hindered(part, reason)
        self._away.labels(part).set(1)
        now = self._monotonic()
        known = self._hindrances.get(part)
        if known is None:
            known = self._hindrances[part] = _Hindrance(now, reason.code, now)
        elif known.code != reason.code:
            known.code, known.again_at, known.pause_s = reason.code, now, FIRST_PAUSE_S
        if now >= known.again_at:
            known.again_at = now + known.pause_s
            known.pause_s = min(PAUSE_S_MAX, 2 * known.pause_s)
            structlog.get_logger().warning(
                "hindered",
                part=part,
                code=reason.code,
                message=reason.message,
                remedy=reason.remedy,
                for_s=round(now - known.since, 1),
            )

    def ready(self, part: str) -> None:
        """As of Health."""
        super().ready(part)
        self._away.labels(part).set(0)
        known = self._hindrances.pop(part, None)
        if known is not None:
            structlog.get_logger().info("recovered", part=part, for_s=round(self._monotonic() - known.since, 1))
