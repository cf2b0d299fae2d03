"""Documents: adding, listing, watching, waiting, deleting."""

import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from os import PathLike, fspath
from pathlib import Path
from typing import BinaryIO, Literal, TypedDict, Unpack
from urllib.parse import quote
from uuid import uuid4

from lightstream.errors import Misconfigured, StillProcessing
from lightstream.flows import Call, Flow, Pause, Upload, get, json_body, parse_as, request
from lightstream.models import Added, AddedDocument, Deletion, Document, DocumentPage, StatusCounts, Track

PAGE_SIZE = 200
"""Documents of a page when all are listed: as many as the server gives."""

FIRST_PAUSE, LONGEST_PAUSE = 0.2, 5.0
"""Seconds between two polls for documents that are waited for; each pause is half as long again as the one before."""

Progress = Callable[[Sequence[Document]], None]
"""Called with the documents that are waited for, as they are at each poll."""


class Chunking(TypedDict, total=False):
    """How texts are cut: `strategy` is `fixed_token` or `recursive_character`."""

    strategy: Literal["fixed_token", "recursive_character"]
    params: dict[str, str | int | bool]


class ListOptions(TypedDict, total=False):
    """Which documents of the list, and in which order."""

    status_filters: Sequence[str]
    sort_field: Literal["updated_at", "created_at", "id", "file_path"]
    sort_direction: Literal["asc", "desc"]


def add_texts(
    texts: Sequence[str], names: Sequence[str] = (), *, chunking: Chunking | None = None, idempotency_key: str = ""
) -> Flow[Added]:
    """Add texts, each under its name, which answers cite; the same name with another text is a new version.

    The answer comes once the log has them durably. The client makes a key of its own for the request, so that trying
    again adds nothing twice; give one to make several calls the same.
    """
    given = json_body(texts=list(texts), file_sources=list(names), chunking=chunking)
    return request(
        Call(
            "POST",
            "/documents/texts",
            parse_as(Added),
            given,
            headers=_idempotency_header(idempotency_key),
            idempotent=True,
        )
    )


def add_text(text: str, name: str = "", *, chunking: Chunking | None = None, idempotency_key: str = "") -> Flow[Added]:
    """Add one text: see `add_texts`. Without a name the text itself makes the id."""
    given = json_body(text=text, file_source=name, chunking=chunking)
    return request(
        Call(
            "POST",
            "/documents/text",
            parse_as(Added),
            given,
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
    idempotency_key: str = "",
) -> Flow[Added]:
    """Add a file under its base name, or the one that is given. It is sent in pieces, never held in memory.

    `file` is a path, or something open for bytes that can be rewound. Another text under a name that is there needs
    `replace`. `encoding` is what a file that is text is in; without it, the server detects it. Raises OSError for a
    file that cannot be read.
    """
    call = Call(
        "POST",
        "/documents/upload",
        parse_as(Added),
        params={"replace": replace},
        headers=_idempotency_header(idempotency_key),
        form={"encoding": encoding} if encoding else {},
        upload=_upload(file, name),
        idempotent=True,
    )
    return request(call)


def list_documents(page: int = 1, page_size: int = 50, **listing: Unpack[ListOptions]) -> Flow[DocumentPage]:
    """Return a page of the list of documents; `page_size` is 10 to 200."""
    given = json_body(page=page, page_size=page_size, **listing)
    return request(Call("POST", "/documents/paginated", parse_as(DocumentPage), given, idempotent=True))


def all_documents(*, status_filters: Sequence[str] = ()) -> Flow[list[Document]]:
    """Return the state of every document of the workspace, sorted by id."""
    found: dict[str, Document] = {}
    number, more = 1, True
    while more:
        # By id, so that a document that changes while we read is not missed between two pages.
        page = yield from list_documents(
            number, PAGE_SIZE, status_filters=status_filters, sort_field="id", sort_direction="asc"
        )
        found |= {document.id: document for document in page.documents}
        number, more = number + 1, page.pagination.has_next
    return [found[id] for id in sorted(found)]


def status_counts() -> Flow[dict[str, int]]:
    """Return the number of documents by status, and of `all`."""
    answer = yield from get("/documents/status_counts", parse_as(StatusCounts))
    return answer.status_counts


def track_status(track_id: str) -> Flow[Track]:
    """Return the documents of one request. An unknown id has none."""
    return get(f"/documents/track_status/{quote(track_id, safe='')}", parse_as(Track))


def delete_documents(ids: Sequence[str]) -> Flow[Deletion]:
    """Delete documents. The answer comes once the log has it; ids that nobody knows do no harm."""
    return request(Call("DELETE", "/documents/delete_document", parse_as(Deletion), json_body(doc_ids=list(ids))))


def wait(*added: Added, progress: Progress | None = None, timeout: float = 600.0) -> Flow[list[Document]]:
    """Wait until nothing more happens by itself to the documents that were added, and return how they are.

    Look at the `status` of each: `processed`, `partial` or `failed`. One that was deleted or replaced meanwhile is
    left out. `progress` gets all of them at each look. Raises `StillProcessing` after `timeout` seconds.
    """
    wanted = {document.id: document for one in added for document in one.documents}
    end, pause = time.monotonic() + timeout, FIRST_PAUSE
    seen: set[str] = set()
    while True:
        found = yield from _states(list(wanted.values()))
        gone = seen - found.keys()
        seen |= found.keys()
        if progress:
            progress([found[id] for id in wanted if id in found])
        through = gone | {id for id, document in found.items() if document.is_final}
        if len(through) == len(wanted):
            return [found[id] for id in wanted if id in found]
        if time.monotonic() >= end:
            left = len(wanted) - len(through)
            raise StillProcessing(f"{left} of {len(wanted)} documents are not through after {timeout:.0f} s")
        yield Pause(min(pause, max(0.0, end - time.monotonic())))
        pause = min(LONGEST_PAUSE, pause * 1.5)


def _states(wanted: Sequence[AddedDocument]) -> Flow[dict[str, Document]]:
    """Return those of the documents that show the text that was added, or a later one, by id."""
    found: list[Document] = []
    for track in {document.track_id for document in wanted}:
        # What came over the bus need not have a track.
        found += (yield from track_status(track)).documents if track else (yield from all_documents())
    sequences = {document.id: document.sequence for document in wanted}
    return {one.id: one for one in found if one.id in sequences and one.sequence >= sequences[one.id]}


def _idempotency_header(given: str) -> dict[str, str]:
    return {"Idempotency-Key": given or uuid4().hex}


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
