"""Our own web page in a browser: what goes wrong in it, whom it asks, and what axe finds in it."""

import gzip
import json
import re
from collections.abc import Callable, Generator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

import httpx
from playwright.sync_api import Browser, ConsoleMessage, Page, Response, expect

from services.gateway.web_page import built_page
from tests.support.servers import missing

AXE = Path(__file__).resolve().parents[2] / "web/node_modules/axe-core/axe.min.js"
PATIENCE = 60_000
"""Milliseconds: a busy machine takes its time."""
USER = "ada"
PASSWORD = "correct horse"
READER = "rea-d-only-0123456789"
WRITER = "w-rites-all-0123456789"
"""Keys: one reads the workspace `default`, the other does everything."""

T = TypeVar("T")
WIDTHS = (1280, 390)
SERIOUS = ("serious", "critical")

expect.set_options(timeout=PATIENCE)

STANDS_STILL = """() => Promise.allSettled(document.getAnimations()
    .filter((one) => one.effect.getComputedTiming().iterations !== Infinity).map((one) => one.finished))"""  # noqa: E501
"""Waits until colours that are changing have changed: contrast is measured of what is seen at that
moment.
"""


@dataclass(frozen=True)
class Built:
    """The built page."""

    folder: Path

    @property
    def first_load(self) -> int:
        """Bytes, compressed, that a browser loads before it shows anything."""
        entry = (self.folder / "index.html").read_text("utf-8")
        files = re.findall(r'(?:src|href)="\./(assets/[^"]+)"', entry)
        assert files
        return sum(len(gzip.compress((self.folder / name).read_bytes())) for name in files)


def built() -> Built:
    """The page as `make web` built it. Skips or fails where it is not."""
    folder = built_page()
    if folder is None or not AXE.is_file():
        missing("the web page is not built with what checks it: make page")
    return Built(folder)


@dataclass
class OwnPage:
    """A page in the browser."""

    page: Page
    api: str
    faults: list[str] = field(default_factory=list[str])
    hosts: set[str] = field(default_factory=set[str])

    def __post_init__(self) -> None:
        self.page.set_default_timeout(PATIENCE)
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.on("console", self._heard)
        self.page.on("response", self._answered)
        self.page.on("request", lambda request: self.hosts.add(_origin(request.url)))

    def _heard(self, said: ConsoleMessage) -> None:
        if said.type == "error":
            self.faults.append(f"{said.text} {said.location.get('url', '')}")

    def _answered(self, answer: Response) -> None:
        if answer.status >= 400:
            self.faults.append(f"{answer.status} {answer.url}")

    def sign_in(self, user: str, password: str) -> None:
        self.page.get_by_label("User name").fill(user)
        self.page.get_by_label("Password").fill(password)
        self.page.get_by_role("button", name="Sign in").click()

    def assert_fits(self) -> None:
        """Nothing is wider than the window or serious for axe, on a screen and on a telephone."""
        for width in (1280, 400):
            self.page.set_viewport_size({"width": width, "height": 800})
            assert self.page.evaluate("document.documentElement.scrollWidth") <= width
            assert self.serious() == [], self.serious()
        self.page.set_viewport_size({"width": 1280, "height": 800})

    def serious(self) -> list[str]:
        """What axe finds serious or worse on the page as it is now."""
        self.page.evaluate(STANDS_STILL)
        # Evaluated, not added as a script: the policy of the page forbids that.
        self.page.evaluate(AXE.read_text("utf-8"))
        result: dict[str, Any] = self.page.evaluate("axe.run()")
        return [
            f"{rule['id']}: {[node['html'][:120] for node in rule['nodes'][:3]]}"
            for rule in result["violations"]
            if rule["impact"] in SERIOUS
        ]


@dataclass
class Visits:
    """Opens pages of a signed-in user, each in a context of its own. All have one password."""

    browser: Browser
    api: str
    user: str = USER

    @cached_property
    def token(self) -> str:
        """The user's token."""
        answer = httpx.post(
            f"{self.api}/login", data={"username": self.user, "password": PASSWORD}, timeout=60
        )
        return str(answer.raise_for_status().json()["access_token"])

    @contextmanager
    def to(self, place: str, **options: Any) -> Generator[OwnPage]:
        """Open the page at that place behind the `#`; nothing may have gone wrong in it in the
        end.
        """
        kept = [{"name": "lightstream.credentials", "value": json.dumps({"token": self.token})}]
        context = self.browser.new_context(
            viewport={"width": 1280, "height": 800},
            storage_state={"cookies": [], "origins": [{"origin": self.api, "localStorage": kept}]},
            **options,
        )
        opened = OwnPage(context.new_page(), self.api)
        opened.page.goto(f"{self.api}/ui/#/{place}")
        try:
            yield opened
            assert opened.faults == [], opened.faults
        finally:
            context.close()

    def add(self, workspace: str, texts: Mapping[str, str]) -> None:
        """Add texts by their names, over HTTP."""
        body = {"texts": list(texts.values()), "file_sources": list(texts)}
        self.post(workspace, "/documents/texts", body)

    def upload(self, workspace: str, name: str, data: bytes) -> None:
        """Upload a file over HTTP."""
        headers = {"X-API-Key": WRITER, "X-Workspace": workspace}
        files = {"file": (name, data)}
        url = f"{self.api}/documents/upload"
        httpx.post(url, files=files, headers=headers, timeout=60).raise_for_status()

    def post(self, workspace: str, path: str, body: Mapping[str, Any]) -> None:
        """Post to a route as somebody who may write."""
        headers = {"X-API-Key": WRITER, "X-Workspace": workspace}
        answer = httpx.post(f"{self.api}{path}", json=body, headers=headers, timeout=60)
        answer.raise_for_status()


def aside(work: Callable[[], T]) -> T:
    """Do this in a thread of its own: in that of the tests the browser's event loop runs
    already.
    """
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(work).result()


def _origin(url: str) -> str:
    """Return scheme and host of an address, "" for what is in the page itself."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}" if parts.netloc else ""
