"""A folder as a source: files with time and size as their version."""

import asyncio
import errno
import stat
from pathlib import Path

from operations.documents import DocumentSelection, LeftOutFile, RefusedDocument, files_below
from operations.sources.port import Listing, SourceFile, SourceItem
from runtime.errors import InvalidInput
from runtime.parsing.files import refuse_larger
from runtime.parsing.routing import OWN_PARSERS, ParsingServices

_NOWHERE = (errno.ENOENT, errno.ELOOP)
"""What a path gives that leads to nothing, or round in a circle."""


class FolderSource:
    """All files below a folder that are documents, without hidden ones."""

    lists_all = True
    versions_tell_content = True

    def __init__(self, folder: Path, services: ParsingServices = OWN_PARSERS) -> None:
        self._services = services
        self.folder = folder.resolve()
        self.name = self.folder.as_uri()

    async def list_items(self, cursor: str) -> Listing | None:
        """Return the files; see the port."""
        return await asyncio.to_thread(self._list)

    def _list(self) -> Listing:
        if not self.folder.is_dir():
            raise InvalidInput(f"{self.folder} is no folder: is it mounted?")
        selection = DocumentSelection(services=self._services)
        listing = Listing(skipped_files=selection.skipped, unreadable=selection.refused)
        for path in files_below(self.folder, selection):
            key = path.relative_to(self.folder).as_posix()
            try:
                status = path.stat()
            except OSError as error:
                self._note_unread(listing, path, key, error)
                continue
            if not stat.S_ISREG(status.st_mode):
                listing.skipped_files.append(LeftOutFile(key, "not a regular file"))
                continue
            version = f"{status.st_mtime_ns}-{status.st_size}"
            name = f"{self.folder.name}/{key}"
            listing.items.append(SourceItem(key, name, version, path.as_uri()))
        return listing

    def _note_unread(self, listing: Listing, path: Path, key: str, error: OSError) -> None:
        """Note what cannot be looked at; what is gone since the folder was read is gone."""
        if error.errno not in _NOWHERE:
            listing.unreadable.append(RefusedDocument(key, f"cannot be read: {error.strerror}"))
        elif path.is_symlink():
            listing.skipped_files.append(LeftOutFile(key, "a link that leads nowhere"))

    async def read(self, item: SourceItem) -> SourceFile:
        """Return a file; see the port."""
        path = self.folder / item.key
        try:
            refuse_larger(path.stat().st_size, item.name)
            return SourceFile(await asyncio.to_thread(path.read_bytes), item.key)
        except OSError as error:
            raise InvalidInput(f"cannot be read: {error.strerror or error}") from None

    async def close(self) -> None:
        """Nothing is open."""
