"""A folder as a source: files with time and size as their version."""

import asyncio
from pathlib import Path

from operations.documents import DocumentSelection, files_below
from operations.sources.port import Listing, SourceFile, SourceItem
from runtime.errors import InvalidInput
from runtime.parsing.files import refuse_larger
from runtime.parsing.routing import OWN_PARSERS, ParsingServices


class FolderSource:
    """All files below a folder that are documents, without hidden ones."""

    lists_all = True

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
            status = path.stat()
            version = f"{status.st_mtime_ns}-{status.st_size}"
            name = f"{self.folder.name}/{key}"
            listing.items.append(SourceItem(key, name, version, path.as_uri()))
        return listing

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
