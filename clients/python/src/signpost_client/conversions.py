"""The conversions that an advertiser, or its partner, reports."""

from __future__ import annotations

from typing import Optional, cast
from urllib.parse import urlencode

from .transport import Options, Transport
from .types import Conversion, PostbackStatus


class Conversions:
    def __init__(self, url: str, token: str, options: Options = Options()) -> None:
        """`token` is the advertiser's."""
        self._transport = Transport(url, options, {})
        self._token = token

    def report(
        self,
        click_id: str,
        *,
        goal: Optional[str] = None,
        txn: Optional[str] = None,
        status: Optional[PostbackStatus] = None,
        reason: Optional[str] = None,
    ) -> Conversion:
        """Reports a conversion; the answer comes after the commit. It is repeated until it is answered: a click pays each
        goal once, and a repeat is answered with `duplicate` true. Raises ConversionRefused if it is not paid.

        `goal` is a goal's id or event code (`gl_val`); without it the offer's first goal is paid. `txn` is your own id of
        the conversion, at most 128 bytes. `status` is `approved` without it. `reason` says why, for the publisher.
        """
        # In a form, so that no log of URLs has the token.
        form = {"token": self._token, "click_id": click_id}
        given = {"goal": goal, "txn": txn, "status": status, "reason": reason}
        form.update({name: value for name, value in given.items() if value})
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        answer = self._transport.send("POST", "/v2/tracking/conversion", headers, urlencode(form))
        return cast(Conversion, answer.json)
