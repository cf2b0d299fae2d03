"""Runs a service: connects, waits for its stores, subscribes its handlers, answers health pages,
ends in good order.
"""

import asyncio
import signal
from collections.abc import Awaitable, Callable, Coroutine, Generator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NoReturn, TypeVar

import structlog
import uvloop
from nats.aio.client import Client
from nats.errors import NoRespondersError
from nats.js import JetStreamContext
from nats.js.errors import ServerError, ServiceUnavailableError
from starlette.applications import Starlette

from contracts.topology import CHECKPOINTS_BUCKET, TURNS_BUCKET, declared_consumer
from runtime import telemetry
from runtime.broker import connect, jetstream_of, open_broker, stop_broker
from runtime.bus import topology
from runtime.bus.log_metadata import refuse_newer
from runtime.bus.nats.blobs import NatsBlobs
from runtime.bus.nats.connection import SILENT
from runtime.bus.nats.key_values import NatsLiveGenerations, NatsSharedValues
from runtime.bus.nats.log import NatsLog
from runtime.bus.nats.log_streams import ONE_STREAM, LogStreams, log_streams
from runtime.bus.nats.mirrored_log import MirroredLog
from runtime.bus.nats.region import WritingRegion, read_writing_region
from runtime.bus.port import SharedValues
from runtime.bus.write_status import WriteStatus
from runtime.clock_steps import ClockSteps
from runtime.environment_settings import EnvironmentSettings, UnusableSettings, unusable
from runtime.errors import ConfigurationError, Unavailable
from runtime.garbage import collect_seldom, keep_returning_memory
from runtime.health import Health
from runtime.http_server import Server, server_config
from runtime.metrics import exposition
from runtime.metrics.bus_readings import read_durables
from runtime.metrics.providers import watch_provider
from runtime.models.rate_limiters import RateLimiters
from runtime.processes import parent, worker
from runtime.processes.worker import ControlSocket
from runtime.progress_probe import progress_probe
from runtime.projections.integrity import Integrity
from runtime.retries import Backoff
from runtime.settings import Settings
from runtime.subscriptions import Connection, Subscription, subscribe
from runtime.workarounds.faststream import fetch_by_one_request
from runtime.workarounds.nats_py import tolerate_any_headers

__all__ = ["Bus", "Subscription", "read_settings", "run", "starting", "until_it_answers"]

logger = structlog.get_logger(__name__)

S = TypeVar("S", bound=Settings)

STARTING = Backoff(first=0.2, longest=1.0)
"""While a service that starts waits for a store or the bus."""

BUS_AWAY = (Unavailable, NoRespondersError, *SILENT, ServerError, ServiceUnavailableError)
"""Errors of a bus that is silent or slow."""


@dataclass(frozen=True)
class Bus:
    """What a service gets of the bus."""

    log: NatsLog
    blobs: NatsBlobs
    pointers: NatsLiveGenerations
    jetstream: JetStreamContext
    limiters: RateLimiters
    integrity: Integrity
    claims: SharedValues
    client: Client
    streams: LogStreams = ONE_STREAM
    region: WritingRegion | None = None
    """The region that this one follows: nothing is written here, and no durable is taken from."""

    @property
    def subscribing(self) -> Connection:
        """What subscriptions need of it."""
        return Connection(self.log, self.pointers, self.jetstream, self.claims, self.streams)


Build = Callable[[Bus, Health], AbstractAsyncContextManager[Sequence[Subscription]]]
"""Opens a service's stores and models, wires its handlers, and closes all of it in the end."""


def run(
    process: str,
    settings: Settings,
    build: Build,
    app: Starlette | None = None,
    processes: int = 1,
    extra_environment: Mapping[str, str] | None = None,
) -> None:
    """Run the service until SIGTERM or SIGINT. Exits with code 1 and the reason when it must not
    run. `process`: its name in logs, metrics and on the bus.

    Several `processes` answer behind one port: each has the `extra_environment` besides those of
    this process.
    """
    with starting(process, settings):
        control = worker.own_control_socket()
        if processes > 1 and control is None:
            extra = extra_environment or {}
            address = (settings.host, settings.port)
            raise SystemExit(parent.run_workers(*address, processes, extra, settings.drain_seconds))
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(_serve(process, settings, build, app, control))


def read_settings(process: str, kind: type[S], *further_kinds: type[EnvironmentSettings]) -> S:
    """Return the settings of a process. Ends it with code 1, and the reason in its log, when they,
    or the others that it is to read, cannot be used.
    """
    try:
        if faults := unusable((kind, *further_kinds)):
            raise UnusableSettings(faults)
        return kind()
    except ConfigurationError as error:
        telemetry.configure(process, "INFO")
        _refuse_to_start(error)


@contextmanager
def starting(process: str, *groups: Settings) -> Generator[None]:
    """Say once each which settings contradict each other, and end with code 1 and the reason when
    the process must not run.
    """
    telemetry.configure(process, groups[0].log_level)
    exposition.configure(process)
    # The parent process has logged them, about what people set and not about what it adds for a
    # worker.
    contradictions = dict.fromkeys(text for group in groups for text in group.contradictions)
    for contradiction in () if worker.is_worker() else contradictions:
        logger.warning("contradictory settings", what=contradiction)
    try:
        yield
    except ConfigurationError as error:
        _refuse_to_start(error)


def _refuse_to_start(error: ConfigurationError) -> NoReturn:
    """End the process with code 1 and one line, whatever number of reasons there is."""
    logger.error("cannot start", reason="; ".join(str(error).splitlines()))
    raise SystemExit(1) from None


async def until_it_answers(store: str, ping: Callable[[], Awaitable[None]], health: Health) -> None:
    """Wait for a store that is down: a service outlives its stores, and says what it waits for."""

    def again(error: Exception) -> bool:
        if not isinstance(error, Unavailable):
            return False
        health.stage = f"waiting for {store}"
        logger.warning("waiting", store=store, error=str(error))
        return True

    await STARTING.retry(ping, again)


async def _serve(
    process: str,
    settings: Settings,
    build: Build,
    application: Starlette | None,
    here: ControlSocket | None,
) -> None:
    health = Health(process)
    turn = asyncio.Event()
    # An application that is given has metrics of its own: it asks who reads them.
    app = application or Starlette(routes=[exposition.route(health.readings)])
    app.router.routes[:0] = health.routes()
    server = Server(server_config(app, settings, host=settings.host, port=settings.port))

    def stop() -> None:
        server.end()
        health.stopping.set()
        turn.set()

    def ready() -> None:
        turn.set()
        if here:
            here.ready()

    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, _draining(settings.drain_seconds, health, server, stop))
    if here:
        here.receive_connections(server.accept, stop)
    if not here or here.first:
        turn.set()
    work = asyncio.create_task(_work(process, settings, build, health, ready))
    work.add_done_callback(lambda _: stop())
    # Among others that answer already, one that is still starting would answer its share of the
    # questions with 503.
    await turn.wait()
    if not server.should_exit:
        await server.serve([] if here else None)
    if not work.done():
        work.cancel()
    with suppress(asyncio.CancelledError):
        await work


def _draining(
    seconds: float, health: Health, server: Server, stop: Callable[[], None]
) -> Callable[[], None]:
    """Return what ends the service: it tells whoever asks that nobody is to be sent here, and
    answers a while longer.

    Called again it ends at once.
    """

    def end() -> None:
        if health.draining or not seconds:
            stop()
        else:
            health.draining = True
            server.drain()
            asyncio.get_running_loop().call_later(seconds, stop)

    return end


async def _work(
    process: str, settings: Settings, build: Build, health: Health, on_ready: Callable[[], None]
) -> None:
    """Work until told to end. A bus that is silent or slow while the service starts is waited for,
    as stores are.
    """
    beginning = asyncio.Event()

    def begin() -> None:
        beginning.set()
        on_ready()

    def again(error: Exception) -> bool:
        if beginning.is_set() or not isinstance(error, BUS_AWAY):
            return False
        health.stage = "waiting for the bus"
        logger.warning("waiting", store="the bus", error=f"{type(error).__name__}: {error}")
        return True

    await STARTING.retry(partial(_working, process, settings, build, health, begin), again)


async def _refuse_another_topology(
    jetstream: JetStreamContext, subscriptions: Sequence[Subscription]
) -> None:
    """Raises ConfigurationError where the bus is not as declared, with what to run."""
    await refuse_newer(jetstream)
    if problems := await topology.check(
        jetstream, tuple(declared_consumer(s.durable) for s in subscriptions)
    ):
        raise ConfigurationError(
            "the bus differs from its declaration; run `lightstream topology apply`: "
            f"{'; '.join(problems)}"
        )


async def _working(
    process: str, settings: Settings, build: Build, health: Health, on_ready: Callable[[], None]
) -> None:
    writes = WriteStatus()
    async with open_broker(process, settings, health, writes) as broker:
        health.stage = "waiting for the bus"
        client = await connect(broker)
        tolerate_any_headers(client)
        fetch_by_one_request(broker.config.connection_state.stream)
        jetstream = jetstream_of(client, settings)
        health.stage = "starting"
        bus = await _bus(client, jetstream, health, writes)
        async with build(bus, health) as own_subscriptions, bus.integrity.watching(health):
            subscriptions = () if bus.region else own_subscriptions
            await _refuse_another_topology(jetstream, subscriptions)
            guarded_subscriptions = [
                _guarded(subscription, bus.integrity, health) for subscription in subscriptions
            ]
            connection = replace(bus.subscribing, dead_letter_limit=settings.dead_letter_limit)
            consumers = [
                subscribe(broker, subscription, connection)
                for subscription in guarded_subscriptions
            ]
            durables = [consumer.processor.durable for consumer in consumers]
            clock = ClockSteps()
            health.probes["clock"], health.notes["clock"] = clock.problem, clock.note
            health.readings.add("durables", partial(read_durables, jetstream, durables, writes))
            for consumer in consumers:
                health.probes[consumer.processor.durable.name] = progress_probe(
                    jetstream, consumer.processor
                )
                health.notes[f"{consumer.processor.durable.name}: parked"] = consumer.parked.note
                health.notes[f"{consumer.processor.durable.name}: tried again"] = (
                    consumer.processor.reasons.note
                )
            await broker.start()
            health.stage = None
            collect_seldom()
            on_ready()
            logger.info("ready", durables=[subscription.durable for subscription in subscriptions])
            try:
                async with asyncio.TaskGroup() as tasks:
                    for consumer in consumers:
                        for work in consumer.background:
                            tasks.create_task(work())
                    for own_work in _own_work(clock, health):
                        tasks.create_task(own_work)
                    await asyncio.Event().wait()
            finally:
                await stop_broker(broker, health)


def _own_work(clock: ClockSteps, health: Health) -> Sequence[Coroutine[Any, Any, None]]:
    """Return what a service does beside its handlers for as long as it runs."""
    return clock.run(), keep_returning_memory(), exposition.keep_reading(health.readings)


def _guarded(subscription: Subscription, integrity: Integrity, health: Health) -> Subscription:
    noting = integrity.note_beginnings(subscription.durable, subscription.handle)
    return replace(subscription, handle=integrity.hold(subscription.durable, noting, health))


async def _bus(
    client: Client, jetstream: JetStreamContext, health: Health, writes: WriteStatus
) -> Bus:
    limiters = RateLimiters(
        await NatsSharedValues.bind(jetstream),
        health.notes,
        partial(watch_provider, health.readings),
    )
    pointers = await NatsLiveGenerations.bind(jetstream)
    claims = await NatsSharedValues.bind(jetstream, TURNS_BUCKET)
    values = await NatsSharedValues.bind(jetstream, CHECKPOINTS_BUCKET)
    integrity = Integrity(health.service, jetstream, pointers, values, writes)
    region = await read_writing_region(jetstream)
    log = MirroredLog(jetstream, writes) if region else NatsLog(jetstream, writes)
    blobs = NatsBlobs(jetstream, writes)
    health.probes["region"] = partial(_promotion, jetstream, region)
    streams = await log_streams(jetstream)
    return Bus(
        log, blobs, pointers, jetstream, limiters, integrity, claims, client, streams, region
    )


async def _promotion(jetstream: JetStreamContext, began_with: WritingRegion | None) -> str | None:
    """Return what is wrong with a process that began before its region was promoted."""
    if began_with is None or await read_writing_region(jetstream):
        return None
    return "this region writes the log now: start this service again"
