"""The stock Standard Webhooks library of PyPI, asked of each case on the input, as the verifiers in fixtures/ are."""

import json
import sys

from standardwebhooks import Webhook

for line in sys.stdin:
    case = json.loads(line)
    headers = {f"webhook-{part}": case[part] for part in ("id", "timestamp", "signature")}
    try:
        # A GET's query is no JSON.
        Webhook(case["secret"]).verify(case["payload"].encode(), headers, json_parse=False)
        print("ok")
    except Exception:
        print("bad")
