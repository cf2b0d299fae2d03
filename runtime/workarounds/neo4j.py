"""neo4j 6.4.1: imported without pandas.

pandas: the driver imports it where it is installed, as pymilvus has it installed, for parameters
that are data frames, which nobody here gives it: half a second of CPU and 34 MB in every process.
While it is imported here, it takes pandas for not installed. Upstream: none found.
May go when `test_a_library_alone_imports_what_nobody_uses` fails for it
(`tests/unit/runtime/test_workarounds.py`).
"""

import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, cast


@contextmanager
def without_pandas() -> Generator[None]:
    """Keep pandas from being loaded by imports inside the block; it can be imported afterwards.

    Does nothing where it is loaded already.
    """
    modules = cast(dict[str, Any], sys.modules)
    if "pandas" in modules:
        yield
        return
    modules["pandas"] = None  # whoever imports it gets an ImportError, which the driver expects
    try:
        yield
    finally:
        del modules["pandas"]


with without_pandas():
    from neo4j import AsyncDriver, AsyncGraphDatabase, AsyncManagedTransaction, AsyncResult
    from neo4j.exceptions import (
        AuthError,
        ClientError,
        ConfigurationError,
        ConstraintError,
        DriverError,
        Neo4jError,
        ServiceUnavailable,
        SessionExpired,
    )

__all__ = [
    "AsyncDriver",
    "AsyncGraphDatabase",
    "AsyncManagedTransaction",
    "AsyncResult",
    "AuthError",
    "ClientError",
    "ConfigurationError",
    "ConstraintError",
    "DriverError",
    "Neo4jError",
    "ServiceUnavailable",
    "SessionExpired",
]
