"""The schema of the stores: tables, indexes, constraints, collections, and its version."""

from contextlib import suppress

from operations.open_stack import OpenStack, open_as_is
from operations.settings import CommandSettings
from runtime.bus.nats.key_values import NatsLiveGenerations
from runtime.errors import OutdatedVectors
from runtime.settings import Settings
from runtime.stores.documents import schema
from runtime.stores.schemes import is_postgres, is_qdrant


async def apply(settings: Settings) -> list[str]:
    """Make what is missing, and return a line for each thing that was.

    Raises ConfigurationError for stores that newer code has prepared, `Unavailable` for a store
    that does not answer.
    """
    async with open_as_is(settings) as stack:
        before = await _differences(stack)
        await stack.stores.rows.prepare()
        await stack.stores.graph.prepare()
        for generation in await _generations(stack):
            async with stack.stores_of_generation(generation) as stores:
                # What has ids of an older version stays as it is until a rebuild, and is reported
                # below.
                with suppress(OutdatedVectors):
                    await stores.vectors.prepare(generation)
        after = await _differences(stack)
    return [line for line in before if line not in after]


async def make_accounts(settings: CommandSettings) -> list[str]:
    """Make the services' account in Milvus, where one is named, and return a line if it was.

    Raises ConfigurationError for an account that cannot be made, `Unavailable` for a server that
    does not answer.
    """
    account = settings.milvus_services_token.get_secret_value()
    if not account or is_postgres(settings.milvus_uri) or is_qdrant(settings.milvus_uri):
        return []
    from runtime.stores.vectors.milvus.accounts import make_account  # noqa: PLC0415

    changes = await make_account(
        settings.milvus_uri, settings.milvus_token.get_secret_value(), account
    )
    return [f"vectors: {line}" for line in changes]


async def check(settings: Settings) -> list[str]:
    """Return how the stores differ from this program's schema; change nothing. Raises as `apply`
    does.
    """
    async with open_as_is(settings) as stack:
        return await _differences(stack)


async def _differences(stack: OpenStack) -> list[str]:
    stores = stack.stores
    documents = await stores.rows.missing()
    # The version is a row, which needs its table.
    documents = documents or await _version(stack)
    graph = await stores.graph.missing()
    vectors: list[str] = []
    for generation in await _generations(stack):
        async with stack.stores_of_generation(generation) as as_made:
            vectors += await as_made.vectors.missing(generation)
    of_each = {"documents": documents, "graph": graph, "vectors": vectors}
    return [f"{store}: {line}" for store, lines in of_each.items() for line in lines]


async def _version(stack: OpenStack) -> list[str]:
    version = await schema.recorded(stack.stores.rows)
    return (
        []
        if version == schema.VERSION
        else [f"schema {version or 'none'}, this program knows {schema.VERSION}"]
    )


async def _generations(stack: OpenStack) -> list[int]:
    """Return the live generation of vectors, and those that workspaces have for themselves."""
    pointers = await NatsLiveGenerations.bind(stack.client.jetstream())
    live = await pointers.live()
    return [live.vectors, *sorted({*live.own_vectors.values()} - {live.vectors})]
