"""Click URLs: their parameters, what is refused, and the signatures of docs/INTEGRATING.md ("Signed clicks")."""

import sys
import unittest
from typing import Any, Dict, List

from signpost_client import InvalidParameter, click_url, sign_click
from support import ROOT

sys.path.append(str(ROOT / "fixtures/signers"))
from sign import sign  # type: ignore[import-not-found]

BASE = "https://track.example.com/v2/tracking/click?rid=410271&app=10000001"
SECRET = "demo_click_secret_of_lumen_arcade"


class Clicks(unittest.TestCase):
    def test_parameters_are_appended_and_encoded(self) -> None:
        url = click_url(BASE, user_id="a@b.c", gaid="x y", idfa="", c1="level-7", c3=None, placement="shop")
        self.assertEqual(url, f"{BASE}&user_id=a%40b.c&gaid=x%20y&c1=level-7&placement=shop")

    def test_values_that_signpost_would_refuse_are_refused_before_a_request(self) -> None:
        users = ["", "a b", "é", "x" * 129, "null", "undefined", "None", "(null)", "player\n"]
        wrong: List[Dict[str, Any]] = [{"user_id": user} for user in users]
        wrong += [{"user_id": "u", **more} for more in ({"c1": "a/b"}, {"c5": "x" * 257}, {"placement": "x" * 65})]
        wrong += [{"user_id": "u", **{name: "x" * 193 for name in ("c1", "c2", "c3", "c4")}}]
        for click in wrong:
            with self.subTest(click=click), self.assertRaises(InvalidParameter):
                click_url(BASE, **click)
        for base in (f"{BASE}&user_id={{your_user_id}}", "https://x.example/?rid=1", "https://x.example/"):
            with self.subTest(base=base), self.assertRaises(InvalidParameter):
                click_url(base, user_id="u", secret=SECRET)

    def test_signatures_are_those_of_the_documents_and_of_the_signer(self) -> None:
        self.assertEqual(
            click_url(BASE, user_id="player-1", secret=SECRET),
            f"{BASE}&user_id=player-1&sig=072c09166b69db5c005670f5a1a0b7903c194e347d67a7bd2c23fa2d4f93a1c4",
        )
        self.assertEqual(
            click_url(BASE, user_id="player-1", secret=SECRET, expires_at=1800000000),
            f"{BASE}&user_id=player-1&exp=1800000000"
            "&sig=a0bf445a0e1dc3ba0b500e2a95a2170f208249977d746981f0f5f98753160774",
        )
        for secret, user, end in (("é \u2028", "a@b", None), ("x" * 100, "A-_.@0", 4102444800)):
            self.assertEqual(sign_click(secret, "00000001", user, end), sign(secret, "00000001", user, end))
