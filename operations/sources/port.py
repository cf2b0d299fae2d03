"""The port of sources: a place that lists its documents, each with a version, and reads them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from contracts.access import Access
from operations.documents import LeftOutFile, RefusedDocument
from runtime.errors import InvalidInput
from runtime.parsing.kinds import refuse_kind
from runtime.parsing.routing import OWN_PARSERS, ParsingServices


@dataclass(frozen=True)
class SourceItem:
    """A document as its source lists it."""

    key: str
    """Names it in its source for as long as it is there."""
    name: str
    """Shown in answers: a path below the source's own name."""
    version: str = ""
    """Another one whenever its bytes changed; empty where only the bytes tell."""
    url: str = ""
    """Where a person finds it; empty where there is no such place."""


@dataclass
class Listing:
    """What a source has now."""

    items: list[SourceItem] = field(default_factory=list[SourceItem])
    skipped_files: list[LeftOutFile] = field(default_factory=list[LeftOutFile])
    """What is no document, with the reason."""
    unreadable: list[RefusedDocument] = field(default_factory=list[RefusedDocument])
    """Parts that could not be listed: what is below them is not known to be gone."""
    cursor: str = ""
    """The state of the whole source, where it has a name such as a commit."""
    gone_keys: list[str] | None = None
    """Not None where `items` are only what changed since the cursor: what is gone since then."""
    note: str = ""
    """What somebody should know of how this came about."""


@dataclass(frozen=True)
class SourceFile:
    """The bytes of a document, and a file name whose suffix says what they are."""

    data: bytes = field(repr=False)
    name: str
    """A path in the source where that has folders: rules of who reads a file may name them."""
    encoding: str = ""
    """What text in it is in, as its source says; empty where that does not."""
    access: Access | None = None
    """Who may see it, where its source says so."""


class Source(Protocol):
    """A place whose documents are kept in step with the log."""

    @property
    def name(self) -> str:
        """Its address without secrets: events and the list of sources carry it."""
        ...

    @property
    def lists_all(self) -> bool:
        """Return False where a document that is not listed any more may still be there, as in a
        feed.
        """
        ...

    @property
    def versions_tell_content(self) -> bool:
        """Return True where two documents of one version have the same bytes: what is gone and is
        there under another name with its version has moved.
        """
        ...

    async def list_items(self, cursor: str) -> Listing | None:
        """Return what is there; None where nothing changed since `cursor`.

        Raises InvalidInput with the way out for a place that is not there or refuses, Unavailable
        for one that does not answer.
        """
        ...

    async def read(self, item: SourceItem) -> SourceFile:
        """Return a listed document. Raises InvalidInput for one that cannot be read, Unavailable
        for a source that does not answer.
        """
        ...

    async def close(self) -> None:
        """End connections and remove what was kept for reading."""
        ...


def why_skipped(path: str, services: ParsingServices = OWN_PARSERS) -> str:
    """Return why what has this path is no document by its name; empty where it may be one.

    `services`: who reads the files that our own parsers do not.
    """
    parts: Sequence[str] = path.split("/")
    if any(part.startswith(".") for part in parts):
        return "hidden"
    if services.reads(path):
        return ""
    suffix = parts[-1].rpartition(".")[2].lower() if "." in parts[-1] else ""
    try:
        refuse_kind(f".{suffix}")
    except InvalidInput as error:
        return str(error).partition("; ")[0]
    return ""
