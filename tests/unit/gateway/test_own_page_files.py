"""The files of our own web page: who may have them, what a browser is told of them, and where `/`
leads.
"""

from dataclasses import replace
from pathlib import Path

import pytest
from fastapi import FastAPI

from tests.support.access import bearing, behind, client, keyed, with_accounts
from tests.support.querying import QueryHarness

SECRET = "the silver mine"


@pytest.fixture
def app(tmp_path: Path) -> FastAPI:
    """An application with accounts and a built page, with a secret above it and one hidden in
    it.
    """
    page = tmp_path / "page"
    (page / "assets").mkdir(parents=True)
    (page / "index.html").write_text("<html></html>")
    (page / "assets/index-1.js").write_text("start()")
    (page / ".env").write_text(SECRET)
    (tmp_path / "secret.txt").write_text(SECRET)
    return QueryHarness().app(replace(with_accounts(), own_page=page))


async def test_it_is_found_by_the_address_alone_and_needs_no_credentials(app: FastAPI) -> None:
    async with client(app) as browser:
        assert (await browser.get("/")).headers["location"] == "/ui/"
        assert (await browser.get("/ui")).headers["location"] == "/ui/"
        assert (await browser.get("/ui/")).status_code == 200
        assert (await browser.get("/documents/status_counts")).status_code == 401


async def test_only_its_own_scripts_run_and_only_hashed_files_are_kept(app: FastAPI) -> None:
    async with client(app) as browser:
        entry = await browser.get("/ui/")
        script = await browser.get("/ui/assets/index-1.js")
    policy = entry.headers["content-security-policy"]
    assert "default-src 'self'" in policy
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert entry.headers["cache-control"] == "no-cache"
    assert script.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert script.headers["content-type"] == "text/javascript; charset=utf-8"


@pytest.mark.parametrize(
    "path",
    ["/ui/.env", "/ui/assets/../../secret.txt", "/ui/..%2fsecret.txt", "/ui/%2e%2e/secret.txt"],
)
async def test_nothing_else_is_served(app: FastAPI, path: str) -> None:
    async with client(app) as browser:
        answer = await browser.get(path)
    assert answer.status_code in (401, 404)
    assert SECRET not in answer.text


async def test_without_a_built_page_the_address_leads_to_the_api() -> None:
    async with client(QueryHarness().app(behind())) as browser:
        assert (await browser.get("/")).headers["location"] == "/docs"
        assert (await browser.get("/ui/")).status_code == 404


async def test_a_caller_learns_what_they_may_do_and_a_stranger_nothing() -> None:
    reader = "k-reader-0123456789abc"
    app = QueryHarness().app(behind(lightstream_api_keys=f"r:{reader}:u+v:read"))
    async with keyed(app, reader) as caller:
        # Bound to two workspaces, of which none is the default: the caller must name one, and is
        # told which there are.
        principal = (await caller.get("/auth/principal")).json()
    assert principal == {
        "name": "key:r",
        "right": "read",
        "sees_all_documents": True,
        "workspaces": ["u", "v"],
        "default_workspace": "",
    }
    async with client(app) as stranger, bearing(app, "e30.e30.x") as forger:
        assert (await stranger.get("/auth/principal")).status_code == 403
        assert (await forger.get("/auth/principal")).status_code == 401
