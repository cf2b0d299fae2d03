"""`pytest --forks=N`: collect the tests once, then fork N workers, which run them file by file.

To import and collect takes 13 to 23 s of CPU, which each worker of xdist spends for itself. Here
it is done before the fork, and the memory is shared. A worker asks for the next file when it is at
the last test of one, and sends its reports to this process, which counts, prints and writes them
as in a run without workers. A worker that dies fails the test it ran; another takes its place.
"""

import gc
import io
import mmap
import os
import signal
import sys
import threading
import time
import traceback
import warnings
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import count, groupby
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import pytest

from embedded.fork_server import has_threads
from tests.support.scheduling import together

GRACE = 5.0
"""Seconds in which a thread may end that was joined: the kernel is a little behind Python."""

_FORK = get_context("fork")

Tests = Sequence[pytest.Item]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare `--forks`."""
    parser.addoption(
        "--forks", type=int, default=0, metavar="N", help="run tests in forked workers"
    )


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """Run the collected tests in forked workers; leave to pytest what one process runs."""
    options = session.config.option
    files = [[*tests] for _, tests in groupby(session.items, lambda item: together(item.nodeid))]
    workers = min(options.forks, len(files))
    if workers < 2 or options.collectonly or options.usepdb or session.testsfailed:
        return None
    if getattr(options, "numprocesses", None):
        raise pytest.UsageError("--forks and -n exclude each other")
    _check_threads()
    _Run(session, files).run(workers)
    return True


def _check_threads() -> None:
    """Raise UsageError if a fork would leave a thread out."""
    end = time.monotonic() + GRACE
    while has_threads() and time.monotonic() < end:
        time.sleep(0.01)
    if has_threads():
        names = ", ".join(thread.name for thread in threading.enumerate())
        raise pytest.UsageError(
            f"--forks needs Linux and a process without further threads (here: {names}); use -n"
        )


@dataclass
class _Worker:
    """A forked process, seen by its parent. It runs the first of `tests`; `last` was before it."""

    process: BaseProcess
    end: int
    line: Connection
    tests: deque[pytest.Item]
    last: pytest.Item | None = None


class _Run:
    """The run in the process that has collected: it deals out files and reports for its workers."""

    def __init__(self, session: pytest.Session, files: Sequence[Tests]) -> None:
        self._session = session
        self._hook = session.config.hook
        self._files = files
        self._numbers = iter(range(len(files)))
        self._names = count()
        self._stop = mmap.mmap(-1, 1)
        self._workers: list[_Worker] = []
        self._folder: Path = session.config._tmp_path_factory.getbasetemp()

    def run(self, workers: int) -> None:
        """Return when every test has run. Raises as pytest does where a run ends before."""
        if terminal := self._session.config.pluginmanager.getplugin("terminalreporter"):
            terminal.showfspath = False  # several files are run at once
        gc.collect()
        gc.freeze()  # no worker looks for garbage in what was imported and collected
        try:
            for _ in range(workers):
                self._fork([])
            while self._workers:
                self._attend()
        except KeyboardInterrupt:
            # Anew: one that comes between two lines has a traceback that pytest cannot print.
            raise KeyboardInterrupt from None
        finally:
            self._end()
        if self._session.shouldfail:
            raise self._session.Failed(self._session.shouldfail)
        if self._session.shouldstop:
            raise self._session.Interrupted(self._session.shouldstop)

    def _fork(self, tests: Tests) -> None:
        """Fork a worker that runs these tests before it asks for more."""
        ours, theirs = _FORK.Pipe()
        name = f"fork-{next(self._names)}"
        (self._folder / name).mkdir(mode=0o700)
        of_parent = [ours, *(worker.line for worker in self._workers)]
        work = _Work(self._session, tests, self._files, self._stop, theirs)
        arguments = (work, self._folder / name, of_parent)
        process = _FORK.Process(target=_begin, args=arguments, name=name)
        process.start()
        theirs.close()
        assert process.pid is not None
        end = os.pidfd_open(process.pid)
        self._workers.append(_Worker(process, end, ours, deque(tests)))

    def _attend(self) -> None:
        """Wait until a worker sends something or ends, and do what follows from it."""
        ready = wait([channel for worker in self._workers for channel in (worker.line, worker.end)])
        for worker in [*self._workers]:
            with suppress(EOFError, OSError):
                while worker.line in ready and worker.line.poll():
                    self._take(worker, *worker.line.recv())
            if worker.end in ready:
                self._remove(worker)

    def _take(self, worker: _Worker, kind: str, *values: Any) -> None:
        """Do what a message of a worker is about."""
        if kind == "next":
            number = None if self._stop[0] else next(self._numbers, None)
            worker.tests.extend([] if number is None else self._files[number])
            worker.line.send(number)
        elif kind == "done":
            worker.last = worker.tests.popleft()
        elif kind == "report":
            self._report(self._hook.pytest_report_from_serializable(config=None, data=values[0]))
        elif kind == "warning":
            self._warn(*values)
        elif kind == "ended":
            self._session.shouldstop = values[0]
            self._stop[0] = 1
        else:
            getattr(self._hook, kind)(nodeid=values[0], location=values[1])

    def _report(self, report: pytest.TestReport) -> None:
        """Report, and let no worker begin another test when the run is to end for it."""
        self._hook.pytest_runtest_logreport(report=report)
        if self._session.shouldfail or self._session.shouldstop:
            self._stop[0] = 1

    def _warn(self, category: str, text: str, place: Any, values: dict[str, Any]) -> None:
        message = warnings.WarningMessage(text, type(category, (Warning,), {}), *place)
        hook = self._hook.pytest_warning_recorded
        hook.call_historic(kwargs={"warning_message": message, **values})

    def _remove(self, worker: _Worker) -> None:
        """Forget a worker that has ended; if it has crashed, say so and fork one that goes on."""
        worker.process.join()
        worker.line.close()
        os.close(worker.end)
        self._workers.remove(worker)
        code = worker.process.exitcode or 0
        if code == 0 and (self._stop[0] or not worker.tests):
            return
        item = worker.tests.popleft() if worker.tests else worker.last
        end = f"killed by {signal.Signals(-code).name}" if code < 0 else f"ended with code {code}"
        if item is None:
            raise RuntimeError(f"{worker.process.name} was {end} before its first test")
        text = f"{worker.process.name} crashed at {item.nodeid}: {end}"
        self._report(pytest.TestReport(item.nodeid, item.location, {}, "failed", text, "call"))
        if not self._stop[0]:
            self._fork([*worker.tests])

    def _end(self) -> None:
        """Have the workers end after their tests, in case this process was interrupted."""
        self._stop[0] = 1
        for worker in self._workers:
            worker.line.close()
            worker.process.join()


@dataclass
class _Work:
    """What a worker does: first `tests`, which another one has left, then files that are dealt."""

    session: pytest.Session
    tests: Tests
    files: Sequence[Tests]
    stop: mmap.mmap
    line: Connection

    def run(self) -> None:
        """Run tests until there are no more, or until the run is to end."""
        items = self._items()
        item = next(items, None)
        while item is not None and not (self.stop[0] or self.session.shouldfail):
            following = next(items, None)  # what of the fixtures it needs stays
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            self.line.send(("done",))
            item = following

    def _items(self) -> Iterator[pytest.Item]:
        yield from self.tests
        while True:
            self.line.send(("next",))
            number = self.line.recv()
            if number is None:
                return
            yield from self.files[number]


class _Sender:
    """The plugin of a worker that sends its parent what it reports, once `line` is set."""

    line: Connection | None = None

    def __init__(self, config: pytest.Config) -> None:
        self._config = config

    def send(self, *message: Any) -> None:
        # Warnings from before the fork come when a plugin is registered: the parent has them.
        if self.line is not None:
            self.line.send(message)

    def pytest_runtest_logstart(self, nodeid: str, location: Any) -> None:
        self.send("pytest_runtest_logstart", nodeid, location)

    def pytest_runtest_logfinish(self, nodeid: str, location: Any) -> None:
        self.send("pytest_runtest_logfinish", nodeid, location)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        hook = self._config.hook
        self.send("report", hook.pytest_report_to_serializable(config=self._config, report=report))

    def pytest_warning_recorded(
        self, warning_message: warnings.WarningMessage, when: str, nodeid: str, location: Any
    ) -> None:
        place = (warning_message.filename, warning_message.lineno)
        values = {"when": when, "nodeid": nodeid, "location": location}
        category = warning_message.category.__name__
        self.send("warning", category, str(warning_message.message), place, values)


@dataclass
class _Writer:
    """What a worker has of the terminal's reporter: a writer for what hangs. It prints nothing."""

    _tw: Any


def _capture_apart(manager: Any) -> None:
    """Capture output in files of its own: those from before the fork are shared by all workers.

    The objects stay, for what was imported may have kept them as its standard error.
    """
    capturing = manager._global_capturing
    for capture in (capturing.out, capturing.err) if capturing else ():
        if shared_file := getattr(capture, "tmpfile", None):
            with suppress(io.UnsupportedOperation), TemporaryFile(buffering=0) as own_file:
                os.dup2(own_file.fileno(), shared_file.fileno())


def _begin(work: _Work, folder: Path, of_parent: Sequence[Connection]) -> None:
    """Be a worker, and end as soon as its tests have ended, whatever threads they have left."""
    code = 1
    try:
        _be_worker(work, folder, of_parent)
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


def _be_worker(work: _Work, folder: Path, of_parent: Sequence[Connection]) -> None:
    """Run tests with captured output, a temporary folder and reports of this process."""
    for connection in of_parent:
        connection.close()
    config = work.session.config
    plugins = config.pluginmanager
    _capture_apart(plugins.getplugin("capturemanager"))
    config._tmp_path_factory._basetemp = folder
    if terminal := plugins.unregister(name="terminalreporter"):
        plugins.register(_Writer(terminal._tw), "terminalreporter")
    sender = _Sender(config)
    plugins.register(sender, "forked-worker")
    sender.line = work.line
    # The parent has gone when nobody is at the other end.
    with suppress(EOFError, OSError):
        try:
            work.run()
        except (KeyboardInterrupt, pytest.exit.Exception) as ended:
            work.line.send(("ended", str(ended) or type(ended).__name__))
    work.session._setupstate.teardown_exact(None)
