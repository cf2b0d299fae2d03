"""pymilvus 2.6.17: imported without pandas, written to and read from by its connection.

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

Hits: the client makes several objects of each row that a search or a read returns, most of what
either costs: 45 and 29 microseconds a row. Their columns stand in the server's answer as they are.
Upstream: none found.
May go when `test_the_client_of_milvus_says_its_connection_nowhere` fails
(`tests/unit/runtime/test_workarounds.py`).
"""

import sys
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

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
    from pymilvus.client.prepare import Prepare
    from pymilvus.client.ts_utils import construct_guarantee_ts  # pyright: ignore
    from pymilvus.client.utils import check_status
    from pymilvus.exceptions import MilvusException

__all__ = [
    "AsyncMilvusClient",
    "DataType",
    "MilvusClient",
    "MilvusException",
    "Nearest",
    "nearest_columns",
    "query_columns",
    "upsert_columns",
]


class Nearest(NamedTuple):
    """Keys and similarities of the rows nearest to one vector, the best first, and each field that
    was asked for of these rows.
    """

    keys: Sequence[str]
    similarities: Sequence[float]
    fields: Mapping[str, Sequence[str]]


async def upsert_columns(
    client: AsyncMilvusClient, collection: str, columns: Sequence[dict[str, Any]], seconds: float
) -> None:
    """Write rows given as columns: `name`, `type` and `values` of each. Raises what the client
    raises.
    """
    connection: Any = await client._get_connection()  # pyright: ignore
    await connection.upsert(collection, columns, timeout=seconds)


async def nearest_columns(
    client: AsyncMilvusClient, collection: str, vectors: list[list[float]], **options: Any
) -> list[Nearest]:
    """Return the rows nearest to each vector; the fields asked for are texts. `options` are those
    of the connection. Raises what the client raises.
    """
    connection: Any = await client._get_connection()  # pyright: ignore
    # Called by the search of the connection, which makes the request and tries it again.
    connection._execute_search = partial(_execute_search, connection)
    return await connection.search(collection, "", data=vectors, **options)


async def query_columns(
    client: AsyncMilvusClient, collection: str, expression: str, fields: list[str], **options: Any
) -> dict[str, Any]:
    """Return these fields of the rows that match: texts as a list, vectors as an array of all their
    numbers. `options` are those of the client. Raises what the client raises.
    """
    connection: Any = await client._get_connection()  # pyright: ignore
    seconds = options.pop("timeout")
    construct_guarantee_ts(collection, options)
    request: Any = Prepare.query_request(
        collection, expression, fields, [], use_default_consistency=False, **options
    )
    answer = await connection._async_stub.Query(request, timeout=seconds)
    check_status(answer.status)
    return {
        field.field_name: _numbers(field.vectors.float_vector)
        if field.type == DataType.FLOAT_VECTOR
        else list(field.scalars.string_data.data)
        for field in answer.fields_data
    }


def _numbers(message: Any) -> NDArray[np.float32]:
    """Return the numbers of a message of them, which are one block of its bytes."""
    encoded = message.SerializeToString()
    size = 4 * len(message.data)
    return np.frombuffer(encoded, "<f4", offset=len(encoded) - size).astype(np.float32)


async def _execute_search(
    connection: Any, request: Any, timeout: float | None = None, **_: Any
) -> list[Nearest]:
    """Send the request of a search, and take its answer apart by vector."""
    answer = await connection._async_stub.Search(request, timeout=timeout)
    check_status(answer.status)
    keys = list(answer.results.ids.str_id.data)
    similarities = list(answer.results.scores)
    columns = {
        field.field_name: list(field.scalars.string_data.data)
        for field in answer.results.fields_data
    }
    nearest: list[Nearest] = []
    start = 0
    for count in answer.results.topks:
        rows = slice(start, start + count)
        fields = {name: values[rows] for name, values in columns.items()}
        nearest.append(Nearest(keys[rows], similarities[rows], fields))
        start += count
    return nearest
