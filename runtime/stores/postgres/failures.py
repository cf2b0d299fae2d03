"""Errors of PostgreSQL and of its driver in our words: what passes, what is to be tried again, and
what only a bug explains.

Messages of the server may quote keys and names out of documents, which must not reach a log: only
the kind of an error is told.
"""

import asyncpg

from runtime.errors import ConfigurationError, Unavailable

ERRORS = (
    asyncpg.PostgresError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,
    OSError,
)
"""What a call of the driver raises."""

CONFLICTS = (asyncpg.SerializationError, asyncpg.DeadlockDetectedError)
"""Two writers were in each other's way: nothing was written."""

LOST = (
    asyncpg.PostgresConnectionError,
    asyncpg.AdminShutdownError,
    asyncpg.CrashShutdownError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,
    ConnectionError,
)
"""The connection ended: a server that was started again gives another."""

UNUSABLE_AFTER = (*LOST, asyncpg.ReadOnlySQLTransactionError)
"""After these a connection is of no use: it ended, or its server has become a standby."""

NOT_THERE = (asyncpg.UndefinedTableError, asyncpg.InvalidSchemaNameError)
_REFUSED = (
    asyncpg.InvalidAuthorizationSpecificationError,
    asyncpg.InvalidCatalogNameError,
    asyncpg.InsufficientPrivilegeError,
)
_OF_A_BUG = ("21", "22", "23", "42")
"""Classes of states that no waiting mends: data, constraints, statements."""

CONFLICT_TRIES = 60
CONNECTION_TRIES = 2
"""The first may have been given a connection of a server that has restarted since."""


class NotPrepared(Unavailable):
    """A table of ours is not there: nobody has prepared the store, or somebody dropped it."""


def tries_of(error: Exception, *, repeatable: bool) -> int:
    """Return how often work may be tried that ends in this error. `repeatable`: doing it twice is
    the same as once.
    """
    if isinstance(error, CONFLICTS):
        return CONFLICT_TRIES
    return CONNECTION_TRIES if repeatable and isinstance(error, LOST) else 1


def translated(error: Exception, server: str, *, has_answered: bool) -> Exception:
    """Return the error to raise. `server`: its host and port; `has_answered`: a connection was made
    before, so that what is refused now was allowed then.
    """
    if isinstance(error, NOT_THERE):
        return NotPrepared(
            f"PostgreSQL at {server} has no tables of ours in this schema yet: a service makes "
            "them when it starts"
        )
    kind = type(error).__name__
    state = getattr(error, "sqlstate", None) or ""
    if isinstance(error, _REFUSED):
        reason = (
            f"PostgreSQL at {server} refuses this user, password, database or schema "
            f"({kind} {state}): correct STORES_URL, or the URL of this store alone"
        )
        return Unavailable(reason) if has_answered else ConfigurationError(reason)
    if isinstance(error, asyncpg.PostgresError) and state[:2] in _OF_A_BUG:
        return RuntimeError(f"PostgreSQL refuses a statement: {kind} {state}")
    return Unavailable(
        f"PostgreSQL at {server} does not serve ({f'{kind} {state}'.rstrip()}): start it, or "
        "correct STORES_URL, or the URL of this store alone"
    )
