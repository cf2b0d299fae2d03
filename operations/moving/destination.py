"""Where a stack is to move: the stores that a file of variables names, and what speaks against
filling them.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from dotenv import dotenv_values
from pydantic import SecretStr

from embedded.environment import settings_from
from operations.digest import Stores
from operations.moving.lightrag_stores import with_stores_url, with_vectors_url
from operations.target import Target
from runtime.errors import ConfigurationError, InvalidInput, ModelChanged
from runtime.settings import Settings
from runtime.stores.documents.port import INDEXES
from runtime.stores.documents.schema import CHECKPOINTS
from runtime.stores.postgres.address import parse_address
from runtime.stores.schemes import is_postgres, is_sqlite
from runtime.stores.vectors.port import Vectors
from runtime.variables import variables

STORE_FIELDS = ("stores_", "documents_url", "mongo_database", "neo4j_", "milvus_")
"""How the settings begin that say where stores are; all others stay what they are."""

MARK = "moving"
"""Key of the row by which a document store is known as one that a move fills."""

Addresses = Mapping[str, str]

_THIS_MACHINE = r"\blocalhost\b|\[::1\]"


def read_destination(file: Path, target: Target) -> Settings:
    """Return the target's settings with the stores that the file names.

    Raises InvalidInput for a file that lacks a store, or names another bus or a present store,
    ConfigurationError for values of no use. Passwords of the present stores are not sent to the
    others.
    """
    names = _store_variables()
    variables = _read_variables(file)
    own_variables = {
        name: value for name, value in target.environ.items() if name.upper() not in names
    }
    settings = _settings_of(
        file, own_variables | {name: variables[name] for name in names & variables.keys()}
    )
    _refuse_another_bus(variables.get("NATS_URL", ""), target)
    here = addresses(target.settings)
    there = addresses(settings)
    if same_stores := [store for store in here if here[store] == there[store]]:
        raise InvalidInput(
            f"{file} must name three other stores, and its {' and '.join(same_stores)} is where this stack has it: "  # noqa: E501
            + ", ".join(there[store] for store in same_stores)
        )
    return settings


def read_stores(file: Path) -> Settings:
    """Return settings with the stores that a file names. Raises as `read_destination` does."""
    variables = _read_variables(file)
    return _settings_of(
        file, {name: variables[name] for name in _store_variables() & variables.keys()}
    )


def store_values(settings: Settings) -> dict[str, str]:
    """Return where the stores are, by the name of the setting."""
    values = {
        name: getattr(settings, name)
        for name in Settings.model_fields
        if name.startswith(STORE_FIELDS)
    }
    return {
        name: value.get_secret_value() if isinstance(value, SecretStr) else str(value)
        for name, value in values.items()
    }


def _store_variables() -> set[str]:
    return {
        variable
        for name, field in Settings.model_fields.items()
        if name.startswith(STORE_FIELDS)
        for variable in variables(name, field)
    }


def _read_variables(file: Path) -> dict[str, str]:
    variables = {
        name.upper(): value
        for name, value in dotenv_values(file, interpolate=False).items()
        if value
    }
    variables = with_vectors_url(with_stores_url(variables))
    if "STORES_URL" in variables:
        return variables
    if missing_names := [
        names[0] for names in _addresses_to_name() if not variables.keys() & set(names)
    ]:
        raise InvalidInput(
            f"{file} does not name {', '.join(missing_names)}: all three stores are needed, "
            "or STORES_URL alone, or LightRAG's variables of a PostgreSQL"
        )
    return variables


def _settings_of(file: Path, environ: Mapping[str, str]) -> Settings:
    try:
        return settings_from(Settings, environ)
    except ConfigurationError as error:
        raise ConfigurationError(f"{file}: {error}") from None


def _addresses_to_name() -> list[tuple[str, ...]]:
    return [
        variables(name, Settings.model_fields[name])
        for name in ("documents_url", "neo4j_uri", "milvus_uri")
    ]


def addresses(settings: Settings) -> Addresses:
    """Return where each store is, without passwords."""
    documents = settings.documents_url.get_secret_value()
    return {
        "documents": _address(documents, settings.mongo_database),
        "graph": _address(settings.neo4j_uri, settings.neo4j_database),
        "vectors": _address(settings.milvus_uri),
    }


def mark_of(log: str, there: Addresses) -> dict[str, str]:
    """Return the row that marks a document store as one that a move of this log fills, with these
    other two.
    """
    return {"log": log, "graph": there["graph"], "vectors": there["vectors"]}


async def require_ours(stores: Stores, expected_mark: Mapping[str, str]) -> None:
    """Return if the stores are empty, or a move with this mark has begun to fill them.

    Raises InvalidInput for any others: they are about to be emptied.
    """
    if (await stores.rows.get(CHECKPOINTS, [MARK])).get(MARK) != expected_mark:
        await require_empty(stores)


async def require_empty(stores: Stores) -> None:
    """Raise InvalidInput for stores that hold something."""
    tables = [name for name in INDEXES if name not in ("schema", "checkpoints")]
    is_filled = {
        "document store": any([await stores.rows.partitions(name) for name in tables]),
        "graph store": bool(await stores.graph.partitions()),
        "vector store": await _holds_vectors(stores.vectors),
    }
    if nonempty := [store for store, has_rows in is_filled.items() if has_rows]:
        raise InvalidInput(
            f"the other {' and '.join(nonempty)} already holds data, "
            "and not as a copy of this log: nothing was changed. Name empty ones (another "
            "database, for example)"
        )


async def _holds_vectors(vectors: Vectors) -> bool:
    """Return whether a generation is in use. Collections that `stores apply` has made are empty,
    and no data.
    """
    try:
        return any(
            [await vectors.checkpoint(generation) for generation in await vectors.generations()]
        )
    except ModelChanged:
        return True


def _refuse_another_bus(bus_url: str, target: Target) -> None:
    here = _server(target.settings.nats_url)
    if bus_url and _server(bus_url) != here:
        raise InvalidInput(
            f"NATS_URL names another bus than {here}: the log stays where it is. "
            "A backup and a restore move it, and fill the stores there"
        )


def _address(url: str, database: str = "") -> str:
    if is_sqlite(url):
        return url
    if is_postgres(url):
        address = parse_address(url)
        return f"{_server(url)}{urlsplit(address.dsn).path} schema {address.schema}"
    return f"{_server(url)}/{database}".rstrip("/")


def _server(url: str) -> str:
    """Return scheme and hosts with their ports; the names of this machine are one."""
    try:
        parts = urlsplit(url)
    except ValueError:
        raise InvalidInput("one of the addresses of the stores cannot be read as a URL") from None
    hosts = parts.netloc.rpartition("@")[2]
    return f"{parts.scheme}://{re.sub(_THIS_MACHINE, '127.0.0.1', hosts)}"
