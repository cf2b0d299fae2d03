"""The child process of a parser: limits first, then the parser that is asked for, then the file.

`python -m runtime.parsing.child pdf` reads the file from standard input; behind the parser may
stand the encoding that is asked for and the one that was declared. It writes a line of JSON (the
offsets at which pages begin, the encoding, what is known of each figure), the figures, and then the
text; or the reason, with exit code `REFUSED`, when there is none to be had.
"""

import importlib
import os
import resource
import sys
from collections.abc import Callable
from functools import partial
from types import ModuleType

import orjson

from runtime.errors import InvalidInput
from runtime.parsing.content import Content
from runtime.parsing.decoding import decode
from runtime.parsing.kinds import TEXT_PARSERS
from runtime.parsing.limits import PARSING, Limits

REFUSED = 3

PLUGIN = "plugin:"
"""Before the suffix whose parser a package brings."""

_LIMITS_OF_PARSING = (
    (resource.RLIMIT_FSIZE, 0),
    (resource.RLIMIT_NPROC, 0),
)
"""Set once the parser is loaded, for loading may write byte code: no file is written, no process
started.
"""


def main() -> None:
    """Entry point of the child."""
    serve(partial(_reader, sys.argv[1], sys.argv[2:]))


def serve(load: Callable[[], Callable[[bytes], bytes]], limits: Limits = PARSING) -> None:
    """Answer standard input on standard output, within the limits, by the function that is loaded;
    or write the reason and exit with `REFUSED` where it raises InvalidInput.

    What the function itself prints goes to standard error.
    """
    limit(limits)
    output = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    too_large = f"reading it takes more than {limits.megabytes} MB of memory: split it"
    refusal = ""
    answer = b""
    try:
        function = load()
        _limit(_LIMITS_OF_PARSING)
        answer = function(sys.stdin.buffer.read())
    except InvalidInput as error:
        refusal = str(error)
    except MemoryError:
        # Until this clause ends, what was read is held, and nothing more can be allocated.
        refusal = too_large
    except RecursionError:
        refusal = "nested too deeply to be read: save it in a simpler form"
    output.write(refusal.encode("utf-8", "replace") or answer)
    output.close()
    sys.exit(REFUSED if refusal else 0)


def _reader(name: str, hints: list[str]) -> Callable[[bytes], bytes]:
    """Return what reads a file with the parser of that name: of this room, or of a package."""
    if name.startswith(PLUGIN):
        from runtime.plugins.parsing import parsed_by_plugin  # noqa: PLC0415

        read = parsed_by_plugin(name.removeprefix(PLUGIN))
    else:
        read = partial(_content, name, importlib.import_module(f"runtime.parsing.{name}"), hints)
    return lambda data: _encoded(read(data))


def _encoded(content: Content) -> bytes:
    encoding = content.encoding and tuple(content.encoding)
    figures = [(len(figure.data), *figure[1:]) for figure in content.figures]
    head = orjson.dumps(
        {
            "pages": content.pages,
            "encoding": encoding,
            "warnings": content.warnings,
            "unread": content.unread,
            "figures": figures,
        }
    )
    pictures = b"".join(figure.data for figure in content.figures)
    return head + b"\n" + pictures + content.text.encode("utf-8", "replace")


def _content(name: str, parser: ModuleType, hints: list[str], data: bytes) -> Content:
    if name not in TEXT_PARSERS:
        return parser.text(data)
    decoded_text = decode(data, *hints)
    return parser.text(decoded_text.text)._replace(encoding=decoded_text.encoding)


def limit(limits: Limits) -> None:
    """Let this process use no more."""
    core = (resource.RLIMIT_CORE, 0)
    _limit(((resource.RLIMIT_AS, limits.memory), (resource.RLIMIT_CPU, limits.cpu), core))


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
