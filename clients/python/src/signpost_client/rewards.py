"""The rewards feed: each reward as it is now, in the order of changes. A copy of it misses nothing, even if callbacks fail."""

from __future__ import annotations

from typing import Iterator, Optional, cast
from urllib.parse import urlencode

from .transport import Options, Transport
from .types import ChangedRewards


class Rewards:
    def __init__(self, url: str, api_key: str, options: Options = Options()) -> None:
        """A key with the scope `ia-rewards.READ`. It has one request in a second, for which the client waits."""
        self._transport = Transport(url, options, {"X-Api-Key": api_key})

    def page(self, *, after: Optional[str] = None, app: Optional[str] = None, limit: int = 100) -> ChangedRewards:
        """The next changes after a cursor; everything without one. `app` is the App-Id of the only app to read."""
        query = {"limit": str(limit), "after": after, "app": app}
        path = f"/v1/core/rewards?{urlencode({name: value for name, value in query.items() if value is not None})}"
        return cast(ChangedRewards, self._transport.send("GET", path).json)

    def pages(
        self, *, after: Optional[str] = None, app: Optional[str] = None, limit: int = 1_000
    ) -> Iterator[ChangedRewards]:
        """All changes after a cursor, in pages. Store the rewards of a page by their `transaction_id`, together with its
        `cursor`: the next run begins there."""
        while True:
            page = self.page(after=after, app=app, limit=limit)
            yield page
            if not page["has_more"]:
                return
            after = page["cursor"]
