"""The kind of store that the scheme of its URL names."""

from pathlib import Path


def is_postgres(url: str) -> bool:
    """Whether a URL is that of a PostgreSQL database."""
    return url.partition("://")[0] in {"postgresql", "postgres"}


def is_qdrant(url: str) -> bool:
    """Whether a URL is that of a Qdrant server."""
    return url.partition("://")[0].partition("+")[0] == "qdrant"


def is_sqlite(url: str) -> bool:
    """Whether a URL is that of a SQLite file."""
    return url.startswith("sqlite:")


def sqlite_path(url: str) -> Path:
    """Return the file that the URL of a SQLite file names."""
    return Path(url.removeprefix("sqlite://"))
