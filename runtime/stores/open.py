"""Stores from settings: the one place that knows which adapter a URL asks for, and imports it only
then.
"""

from importlib import import_module
from typing import NamedTuple

from runtime.errors import ConfigurationError
from runtime.settings import Settings
from runtime.stores.documents.port import Rows
from runtime.stores.graph.port import Graph
from runtime.stores.schemes import is_postgres, is_qdrant, is_sqlite, sqlite_path
from runtime.stores.traced import traced
from runtime.stores.vectors.port import Vectors
from runtime.variables import without_secrets

# Drivers are imported where they are needed: pymilvus alone costs 95 MB, and no service pays for
# another's driver. ruff: noqa: PLC0415

POSTGRES = "postgresql"
SQLITE = "sqlite"
"""Kinds of stores, as the conventions of tracing name them."""

_FOLDERS = {POSTGRES: "postgres", "mongodb": "mongo", "bolt": "neo4j"}
"""Packages of adapters that have another name than their kind of store."""


class StoreKinds(NamedTuple):
    """What serves as each store: `sqlite`, `mongodb` or `postgresql`; `bolt`, `sqlite` or
    `postgresql`; `milvus`, `qdrant`, `sqlite` or `postgresql`.
    """

    documents: str
    graph: str
    vectors: str


def store_kinds(settings: Settings) -> StoreKinds:
    """Return which kinds of stores the addresses of the settings name."""
    documents_url = settings.documents_url.get_secret_value()
    documents = SQLITE if is_sqlite(documents_url) else "mongodb"
    graph = SQLITE if is_sqlite(settings.neo4j_uri) else "bolt"
    vectors = "qdrant" if is_qdrant(settings.milvus_uri) else "milvus"
    vectors = SQLITE if is_sqlite(settings.milvus_uri) else vectors
    return StoreKinds(
        POSTGRES if is_postgres(documents_url) else documents,
        POSTGRES if is_postgres(settings.neo4j_uri) else graph,
        POSTGRES if is_postgres(settings.milvus_uri) else vectors,
    )


def open_documents(settings: Settings) -> Rows:
    """Open the document store. Raises ConfigurationError for a scheme that no adapter has."""
    url = settings.documents_url.get_secret_value()
    if is_postgres(url):
        from runtime.stores.documents.postgres.store import PostgresRows  # noqa: PLC0415

        return traced(PostgresRows(url, pool_size=settings.stores_pool_size), POSTGRES)
    if is_sqlite(url):
        from runtime.stores.documents.sqlite.store import SqliteRows  # noqa: PLC0415

        return traced(SqliteRows(sqlite_path(url)), SQLITE)
    scheme = url.partition(":")[0]
    if scheme in {"mongodb", "mongodb+srv"}:
        from runtime.stores.documents.mongo.store import MongoRows  # noqa: PLC0415

        return traced(MongoRows(url, settings.mongo_database), "mongodb", settings.mongo_database)
    raise ConfigurationError(
        f"DOCUMENTS_URL {without_secrets(url)} must begin with sqlite:///, mongodb:// or "
        "postgresql://"
    )


def open_graph(settings: Settings) -> Graph:
    """Open the graph store, which its URL's scheme names."""
    if is_postgres(settings.neo4j_uri):
        from runtime.stores.graph.postgres.store import PostgresGraph  # noqa: PLC0415

        tables = PostgresGraph(settings.neo4j_uri, pool_size=settings.stores_pool_size)
        return traced(tables, POSTGRES)
    if is_sqlite(settings.neo4j_uri):
        from runtime.stores.graph.sqlite.store import SqliteGraph  # noqa: PLC0415

        return traced(SqliteGraph(sqlite_path(settings.neo4j_uri)), SQLITE)
    from runtime.stores.graph.neo4j.store import BoltGraph  # noqa: PLC0415

    password = settings.neo4j_password.get_secret_value()
    graph = BoltGraph(
        settings.neo4j_uri, settings.neo4j_username, password, settings.neo4j_database
    )
    return traced(graph, "neo4j", settings.neo4j_database)


def open_vectors(settings: Settings, *, model: str, dimension: int) -> Vectors:
    """Open the vector store, which its URL's scheme names, for one embedding model."""
    if is_postgres(settings.milvus_uri):
        from runtime.stores.vectors.postgres.store import PostgresVectors  # noqa: PLC0415

        tables = PostgresVectors(
            settings.milvus_uri,
            model=model,
            dimension=dimension,
            pool_size=settings.stores_pool_size,
        )
        return traced(tables, POSTGRES)
    if is_sqlite(settings.milvus_uri):
        from runtime.stores.vectors.sqlite.store import SqliteVectors  # noqa: PLC0415

        path = sqlite_path(settings.milvus_uri)
        return traced(SqliteVectors(path, model=model, dimension=dimension), SQLITE)
    token = settings.milvus_token.get_secret_value()
    if is_qdrant(settings.milvus_uri):
        from runtime.stores.vectors.qdrant.store import QdrantVectors  # noqa: PLC0415

        points = QdrantVectors(settings.milvus_uri, model=model, dimension=dimension, api_key=token)
        return traced(points, "qdrant")
    from runtime.stores.vectors.milvus.store import MilvusVectors  # noqa: PLC0415

    vectors = MilvusVectors(
        settings.milvus_uri,
        model=model,
        dimension=dimension,
        index_type=settings.milvus_index_type,
        token=token,
    )
    return traced(vectors, "milvus")


def import_drivers(settings: Settings) -> None:
    """Import the adapters that stores of these settings need, without opening one."""
    for store, kind in store_kinds(settings)._asdict().items():
        import_module(f"runtime.stores.{store}.{_FOLDERS.get(kind, kind)}.store")
