"""What a metric is, before any process has it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Service = Literal["writer", "projector", "reader", "reconciler", "adjudicator"]


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric: what it is called, who has it, and what is learned from it."""

    name: str
    kind: Literal["counter", "gauge", "histogram"]
    services: tuple[Service, ...]
    reason: str
    labels: tuple[str, ...] = ()
    buckets: tuple[float, ...] = ()
