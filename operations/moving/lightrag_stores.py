"""A PostgreSQL and a Qdrant as LightRAG's variables name them."""

from collections.abc import Mapping
from urllib.parse import quote, urlencode

from runtime.settings import Settings
from runtime.variables import variables

STORAGES = {
    "LIGHTRAG_KV_STORAGE": ("documents_url", ("Mongo",)),
    "LIGHTRAG_GRAPH_STORAGE": ("neo4j_uri", ("Neo4J",)),
    "LIGHTRAG_VECTOR_STORAGE": ("milvus_uri", ("Milvus", "Qdrant")),
}
"""LightRAG's choices, each with our setting and how the storages begin whose address that is."""

QDRANT_SCHEMES = {"http": "qdrant", "https": "qdrant+https"}

TLS_OPTIONS = {
    "POSTGRES_SSL_MODE": "sslmode",
    "POSTGRES_SSL_ROOT_CERT": "sslrootcert",
    "POSTGRES_SSL_CERT": "sslcert",
    "POSTGRES_SSL_KEY": "sslkey",
    "POSTGRES_SSL_CRL": "sslcrl",
}

VARIABLES = (
    *("POSTGRES_HOST", "POSTGRES_PORT", "POSTGRES_USER", "POSTGRES_PASSWORD", "POSTGRES_DATABASE"),
    *TLS_OPTIONS,
)
"""What of LightRAG says where the database is."""


def names_postgres(environ: Mapping[str, str]) -> bool:
    """Whether LightRAG would keep something in PostgreSQL."""
    return any(environ.get(name, "").startswith("PG") for name in STORAGES)


def with_stores_url(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the variables with STORES_URL where LightRAG's name a PostgreSQL.

    Addresses of servers that LightRAG does not use, as its example file has them, are left out. A
    STORES_URL that is there already stays.
    """
    if "STORES_URL" in environ or not names_postgres(environ):
        return dict(environ)
    idle_names = {
        variable
        for storage, (setting, makers) in STORAGES.items()
        if not environ.get(storage, "").startswith(makers)
        for variable in variables(setting, Settings.model_fields[setting])
    }
    used_variables = {name: value for name, value in environ.items() if name not in idle_names}
    return used_variables | {"STORES_URL": _url(environ)}


def with_vectors_url(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the variables with VECTORS_URL where LightRAG's name a Qdrant, and without an address
    of Milvus, as its example file has one. A VECTORS_URL that is there already stays.
    """
    scheme, _, server = environ.get("QDRANT_URL", "").partition("://")
    if (
        not environ.get("LIGHTRAG_VECTOR_STORAGE", "").startswith("Qdrant")
        or "VECTORS_URL" in environ
        or scheme not in QDRANT_SCHEMES
    ):
        return dict(environ)
    other_settings = {
        name: value for name, value in environ.items() if not name.startswith("MILVUS_")
    }
    return other_settings | {"VECTORS_URL": f"{QDRANT_SCHEMES[scheme]}://{server}"}


def _url(environ: Mapping[str, str]) -> str:
    """Return the address, with LightRAG's defaults for what is not given."""
    user = quote(environ.get("POSTGRES_USER", "postgres"), safe="")
    password = quote(environ.get("POSTGRES_PASSWORD", ""), safe="")
    host = environ.get("POSTGRES_HOST", "localhost")
    port = environ.get("POSTGRES_PORT", "5432")
    database = quote(environ.get("POSTGRES_DATABASE", "postgres"), safe="")
    options = urlencode(
        {option: environ[name] for name, option in TLS_OPTIONS.items() if environ.get(name)}
    )
    login = f"{user}:{password}" if password else user
    return f"postgresql://{login}@{host}:{port}/{database}{f'?{options}' if options else ''}"
