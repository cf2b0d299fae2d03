"""Empties a store on purpose: moves its folder aside, never removes it, and starts its server with
an empty one.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from embedded import daemon, orphans
from embedded.data_folder import Child, DataFolder, StackState, end_orphans
from embedded.stack import SERVICES
from embedded.stores import STORES
from operations.leftovers import MOVED_ASIDE
from runtime.errors import ConfigurationError, InvalidInput

STORES_OF_PROJECTION: Mapping[str, Sequence[str]] = {
    "graph": ("graph",),
    "vectors": ("vectors",),
    "all": ("documents", "graph", "vectors"),
}
"""Folders of the stores that hold a projection alone."""

SERVERS: Mapping[str, str] = {store.name: store.server.process for store in STORES}
"""Processes that alone have a store's files open, where the stack has them. Files of the others are
open in the services.
"""

GRACE = 30.0
"""Seconds between SIGTERM and SIGKILL."""

TIMEOUT = 240.0
"""Seconds until all of them must be ready again: one that kept ending is tried only every 30 s."""


def empty_stores(folder: DataFolder, projection: str, report: Callable[[str], None]) -> list[Path]:
    """Move the projection's stores aside and start their servers empty; a stack that does not run
    is started.

    Returns where the former data are now. Raises InvalidInput for the status, whose store holds
    more than it, and for stores elsewhere; ConfigurationError when the stack is not ready in time.
    """
    if projection not in STORES_OF_PROJECTION:
        raise InvalidInput(
            "graph and vectors rest on the store that holds the status too: give `rebuild all "
            "--fresh` for it"
        )
    if folder.read().stores:
        raise InvalidInput(
            "this stack has its stores elsewhere: empty them by their own means, and rebuild"
        )
    if not folder.is_running():
        with folder.lock():
            end_orphans(folder, folder.read())
            aside = _move_aside(folder, STORES_OF_PROJECTION[projection], report)
        report("starting the stack")
        daemon.start(folder, report)
        return aside
    folder.ready_state()
    aside = _move_aside(folder, STORES_OF_PROJECTION[projection], report)
    # Read after the move: whoever starts later opens the new folder.
    users = _users(folder.read().children, STORES_OF_PROJECTION[projection])
    orphans.terminate(
        [child.identity for child in users.values() if child.identity.alive], grace=GRACE
    )
    _wait_for_restart(folder, users)
    return aside


def _users(children: Mapping[str, Child], stores: Sequence[str]) -> dict[str, Child]:
    """Return the processes that have the files of these stores open."""
    users: dict[str, Child] = {}
    for store in stores:
        server = SERVERS.get(store, "")
        names = (server,) if server in children else SERVICES
        users |= {name: children[name] for name in names if name in children}
    return users


def _move_aside(
    folder: DataFolder, stores: Sequence[str], report: Callable[[str], None]
) -> list[Path]:
    suffix = f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}"
    moved_folders: list[Path] = []
    for store in stores:
        path = folder.path / store
        aside = folder.path / f"{store}{MOVED_ASIDE}{suffix}"
        if path.exists():
            path.rename(aside)
            report(f"moved {path} to {aside}")
            moved_folders.append(aside)
        # Services make no folder for their database.
        path.mkdir(mode=0o700)
    return moved_folders


def _wait_for_restart(folder: DataFolder, before: Mapping[str, Child]) -> None:
    """Return when each of these processes was started anew and is ready."""
    end = time.monotonic() + TIMEOUT
    while not _are_restarted(state := folder.read(), before):
        if not folder.is_running() or time.monotonic() > end:
            late_children = [
                name for name in before if not state.children.get(name, before[name]).ready
            ]
            raise ConfigurationError(
                f"{', '.join(late_children) or 'the stack'} did not start again: see "
                "`lightstream doctor`"
            )
        time.sleep(0.2)


def _are_restarted(state: StackState, before: Mapping[str, Child]) -> bool:
    # A service need not be ready: it may wait for what the rebuild is about to bring.
    return all(
        (child := state.children.get(name)) is not None
        and child.identity != old_child.identity
        and child.identity.alive
        and (child.ready or name in SERVICES)
        for name, old_child in before.items()
    )
