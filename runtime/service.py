"""Runs a service: connects, waits for its stores, subscribes its handlers, answers health pages, ends in good order."""

import asyncio
import os
import signal
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import structlog
import uvicorn
import uvloop
from faststream import AckPolicy
from faststream.nats import JStream, NatsBroker, PullSub
from nats.aio.msg import Msg
from nats.errors import Error as NatsError
from nats.js import JetStreamContext
from starlette.applications import Starlette

from contracts.events import Stage
from contracts.topology import CHECKPOINTS_BUCKET, TURNS_BUCKET, durable
from runtime import place, telemetry, workers
from runtime.bus import topology
from runtime.bus.edge import Edge
from runtime.bus.log_writes import LogWrites
from runtime.bus.nats import NatsLog
from runtime.bus.nats_beside import NatsBlobs, NatsPointers, NatsValues
from runtime.bus.nats_lookahead import Lookahead
from runtime.bus.nats_messages import NatsMessage
from runtime.bus.overtaking import OvertakingLane
from runtime.bus.port import Handle, Values
from runtime.errors import ConfigurationError, Unavailable
from runtime.health import Health, Progress
from runtime.integrity import Integrity
from runtime.models.limits_shared import Guards
from runtime.place import Place
from runtime.server import Server
from runtime.settings import Settings

logger = structlog.get_logger(__name__)

BATCH_WINDOW = 0.2
"""Seconds a consumer that may take several messages at once waits for more of them."""

STOPPING = "stopping"
GRACE = 20.0
"""Seconds a handler may go on after SIGTERM; what is not acknowledged by then is delivered again."""


@dataclass(frozen=True)
class Subscription:
    """A handler on a durable of `contracts/topology.py`; `workers` messages (or batches) at a time."""

    durable: str
    handle: Handle
    workers: int = 1


@dataclass(frozen=True)
class Bus:
    """What a service gets of the bus."""

    log: NatsLog
    blobs: NatsBlobs
    pointers: NatsPointers
    jetstream: JetStreamContext
    guards: Guards
    integrity: Integrity
    turns: Values


Build = Callable[[Bus, Health], AbstractAsyncContextManager[Sequence[Subscription]]]
"""Opens a service's stores and models, wires its handlers, and closes all of it in the end."""


def run(
    stage: Stage,
    settings: Settings,
    build: Build,
    app: Starlette | None = None,
    processes: int = 1,
    lent: Mapping[str, str] | None = None,
) -> None:
    """Run the service until SIGTERM or SIGINT. Exits with code 1 and the reason when it must not run.

    Several `processes` answer behind one port: each has the variables `lent` besides those of this process.
    """
    with starting(stage, settings):
        here = place.found()
        if processes > 1 and here is None:
            raise SystemExit(workers.keep(settings.host, settings.port, processes, lent or {}))
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(_serve(stage, settings, build, app or Starlette(), here))


@contextmanager
def starting(stage: Stage, settings: Settings) -> Generator[None]:
    """Say which settings contradict each other, and end with code 1 and the reason when the process must not run."""
    telemetry.configure(stage, settings.log_level)
    # A worker's keeper has said them, of what people set and not of what it lends.
    for contradiction in () if place.is_worker() else settings.contradictions:
        logger.warning("contradictory settings", what=contradiction)
    try:
        yield
    except ConfigurationError as error:
        logger.error("cannot start", reason=str(error))
        raise SystemExit(1) from None


async def until_it_answers(what: str, ping: Callable[[], Awaitable[None]], health: Health) -> None:
    """Wait for a store that is down: a service outlives its stores, and says what it waits for."""
    delay = 0.2
    while True:
        try:
            return await ping()
        except Unavailable as error:
            health.stage = f"waiting for {what}"
            logger.warning("waiting", store=what, error=str(error))
            await asyncio.sleep(delay)
            delay = min(delay * 2, 5.0)


async def _serve(stage: Stage, settings: Settings, build: Build, app: Starlette, here: Place | None) -> None:
    health, turn = Health(stage), asyncio.Event()
    app.router.routes[:0] = health.routes()
    server = Server(
        uvicorn.Config(app, settings.host, settings.port, log_config=None, lifespan="off", server_header=False)
    )

    def stop() -> None:
        server.should_exit = True
        turn.set()

    def ready() -> None:
        turn.set()
        if here:
            here.ready()

    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop)
    if here:
        here.attend(server.take, stop)
    if not here or here.first:
        turn.set()
    work = asyncio.create_task(_work(stage, settings, build, health, ready))
    work.add_done_callback(lambda _: stop())
    # Among others that answer already, one that is still starting would answer its share of the questions with 503.
    await turn.wait()
    if not server.should_exit:
        await server.serve([] if here else None)
    if not work.done():
        work.cancel()
    with suppress(asyncio.CancelledError):
        await work


async def _work(stage: Stage, settings: Settings, build: Build, health: Health, ready: Callable[[], None]) -> None:
    writes = LogWrites()
    async with _connection(stage, settings, health, writes) as broker:
        health.stage = "waiting for the bus"
        jetstream = (await broker.connect()).jetstream()
        health.stage = "starting"
        bus = await _bus(jetstream, health, writes)
        async with build(bus, health) as subscriptions, bus.integrity.watching(health):
            if problems := await topology.check(jetstream, tuple(durable(s.durable) for s in subscriptions)):
                raise ConfigurationError(
                    f"the bus differs from its declaration; run `lightstream topology apply`: {'; '.join(problems)}"
                )
            lanes = [_subscribe(broker, subscription, stage, bus, health) for subscription in subscriptions]
            await broker.start()
            health.stage = None
            ready()
            logger.info("ready", durables=[subscription.durable for subscription in subscriptions])
            try:
                async with asyncio.TaskGroup() as overtaking:
                    for lane in lanes:
                        overtaking.create_task(lane.run())
                    await asyncio.Event().wait()
            finally:
                await _stop(broker, health)


async def _bus(jetstream: JetStreamContext, health: Health, writes: LogWrites) -> Bus:
    guards = Guards(await NatsValues.bind(jetstream), health.notes)
    pointers, turns = await NatsPointers.bind(jetstream), await NatsValues.bind(jetstream, TURNS_BUCKET)
    values = await NatsValues.bind(jetstream, CHECKPOINTS_BUCKET)
    integrity = Integrity(health.service, jetstream, pointers, values, writes)
    log, blobs = NatsLog(jetstream, writes), NatsBlobs(jetstream, writes)
    return Bus(log, blobs, pointers, jetstream, guards, integrity, turns)


@asynccontextmanager
async def _connection(
    stage: Stage, settings: Settings, health: Health, writes: LogWrites
) -> AsyncGenerator[NatsBroker]:
    async def closed() -> None:
        # Without a connection FastStream's loops spin silently for ever: better to end, and be started again.
        if health.stage != STOPPING:
            logger.error("the connection to the bus is closed for good")
            os._exit(1)

    async def on_error(error: Exception) -> None:
        logger.warning("bus error", error=f"{type(error).__name__}: {error}")

    broker = NatsBroker(
        settings.nats_url, name=f"lightstream-{stage}", max_reconnect_attempts=-1, reconnect_time_wait=1,
        closed_cb=closed, error_cb=on_error,
        disconnected_cb=writes.away, reconnected_cb=writes.back, graceful_timeout=GRACE, apply_types=False, logger=None,
    )  # fmt: skip
    try:
        yield broker
    finally:
        await _stop(broker, health)


async def _stop(broker: NatsBroker, health: Health) -> None:
    health.stage = STOPPING
    # A server that is down cannot be told goodbye; what is not acknowledged is delivered again.
    with suppress(NatsError):
        await broker.stop()


def _subscribe(
    broker: NatsBroker, subscription: Subscription, stage: Stage, bus: Bus, health: Health
) -> OvertakingLane:
    declared = durable(subscription.durable)
    edge = Edge(stage, declared, bus.integrity.gated(subscription.handle, health), bus.log, bus.pointers)
    look = Lookahead(bus.jetstream, declared.stream, declared.filters)
    lane = OvertakingLane(edge, look, bus.turns, slots=subscription.workers)

    async def raw(message: Any) -> Any:
        # Decoding is the edge's work: one undecodable body must never keep its neighbours from being handled.
        return message.raw_message

    for _ in range(subscription.workers):
        # One fetch in flight per subscriber: `max_workers` would prefetch, and prefetched messages time out.
        broker.subscriber(
            declared.filters[0],
            stream=JStream(declared.stream, declare=False),
            durable=declared.name,
            pull_sub=PullSub(declared.batch, BATCH_WINDOW if declared.batch > 1 else 5.0),
            ack_policy=AckPolicy.MANUAL,
            decoder=raw,
        )(_gathered(lane))
    health.probes[declared.name] = _progress(bus, edge)
    return lane


def _gathered(lane: OvertakingLane) -> Callable[[Msg], Awaitable[None]]:
    """Messages of one fetch, which FastStream hands over side by side, as one batch again.

    Each subscriber has one of its own: messages of two fetches in one batch would be handled by one worker.
    Its own batch mode loses messages: nats-py ends a fetch whose time is up with an error that FastStream lets
    through, and what it had collected until then waits for `ack_wait`. Here nothing is collected across fetches.
    """
    waiting: list[Msg] = []

    async def consume(message: Msg) -> None:
        waiting.append(message)
        await asyncio.sleep(0)  # let the others of this fetch arrive; the first to go on takes them all
        if waiting:
            batch = [NatsMessage(one) for one in waiting]
            waiting.clear()
            await lane.process(batch)

    return consume


def _progress(bus: Bus, edge: Edge) -> Callable[[], Awaitable[str | None]]:
    progress = Progress()

    async def probe() -> str | None:
        try:
            async with asyncio.timeout(1.0):
                info = await bus.jetstream.consumer_info(edge.durable.stream, edge.durable.name)
        except (NatsError, TimeoutError) as error:
            return f"durable does not answer: {type(error).__name__}"
        return progress.stalled(handled=edge.handled, waiting=info.num_pending or 0, busy=edge.busy)

    return probe
