"""aiohttp 3.14.5: imported by nats-py 2.16.0 wherever it is installed, for web sockets.

It takes 0.3 s of CPU in every command that uses the bus. Upstream: none found; nats-py has it as an
optional dependency since pull request 356 of nats-io/nats.py.
May go when `test_a_library_alone_imports_what_nobody_uses` fails for it
(`tests/unit/runtime/test_workarounds.py`).
"""

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import LazyLoader
from types import ModuleType


class _AiohttpAtFirstUse:
    """Finds aiohttp, to be loaded by who uses it, and not by its first import."""

    @staticmethod
    def find_spec(
        name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        spec = PathFinder.find_spec(name, path, target) if name == "aiohttp" else None
        if spec and spec.loader:
            spec.loader = LazyLoader(spec.loader)
        return spec


def load_aiohttp_at_first_use() -> None:
    """Have the next import of aiohttp in this process load nothing."""
    sys.meta_path.insert(0, _AiohttpAtFirstUse)
