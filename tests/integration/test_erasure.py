"""Messages that an erasure deletes are in no file of the server, and a log that denies deletions is
left as it is.
"""

from pathlib import Path

import pytest
from nats.js import JetStreamContext

from contracts import subjects
from contracts.topology import declared_stream
from operations.erasure.plan import plan_erasure
from operations.erasure.removal import publish_tombstones, refuse_undeletable_log, remove
from runtime.bus import topology
from runtime.bus.topology import stream_config
from runtime.errors import ConfigurationError
from tests.support.nats_server import connected, running_nats
from tests.support.stored_bytes import files_with

CANARY = b"quillfeather"


async def test_what_is_removed_lies_in_no_file_and_the_rest_stays(tmp_path: Path) -> None:
    async with running_nats(tmp_path) as server, connected(server) as client:
        bus = client.jetstream(timeout=5)
        await topology.apply(bus)
        for number in range(60):
            document, word = ("secret", CANARY) if number % 6 == 0 else ("other", b"nothing")
            body = b'{"text": "' + (word + b" of no news ") * 20_000 + b'"}'
            await bus.publish(subjects.subject("w", document, "ChunksCreated"), body)
        assert files_with(server.folder, CANARY)
        plan = await plan_erasure(bus, "w", "secret")
        await publish_tombstones(bus, plan, "asked for")
        await remove(bus, plan)
        await remove(bus, plan)
        assert files_with(server.folder, CANARY) == []
        state = (await bus.stream_info("KB_EVENTS")).state
        assert state.messages == 51
        assert (await plan_erasure(bus, "w", "secret")).history.unfinished


async def test_a_log_of_an_older_version_is_no_difference_and_cannot_be_erased_from(
    jetstream: JetStreamContext,
) -> None:
    await jetstream.delete_stream("KB_EVENTS")
    await jetstream.add_stream(
        stream_config(declared_stream("KB_EVENTS")).evolve(deny_delete=True, description="old")
    )
    await topology.apply(jetstream)
    assert await topology.check(jetstream) == []
    with pytest.raises(ConfigurationError, match="deny_delete"):
        await refuse_undeletable_log(jetstream)
