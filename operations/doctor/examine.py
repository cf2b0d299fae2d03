"""Examines this machine and a stack, or a deployment: what is missing or unhealthy, and what to
do.
"""

from collections.abc import AsyncIterator, Iterator

from embedded import damage, orphans, service_settings
from embedded.addresses import bus_url
from embedded.data_folder import DataFolder, NewerRelease, StackState
from embedded.folder_errors import describe_folder_error
from embedded.stack import SERVICES, health
from embedded.stores import STORES
from operations import stores
from operations.doctor.bus import examine_bus
from operations.doctor.languages import examine_languages
from operations.doctor.machine import examine_machine, models_in_use
from operations.query_service import query_client
from operations.target import Target, target_of_stack
from runtime.bus_examination import PARKED_NOTE, REDELIVERY_NOTE, SET_CLOCK
from runtime.errors import ConfigurationError, ServiceError
from runtime.findings import Finding

MEND_SETTING = "mend it where it is set: `lightstream config` shows that"

NOT_READY = "wait a moment; if it stays so, read its log"


async def examine(folder: DataFolder, workspace: str) -> AsyncIterator[Finding]:
    """Yield every finding about the machine and the stack of a folder. A fault is a finding, not an
    error.
    """
    for finding in examine_machine(folder.path):
        yield finding
    state = _recorded_state(folder)
    if isinstance(state, Finding):
        yield state
        return
    for finding in (*_models_and_settings(folder, state), *_damaged_stores(folder, state)):
        yield finding
    if not folder.is_running():
        for finding in _stopped_stack(folder, state):
            yield finding
        return
    for finding in _processes(folder, state):
        yield finding
    notes: dict[str, str] = {}
    async for finding in _services(state, notes):
        yield finding
    async for finding in _contents(folder, state, workspace):
        yield finding
    async for finding in examine_bus(
        bus_url(state), "the supervisor starts it again; read its log", notes
    ):
        yield finding


def _models_and_settings(folder: DataFolder, state: StackState) -> Iterator[Finding]:
    """Yield which models are used, or what of this shell's settings a start would be refused for;
    those of a running stack were usable.
    """
    faults = () if folder.is_running() else service_settings.faults()
    for fault in faults:
        yield Finding("fault", f"a stack cannot start like this: {fault.sentence}", MEND_SETTING)
    if not faults:
        yield from models_in_use(folder, state)


def _recorded_state(folder: DataFolder) -> StackState | Finding:
    """Return the record of the folder's stack, or the finding why it cannot be read."""
    try:
        return folder.read()
    except NewerRelease as error:
        return Finding("fault", str(error), "give this command with the newer release")
    except ConfigurationError as error:
        return Finding("fault", str(error), "stop what still runs by its pid, then remove the file")
    except OSError as error:
        return Finding(
            "fault",
            describe_folder_error(error),
            "nothing can be said of a folder that cannot be read",
        )


async def examine_deployment(deployment: Target, workspace: str) -> AsyncIterator[Finding]:
    """Yield every finding about servers and services that run elsewhere. A fault is a finding, not
    an error.
    """
    yield Finding(
        "note",
        f"this is {deployment.name}",
        "for the stack of a data folder give --data, or unset NATS_URL",
    )
    async for finding in examine_bus(
        deployment.settings.nats_url, "see its log, and whether NATS_URL is right", None
    ):
        yield finding
    async for finding in _stores(deployment):
        yield finding
    async for finding in _documents(deployment.api, workspace):
        yield finding
    async for finding in examine_languages(deployment.api, workspace):
        yield finding


async def _stores(target: Target) -> AsyncIterator[Finding]:
    """Yield what stores that are servers elsewhere lack."""
    try:
        for problem in await stores.check(target.settings):
            yield Finding("fault", problem, "`lightstream stores apply`")
        yield Finding("well", "documents, graph and vectors answer")
    except ServiceError as error:
        yield Finding(
            "fault",
            f"a store does not answer: {error}",
            "see its log, and whether its variables are right",
        )


def _damaged_stores(folder: DataFolder, state: StackState) -> Iterator[Finding]:
    """Stores that cannot open their data."""
    if state.stores:
        return
    faults = [
        damage.describe_damage(folder, store, damage.find_damage(folder.path, store))
        or _fault_of_server(store, state)
        for store in damage.PROJECTION_OF_STORE
    ]
    faults += [store.describe_missing_server(folder) for store in STORES]
    for why in filter(None, faults):
        yield Finding("fault", why, "the log has everything, and no language model is paid again")


def _fault_of_server(store: str, state: StackState) -> str:
    """Return why the server of a store cannot run, where the stack has one and that is known."""
    processes = {each.server.process for each in STORES if each.name == store}
    return "".join(child.fault for name, child in state.children.items() if name in processes)


def _stopped_stack(folder: DataFolder, state: StackState) -> Iterator[Finding]:
    running_servers = [
        name
        for name, child in state.children.items()
        if orphans.runs_in(child.identity, folder.path)
    ]
    if running_servers:
        yield Finding(
            "fault",
            f"the supervisor was killed and left running: {', '.join(running_servers)}",
            f"`lightstream down{folder.command_option}` ends them",
        )
    elif state.phase == "failed":
        yield Finding(
            "fault",
            f"the last start failed: {'; '.join(state.failure.splitlines())}",
            "amend that and start again",
        )
    else:
        yield Finding(
            "note",
            f"no stack is running in {folder.path}",
            f"`lightstream up --detach{folder.command_option}`",
        )


def _processes(folder: DataFolder, state: StackState) -> Iterator[Finding]:
    logs = {path.stem: path for path in folder.path.glob("*/*.log")}
    for name, child in state.children.items():
        log = f"its log is {logs.get(name, folder.path)}"
        if not child.identity.alive:
            yield Finding("fault", f"{name} is not running; the supervisor starts it again", log)
        elif child.restarts:
            yield Finding("note", f"{name} was started again {child.restarts} times", log)
    yield Finding(
        "well", f"the stack is {state.phase}, {len(state.children)} processes, API {state.api}"
    )


async def _services(state: StackState, notes: dict[str, str]) -> AsyncIterator[Finding]:
    """Yield a finding for each service; `notes` collects the notes of their health pages."""
    # A stack that follows another region has no other service than that of questions.
    names = ("query",) if "follower" in state.children else SERVICES
    for name in names:
        try:
            page = await health(name, state.ports["api" if name == "query" else name])
        except ServiceError as error:
            yield Finding("fault", f"{name} is not ready: {error}", NOT_READY)
            continue
        of_services: dict[str, str] = page.get("notes", {})
        notes |= of_services
        problems: dict[str, str] = page.get("problems", {})
        if problems:
            problem_list = "; ".join(f"{part}: {problem}" for part, problem in problems.items())
            yield Finding("fault", f"{name} is not ready: {problem_list}", NOT_READY)
        else:
            yield Finding("well", f"{name} is ready")
        if name == "indexer" and "vectors" in of_services:
            yield Finding("fault", of_services["vectors"], "`lightstream rebuild vectors`")
        if name == "query" and "clock" in of_services:
            yield Finding("note", of_services["clock"], SET_CLOCK)
        for part, note in of_services.items():
            # Why events are redelivered is reported with their number, and a paused provider by the
            # bus.
            if ": " in part and not part.endswith((REDELIVERY_NOTE, PARKED_NOTE)):
                yield Finding("note", f"{part}: {note}")


async def _contents(
    folder: DataFolder, state: StackState, workspace: str
) -> AsyncIterator[Finding]:
    """Yield what is to be said of stores elsewhere, and of the documents."""
    if state.stores:
        async for finding in _stores(target_of_stack(folder, state)):
            yield finding
    async for finding in _documents(state.api, workspace):
        yield finding
    async for finding in examine_languages(state.api, workspace):
        yield finding


async def _documents(base: str, workspace: str) -> AsyncIterator[Finding]:
    try:
        async with query_client(base, workspace) as client:
            numbers = await client.status_counts()
    except ConfigurationError as error:
        yield Finding("fault", str(error), "docs/authentication.md explains keys and their rights")
        return
    except ServiceError as error:
        yield Finding(
            "fault", str(error), f"the query service should answer at {base}: read its log"
        )
        return
    counts_of_failures = {
        name: numbers[name] for name in ("failed", "partial") if numbers.get(name)
    }
    if counts_of_failures:
        yield Finding(
            "fault",
            ", ".join(f"{number} documents {name}" for name, number in counts_of_failures.items()),
            "`lightstream status` says why; when that is mended, `lightstream retry --failed`",
        )
    else:
        yield Finding(
            "well", f"{numbers.get('all', 0)} documents in workspace {workspace}, none failed"
        )
