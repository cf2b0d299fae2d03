"""Transactions over Bolt: each within our own time limit, tried again after conflicts, its errors
translated.
"""

import contextlib
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from runtime.concurrency.isolated import run_with_timeout
from runtime.errors import ConfigurationError, Unavailable
from runtime.retries import Backoff
from runtime.workarounds.neo4j import (
    AsyncDriver,
    AsyncGraphDatabase,
    AsyncManagedTransaction,
    AsyncResult,
    AuthError,
    ClientError,
    ConstraintError,
    DriverError,
    Neo4jError,
    ServiceUnavailable,
    SessionExpired,
)
from runtime.workarounds.neo4j import ConfigurationError as DriverConfigurationError

T = TypeVar("T")
Records = list[dict[str, Any]]
Work = Callable[[AsyncManagedTransaction], Awaitable[T]]
"""What one transaction does. It must be idempotent."""

SCHEMES = frozenset(name + suffix for name in ("bolt", "neo4j") for suffix in ("", "+s", "+ssc"))
URI_FORM = (
    "the graph's URI must look like bolt://host:7687, neo4j://host:7687 or "
    "postgresql://host:5432/database; there is no adapter for Memgraph"
)

CONFLICTS = Backoff(first=0.005, longest=0.25, spread=1.0)
"""Between two tries of a transaction."""

CONFLICT_TRIES = 60
CONNECTION_TRIES = 2
"""The first may have been given a pooled connection of a server that has restarted since."""

MADE_MEANWHILE = "Neo.ClientError.Schema.EquivalentSchemaRuleAlreadyExists"
ODD_CONFLICTS = frozenset(
    (
        "Neo.DatabaseError.General.UnknownError",
        "Neo.ClientError.Transaction.TransactionNotFound",
    )
)
"""Codes of some conflicts of ArcadeDB, and of transactions that it has ended meanwhile."""
ODD_TRIES = 10

ALL = 1_000_000_000
"""More records than any statement returns."""


class Transactions:
    """Runs transactions over one driver. `timeout` bounds, in seconds, one transaction with all its
    retries.

    Raises ConfigurationError when the URI is none, `Unavailable` for anything the store says.
    """

    def __init__(self, uri: str, user: str, password: str, database: str, timeout: float) -> None:
        self._database = database
        self._timeout = timeout
        if (
            uri.partition("://")[0] not in SCHEMES
        ):  # the driver would also take http, which has other rules
            raise ConfigurationError(URI_FORM)
        try:
            self._driver: AsyncDriver = AsyncGraphDatabase.driver(
                uri,
                auth=(user, password),
                connection_timeout=timeout,
                connection_acquisition_timeout=timeout,
                max_transaction_retry_time=0,
                fetch_size=-1,  # all records in one exchange: every statement has its own limit
                notifications_min_severity="OFF",
                telemetry_disabled=True,
            )
        except (DriverConfigurationError, ValueError) as error:
            raise ConfigurationError(URI_FORM) from error

    async def query(self, statement: str, **parameters: Any) -> Records:
        """Run one statement in a transaction of its own and return its records."""
        return await self.run(lambda transaction: records(transaction, statement, **parameters))

    async def read(self, statement: str, **parameters: Any) -> Records:
        """Run one statement that writes nothing and return its records, in one exchange with the
        server.

        The end of a transaction of our own would be another. Not for writes: ArcadeDB goes on with
        a statement whose caller was cancelled, and commits it.
        """

        async def attempt() -> Records:
            async with self._driver.session(database=self._database) as session:
                return await _fetched(await session.run(statement, parameters))  # type: ignore[arg-type]

        return await self._bounded(attempt)

    async def found(self, statement: str, **parameters: Any) -> list[Any]:
        """Run one statement that writes nothing and collects all it returns in one record, as
        `found`.
        """
        return (await self.read(statement, **parameters))[0]["found"]

    async def declare(self, statement: str) -> None:
        """Run a statement that makes an index unless it is there: of two that make it at once,
        Neo4j has one fail.
        """

        async def attempt() -> None:
            try:
                await self._attempt(lambda transaction: records(transaction, statement))
            except ClientError as error:
                if error.code != MADE_MEANWHILE:
                    raise

        await self._bounded(attempt)

    async def run(self, work: Work[T]) -> T:
        """Run `work` in one transaction."""
        return await self._bounded(lambda: self._attempt(work))

    async def _bounded(self, attempt: Callable[[], Awaitable[T]]) -> T:
        """Return the result of the attempts, within our own time limit, with errors of ours.

        ArcadeDB ignores the transaction timeout that the protocol knows, and never answers some
        messages.
        """
        try:
            return await run_with_timeout(self._timeout, self._attempts(attempt))
        except TimeoutError as error:
            raise Unavailable(
                f"the graph store did not answer within {self._timeout:g} s"
            ) from error
        except AuthError as error:
            raise Unavailable("the graph store refuses the user or the password") from error
        except (DriverError, Neo4jError, OSError) as error:
            # Messages of the server may quote names out of documents, which must not reach a log.
            code = getattr(error, "code", None) or ""
            raise Unavailable(
                f"the graph store fails: {type(error).__name__} {code}".rstrip()
            ) from error

    async def close(self) -> None:
        """Close the connections, within the time limit."""
        with contextlib.suppress(TimeoutError, DriverError, Neo4jError):
            await run_with_timeout(self._timeout, self._driver.close())

    async def _attempts(self, attempt: Callable[[], Awaitable[T]]) -> T:
        """Try again after conflicts with other writers, and after a lost connection."""
        tries = 0

        def again(error: Exception) -> bool:
            nonlocal tries
            tries += 1
            return isinstance(error, DriverError | Neo4jError) and tries < _tries(error)

        return await CONFLICTS.retry(attempt, again)

    async def _attempt(self, work: Work[T]) -> T:
        # Write access also for reads: in a cluster they then go to the leader, and see what was
        # written. A managed transaction begins with its first statement, in one exchange with the
        # server; an unmanaged one waits for the answer to its begin. The driver itself tries none
        # again: `max_transaction_retry_time`.
        async with self._driver.session(database=self._database) as session:
            return await session.execute_write(work)


async def records(
    transaction: AsyncManagedTransaction, statement: str, **parameters: Any
) -> Records:
    """Run one statement and return its records."""
    # The statements are constants, which the driver's type asks to be literals.
    return await _fetched(await transaction.run(statement, parameters))  # type: ignore[arg-type]


async def _fetched(result: AsyncResult) -> Records:
    """Return all records, without the walk through nested values that `data()` makes."""
    keys = result.keys()
    return [dict(zip(keys, record.values(), strict=True)) for record in await result.fetch(ALL)]


def _tries(error: DriverError | Neo4jError) -> int:
    """Return how often a transaction may be tried that ends in this error.

    ArcadeDB answers a lost race to create a key with ConstraintError, and some other conflicts with
    codes of `ODD_CONFLICTS`, none of which the driver calls retryable.
    """
    if isinstance(error, ServiceUnavailable | SessionExpired):
        return CONNECTION_TRIES
    if isinstance(error, ConstraintError) or error.is_retryable():
        return CONFLICT_TRIES
    return ODD_TRIES if isinstance(error, Neo4jError) and error.code in ODD_CONFLICTS else 1
