"""Sums of facts, and the changes of days that were final."""

from __future__ import annotations

import json
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Iterator, List, Optional, cast
from urllib.parse import urlencode

from .errors import DataChanged
from .transport import Options, Transport
from .types import DayChanges, ReportQuery, ReportQueryPagination, ReportRow

_PATH = "/v1/core/reporting/public/signal/report"
_MAX_RESTARTS = 3


@dataclass(frozen=True)
class ReportPage:
    """A page of a report."""

    rows: List[ReportRow]
    """None if no fact matches, or if the page is past the last one. A metric that is 0 is left out of a row."""
    total: int
    """The number of rows on all pages."""
    page: int
    page_size: int
    version: Optional[str]
    """The version of the facts of these days."""
    data_through: Optional[str]
    """The time up to which there is data, in RFC 3339."""
    final_through: Optional[str]
    """The last day of those that are all final."""


class Reports:
    def __init__(self, url: str, api_key: str, options: Options = Options()) -> None:
        """A key with the scope `ia-reporting.READ`. It has one request in 2 seconds, for which the client waits."""
        self._transport = Transport(url, options, {"X-Api-Key": api_key})

    def page(self, query: ReportQuery, *, version: Optional[str] = None) -> ReportPage:
        """Returns one page. With the `version` of another page, it has that version or raises DataChanged."""
        headers = {"Content-Type": "application/json", **({"If-Match": version} if version else {})}
        answer = self._transport.send("POST", f"{_PATH}/generate", headers, json.dumps(query, default=_number))
        return ReportPage(
            # 204, without a body, says that no fact matches.
            rows=answer.json["rows"] if answer.json else [],
            total=int(answer.headers.get("x-total-count", 0)),
            page=int(answer.headers.get("x-page", 0)),
            page_size=int(answer.headers.get("x-page-size", 0)),
            version=answer.headers.get("etag"),
            data_through=answer.headers.get("x-data-through"),
            final_through=answer.headers.get("x-final-through"),
        )

    def pages(self, query: ReportQuery) -> Iterator[ReportPage]:
        """Yields all pages of one version. Raises DataChanged if the facts change meanwhile: drop the pages and begin
        again."""
        version, number = None, 1
        while True:
            pagination: ReportQueryPagination = {**(query.get("pagination") or {}), "page": number}
            page = self.page({**query, "pagination": pagination}, version=version)
            yield page
            if not page.rows or number * page.page_size >= page.total:
                return
            version, number = page.version, number + 1

    def rows(self, query: ReportQuery) -> Iterator[ReportRow]:
        """Yields all rows of one version. Raises DataChanged as `pages` does."""
        for page in self.pages(query):
            yield from page.rows

    def all(self, query: ReportQuery) -> List[ReportRow]:
        """Returns all rows. If the facts change meanwhile it begins again, up to 3 times, and then raises DataChanged."""
        for _ in range(_MAX_RESTARTS):
            try:
                return list(self.rows(query))
            except DataChanged:
                continue
        return list(self.rows(query))

    def changes(self, *, after: Optional[str] = None, limit: int = 100) -> DayChanges:
        """Returns the next changes of final days after a cursor, or from the start without one."""
        query = {"limit": str(limit), **({} if after is None else {"after": after})}
        return cast(DayChanges, self._transport.send("GET", f"{_PATH}/changes?{urlencode(query)}").json)

    def change_pages(self, *, after: Optional[str] = None, limit: int = 1_000) -> Iterator[DayChanges]:
        """Yields all changes of final days after a cursor, in pages."""
        while True:
            page = self.changes(after=after, limit=limit)
            yield page
            if not page["has_more"]:
                return
            after = page["cursor"]


def _number(value: Any) -> float:
    if isinstance(value, Decimal):
        return float(value)
    raise TypeError(f"{value!r} is no JSON")
