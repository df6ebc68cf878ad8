"""Callbacks: signatures and times by the cases of the pasted verifiers, events, tests, and what is paid once."""

import base64
import hashlib
import hmac
import json
import time
import unittest
import uuid
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from typing import Any, Dict, Tuple
from urllib.parse import urlencode

from signpost_client import (
    Callbacks,
    InvalidCallback,
    InvalidParameter,
    InvalidSignature,
    InvalidTime,
    MemoryStore,
    verify_callback,
    verify_callback_query,
)
from signpost_client import callbacks as module
from signpost_client import types
from signpost_client.types import CallbackEvent
from support import Servers

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
KEY = base64.b64decode(SECRET[len("whsec_") :])

Sent = Tuple[str, Dict[str, str], bytes]


def event(**more: Any) -> Dict[str, Any]:
    now = int(time.time())
    fields = {
        "user_id": "player-1",
        "value": 350,
        "payout": Decimal("0.35"),
        "currency": "Coins",
        "transaction_id": str(uuid.uuid4()),
        "offer_id": "23817",
        "goal_id": "410271",
        "app_id": "10000001",
        "click_ts": now - 60,
        "conversion_ts": now,
        "status": "approved",
    }
    return {**fields, **more}


def headers(identity: str, payload: bytes) -> Dict[str, str]:
    now = int(time.time())
    mac = hmac.new(KEY, f"{identity}.{now}.".encode() + payload, hashlib.sha256).digest()
    signature = f"v1,{base64.b64encode(mac).decode()}"
    return {"Webhook-Id": identity, "webhook-timestamp": str(now), "webhook-signature": signature}


def by_get(fields: Dict[str, Any]) -> Sent:
    before = f"mine=1&{urlencode(fields)}&ts={int(time.time())}"
    query = f"{before}&signature={hmac.new(KEY, before.encode(), hashlib.sha256).hexdigest()}"
    return f"/callback?{query}", headers(fields["transaction_id"], query.encode()), b""


def by_post(fields: Dict[str, Any]) -> Sent:
    body = json.dumps(fields, default=float).encode()
    return "/callback", headers(fields["transaction_id"], body), body


class Verifiers(unittest.TestCase):
    def test_they_accept_what_the_pasted_ones_accept(self) -> None:
        servers = Servers("--faulty")
        servers.stop()
        cases = servers.settings["cases"]
        good = [case for case in cases if case["good"]]
        self.assertTrue(len(good) > 60 and len(cases) - len(good) > 500)
        for case in cases:
            try:
                if "headers" in case:
                    verify_callback(case["secrets"], case["headers"], case["payload"].encode(), now=case["now"])
                else:
                    verify_callback_query(case["secrets"], case["query"], name=case["name"], now=case["now"])
                believed = True
            except (InvalidSignature, InvalidTime):
                believed = False
            self.assertEqual(believed, case["good"], case)

    def test_an_invalid_time_is_refused(self) -> None:
        _, sent, body = by_post(event())
        with self.assertRaises(InvalidTime):
            verify_callback([SECRET], sent, body, now=float("nan"))

    def test_both_secrets_of_a_rotation_are_accepted(self) -> None:
        _, sent, body = by_post(event())
        other = f"whsec_{base64.b64encode(bytes(24)).decode()}"
        verify_callback([other, SECRET], sent, body)
        with self.assertRaises(InvalidSignature):
            verify_callback([other], sent, body)


class Receivers(unittest.TestCase):
    def setUp(self) -> None:
        self.store = MemoryStore()
        self.callbacks = Callbacks([SECRET], self.store)

    def test_a_wrong_secret_is_found_when_the_receiver_is_made(self) -> None:
        for secrets in ([], [SECRET[len("whsec_") :]], ["whsec_"], ["whsec_AAAA"], ["whsec_%%"], SECRET):
            with self.subTest(secrets=secrets), self.assertRaises(InvalidParameter):
                Callbacks(secrets, self.store)

    def test_an_event_by_get_equals_the_same_by_post(self) -> None:
        identity = str(uuid.uuid4())
        for fields in (
            event(c1="level-7", country="DE", goal_value="keep_level_5"),
            event(status="reversed", value=-350, original_transaction_id=identity, reason="fraud & more"),
            event(status="pending", value=0, payout=0, pending_value=Decimal("350.5"), original_transaction_id=identity),
        ):
            for sent in (by_get(fields), by_post(fields)):
                received = Callbacks([SECRET], MemoryStore()).receive(*sent)
                self.assertEqual((received.event, received.is_new, received.is_test), (fields, True, False))

    def test_amounts_are_exact(self) -> None:
        for value in (Decimal("90071992547409.930001"), Decimal("0.1")):
            target, sent, body = by_post(event())
            body = body.replace(b'"value": 350', f'"value": {value}'.encode())
            received = self.callbacks.receive(target, headers(sent["Webhook-Id"], body), body)
            self.assertEqual(received.event["value"], value)
            self.assertEqual(self.callbacks.receive(*by_get(event(value=value))).event["value"], value)

    def test_a_repeat_is_not_paid_again(self) -> None:
        fields = event()
        with ThreadPoolExecutor() as pool:
            received = list(pool.map(lambda sent: self.callbacks.receive(*sent), [by_get(fields), by_post(fields)] * 4))
        self.assertEqual(sorted(each.is_new for each in received), [False] * 7 + [True])
        self.assertEqual(list(self.store.events.values()), [fields])

    def test_a_test_does_not_reach_the_store(self) -> None:
        received = self.callbacks.receive(*by_get(event(transaction_id=f"test-{'0' * 32}")))
        self.assertEqual((received.is_new, received.is_test, self.store.events), (False, True, {}))

    def test_a_signed_callback_that_cannot_be_read_is_refused(self) -> None:
        without = event()
        del without["user_id"]
        target, _, body = by_post(event())
        for sent in (
            by_get(without),
            by_post(without),
            by_post(event(status="gone")),
            by_get(event(value="many")),
            (target, headers("another", body), body),
            (target, headers("another", b"not JSON"), b"not JSON"),
            (target, headers("another", b"[]"), b"[]"),
        ):
            with self.assertRaises(InvalidCallback):
                self.callbacks.receive(*sent)

    def test_each_error_has_the_status_to_answer_with(self) -> None:
        self.assertEqual(self.callbacks.respond(*by_get(event())), 200)
        target, sent, _ = by_post(event())
        self.assertEqual(self.callbacks.respond(target, sent, b"{}"), 401)

        class Broken:
            def add(self, event: CallbackEvent) -> bool:
                raise RuntimeError("no database")

        with self.assertRaises(RuntimeError):
            Callbacks([SECRET], Broken()).respond(*by_get(event()))

    def test_the_fields_are_those_of_the_document(self) -> None:
        known = {**types.PendingEvent.__annotations__, **types.ReversedEvent.__annotations__}
        self.assertEqual(set(module._REQUIRED + module._OPTIONAL), set(known))
        numbers = {name for name, kind in known.items() if kind.__forward_arg__ in ("Number", "int")}
        self.assertEqual(set(module._AMOUNTS + module._TIMES), numbers)
