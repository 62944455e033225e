"""Logs as JSON lines on stderr, from a closed list of events; never a value or text of a fact."""

from __future__ import annotations

import logging
import sys
from collections.abc import MutableMapping
from typing import Any, Final

import structlog

from chronofact.runtime.seldom import Seldom

LOG_EVENTS: Final = {
    "started": "The process serves; where, and under which version.",
    "setting_unknown": "A variable CHRONOFACT_* that is no setting: it means nothing, and the nearest one is named.",
    "stopping": "A signal came; what was taken is finished.",
    "stopped": "Everything was handed over.",
    "hindered": "Something outside is away or not as it must be: of what part, why and what helps; again after 1, 3, 7 minutes and so on.",
    "recovered": "What hindered a part has passed; how long it took.",
    "claimed": "The projector owns these partitions and reads them from their checkpoints on.",
    "parked": "Messages that can't be applied were put aside, by code; `chronofact parked list` shows them.",
    "holding": "A new owner found messages parked: how many, and how many facts they hold.",
    "released": "Parked messages were applied after all.",
    "release_failed": "Parked messages were tried again in vain, by code.",
    "dropped": "Messages were given up by EventDropped.",
    "failed": "A fault of ours, or damage: the process, or what feeds one projection, ends before it writes anything else.",
    "request_failed": "A fault of ours while answering; the place in the code, not what was asked.",
    "changes_away": "The reader can't follow its projection for the listeners of changes; they wait.",
    "changes_back": "It follows again, from where it was.",
    "listener_turned_away": "Somebody wanted to follow changes and could not, for what surrounds the reader; why.",
    "explanation_differs": "An explanation and the timeline say different things of one fact; a divergence, to be checked.",
    "checked": "A check is done; how many facts it looked at, and how many divergences it found.",
    "check_failed": "A check came to nothing; the next one begins anew.",
    "verified": "Two projections were held against each other; how many facts, and how many differences.",
    "verification_failed": "A verification that was asked for came to nothing; why is kept with it.",
    "rebuild_faulted": "A fault of ours ended a turn of the rebuilds; the next turn comes all the same.",
    "rebuild_taken": "This reconciler works on a rebuild from now on, anew or where another one stopped.",
    "rebuild_moved": "A rebuild has come to its next state.",
    "rebuild_waits": "A rebuild can't go on for a while, as something around is away; it is tried again.",
    "rebuild_lost": "Another reconciler has taken a rebuild over; this one writes nothing more for it.",
    "rebuild_failed": "A rebuild came to its end in failure: its code is in docs/reference/errors.md.",
    "shadow_swept": "Two projections were compared once more, as a window is open: how many facts are not alike.",
    "shadow_failed": "A comparison can't go on, since a projection of it is gone or fed no more; its window has ended.",
    "still_ended": "Who held something gave no sign of life any more; its session was ended, and others go on.",
    "worker_still": "A worker process of a rebuild gives no sign of life any more; it is killed, and another takes its place.",
    "worker_died": "A worker process of a rebuild died; another takes its place and goes on from what was written.",
    "verdict_refused": "The writer refuses what the adjudicator says of a memory, by code: a fault of ours; the sweep tries again.",
    "job_failed": "Something that a service does by itself met damage, or was refused; it will be tried again.",
    "cut_short": "The process was told to leave and something at work did not end in time; it is gone all the same.",
    "outcome_unknown": "Kafka did not acknowledge a request in time.",
    "library": "A library's own message.",
}
"""Every event that is logged, with the reason it exists."""


def configure_logging(service: str, level: str = "info") -> None:
    """One JSON line an event: at, level, service, event, and what the event names."""
    number = logging.getLevelNamesMapping()[level.upper()]
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            _Named(service),
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True, key="at"),
            structlog.processors.JSONRenderer(sort_keys=True),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(number),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=False,
    )
    libraries = _ToStructlog()
    libraries.addFilter(Seldom())
    logging.basicConfig(handlers=[libraries], level=max(number, logging.WARNING), force=True)


def place_of(error: BaseException) -> str:
    """Where an exception was raised, without its message, which might hold what a caller sent."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    where = "?" if trace is None else f"{trace.tb_frame.f_globals.get('__name__')}:{trace.tb_lineno}"
    return f"{type(error).__name__} at {where}"


class _Named:
    """Every line of whatever thread says which service it is of."""

    def __init__(self, service: str) -> None:
        self._service = service

    def __call__(self, _logger: object, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
        event["service"] = self._service
        return event


class _ToStructlog(logging.Handler):
    """Libraries' messages by their template: their arguments might hold what a caller sent."""

    def emit(self, record: logging.LogRecord) -> None:
        fields: dict[str, Any] = {"library": record.name, "message": str(record.msg)}
        if record.exc_info is not None and record.exc_info[1] is not None:
            fields["error"] = place_of(record.exc_info[1])
        structlog.get_logger().log(record.levelno, "library", **fields)
