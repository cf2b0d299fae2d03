"""httpx 0.28.1: imported without its own command line, which loads rich and click.

These take 0.05 s of CPU and 150 modules in every command. httpx does without where they are not
installed; while it is imported here, it takes them for not installed. Upstream: none found.
May go when `test_a_library_alone_imports_what_nobody_uses` fails for it
(`tests/unit/runtime/test_workarounds.py`).
"""

import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, cast

COMMAND_LINE = "httpx._main"


@contextmanager
def without_command_line() -> Generator[None]:
    """Keep httpx's command line from being loaded by imports inside the block; it can be imported
    afterwards.
    """
    modules = cast(dict[str, Any], sys.modules)
    if "httpx" in modules:
        yield
        return
    modules[COMMAND_LINE] = None  # whoever imports it gets an ImportError, which httpx expects
    try:
        yield
    finally:
        del modules[COMMAND_LINE]


with without_command_line():
    import httpx

__all__ = ["httpx"]
