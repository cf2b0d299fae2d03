"""Stores from settings: the one place that knows which adapter a URL asks for, and imports it only
then.
"""

from importlib import import_module
from pathlib import Path

from runtime.errors import ConfigurationError
from runtime.settings import Settings, without_secrets
from runtime.stores.documents.port import Rows
from runtime.stores.graph.port import Graph
from runtime.stores.traced import traced
from runtime.stores.vectors.port import Vectors

# Drivers are imported where they are needed: pymilvus alone costs 95 MB, and no service pays for
# another's driver. ruff: noqa: PLC0415


def open_documents(settings: Settings) -> Rows:
    """Open the document store. Raises ConfigurationError for a scheme that is neither sqlite nor
    mongodb.
    """
    url = settings.documents_url.get_secret_value()
    scheme = url.partition(":")[0]
    if scheme == "sqlite":
        from runtime.stores.documents.sqlite.store import SqliteRows  # noqa: PLC0415

        return traced(SqliteRows(Path(url.removeprefix("sqlite://"))), "sqlite")
    if scheme in {"mongodb", "mongodb+srv"}:
        from runtime.stores.documents.mongo.store import MongoRows  # noqa: PLC0415

        return traced(MongoRows(url, settings.mongo_database), "mongodb", settings.mongo_database)
    raise ConfigurationError(
        f"DOCUMENTS_URL {without_secrets(url)} must begin with sqlite:/// or mongodb://"
    )


def open_graph(settings: Settings) -> Graph:
    """Open the graph store."""
    from runtime.stores.graph.neo4j.store import BoltGraph  # noqa: PLC0415

    password = settings.neo4j_password.get_secret_value()
    graph = BoltGraph(
        settings.neo4j_uri, settings.neo4j_username, password, settings.neo4j_database
    )
    return traced(graph, "neo4j", settings.neo4j_database)


def open_vectors(settings: Settings, *, model: str, dimension: int) -> Vectors:
    """Open the vector store for one embedding model."""
    from runtime.stores.vectors.milvus.store import MilvusVectors  # noqa: PLC0415

    vectors = MilvusVectors(
        settings.milvus_uri,
        model=model,
        dimension=dimension,
        index_type=settings.milvus_index_type,
        token=settings.milvus_token.get_secret_value(),
    )
    return traced(vectors, "milvus")


def import_drivers(settings: Settings) -> None:
    """Import the adapters that stores of these settings need, without opening one."""
    if settings.documents_url.get_secret_value().startswith("sqlite:"):
        import_module("runtime.stores.documents.sqlite.store")
    else:
        import_module("runtime.stores.documents.mongo.store")
    import_module("runtime.stores.graph.neo4j.store")
    import_module("runtime.stores.vectors.milvus.store")
