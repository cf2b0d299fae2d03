"""A Git repository as a source: the files of the newest commit of a branch."""

import asyncio
import shutil
import stat
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult

from operations.documents import LeftOutFile
from operations.sources.port import Listing, SourceFile, SourceItem, why_skipped
from operations.sources.secrets import credentials
from runtime.errors import InvalidInput, Unavailable
from runtime.parsing.files import refuse_larger
from runtime.parsing.routing import OWN_PARSERS, ParsingServices

LARGE_FILE = b"version https://git-lfs.github.com/spec/"
"""What begins the stand-in of a file that Git LFS keeps elsewhere."""


class GitSource:
    """The files of a repository; the hash of a file is its version, the commit is the cursor.

    Each run with a new commit fetches that commit alone into a temporary folder.
    """

    lists_all = True
    versions_tell_content = True

    def __init__(self, address: SplitResult, services: ParsingServices = OWN_PARSERS) -> None:
        self._services = services
        self.branch = address.fragment
        place = f"{address.netloc}{address.path}"
        self.url = f"{address.scheme.removeprefix('git+')}://{place}"
        self.name = f"{address.scheme}://{place}" + (f"#{self.branch}" if self.branch else "")
        self.label = Path(address.path).name.removesuffix(".git") or address.netloc
        self._folder: Path | None = None
        self._repository: Any = None

    async def list_items(self, cursor: str) -> Listing | None:
        """Return the files of the newest commit; see the port."""
        return await asyncio.to_thread(self._list, cursor)

    def _list(self, cursor: str) -> Listing | None:
        commit = self._fetch(cursor)
        if commit is None:
            return None
        tree = self._repository[commit].tree
        listing = Listing(cursor=commit.decode("ascii"))
        for entry in self._repository.object_store.iter_tree_contents(tree):
            path = entry.path.decode("utf-8", "replace")
            is_regular = stat.S_ISREG(entry.mode)
            reason = why_skipped(path, self._services) if is_regular else "not a regular file"
            if reason:
                listing.skipped_files.append(LeftOutFile(path, reason))
                continue
            version = entry.sha.decode("ascii")
            listing.items.append(SourceItem(path, f"{self.label}/{path}", version))
        return listing

    def _fetch(self, cursor: str) -> bytes | None:
        """Fetch the newest commit and return its hash; None where it is the one of the cursor."""
        from dulwich import errors  # noqa: PLC0415
        from dulwich.client import get_transport_and_path  # noqa: PLC0415
        from dulwich.repo import Repo  # noqa: PLC0415

        user, password = credentials()
        try:
            client, path = get_transport_and_path(
                self.url, username=user or None, password=password or None
            )
            commit = self._newest(client.get_refs(path.encode()).refs)
            if commit.decode("ascii") == cursor:
                return None
            self._folder = Path(tempfile.mkdtemp(prefix="lightstream-git-"))
            self._repository = Repo.init_bare(str(self._folder))
            is_local = self.url.startswith("file:")
            client.fetch(
                path.encode(),
                self._repository,
                determine_wants=lambda refs, depth=None: [commit],
                depth=None if is_local else 1,
            )
        except (errors.NotGitRepository, ValueError, KeyError) as error:
            raise InvalidInput(f"{self.name} is no repository: {_said(error)}") from None
        except (errors.GitProtocolError, OSError) as error:
            raise Unavailable(f"{self.name} cannot be fetched: {_said(error)}") from None
        except Exception as error:
            if type(error).__module__.partition(".")[0] not in ("dulwich", "urllib3"):
                raise
            raise Unavailable(f"{self.name} cannot be fetched: {type(error).__name__}") from None
        return commit

    def _newest(self, refs: Mapping[Any, Any]) -> Any:
        name = f"refs/heads/{self.branch}".encode() if self.branch else b"HEAD"
        commit = refs.get(name)
        if not commit:
            branches = [
                ref.decode("utf-8", "replace").removeprefix("refs/heads/")
                for ref in refs
                if ref.startswith(b"refs/heads/")
            ]
            raise InvalidInput(
                f"{self.name} has no branch {self.branch or 'HEAD'}: add #BRANCH, one of "
                f"{', '.join(branches[:20]) or 'none'}"
            )
        return commit

    async def read(self, item: SourceItem) -> SourceFile:
        """Return a file; see the port."""
        blob = await asyncio.to_thread(lambda: self._repository[item.version.encode()].data)
        refuse_larger(len(blob), item.name)
        if blob.startswith(LARGE_FILE):
            raise InvalidInput("Git LFS keeps it elsewhere, and that is not read")
        return SourceFile(blob, item.key)

    async def close(self) -> None:
        """Remove what was fetched."""
        if self._repository is not None:
            self._repository.close()
        if self._folder is not None:
            await asyncio.to_thread(shutil.rmtree, self._folder, ignore_errors=True)


def _said(error: Exception) -> str:
    """Return the first line of what an error says, which holds no secret of ours. Of a host that
    was not reached the reason alone.
    """
    reason = getattr(error.__context__, "reason", None)
    if isinstance(reason, Exception):
        return f"its host does not answer ({type(reason).__name__})"
    return (str(error).splitlines() or [""])[0][:200] or type(error).__name__
