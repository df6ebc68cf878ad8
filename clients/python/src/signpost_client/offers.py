"""The offers that an app may show, for the app's backend."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import List, Optional, Sequence
from urllib.parse import urlencode

from .errors import DataChanged
from .transport import Options, Transport
from .types import ListedOffer, OffersFilter

# Beyond this a proxy may refuse the URL, so the filters go into a body, without revalidation.
_MAX_URL_CHARACTERS = 4_000
_MAX_SIZE = 1_000
_MAX_RESTARTS = 3


@dataclass(frozen=True)
class ListedPage:
    """A page of offers, and how long it stays valid."""

    offers: List[ListedOffer]
    total: int
    """The number of offers on all pages."""
    etag: Optional[str]
    """The version of the page."""
    built_at: Optional[str]
    """When the listing was built, as an HTTP date. Pages with the same value belong to one listing."""
    max_age: int
    """Seconds until the listing is built again. Keep the page for that long."""
    is_unchanged: bool
    """Whether this is still the `previous` page."""


class Offers:
    def __init__(self, url: str, app_id: str, pub_key: str, options: Options = Options()) -> None:
        """`app_id` has 8 digits. Keep the Pub-Key in the backend."""
        self._transport = Transport(url, options, {"App-Id": app_id, "Pub-Key": pub_key})

    def page(
        self, page: int, size: int, filters: Sequence[OffersFilter] = (), *, previous: Optional[ListedPage] = None
    ) -> ListedPage:
        """One page, from 1, of at most 1,000 offers. Of a page that has not changed since `previous`, Signpost sends only
        the headers."""
        query = {"page": str(page), "size": str(size)}
        if filters:
            query["filt"] = json.dumps(list(filters))
        path = f"/v1/offer/api?{urlencode(query)}"
        if len(path) > _MAX_URL_CHARACTERS:
            body = json.dumps({"page": page, "size": size, "filt": list(filters)})
            answer = self._transport.send("POST", "/v1/offer/api", {"Content-Type": "application/json"}, body)
        else:
            known = {"If-None-Match": previous.etag} if previous and previous.etag else {}
            answer = self._transport.send("GET", path, known)
        etag = answer.headers.get("etag")
        is_unchanged = previous is not None and previous.etag is not None and previous.etag == etag
        max_age = re.search("max-age=([0-9]+)", answer.headers.get("cache-control", ""))
        return ListedPage(
            offers=previous.offers if previous and is_unchanged else answer.json["offers"],
            total=previous.total if previous and is_unchanged else answer.json["total"],
            etag=etag,
            built_at=answer.headers.get("last-modified"),
            max_age=int(max_age[1]) if max_age else 0,
            is_unchanged=is_unchanged,
        )

    def all(self, filters: Sequence[OffersFilter] = ()) -> List[ListedOffer]:
        """Returns all offers that pass the filters, from one listing. If another is built meanwhile, it begins again."""
        for _ in range(_MAX_RESTARTS + 1):
            offers = self._all_of_one_listing(filters)
            if offers is not None:
                return offers
        raise DataChanged("the listing changed with each page", code="data_changed")

    def _all_of_one_listing(self, filters: Sequence[OffersFilter]) -> Optional[List[ListedOffer]]:
        first = self.page(1, _MAX_SIZE, filters)
        offers, number = list(first.offers), 2
        while len(offers) < first.total:
            page = self.page(number, _MAX_SIZE, filters)
            if page.built_at != first.built_at or page.total != first.total or not page.offers:
                return None
            offers += page.offers
            number += 1
        return offers
