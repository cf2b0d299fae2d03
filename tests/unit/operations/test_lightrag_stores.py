"""LightRAG's names of a PostgreSQL and a Qdrant: the addresses they make, and which others hold."""

from pathlib import Path

import pytest

from operations.moving.destination import read_stores, store_values
from operations.moving.lightrag_stores import (
    names_postgres,
    with_stores_url,
    with_vectors_url,
)

FILE = """
LIGHTRAG_KV_STORAGE=PGKVStorage
LIGHTRAG_DOC_STATUS_STORAGE=PGDocStatusStorage
LIGHTRAG_GRAPH_STORAGE={graph}
LIGHTRAG_VECTOR_STORAGE=PGVectorStorage
POSTGRES_HOST=db.port-elm.example
POSTGRES_USER=elm@port
POSTGRES_PASSWORD='p:a/ss'
POSTGRES_DATABASE=tides
POSTGRES_SSL_MODE=verify-full
# As LightRAG's example has them, used or not.
NEO4J_URI=neo4j+s://graph.port-elm.example
MILVUS_URI=http://localhost:19530
MONGO_URI=mongodb://root:root@localhost:27017/
"""
URL = "postgresql://elm%40port:p%3Aa%2Fss@db.port-elm.example:5432/tides?sslmode=verify-full"


@pytest.mark.parametrize(
    ("graph", "address"),
    [
        ("PGGraphStorage", URL),
        ("NetworkXStorage", URL),
        ("Neo4JStorage", "neo4j+s://graph.port-elm.example"),
    ],
)
def test_stores_are_where_lightrag_has_them(tmp_path: Path, graph: str, address: str) -> None:
    file = tmp_path / ".env"
    file.write_text(FILE.format(graph=graph), "utf-8")
    values = store_values(read_stores(file))
    assert (values["documents_url"], values["milvus_uri"]) == (URL, URL)
    assert values["neo4j_uri"] == address


def test_an_address_of_all_stores_goes_before_lightrags_names() -> None:
    environ = {"LIGHTRAG_KV_STORAGE": "PGKVStorage", "STORES_URL": "postgresql://a@b/c"}
    assert with_stores_url(environ) == environ


def test_other_storages_make_no_address() -> None:
    environ = {"LIGHTRAG_KV_STORAGE": "JsonKVStorage", "POSTGRES_HOST": "db.port-elm.example"}
    assert not names_postgres(environ)
    assert with_stores_url(environ) == environ


def test_what_is_not_given_is_as_lightrag_has_it() -> None:
    url = with_stores_url({"LIGHTRAG_VECTOR_STORAGE": "PGVectorStorage"})["STORES_URL"]
    assert url == "postgresql://postgres@localhost:5432/postgres"


@pytest.mark.parametrize(
    ("given", "address"),
    [
        ("http://vectors.port-elm.example:6333", "qdrant://vectors.port-elm.example:6333"),
        ("https://elm.cloud.example:6333", "qdrant+https://elm.cloud.example:6333"),
    ],
)
def test_vectors_are_in_the_qdrant_that_lightrag_names(
    tmp_path: Path, given: str, address: str
) -> None:
    file = tmp_path / ".env"
    storage = FILE.replace("PGVectorStorage", "QdrantVectorDBStorage").format(
        graph="PGGraphStorage"
    )
    file.write_text(f"{storage}QDRANT_URL={given}\nQDRANT_API_KEY=hunter2\n", "utf-8")
    values = store_values(read_stores(file))
    assert (values["documents_url"], values["neo4j_uri"]) == (URL, URL)
    assert (values["milvus_uri"], values["milvus_token"]) == (address, "hunter2")


def test_an_address_of_vectors_goes_before_lightrags_names() -> None:
    environ = {
        "LIGHTRAG_VECTOR_STORAGE": "QdrantVectorDBStorage",
        "QDRANT_URL": "http://there:6333",
        "VECTORS_URL": "qdrant://here:6333",
    }
    assert with_vectors_url(environ) == environ
