"""A feed, RSS or Atom, as a source: its entries, each once and whenever it changes."""

import asyncio
import html
from collections.abc import Callable
from typing import Any, cast
from urllib.parse import SplitResult

from contracts.ids import sha256
from operations.sources.http import fetch, host_of, web_client
from operations.sources.port import Listing, SourceFile, SourceItem
from operations.sources.secrets import split_address
from operations.sources.web import web_file
from runtime.errors import InvalidInput


class FeedSource:
    """The entries of a feed. What leaves the feed stays: a feed shows the newest alone.

    An entry without its text is read from the page it links to, if that is on the feed's own host;
    else its summary is the text.
    """

    lists_all = False
    versions_tell_content = False

    def __init__(self, address: SplitResult) -> None:
        self.url = split_address(address.geturl().partition(":")[2]).geturl()
        self.name = f"rss:{self.url}"
        self._client = web_client()
        self._entries: dict[str, Any] = {}

    async def list_items(self, cursor: str) -> Listing | None:
        """Return the entries; see the port."""
        import feedparser  # noqa: PLC0415

        parse_feed = cast("Callable[[bytes], Any]", feedparser.parse)
        answer = await fetch(self._client, self.url)
        feed = await asyncio.to_thread(parse_feed, answer.data)
        if not feed.version:
            raise InvalidInput(f"{self.url} is no feed of RSS or Atom: check the address")
        listing = Listing()
        for entry in cast("list[dict[str, Any]]", feed.entries):
            key = entry.get("id") or entry.get("link") or sha256(_text(entry))
            # Asked by `get`, the library gives the time of publication instead, and warns.
            modified_at = entry["updated"] if "updated" in entry else entry.get("published", "")
            version = modified_at or sha256(_text(entry))
            label = " ".join(entry.get("title", "").split()) or key
            self._entries[key] = entry
            name = f"{host_of(self.url)}/{label.replace('/', ' ')}"[:250]
            listing.items.append(SourceItem(key, name, version, entry.get("link", "")))
        return listing

    async def read(self, item: SourceItem) -> SourceFile:
        """Return the text of an entry as a page; see the port."""
        entry = self._entries[item.key]
        link = entry.get("link", "")
        if not entry.get("content") and link and host_of(link) == host_of(self.url):
            try:
                return web_file(await fetch(self._client, link))
            except InvalidInput:
                # A page that is gone, or closed: what the feed says of it is there.
                if not _text(entry).strip():
                    raise
        heading = html.escape(entry.get("title", ""))
        page = f"<html><body><h1>{heading}</h1>{_text(entry)}</body></html>"
        return SourceFile(page.encode(), "entry.html", "utf-8")

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()


def _text(entry: Any) -> str:
    """Return the text of an entry as HTML: all of it where the feed has that, else the summary."""
    contents = [part.get("value", "") for part in entry.get("content", ())]
    return "\n".join(contents) or entry.get("summary", "")
