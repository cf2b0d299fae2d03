"""Tokens in the place of a key: fetched when they are needed, and anew before they end."""

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from runtime.models import access_tokens
from runtime.models.access_tokens import AccessToken, AccessTokens, NoToken


@dataclass
class Issuer:
    """Gives tokens of an hour, on a clock that a test sets."""

    now: float = 1000.0
    count: int = 0
    refuses: bool = False

    async def fetch(self) -> AccessToken:
        if self.refuses:
            raise NoToken("the secret has ended")
        self.count += 1
        return AccessToken(f"token-{self.count}", 3600.0)


@pytest.fixture
def issuer(monkeypatch: pytest.MonkeyPatch) -> Iterator[Issuer]:
    issuer = Issuer()
    monkeypatch.setattr(access_tokens.time, "monotonic", lambda: issuer.now)
    yield issuer


async def test_a_token_is_fetched_anew_shortly_before_its_end(issuer: Issuer) -> None:
    tokens = AccessTokens(issuer.fetch)
    for now, value in ((1000, "token-1"), (4299, "token-1"), (4301, "token-2")):
        issuer.now = now
        await tokens.refresh()
        assert tokens.value == value


async def test_a_token_serves_to_its_end_while_no_other_is_to_be_had(issuer: Issuer) -> None:
    tokens = AccessTokens(issuer.fetch)
    await tokens.refresh()
    issuer.refuses = True
    issuer.now += 3500
    await tokens.refresh()
    assert tokens.value == "token-1"
    issuer.now += 101
    with pytest.raises(NoToken, match="ended"):
        await tokens.refresh()


async def test_a_token_that_was_refused_is_fetched_anew(issuer: Issuer) -> None:
    tokens = AccessTokens(issuer.fetch)
    await tokens.refresh()
    tokens.forget()
    await tokens.refresh()
    assert tokens.value == "token-2"
