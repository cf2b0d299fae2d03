"""The child process of a parser: limits first, then the parser that is asked for, then the file.

`python -m runtime.parsing.child pdf` reads the file from standard input; behind the parser may
stand the encoding that is asked for and the one that was declared. It writes a line of JSON, the
offsets at which pages begin and the encoding, and then the text; or the reason, with exit code
`REFUSED`, when there is none to be had.
"""

import importlib
import resource
import sys
from types import ModuleType

import orjson

from runtime.errors import InvalidInput
from runtime.parsing.content import Content
from runtime.parsing.decoding import decode
from runtime.parsing.kinds import TEXT_PARSERS

MAX_MEMORY = 1024 * 1024 * 1024
"""Bytes of address space."""

MAX_CPU = 60
"""Seconds."""

REFUSED = 3

_LIMITS = (
    (resource.RLIMIT_AS, MAX_MEMORY),
    (resource.RLIMIT_CPU, MAX_CPU),
    (resource.RLIMIT_CORE, 0),
)
_LIMITS_OF_PARSING = (
    (resource.RLIMIT_FSIZE, 0),
    (resource.RLIMIT_NPROC, 0),
)
"""Set once the parser is loaded, for loading may write byte code: no file is written, no process
started.
"""


def main() -> None:
    """Entry point of the child."""
    _limit(_LIMITS)
    parser = importlib.import_module(f"runtime.parsing.{sys.argv[1]}")
    _limit(_LIMITS_OF_PARSING)
    try:
        content = _content(sys.argv[1], parser, sys.stdin.buffer.read(), sys.argv[2:])
    except InvalidInput as error:
        reason = str(error)
    except MemoryError:
        reason = f"reading it takes more than {MAX_MEMORY // 2**20} MB of memory: split it"
    except RecursionError:
        reason = "nested too deeply to be read: save it in a simpler form"
    else:
        encoding = content.encoding and tuple(content.encoding)
        head = orjson.dumps(
            {"pages": content.pages, "encoding": encoding, "warnings": content.warnings}
        )
        sys.stdout.buffer.write(head + b"\n" + content.text.encode("utf-8", "replace"))
        return
    sys.stdout.buffer.write(reason.encode("utf-8", "replace"))
    sys.stdout.flush()
    sys.exit(REFUSED)


def _content(name: str, parser: ModuleType, data: bytes, hints: list[str]) -> Content:
    if name not in TEXT_PARSERS:
        return parser.text(data)
    decoded_text = decode(data, *hints)
    return parser.text(decoded_text.text)._replace(encoding=decoded_text.encoding)


def _limit(limits: tuple[tuple[int, int], ...]) -> None:
    for resource_kind, max_value in limits:
        _, hard = resource.getrlimit(resource_kind)
        max_value = max_value if hard == resource.RLIM_INFINITY else min(max_value, hard)
        try:
            resource.setrlimit(resource_kind, (max_value, max_value))
        except ValueError:
            # macOS knows no limit of address space. On Linux, where services run, a limit holds.
            if sys.platform == "linux":
                raise


if __name__ == "__main__":
    main()
