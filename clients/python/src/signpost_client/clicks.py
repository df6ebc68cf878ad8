"""The tracking URL that a user opens: its parameters, and its signature for an app that has a click secret."""

from __future__ import annotations

import hashlib
import hmac
import re
from typing import Optional
from urllib.parse import quote

from .errors import InvalidParameter

_MAX_USER_ID, _MAX_CUSTOM, _MAX_CUSTOM_TOGETHER, _MAX_PLACEMENT = 128, 256, 768, 64
# A variable that was empty, written out.
_WORDS_FOR_NONE = ("null", "undefined", "none")


def click_url(
    base: str,
    *,
    user_id: str,
    gaid: Optional[str] = None,
    idfa: Optional[str] = None,
    c1: Optional[str] = None,
    c2: Optional[str] = None,
    c3: Optional[str] = None,
    c4: Optional[str] = None,
    c5: Optional[str] = None,
    placement: Optional[str] = None,
    secret: Optional[str] = None,
    expires_at: Optional[int] = None,
) -> str:
    """Appends a click's parameters to an offer's `trk_url_base`.

    `user_id`, `c1` to `c5` and `placement` have letters, digits and `_ @ - .` With the app's click secret the link is
    signed. After `expires_at`, in UNIX seconds, a signed link is refused; without it the link has no end.
    """
    if "?" not in base or "{" in base:
        raise InvalidParameter("base must be the trk_url_base of an offer, which has no placeholders")
    if not user_id or user_id.lower() in _WORDS_FOR_NONE:
        raise InvalidParameter(f"user_id must be the id of a user (got {user_id!r})")
    custom = {"c1": c1, "c2": c2, "c3": c3, "c4": c4, "c5": c5}
    _check("user_id", user_id, _MAX_USER_ID)
    for name, value in custom.items():
        _check(name, value or "", _MAX_CUSTOM)
    if sum(len(value or "") for value in custom.values()) > _MAX_CUSTOM_TOGETHER:
        raise InvalidParameter(f"c1 to c5 must have at most {_MAX_CUSTOM_TOGETHER} characters together")
    _check("placement", placement or "", _MAX_PLACEMENT)
    parameters = {"user_id": user_id, "gaid": gaid, "idfa": idfa, **custom, "placement": placement}
    if secret is not None:
        app = re.search("[?&]app=([0-9]{8})(?:&|$)", base)
        if not app:
            raise InvalidParameter("base has no app: pass the trk_url_base of an offer")
        parameters["exp"] = None if expires_at is None else str(expires_at)
        parameters["sig"] = sign_click(secret, app[1], user_id, expires_at)
    return base + "".join(f"&{name}={quote(value, safe='')}" for name, value in parameters.items() if value)


def sign_click(secret: str, app: str, user_id: str, expires_at: Optional[int] = None) -> str:
    """The `sig` of a click. `user_id` is as it is before it is encoded for the URL."""
    message = f"app={app}&user_id={user_id}" + ("" if expires_at is None else f"&exp={expires_at}")
    return hmac.new(secret.encode(), message.encode(), hashlib.sha256).hexdigest()


def _check(name: str, value: str, maximum: int) -> None:
    if not re.fullmatch(f"[A-Za-z0-9_@.-]{{0,{maximum}}}", value):
        raise InvalidParameter(f"{name} must be at most {maximum} letters, digits and _ @ - . (got {value!r})")
