"""The data folder of one stack: what is recorded in it, and that only one stack uses it.

`stack.json` (mode 0600, for it holds passwords) names ports, processes and models. It is replaced
as a whole, so a reader never sees half of it. A lock on `stack.lock` is held as long as a stack
runs there, and ends with its process.
"""

import fcntl
import json
import os
import secrets
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, BinaryIO, Literal

from embedded import orphans
from embedded.orphans import ProcessIdentity
from embedded.permissions import make_private, open_private
from runtime.errors import Busy, ConfigurationError
from runtime.version import VERSION

Phase = Literal["stopped", "starting", "ready", "stopping", "failed"]

DEFAULT = Path(".lightstream")
STATE_FILE = "stack.json"
LOCK_FILE = "stack.lock"

ORPHAN_GRACE = 15.0
"""Seconds between SIGTERM and SIGKILL for what a killed supervisor left."""


@dataclass
class Child:
    """One process of the stack, as the supervisor recorded it last."""

    identity: ProcessIdentity
    ready: bool = False
    restarts: int = 0
    fault: str = ""
    """Why it cannot run and what to do, where that is known."""


@dataclass
class StackState:
    """The record of a stack in `stack.json`."""

    ports: dict[str, int] = field(default_factory=dict[str, int])
    password: str = field(default="", repr=False)
    """Of the graph server, made up for this folder; empty where it never had one."""
    bus_password: str = field(default="", repr=False)
    """Of the bus; empty in the record of a stack that was started before the bus asked for one."""
    phase: Phase = "stopped"
    supervisor: ProcessIdentity | None = None
    children: dict[str, Child] = field(default_factory=dict[str, Child])
    models: dict[str, str] = field(default_factory=dict[str, str])
    """The language model (empty: none) and the embedding model the running services use."""
    failure: str = ""
    """Why the stack could not be started."""
    stores: dict[str, str] = field(default_factory=dict[str, str], repr=False)
    """Where the stores are, by the name of the setting, when they are servers elsewhere; empty: in
    this folder.
    """

    region: dict[str, str] = field(default_factory=dict[str, str], repr=False)
    """How its bus is linked to those of other regions (`embedded/region.py`); empty: not at all."""

    partitions: int = 1
    """Partitions of its log, which keeps the number it was made with."""

    @property
    def api(self) -> str:
        """Return the address of the query service."""
        return f"http://127.0.0.1:{self.ports.get('api', 0)}"


_FIELDS = {field.name for field in fields(StackState)}


class NewerRelease(ConfigurationError):
    """The folder belongs to a newer release of this program."""


def newer_release(path: Path, release: str) -> NewerRelease:
    """Return the error for a file or folder of a newer release; an empty name for one that does not
    tell.
    """
    release_name = f"release {release}" if release else "a newer release"
    return NewerRelease(
        f"{path} was made by {release_name} of Lightstream, and this is {VERSION}, which is older: "
        "use the newer one, "
        "or choose another folder with --data"
    )


class NoStack(ConfigurationError):
    """The command needs a running stack and there is none."""


@dataclass(frozen=True)
class DataFolder:
    """A data folder, which need not exist yet."""

    path: Path

    @classmethod
    def at(cls, path: Path | None) -> "DataFolder":
        """The folder at that path, or the default one, whatever the current folder becomes
        later.
        """
        return cls((path or DEFAULT).expanduser().resolve())

    def read(self) -> StackState:
        """The recorded state; an empty one when nothing is recorded.

        Raises ConfigurationError for a damaged file, NewerRelease for that of a newer release.
        """
        try:
            state: dict[str, Any] = json.loads((self.path / STATE_FILE).read_text("utf-8"))
            if not _FIELDS.issuperset(state):
                raise newer_release(self.path / STATE_FILE, str(state.get("release", "")))
            return _state(state)
        except FileNotFoundError:
            return StackState()
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise ConfigurationError(
                f"{self.path / STATE_FILE} is damaged ({error}): stop the stack's processes "
                "and remove that file"
            ) from None

    def write(self, state: StackState) -> None:
        """Replace the record."""
        draft = self.path / f"{STATE_FILE}.new"
        with os.fdopen(
            os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8"
        ) as file:
            os.fchmod(file.fileno(), 0o600)
            json.dump(asdict(state), file, indent=2)
            file.write("\n")
        draft.replace(self.path / STATE_FILE)

    @contextmanager
    def lock(self) -> Generator[None]:
        """Lock the folder for a stack, creating it if need be. Raises `Busy` while another stack
        has it.
        """
        make_private(self.path)
        with _open_lock(self.path / LOCK_FILE) as lock:
            # `running` of another process holds the lock for an instant: that is no reason to give
            # up.
            for attempt in range(10):
                with suppress(BlockingIOError):
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                time.sleep(0.05 * (attempt > 0))
            else:
                raise Busy(
                    f"a stack is running in {self.path}: `lightstream "
                    f"down{self.command_option}` stops it"
                )
            yield

    @contextmanager
    def rebuild_lock(self) -> Generator[None]:
        """Lock the folder for a rebuild. Raises `Busy` during another rebuild; the lock ends with
        its process.
        """
        with open_private(self.path / "rebuild.lock") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise Busy(
                    f"a rebuild is under way in {self.path}: wait until it has ended"
                ) from None
            yield

    def is_running(self) -> bool:
        """Return True while a stack has locked the folder."""
        try:
            with (self.path / LOCK_FILE).open("r") as lock:
                fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except FileNotFoundError:
            return False
        except BlockingIOError:
            return True
        return False

    def ready_state(self) -> StackState:
        """The state of the running stack. Raises `NoStack` with the way out when it does not run or
        is not ready.
        """
        state = self.read()
        if not self.is_running():
            raise NoStack(
                f"no stack is running in {self.path}: start one with `lightstream up "
                f"--detach{self.command_option}`"
            )
        if state.phase != "ready":
            raise NoStack(
                f"the stack in {self.path} is {state.phase}: try again in a moment, or see "
                "`lightstream doctor`"
            )
        return state

    @property
    def command_option(self) -> str:
        """Return the option by which a command finds this folder; empty for the default one."""
        return "" if self.path == DEFAULT.resolve() else f" --data {self.path}"


def _open_lock(path: Path) -> BinaryIO:
    """Open the file of the lock, made if need be; where nothing can be written the one that is
    there will do.
    """
    try:
        return open_private(path)
    except OSError:
        if not path.is_file():
            raise
        return path.open("rb")


def end_orphans(folder: DataFolder, state: StackState) -> int:
    """Terminate what a killed supervisor left, and return the number of processes. The caller has
    the lock.
    """
    orphan_processes = [
        child.identity
        for child in state.children.values()
        if orphans.runs_in(child.identity, folder.path)
    ]
    orphans.terminate(orphan_processes, grace=ORPHAN_GRACE)
    state.children = {}
    return len(orphan_processes)


def new_password() -> str:
    """A password for one of the folder's servers."""
    return secrets.token_urlsafe(24)


def _state(fields: Mapping[str, Any]) -> StackState:
    supervisor = fields.get("supervisor")
    children = {
        name: Child(
            ProcessIdentity(**child["identity"]),
            bool(child["ready"]),
            int(child["restarts"]),
            child.get("fault", ""),
        )
        for name, child in fields["children"].items()
    }
    values: dict[str, Any] = {**fields, "children": children}
    values["supervisor"] = ProcessIdentity(**supervisor) if supervisor else None
    return StackState(**values)
