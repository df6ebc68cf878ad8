"""Extends schemathesis: text bodies, JSON integers, and report keys in turn (each may send one query in 2 seconds)."""

import atexit
import collections
import itertools
import json
import os

import schemathesis


def text(ctx, value):
    """Sends text and bytes unchanged, and other values as JSON. A body of `format: binary` comes in a wrapper."""
    value = getattr(value, "data", value)
    if isinstance(value, bytes):
        return value
    return (value if isinstance(value, str) else json.dumps(value)).encode("utf-8", "surrogatepass")


schemathesis.serializer("text/csv", "application/x-ndjson")(text)

# The keys of each scope, by the one that is configured.
KEYS = {
    os.environ[name]: itertools.cycle(os.environ[name + "S"].split(","))
    for name in ("REPORT_KEY", "REWARDS_KEY", "PRIVACY_KEY", "TEST_KEY")
}


def integers(value):
    """Turns `1.0` into `1`, and a number of the largest doubles into 0: JSON Schema accepts them, Signpost does not, and no schema
    can say so."""
    if isinstance(value, dict):
        return {name: integers(member) for name, member in value.items()}
    if isinstance(value, list):
        return [integers(item) for item in value]
    if isinstance(value, int) and abs(value) > 1e308:
        return 0
    return int(value) if isinstance(value, float) and value.is_integer() else value


# The publisher whose credentials are used, its advertiser and its app, and what is written in their place; and the keys
# of its spare that are used. Schemathesis also takes ids from answers, so it would find them.
KEPT = {"keeper": "spare", "20000090": "20000091"} | dict.fromkeys(os.environ["KEPT_KEYS"].split(","), "0" * 16)


# Each action on a conversion gets one that no other action has ended.
with open("transactions.txt", encoding="utf-8") as file:
    UNSETTLED = [json.loads(line) for line in file]
ACTIONS = ("approve_conversion", "reject_conversion", "reverse_conversion")


@schemathesis.hook
def before_call(context, case, kwargs):
    """Replaces the configured report key and conversions that are settled by the next ones, and ids that no request may write
    to."""
    case.body = integers(case.body)
    operation = case.operation.definition.raw.get("operationId")
    # The test of a callback changes nothing, and needs an app whose callback is still there.
    if case.method.upper() not in ("GET", "HEAD") and operation != "test_callback":
        for name, value in (case.path_parameters or {}).items():
            case.path_parameters[name] = KEPT.get(value, value)
    # This may suspend the publisher, and then its keys are refused.
    if operation == "put_publisher" and case.path_parameters.get("publisher_id") == "spare":
        case.path_parameters["publisher_id"] = "lumen-arcade"
    if operation in ACTIONS and len(UNSETTLED) > 1:
        # Also in place of ids that an answer had.
        if len(case.path_parameters.get("transaction_id", "")) == 36:
            case.path_parameters["transaction_id"] = UNSETTLED.pop()
            case.path_parameters["app_id"] = KEPT["20000090"]
    if case.headers and case.headers.get("X-Api-Key") in KEYS:
        case.headers["X-Api-Key"] = next(KEYS[case.headers["X-Api-Key"]])


# The number of answers for each operation and status.
COUNTS = collections.defaultdict(collections.Counter)


@schemathesis.hook
def after_call(context, case, response):
    COUNTS[case.operation.label][str(response.status_code)] += 1


@atexit.register
def write_counts():
    with open("counts.json", "w", encoding="utf-8") as file:
        json.dump(COUNTS, file)
