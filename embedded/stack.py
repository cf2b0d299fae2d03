"""The parts of one stack and their order: bus, topology, stores, then the five services as separate
processes.
"""

import asyncio
import os
import sys
from collections.abc import AsyncGenerator, Collection
from contextlib import (
    AbstractAsyncContextManager,
    asynccontextmanager,
    nullcontext,
    suppress,
)
from functools import partial
from pathlib import Path
from typing import Any

from contracts.events import Stage
from embedded import damage, ports
from embedded.addresses import bus_url, service_addresses
from embedded.bus_watch import BusWatch
from embedded.clock_watch import StepWatch
from embedded.data_folder import DataFolder, Phase, StackState, end_orphans, new_password
from embedded.folder_errors import describe_folder_error, folder_errors
from embedded.following import follower_process, prepare_bus
from embedded.forking import ForkServer, fork_server
from embedded.local_http import local_client
from embedded.operator_process import take_orders_at
from embedded.orphans import ProcessIdentity
from embedded.permissions import private_files
from embedded.processes import Process
from embedded.programs import service_module
from embedded.region import RegionLink, bus_link
from embedded.release import enter_release
from embedded.servers import arcadedb, java_machine, milvus_lite, nats
from embedded.servers.milvus_lite_indexes import IdIndexWatch
from embedded.service_settings import refuse_unusable
from embedded.stores import GRAPH, STORES, VECTORS, FolderStore, servers_of
from embedded.supervisor import ChildRecords, Report, supervise
from runtime.bus.nats.connection import connected
from runtime.bus.nats.region import read_writing_region
from runtime.concurrency.background import in_background
from runtime.errors import ConfigurationError, Unavailable
from runtime.models.open import DEFAULT_EMBEDDING_MODEL
from runtime.models.roles import ROLES, VISION, RoleSettings, language_model
from runtime.workarounds.httpx import httpx

SERVICES: tuple[Stage, ...] = ("chunker", "extractor", "merger", "indexer", "query")

LOCAL = ports.USUAL_ADDRESS.host

SERVICE_TIMEOUT = 120.0
"""Seconds until a service must be ready: it waits for stores that start at the same time."""

STARTED_WITH = ("log", "stores", "publishes")
"""Parts of a health page with which a service counts as started: losses, and writes that are not
confirmed.
"""

SERVICE_GRACE = 25.0
"""Seconds between SIGTERM and SIGKILL: handlers may finish their events."""

PORT_ATTEMPTS = 3
"""Starts that are tried when other programs take one of the claimed ports at the same moment."""


@asynccontextmanager
async def run_stack(
    folder: DataFolder, report: Report, *, api: ports.ApiAddress = ports.USUAL_ADDRESS
) -> AsyncGenerator[StackState]:
    """Run a stack over the folder for as long as the block lasts; no process of it is left
    afterwards.

    Raises `Busy` when the folder has one already, InvalidInput when the port of `api` is taken,
    ConfigurationError, with the reason, when a part does not start.
    """
    with folder_errors(), private_files(), folder.lock():
        state = folder.read()
        enter_release(folder)
        if orphan_count := end_orphans(folder, state):
            report(f"ended {orphan_count} processes of a stack that was killed")
        state.supervisor, state.failure = ProcessIdentity.of(os.getpid()), ""
        state.bus_password = state.bus_password or new_password()
        if GRAPH in _servers(folder, state):
            state.password = state.password or new_password()
        try:
            _note_models(state, api.host)
            async with _run_with_ports(folder, state, report, api):
                yield state
        except OSError as error:
            state.failure = describe_folder_error(error)
            raise
        finally:
            state.supervisor = None
            _enter_phase("failed" if state.failure else "stopped", folder, state)


def _note_models(state: StackState, host: str) -> None:
    """Note the models that are asked for. Raises ConfigurationError with all settings that cannot
    be used, and notes it as the failure of this start.
    """
    try:
        refuse_unusable(host)
        state.models = configured_models()
    except ConfigurationError as error:
        state.failure = str(error)
        raise


def configured_models() -> dict[str, str]:
    """The models this process's environment asks for: `language` (that answers; empty: none) and
    `embedding`.

    A role whose model is another one than the answering has it under its name.
    """
    role_settings = RoleSettings()
    of_roles = {
        role: model.model if (model := language_model(role_settings, role)) else ""
        for role in ROLES
    }
    language = of_roles["query"]
    endpoint = role_settings.embedding_model or DEFAULT_EMBEDDING_MODEL
    return {
        "language": language,
        **{
            role: model
            for role, model in of_roles.items()
            if model != language and (model or role != VISION)
        },
        "embedding": endpoint
        if role_settings.has_embedding_endpoint
        else role_settings.embedding_model or "minilm",
    }


def _servers(folder: DataFolder, state: StackState) -> tuple[FolderStore, ...]:
    """Return the stores for which the stack starts a server; none where they are elsewhere."""
    return () if state.stores else servers_of(folder.path)


def _store_processes(folder: DataFolder, state: StackState) -> dict[str, Process]:
    """Return the servers of the folder's stores, not started, by store. Each has a folder, with its
    log.
    """
    processes: dict[str, Process] = {}
    for store in _servers(folder, state):
        if why := store.describe_missing_server(folder):
            raise ConfigurationError(why)
        process = _store_process(store, folder.path / store.name, state)
        process.diagnosis = partial(damage.describe_damage_after_exit, folder, store.name)
        processes[store.name] = process
    return processes


def _store_process(store: FolderStore, folder: Path, state: StackState) -> Process:
    if store is VECTORS:
        return milvus_lite.milvus_lite(folder, port=state.ports["vectors"])
    return arcadedb.arcadedb(
        folder,
        http_port=state.ports["graph-http"],
        bolt_port=state.ports["graph"],
        password=state.password,
    )


def _bus(folder: DataFolder, state: StackState) -> Process:
    """Return the bus, not started, linked to those of other regions where the stack has a name."""
    return nats.nats_server(
        folder.path / "bus",
        port=state.ports["bus"],
        password=state.bus_password,
        options=nats.BusOptions(
            bus_link(RegionLink.of(state), state.ports["regions"]), state.partitions
        ),
    )


@asynccontextmanager
async def _run_with_ports(
    folder: DataFolder, state: StackState, report: Report, api: ports.ApiAddress
) -> AsyncGenerator[None]:
    preferred_ports = {**ports.DEFAULT_PORTS, **state.ports}
    used_servers = _servers(folder, state)
    unused_parts = [
        port for store in STORES if store not in used_servers for port in store.server.ports
    ]
    for attempt in range(1, PORT_ATTEMPTS + 1):
        try:
            with ports.claim_ports(
                preferred_ports, api.port, unused_parts=unused_parts
            ) as state.ports:
                _enter_phase("starting", folder, state)
                async with _run_processes(folder, state, report, api.host):
                    _enter_phase("ready", folder, state)
                    try:
                        yield
                    finally:
                        _enter_phase("stopping", folder, state)
            return
        except ConfigurationError as error:
            if state.phase != "starting":
                raise
            # All of ours have ended: a port that is taken now is somebody else's.
            if attempt == PORT_ATTEMPTS or all(map(ports.is_free, state.ports.values())):
                state.failure = str(error)
                raise
            report("another program took one of the ports: starting anew with others")
            preferred_ports = {}


@asynccontextmanager
async def _run_processes(
    folder: DataFolder, state: StackState, report: Report, api_host: str
) -> AsyncGenerator[None]:
    for name in ("documents", "services"):
        (folder.path / name).mkdir(exist_ok=True)
    if not state.stores:
        _refuse_damaged_files(folder)
    records = ChildRecords(
        on_change=lambda: _record(folder, state), report=report, children=state.children
    )
    servers = _store_processes(folder, state)
    clock = StepWatch(servers.get(VECTORS.name), report)
    bus = _bus(folder, state)
    async with (
        fork_server(
            folder.path / "services",
            [service_module(name) for name in SERVICES],
            _service_environment(folder, state),
        ) as forks,
        supervise([bus], records) as bus_answers,
        supervise([*servers.values()], records) as stores_answer,
    ):
        await bus_answers()
        async with connected(bus_url(state), name="lightstream-topology") as client:
            if changes := await prepare_bus(client.jetstream(), state):
                report(f"streams and consumers are as declared now ({len(changes)} changes)")
            follows = await read_writing_region(client.jetstream())
        services = [
            _service(name, folder, state, forks, api_host if name == "query" else LOCAL)
            for name in (("query",) if follows else SERVICES)
        ]
        services += [follower_process(folder.path, follows)] if follows else []
        async with supervise(services, records) as services_answer:
            await asyncio.gather(stores_answer(), services_answer())
            if GRAPH.name in servers:
                java_machine.write_class_cache_once()
            watch = BusWatch(bus, bus_url(state), _health_ports(state), report)
            # Of a mirror nobody can write to tell whether the bus takes anything.
            watching = nullcontext() if follows else in_background(watch.run())
            options = ["--data", str(folder.path)]
            async with (
                watching,
                in_background(clock.run()),
                _indexing_ids(folder, state),
                take_orders_at(bus_url(state), options, report),
            ):
                yield


def _refuse_damaged_files(folder: DataFolder) -> None:
    """Raise ConfigurationError for a damaged file that services open themselves."""
    server_names = {store.name for store in servers_of(folder.path)}
    for store in damage.PROJECTION_OF_STORE:
        if store in server_names:
            continue
        if why := damage.find_damage(folder.path, store):
            raise ConfigurationError(damage.describe_damage(folder, store, why))


def _indexing_ids(folder: DataFolder, state: StackState) -> AbstractAsyncContextManager[None]:
    """Index the ids of collections that a Milvus Lite of our own makes during a block."""
    if VECTORS not in _servers(folder, state):
        return nullcontext()
    watch = IdIndexWatch(folder.path / VECTORS.name / milvus_lite.DATABASE)
    return in_background(watch.run())


def _health_ports(state: StackState) -> dict[str, int]:
    """Return the ports of the services' health pages."""
    return {name: state.ports["api" if name == "query" else name] for name in SERVICES}


def _enter_phase(phase: Phase, folder: DataFolder, state: StackState) -> None:
    state.phase = phase
    _record(folder, state)


def _record(folder: DataFolder, state: StackState) -> None:
    # A data folder that somebody removed must not keep its stack from being stopped, nor a full
    # disk end it: the next change is recorded with this one, and what stops a stack knows a process
    # by more than its pid.
    with suppress(OSError):
        folder.write(state)


def _service_environment(folder: DataFolder, state: StackState) -> dict[str, str]:
    """Return the variables that all services of this stack get."""
    variables = {
        variable.upper(): value for variable, value in service_addresses(folder, state).items()
    }
    return {**variables, "HOST": LOCAL}


def _service(
    name: Stage, folder: DataFolder, state: StackState, forks: ForkServer, host: str
) -> Process:
    port = state.ports["api" if name == "query" else name]

    async def probe() -> None:
        # A stack that has lost data is started all the same: a rebuild needs the stack.
        await check_ready(name, port, started_with=STARTED_WITH)

    return Process(
        name,
        [sys.executable, "-m", service_module(name)],
        folder.path / "services",
        probe,
        env={**_service_environment(folder, state), "HOST": host, "PORT": str(port)},
        timeout=SERVICE_TIMEOUT,
        grace=SERVICE_GRACE,
        launch=forks.launch,
    )


async def check_ready(
    name: Stage, port: int, *, started_with: Collection[str] = ()
) -> dict[str, str]:
    """Ask a service's health page, and return its notes.

    Raises `Unavailable` with what keeps it from being ready, other than the parts in
    `started_with`.
    """
    answer = await health(name, port)
    all_problems: dict[str, str] = answer.get("problems") or {}
    if problems := {
        part: problem for part, problem in all_problems.items() if part not in started_with
    }:
        raise Unavailable("; ".join(f"{part}: {problem}" for part, problem in problems.items()))
    return answer.get("notes", {})


async def health(name: Stage, port: int) -> dict[str, Any]:
    """Return a service's health page. Raises Unavailable when it does not answer."""
    async with local_client(4.0) as client:
        try:
            answer = await client.get(f"http://127.0.0.1:{port}/health/ready")
            body = answer.json()
        except (httpx.HTTPError, ValueError) as error:
            raise Unavailable(
                f"{name} does not answer on port {port} ({type(error).__name__})"
            ) from None
    if body.get("service") != name:
        raise Unavailable(f"another program answers on port {port}")
    return body
