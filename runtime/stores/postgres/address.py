"""The address of a PostgreSQL database: a URL as every client of it takes, and the schema of our
tables.
"""

import re
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from runtime.errors import ConfigurationError
from runtime.stores.schemes import is_postgres

PORT = 5432
"""Where a server listens whose URL names no port."""

SCHEMA = "lightstream"
"""The schema of our tables, unless the URL names another as `?schema=`."""

_NAME = re.compile(r"[a-z_][a-z0-9_]{0,62}")


@dataclass(frozen=True)
class PostgresAddress:
    """A database, as its driver takes it, and the schema in it that our tables stand in."""

    dsn: str = field(repr=False)
    schema: str = SCHEMA

    @property
    def server(self) -> str:
        """Return host and port, which hold no secret, for errors."""
        parts = urlsplit(self.dsn)
        return f"{parts.hostname or 'localhost'}:{parts.port or PORT}"


def parse_address(url: str) -> PostgresAddress:
    """Return the address in a URL `postgresql://user:password@host:5432/database?schema=name`.

    Raises ConfigurationError for any other; its message quotes nothing, because a URL may hold a
    password.
    """
    form = "the URL of PostgreSQL must look like postgresql://user:password@host:5432/database"
    try:
        parts = urlsplit(url)
        is_numbered = parts.port is None or parts.port > 0
    except ValueError:
        raise ConfigurationError(form) from None
    if not is_postgres(url) or not is_numbered or not parts.path.strip("/"):
        raise ConfigurationError(form)
    options = parse_qsl(parts.query, keep_blank_values=True)
    schema = dict(options).get("schema", SCHEMA)
    if not _NAME.fullmatch(schema):
        raise ConfigurationError(
            "the schema in the URL of PostgreSQL must be a plain name: small letters, digits and _"
        )
    query = urlencode([(name, value) for name, value in options if name != "schema"])
    return PostgresAddress(urlunsplit(parts._replace(query=query)), schema)
