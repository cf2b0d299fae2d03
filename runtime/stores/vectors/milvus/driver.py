"""The names of pymilvus that the adapter uses, imported without pandas.

pymilvus imports pandas for data frames, which nobody here gives it: 0.25 s of CPU and 34 MB in
every process. While it is imported, stand-ins take the place of the modules of pandas that it
names; what is asked of one later is answered by pandas itself, which is loaded then.
"""

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType
from typing import Any

STANDINS = ("pandas", "pandas.api", "pandas.api.types")
"""What pymilvus imports of pandas when it is imported itself."""


class _Standin(ModuleType):
    """Stands for a module of pandas, for as long as nothing of it is called."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if sys.modules.get(self.__name__) is not self:
            return getattr(import_module(self.__name__), name)
        # A class is named in annotations; a function is called later, if at all.
        return type(name, (), {}) if name[0].isupper() else self._deferred(name)

    def _deferred(self, name: str) -> Callable[..., Any]:
        return lambda *args, **kwargs: getattr(import_module(self.__name__), name)(*args, **kwargs)


@contextmanager
def without_pandas() -> Generator[None]:
    """Keep pandas from being loaded by imports inside the block; does nothing where it is loaded
    already.
    """
    if "pandas" in sys.modules:
        yield
        return
    sys.modules.update((name, _Standin(name)) for name in STANDINS)
    try:
        yield
    finally:
        for name in STANDINS:
            del sys.modules[name]


with without_pandas():
    from pymilvus import AsyncMilvusClient, DataType, MilvusClient
    from pymilvus.exceptions import MilvusException

__all__ = ["AsyncMilvusClient", "DataType", "MilvusClient", "MilvusException"]
