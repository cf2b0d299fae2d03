"""The log is audited in the background: a part at a time, and a bit that was flipped while the bus
was down is told.
"""

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from pathlib import Path

import pytest
from nats.aio.client import Client
from nats.js import JetStreamContext

from contracts.topology import CHECKPOINTS_BUCKET
from embedded.rolling_audit import CPU_SECONDS, INTERVAL, SHARE
from operations import checkpoints
from operations.audit import Findings, audit_log, audit_part_of_log
from runtime.bus import topology
from runtime.bus.nats import copies
from runtime.bus.nats.key_values import NatsSharedValues
from runtime.bus.nats.log import NatsLog
from runtime.metrics import instruments
from runtime.metrics.bus_readings import read_audit
from runtime.projections.audit_progress import AuditProgress, audit_note, read_audit_progress
from runtime.projections.verdicts import combined_verdict
from runtime.stores.documents.memory import MemoryRows
from runtime.stores.documents.port import Rows
from tests.support.damage import flip_a_bit
from tests.support.nats_server import RunningNats, connected, reconnected, running_nats
from tests.support.trial_service import document

EVENTS = 60
PAGE = 10
NO_TIME = 0.0
PLENTY = 100.0


@dataclass
class AuditedLog:
    """A real server with a log, and the document store that has its chains."""

    server: RunningNats
    client: Client
    rows: Rows

    @property
    def jetstream(self) -> JetStreamContext:
        return self.client.jetstream()

    async def values(self) -> NatsSharedValues:
        return await NatsSharedValues.bind(self.jetstream, CHECKPOINTS_BUCKET)

    async def fill(self, *names: str) -> None:
        for number, name in enumerate(names):
            await NatsLog(self.jetstream).publish(
                document(name, workspace="one" if number % 3 else "two")
            )

    async def part(self, cpu_seconds: float) -> Findings:
        async with connected(self.server) as reader:
            return await audit_part_of_log(
                reader.jetstream(), self.jetstream, self.rows, cpu_seconds
            )

    async def progress(self) -> AuditProgress:
        progress = await read_audit_progress(await self.values())
        assert progress
        return progress

    async def flip(self) -> None:
        """Kill the server, flip a bit in its file, and start it again."""
        await self.server.kill()
        flip_a_bit(self.server)
        await self.server.restart()
        await reconnected(self.client)


@pytest.fixture
async def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[AuditedLog]:
    monkeypatch.setattr(copies, "PAGE", PAGE)
    async with running_nats(tmp_path) as server, connected(server) as client:
        await topology.apply(client.jetstream())
        log = AuditedLog(server, client, MemoryRows())
        await log.fill(*(f"doc-{number}" for number in range(EVENTS)))
        yield log


async def test_parts_go_on_where_the_last_one_stopped_and_find_nothing_in_a_log_that_is_well(
    log: AuditedLog,
) -> None:
    assert await audit_note(await log.values()) is None
    places: list[int] = []
    while True:
        findings = await log.part(NO_TIME)
        assert findings.problems == []
        places.append(findings.last)
        if findings.complete:
            break
        assert f"a pass is at {100 * findings.last // EVENTS} %; " in str(await log.progress())
    assert places == sorted(set(places)) and len(places) > 2 and places[-1] == EVENTS
    assert findings.events == EVENTS
    note = await audit_note(await log.values())
    assert note and note.startswith("the last whole pass ended at ")
    assert note.endswith(" UTC; nothing is amiss")
    findings_of_all = await audit_log(log.jetstream, log.jetstream, log.rows, lambda _: None)
    assert (findings_of_all.chained, findings_of_all.problems) == (EVENTS, []), (
        "a pass that ended well extends the chains"
    )


async def test_a_bit_that_was_flipped_while_the_bus_was_down_is_found_and_told(
    log: AuditedLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    await log.part(PLENTY)
    await log.fill("later")
    assert (await log.part(NO_TIME)).complete is False
    await log.flip()
    while not (findings := await log.part(NO_TIME)).complete:
        pass
    assert findings.problems
    values = await log.values()
    assert f"{len(findings.problems)} problems were found" in str(await log.progress())
    assert (await combined_verdict(values)).log.startswith("audit: "), (
        "doctor and the services say so"
    )
    gauge = Gauge()
    monkeypatch.setattr(instruments, "audit_problems", gauge)
    await read_audit(values)
    assert gauge.values == [len(findings.problems)]
    await checkpoints.accept_loss(log.jetstream, log.rows)
    assert await audit_note(values) is None, "what was accepted is not told again"
    assert (await log.part(PLENTY)).problems == []
    assert (await combined_verdict(values)).log == ""


class Gauge:
    """Keeps what it is set to."""

    def __init__(self) -> None:
        self.values: list[float] = []

    def set(self, value: float) -> None:
        self.values.append(value)


def test_no_more_than_a_hundredth_of_a_core_is_used() -> None:
    assert SHARE >= 100
    assert INTERVAL >= 300.0
    assert CPU_SECONDS <= 10.0
