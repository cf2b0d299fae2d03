"""A web page beside the API: what a browser is told about its files, and that nothing else on the
disk is served.
"""

import base64
import hashlib
import re
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from runtime.errors import ConfigurationError
from services.gateway.app import create_app
from services.gateway.compat.lightrag_web_page import CONFIG_PLACEHOLDER
from services.gateway.settings import GatewaySettings
from tests.support.access import KEY, PASSWORD, behind, client, with_accounts
from tests.support.querying import QueryHarness

SECRET = "the silver mine"
ENTRY = (
    "<html><title>{name}</title>"
    + CONFIG_PLACEHOLDER.decode()
    + '<script src="./assets/app-1.js"></script></html>'
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A built page, with a secret above it, beside it, hidden in it and behind a link."""
    page = tmp_path / "page"
    files = {
        "page/index.html": ENTRY.format(name="keep"),
        "page/workspace.html": ENTRY.format(name="ask"),
        "page/assets/app-1.js": "start()",
        "page/assets/app-1.css": "a{}",
        "page/favicon.png": "png",
        "page/.env": SECRET,
        "page/.git/config": SECRET,
        "page/assets/.hidden.js": SECRET,
        "secret.txt": SECRET,
        "page-two/secret.txt": SECRET,
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    (page / "assets" / "link.js").symlink_to(tmp_path / "secret.txt")
    (page / "up").symlink_to(tmp_path)
    return page


def served(folder: Path, *, accounts: bool = False, **settings: Any) -> FastAPI:
    config = with_accounts(webui_dir=str(folder)) if accounts else behind(webui_dir=str(folder))
    return QueryHarness().app(config, settings=GatewaySettings(workspace="w", **settings))


async def raw(app: FastAPI, path: str, method: str = "GET") -> tuple[int, dict[str, str], str]:
    """Status, headers and body of a request whose path no client has tidied up."""
    scope: dict[str, Any] = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": path,
        "raw_path": path.encode("utf-8", "surrogateescape"),
        "query_string": b"",
        "root_path": "",
        "headers": [(b"host", b"localhost")],
        "client": ("127.0.0.1", 1234),
        "server": ("127.0.0.1", 80),
    }
    messages: list[Any] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        messages.append(message)

    await app(scope, receive, send)
    headers = {name.decode(): value.decode() for name, value in messages[0]["headers"]}
    return (
        messages[0]["status"],
        headers,
        b"".join(message.get("body", b"") for message in messages[1:]).decode(),
    )


async def test_a_browser_that_opens_the_address_gets_the_page(folder: Path) -> None:
    async with client(served(folder, accounts=True)) as browser:
        for path, leads_to in (
            ("/", "/webui/"),
            ("/webui", "/webui/"),
            ("/workspace", "/workspace/"),
        ):
            answer = await browser.get(path, headers={"Host": "localhost"})
            assert (answer.status_code, answer.headers["location"]) == (307, leads_to)
        keep = await browser.get("/webui/")
        ask = await browser.get("/workspace/")
    assert ("<title>keep" in keep.text, "<title>ask" in ask.text) == (True, True)
    assert keep.headers["content-type"] == "text/html; charset=utf-8"


async def test_without_a_folder_there_is_no_page() -> None:
    async with client(QueryHarness().app(behind())) as browser:
        assert (await browser.get("/webui/")).status_code == 404
        assert (await browser.get("/")).headers["location"] == "/docs"
    async with client(QueryHarness().app(with_accounts())) as browser:
        assert {
            (await browser.get(path)).status_code for path in ("/", "/webui/", "/ui/customization")
        } == {401}


@pytest.mark.parametrize("path", ["/webui/", "/workspace/"])
async def test_the_page_is_told_where_it_is_and_only_that_script_may_run(
    folder: Path, path: str
) -> None:
    async with client(served(folder, webui_title="Harbour")) as browser:
        answer = await browser.get(path)
    script = answer.text.split("<script>")[1].split("</script>")[0]
    configuration = f'{{"apiPrefix": "", "webuiPrefix": "{path}", "webuiTitle": "Harbour"}}'
    assert script == f"window.__LIGHTRAG_CONFIG__ = {configuration};"
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = answer.headers["content-security-policy"]
    assert re.findall(r"script-src ([^;]*);", policy) == [f"'self' 'sha256-{digest}'"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert answer.headers["cache-control"] == "no-store"


async def test_the_name_of_the_deployment_cannot_end_the_script(folder: Path) -> None:
    async with client(served(folder, webui_title="</script><script>alert(1)</script>")) as browser:
        page = (await browser.get("/webui/")).text
    assert page.count("<script") == 2
    assert "\\u003c/script>\\u003cscript>alert(1)" in page


async def test_the_page_is_there_before_the_service_is_wired(folder: Path) -> None:
    async with client(create_app(behind(webui_dir=str(folder)))) as browser:
        assert '"webuiTitle": null' in (await browser.get("/webui/")).text


async def test_files_named_by_their_hash_are_kept_for_ever_and_others_asked_for_again(
    folder: Path,
) -> None:
    expected_headers = {
        "/webui/assets/app-1.js": (
            "text/javascript; charset=utf-8",
            "public, max-age=31536000, immutable",
        ),
        "/workspace/assets/app-1.css": (
            "text/css; charset=utf-8",
            "public, max-age=31536000, immutable",
        ),
        "/webui/favicon.png": ("image/png", "no-cache"),
    }
    async with client(served(folder)) as browser:
        for path, (kind, cache_control) in expected_headers.items():
            answer = await browser.get(path)
            assert (
                answer.status_code,
                answer.headers["content-type"],
                answer.headers["cache-control"],
            ) == (
                200,
                kind,
                cache_control,
            )
            assert answer.headers["x-content-type-options"] == "nosniff"
            assert (
                await browser.get(path, headers={"If-None-Match": answer.headers["etag"]})
            ).status_code == 304
        absent = await browser.get("/webui/assets/app-2.js")
    assert (absent.status_code, absent.headers["cache-control"]) == (404, "no-store")


TRAVERSALS = [
    "/webui/../secret.txt",
    "/webui/../../../../../../../etc/passwd",
    "/webui//etc/passwd",
    "/webui/C:\\x",
    "/webui/assets/../../secret.txt",
    "/webui/..",
    "/webui/../page-two/secret.txt",
    "/webui/..\\secret.txt",
    "/webui/assets/..\\..\\..\\secret.txt",
    "/webui/%2e%2e/secret.txt",
    "/webui/..%2fsecret.txt",
    "/webui/....//secret.txt",
    "/webui/./../secret.txt",
    "/webui/assets/link.js",
    "/webui/up/secret.txt",
    "/webui/up",
    "/webui/.env",
    "/webui/.git/config",
    "/webui/assets/.hidden.js",
    "/webui/assets",
    "/webui/assets/",
    "/webui/index.html/../../secret.txt",
    "/webui/secret.txt\0.js",
    "/webui/\0",
    "/webui/" + "a" * 5000,
    "/webui/" + "a/" * 3000,
    "/webui/\udcff",
    "/webui/file:///etc/passwd",
    "/webui/~root/.profile",
    "/workspace/../secret.txt",
    "/webui/workspace.html",
    "/workspace/index.html",
    "/webui/WORKSPACE.html",
    "/webui../secret.txt",
    "/webui-two/secret.txt",
]


@pytest.mark.parametrize("path", TRAVERSALS)
async def test_s12_nothing_outside_of_the_folder_and_nothing_hidden_is_served(
    folder: Path, path: str
) -> None:
    status, headers, body = await raw(served(folder), path)
    assert (status, SECRET in body, "root:" in body) == (404, False, False)
    assert headers["cache-control"] == "no-store"


@pytest.mark.parametrize(
    "path",
    [
        "/webui/../documents/status_counts",
        "/webui//documents/status_counts",
        "/webui/..%2fopenapi.json",
        "/workspace/../health",
        "//documents/status_counts",
        "/webui;/documents/status_counts",
        "/WEBUI/",
    ],
)
async def test_s01_the_open_page_opens_no_route_behind_it(folder: Path, path: str) -> None:
    status, _, body = await raw(served(folder, accounts=True), path)
    assert status in {401, 404}
    assert "status_counts" not in body


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "PROPFIND"])
async def test_a_page_is_only_read(folder: Path, method: str) -> None:
    status, _, _ = await raw(served(folder, accounts=True), "/webui/index.html", method)
    assert status == 405
    assert (folder / "index.html").read_text() == ENTRY.format(name="keep")


async def test_a_folder_without_a_page_is_refused_at_start(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"no index\.html"):
        behind(webui_dir=str(tmp_path))


async def test_login_answers_what_the_deployment_is_called(folder: Path) -> None:
    app = served(folder, accounts=True, webui_title="Harbour", webui_description="What we know")
    async with client(app) as browser:
        status = (await browser.get("/auth-status")).json()
        token = (
            await browser.post("/login", data={"username": "ada", "password": PASSWORD})
        ).json()
        brand = (await browser.get("/ui/customization")).json()["brand"]
    assert {answer["webui_title"] for answer in (status, token)} == {"Harbour"}
    assert {answer["webui_description"] for answer in (status, token)} == {"What we know"}
    assert brand == {"title": "Harbour", "description": "What we know"}


async def test_health_has_all_that_the_page_shows_of_the_server(folder: Path) -> None:
    app = QueryHarness().app(behind(webui_dir=str(folder), lightrag_api_key=KEY))
    async with client(app, **{"X-API-Key": KEY}) as browser:
        body: Any = (await browser.get("/health")).json()
    assert (body["webui_available"], body["workspace_available"]) == (True, True)
    assert isinstance(body["configuration"]["force_llm_summary_on_merge"], int)


async def test_a_page_without_a_second_entry_has_one_address(folder: Path) -> None:
    (folder / "workspace.html").unlink()
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(served(folder)), base_url="http://localhost"
    ) as browser:
        assert [(await browser.get(path)).status_code for path in ("/webui/", "/workspace/")] == [
            200,
            404,
        ]
