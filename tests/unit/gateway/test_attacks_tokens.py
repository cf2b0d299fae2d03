"""Attacks on the HTTP API with tokens that are not ours, and without any."""

import base64
import hmac
import json
from typing import Any

import pytest

from tests.support.access import (
    KEY,
    SECRET,
    SEVERAL,
    bearing,
    behind,
    client,
    forged,
    with_accounts,
)
from tests.support.described_routes import described_routes, error_sentence
from tests.support.querying import QueryHarness

OPEN = {"/login", "/auth-status", "/health"}
"""What answers strangers. Pages about the API are not in its own description."""


QUESTION = {"query": "Who discovered radium?"}


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
        assert (answer.status_code, error_sentence(answer)) == (401, "Invalid token")


async def test_s01_a_token_that_is_not_ours_is_refused_on_every_route_in_the_same_words() -> None:
    app = QueryHarness().app(with_accounts())
    async with bearing(app, TOKENS["of another secret"]) as api:
        for method, path in described_routes():
            if path in OPEN:
                continue
            answer = await api.request(method, path)
            assert (answer.status_code, error_sentence(answer)) == (401, "Invalid token"), (
                f"{method} {path}"
            )


async def test_s01_every_route_asks_a_stranger_who_he_is() -> None:
    for config in (
        with_accounts(),
        behind(lightrag_api_key=KEY),
        behind(lightstream_api_keys=SEVERAL),
    ):
        app = QueryHarness().app(config)
        routes = described_routes()
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
