"""Appends a document to the log over NATS, without the HTTP API."""

import asyncio
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import TypedDict, Unpack

from pydantic import BaseModel, ConfigDict

from contracts.access import Access
from contracts.chunking import Chunking
from contracts.ids import UNKNOWN_SOURCE
from contracts.values import Scalar
from lightstream_rag.connection import checked_workspace
from lightstream_rag.errors import InvalidRequest, Misconfigured, Unavailable
from runtime import errors

# The bus modules import NATS and telemetry; they are imported late, so that HTTP clients need not
# load them. ruff: noqa: PLC0415

SOURCE = "/lightstream/client"
"""The default `source` of published events."""


class DocumentOptions(TypedDict, total=False):
    """The optional fields of a document.

    `file_path` is cited by answers. `pages` are the places in the text at which its pages begin.
    `warnings` tell people what may be missing in the text. `access` says who may see it; without it
    that stays as it was, at first everyone. `source` says who publishes, as a URI
    reference, `actor` in whose name, as the log shows it: any text but a secret.
    """

    file_path: str
    track_id: str
    metadata: Mapping[str, Scalar]
    chunking: Chunking
    pages: Sequence[int]
    warnings: Sequence[str]
    access: Access
    source: str
    actor: str


class Published(BaseModel):
    """The position of a document in the log. `is_new` is False when the same text was there
    before.
    """

    model_config = ConfigDict(frozen=True)

    id: str
    sequence: int
    is_new: bool


async def publish_document(
    url: str,
    *,
    text: str,
    id: str | None = None,
    workspace: str = "default",
    **about: Unpack[DocumentOptions],
) -> Published:
    """Append a document to the log, and return once that has it durably; a long text is put beside
    the log.

    `url` is that of the NATS server, with user and password where it asks for them. The same `id`
    with another text is a new version. Without one the id derives from the name of `file_path`, or
    from the text. Raises `InvalidRequest` for what no document can be, `Misconfigured` when no
    server answers at `url`, `Unavailable` when the log does not take it. Calling again after an
    error adds nothing twice.
    """
    from publishing.documents import add_document  # noqa: PLC0415
    from publishing.draft import DocumentDraft, Submission  # noqa: PLC0415
    from runtime.bus.actor import acting_as, local_actor  # noqa: PLC0415
    from runtime.bus.nats.blobs import NatsBlobs  # noqa: PLC0415
    from runtime.bus.nats.connection import connected  # noqa: PLC0415
    from runtime.bus.nats.log import NatsLog  # noqa: PLC0415

    workspace_name = checked_workspace(workspace or "default")
    submission = Submission(
        text=text,
        id=id,
        file_path=about.get("file_path", UNKNOWN_SOURCE),
        track_id=about.get("track_id"),
        metadata=about.get("metadata") or {},
        chunking=about.get("chunking"),
        pages=about.get("pages", ()),
        warnings=about.get("warnings", ()),
        access=about.get("access"),
    )
    with _translating_errors(), acting_as(about.get("actor") or local_actor()):
        draft = await asyncio.to_thread(DocumentDraft.of, submission)
        async with connected(url, name="lightstream-client") as client:
            jetstream = client.jetstream()
            added_document = await add_document(
                NatsLog(jetstream),
                NatsBlobs(jetstream),
                draft,
                workspace=workspace_name,
                source=about.get("source", SOURCE),
            )
    return Published(
        id=added_document.document_id,
        sequence=added_document.sequence,
        is_new=added_document.is_new,
    )


@contextmanager
def _translating_errors() -> Generator[None]:
    try:
        yield
    except errors.ConfigurationError as error:
        raise Misconfigured(str(error)) from None
    except errors.Retryable as error:
        raise Unavailable(str(error), retry_after=error.retry_after) from None
    except (errors.InvalidInput, errors.Poison) as error:
        raise InvalidRequest(str(error)) from None
