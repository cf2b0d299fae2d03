"""A publisher of its own workspace: what it may say on the bus, and that it may say and read
nothing else.
"""

from pathlib import Path

import nats
import pytest
from nats.errors import Error as NatsError

from operations import bus_accounts
from operations.bus_accounts import API, publisher_of
from runtime.bus import topology
from runtime.bus.nats.connection import connected
from tests.support.deployed_bus import deployed_bus

FORBIDDEN = (
    f"blob.other.{'0' * 64}.0",
    f"blob.{'0' * 64}.0",
    "kb.v1.other.d.DocumentAdded",
    "kb.v1.other.d.DocumentDeleted",
    "kb.v1.harbour.d.ChunksCreated",
    "kb.v1.harbour.d.GraphMerged",
    "kb.v1.harbour.d.RetryRequested",
    f"{API}.STREAM.PURGE.KB_EVENTS",
    f"{API}.STREAM.MSG.GET.KB_EVENTS",
    f"{API}.DIRECT.GET.KB_EVENTS.kb.v1.harbour.d.DocumentAdded",
    f"{API}.CONSUMER.RESET.KB_EVENTS.chunker",
    f"{API}.CONSUMER.CREATE.KB_EVENTS.spy",
    "$KV.KB_GENERATIONS.pointers",
)


async def test_it_adds_and_deletes_documents_of_its_workspace_and_does_nothing_else(
    tmp_path: Path,
) -> None:
    own_publisher = publisher_of("acme", ["harbour"])
    async with (
        deployed_bus(tmp_path, own_publisher) as bus,
        connected(bus.operator, name="test") as operator,
    ):
        await topology.apply(operator.jetstream())
        client = await nats.connect(bus.url("acme"), error_cb=_ignored)
        jetstream = client.jetstream()
        for subject in ("kb.v1.harbour.d.DocumentAdded", "kb.v1.harbour.d.DocumentDeleted"):
            assert (await jetstream.publish(subject, b"{}", stream="KB_EVENTS")).seq
        assert (
            await jetstream.publish(f"blob.harbour.{'0' * 64}.0", b"part", stream="KB_BLOBS")
        ).seq
        before = await operator.jetstream().stream_info("KB_EVENTS")
        for subject in FORBIDDEN:
            with pytest.raises(NatsError):
                message = await client.request(subject, b'{"last_by_subj": ">"}', timeout=1)
                raise (
                    NatsError("refused") if b'"error"' in message.data else AssertionError(subject)
                )
        await client.close()
        after = await operator.jetstream().stream_info("KB_EVENTS")
        assert (after.state.last_seq, after.state.messages) == (before.state.last_seq, 2)


@pytest.mark.parametrize(
    "name", ["query", "operator", bus_accounts.ACCOUNT, "Acme", "a b", "", "a-b"]
)
def test_a_name_that_is_taken_or_none_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="cannot be the name"):
        publisher_of(name, ["w"])


async def _ignored(error: Exception) -> None:
    """A refusal is expected."""
