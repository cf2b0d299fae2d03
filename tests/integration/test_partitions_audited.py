"""A log of several partitions that no longer says what it said is found out, whichever partition
it is; and what was found can be accepted.
"""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
import pytest_asyncio
from nats.js import JetStreamContext

from contracts import subjects
from contracts.events import BudgetSet, FeedbackGiven
from contracts.partitions import partition_of, stream_name
from contracts.topology import CHECKPOINTS_BUCKET
from operations.audit import audit_log, audit_part_of_log
from operations.checkpoints import accept_loss
from operations.erasure.plan import plan_erasure
from operations.erasure.removal import publish_tombstones, remove
from runtime.bus.nats.key_values import NatsSharedValues
from runtime.bus.nats.log import NatsLog
from runtime.bus.nats.log_evidence import observe_log
from runtime.projections import log_archive
from runtime.projections.audit_progress import read_audit_progress
from runtime.projections.log_archive import LogArchive, archived_records
from runtime.projections.verdicts import combined_verdict
from runtime.stores.documents.memory import MemoryRows
from tests.support.events import added, sealed
from tests.support.nats_server import connected
from tests.support.partitioned_bus import COUNT, WORKSPACES, partitioned_bus

DOCUMENTS = 12
"""Of each workspace."""


@pytest_asyncio.fixture
async def bus(tmp_path: Path) -> AsyncGenerator[JetStreamContext]:
    async with partitioned_bus(tmp_path) as server, connected(server) as client:
        jetstream = client.jetstream(timeout=5)
        log = NatsLog(jetstream)
        for workspace in WORKSPACES:
            for number in range(DOCUMENTS):
                await log.publish(sealed(added(f"d{number}", "text"), workspace=workspace))
            await log.publish(sealed(FeedbackGiven(rating="up", question="Q"), workspace=workspace))
        yield jetstream


@pytest.fixture
def rows() -> MemoryRows:
    return MemoryRows()


async def values_of(bus: JetStreamContext) -> NatsSharedValues:
    return await NatsSharedValues.bind(bus, CHECKPOINTS_BUCKET)


async def problems_of(bus: JetStreamContext, rows: MemoryRows) -> list[str]:
    return (await audit_log(bus, bus, rows, lambda _: None)).problems


async def test_all_partitions_are_chained_and_what_was_chained_is_compared(
    bus: JetStreamContext, rows: MemoryRows
) -> None:
    first_findings = await audit_log(bus, bus, rows, lambda _: None)
    assert first_findings.problems == []
    assert (first_findings.events, first_findings.chained) == (COUNT * (DOCUMENTS + 1), 0)
    assert first_findings.workspaces == COUNT
    assert first_findings.last == (await observe_log(bus)).last_sequence
    chains = {partition.workspace for partition in await rows.partitions("chain")}
    assert chains >= {*WORKSPACES, "x-questions", "x-questions-1", "x-questions-2"}
    for workspace in reversed(WORKSPACES):  # an earlier partition later, too
        await NatsLog(bus).publish(sealed(BudgetSet(money=1.0), workspace=workspace))
        await NatsLog(bus).publish(
            sealed(FeedbackGiven(rating="down", question="Q"), workspace=workspace)
        )
    second_findings = await audit_log(bus, bus, rows, lambda _: None)
    assert (second_findings.problems, second_findings.chained) == ([], first_findings.events)
    assert await problems_of(bus, rows) == []


@pytest.mark.parametrize("workspace", WORKSPACES)
async def test_a_lost_event_is_found_in_any_partition_and_the_loss_can_be_accepted(
    bus: JetStreamContext, rows: MemoryRows, workspace: str
) -> None:
    assert await problems_of(bus, rows) == []
    log = NatsLog(bus)
    lost_message = await log.newest(workspace, "d4", "DocumentAdded")
    assert lost_message is not None
    await bus.delete_msg(stream_name(partition_of(workspace, COUNT)), lost_message.sequence)
    problems = await problems_of(bus, rows)
    assert any(str(lost_message.sequence) in problem for problem in problems), problems
    assert (await combined_verdict(await values_of(bus))).log

    await accept_loss(bus, rows)
    assert not (await combined_verdict(await values_of(bus))).log
    assert await problems_of(bus, rows) == []
    await log.publish(sealed(added("later", "text"), workspace=workspace))
    assert await problems_of(bus, rows) == []


async def test_an_erasure_leaves_the_chains_whole(bus: JetStreamContext, rows: MemoryRows) -> None:
    archive = LogArchive(bus, rows, await values_of(bus))
    assert await archive.extend() == COUNT * (DOCUMENTS + 1)
    plan = await plan_erasure(bus, "w", "d1")
    await publish_tombstones(bus, plan, "")
    await remove(bus, plan)
    assert await problems_of(bus, rows) == []
    await archive.extend()
    archived_subjects = [record.subject async for record in archived_records(rows)]
    assert subjects.subject("w", "d1", "DocumentAdded") not in archived_subjects
    assert len(archived_subjects) == COUNT * (DOCUMENTS + 1)


async def test_a_rolling_audit_goes_on_from_partition_to_partition(
    bus: JetStreamContext, rows: MemoryRows, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("runtime.bus.nats.copies.PAGE", 5)
    places: list[int] = []
    for _ in range(3 * COUNT):  # a page of five events in each part
        findings = await audit_part_of_log(bus, bus, rows, 0.0)
        assert findings.problems == []
        progress = await read_audit_progress(await values_of(bus))
        assert progress is not None
        places.append(progress.place)
        if findings.complete:
            break
    assert places == sorted(set(places))
    assert progress.position == progress.end == (await observe_log(bus)).last_sequence
    assert (progress.events, progress.finished_at > 0) == (COUNT * (DOCUMENTS + 1), True)
    assert await problems_of(bus, rows) == []


async def test_an_archive_goes_on_where_another_process_left_it(
    bus: JetStreamContext, rows: MemoryRows, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_archive, "STEP", 4)
    values = await values_of(bus)
    await LogArchive(bus, rows, values).extend()
    log = NatsLog(bus)
    for workspace in WORKSPACES:
        await log.publish(sealed(added("later", "text"), workspace=workspace))
    assert await LogArchive(bus, rows, values).extend() == COUNT
    assert await LogArchive(bus, rows, values).extend() == 0
    archived_sequences = sorted([record.sequence async for record in archived_records(rows)])
    pages = [page async for page in log.read()]
    assert archived_sequences == [message.sequence for page in pages for message in page]
    assert await problems_of(bus, rows) == []
