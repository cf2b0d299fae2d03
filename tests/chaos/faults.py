"""What goes wrong on the machine of a stack, drawn from a seed."""

import os
import signal
import sqlite3
import subprocess
import time
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass
from random import Random

from tests.support.commands import LIGHTSTREAM
from tests.support.freezing import freeze
from tests.support.language_model import LanguageModel
from tests.support.small_disk import fill
from tests.support.stack import Stack, environment

SERVICES = ("chunker", "extractor", "merger", "indexer", "query")
SERVERS = ("nats-server",)
FILES = {
    "documents": "documents.db",
    "graph": "graph.sqlite",
    "vectors": "vectors.sqlite",
}
"""Of the stores that are a file, by folder."""

LONGEST = 6.0
"""Seconds that a fault of a trial lasts at most."""


@dataclass(frozen=True)
class Machine:
    """What faults happen to. `disk` says whether the data folder is a file system of its own, which
    can be filled.
    """

    stack: Stack
    model: LanguageModel
    disk: bool = False


@dataclass(frozen=True)
class Fault:
    """One of `KINDS`, of which process, how long after the documents were added, and for how many
    seconds.
    """

    kind: str
    victim: str
    after: float
    seconds: float

    def __str__(self) -> str:
        lasting = f" for {self.seconds:.1f} s" if self.kind != "kill" else ""
        return f"{self.kind} {self.victim}{lasting} after {self.after:.1f} s"

    def happen(self, machine: Machine) -> None:
        """Let it happen, and return when it is over."""
        with KINDS[self.kind](machine, self.victim):
            if self.kind != "kill":
                time.sleep(self.seconds)


def drawn(dice: Random, *, disk: bool) -> list[Fault]:
    """Return one to three faults that may overlap."""
    kinds = [kind for kind in KINDS if disk or kind != "fill"]
    return [_fault(dice, dice.choice(kinds)) for _ in range(dice.randint(1, 3))]


def _fault(dice: Random, kind: str) -> Fault:
    victim = {
        "fill": "the disk",
        "lock": dice.choice([*FILES]),
        "refuse": "the model",
        "rebuild": "all",
    }.get(kind)
    return Fault(
        kind,
        victim or dice.choice(SERVICES + SERVERS),
        dice.uniform(0.0, 3.0),
        dice.uniform(0.5, LONGEST),
    )


@contextmanager
def _killed(machine: Machine, victim: str) -> Generator[None]:
    with suppress(ProcessLookupError):  # killed a moment ago, and not started again yet
        machine.stack.kill(victim)
    yield


@contextmanager
def _frozen(machine: Machine, victim: str) -> Generator[None]:
    """The process is there and takes connections, but does not answer."""
    pid = machine.stack.pid(victim)
    with ExitStack() as ends:
        with suppress(ProcessLookupError, FileNotFoundError):
            ends.callback(_thawed, pid)
            freeze(pid)
        yield


def _thawed(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGCONT)


@contextmanager
def _filled(machine: Machine, _: str) -> Generator[None]:
    ballast = fill(machine.stack.folder)
    try:
        yield
    finally:
        ballast.unlink(missing_ok=True)  # two fill the disk at once


@contextmanager
def _locked(machine: Machine, store: str) -> Generator[None]:
    """Another program holds the file of a store, as soon as a service lets it."""
    path = machine.stack.folder / store / FILES[store]
    with closing(sqlite3.connect(path, isolation_level=None, timeout=30)) as holder:
        holder.execute("BEGIN EXCLUSIVE")
        try:
            yield
        finally:
            holder.execute("ROLLBACK")


@contextmanager
def _refused(machine: Machine, _: str) -> Generator[None]:
    """The provider of the models answers 503."""
    machine.model.down = True
    try:
        yield
    finally:
        machine.model.down = False


@contextmanager
def _rebuilt(machine: Machine, projection: str) -> Generator[None]:
    """A rebuild begins, and is killed unless it has ended by then."""
    command = [LIGHTSTREAM, "rebuild", projection, "--data", str(machine.stack.folder)]
    env = environment(machine.stack.env)
    with subprocess.Popen(
        command, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as rebuild:
        yield
        rebuild.kill()


KINDS: dict[str, Callable[[Machine, str], AbstractContextManager[None]]] = {
    "kill": _killed,
    "freeze": _frozen,
    "fill": _filled,
    "lock": _locked,
    "refuse": _refused,
    "rebuild": _rebuilt,
}
"""What can go wrong, and the block during which it does."""
