"""A parser in a child process that may use so much memory and time and no more, and whose crash is an answer.

`python -m standalone.parsing.sandbox pdf|docx` reads the file from standard input and writes its text. It exits with
`REFUSED` and the reason on standard error when there is none to be had.
"""

import asyncio
import os
import resource
import sys
from typing import Literal

from runtime.errors import InvalidInput

Kind = Literal["pdf", "docx"]

MAX_MEMORY = 1024 * 1024 * 1024
"""Bytes of address space."""

MAX_CPU, MAX_SECONDS = 60, 120.0
REFUSED = 3

_PASSED_ON = ("PATH", "PYTHONPATH", "LD_LIBRARY_PATH", "LANG", "LC_ALL")
"""Variables the child sees. Keys and passwords are not among them."""


async def parse_apart(kind: Kind, data: bytes, *, seconds: float = MAX_SECONDS) -> str:
    """The text of the file. Raises InvalidInput with the parser's reason, or with the limit that was reached."""
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "standalone.parsing.sandbox", kind,
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
        env={name: os.environ[name] for name in _PASSED_ON if name in os.environ},
    )  # fmt: skip
    try:
        output, errors = await asyncio.wait_for(child.communicate(data), seconds)
    except TimeoutError:
        raise InvalidInput(f"reading it takes more than {seconds:.0f} s") from None
    finally:
        if child.returncode is None:
            child.kill()
            await child.wait()
    if child.returncode == 0:
        return output.decode("utf-8", "replace")
    if child.returncode == REFUSED:
        raise InvalidInput(errors.decode("utf-8", "replace").strip())
    raise InvalidInput(f"reading it takes more than {MAX_CPU} s or {MAX_MEMORY // 2**20} MB, or the parser fails on it")


def main() -> None:
    """Entry point of the child."""
    resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY, MAX_MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (MAX_CPU, MAX_CPU))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.argv[1] == "pdf":
        from standalone.parsing.pdf import text  # noqa: PLC0415 - only the parser that is asked for, inside the limits
    else:
        from standalone.parsing.docx import text  # noqa: PLC0415
    try:
        found = text(sys.stdin.buffer.read())
    except InvalidInput as error:
        sys.stderr.write(str(error))
        sys.exit(REFUSED)
    sys.stdout.buffer.write(found.encode("utf-8", "replace"))


if __name__ == "__main__":
    main()
