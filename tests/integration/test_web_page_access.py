"""LightRAG's web page where there are no accounts: it lets a guest in where everything is open, or
asks for a key.
"""

import threading
from collections.abc import Generator
from contextlib import contextmanager

import pytest
import uvicorn
from playwright.sync_api import Browser, Page, TimeoutError, expect

from services.gateway.auth.config import AuthConfig
from services.gateway.settings import GatewaySettings
from tests.support.access import KEY, behind
from tests.support.chromium import browsing
from tests.support.querying import QueryHarness
from tests.support.stack import until
from tests.support.web_page import OpenedPage, folder


@contextmanager
def serving(config: AuthConfig) -> Generator[str]:
    """A query service over empty stores in memory, and its address."""
    app = QueryHarness().app(config, settings=GatewaySettings(workspace="w"))
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="warning", lifespan="off"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    until(lambda: server.started)
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()


@pytest.fixture(scope="module")
def browser() -> Generator[Browser]:
    with browsing() as browser:
        yield browser


def test_where_everything_is_open_nobody_has_to_log_in(browser: Browser) -> None:
    with serving(behind(webui_dir=str(folder()))) as address:
        page = OpenedPage(browser.new_page())
        page.page.goto(address)
        expect(page.page.get_by_text("No Documents")).to_be_visible()
        page.page.close()
    assert page.faults == []


def asked_for_a_key(page: Page, address: str) -> bool:
    """Open the page, which asks once it has seen the server refuse it, if that takes less than its
    own five seconds.
    """
    page.goto(address)
    try:
        page.get_by_placeholder("Enter your API key").wait_for(timeout=20_000)
    except TimeoutError:
        return False
    return True


def test_where_only_a_key_is_configured_the_page_asks_for_it(browser: Browser) -> None:
    with serving(behind(webui_dir=str(folder()), lightrag_api_key=KEY)) as address:
        page = OpenedPage(browser.new_page()).page
        until(lambda: asked_for_a_key(page, address))
        page.get_by_placeholder("Enter your API key").fill(KEY)
        page.get_by_role("button", name="Save").click()
        expect(page.get_by_text("No Documents")).to_be_visible()
        page.close()
