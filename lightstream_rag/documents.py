"""Methods about documents: adding, listing, waiting for and deleting them."""

import time
from collections.abc import Callable, Collection, Generator, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from os import PathLike, fspath
from pathlib import Path
from typing import BinaryIO, Literal, TypedDict, Unpack
from urllib.parse import quote
from uuid import uuid4

from lightstream_rag.document_access import Access
from lightstream_rag.errors import Misconfigured, StillProcessing
from lightstream_rag.flows import Call, Flow, Pause, Upload, get, json_body, parse_as, request
from lightstream_rag.models import (
    Added,
    AddedDocument,
    Deletion,
    Document,
    DocumentPage,
    DocumentTagged,
    StatusCounts,
    Track,
)
from lightstream_rag.validity import Validity

PAGE_SIZE = 200
"""Documents per page when all are listed: the most that the server returns."""

FIRST_PAUSE = 0.2
LONGEST_PAUSE = 5.0
"""Seconds between two polls for documents that are waited for; each pause is half as long again as
the one before.
"""

Progress = Callable[[Sequence[Document]], None]
"""Called with the documents that are waited for, as they are at each poll."""


class Chunking(TypedDict, total=False):
    """How texts are cut into chunks: `strategy` is `fixed_token`, `recursive_character`, or a
    chunker of a package that is installed with the stack.
    """

    strategy: str
    params: dict[str, str | int | bool]


class ListOptions(TypedDict, total=False):
    """The filter and the order of a list of documents."""

    status_filters: Sequence[str]
    ids: Sequence[str]
    file_paths: Sequence[str]
    sort_field: Literal["updated_at", "created_at", "id", "file_path"]
    sort_direction: Literal["asc", "desc"]


def add_texts(
    texts: Sequence[str],
    names: Sequence[str] = (),
    *,
    chunking: Chunking | None = None,
    access: Access | None = None,
    validity: Validity | None = None,
    idempotency_key: str = "",
) -> Flow[Added]:
    """Add texts, each under its name, which answers cite; the same name with another text is a new
    version.

    The answer comes once the log has them durably. The client sends an Idempotency-Key with the
    request, so that a retry adds nothing twice; pass `idempotency_key` to make several calls count
    as one. `access` says who may see them; without it that stays as it was, at first everyone.
    """
    body = json_body(
        texts=list(texts),
        file_sources=list(names),
        chunking=chunking,
        access=access,
        validity=validity,
    )
    return request(
        Call(
            "POST",
            "/documents/texts",
            parse_as(Added),
            body,
            headers=_idempotency_header(idempotency_key),
            idempotent=True,
        )
    )


def add_text(
    text: str,
    name: str = "",
    *,
    chunking: Chunking | None = None,
    access: Access | None = None,
    validity: Validity | None = None,
    idempotency_key: str = "",
) -> Flow[Added]:
    """Add one text: see `add_texts`. Without a name the text itself makes the id."""
    body = json_body(
        text=text, file_source=name, chunking=chunking, access=access, validity=validity
    )
    return request(
        Call(
            "POST",
            "/documents/text",
            parse_as(Added),
            body,
            headers=_idempotency_header(idempotency_key),
            idempotent=True,
        )
    )


def upload(
    file: str | PathLike[str] | BinaryIO,
    name: str = "",
    *,
    replace: bool = False,
    encoding: str = "",
    access: Access | None = None,
    idempotency_key: str = "",
) -> Flow[Added]:
    """Add a file under its base name, or the one that is given. It is sent in pieces, never held in
    memory.

    `file` is a path, or something open for bytes that can be rewound. Another text under a name
    that is there needs `replace`. `encoding` is what a file that is text is in; without it, the
    server detects it. Raises OSError for a file that cannot be read.
    """
    call = Call(
        "POST",
        "/documents/upload",
        parse_as(Added),
        params={"replace": replace, **(access or {})},
        headers=_idempotency_header(idempotency_key),
        form={"encoding": encoding} if encoding else {},
        upload=_upload(file, name),
        idempotent=True,
    )
    return request(call)


def list_documents(
    page: int = 1, page_size: int = 50, **listing: Unpack[ListOptions]
) -> Flow[DocumentPage]:
    """Return a page of the list of documents; `page_size` is 10 to 200."""
    body = json_body(page=page, page_size=page_size, **listing)
    return request(
        Call("POST", "/documents/paginated", parse_as(DocumentPage), body, idempotent=True)
    )


def all_documents(*, status_filters: Sequence[str] = ()) -> Flow[list[Document]]:
    """Return the state of every document of the workspace, sorted by id."""
    # By id, so that a document that changes while we read is not missed between two pages.
    return _sorted((yield from _all_pages(status_filters=status_filters, sort_field="id")))


def documents_by_id(ids: Collection[str]) -> Flow[list[Document]]:
    """Return the states of those of these documents that are there, sorted by id."""
    documents: list[Document] = []
    for batch in _batched(ids):
        documents += yield from _all_pages(ids=batch, sort_field="id")
    return _sorted(documents)


def documents_named(names: Collection[str]) -> Flow[list[Document]]:
    """Return the states of the documents whose id or name is one of these, sorted by id. Several
    may have one name.
    """
    documents: list[Document] = yield from documents_by_id(names)
    for batch in _batched(names):
        documents += yield from _all_pages(file_paths=batch, sort_field="file_path")
    return _sorted(documents)


def _all_pages(**listing: Unpack[ListOptions]) -> Flow[list[Document]]:
    documents: list[Document] = []
    number = 1
    has_more = True
    while has_more:
        page = yield from list_documents(number, PAGE_SIZE, **listing)
        documents += page.documents
        number = number + 1
        has_more = page.pagination.has_next
    return documents


def _batched(names: Collection[str]) -> Iterator[list[str]]:
    """Yield each of the names once, as many together as a page has documents."""
    remaining = iter(dict.fromkeys(names))
    while batch := list(islice(remaining, PAGE_SIZE)):
        yield batch


def _sorted(documents: Sequence[Document]) -> list[Document]:
    documents_by_id = {document.id: document for document in documents}
    return [documents_by_id[id] for id in sorted(documents_by_id)]


def status_counts() -> Flow[dict[str, int]]:
    """Return the number of documents by status, and of `all`."""
    answer = yield from get("/documents/status_counts", parse_as(StatusCounts))
    return answer.status_counts


def track_status(track_id: str) -> Flow[Track]:
    """Return the documents of one request. An unknown id has none."""
    return get(f"/documents/track_status/{quote(track_id, safe='')}", parse_as(Track))


def delete_documents(ids: Sequence[str]) -> Flow[Deletion]:
    """Delete documents. The answer comes once the log has the deletions; unknown ids are
    ignored.
    """
    return request(
        Call(
            "DELETE", "/documents/delete_document", parse_as(Deletion), json_body(doc_ids=list(ids))
        )
    )


def wait(
    *added: Added, progress: Progress | None = None, timeout: float = 600.0
) -> Flow[list[Document]]:
    """Wait until the documents that were added have a final status, and return their states.

    The `status` of each is `processed`, `partial` or `failed`. A document that was deleted or
    replaced meanwhile is left out. `progress` is called with all of them at each poll. Raises
    `StillProcessing` after `timeout` seconds.
    """
    documents_by_id = {
        document.id: document for response in added for document in response.documents
    }
    readings = [response.track_id for response in added if response.is_being_read]
    end = time.monotonic() + timeout
    pause = FIRST_PAUSE
    seen_ids: set[str] = set()
    while True:
        for track in list(readings):
            if document := (yield from _document_read(track)):
                documents_by_id[document.id] = document
                readings.remove(track)
        states = yield from _states(list(documents_by_id.values()))
        gone_ids = seen_ids - states.keys()
        seen_ids |= states.keys()
        if progress:
            progress([states[id] for id in documents_by_id if id in states])
        finished_ids = gone_ids | {id for id, document in states.items() if document.is_final}
        if len(finished_ids) == len(documents_by_id) and not readings:
            return [states[id] for id in documents_by_id if id in states]
        if time.monotonic() >= end:
            document_count = len(documents_by_id) + len(readings)
            raise StillProcessing(
                f"{document_count - len(finished_ids)} of {document_count} documents are not "
                f"through after {timeout:.0f} s"
            )
        yield Pause(min(pause, max(0.0, end - time.monotonic())))
        pause = min(LONGEST_PAUSE, pause * 1.5)


def _document_read(track: str) -> Flow[AddedDocument | None]:
    """Return the document of an upload whose pages were recognized; None while they are."""
    documents = (yield from track_status(track)).documents
    document = next((document for document in documents if document.status != "parsing"), None)
    return document and AddedDocument(id=document.id, sequence=document.sequence, track_id=track)


def _states(documents_to_find: Sequence[AddedDocument]) -> Flow[dict[str, Document]]:
    """Return, by id, the documents whose state is that of the added text or of a later one."""
    documents: list[Document] = []
    ids_by_track: dict[str, list[str]] = {}
    for document in documents_to_find:
        ids_by_track.setdefault(document.track_id, []).append(document.id)
    for track, ids in ids_by_track.items():
        # A document that was published to the bus may have no track id.
        documents += (
            (yield from track_status(track)).documents
            if track
            else (yield from documents_by_id(ids))
        )
    sequences = {document.id: document.sequence for document in documents_to_find}
    return {
        document.id: document
        for document in documents
        if document.id in sequences and document.sequence >= sequences[document.id]
    }


def _idempotency_header(key: str) -> dict[str, str]:
    return {"Idempotency-Key": key or uuid4().hex}


def _upload(file: str | PathLike[str] | BinaryIO, name: str) -> Upload:
    if isinstance(file, str | PathLike):
        path = Path(fspath(file))
        return Upload(name or path.name, lambda: path.open("rb"))
    if not name:
        raise Misconfigured("an open file needs a name: upload(file, 'report.pdf')")
    return Upload(name, lambda: _from_beginning(file))


@contextmanager
def _from_beginning(file: BinaryIO) -> Generator[BinaryIO]:
    file.seek(0)
    yield file


def tag_document(id: str, tags: Sequence[str], *, reason: str = "") -> Flow[DocumentTagged]:
    """Give a document these tags in place of those it has. Raises NotFound."""
    path = f"/documents/{quote(id, safe='')}/tags"
    body = json_body(tags=list(tags), reason=reason)
    return request(Call("PUT", path, parse_as(DocumentTagged), body, idempotent=True))
