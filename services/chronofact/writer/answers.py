"""What callers are told: one result, a list, or lines; spelled by hand where a batch has thousands."""

from __future__ import annotations

import orjson
from starlette.responses import Response

from chronofact.contracts.payload import id_text
from chronofact.domain.errors import Rejected
from chronofact.runtime.http import error_body, error_response
from chronofact.writer.service import Outcome, Result, Taken

LINES = "application/x-ndjson"


def single(taken: Taken) -> Response:
    """The answer to one command: 201, 200 when nothing was published, 422 when it was refused."""
    (result,) = taken.results
    if isinstance(result, Rejected):
        return error_response(result, index=0)
    body = _accepted(result)[:-1] + b',"position":' + _position(taken) + b"}"
    return Response(body, 200 if taken.position is None else 201, media_type="application/json")


def several(taken: Taken) -> Response:
    """``{"results": […], "position"}`` in the order of the commands."""
    results = b",".join(_result(index, one) for index, one in enumerate(taken.results))
    body = b'{"results":[' + results + b'],"position":' + _position(taken) + b"}"
    return Response(body, media_type="application/json")


def lines(taken: Taken) -> Response:
    """A line a result, then the summary."""
    refused = sum(isinstance(one, Rejected) for one in taken.results)
    told = [_result(index, one) for index, one in enumerate(taken.results)]
    told.append(
        b'{"accepted":%d,"rejected":%d,"position":%s}' % (len(taken.results) - refused, refused, _position(taken))
    )
    return Response(b"\n".join(told) + b"\n", media_type=LINES)


def _position(taken: Taken) -> bytes:
    return b"null" if taken.position is None else b'"' + taken.position.encode().encode() + b'"'


def _result(index: int, result: Result) -> bytes:
    if isinstance(result, Rejected):
        return orjson.dumps({"status": "rejected", "error": error_body(result, index=index)})
    return _accepted(result)


def _accepted(result: Outcome) -> bytes:
    version = "" if result.version_id is None else f'"version_id":"{id_text(result.version_id)}",'
    echo = (
        "" if result.idempotency_key is None else f',"idempotency_key":{orjson.dumps(result.idempotency_key).decode()}'
    )
    frames = b"" if result.frames is None else b',"frames":' + result.frames
    ids = (
        f'{{"status":"accepted","event_id":"{id_text(result.event_id)}",{version}'
        f'"fact_id":"{id_text(result.fact_id)}"{echo}'
    )
    return ids.encode() + frames + b"}"
