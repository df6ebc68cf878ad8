"""The loop of the README against a running Signpost."""

import http.client
import time
import unittest
from datetime import datetime, timezone
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, Callable, Dict, List, Optional, Tuple, TypeVar
from urllib.parse import parse_qs, urlsplit

from signpost_client import (
    Callbacks,
    Conversions,
    DataChanged,
    Forbidden,
    InvalidRequest,
    MemoryStore,
    Offers,
    Reports,
    Rewards,
    Unauthorized,
    click_url,
)
from signpost_client.types import ReportQuery
from readme import loop_text
from support import Servers, call

CLICK_SECRET = "a_click_secret_of_this_test_only"
ANDROID = "Mozilla/5.0 (Linux; Android 14; Pixel 8) Chrome/140.0.0.0 Mobile"

T = TypeVar("T")


def eventually(what: str, attempt: Callable[[], Optional[T]]) -> T:
    give_up = time.monotonic() + 20
    while time.monotonic() < give_up:
        found = attempt()
        if found:
            return found
        time.sleep(0.2)
    raise AssertionError(f"no {what} within 20 s")


def open_link(link: str) -> Tuple[int, str]:
    """Opens a link as a user's browser in Germany; returns the status, and the click id of the landing URL."""
    url = urlsplit(link)
    connection = http.client.HTTPConnection(url.hostname or "", url.port)
    connection.request("GET", f"{url.path}?{url.query}", headers={"CF-IPCountry": "DE", "User-Agent": ANDROID})
    answer = connection.getresponse()
    connection.close()
    return answer.status, parse_qs(urlsplit(answer.headers["Location"] or "").query).get("clickid", [""])[0]


def host(callbacks: Callbacks) -> ThreadingHTTPServer:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            self.send_response(callbacks.respond(self.path, self.headers, body))
            self.end_headers()

        do_POST = do_GET

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    return server


class Loop(unittest.TestCase):
    servers: Servers
    loop: Dict[str, Any] = {}

    @classmethod
    def setUpClass(cls) -> None:
        cls.servers = Servers()
        exec(compile(loop_text(), "README.md", "exec"), cls.loop)

    @classmethod
    def tearDownClass(cls) -> None:
        cls.servers.stop()

    def setUp(self) -> None:
        self.given = given = self.servers.settings
        self.url: str = given["url"]
        self.today = str(datetime.now(timezone.utc).date())
        self.query: ReportQuery = {
            "date_range": {"start_date": self.today, "end_date": self.today},
            "dimensions": ["app", "country"],
            "metrics": ["revenue", "impressions"],
        }
        self.reports = Reports(self.url, given["reportKey"])

    def operator(self, method: str, path: str, body: Any = None) -> Any:
        bearer = {"Authorization": f"Bearer {self.given['operatorToken']}"}
        return call(method, f"{self.url}/v1/operator{path}", body, bearer)

    def send_callbacks(self, url: str, method: str, **more: Any) -> None:
        app = {**self.given["app"], **more, "callback": {"url": url, "method": method, "secret": self.given["secret"]}}
        self.operator("PUT", f"/apps/{self.given['appId']}", app)

    def link(self, user: str) -> str:
        link: str = self.loop["link"](self.url, self.given["appId"], self.given["pubKey"], user)
        return link

    def test_the_loop_of_the_readme_runs(self) -> None:
        for method in ("GET", "POST"):
            with self.subTest(method=method):
                self.run_loop(method)

    def run_loop(self, method: str) -> None:
        store = MemoryStore()
        receiver = host(self.loop["receiver"](self.given["secret"], store))
        self.addCleanup(receiver.server_close)
        self.addCleanup(receiver.shutdown)
        self.send_callbacks(f"http://127.0.0.1:{receiver.server_port}/callback", method)
        user = f"loop-{method}"
        status, click_id = open_link(self.link(user))
        self.assertEqual(status, 302)

        convert = self.loop["convert"]
        first, again = (convert(self.url, self.given["token"], click_id) for _ in range(2))
        transaction = first["transaction_id"]
        self.assertEqual((first["status"], first["duplicate"]), ("approved", False))
        self.assertEqual((again["transaction_id"], again["duplicate"]), (transaction, True))

        event = eventually("callback", lambda: store.events.get(transaction))
        self.assertEqual((event["user_id"], event["value"], event["payout"]), (user, 350, Decimal("0.35")))
        self.assertEqual((event["c1"], event["status"]), ("level-7", "approved"))
        # The same callback again, as after a lost answer.
        conversion = f"/apps/{self.given['appId']}/conversions/{transaction}"
        self.operator("POST", f"{conversion}/replay")
        eventually("second attempt", lambda: len(self.operator("GET", conversion)["attempts"]) >= 2)
        self.assertEqual(len(store.events), 1)

        reward = eventually("reward in the feed", lambda: self.reward(transaction))
        self.assertEqual((reward["user_id"], reward["payout"], reward["state"]), (user, Decimal("0.35"), "approved"))

    def reward(self, transaction: str) -> Optional[Dict[str, Any]]:
        keys = (self.given["reportKey"], self.given["rewardsKey"])
        rows: List[Dict[str, Any]] = list(self.loop["read"](self.url, *keys, self.today))
        names = [row["app"]["name"] for row in rows if "app" in row and row["revenue"] > 0]
        self.assertIn("Lumen Arcade for Android", names)
        return next((row for row in rows if row.get("transaction_id") == transaction), None)

    def test_a_page_of_offers_is_revalidated(self) -> None:
        offers = Offers(self.url, self.given["appId"], self.given["pubKey"])
        first = offers.page(1, 5)
        self.assertEqual(len(first.offers), 5)
        self.assertTrue(0 < first.max_age <= 300)
        second = offers.page(1, 5, previous=first)
        self.assertEqual((second.is_unchanged, second.offers), (True, first.offers))
        self.assertEqual(len(offers.all()), first.total)

    def test_refusals_of_signpost_are_errors_of_their_classes(self) -> None:
        app, key = self.given["appId"], self.given["pubKey"]
        with self.assertRaises(Unauthorized):
            Offers(self.url, app, "0" * 32).all()
        with self.assertRaises(InvalidRequest):
            Offers(self.url, app, key).page(0, 1)
        with self.assertRaises(InvalidRequest) as caught:
            Conversions(self.url, self.given["token"]).report("nonsense")
        self.assertEqual(caught.exception.code, "invalid_click_id")
        with self.assertRaises(Forbidden):
            Rewards(self.url, self.given["reportKey"]).page()
        long_ago: ReportQuery = {**self.query, "date_range": {"start_date": "2020-01-01", "end_date": "2020-01-07"}}
        self.assertEqual(self.reports.all(long_ago), [])

    def test_pages_of_a_report_add_up(self) -> None:
        whole = self.reports.page(self.query)
        self.assertTrue(whole.total > 10 and whole.version)
        self.assertEqual(self.reports.all({**self.query, "pagination": {"count": whole.total // 2 + 1}}), whole.rows)
        with self.assertRaises(DataChanged):
            self.reports.page(self.query, version='"1"')
        for page in self.reports.change_pages():
            self.assertFalse(page["has_more"])

    def sign_clicks(self, unsigned: str, status: int, **secret: str) -> None:
        """Changes the app's click secret, and waits until an unsigned link is answered with this status."""
        self.send_callbacks("https://play.lumen-arcade.example/callback", "GET", **secret)
        self.operator("POST", "/refresh")
        eventually(f"{status} for an unsigned link", lambda: open_link(unsigned)[0] == status)

    def test_a_signed_link_is_redirected(self) -> None:
        unsigned = self.link("signed-user")
        base = unsigned.partition("&user_id=")[0]
        self.sign_clicks(unsigned, 403, click_secret=CLICK_SECRET)
        self.addCleanup(self.sign_clicks, unsigned, 302)
        end = int(time.time()) + 60
        signed = click_url(base, user_id="signed-user", c1="a@b", secret=CLICK_SECRET, expires_at=end)
        self.assertEqual(open_link(signed)[0], 302)
        self.assertEqual(open_link(signed.replace("signed-user", "another-user"))[0], 403)
        self.assertEqual(open_link(click_url(base, user_id="u", secret="another"))[0], 403)
