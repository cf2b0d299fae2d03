"""A folder of an SFTP server as a source."""

import asyncio
import stat
from collections.abc import AsyncGenerator
from typing import Any
from urllib.parse import SplitResult, unquote

from operations.documents import LeftOutFile, RefusedDocument
from operations.sources.port import Listing, SourceFile, SourceItem, why_skipped
from operations.sources.secrets import PASSWORD, credentials
from runtime.errors import InvalidInput, Unavailable
from runtime.parsing.files import refuse_larger
from runtime.parsing.routing import OWN_PARSERS, ParsingServices

TIMEOUT = 30.0
"""Seconds until a connection counts as failed."""


class SftpSource:
    """All files below a folder; time and size are a version.

    Keys, agents, known hosts and `~/.ssh/config` are those of OpenSSH; a host must be known.
    """

    lists_all = True
    versions_tell_content = True

    def __init__(self, address: SplitResult, services: ParsingServices = OWN_PARSERS) -> None:
        self._services = services
        self.address = address
        self.folder = unquote(address.path).rstrip("/") or "/"
        self.name = f"sftp://{address.netloc}{address.path.rstrip('/')}"
        self._connection: Any = None
        self._files: Any = None

    async def list_items(self, cursor: str) -> Listing | None:
        """Return the files; see the port."""
        await self._connect()
        listing = Listing()
        async for path, attributes in self._below("", listing):
            key = path.lstrip("/")
            reason = why_skipped(key, self._services) or ("" if attributes.size else "empty")
            if reason:
                listing.skipped_files.append(LeftOutFile(key, reason))
                continue
            version = f"{attributes.mtime}-{attributes.size}"
            url = f"{self.name}/{key}"
            listing.items.append(SourceItem(key, f"{self.address.hostname}/{key}", version, url))
        return listing

    async def _below(self, folder: str, listing: Listing) -> AsyncGenerator[tuple[str, Any]]:
        import asyncssh  # noqa: PLC0415

        try:
            entries = await self._files.readdir(f"{self.folder}{folder}")
        except asyncssh.SFTPError as error:
            if not folder:
                raise InvalidInput(f"{self.name} cannot be listed: {error.reason}") from None
            listing.unreadable.append(RefusedDocument(folder.lstrip("/"), error.reason))
            return
        for entry in sorted(entries, key=lambda entry: entry.filename):
            name = entry.filename.decode() if isinstance(entry.filename, bytes) else entry.filename
            path, mode = f"{folder}/{name}", entry.attrs.permissions or 0
            if name.startswith("."):
                continue
            if stat.S_ISDIR(mode):
                async for below in self._below(path, listing):
                    yield below
            elif stat.S_ISREG(mode):
                yield path, entry.attrs

    async def _connect(self) -> None:
        import asyncssh  # noqa: PLC0415

        user, password = credentials(self.address.username or "")
        login_options = {"username": user} if user else {}
        login_options |= {"password": password} if password else {}
        host = self.address.hostname or ""
        try:
            self._connection = await asyncssh.connect(
                host, self.address.port or 22, connect_timeout=TIMEOUT, **login_options
            )
            self._files = await self._connection.start_sftp_client()
        except asyncssh.HostKeyNotVerifiable:
            raise InvalidInput(
                f"{host} is not known: add its key to ~/.ssh/known_hosts, as `ssh {host}` does"
            ) from None
        except asyncssh.PermissionDenied:
            raise InvalidInput(
                f"{host} refuses the user: set {PASSWORD}, or a key of ~/.ssh"
            ) from None
        except (asyncssh.Error, OSError) as error:
            raise Unavailable(f"{host} does not answer: {type(error).__name__}") from None

    async def read(self, item: SourceItem) -> SourceFile:
        """Return a file; see the port."""
        import asyncssh  # noqa: PLC0415

        path = f"{self.folder}/{item.key}"
        try:
            refuse_larger((await self._files.stat(path)).size or 0, item.name)
            async with self._files.open(path, "rb") as file:
                return SourceFile(await file.read(), item.key)
        except (asyncssh.SFTPConnectionLost, asyncssh.SFTPNoConnection, OSError) as error:
            raise Unavailable(f"{self.name} does not answer: {type(error).__name__}") from None
        except asyncssh.SFTPError as error:
            raise InvalidInput(f"cannot be read: {error.reason}") from None

    async def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            self._connection.close()
            async with asyncio.timeout(TIMEOUT):
                await self._connection.wait_closed()
