"""Client of Signpost: offers, signed click URLs, callbacks, conversions, reports and rewards."""

from .callbacks import Callbacks, CallbackStore, MemoryStore, Received
from .clicks import click_url, sign_click
from .conversions import Conversions
from .errors import (
    ConnectionFailed,
    ConversionRefused,
    DataChanged,
    Forbidden,
    InvalidAnswer,
    InvalidCallback,
    InvalidParameter,
    InvalidRequest,
    InvalidSignature,
    InvalidTime,
    RateLimited,
    ServerError,
    SignpostError,
    Timeout,
    Unauthorized,
    Unavailable,
)
from .offers import ListedPage, Offers
from .reports import ReportPage, Reports
from .rewards import Rewards
from .signatures import verify_callback, verify_callback_query
from .transport import Options
from .version import __version__

__all__ = [
    "CallbackStore",
    "Callbacks",
    "ConnectionFailed",
    "ConversionRefused",
    "Conversions",
    "DataChanged",
    "Forbidden",
    "InvalidAnswer",
    "InvalidCallback",
    "InvalidParameter",
    "InvalidRequest",
    "InvalidSignature",
    "InvalidTime",
    "ListedPage",
    "MemoryStore",
    "Offers",
    "Options",
    "RateLimited",
    "Received",
    "ReportPage",
    "Reports",
    "Rewards",
    "ServerError",
    "SignpostError",
    "Timeout",
    "Unauthorized",
    "Unavailable",
    "__version__",
    "click_url",
    "sign_click",
    "verify_callback",
    "verify_callback_query",
]
