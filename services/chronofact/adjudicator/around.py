"""What is away of all that the adjudicator needs, with its address, and as metric."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Final

from chronofact.runtime.failures import Transient, Unfit
from chronofact.runtime.health import Health, Reason, reason_of
from chronofact.runtime.metrics import Metrics

AWAY: Final = "chronofact_adjudicator_away"


class Around(Health):
    """Health that is told where each part is looked for; rounds of timers hinder nothing but themselves."""

    def __init__(
        self,
        addresses: Mapping[str, str | None],
        metrics: Metrics,
        *,
        rounds: Collection[str] = (),
        monotonic: Callable[[], float],
    ) -> None:
        super().__init__(*addresses, monotonic=monotonic)
        self._addresses = addresses
        self._away = metrics.gauge(AWAY)
        for part in addresses:
            self._away.labels(part).set(0)
        for name in rounds:
            self.counts(name, is_needed=False)

    def hindered(self, part: str, failure: Transient | Unfit | Reason) -> None:
        """As of Health; the address is told with it."""
        if isinstance(failure, Reason):
            super().hindered(part, failure)
            return
        reason = reason_of(failure)
        address = self._addresses.get(part)
        if address is not None:
            reason = Reason(reason.code, f"{reason.message} ({address})", reason.remedy)
        self._hinder(part, reason)
        self._away.labels(part).set(1)

    def ready(self, part: str) -> None:
        """As of Health."""
        super().ready(part)
        self._away.labels(part).set(0)
