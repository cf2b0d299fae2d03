"""The process that has imported what the services need, and becomes each of them by forking.

`python -m embedded.fork_server NUMBER MODULE…` imports the modules. It takes requests
from the socket with that file descriptor, a line of JSON each: `module` (whose `main` is called),
`env` (what is set besides its own environment), `folder` (the working directory) and `log` (the
file of the output). It answers `{"forked": pid}`, and `{"ended": pid, "code": …}` when such a
process has ended. It ends when the other side closes the socket; what it forked goes on.

A fork copies the calling thread alone, so it forks only while it has no other thread, and before
anything is opened.
"""

import ctypes
import gc
import json
import os
import signal
import socket
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from types import FrameType
from typing import Any

from embedded.permissions import UMASK, open_private
from runtime.garbage import return_freed_memory

UNSAFE = 3
"""Exit code of a fork server that has threads after its imports."""

ENVIRONMENT = {"OPENBLAS_NUM_THREADS": "1"}
"""Set for a fork server: numpy's library would start threads when it is imported."""

_ARGUMENTS_START = 45
_ARGUMENTS_END = 46
"""Where /proc/<pid>/stat has the bounds of the command line, counted from the field behind the name
(proc(5)).
"""


@dataclass(frozen=True)
class Request:
    """What to fork for; see above."""

    module: str
    env: dict[str, str]
    folder: str
    log: str

    def encoded(self) -> bytes:
        """Return it as a line."""
        return json.dumps(asdict(self)).encode() + b"\n"


def main() -> None:
    """Entry point: of the fork server, and of each process that it forks."""
    control = socket.socket(fileno=int(sys.argv[1]))
    control.set_inheritable(False)
    gc.disable()
    preload(sys.argv[2:])
    _settle_memory()
    if has_threads():
        sys.exit(UNSAFE)
    request = fork_on_request(control)
    control.close()
    if request:
        become(request)
        import_module(request.module).main()


def preload(modules: Sequence[str]) -> None:
    """Import the modules, and load what each of them would load for itself with the settings of
    this process.

    What cannot be imported is left to the process that needs it, which reports it in its own log.
    """
    with suppress(Exception):
        # anyio imports the latter with its first task.
        for module in (*modules, "anyio._backends._asyncio"):
            import_module(module)
        from runtime.models.open import preload_models  # noqa: PLC0415
        from runtime.settings import Settings  # noqa: PLC0415
        from runtime.stores.open import import_drivers  # noqa: PLC0415

        settings = Settings()
        import_drivers(settings)
        preload_models(settings)


def _settle_memory() -> None:
    """Return what the imports left free, and keep the collector from what they made: it would only
    copy its pages.
    """
    gc.collect()
    gc.freeze()
    return_freed_memory()


def has_threads() -> bool:
    """Return True if this process has a second thread, or cannot know that it has none."""
    try:
        return len(os.listdir("/proc/self/task")) != 1  # noqa: PTH208
    except OSError:
        return True


def fork_on_request(control: socket.socket) -> Request | None:
    """Fork a process for each request. Returns its request in such a process, None in this one when
    there are no more.

    Its end is reported after its start: until then the signal of its end waits.
    """

    def reap(number: int, frame: FrameType | None) -> None:
        with suppress(ChildProcessError):
            while (status := os.waitpid(-1, os.WNOHANG))[0]:
                _send(control, {"ended": status[0], "code": os.waitstatus_to_exitcode(status[1])})

    signal.signal(signal.SIGCHLD, reap)
    with control.makefile("rb") as lines:
        for line in lines:
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
            if not (pid := os.fork()):
                return Request(**json.loads(line))
            _send(control, {"forked": pid})
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})
    return None


def become(request: Request) -> None:
    """Make this forked process what a started one would be: session, signals, folder, output,
    environment, name.
    """
    os.setsid()
    os.umask(UMASK)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})
    os.chdir(request.folder)
    with open_private(Path(request.log)) as log:
        os.dup2(log.fileno(), sys.stdout.fileno())
        os.dup2(log.fileno(), sys.stderr.fileno())
    os.environ.update(request.env)
    # A program that starts itself again reads this.
    sys.orig_argv = [sys.executable, "-m", request.module]
    sys.argv = [str(import_module(request.module).__file__)]
    _show_as(sys.orig_argv)
    gc.enable()


def _show_as(argv: list[str]) -> None:
    """Show this command line, cut to the length of our own, to programs that list processes."""
    with suppress(OSError, ValueError, IndexError):
        fields = Path("/proc/self/stat").read_text("ascii", "replace").rpartition(")")[2].split()
        start = int(fields[_ARGUMENTS_START])
        end = int(fields[_ARGUMENTS_END])
        title = b"\0".join(os.fsencode(word) for word in argv)[: end - start - 1]
        ctypes.memmove(start, title.ljust(end - start, b"\0"), end - start)


def _send(control: socket.socket, message: dict[str, Any]) -> None:
    with suppress(OSError):  # nobody listens any more: this process is about to end
        control.sendall(json.dumps(message).encode() + b"\n")


if __name__ == "__main__":
    main()
