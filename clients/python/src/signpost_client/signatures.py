"""Verifies that a callback comes from Signpost and is unchanged, by its headers or by the query of a GET alone."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import re
import time
from typing import Iterable, Optional, Protocol, Sequence, Tuple

from .errors import InvalidParameter, InvalidSignature, InvalidTime

TOLERANCE = 300
"""Seconds that a callback's time may be before or after the clock."""


class Headers(Protocol):
    """A dict of headers, or what `http.server` and the frameworks have."""

    def items(self) -> Iterable[Tuple[str, str]]: ...


def secret_key(secret: str) -> bytes:
    """The bytes of a callback's secret: `whsec_` and base64 of 24 to 64 bytes."""
    try:
        key = base64.b64decode(secret[len("whsec_"):], validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if not secret.startswith("whsec_") or not 24 <= len(key) <= 64:
        raise InvalidParameter("a callback's secret must be whsec_ and base64 of 24 to 64 bytes")
    return key


def verify_callback(
    secrets: Sequence[str],
    headers: Headers,
    payload: bytes,
    *,
    now: Optional[float] = None,
    tolerance: float = TOLERANCE,
) -> None:
    """Raises InvalidSignature or InvalidTime unless one of the secrets signed the callback.

    `payload` is a POST's body as it came, or a GET's query as it came, without the "?". While a secret rotates there are
    two secrets. `now` is the time in UNIX seconds; the clock's, without it.
    """
    timestamp = header(headers, "webhook-timestamp")
    _check_time(timestamp, now, tolerance)
    message = f"{header(headers, 'webhook-id')}.{timestamp}.".encode() + payload
    signatures = header(headers, "webhook-signature").split(" ")
    for secret in secrets:
        mac = hmac.new(secret_key(secret), message, hashlib.sha256).digest()
        expected = b"v1," + base64.b64encode(mac)
        if any(hmac.compare_digest(expected, signature.encode()) for signature in signatures):
            return
    raise InvalidSignature()


def verify_callback_query(
    secrets: Sequence[str],
    query: str,
    *,
    name: str = "signature",
    now: Optional[float] = None,
    tolerance: float = TOLERANCE,
) -> None:
    """Verifies a GET by its query alone, as received and without the "?", for receivers that do not see the headers. `name` is
    "signature_hmac" where `legacy_md5` is set."""
    before, separator, signature = query.rpartition(f"&{name}=")
    if not separator:
        raise InvalidSignature()
    timestamp = re.search("&ts=([0-9]{1,12})&", f"&{before}&")
    _check_time(timestamp[1] if timestamp else "", now, tolerance)
    for secret in secrets:
        expected = hmac.new(secret_key(secret), before.encode(), hashlib.sha256).hexdigest()
        if hmac.compare_digest(expected.encode(), signature.encode()):
            return
    raise InvalidSignature()


def _check_time(timestamp: str, now: Optional[float], tolerance: float) -> None:
    clock = time.time() if now is None else now
    # No comparison with NaN is true, so a clock that is none refuses.
    if not re.fullmatch("[0-9]{1,12}", timestamp) or not abs(clock - int(timestamp)) <= tolerance:
        raise InvalidTime()


def header(headers: Headers, name: str) -> str:
    """Finds a header, whatever the case of its name. `name` is in lower case."""
    return next((value for known, value in headers.items() if known.lower() == name), "")
