"""A worker's place: what one of several processes behind a listening socket has of the keeper that started it."""

import asyncio
import os
import socket
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

import structlog

logger = structlog.get_logger(__name__)

PLACE = "LIGHTSTREAM_WORKER_PLACE"
"""The variable that makes a process a worker: whether it is the first, and its descriptors: the line, then sockets."""

READY = b"+"
ALONE = 30.0
"""Seconds a worker has for its end when its keeper is gone: nobody is left who could end it."""


@dataclass(frozen=True)
class Place:
    """What a worker has of its keeper. The `first` one answers from its start, to say what it waits for."""

    sockets: list[socket.socket]
    line: socket.socket
    first: bool

    def ready(self) -> None:
        """Tell the keeper that this worker does its work."""
        with suppress(OSError):  # a keeper that is gone is noticed by `attend`
            self.line.send(READY)

    def attend(self, stop: Callable[[], None]) -> None:
        """Call `stop` once the keeper is gone, and end the process when that takes too long."""
        loop = asyncio.get_running_loop()

        def gone() -> None:
            loop.remove_reader(self.line)
            logger.error("the keeper of this worker is gone")
            stop()
            loop.call_later(ALONE, os._exit, 1)

        loop.add_reader(self.line, gone)  # the keeper never says anything: there is only the end to read


def is_worker() -> bool:
    """Whether a keeper started this process."""
    return PLACE in os.environ


def found() -> Place | None:
    """This process's place among workers, to be asked for once; None when no keeper started it."""
    if not is_worker():
        return None
    first, *numbers = map(int, os.environ[PLACE].split())
    line, *shared = [socket.socket(fileno=number) for number in numbers]
    for inherited in (line, *shared):
        inherited.set_inheritable(False)  # what this process starts must not keep the port or the line open
    return Place(shared, line, bool(first))
