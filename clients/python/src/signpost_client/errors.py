"""The errors, as types. Each is a SignpostError, and its class says what to do about it."""

from __future__ import annotations

from typing import ClassVar, Optional, Type


class SignpostError(Exception):
    """The answer of Signpost, or of a proxy in front of it, to a request that failed."""

    is_temporary: ClassVar[bool] = False
    """Whether the same request may succeed later. The clients have repeated it already."""

    def __init__(
        self,
        message: str,
        *,
        code: str = "unknown",
        status: Optional[int] = None,
        request_id: Optional[str] = None,
        retry_after: Optional[float] = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        """The message, for people."""
        self.code = code
        """The code, for programs. It does not change."""
        self.status = status
        """The HTTP status of the answer, or None if no answer came."""
        self.request_id = request_id
        """The id of the request in the operator's log, where Cloudflare's network gave it one."""
        self.retry_after = retry_after
        """Seconds until the same request may succeed. Set for RateLimited and Unavailable."""

    def __str__(self) -> str:
        return f"{self.message} ({self.code})"


class InvalidRequest(SignpostError):
    """400, 404, 405, 413, 415 or a redirect: the request or its address is wrong; code and message name the place."""


class Unauthorized(SignpostError):
    """401: the key, the token or the Pub-Key is wrong or revoked."""


class Forbidden(SignpostError):
    """403: the key has another scope, or the publisher is not approved."""


class ConversionRefused(SignpostError):
    """409 or 410: the conversion is not paid; code says why."""


class DataChanged(SignpostError):
    """The data changed while its pages were read (412, or offers of two listings). Begin again."""


class ServerError(SignpostError):
    """500: Signpost failed. The client does not repeat the request, because it would most likely fail again."""


class RateLimited(SignpostError):
    """429: the key or the app asked too often. The next request is accepted after `retry_after` seconds."""

    is_temporary = True


class Unavailable(SignpostError):
    """502 to 599: Signpost, or the network in front of it, cannot answer now."""

    is_temporary = True


class Timeout(SignpostError):
    """The answer was not complete in time."""

    is_temporary = True


class ConnectionFailed(SignpostError):
    """The connection failed, or ended before the answer was complete."""

    is_temporary = True


class InvalidAnswer(SignpostError):
    """The answer is not JSON: it was cut off, or another server sent it."""

    is_temporary = True


class InvalidParameter(SignpostError, ValueError):
    """A value that Signpost would refuse. The client found it before it sent anything."""

    def __init__(self, message: str) -> None:
        super().__init__(message, code="invalid_parameter")


class InvalidCallback(SignpostError):
    """A callback that must not be believed. Answer it with 401."""


class InvalidSignature(InvalidCallback):
    """The signature is missing, or none of the secrets made it."""

    def __init__(self) -> None:
        super().__init__("the callback is not signed by a known secret", code="invalid_signature")


class InvalidTime(InvalidCallback):
    """The time of the callback is missing, or too far from the clock."""

    def __init__(self) -> None:
        super().__init__("the time of the callback is missing or too far from the clock", code="invalid_time")


def error_type(status: int) -> Type[SignpostError]:
    """Returns the error for an answer, by its status."""
    by_status = {
        401: Unauthorized,
        403: Forbidden,
        409: ConversionRefused,
        410: ConversionRefused,
        412: DataChanged,
        429: RateLimited,
    }
    if status >= 502:
        return Unavailable
    if status >= 500:
        return ServerError
    return by_status.get(status, InvalidRequest)
