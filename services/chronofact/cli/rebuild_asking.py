"""What the commands of a rebuild ask the reconciler, and what they say where it can't be asked."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from chronofact.cli.options import HERE, dialled, names_no_server, of_stack, read_settings, url
from chronofact.cli.outcome import ExitCode, Failure

TIMEOUT_S: Final = 30.0
PATIENCE_S: Final = 60.0
"""So long a reconciler may be away, restarted say, while somebody watches."""
_ELSEWHERE: Final = ("CHRONOFACT_CONFIG", "CHRONOFACT_DATA", "CHRONOFACT_RECONCILER_HOST", "CHRONOFACT_RECONCILER_PORT")
_USUAL: Final = "http://127.0.0.1:8082"
_REMEDIES: Final = {"not_found": "chronofact rebuild list names those that there were"}
_USAGE: Final = frozenset({400, 413, 422})


class Away(Failure):
    """The reconciler does not answer."""

    def __init__(self, address: str, why: str) -> None:
        super().__init__(
            f"the reconciler can't be reached at {address}: {why}",
            code=ExitCode.UNREACHABLE,
            remedy=_remedy(address),
        )


@dataclass(frozen=True, slots=True)
class Asking:
    """Where the reconciler is, and who asks."""

    address: str
    token: str | None = None

    def start(self, wanted: dict[str, Any]) -> dict[str, Any]:
        """A new rebuild."""
        return self._ask("POST", "/v1/rebuilds", json={name: said for name, said in wanted.items() if said is not None})

    def one(self, number: int) -> dict[str, Any]:
        """How far one has come."""
        return self._ask("GET", f"/v1/rebuilds/{number}")

    def verify(self, number: int, compare_with: str | None) -> dict[str, Any]:
        """Has a failed one verified once more."""
        wanted = {} if compare_with is None else {"compare_with": compare_with}
        return self._ask("POST", f"/v1/rebuilds/{number}/verification", json=wanted)

    def cancel(self, number: int) -> dict[str, Any]:
        """Asks for its end."""
        return self._ask("DELETE", f"/v1/rebuilds/{number}")

    def listed(self, limit: int) -> list[dict[str, Any]]:
        """Newest first."""
        return list(self._ask("GET", "/v1/rebuilds", params={"limit": str(limit)})["rebuilds"])

    def newest(self) -> int:
        """The number of the last one.

        Raises:
            Failure: there is none.
        """
        found = self.listed(1)
        if not found:
            raise Failure("nothing was ever rebuilt here", remedy="chronofact rebuild start")
        return int(found[0]["id"])

    def _ask(self, method: str, path: str, **said: Any) -> dict[str, Any]:
        import httpx

        from chronofact.client.shells import DIRECT, certificates

        verify = certificates(self.address)
        headers = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        try:
            with httpx.Client(
                base_url=self.address, timeout=TIMEOUT_S, headers=headers, mounts=DIRECT, verify=verify
            ) as http:
                answer = http.request(method, path, **said)
        except httpx.HTTPError as error:
            raise Away(self.address, str(error) or type(error).__name__) from None
        if answer.is_success:
            return dict(answer.json())
        raise _refused(self.address, answer.status_code, _error_of(answer))


def asking(data: Path | None, address: str | None, token: str | None) -> Asking:
    """Who is asked: what is said outright, the folder's stack, ``CHRONOFACT_*``, the stack here."""
    return Asking(url(address or _address(data)) or "", token)


def followed(
    asked: Asking,
    number: int,
    *,
    pause_s: float = 0.5,
    sleep: Callable[[float], None] = time.sleep,
    monotonic: Callable[[], float] = time.monotonic,
) -> Iterator[dict[str, Any]]:
    """A rebuild again and again until it is over; a reconciler that is away for a moment is waited for.

    Raises:
        Away: it stays away.
    """
    answered_at = monotonic()
    while True:
        try:
            found = asked.one(number)
        except Away as away:
            if monotonic() - answered_at > PATIENCE_S:
                away.remedy = (
                    f"the rebuild goes on once a reconciler runs; chronofact rebuild watch {number} looks again"
                )
                raise
        else:
            answered_at = monotonic()
            yield found
            if is_over(found):
                return
        sleep(pause_s)


def is_over(found: dict[str, Any]) -> bool:
    """Whether nothing more will happen to it by itself."""
    return found["state"] in {"ready", "cancelled"} or (found["state"] == "failed" and found["waiting"] is None)


def _address(data: Path | None) -> str:
    if data is None:
        settings = read_settings()
        named = {"reconciler_host", "reconciler_port"} & settings.model_fields_set
        here = HERE if not any(name in os.environ for name in _ELSEWHERE) else None
        folders = () if named else (settings.data, here)
        data = next((one for one in folders if one and (one / "stack.json").exists()), None)
        if data is None:
            return f"{dialled(settings.reconciler_host)}:{settings.reconciler_port}"
    found = of_stack(data).get("reconciler")
    if not found:
        raise Failure(f"no reconciler runs in the stack of {data}", code=ExitCode.UNREACHABLE)
    return found


def _remedy(address: str) -> str:
    """Of a reconciler that does not answer; the usual address was tried where nothing names another."""
    if address == _USUAL and names_no_server():
        return f"no stack runs in {HERE}; start one: chronofact up --detach; --data names the folder of another one"
    return "is the stack up? chronofact doctor looks; --data names the folder of another one"


def _error_of(answer: Any) -> tuple[str, str, str | None]:
    try:
        error = answer.json()["error"]
        return str(error["code"]), str(error["message"]), error.get("field")
    except (ValueError, KeyError, TypeError):
        return f"http_{answer.status_code}", "the service gave no reason", None


def _refused(address: str, status: int, error: tuple[str, str, str | None]) -> Failure:
    code, message, field = error
    if status == 503:
        return Away(address, f"{message} ({code})")
    told = f"{message} ({code})"
    if status in _USAGE:
        return Failure(f"{field}: {told}" if field else told, code=ExitCode.USAGE)
    remedy = "give a token by --token or CHRONOFACT_TOKEN" if code.startswith("token_") else _REMEDIES.get(code)
    return Failure(f"refused: {told}", remedy=remedy)
