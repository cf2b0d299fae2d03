"""What every process does alike: the bus, the stores, the models, parsing, settings, telemetry. It
knows no service.
"""

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import LazyLoader
from types import ModuleType


class _AiohttpAtFirstUse:
    """Finds aiohttp, to be loaded by who uses it, and not by its first import.

    That is nats-py's, wherever it is installed, for web sockets: 0.1 s of CPU in every command that
    uses the bus.
    """

    @staticmethod
    def find_spec(
        name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        spec = PathFinder.find_spec(name, path, target) if name == "aiohttp" else None
        if spec and spec.loader:
            spec.loader = LazyLoader(spec.loader)
        return spec


sys.meta_path.insert(0, _AiohttpAtFirstUse)
