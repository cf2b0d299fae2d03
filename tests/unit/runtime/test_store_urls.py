"""Where the three stores are: an address of each, or one for those that have none."""

import pytest
from pydantic import SecretStr

from runtime.errors import ConfigurationError
from runtime.settings import Settings
from runtime.stores.documents.postgres.store import PostgresRows
from runtime.stores.graph.postgres.store import PostgresGraph
from runtime.stores.graph.sqlite.store import SqliteGraph
from runtime.stores.open import open_documents, open_graph, open_vectors, store_kinds
from runtime.stores.vectors.postgres.store import PostgresVectors
from runtime.stores.vectors.qdrant.store import QdrantVectors
from runtime.stores.vectors.sqlite.store import SqliteVectors

URL = "postgresql://reader:hunter2@db.example:5432/rag"


def addresses(settings: Settings) -> tuple[str, str, str]:
    """The addresses of documents, graph and vectors."""
    return settings.documents_url.get_secret_value(), settings.neo4j_uri, settings.milvus_uri


def test_one_address_serves_every_store_that_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STORES_URL", URL)
    settings = Settings()
    assert addresses(settings) == (URL, URL, URL)
    assert isinstance(open_documents(settings), PostgresRows)
    assert isinstance(open_graph(settings), PostgresGraph)
    assert isinstance(open_vectors(settings, model="m", dimension=2), PostgresVectors)


def test_an_address_of_its_own_goes_before_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STORES_URL", URL)
    monkeypatch.setenv("GRAPH_URL", "bolt://graph:7687")
    settings = Settings()
    assert addresses(settings) == (URL, "bolt://graph:7687", URL)


def test_the_kinds_of_stores_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    assert store_kinds(Settings()) == ("mongodb", "bolt", "milvus")
    monkeypatch.setenv("STORES_URL", URL)
    assert store_kinds(Settings()) == ("postgresql", "postgresql", "postgresql")
    monkeypatch.setenv("VECTORS_URL", "qdrant+https://vectors.example:6333")
    monkeypatch.setenv("DOCUMENTS_URL", "sqlite:///tmp/documents.db")
    assert store_kinds(Settings()) == ("sqlite", "postgresql", "qdrant")
    monkeypatch.setenv("VECTORS_URL", "sqlite:///tmp/vectors.sqlite")
    assert store_kinds(Settings()) == ("sqlite", "postgresql", "sqlite")
    assert isinstance(open_vectors(Settings(), model="m", dimension=2), SqliteVectors)
    monkeypatch.setenv("GRAPH_URL", "sqlite:///tmp/graph.sqlite")
    assert store_kinds(Settings()) == ("sqlite", "sqlite", "sqlite")
    assert isinstance(open_graph(Settings()), SqliteGraph)


def test_the_older_name_of_an_address_goes_before_the_newer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("VECTORS_URL", URL)
    assert Settings().milvus_uri == URL
    monkeypatch.setenv("MILVUS_URI", "http://milvus:19530")
    assert Settings().milvus_uri == "http://milvus:19530"


def test_no_settings_show_the_password_of_an_address() -> None:
    settings = Settings(stores_url=SecretStr(URL))
    assert "hunter2" not in f"{settings!r} {settings}"
    assert "hunter2" in settings.neo4j_uri


@pytest.mark.parametrize("url", ["qdrant://vectors:6333", "qdrant+https://a.example:6333/prefix"])
@pytest.mark.parametrize("key", ["VECTORS_TOKEN", "QDRANT_API_KEY"])
def test_the_scheme_of_qdrant_opens_it_with_its_key(
    monkeypatch: pytest.MonkeyPatch, url: str, key: str
) -> None:
    monkeypatch.setenv("VECTORS_URL", url)
    monkeypatch.setenv(key, "hunter2")
    settings = Settings()
    assert settings.milvus_token.get_secret_value() == "hunter2"
    assert isinstance(open_vectors(settings, model="m", dimension=2), QdrantVectors)
    assert "hunter2" not in repr(settings)


def test_an_address_of_memgraph_is_refused_with_what_serves(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("GRAPH_URL", "memgraph://reader:hunter2@graph:7687")
    with pytest.raises(ConfigurationError, match=r"GRAPH_URL.*bolt://.*postgresql://") as refusal:
        open_graph(Settings())
    assert "hunter2" not in str(refusal.value)
