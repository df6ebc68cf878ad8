"""Runs PyPI's stock Standard Webhooks library on each case of the input, like the verifiers in fixtures/."""

import json
import sys

from standardwebhooks import Webhook

for line in sys.stdin:
    case = json.loads(line)
    headers = {f"webhook-{part}": case[part] for part in ("id", "timestamp", "signature")}
    try:
        # The query of a GET is not JSON.
        Webhook(case["secret"]).verify(case["payload"].encode(), headers, json_parse=False)
        print("ok")
    except Exception:
        print("bad")
