"""The servers of the tests, which Node.js runs: a Signpost with the demo's data, and a server that misbehaves by a script."""

import json
import pathlib
import subprocess
import urllib.request
from typing import Any, Dict, List

PACKAGE = pathlib.Path(__file__).resolve().parents[1]
ROOT = PACKAGE.parents[1]
END_SECONDS = 20


class Servers:
    """`settings` has the addresses and the keys."""

    def __init__(self, *arguments: str) -> None:
        command = ["node", str(ROOT / "tests/clients/serve.mjs"), *arguments]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"{command} ended with {self._process.wait()}")
        self.settings: Dict[str, Any] = json.loads(line)

    def stop(self) -> None:
        # They end with their standard input.
        self._process.communicate(timeout=END_SECONDS)

    def play(self, *script: Dict[str, Any]) -> None:
        """The answers that the misbehaving server gives next; the last one again and again."""
        call("POST", f"{self.settings['faulty']}/script", list(script))

    @property
    def calls(self) -> List[Dict[str, Any]]:
        """What was sent to the misbehaving server since its script began."""
        calls: List[Dict[str, Any]] = call("GET", f"{self.settings['faulty']}/calls")
        return calls


def call(method: str, url: str, body: Any = None, headers: Dict[str, str] = {}) -> Any:
    """A request that must succeed; returns its JSON."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"Content-Type": "application/json", **headers}, method=method)
    with urllib.request.urlopen(request) as answer:
        return json.loads(answer.read() or b"null")
