"""One request: its timeout, its repeats, and its answer as JSON or as an error.

Every call may be repeated: all of them read, except a conversion, and Signpost counts a repeated conversion once.
"""

from __future__ import annotations

import http.client
import json
import random
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from datetime import datetime, timezone
from decimal import Decimal
from email.message import Message
from email.utils import parsedate_to_datetime
from typing import Any, Dict, Mapping, Optional

from .errors import ConnectionFailed, InvalidAnswer, SignpostError, Timeout, error_type
from .version import __version__

_CHUNK_BYTES = 65_536


@dataclass(frozen=True)
class Options:
    """How requests are sent and repeated."""

    timeout: float = 30
    """Seconds for the connection, for each wait for the server, and for reading the answer."""
    retries: int = 4
    """How often a request is repeated after 429, 502 to 599, a timeout or a broken connection."""
    backoff: float = 0.5
    """Seconds before the first repeat, doubled for each further one and drawn at random from the upper half."""
    max_wait: float = 60
    """Seconds that one wait may take. If `Retry-After` asks for more, the error is raised at once."""


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    """The headers, by lower-case name."""
    json: Any
    """The JSON of the body, or None if the body is empty. Numbers with a fraction are Decimals."""


class _AsItIs(urllib.request.HTTPErrorProcessor):
    """Answers of every status are returned. A redirect is not followed, since it would take the key to another host."""

    def http_response(self, request: urllib.request.Request, response: Any) -> Any:
        return response

    https_response = http_response


class Transport:
    def __init__(self, url: str, options: Options, headers: Mapping[str, str]) -> None:
        """`headers` go with each request."""
        if not url.startswith(("http://", "https://")):
            raise ValueError("url must begin with http:// or https://")
        self._url = url.rstrip("/")
        self._options = options
        self._headers = {
            "Accept": "application/json",
            "User-Agent": f"signpost-client-python/{__version__}",
            **headers,
        }
        self._opener = urllib.request.build_opener(_AsItIs())

    def send(
        self, method: str, path: str, headers: Optional[Mapping[str, str]] = None, body: Optional[str] = None
    ) -> Answer:
        repeats = 0
        while True:
            try:
                return self._attempt(method, path, headers or {}, body)
            except SignpostError as error:
                wait = self._wait(error, repeats)
                if not error.is_temporary or repeats >= self._options.retries or wait > self._options.max_wait:
                    raise
            time.sleep(wait)
            repeats += 1

    def _wait(self, error: SignpostError, repeats: int) -> float:
        backoff = min(self._options.max_wait, self._options.backoff * 2.0**repeats * random.uniform(0.5, 1))
        return max(error.retry_after or 0, backoff)

    def _attempt(self, method: str, path: str, headers: Mapping[str, str], body: Optional[str]) -> Answer:
        timeout = self._options.timeout
        request = urllib.request.Request(
            self._url + path,
            data=None if body is None else body.encode(),
            headers={**self._headers, **headers},
            method=method,
        )
        try:
            with self._opener.open(request, timeout=timeout) as response:
                content = _read(response, time.monotonic() + timeout)
                return _answer(response.status, response.headers, content)
        except SignpostError:
            raise
        except (OSError, http.client.HTTPException) as error:
            # urllib wraps what goes wrong before the headers.
            reason = error.reason if isinstance(error, urllib.error.URLError) else error
            if isinstance(reason, TimeoutError):
                raise _timeout(timeout) from error
            raise ConnectionFailed("the connection failed", code="connection_failed") from error


def _timeout(timeout: float) -> Timeout:
    return Timeout(f"no whole answer within {timeout} s", code="timeout")


def _read(response: http.client.HTTPResponse, deadline: float) -> bytes:
    """The whole body. A server that sends it byte by byte is cut off at the deadline."""
    expected = response.length
    content = bytearray()
    while True:
        chunk = response.read1(_CHUNK_BYTES)
        if not chunk:
            break
        content += chunk
        if time.monotonic() > deadline:
            raise TimeoutError
    if expected is not None and len(content) < expected:
        raise http.client.IncompleteRead(bytes(content), expected - len(content))
    return bytes(content)


def _answer(status: int, headers: Message, content: bytes) -> Answer:
    by_name: Dict[str, str] = {name.lower(): value for name, value in headers.items()}
    is_taken, is_empty = 200 <= status < 300 or status == 304, status in (204, 304)
    try:
        parsed = None if is_empty else json.loads(content, parse_float=Decimal)
    except ValueError:
        parsed = None
    if is_taken and (is_empty or parsed is not None):
        return Answer(status, by_name, parsed)
    error, message, code = error_type(status), f"status {status}", f"http_{status}"
    if is_taken:
        error, message, code = InvalidAnswer, f"an answer of status {status} is no JSON", "invalid_answer"
    elif isinstance(parsed, dict):
        message, code = str(parsed.get("error", message)), str(parsed.get("code", code))
    raise error(
        message,
        code=code,
        status=status,
        request_id=by_name.get("x-request-id") or by_name.get("cf-ray"),
        retry_after=_seconds(by_name.get("retry-after", "")),
    )


def _seconds(value: str) -> Optional[float]:
    """The seconds of a `Retry-After`, which may be a date."""
    if value.isdecimal():
        return float(value)
    try:
        return max(0.0, (parsedate_to_datetime(value) - datetime.now(timezone.utc)).total_seconds())
    except (TypeError, ValueError):
        return None
