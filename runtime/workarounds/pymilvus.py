"""pymilvus 2.6.17: imported without pandas, and written to by its connection.

pandas: pymilvus imports it for data frames, which nobody here gives it: half a second of CPU and
34 MB in every process. While it is imported, stand-ins take the place of the modules of pandas that
it names; what is asked of one later is answered by pandas itself, which is loaded then.
Upstream: none found.
May go when `test_a_library_alone_imports_what_nobody_uses` fails for it
(`tests/unit/runtime/test_workarounds.py`).

Columns: the client's private connection takes them; the client takes rows only, and looks at each
value three times: 53 against 15 microseconds a row. Upstream: none found.
May go when `test_the_client_of_milvus_says_its_connection_nowhere` fails
(`tests/unit/runtime/test_workarounds.py`).
"""

import sys
from collections.abc import Callable, Generator, Sequence
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

__all__ = ["AsyncMilvusClient", "DataType", "MilvusClient", "MilvusException", "upsert_columns"]


async def upsert_columns(
    client: AsyncMilvusClient, collection: str, columns: Sequence[dict[str, Any]], seconds: float
) -> None:
    """Write rows given as columns: `name`, `type` and `values` of each. Raises what the client
    raises.
    """
    connection: Any = await client._get_connection()  # pyright: ignore
    await connection.upsert(collection, columns, timeout=seconds)
