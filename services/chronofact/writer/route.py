"""What every route of the writer does around its answer: refusals become answers, and each request is counted."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from typing import Final, TypeAlias

from fastapi import Request, Response
from starlette.requests import ClientDisconnect

from chronofact.domain.errors import Rejected
from chronofact.runtime.http import error_response
from chronofact.runtime.metrics import Metrics

Handler: TypeAlias = Callable[[Request], Awaitable[Response]]
_CUT_SHORT: Final = "the body was cut short"


def counted(route: str, handler: Handler, metrics: Metrics) -> Handler:
    """The handler; what is wrong with a request as a whole is its answer."""
    requests = metrics.counter("chronofact_http_requests_total")
    seconds = metrics.histogram("chronofact_http_request_seconds").labels(route)

    async def respond(request: Request) -> Response:
        started = time.perf_counter()
        try:
            response = await handler(request)
        except Rejected as error:
            response = error_response(error)
        except ClientDisconnect:
            # half a body came and no one waits for an answer: nothing was taken
            response = error_response(Rejected("json_malformed", _CUT_SHORT))
        requests.labels(route, str(response.status_code)).inc()
        seconds.observe(time.perf_counter() - started)
        return response

    return respond
