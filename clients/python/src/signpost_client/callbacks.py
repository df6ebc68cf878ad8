"""A receiver of callbacks: it verifies each, reads its event, and has the caller's store take each event once."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any, Dict, Protocol, Sequence, cast
from urllib.parse import parse_qsl

from .errors import InvalidCallback, InvalidParameter
from .signatures import TOLERANCE, Headers, header, secret_key, verify_callback
from .types import CallbackEvent


class CallbackStore(Protocol):
    """The place that keeps events, such as a table of the publisher's database."""

    def add(self, event: CallbackEvent) -> bool:
        """Inserts the event under its `transaction_id`, in a column that is unique, and pays it in the same transaction.
        Returns False, and pays nothing, if the id is there already. Two calls with one id may overlap."""


class MemoryStore:
    """Keeps events in memory, for tests. It forgets them when the process ends."""

    def __init__(self) -> None:
        self.events: Dict[str, CallbackEvent] = {}
        self._lock = threading.Lock()

    def add(self, event: CallbackEvent) -> bool:
        with self._lock:
            is_new = event["transaction_id"] not in self.events
            if is_new:
                self.events[event["transaction_id"]] = event
            return is_new


@dataclass(frozen=True)
class Received:
    event: CallbackEvent
    is_new: bool
    """Whether the store took the event just now. Each `transaction_id` is new once."""
    is_test: bool
    """Whether this is a test from the dashboard. A test pays nothing, and the store does not see it."""


_REQUIRED = (
    "user_id", "value", "payout", "currency", "transaction_id", "offer_id", "goal_id", "app_id", "click_ts",
    "conversion_ts", "status",
)
_OPTIONAL = (
    "goal_value", "gaid", "idfa", "c1", "c2", "c3", "c4", "c5", "country", "reason", "token", "signature",
    "original_transaction_id", "pending_value",
)
_AMOUNTS = ("value", "payout", "pending_value")
_TIMES = ("click_ts", "conversion_ts")
_STATUSES = ("approved", "reversed", "pending", "rejected")


class Callbacks:
    def __init__(self, secrets: Sequence[str], store: CallbackStore, tolerance: float = TOLERANCE) -> None:
        """`secrets` has the app's secret; while it rotates the new one and the old one. A callback's time may be
        `tolerance` seconds before or after the clock."""
        if isinstance(secrets, str) or not secrets:
            raise InvalidParameter("secrets must be a list of secrets")
        for secret in secrets:
            # A wrong secret is found here and not with the first callback.
            secret_key(secret)
        self._secrets, self._store, self._tolerance = list(secrets), store, tolerance

    def receive(self, target: str, headers: Headers, body: bytes = b"") -> Received:
        """Verifies a callback and hands its event to the store. Raises InvalidCallback, or what the store raises.

        `target` is the path or the URL with the query as it came, and `body` that of a POST as it came.
        """
        query = target.partition("#")[0].partition("?")[2]
        verify_callback(self._secrets, headers, body or query.encode(), tolerance=self._tolerance)
        event = _event(_from_json(body) if body else _from_query(query))
        if event["transaction_id"] != header(headers, "webhook-id"):
            raise _malformed("transaction_id is not webhook-id")
        is_test = event["transaction_id"].startswith("test-")
        return Received(event, is_new=not is_test and self._store.add(event), is_test=is_test)

    def respond(self, target: str, headers: Headers, body: bytes = b"") -> int:
        """Verifies a callback as `receive` does, and returns the status to answer with: 200, or 401 if it is not valid."""
        try:
            self.receive(target, headers, body)
        except InvalidCallback:
            return 401
        return 200


def _from_json(body: bytes) -> Dict[str, Any]:
    try:
        fields = json.loads(body, parse_float=Decimal)
    except ValueError:
        fields = None
    if not isinstance(fields, dict):
        raise _malformed("the body is no JSON")
    return fields


def _from_query(query: str) -> Dict[str, Any]:
    sent: Dict[str, str] = {}
    for name, value in parse_qsl(query):
        sent.setdefault(name, value)
    fields: Dict[str, Any] = {name: sent[name] for name in _REQUIRED + _OPTIONAL if name in sent}
    if "token" not in fields:
        # It is the signature of the URL, unless `legacy_md5` is set, which has a token.
        fields.pop("signature", None)
    try:
        for name in _TIMES:
            if name in fields:
                fields[name] = int(fields[name])
        for name in _AMOUNTS:
            if name in fields:
                fields[name] = Decimal(fields[name])
    except (ValueError, InvalidOperation):
        raise _malformed(f"{name} is no number") from None
    return fields


def _event(fields: Dict[str, Any]) -> CallbackEvent:
    missing = [name for name in _REQUIRED if name not in fields]
    if missing:
        raise _malformed(
            f"it has no {', '.join(missing)}: verify a URL with macros of other names by verify_callback"
        )
    if fields["status"] not in _STATUSES:
        raise _malformed(f"status is {fields['status']}")
    return cast(CallbackEvent, fields)


def _malformed(why: str) -> InvalidCallback:
    return InvalidCallback(f"the callback cannot be read: {why}", code="invalid_callback")
