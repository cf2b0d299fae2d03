"""Finds, names and reads the documents at the paths that a user gives."""

import os
import stat
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from contracts.ids import UNKNOWN_SOURCE, path_id
from runtime.errors import InvalidInput
from runtime.parsing.encodings import Hint
from runtime.parsing.files import MAX_FILE_BYTES, Parsed, parse, refuse_larger
from runtime.parsing.folders import why_no_document
from runtime.parsing.kinds import KINDS
from runtime.parsing.names import validated_text
from runtime.parsing.routing import OWN_PARSERS, ParsingServices
from runtime.parsing.scans import OnPage, ignore_page

STANDARD_INPUT = "-"


@dataclass(frozen=True)
class DocumentSource:
    """One document to be added. `path` is None for standard input."""

    path: Path | None
    name: str
    """Shown in answers: the path inside the given folder, or the file's base name."""
    id: str | None
    """None where it derives from the text, which then has no other name."""
    services: ParsingServices = field(default=OWN_PARSERS, compare=False)
    """Who reads the files that our own parsers do not."""

    @property
    def is_picture(self) -> bool:
        """Return whether all its text has to be recognized."""
        kind = KINDS.get(self.path.suffix.lower()) if self.path else None
        return kind is not None and kind.is_picture


@dataclass(frozen=True)
class RefusedDocument:
    """A document that was not added, and why."""

    name: str
    reason: str


@dataclass(frozen=True)
class LeftOutFile:
    """A file of a folder that is no document, and why. `name`: its path inside the folder."""

    name: str
    reason: str


@dataclass
class DocumentSelection:
    """The documents at some paths, and what was refused or skipped there."""

    sources: list[DocumentSource] = field(default_factory=list[DocumentSource])
    refused: list[RefusedDocument] = field(default_factory=list[RefusedDocument])
    skipped: list[LeftOutFile] = field(default_factory=list[LeftOutFile])
    """Files of a folder that are hidden or of a kind that is not read."""
    services: ParsingServices = OWN_PARSERS
    """Who reads the files that our own parsers do not."""


def find_documents(
    paths: Sequence[str],
    *,
    stdin_name: str = UNKNOWN_SOURCE,
    services: ParsingServices = OWN_PARSERS,
) -> DocumentSelection:
    """The documents at these paths, folders with everything below them, in an order that does not
    vary: pictures come last, since recognizing one takes as long as reading many texts.

    An id derives from the name, so of two files with the same name in two given folders the later
    one carries its folder's name before its own.
    """
    documents = DocumentSelection(services=services)
    seen_paths = set[Path]()
    ids = set[str]()
    for given_path in paths:
        if given_path == STANDARD_INPUT:
            documents.sources.append(
                DocumentSource(
                    None,
                    stdin_name,
                    None if stdin_name == UNKNOWN_SOURCE else path_id(stdin_name),
                    services,
                )
            )
            continue
        root = Path(given_path)
        if not root.exists():
            documents.refused.append(RefusedDocument(given_path, "no such file or folder"))
            continue
        folder = root.is_dir()
        paths_here = list(files_below(root, documents)) if folder else [root]
        if not paths_here:
            documents.refused.append(
                RefusedDocument(
                    given_path,
                    "holds no file that is read: documents and text, see `lightstream add --help`",
                )
            )
        for path in paths_here:
            if (real_path := path.resolve()) in seen_paths:
                continue
            seen_paths.add(real_path)
            name = path.relative_to(root).as_posix() if folder else path.name
            if path_id(name) in ids:
                name = f"{real_path.parent.name if not folder else root.resolve().name}/{name}"
            ids.add(path_id(name))
            documents.sources.append(DocumentSource(path, name, path_id(name), services))
    documents.sources.sort(key=lambda source: source.is_picture)
    return documents


def files_below(root: Path, documents: DocumentSelection) -> Iterator[Path]:
    """The files below the folder, sorted by path, without hidden ones; notes what is skipped and
    what is closed.
    """

    def closed(error: OSError) -> None:
        documents.refused.append(
            RefusedDocument(str(error.filename), f"cannot be read: {error.strerror}")
        )

    below: list[Path] = []
    for folder, folders, names in os.walk(root, onerror=closed):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in sorted(names):
            path = Path(folder, name)
            if reason := _why_skipped(path, documents.services):
                shown_name = path.relative_to(root).as_posix()
                documents.skipped.append(LeftOutFile(shown_name, reason))
            else:
                below.append(path)
    yield from sorted(below, key=lambda path: path.relative_to(root).as_posix())


def _why_skipped(path: Path, services: ParsingServices) -> str:
    """Return why a file of a folder is no document; empty for one that is."""
    if path.name.startswith("."):
        return "hidden"
    return why_no_document(path, services)


async def read_document(
    source: DocumentSource, encoding: str = "", on_page: OnPage = ignore_page
) -> Parsed:
    """The document's text, and what is known of a file; `encoding` is what text in it is in, empty
    to detect it; `on_page` is told of each page that had to be recognized.

    Raises InvalidInput with its name, the reason and the way out.
    """
    hint = Hint(requested_encoding=encoding)
    if source.path is None:
        data = sys.stdin.buffer.read(MAX_FILE_BYTES + 1)
        name = "" if source.name == UNKNOWN_SOURCE else source.name
        parsed_file = await parse(data, name, hint, source.services, on_page)
        return replace(parsed_file, metadata={})
    validated_text(source.name)
    try:
        file_stat = source.path.stat()
        if not stat.S_ISREG(file_stat.st_mode):
            raise InvalidInput(f"{source.name}: not a regular file: add files and folders")
        refuse_larger(file_stat.st_size, source.name)
        data = source.path.read_bytes()
        return await parse(data, source.name, hint, source.services, on_page)
    except OSError as error:
        raise InvalidInput(f"{source.name}: cannot be read: {error.strerror or error}") from None
