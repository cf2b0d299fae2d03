"""Keys, accounts and tokens over HTTP: LightRAG's answers, and workspaces that one cannot look
into.
"""

import asyncio
import time
from typing import Any

import httpx
import jwt
import pytest
from fastapi import FastAPI

from runtime.errors import ConfigurationError
from services.gateway.auth.credentials import ISSUER
from services.gateway.auth.rate_limits import Lockout
from tests.support.access import (
    COUNTS,
    HASHED,
    KEY,
    PASSWORD,
    READER,
    SECRET,
    SEVERAL,
    WRITER,
    bearing,
    behind,
    client,
    forged,
    get,
    keyed,
    with_accounts,
)
from tests.support.querying import QueryHarness

TEXT = {"text": "Port Elm has a lighthouse."}


async def token_of(app: FastAPI, user: str = "ada", password: str = PASSWORD) -> str:
    async with client(app) as api:
        answer = await api.post("/login", data={"username": user, "password": password})
    assert answer.status_code == 200, answer.text
    token: str = answer.json()["access_token"]
    return token


async def test_without_credentials_everything_is_open_and_a_guest_token_is_offered(
    harness: QueryHarness,
) -> None:
    async with client(harness.app(behind())) as api:
        assert (await api.get(COUNTS)).status_code == 200
        status = (await api.get("/auth-status")).json()
        assert (status["auth_configured"], status["auth_mode"], status["token_type"]) == (
            False,
            "disabled",
            "bearer",
        )
        assert (
            jwt.decode(status["access_token"], options={"verify_signature": False})["role"]
            == "guest"
        )
        login = (await api.post("/login", data={"username": "x", "password": "y"})).json()
        assert (login["auth_mode"], "access_token" in login) == ("disabled", True)
        assert (await api.get("/auth/verify")).json() == {"status": "ok"}


async def test_with_a_key_alone_a_missing_and_a_wrong_one_are_told_apart_as_lightrag_does(
    harness: QueryHarness,
) -> None:
    app = harness.app(behind(lightrag_api_key=KEY))
    async with client(app) as api:
        assert await get(api) == (403, "API Key required")
        assert await get(api, **{"X-API-Key": "wrong"}) == (403, "Invalid API Key")
        assert await get(api, **{"X-API-Key": KEY}) == (200, None)
        assert await get(api, Authorization=f"Bearer {KEY}") == (200, None)
        assert await get(api, **{"X-API-Key": KEY, "Authorization": "Bearer x.y.z"}) == (
            401,
            "Invalid token",
        )


async def test_a_guest_token_opens_nothing_where_there_is_a_key(harness: QueryHarness) -> None:
    app = harness.app(behind(lightrag_api_key=KEY))
    async with client(app) as api:
        guest = (await api.get("/auth-status")).json()["access_token"]
        assert await get(api, Authorization=f"Bearer {guest}") == (403, "API Key required")
        assert await get(api, **{"Authorization": f"Bearer {guest}", "X-API-Key": KEY}) == (
            200,
            None,
        )


async def test_with_accounts_one_logs_in_and_is_told_so(harness: QueryHarness) -> None:
    app = harness.app(with_accounts(lightrag_api_key=KEY))
    async with client(app) as api:
        assert await get(api) == (401, "No credentials provided. Please login.")
        assert await get(api, **{"X-API-Key": "wrong"}) == (
            401,
            "No credentials provided. Please login.",
        )
        assert await get(api, **{"X-API-Key": KEY}) == (200, None)
        status = (await api.get("/auth-status")).json()
        assert status["auth_configured"]
        assert "access_token" not in status
        assert (await api.get("/auth/verify")).status_code == 401
        assert (await api.get(COUNTS)).headers["WWW-Authenticate"] == "Bearer"
    async with bearing(app, await token_of(app)) as api:
        assert await get(api) == (200, None)
        assert (await api.get("/auth/verify")).json() == {"status": "ok"}
        # Even with the right key beside it, a wrong token is an error.
        assert await get(api, **{"Authorization": "Bearer x.y.z", "X-API-Key": KEY}) == (
            401,
            "Invalid token",
        )


async def test_a_token_has_the_claims_that_lightrags_web_interface_reads(
    harness: QueryHarness,
) -> None:
    app = harness.app(with_accounts(token_expire_hours=2))
    claims = jwt.decode(await token_of(app), SECRET, ["HS256"], issuer=ISSUER)
    assert (claims["sub"], claims["role"], claims["metadata"]["auth_mode"]) == (
        "ada",
        "user",
        "enabled",
    )
    assert claims["exp"] - claims["iat"] == 7200


@pytest.mark.parametrize(
    ("user", "password"),
    [
        ("ada", "wrong"),
        ("ada", ""),
        ("eve", PASSWORD),
        ("bob", HASHED),
        ("bob", "stable battery\0"),
        ("bob", "x" * 100),
        ("ada", "\ud800" * 2),
    ],
)
async def test_a_wrong_name_or_password_is_one_and_the_same_answer(
    harness: QueryHarness, user: str, password: str
) -> None:
    body = httpx.QueryParams(
        {"username": user, "password": password.encode("utf-8", "replace").decode()}
    )
    async with client(harness.app(with_accounts())) as api:
        answer = await api.post(
            "/login",
            content=str(body),
            headers={"Content-Type": "application/x-www-form-urlencoded"},
        )
    if password:
        assert (answer.status_code, answer.json()) == (401, {"detail": "Incorrect credentials"})
    else:
        assert answer.status_code in {401, 422}


async def test_a_password_may_be_given_as_a_bcrypt_hash(harness: QueryHarness) -> None:
    app = harness.app(with_accounts())
    async with bearing(app, await token_of(app, "bob", "stable battery")) as api:
        assert await get(api) == (200, None)
        assert (await api.post("/documents/text", json=TEXT)).json() == {
            "detail": "these credentials may read only"
        }
        assert (await get(api, **{"X-Workspace": "v"}))[0] == 403


async def test_too_many_failures_lock_out_that_user_at_that_address_only(
    harness: QueryHarness,
) -> None:
    app = harness.app(with_accounts())

    async def attempt(user: str, password: str, address: str = "10.0.0.1") -> httpx.Response:
        async with client(app, address) as api:
            return await api.post("/login", data={"username": user, "password": password})

    answers = await asyncio.gather(*(attempt("ada", "wrong") for _ in range(8)))
    assert sorted(answer.status_code for answer in answers) == [401] * 5 + [429] * 3
    refusal = await attempt("ada", PASSWORD)
    assert refusal.status_code == 429
    assert 290 <= int(refusal.headers["Retry-After"]) <= 300
    assert (await attempt("ada", PASSWORD, "10.0.0.2")).status_code == 200
    assert (await attempt("bob", "stable battery")).status_code == 200


async def test_a_success_forgets_the_failures(harness: QueryHarness) -> None:
    config = with_accounts()
    config.lockout = Lockout(3, 300)
    app = harness.app(config)
    for _ in range(3):
        async with client(app) as api:
            for _ in range(2):
                assert (
                    await api.post("/login", data={"username": "ada", "password": "x"})
                ).status_code == 401
        await token_of(app)


async def test_an_old_token_ends_with_its_user_its_password_and_the_secret(
    harness: QueryHarness,
) -> None:
    token = await token_of(harness.app(with_accounts()))
    for change in (
        {"auth_accounts": f"bob:{HASHED}"},
        {"auth_accounts": f"ada:another password,bob:{HASHED}"},
        {"token_secret": SECRET + "!"},
    ):
        async with bearing(harness.app(with_accounts(**change)), token) as api:
            assert await get(api) == (401, "Invalid token")


async def test_a_token_is_renewed_once_a_minute_in_the_second_half_of_its_life(
    harness: QueryHarness,
) -> None:
    config = with_accounts()
    app = harness.app(config)
    now = int(time.time())
    account = config.accounts.get("ada")
    assert account
    old_token = forged(
        iat=now - 7000, exp=now + 200, metadata={"mark": account.password_fingerprint}
    )
    async with bearing(app, old_token) as api:
        assert "X-New-Token" not in (await api.get("/health")).headers
        new_token = (await api.get(COUNTS)).headers["X-New-Token"]
        assert "X-New-Token" not in (await api.get(COUNTS)).headers
    async with bearing(app, new_token) as api:
        answer = await api.get(COUNTS)
        assert (answer.status_code, "X-New-Token" in answer.headers) == (200, False)


async def test_no_token_is_renewed_when_that_is_switched_off(harness: QueryHarness) -> None:
    config = with_accounts(token_auto_renew=False)
    now = int(time.time())
    account = config.accounts.get("ada")
    assert account
    async with bearing(
        harness.app(config),
        forged(iat=now - 7000, exp=now + 9, metadata={"mark": account.password_fingerprint}),
    ) as api:
        answer = await api.get(COUNTS)
    assert (answer.status_code, "X-New-Token" in answer.headers) == (200, False)


async def test_a_stranger_sees_that_it_is_healthy_and_nothing_else(harness: QueryHarness) -> None:
    app = harness.app(behind(lightrag_api_key=KEY))
    async with client(app) as api:
        health = (await api.get("/health")).json()
        assert set(health) == {
            "status",
            "auth_mode",
            "core_version",
            "api_version",
            "pipeline_busy",
        }
        assert (await api.get("/health", headers={"X-Workspace": "theirs"})).status_code == 403
    async with keyed(app, KEY, "theirs") as api:
        assert (await api.get("/health")).json()["workspace"] == "theirs"


async def test_paths_are_opened_by_hand_for_the_usual_workspace_only(harness: QueryHarness) -> None:
    app = harness.app(behind(lightrag_api_key=KEY, whitelist_paths="/documents/*"))
    async with client(app) as api:
        assert await get(api) == (200, None)
        assert await get(api, **{"X-Workspace": "v"}) == (403, "API Key required")
        assert (await api.get("/health")).status_code == 403
        assert (await api.get("/api/tags")).status_code == 403
        assert (await api.get("/v1/models")).status_code == 403


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.4", "example.org", ""])
def test_without_credentials_nobody_else_is_listened_to(host: str) -> None:
    with pytest.raises(
        ConfigurationError, match=r"LIGHTRAG_API_KEY.*HOST=127\.0\.0\.1.*LIGHTSTREAM_ALLOW_OPEN"
    ):
        behind(host=host)
    assert behind(host=host, lightstream_allow_open=True).is_open
    to_oneself = behind(host=host, lightstream_allow_open="localhost")
    assert to_oneself.is_open and to_oneself.loopback
    assert not behind(host=host, lightrag_api_key=KEY).is_open


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "127.0.0.2", "::1", "[::1]", "localhost", "LOCALHOST"]
)
def test_this_machine_alone_may_be_open(host: str) -> None:
    assert behind(host=host).is_open


@pytest.mark.parametrize(
    ("settings", "names"),
    [
        ({"auth_accounts": "ada:hunter22"}, "TOKEN_SECRET"),
        ({"auth_accounts": "ada:hunter22", "token_secret": "hunter22"}, "at least 32 characters"),
        ({"auth_accounts": "ada:{bcrypt}hunter22", "token_secret": SECRET}, "password of ada"),
        ({"auth_accounts": "hunter22", "token_secret": SECRET}, "entry 1 must be user:password"),
        ({"lightstream_api_keys": "a:hunter22"}, "the key of a"),
        ({"lightstream_api_keys": f"a:hunter22{KEY},b:hunter22{KEY}"}, "the same key"),
        (
            {"lightrag_api_key": f"hunter22{KEY}", "lightstream_api_keys": f"a:hunter22{KEY}"},
            "the same key",
        ),
        ({"lightrag_api_key": "hunter22", "host": "0.0.0.0"}, "can be guessed"),
    ],
)
def test_credentials_of_no_use_keep_it_from_starting_and_are_not_repeated(
    settings: Any, names: str
) -> None:
    with pytest.raises(ConfigurationError, match=names) as error:
        behind(**settings)
    assert "hunter22" not in str(error.value)


def test_no_secret_is_held_as_it_was_given() -> None:
    config = with_accounts(lightrag_api_key=KEY, lightstream_api_keys=SEVERAL)
    text = repr(vars(config.keys)) + repr(vars(config.accounts))
    assert [secret for secret in (KEY, READER, WRITER, PASSWORD) if secret in text] == []
