"""The client against a server that is slow, refuses, cuts bodies and changes between pages."""

import json
import time
import unittest
from decimal import Decimal
from email.utils import formatdate
from typing import Any, Callable, Dict, List, Type

from signpost_client import (
    ConnectionFailed,
    ConversionRefused,
    Conversions,
    DataChanged,
    Forbidden,
    InvalidAnswer,
    InvalidRequest,
    Offers,
    Options,
    RateLimited,
    Reports,
    Rewards,
    ServerError,
    SignpostError,
    Timeout,
    Unauthorized,
    Unavailable,
)
from signpost_client.types import OffersFilter, ReportQuery
from support import Servers

QUERY: ReportQuery = {
    "date_range": {"start_date": "2026-11-01", "end_date": "2026-11-02"},
    "dimensions": ["app"],
    "metrics": ["revenue"],
}
TAKEN = {"transaction_id": "0004b572-b3fb-89e8-9a48-bf1b6076df40", "status": "approved", "duplicate": False}
NO_REWARDS = {"rewards": [], "cursor": "2", "has_more": False}
OLD, RECENT = "Sun, 01 Nov 2026 00:00:00 GMT", "Sun, 01 Nov 2026 00:05:00 GMT"


def refusal(status: int, code: str, **headers: str) -> Dict[str, Any]:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return {"status": status, "headers": named, "body": {"error": f"because of {code}", "code": code}}


def page(rows: List[Any], number: int, total: int, etag: str = '"1"') -> Dict[str, Any]:
    headers = {"X-Total-Count": total, "X-Page": number, "X-Page-Size": 1, "ETag": etag, "X-Final-Through": "2026-11-01"}
    return {"headers": headers, "body": {"rows": rows}}


def listing(ids: List[str], total: int, built_at: str) -> Dict[str, Any]:
    headers = {"Last-Modified": built_at, "Cache-Control": "private, max-age=120", "ETag": '"a"'}
    return {"headers": headers, "body": {"offers": [{"id": each} for each in ids], "total": total}}


class Requests(unittest.TestCase):
    servers: Servers

    @classmethod
    def setUpClass(cls) -> None:
        cls.servers = Servers("--faulty")

    @classmethod
    def tearDownClass(cls) -> None:
        cls.servers.stop()

    def setUp(self) -> None:
        self.url: str = self.servers.settings["faulty"]
        self.play = self.servers.play
        options = Options(timeout=1, retries=2, backoff=0.01)
        self.reports = Reports(self.url, "sk", options)
        self.rewards = Rewards(self.url, "sk", options)
        self.offers = Offers(self.url, "10000001", "PUB", options)
        self.conversions = Conversions(self.url, "at_1", options)

    def fails(self, call: Callable[[], Any], error: Type[SignpostError]) -> SignpostError:
        with self.assertRaises(error) as caught:
            call()
        self.assertIs(type(caught.exception), error)
        return caught.exception

    def test_each_status_has_its_class(self) -> None:
        for status, error in [
            (301, InvalidRequest),
            (400, InvalidRequest),
            (401, Unauthorized),
            (403, Forbidden),
            (404, InvalidRequest),
            (409, ConversionRefused),
            (410, ConversionRefused),
            (412, DataChanged),
            (413, InvalidRequest),
            (500, ServerError),
        ]:
            with self.subTest(status=status):
                self.play(refusal(status, "some_code", CF_Ray="8f1-FRA", Location="/elsewhere"))
                thrown = self.fails(lambda: self.reports.page(QUERY), error)
                found = (thrown.status, thrown.code, thrown.message, thrown.request_id)
                self.assertEqual(found, (status, "some_code", "because of some_code", "8f1-FRA"))
                self.assertEqual(len(self.servers.calls), 1)

    def test_an_error_of_a_proxy_has_a_code_by_its_status(self) -> None:
        self.play({"status": 521, "body": "<html>"})
        self.assertEqual(self.fails(lambda: self.reports.page(QUERY), Unavailable).code, "http_521")

    def test_429_waits_for_retry_after(self) -> None:
        self.play(refusal(429, "rate_limit_exceeded", Retry_After="1"), page([{"revenue": 1.5}], 1, 1))
        read = self.reports.page(QUERY)
        self.assertEqual((read.rows, read.final_through), ([{"revenue": Decimal("1.5")}], "2026-11-01"))
        first, second = self.servers.calls
        self.assertGreaterEqual(second["at"] - first["at"], 0.99)

    def test_429_without_an_end_or_with_a_long_wait_is_rate_limited(self) -> None:
        self.play(refusal(429, "rate_limit_exceeded", Retry_After="0"))
        self.fails(lambda: self.reports.page(QUERY), RateLimited)
        self.assertEqual(len(self.servers.calls), 3)
        self.play(refusal(429, "rate_limit_exceeded", Retry_After="3600"))
        self.assertEqual(self.fails(lambda: self.reports.page(QUERY), RateLimited).retry_after, 3600)
        self.assertEqual(len(self.servers.calls), 1)

    def test_retry_after_may_be_a_date(self) -> None:
        self.play(refusal(503, "unavailable", Retry_After=formatdate(time.time() + 3600, usegmt=True)))
        after = self.fails(lambda: self.reports.page(QUERY), Unavailable).retry_after
        self.assertTrue(after and 3590 < after <= 3600, after)

    def test_503_is_repeated_with_a_growing_wait_also_of_a_conversion(self) -> None:
        self.play(refusal(503, "unavailable"), refusal(503, "unavailable"), {"body": TAKEN})
        patient = Conversions(self.url, "at_1", Options(backoff=0.2))
        self.assertEqual(patient.report("click", goal=None), TAKEN)
        first, second, third = calls = self.servers.calls
        self.assertGreaterEqual(second["at"] - first["at"], 0.1)
        self.assertGreaterEqual(third["at"] - second["at"], 0.2)
        sent = ("POST", "/v2/tracking/conversion", "token=at_1&click_id=click")
        self.assertEqual([(each["method"], each["url"], each["body"]) for each in calls], [sent] * 3)
        self.play(refusal(503, "unavailable", Retry_After="0"))
        self.fails(lambda: self.conversions.report("click"), Unavailable)

    def test_a_slow_server_is_a_timeout(self) -> None:
        self.play({"delay": 4})
        self.assertEqual(self.fails(self.rewards.page, Timeout).code, "timeout")
        self.assertEqual(len(self.servers.calls), 3)
        # Each byte comes in time, and the whole does not.
        self.play({"body": NO_REWARDS, "drip": 0.1})
        once = Rewards(self.url, "sk", Options(timeout=1, retries=0))
        self.fails(once.page, Timeout)
        self.play({"delay": 4}, {"body": NO_REWARDS})
        self.assertEqual(self.rewards.page()["cursor"], "2")

    def test_a_cut_body_and_a_broken_connection_are_repeated(self) -> None:
        self.play({"body": NO_REWARDS, "cut": 12}, {"reset": True}, {"body": NO_REWARDS})
        self.assertEqual(self.rewards.page()["cursor"], "2")
        for more in ({}, {"chunked": True}):
            cut = {"body": NO_REWARDS, "cut": 12, **more}
            self.play(cut)
            self.assertIsNone(self.fails(self.rewards.page, ConnectionFailed).status)
            self.assertEqual(len(self.servers.calls), 3)
        nowhere = Rewards("http://127.0.0.1:9", "sk", Options(retries=1, backoff=0.01))
        self.fails(nowhere.page, ConnectionFailed)

    def test_a_body_that_was_cut_before_a_proxy_counted_it(self) -> None:
        for body in ('{"rewards":[', "", "<html>welcome</html>"):
            self.play({"body": body})
            self.fails(self.rewards.page, InvalidAnswer)
            self.assertEqual(len(self.servers.calls), 3)

    def test_a_report_without_a_fact_has_no_rows(self) -> None:
        self.play({"status": 204, "headers": {"X-Total-Count": 0, "X-Page": 1, "X-Page-Size": 10000, "ETag": '"1"'}})
        self.assertEqual(self.reports.all(QUERY), [])
        self.assertEqual(len(self.servers.calls), 1)

    def test_pages_of_a_report_are_of_one_version(self) -> None:
        self.play(page([{"app_id": "1"}], 1, 2), page([{"app_id": "2"}], 2, 2))
        self.assertEqual(self.reports.all(QUERY), [{"app_id": "1"}, {"app_id": "2"}])
        sent = [(each["headers"].get("if-match"), json.loads(each["body"])["pagination"]) for each in self.servers.calls]
        self.assertEqual(sent, [(None, {"page": 1}), ('"1"', {"page": 2})])

    def test_facts_that_change_between_pages(self) -> None:
        changing = [page([{"app_id": "1"}], 1, 2), refusal(412, "data_changed")]
        self.play(*changing, page([{"app_id": "1b"}], 1, 2, '"2"'), page([{"app_id": "2b"}], 2, 2, '"2"'))
        self.assertEqual(self.reports.all(QUERY), [{"app_id": "1b"}, {"app_id": "2b"}])
        self.assertEqual(self.servers.calls[-1]["headers"]["if-match"], '"2"')

        self.play(*changing)
        rows = []
        with self.assertRaises(DataChanged) as caught:
            for row in self.reports.rows(QUERY):
                rows.append(row)
        self.assertEqual((rows, caught.exception.code), ([{"app_id": "1"}], "data_changed"))

        self.play(*changing * 4)
        self.fails(lambda: self.reports.all(QUERY), DataChanged)
        self.assertEqual(len(self.servers.calls), 8)

    def test_a_feed_is_read_by_its_cursor(self) -> None:
        self.play({"body": {**NO_REWARDS, "cursor": "5", "has_more": True}}, {"body": {**NO_REWARDS, "cursor": "7"}})
        cursors = [each["cursor"] for each in self.rewards.pages(after="3", app="10000001")]
        self.assertEqual(cursors, ["5", "7"])
        urls = [f"/v1/core/rewards?limit=1000&after={after}&app=10000001" for after in ("3", "5")]
        self.assertEqual([each["url"] for each in self.servers.calls], urls)
        self.play({"body": {"changes": [], "cursor": "1", "has_more": False, "final_through": None}})
        self.assertEqual([each["final_through"] for each in self.reports.change_pages()], [None])

    def test_an_unchanged_page_of_offers_is_not_sent_again(self) -> None:
        self.play(listing(["1"], 1, OLD), {"status": 304, "headers": {"ETag": '"a"'}})
        first = self.offers.page(1, 10)
        self.assertEqual((first.max_age, first.etag, first.is_unchanged), (120, '"a"', False))
        second = self.offers.page(1, 10, previous=first)
        self.assertEqual((second.offers, second.total, second.is_unchanged), (first.offers, 1, True))
        sent = self.servers.calls[1]["headers"]
        self.assertEqual((sent["if-none-match"], sent["app-id"], sent["pub-key"]), ('"a"', "10000001", "PUB"))

    def test_offers_are_of_one_listing(self) -> None:
        self.play(listing(["1"], 2, OLD), listing(["3"], 2, RECENT), listing(["2"], 2, RECENT), listing(["3"], 2, RECENT))
        self.assertEqual([each["id"] for each in self.offers.all()], ["2", "3"])
        self.play(*[listing(["1"], 2, OLD), listing(["1"], 2, RECENT)] * 4)
        self.fails(self.offers.all, DataChanged)

    def test_filters_that_are_too_long_for_a_url_go_into_a_body(self) -> None:
        self.play(listing([], 0, OLD))
        filters: List[OffersFilter] = [
            {"dim": "offer_id", "match": {"type": "any", "value": [f"offer-{index}" for index in range(1000)]}}
        ]
        self.offers.all(filters)
        (sent,) = self.servers.calls
        self.assertEqual((sent["method"], json.loads(sent["body"])), ("POST", {"page": 1, "size": 1000, "filt": filters}))
