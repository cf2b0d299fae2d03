"""The stack and the browser that the tests of the page share."""

from collections.abc import Generator

import pytest
from playwright.sync_api import Browser

from tests.support.access import SECRET
from tests.support.chromium import browsing
from tests.support.own_page import PASSWORD, READER, USER, WRITER, Visits, built
from tests.support.stack import Stack, running


@pytest.fixture(scope="package")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Generator[Stack]:
    """A stack with an account, two that see what their groups may see, a key that reads and one
    that writes.
    """
    built()
    env = {
        "AUTH_ACCOUNTS": ",".join(f"{name}:{PASSWORD}" for name in (USER, "ann", "bo")),
        "LIGHTSTREAM_PRINCIPALS": "user:ann=group:council, user:bo=group:press",
        "TOKEN_SECRET": SECRET,
        "LIGHTSTREAM_API_KEYS": f"reader:{READER}:default:read,writer:{WRITER}:*:write",
        "KEEP_ORIGINALS": "true",
        "RECEIPTS": "off, receipts=full, story=full",
        "WEBHOOK_ALLOWED_NETWORKS": "127.0.0.0/8",
    }
    with running(tmp_path_factory.mktemp("page") / "data", **env) as stack:
        yield stack


@pytest.fixture(scope="package")
def browser(stack: Stack) -> Generator[Browser]:
    """One browser for all files of this folder."""
    with browsing() as browser:
        yield browser


@pytest.fixture(scope="package")
def visits(browser: Browser, stack: Stack) -> Visits:
    """Pages of their own for whoever asks, signed in already."""
    return Visits(browser, stack.state.api)
