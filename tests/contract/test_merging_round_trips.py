"""Commands to MongoDB that merging takes: at most ten for a document that comes alone, about none
in a bulk load. And those of a look for descriptions that have grown long.
"""

from collections.abc import AsyncIterator
from itertools import pairwise
from typing import Any
from uuid import uuid4

import pytest
import pytest_asyncio
from pymongo import monitoring

from runtime.stores.documents.mongo.store import MongoRows
from tests.support.events import document, entity, extracted, relation
from tests.support.merging import Merger
from tests.support.mongo import shared_mongo
from tests.support.shared_servers import SharedServers
from tests.support.summarizing import Harness

pytestmark = pytest.mark.asyncio(loop_scope="module")

NAMES = 25


class Commands(monitoring.CommandListener):
    """The names of the commands that were sent."""

    def __init__(self) -> None:
        self.sent: list[str] = []

    def started(self, event: monitoring.CommandStartedEvent) -> None:
        self.sent.append(event.command_name)

    def succeeded(self, event: monitoring.CommandSucceededEvent) -> None: ...

    def failed(self, event: monitoring.CommandFailedEvent) -> None: ...


COMMANDS = Commands()
monitoring.register(COMMANDS)


@pytest_asyncio.fixture(loop_scope="module")
async def rows(shared_servers: SharedServers) -> AsyncIterator[MongoRows]:
    rows = MongoRows(shared_mongo(shared_servers), f"lightstream_test_{uuid4().hex}", timeout=60)
    await rows.prepare()
    yield rows
    await rows.close()


def says(number: int) -> Any:
    """A document that names many things of its own, and some that all name."""
    names = [f"Own {number} {n}" if n % 2 else f"Common {n}" for n in range(NAMES)]
    ties = [relation(source, target) for source, target in pairwise(names)]
    return extracted(document(f"d{number}", number + 1), 0, [entity(name) for name in names], ties)


async def test_a_document_takes_at_most_ten_commands_and_a_batch_no_more(rows: MongoRows) -> None:
    merger = Merger(rows)  # type: ignore[arg-type]
    await merger.merge(says(0))
    for batch in ([says(1)], [says(number) for number in range(2, 18)]):
        COMMANDS.sent.clear()
        await merger.merge(*batch)
        assert len(COMMANDS.sent) <= 10, COMMANDS.sent
    assert (await merger.entities())["Common 0"].support == 18


async def test_a_look_for_long_descriptions_takes_no_more_commands_for_a_batch(
    rows: MongoRows,
) -> None:
    harness = Harness(Merger(rows))  # type: ignore[arg-type]
    commands: list[int] = []
    for batch in (range(1), range(1, 17)):
        events = await harness.merger.merge(*map(says, batch))
        COMMANDS.sent.clear()
        assert await harness.condense(*(event for (event,) in events)) == []
        commands.append(len(COMMANDS.sent))
    assert max(commands) <= 4, commands
