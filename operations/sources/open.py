"""Opens a source by its address: the one place that knows which kind an address asks for."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import SplitResult
from urllib.request import url2pathname

from operations.sources.feed import FeedSource
from operations.sources.folder import FolderSource
from operations.sources.git import GitSource
from operations.sources.mail import MailSource
from operations.sources.port import Source
from operations.sources.postgres import PostgresSource
from operations.sources.s3 import S3Source
from operations.sources.secrets import split_address
from operations.sources.sftp import SftpSource
from operations.sources.web import WebSource
from runtime.errors import InvalidInput
from runtime.parsing.routing import OWN_PARSERS, ParsingServices


@dataclass(frozen=True)
class SourceKind:
    """A kind of source: what makes it of an address, and the module of the client it needs."""

    make: Callable[[SplitResult, ParsingServices], Source]
    client: str


def without_files(
    make: Callable[[SplitResult], Source],
) -> Callable[[SplitResult, ParsingServices], Source]:
    """Return what makes a source whose documents are no files of other kinds."""

    def source(address: SplitResult, _: ParsingServices) -> Source:
        return make(address)

    return source


KINDS = {
    "s3": SourceKind(S3Source, "botocore"),
    **{
        f"git+{transport}": SourceKind(GitSource, "dulwich")
        for transport in ("https", "http", "ssh", "file")
    },
    "https": SourceKind(without_files(WebSource), "httpx"),
    "http": SourceKind(without_files(WebSource), "httpx"),
    "rss": SourceKind(without_files(FeedSource), "feedparser"),
    "imaps": SourceKind(without_files(MailSource), "imap_tools"),
    "imap": SourceKind(without_files(MailSource), "imap_tools"),
    "sftp": SourceKind(SftpSource, "asyncssh"),
    **{
        scheme: SourceKind(without_files(PostgresSource), "asyncpg")
        for scheme in ("postgresql", "postgres")
    },
}
"""Kind of source by the scheme of its address; folders have none."""

SCHEMES = ("a folder", *(f"{scheme}:" for scheme in KINDS))


def open_source(address: str, services: ParsingServices = OWN_PARSERS) -> Source:
    """Return the source of this address: a folder, or one of `KINDS`. Nothing is asked yet.

    `services`: who reads the files that our own parsers do not.

    Raises InvalidInput with the way out for an address of no kind, with a secret in it, and for a
    kind whose client is not installed.
    """
    if folder := local_folder(address):
        return FolderSource(folder, services)
    parts = split_address(address)
    kind = KINDS.get(parts.scheme)
    if kind is None:
        raise InvalidInput(
            f"{address!r} is neither a folder that is there nor an address of a source: "
            f"{', '.join(SCHEMES)}"
        )
    if find_spec(kind.client) is None:
        raise InvalidInput(
            f"{parts.scheme}: needs a client that is not installed: "
            "pip install 'lightstream-rag[sources]'"
        )
    return kind.make(parts, services)


def name_in_log(address: str) -> str:
    """Return what the log calls a source: a folder by its whole path, others by their address.

    Raises InvalidInput for `file:` with a secret in it.
    """
    folder = local_folder(address)
    return FolderSource(folder).name if folder else address


def refuse_secrets(addresses: Iterable[str]) -> None:
    """Raise InvalidInput for an address with a secret, before anything of it is written down."""
    for address in addresses:
        if not Path(address).is_dir():
            split_address(address)


def local_folder(address: str) -> Path | None:
    """Return the folder that an address means, None for other kinds of sources."""
    if address.startswith("file:"):
        return Path(url2pathname(split_address(address).path))
    return Path(address) if Path(address).is_dir() else None
