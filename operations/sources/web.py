"""A web site by its sitemap, or one page of it, as a source."""

import gzip
import io
from collections.abc import AsyncGenerator
from pathlib import PurePosixPath
from typing import NamedTuple
from urllib.parse import SplitResult, urljoin, urlsplit
from urllib.robotparser import RobotFileParser
from xml.etree import ElementTree

from operations.documents import LeftOutFile
from operations.media_types import suffix_of
from operations.sources.http import WebAnswer, fetch, host_of, web_client
from operations.sources.port import Listing, SourceFile, SourceItem
from runtime.errors import InvalidInput
from runtime.parsing.files import MAX_FILE_BYTES, refuse_larger
from runtime.parsing.kinds import KINDS

MAX_PAGES = 50_000
"""Pages of one source: as many as one sitemap may have."""

MAX_DEPTH = 3
"""Sitemaps that name sitemaps, one below the other."""


class SitemapEntry(NamedTuple):
    """An address of a sitemap, and when it says that it changed; empty where it does not."""

    url: str
    modified_at: str


class WebSource:
    """The pages of a sitemap, of the sitemaps that a site's robots.txt names, or one page.

    `lastmod` of the sitemap is a version; a page without one is read, and its bytes tell. Pages of
    other hosts, and what robots.txt forbids, are skipped.
    """

    lists_all = True
    versions_tell_content = False

    def __init__(self, address: SplitResult) -> None:
        self.name = address._replace(fragment="").geturl()
        self.site = f"{address.scheme}://{address.netloc}"
        self._client = web_client()

    async def list_items(self, cursor: str) -> Listing | None:
        """Return the pages; see the port."""
        robots = await self._robots()
        listing = Listing()
        async for entry in self._entries(robots):
            reason = "" if host_of(entry.url) == host_of(self.name) else "on another host"
            if reason := reason or ("" if robots.can_fetch("*", entry.url) else "robots.txt"):
                listing.skipped_files.append(LeftOutFile(entry.url, reason))
                continue
            name = entry.url.partition("://")[2].rstrip("/")
            listing.items.append(SourceItem(entry.url, name, entry.modified_at, entry.url))
            if len(listing.items) > MAX_PAGES:
                raise InvalidInput(f"{self.name} has more than {MAX_PAGES:,} pages: name a part")
        return listing

    async def _robots(self) -> RobotFileParser:
        robots = RobotFileParser()
        try:
            text = (await fetch(self._client, f"{self.site}/robots.txt")).data
        except InvalidInput:
            text = b""
        robots.parse(text.decode("utf-8", "replace").splitlines())
        return robots

    async def _entries(self, robots: RobotFileParser) -> AsyncGenerator[SitemapEntry]:
        path = urlsplit(self.name).path
        if path not in ("", "/") and not path.endswith((".xml", ".xml.gz")):
            yield SitemapEntry(self.name, "")
            return
        sitemaps = [self.name] if path not in ("", "/") else robots.site_maps() or []
        for url in sitemaps or [f"{self.site}/sitemap.xml"]:
            async for entry in self._of_sitemap(url, MAX_DEPTH):
                yield entry

    async def _of_sitemap(self, url: str, depth: int) -> AsyncGenerator[SitemapEntry]:
        root = _xml(await fetch(self._client, url))
        is_index = root.tag.endswith("sitemapindex")
        if is_index and not depth:
            raise InvalidInput(f"{url} is a sitemap of sitemaps of sitemaps: name one of them")
        for element in root:
            fields = {child.tag.rpartition("}")[2]: child.text or "" for child in element}
            place = urljoin(url, fields.get("loc", "").strip())
            if not is_index and place != url:
                yield SitemapEntry(place, fields.get("lastmod", "").strip())
            elif is_index and host_of(place) == host_of(self.name):
                async for entry in self._of_sitemap(place, depth - 1):
                    yield entry

    async def read(self, item: SourceItem) -> SourceFile:
        """Return a page; see the port."""
        answer = await fetch(self._client, item.url)
        if host_of(answer.url) != host_of(self.name):
            raise InvalidInput(f"leads to another host, {host_of(answer.url)}")
        return web_file(answer)

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()


def web_file(answer: WebAnswer) -> SourceFile:
    """Return a page as a file: its suffix is that of its media type, else that of its address."""
    path = PurePosixPath(urlsplit(answer.url).path)
    stem = path.stem or "index"
    own_suffix = path.suffix.lower()
    is_page = suffix_of(answer.media_type) == ".html"
    suffix = (
        own_suffix
        if own_suffix in KINDS and not is_page
        else suffix_of(answer.media_type) or own_suffix
    )
    return SourceFile(answer.data, f"{stem}{suffix}", answer.encoding)


def _xml(answer: WebAnswer) -> ElementTree.Element:
    """Return the root of a sitemap. Raises InvalidInput for anything else."""
    data = answer.data
    try:
        if data.startswith(b"\x1f\x8b"):
            with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
                data = file.read(MAX_FILE_BYTES + 1)
            refuse_larger(len(data), answer.url)
        # Expat bounds what entities may grow to; nothing outside is loaded.
        root = ElementTree.fromstring(data)  # noqa: S314
    except (ElementTree.ParseError, OSError, EOFError):
        raise InvalidInput(f"{answer.url} is no sitemap: name its address, or a page") from None
    if not root.tag.endswith(("urlset", "sitemapindex")):
        raise InvalidInput(
            f"{answer.url} is no sitemap but <{root.tag}>; a feed is rss:{answer.url}"
        )
    return root
