"""A parser in a child process that may use so much memory and time and no more, and whose crash is
an answer.

What the child does stands in child.py. It gets no key or password of this process.
"""

import asyncio
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress

import orjson

from runtime.errors import InvalidInput, Unavailable
from runtime.parsing.child import PLUGIN, REFUSED
from runtime.parsing.content import MAX_FIGURES_BYTES, MAX_TEXT, Content, FigureFile
from runtime.parsing.encodings import NO_HINT, Encoding, Hint
from runtime.parsing.kinds import Parser
from runtime.parsing.limits import PARSING, Limits

MAX_SECONDS = 120.0
MAX_OUTPUT = 4 * MAX_TEXT + MAX_FIGURES_BYTES + 2**20
"""Bytes that are read from the child: the longest text there is, its figures, and where its pages
begin.
"""

_PASSED_ON = ("PATH", "PYTHONPATH", "LD_LIBRARY_PATH", "LANG", "LC_ALL")
"""Variables the child sees."""

TOO_MUCH = "reading it takes more than {} s or {} MB, or the parser fails on it ({}): "
AMEND = "open it in the program that made it and save it anew, or split it"


async def parse_apart(
    parser: Parser | str, data: bytes, *, hint: Hint = NO_HINT, seconds: float = MAX_SECONDS
) -> Content:
    """Return the text of the file; of a file that is text, read in the encoding that the hint or
    the file itself tells.

    Raises InvalidInput with the parser's reason or the limit that was reached, `Unavailable` when
    the machine starts no process.

    A child takes up to 1 GiB and a core: how many there are at once is for the caller to bound.
    """
    try:
        end = await run_apart(["-m", "runtime.parsing.child", parser, *hint], data, seconds)
    except TimeoutError:
        raise InvalidInput(f"reading it takes more than {seconds:.0f} s: split it") from None
    check_end(*end, PARSING)
    return _answer(end[1])


async def parse_plugin_file(suffix: str, data: bytes) -> Content:
    """Return the text of the file, as `parse_apart` does, by the parser that a package brings."""
    return await parse_apart(f"{PLUGIN}{suffix}", data)


async def run_apart(
    arguments: Sequence[str], data: bytes, seconds: float = MAX_SECONDS
) -> tuple[int | None, bytes]:
    """Return the exit code and the output of a Python that runs with these arguments and reads the
    data. Raises TimeoutError past the seconds, Unavailable when no process can be started.
    """
    child = await _start(arguments)
    try:
        async with asyncio.timeout(seconds):
            output = await _exchange(child, data)
    finally:
        if child.returncode is None:
            child.kill()
            await child.wait()
    return child.returncode, output


async def _start(arguments: Sequence[str]) -> asyncio.subprocess.Process:
    try:
        return await asyncio.create_subprocess_exec(
            sys.executable,
            *arguments,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            env={name: os.environ[name] for name in _PASSED_ON if name in os.environ},
        )
    except OSError as error:
        raise Unavailable(
            f"no process for reading the file can be started: {error.strerror}"
        ) from None


async def _exchange(child: asyncio.subprocess.Process, data: bytes) -> bytes:
    """Write the file to the child and read its output, at most a little more than is allowed."""
    assert child.stdin
    assert child.stdout

    async def feed(into: asyncio.StreamWriter) -> None:
        with suppress(
            BrokenPipeError, ConnectionResetError
        ):  # a child that refuses need not read to the end
            into.write(data)
            await into.drain()
        into.close()

    async def take(output: asyncio.StreamReader) -> bytes:
        received_bytes = bytearray()
        while piece := await output.read(2**18):
            received_bytes += piece
            if len(received_bytes) > MAX_OUTPUT:
                child.kill()
                break
        return bytes(received_bytes)

    _, output = await asyncio.gather(feed(child.stdin), take(child.stdout))
    await child.wait()
    return output


def check_end(code: int | None, output: bytes, limits: Limits) -> None:
    """Raise InvalidInput with the reason where the child that had these limits gives none."""
    if len(output) > MAX_OUTPUT:
        raise InvalidInput(f"gives more than {MAX_TEXT:,} characters of text: split it")
    if code == REFUSED:
        raise InvalidInput(output.decode("utf-8", "replace"))
    if code == -signal.SIGXCPU:
        raise InvalidInput(f"reading it takes more than {limits.cpu} s: split it")
    if code != 0:
        raise InvalidInput(TOO_MUCH.format(limits.cpu, limits.megabytes, _ending(code)) + AMEND)


def _ending(code: int | None) -> str:
    """Return how a child ended, in words: SIGKILL is what a machine without memory sends."""
    if code is None or code >= 0:
        return f"it ended with {code}"
    return f"it ended by {signal.Signals(-code).name}"


def _answer(output: bytes) -> Content:
    """Read the child's output: its first line says where pages begin, the figures follow, the rest
    is the text.
    """
    head, _, text = output.partition(b"\n")
    header = orjson.loads(head)
    encoding = Encoding(*header["encoding"]) if header["encoding"] else None
    figures: list[FigureFile] = []
    for size, media_type, width, height, caption, page, box in header["figures"]:
        picture, text = text[:size], text[size:]
        box = tuple(box) if box else None
        figures.append(FigureFile(picture, media_type, width, height, caption, page, box))
    return Content(
        text.decode("utf-8", "replace"),
        tuple(header["pages"]),
        encoding,
        tuple(header["warnings"]),
        tuple(figures),
        tuple(header["unread"]),
    )
