"""One call of a model at an OpenAI-compatible address, within its time, by bytes; every failure has a name."""

from __future__ import annotations

import asyncio
import ssl
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Final
from urllib.parse import urlsplit

import httpx2
import openai
from openai import AsyncOpenAI, DefaultAsyncHttpxClient

from chronofact.text.calling import CallFailed, Failure, Model, written_max
from chronofact.text.prompt import Prompt

ANSWER_BYTES_MAX: Final = 1 << 20
_LOCAL: Final = frozenset({"127.0.0.1", "localhost", "::1"})
_AGAIN: Final = frozenset({408, 409, 425, 429})


class Endpoint:
    """Asks that model; one attempt a call, and nothing is kept."""

    def __init__(self, model: Model) -> None:
        self.model = model
        # this machine is never asked through a proxy that the environment names
        is_local = urlsplit(model.url).hostname in _LOCAL
        # loading certificates takes a quarter of a second, which is spared where nothing is sealed
        is_plain = urlsplit(model.url).scheme == "http"
        verify = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT) if is_local and is_plain else True
        self._client = AsyncOpenAI(
            base_url=model.url,
            api_key=model.key or "none",
            max_retries=0,
            timeout=model.timeout_s,
            http_client=DefaultAsyncHttpxClient(trust_env=not is_local, verify=verify),
        )

    async def ask(self, prompt: Prompt) -> bytes:
        """The body of the answer.

        Raises:
            CallFailed: there is none.
        """
        try:
            async with asyncio.timeout(self.model.timeout_s):
                return await self._body(prompt)
        except (TimeoutError, openai.APITimeoutError):
            raise CallFailed(Failure.SLOW, is_passing=True) from None
        except openai.APIStatusError as error:
            raise _failure_of(error.status_code, error.response.headers.get("retry-after")) from None
        except (openai.APIConnectionError, httpx2.HTTPError):
            raise CallFailed(Failure.UNREACHABLE, is_passing=True) from None

    async def _body(self, prompt: Prompt) -> bytes:
        further: dict[str, Any] = {}
        if self.model.temperature is not None:
            further["temperature"] = self.model.temperature
        asking = self._client.chat.completions.with_streaming_response.create(
            model=self.model.name,
            messages=[
                {"role": "system", "content": prompt.instructions},
                {"role": "user", "content": prompt.question},
            ],
            response_format={
                "type": "json_schema",
                "json_schema": {"name": "verdicts", "schema": dict(prompt.schema), "strict": True},
            },
            max_completion_tokens=written_max(prompt),
            **further,
        )
        body = bytearray()
        async with asking as answer:
            async for part in answer.iter_bytes():
                body += part
                if len(body) > ANSWER_BYTES_MAX:
                    raise CallFailed(Failure.TOO_LONG, is_passing=False)
        return bytes(body)

    async def close(self) -> None:
        """Gives its connections back."""
        await self._client.close()


def _failure_of(status: int, retry_after: str | None) -> CallFailed:
    wait_s = seconds_of(retry_after)
    if status == 429:
        return CallFailed(Failure.LIMITED, is_passing=True, retry_after_s=wait_s)
    if status in _AGAIN or status >= 500:
        return CallFailed(Failure.FAILED, is_passing=True, retry_after_s=wait_s)
    return CallFailed(Failure.REFUSED, is_passing=False)


def seconds_of(retry_after: str | None) -> float | None:
    """What ``Retry-After`` says, which is seconds or a date."""
    if retry_after is None:
        return None
    try:
        return max(0.0, float(retry_after))
    except ValueError:
        return _until(retry_after)


def _until(date: str) -> float | None:
    try:
        at = parsedate_to_datetime(date)
    except (ValueError, OverflowError):
        return None
    return max(0.0, (at - datetime.now(UTC)).total_seconds()) if at.tzinfo else None
