"""Looking ahead goes on when the bus was away while a reader was to be made anew."""

from types import SimpleNamespace
from typing import Any, cast

import pytest
from nats.errors import BadSubscriptionError
from nats.errors import TimeoutError as NatsTimeout

from runtime.bus.nats.lookahead import Lookahead
from runtime.errors import Unavailable


class Reader:
    """Of an empty log; it can be closed once, as the client's."""

    closed = False

    async def fetch(self, *_: object, **__: object) -> list[Any]:
        if self.closed:
            raise BadSubscriptionError
        return []

    async def unsubscribe(self) -> None:
        if self.closed:
            raise BadSubscriptionError
        self.closed = True


class Bus:
    """Makes readers, unless it is away."""

    away = False

    async def add_consumer(self, *_: object) -> SimpleNamespace:
        if self.away:
            raise NatsTimeout
        return SimpleNamespace(name="reader")

    async def pull_subscribe_bind(self, **_: object) -> Reader:
        return Reader()


async def test_a_reader_that_could_not_be_made_anew_is_made_when_the_bus_is_back() -> None:
    bus = Bus()
    look = Lookahead(cast("Any", bus), "KB_EVENTS", ["kb.v1.*.*.DocumentAdded"])
    assert await look.headers(1) == []
    bus.away = True
    for delivered in (5, 6):  # ordinary delivery goes on: each look begins behind it
        with pytest.raises(Unavailable):
            await look.headers(delivered)
    bus.away = False
    assert await look.headers(7) == []
    await look.close()
