"""Web sites, feeds and SFTP as sources, from servers on this machine."""

import threading
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import asyncssh
import pytest

from operations.sources.open import open_source
from runtime.errors import InvalidInput, Unavailable

SITEMAP = """<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
<url><loc>{site}/office</loc><lastmod>2026-03-01</lastmod></url>
<url><loc>{site}/rules.pdf</loc></url>
<url><loc>{site}/private/pay</loc></url>
<url><loc>http://elsewhere.example/x</loc></url>
<url><loc>{site}/gone</loc></url></urlset>"""
INDEX = "<sitemapindex><sitemap><loc>{site}/pages.xml</loc></sitemap></sitemapindex>"
FEED = """<rss version="2.0"><channel><title>Port</title>
<item><guid>1</guid><title>Ferry &amp; sluice</title>
<description>&lt;p&gt;Ivo Kern built it.&lt;/p&gt;
</description><pubDate>Mon, 02 Mar 2026 08:00:00 GMT</pubDate></item>
<item><guid>2</guid><title>Office</title><description>Short.</description>
<link>{site}/office</link></item>
<item><guid>3</guid><title>Trap</title><description>Only this.</description>
<link>http://169.254.169.254/secret</link></item>
<item><guid>4</guid><title>Moved</title><description>Nora Pike sails it.</description>
<link>{site}/gone</link></item>
<item><guid>5</guid><title>Nothing</title><link>{site}/gone</link></item></channel></rss>"""


class Pages(BaseHTTPRequestHandler):
    """A site of a few pages."""

    def do_GET(self) -> None:
        site = f"http://127.0.0.1:{self.server.server_address[1]}"
        pages = {
            "/robots.txt": f"User-agent: *\nDisallow: /private/\nSitemap: {site}/map.xml\n",
            "/map.xml": INDEX.format(site=site),
            "/pages.xml": SITEMAP.format(site=site),
            "/office": "<html><body><p>Ädä Marlow leads.</p></body></html>",
            "/rules.pdf": "%PDF-1.4",
            "/feed": FEED.format(site=site),
        }
        text = pages.get(self.path)
        self.send_response(503 if self.path == "/busy" else 200 if text else 404)
        is_page = self.path == "/office"
        self.send_header("Content-Type", "text/html; charset=latin-1" if is_page else "x/y")
        self.end_headers()
        self.wfile.write((text or "").encode("latin-1"))

    def log_message(self, format: str, *args: Any) -> None: ...


@pytest.fixture(scope="module")
def site() -> Generator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Pages) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


async def test_a_site_is_its_sitemap_without_what_robots_forbid_and_other_hosts(site: str) -> None:
    source = open_source(f"{site}/")
    listing = await source.list_items("")
    assert listing
    items = {item.url.removeprefix(site): item for item in listing.items}
    assert items.keys() == {"/office", "/rules.pdf", "/gone"}
    assert [skipped.reason for skipped in listing.skipped_files] == [
        "robots.txt",
        "on another host",
    ]
    assert (items["/office"].version, items["/gone"].version) == ("2026-03-01", "")
    page = await source.read(items["/office"])
    assert (page.name, page.encoding) == ("office.html", "latin-1")
    assert (await source.read(items["/rules.pdf"])).name == "rules.pdf"
    with pytest.raises(InvalidInput, match="answers 404"):
        await source.read(items["/gone"])
    await source.close()


async def test_a_page_is_a_source_by_itself_and_what_is_no_sitemap_says_so(site: str) -> None:
    source = open_source(f"{site}/office")
    listing = await source.list_items("")
    assert listing and [item.url for item in listing.items] == [f"{site}/office"]
    await source.close()
    for path, error in (("/busy.xml", InvalidInput), ("/rules.xml", InvalidInput)):
        source = open_source(site + path)
        with pytest.raises(error, match="404"):
            await source.list_items("")
        await source.close()


async def test_a_feed_is_read_from_its_pages_on_its_own_host_alone(site: str) -> None:
    source = open_source(f"rss:{site}/feed")
    listing = await source.list_items("")
    assert listing and not source.lists_all
    ferry, office, trap, moved, nothing = listing.items
    assert ferry.name == "127.0.0.1/Ferry & sluice" and ferry.version
    texts = [(await source.read(item)).data.decode("latin-1") for item in (ferry, office, trap)]
    assert "<h1>Ferry &amp; sluice</h1>" in texts[0] and "Ivo Kern built it." in texts[0]
    assert "Ädä Marlow leads." in texts[1]
    assert "Only this." in texts[2]
    assert b"Nora Pike sails it." in (await source.read(moved)).data, "its page is gone"
    with pytest.raises(InvalidInput, match="answers 404"):
        await source.read(nothing)
    await source.close()
    no_feed = open_source(f"rss:{site}/office")
    with pytest.raises(InvalidInput, match="is no feed"):
        await no_feed.list_items("")
    await no_feed.close()
    busy = open_source(f"rss:{site}/busy")
    with pytest.raises(Unavailable, match="answers 503"):
        await busy.list_items("")
    await busy.close()


class PasswordServer(asyncssh.SSHServer):
    """Lets Ada in by her password."""

    def password_auth_supported(self) -> bool:
        return True

    def validate_password(self, username: str, password: str) -> bool:
        return (username, password) == ("ada", "secret")


@asynccontextmanager
async def sftp_server(folder: Path) -> AsyncGenerator[tuple[int, asyncssh.SSHKey]]:
    key = asyncssh.generate_private_key("ssh-ed25519")
    server = await asyncssh.listen(
        "127.0.0.1",
        0,
        server_factory=PasswordServer,
        server_host_keys=[key],
        sftp_factory=lambda channel: asyncssh.SFTPServer(channel, chroot=str(folder).encode()),
    )
    async with server:
        yield server.get_port(), key


@contextmanager
def home(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[Path]:
    (folder / ".ssh").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(folder))
    yield folder / ".ssh" / "known_hosts"


async def test_a_folder_over_sftp_needs_a_known_host_and_the_right_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    served = tmp_path / "served"
    (served / "minutes" / "old").mkdir(parents=True)
    (served / "minutes" / "a.md").write_text("Ada leads.", "utf-8")
    (served / "minutes" / "old" / "b.txt").write_text("Olga led.", "utf-8")
    (served / "minutes" / "x.gif").write_bytes(b"x")
    monkeypatch.setenv("SOURCE_PASSWORD", "secret")
    with home(tmp_path / "home", monkeypatch) as known_hosts:
        async with sftp_server(served) as (port, key):
            address = f"sftp://ada@127.0.0.1:{port}/minutes"
            stranger = open_source(address)
            with pytest.raises(InvalidInput, match="known_hosts"):
                await stranger.list_items("")
            await stranger.close()
            public_key = key.export_public_key().decode()
            known_hosts.write_text(f"[127.0.0.1]:{port} {public_key}", "utf-8")
            source = open_source(address)
            listing = await source.list_items("")
            assert listing
            items = {item.key: item for item in listing.items}
            assert items.keys() == {"a.md", "old/b.txt"}
            assert [skipped.name for skipped in listing.skipped_files] == ["x.gif"]
            assert (await source.read(items["old/b.txt"])).data == b"Olga led."
            (served / "minutes" / "a.md").unlink()
            with pytest.raises(InvalidInput, match="cannot be read"):
                await source.read(items["a.md"])
            await source.close()
            monkeypatch.setenv("SOURCE_PASSWORD", "wrong")
            refusing_source = open_source(address)
            with pytest.raises(InvalidInput, match="refuses the user"):
                await refusing_source.list_items("")
            await refusing_source.close()
            monkeypatch.setenv("SOURCE_PASSWORD", "secret")
            nowhere = open_source(f"sftp://ada@127.0.0.1:{port}/nowhere")
            with pytest.raises(InvalidInput, match="cannot be listed"):
                await nowhere.list_items("")
            await nowhere.close()
        silent = open_source(address)
        with pytest.raises(Unavailable, match="does not answer"):
            await silent.list_items("")
        await silent.close()
