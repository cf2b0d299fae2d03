"""What a login gives away by its cost, and how long it holds: passwords and tokens against the
clock.
"""

import asyncio
import statistics
import time

import bcrypt
import jwt
import pytest
from fastapi import FastAPI

from services.gateway.auth.credentials import Tokens
from tests.support.access import PASSWORD, SECRET, bearing, client, with_accounts
from tests.support.querying import QueryHarness, library_of_two

COUNTS = "/documents/status_counts"
HOUR = 3600.0
ROUNDS = 5
"""Of logins beside a flood, so many at most."""


async def _seconds_of_processor(app: FastAPI, user: str, password: str) -> float:
    """What one refused login costs; other processes of the machine do not count."""
    async with client(app) as api:
        before = time.process_time()
        answer = await api.post("/login", data={"username": user, "password": password})
        seconds = time.process_time() - before
    assert answer.status_code == 401
    return seconds


async def test_a_refused_login_costs_the_same_for_every_user_and_for_nobody() -> None:
    cheap, dear = (bcrypt.hashpw(b"secret", bcrypt.gensalt(cost)).decode() for cost in (4, 11))
    accounts = f"cheap:{{bcrypt}}{cheap},dear:{{bcrypt}}{dear},plain:a password"
    app = QueryHarness().app(
        with_accounts(
            auth_accounts=accounts, lightstream_account_rights="", login_max_failed_attempts=0
        )
    )
    seconds = {
        user: min([await _seconds_of_processor(app, user, password) for _ in range(2)])
        for user, password in [("nobody", "x"), ("cheap", "x"), ("dear", "x"), ("plain", "x")]
    }
    seconds["too long to be read"] = await _seconds_of_processor(app, "dear", "x" * 100)
    assert max(seconds.values()) < 2 * min(seconds.values()), seconds


@pytest.mark.parametrize("user", ["ada", "bob"])
async def test_the_right_password_still_opens(user: str) -> None:
    app = QueryHarness().app(with_accounts())
    async with client(app) as api:
        form = {"username": user, "password": PASSWORD if user == "ada" else "stable battery"}
        assert (await api.post("/login", data=form)).status_code == 200


async def _timed_login(
    app: FastAPI, user: str, password: str, address: str = "127.0.0.1"
) -> tuple[int, float]:
    """The answer's status, and the seconds that it took."""
    async with client(app, address) as api:
        before = time.monotonic()
        answer = await api.post("/login", data={"username": user, "password": password})
    return answer.status_code, time.monotonic() - before


@pytest.mark.parametrize("address", ["127.0.0.1", "203.0.113.9"])
async def test_a_flood_of_names_that_nobody_has_keeps_no_user_waiting(address: str) -> None:
    """The users' turns are their own, wherever the flood comes from: also from their own
    address.
    """
    app = QueryHarness().app(with_accounts(auth_accounts=f"ada:{PASSWORD},bob:{PASSWORD}"))
    _, alone_seconds = await _timed_login(app, "ada", PASSWORD)
    flood = [
        asyncio.create_task(_timed_login(app, f"fresh-{number}", "x", address))
        for number in range(60)
    ]
    await asyncio.sleep(0)
    status, flooded_seconds = await _timed_login(app, "ada", PASSWORD)
    answers = await asyncio.gather(*flood)
    assert status == 200
    assert flooded_seconds < 10 * alone_seconds, (flooded_seconds, alone_seconds)
    statuses = [status for status, _ in answers]
    assert {*statuses} == {401, 429}
    assert statuses.count(401) == 30


async def _flooded_medians(app: FastAPI) -> dict[str, float]:
    """Seconds of refused logins of a user and of nobody while names that nobody has are tried."""
    flood = [asyncio.create_task(_timed_login(app, f"fresh-{number}", "x")) for number in range(40)]
    timings: dict[str, list[float]] = {"ada": [], "nobody": []}
    for _ in range(8):
        for name, seconds in timings.items():
            seconds.append((await _timed_login(app, name, "x"))[1])
    await asyncio.gather(*flood)
    return {name: statistics.median(seconds) for name, seconds in timings.items()}


async def test_under_a_flood_too_the_time_does_not_tell_which_names_there_are() -> None:
    """What other tests take of the machine meanwhile tells them apart now and then; a time that
    tells would do so in each round.
    """
    app = QueryHarness().app(
        with_accounts(login_max_failed_attempts=0, lightstream_account_rights="")
    )
    rounds: list[dict[str, float]] = []
    while len(rounds) < ROUNDS:
        rounds.append(await _flooded_medians(app))
        if max(rounds[-1].values()) < 2 * min(rounds[-1].values()):
            return
    pytest.fail(f"in each round the time tells who there is: {rounds}")


async def test_an_address_that_failed_with_many_names_is_refused_and_the_right_password_still_opens() -> (  # noqa: E501
    None
):
    app = QueryHarness().app(
        with_accounts(login_max_failed_attempts=1, lightstream_account_rights="")
    )
    first = [await _timed_login(app, f"fresh-{number}", "x") for number in range(6)]
    assert [status for status, _ in first] == [401] * 6
    for name in ("ada", "another"):
        assert (await _timed_login(app, name, "x"))[0] == 429
    assert (await _timed_login(app, "bob", "stable battery"))[0] == 200
    # From elsewhere nothing is counted yet.
    assert (await _timed_login(app, "another", "x", "203.0.113.9"))[0] == 401


async def test_a_token_is_renewed_until_its_login_is_too_long_ago() -> None:
    harness = await library_of_two()
    config = with_accounts(token_expire_hours=10, token_renew_max_hours=24)
    app = harness.app(config)
    now = time.time()
    account = config.accounts.get("ada")
    assert account is not None

    def token(login: float, issued: float, ends: float) -> str:
        payload = jwt.decode(
            config.tokens.issue("ada", "user", account.password_fingerprint, login),
            options={"verify_signature": False},
        )
        return jwt.encode({**payload, "iat": int(issued), "exp": int(ends)}, SECRET, "HS256")

    # A login of 20 hours ago: what is renewed ends with the 24th hour, and says so in the new
    # token.
    async with bearing(app, token(now - 20 * HOUR, now - 8 * HOUR, now + 2 * HOUR)) as api:
        new_token = (await api.get(COUNTS)).headers["X-New-Token"]
    claims = jwt.decode(new_token, SECRET, ["HS256"], issuer="lightstream")
    assert claims["auth_time"] == int(now - 20 * HOUR)
    assert claims["exp"] == pytest.approx(now + 4 * HOUR, abs=5)
    # Nothing could hold longer than this one does: it is not renewed.
    async with bearing(app, token(now - 23 * HOUR, now - 9 * HOUR, now + HOUR)) as api:
        answer = await api.get(COUNTS)
    assert (answer.status_code, "X-New-Token" in answer.headers) == (200, False)
    # A token that was made to hold longer, before the setting was shortened, holds no longer
    # either.
    async with bearing(app, token(now - 25 * HOUR, now - HOUR, now + 9 * HOUR)) as api:
        assert (await api.get(COUNTS)).status_code == 401


def test_a_login_never_holds_longer_than_it_may_be_renewed() -> None:
    tokens = Tokens(SECRET, hours=48, max_hours=12)
    read = tokens.read(tokens.issue("ada", "user"))
    assert read is not None
    assert read.expires_at - read.issued_at == 12 * HOUR
