"""Attacks on the HTTP API: tokens that are not ours, other tenants' things, odd input, pages of
other origins.
"""

import base64
import hmac
import json
from functools import cache
from typing import Any

import httpx
import pytest
import pytest_asyncio
from structlog.testing import capture_logs

from runtime.errors import Unavailable
from services.gateway.app import create_app
from services.gateway.auth.permissions import required_right
from tests.support.access import (
    KEY,
    READER,
    SECRET,
    SEVERAL,
    WRITER,
    bearing,
    behind,
    client,
    forged,
    keyed,
    with_accounts,
)
from tests.support.querying import QueryHarness, library_of_two

OPEN = {"/login", "/auth-status", "/health"}
"""What answers strangers. Pages about the API are not in its own description."""

QUESTION = {"query": "Who discovered radium?"}
EVIL = "https://evil.example"


@pytest_asyncio.fixture
async def harness() -> QueryHarness:
    return await library_of_two()


@cache
def described() -> list[tuple[str, str]]:
    """Method and path of every route in the description of the API, so that none is missed.

    Whoever may use them, they are the same; to make the description takes half a second.
    """
    return [
        (method.upper(), path)
        for path, methods in create_app().openapi()["paths"].items()
        for method in methods
    ]


def told(answer: httpx.Response) -> str:
    """The sentence of an error, in the shape of whichever protocol."""
    body = answer.json()
    result = body.get("detail", body.get("error"))
    return result["message"] if isinstance(result, dict) else result


def unsigned(**claims: Any) -> str:
    """A token with `alg: none`, which the library refuses to make by its usual way."""
    header = json.dumps({"alg": "none", "typ": "JWT"})
    body = forged(**claims).split(".")[1]
    return f"{base64.urlsafe_b64encode(header.encode()).rstrip(b'=').decode()}.{body}."


def signed_with_a_public_key() -> str:
    """A token whose HMAC is keyed with what everybody may know of another algorithm's key."""
    public = (
        b"-----BEGIN PUBLIC KEY-----\nMFwwDQYJKoZIhvcNAQEBBQADSwAwSAJBAK\n-----END PUBLIC "
        b"KEY-----\n"
    )
    signing_input = forged().rpartition(".")[0]
    signature = (
        base64.urlsafe_b64encode(hmac.digest(public, signing_input.encode(), "sha256"))
        .rstrip(b"=")
        .decode()
    )
    return f"{signing_input}.{signature}"


TOKENS = {
    "expired": forged(exp=1_700_000_001),
    "from the future": forged(iat=3_900_000_000),
    "of another audience": forged(aud="another"),
    "of another issuer": forged(iss="another"),
    "without an end": forged(exp=None),
    "without a beginning": forged(iat=None),
    "without a subject": forged(sub=None),
    "of nobody we know": forged(sub="eve"),
    "of a guest": forged(role="guest"),
    "of a role of its own": forged(role="admin"),
    "without a role": forged(role=None),
    "with a strange shape": forged(metadata=["mark"]),
    "of another secret": forged("another secret of more than thirty-two characters"),
    "of another algorithm": forged(SECRET * 2, "HS512"),
    "with a key that is a path": forged("0" * 32, headers={"kid": "../../dev/null"}),
    "with a key from elsewhere": forged("0" * 32, headers={"jku": "https://evil.example/keys"}),
    "signed with a public key": signed_with_a_public_key(),
    "unsigned": unsigned(),
    "without a signature": forged().rpartition(".")[0] + ".",
    "no token at all": "x",
    "two tokens": f"{forged()} {forged()}",
    "a mark of another password": forged(metadata={"mark": "0" * 16}),
    "very long": "a." * 5000,
}


@pytest.mark.parametrize("kind", TOKENS)
async def test_s01_a_token_that_is_not_ours_is_refused_in_the_same_words(kind: str) -> None:
    """On one route: a middleware before all of them reads tokens, as the next test shows."""
    app = QueryHarness().app(with_accounts())
    async with bearing(app, TOKENS[kind]) as api:
        answer = await api.post("/query", json=QUESTION)
        assert (answer.status_code, told(answer)) == (401, "Invalid token")


async def test_s01_a_token_that_is_not_ours_is_refused_on_every_route_in_the_same_words() -> None:
    app = QueryHarness().app(with_accounts())
    async with bearing(app, TOKENS["of another secret"]) as api:
        for method, path in described():
            if path in OPEN:
                continue
            answer = await api.request(method, path)
            assert (answer.status_code, told(answer)) == (401, "Invalid token"), f"{method} {path}"


async def test_s01_every_route_asks_a_stranger_who_he_is() -> None:
    for config in (
        with_accounts(),
        behind(lightrag_api_key=KEY),
        behind(lightstream_api_keys=SEVERAL),
    ):
        app = QueryHarness().app(config)
        routes = described()
        assert len(routes) > 10
        async with client(app) as api:
            for method, path in routes:
                answer = await api.request(method, path)
                assert (answer.status_code in {401, 403}) == (path not in OPEN), f"{method} {path}"
            for path in (
                "/",
                "/nowhere",
                "/documents/",
                "//query",
                "/webui/",
                "/metrics",
                "/api/tags",
                "/v1/models",
            ):
                assert (await api.get(path)).status_code in {401, 403}, path


@pytest.mark.parametrize("method", ["OPTIONS", "TRACE", "PROPFIND", "get", "X"])
async def test_s01_an_odd_method_opens_nothing(method: str) -> None:
    async with client(QueryHarness().app(behind(lightrag_api_key=KEY))) as api:
        assert (await api.request(method, "/documents/status_counts")).status_code in {
            400,
            403,
            405,
        }


async def test_s03_what_a_foreign_key_asks_for_is_as_if_it_were_not_there(
    harness: QueryHarness,
) -> None:
    await harness.index(
        "theirs", "Nobody may know of the silver mine.", workspace="v", version=9000
    )
    async with keyed(harness.app(behind(lightstream_api_keys=SEVERAL)), READER) as api:
        body = {"page_size": 200}
        assert "theirs" not in (await api.post("/documents/paginated", json=body)).text
        assert (
            "silver"
            not in (
                await api.post("/query/data", json={"query": "silver mine", "mode": "naive"})
            ).text
        )
        answer = await api.get("/documents/track_status/theirs")
        assert (answer.status_code, answer.json()["documents"]) == (200, [])


@pytest.mark.parametrize(
    "name", ["v", "V", "v%00", "%76", "ｖ", "v/../w", "w,v", "w;v", "*", "../v", "w\tv"]
)
async def test_s04_naming_another_workspace_never_leads_there(
    harness: QueryHarness, name: str
) -> None:
    await harness.index("theirs", "A silver mine.", workspace="v", version=9000)
    app = harness.app(behind(lightstream_api_keys=SEVERAL))
    header = {"X-Workspace": name.encode()}
    async with keyed(app, READER) as api:
        answer = await api.get("/documents/status_counts", headers=header)  # type: ignore[arg-type]
        assert answer.status_code == 403
        for body in ({"workspace": name}, {"tenant": name}, {"collection": name}):
            inside = await api.post(
                "/query/data", json={"query": "silver mine", "mode": "naive", **body}
            )
            assert "silver" not in inside.text
        response = await api.get(
            "/documents/status_counts", params={"workspace": name, "tenant": name}
        )
        assert response.json()["status_counts"]["all"] == 2


@pytest.mark.parametrize(
    "fields",
    [
        {"top_k": 1e9},
        {"top_k": -1},
        {"top_k": "40; drop"},
        {"mode": "__class__"},
        {"chunk_top_k": 0},
        {"query": 7},
        {"query": {"$ne": None}},
        {"max_total_tokens": 10**12},
        {"hl_keywords": ["x"] * 65},
        {"min_position": -1},
        {"filter": "1 == 1"},
    ],
)
async def test_s05_a_question_cannot_be_widened(
    harness: QueryHarness, fields: dict[str, Any]
) -> None:
    async with keyed(harness.app(behind(lightrag_api_key=KEY)), KEY) as api:
        assert (await api.post("/query", json={**QUESTION, **fields})).status_code == 422


async def test_s05_fields_nobody_knows_give_no_rights(harness: QueryHarness) -> None:
    fields = {"is_admin": True, "tenant_id": "v", "right": "write", "file_path": "/etc/passwd"}
    async with keyed(harness.app(behind(lightstream_api_keys=SEVERAL)), READER) as api:
        answer, wider_answer = [
            await api.post("/query", json={**QUESTION, **extra}) for extra in ({}, fields)
        ]
        assert answer.json()["response"] == wider_answer.json()["response"]
        assert (await api.post("/documents/text", json={"text": "x", **fields})).status_code == 403


async def test_s06_who_may_read_changes_nothing_on_any_route(harness: QueryHarness) -> None:
    app = harness.app(behind(lightstream_api_keys=SEVERAL))
    async with keyed(app, READER) as api:
        for method, path in described():
            if required_right(method, path) == "write":
                answer = await api.request(method, path, json={})
                assert (answer.status_code, answer.json()["detail"]) == (
                    403,
                    "these credentials may read only",
                )
        for method in ("PUT", "PATCH", "DELETE", "POST"):
            assert (await api.request(method, "/v1/admin/replays")).status_code == 403
    assert harness.log.messages == []


async def test_s06_pages_about_the_api_can_be_taken_away() -> None:
    async with client(
        QueryHarness().app(behind(lightrag_api_key=KEY, enable_api_docs=False))
    ) as api:
        for path in ("/docs", "/openapi.json", "/docs/start.js", "/redoc"):
            assert (await api.get(path)).status_code == 403
    async with keyed(
        QueryHarness().app(behind(lightrag_api_key=KEY, enable_api_docs=False)), KEY
    ) as api:
        for path in ("/docs", "/openapi.json", "/docs/start.js", "/redoc"):
            assert (await api.get(path)).status_code == 404


@pytest.mark.parametrize(
    "body",
    [
        {"status_filter": {"$ne": None}},
        {"status_filters": [{"$where": "sleep(5000)"}]},
        {"status_filter": ["processed"]},
        {"page": {"$gt": 0}},
        {"sort_field": "$where"},
        {"sort_field": "status.$regex"},
        {"sort_direction": {"$nor": []}},
    ],
)
async def test_s10_operators_of_a_database_are_no_values(body: dict[str, Any]) -> None:
    async with keyed(QueryHarness().app(behind(lightrag_api_key=KEY)), KEY) as api:
        assert (await api.post("/documents/paginated", json=body)).status_code == 422


@pytest.mark.parametrize(
    "status", ["$ne", "processed' or '1'='1", "[$regex]", "processed\0", '"; return true; "']
)
async def test_s10_a_filter_that_looks_like_a_query_finds_nothing(
    harness: QueryHarness, status: str
) -> None:
    async with keyed(harness.app(behind(lightrag_api_key=KEY)), KEY) as api:
        answer = await api.post("/documents/paginated", json={"status_filter": status})
        assert (answer.status_code, answer.json()["documents"]) == (200, [])


@pytest.mark.parametrize(
    "source", ["/etc/passwd", "file:///etc/passwd", "../../x", "http://169.254.169.254/latest"]
)
async def test_s12_a_source_is_a_name_and_is_never_opened(
    harness: QueryHarness, source: str
) -> None:
    async with keyed(harness.app(behind(lightrag_api_key=KEY)), KEY) as api:
        answer = await api.post(
            "/documents/text", json={"text": "Port Elm.", "file_source": source}
        )
    assert answer.status_code == 200
    event = json.loads(harness.log.messages[-1].data)["data"]
    assert (event["text"], "/" in event["file_path"]) == ("Port Elm.", False)


@pytest.mark.parametrize(
    "origin", [EVIL, "null", "http://localhost.evil.example", "http://localhost:81"]
)
async def test_s22_a_page_of_another_origin_is_told_nothing_and_changes_nothing(
    harness: QueryHarness, origin: str
) -> None:
    for app in (harness.app(behind()), harness.app(behind(lightrag_api_key=KEY))):
        async with client(app, Origin=origin, **{"X-API-Key": KEY}) as api:
            preflight = await api.options(
                "/query", headers={"Access-Control-Request-Method": "POST"}
            )
            answers = [
                preflight,
                await api.get("/documents/status_counts"),
                await api.post("/query", json=QUESTION),
            ]
            assert [a for a in answers if "access-control-allow-origin" in a.headers] == []
            assert preflight.status_code in {403, 405}
            assert not answers[2].cookies
    async with client(harness.app(behind()), Origin=origin) as api:
        assert (await api.post("/documents/text", json={"text": "poison"})).status_code == 403
    assert harness.log.messages == []


async def test_s22_a_page_that_has_its_own_name_lead_here_is_refused() -> None:
    async with client(QueryHarness().app(behind())) as api:
        for host in ("evil.example", "evil.example:9621", "127.0.0.1.evil.example", "[::1", ""):
            assert (
                await api.get("/documents/status_counts", headers={"Host": host})
            ).status_code == 403, host
        for host in ("localhost:9621", "127.0.0.1:9621", "[::1]:9621"):
            assert (
                await api.get("/documents/status_counts", headers={"Host": host})
            ).status_code == 200, host


async def test_s22_origins_that_are_named_may_call_and_never_with_cookies(
    harness: QueryHarness,
) -> None:
    app = harness.app(behind(lightrag_api_key=KEY, cors_origins="https://ours.example"))
    async with client(app, Origin="https://ours.example") as api:
        header_names = "x-api-key, idempotency-key"
        headers = {
            "Access-Control-Request-Method": "POST",
            "Access-Control-Request-Headers": header_names,
        }
        preflight = await api.options("/query", headers=headers)
        assert preflight.status_code == 200
        assert preflight.headers["access-control-allow-origin"] == "https://ours.example"
        assert "access-control-allow-credentials" not in preflight.headers
        answer = await api.post("/query", json=QUESTION, headers={"X-API-Key": KEY})
        assert "X-New-Token" in answer.headers["access-control-expose-headers"]
    async with client(app, Origin=EVIL) as api:
        assert (
            "access-control-allow-origin"
            not in (await api.options("/query", headers=headers)).headers
        )
    async with client(
        harness.app(behind(lightrag_api_key=KEY, cors_origins="*")), Origin=EVIL
    ) as api:
        answer = await api.get("/health")
        assert answer.headers["access-control-allow-origin"] == "*"
        assert "access-control-allow-credentials" not in answer.headers


@pytest.mark.parametrize(
    "content",
    [
        b"{",
        b'{"query": "\\ud800\\ud800 what"}',
        b"\xff\xfe",
        b"[]",
        b'{"query": NaN}',
        b"",
        b"[" * 5000,
    ],
)
async def test_s23_malformed_bodies_are_the_callers_mistake_and_nothing_is_told(
    content: bytes,
) -> None:
    async with keyed(QueryHarness().app(behind(lightrag_api_key=KEY)), KEY) as api:
        for path in (
            "/query",
            "/query/data",
            "/documents/text",
            "/documents/texts",
            "/documents/paginated",
        ):
            answer = await api.post(
                path, content=content, headers={"Content-Type": "application/json"}
            )
            assert answer.status_code < 500, f"{path}: {answer.text}"
            assert not [
                word
                for word in ("Traceback", 'File "', "/site-packages/", KEY)
                if word in answer.text
            ]


async def test_s23_a_broken_part_is_told_by_an_id_alone(harness: QueryHarness) -> None:
    class Broken:
        async def counts(self, *_: Any) -> Any:
            raise Unavailable("mongodb://user:hunter22@store refused the connection")

    class Buggy:
        async def counts(self, *_: Any) -> Any:
            raise RuntimeError(f"hunter22 {KEY} /srv/app/file.py")

    for documents, status in ((Broken(), 503), (Buggy(), 500)):
        app = harness.app(behind(lightrag_api_key=KEY), documents=documents)
        with capture_logs():
            async with keyed(app, KEY) as api:
                answer = await api.get("/documents/status_counts")
        assert (answer.status_code, "error_id" in answer.text) == (status, True)
        assert not [word for word in ("hunter22", KEY, "srv", "mongodb") if word in answer.text]
        assert answer.headers["X-Content-Type-Options"] == "nosniff"


async def test_answers_are_kept_from_being_run_framed_or_kept() -> None:
    async with client(QueryHarness().app(behind(lightrag_api_key=KEY))) as api:
        for path in (
            "/health",
            "/documents/status_counts",
            "/login",
            "/docs",
            "/nowhere",
            "/docs/swagger-ui.css",
        ):
            headers = (await api.get(path)).headers
            assert headers["X-Content-Type-Options"] == "nosniff", path
            assert headers["Referrer-Policy"] == "no-referrer", path
            assert headers["X-Frame-Options"] == "DENY", path
            policy = headers["Content-Security-Policy"]
            assert "frame-ancestors 'none'" in policy, path
            assert "default-src 'none'" in policy, path
            assert "unsafe-inline" not in policy.split("style-src")[0], path


async def test_the_page_about_the_api_needs_nothing_from_elsewhere() -> None:
    async with client(QueryHarness().app(behind())) as api:
        page = (await api.get("/docs")).text
        assert "//" not in page
        assert "<script>" not in page
        for name in (
            "docs/swagger-ui.css",
            "docs/swagger-ui-bundle.js",
            "docs/start.js",
            "openapi.json",
        ):
            assert name in page + (await api.get("/docs/start.js")).text
            assert (await api.get(f"/{name}")).status_code == 200
        assert (
            (await api.get("/docs/swagger-ui-bundle.js"))
            .headers["Content-Type"]
            .startswith("text/javascript")
        )
        for name in ("..%2f__init__.py", "core.py", "%2e%2e", "%2e%2e/core.py"):
            assert (await api.get(f"/docs/{name}")).status_code == 404


async def test_requests_are_limited_for_each_credential_and_for_strangers_by_address() -> None:
    app = QueryHarness().app(behind(lightstream_api_keys=SEVERAL, rate_limit_per_minute=5))

    async def statuses(api: httpx.AsyncClient, count: int) -> list[int]:
        return [(await api.get("/documents/status_counts")).status_code for _ in range(count)]

    async with keyed(app, READER) as api:
        assert await statuses(api, 6) == [200] * 5 + [429]
        assert int((await api.get("/documents/status_counts")).headers["Retry-After"]) in range(
            1, 13
        )
        assert (await api.get("/health/live")).status_code != 429
    async with keyed(app, WRITER) as api:
        assert await statuses(api, 1) == [200]
    async with client(app, "10.1.2.3", **{"X-API-Key": "guess"}) as api:
        assert await statuses(api, 6) == [403] * 5 + [429]
    async with client(app, "10.1.2.4") as api:
        assert await statuses(api, 1) == [403]
    for host in range(6):
        async with client(app, f"2001:db8::{host}") as api:
            assert await statuses(api, 1) == [403 if host < 5 else 429]


async def test_questions_are_limited_more_than_other_requests(harness: QueryHarness) -> None:
    async with client(harness.app(behind(rate_limit_queries_per_minute=2))) as api:
        codes = [(await api.post("/query", json=QUESTION)).status_code for _ in range(3)]
        assert codes == [200, 200, 429]
        assert (await api.get("/documents/status_counts")).status_code == 200


def test_limits_hold_on_loopback_only_when_they_are_set() -> None:
    assert behind().request_limit.per_minute == behind().query_limit.per_minute == 0
    assert behind(rate_limit_per_minute=9).request_limit.per_minute == 9
    public_config = behind(host="0.0.0.0", lightrag_api_key=KEY)
    assert (public_config.request_limit.per_minute, public_config.query_limit.per_minute) == (
        1200,
        240,
    )


@pytest.mark.parametrize("size", [70_000, 1_000_000])
async def test_a_form_has_few_fields_and_short_ones(size: int) -> None:
    async with client(QueryHarness().app(with_accounts())) as api:
        long_form = await api.post(
            "/login", files={"username": (None, "ada"), "password": (None, "x" * size)}
        )
        assert long_form.status_code in {400, 413, 422}
        many_fields = await api.post(
            "/login", files=[(f"f{n}", (None, "x")) for n in range(size // 100)]
        )
        assert many_fields.status_code in {400, 413, 422}
        files = await api.post("/login", files=[(f"f{n}", (f"{n}.txt", b"x")) for n in range(101)])
        assert files.status_code in {400, 413, 422}


async def test_a_websocket_is_closed() -> None:
    messages: list[Any] = []

    async def receive() -> Any:
        return {"type": "websocket.connect"}

    async def send(message: Any) -> None:
        messages.append(message)

    scope = {"type": "websocket", "path": "/query", "headers": [], "query_string": b"", "app": None}
    await QueryHarness().app(behind(lightrag_api_key=KEY))(scope, receive, send)
    assert messages == [{"type": "websocket.close", "code": 1008}]
