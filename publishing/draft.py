"""A document before it is in the log: what a client submits, and the draft that is made of it.

A draft is checked, encoded and hashed when it is made. The duplicate check, the store of long texts
and the log use what it holds.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from pydantic import ValidationError

from contracts.access import Access
from contracts.chunking import Chunking
from contracts.events import DocumentAdded
from contracts.ids import UNKNOWN_SOURCE, canonical_name, document_id
from contracts.spelling import name_spelling
from contracts.text import INLINE_LIMIT, MAX_TEXT_BYTES, encodable, is_blank, sanitize
from contracts.values import (
    KNOWLEDGE_LIMIT,
    MAX_FIGURES,
    BlobRef,
    CustomKnowledge,
    Figure,
    Scalar,
    Validity,
    document_warnings,
)
from runtime.bus.codec import explain
from runtime.bus.encoded_text import EncodedText
from runtime.errors import InvalidInput
from runtime.parsing.content import FigureFile
from runtime.parsing.names import validated_name

V = TypeVar("V")


@dataclass(frozen=True, kw_only=True)
class Submission:
    """A document as a client submits it: a text, or `knowledge` instead of one."""

    text: str = field(default="", repr=False)
    knowledge: CustomKnowledge | None = field(default=None, repr=False)
    file_path: str = UNKNOWN_SOURCE
    without_folders: bool = False
    """True leaves the folders of `file_path` out."""
    id: str | None = None
    """Without one the id derives from the file's name, else from the text."""
    track_id: str | None = None
    metadata: Mapping[str, Scalar] = field(default_factory=dict[str, Scalar])
    pages: Sequence[int] = ()
    """The places in the text at which its pages begin."""
    warnings: Sequence[str] = ()
    """What may be missing or wrong in the text."""
    validity: Validity | None = None
    chunking: Chunking | None = None
    default_chunking: Chunking | None = None
    """How the chunker cuts where `chunking` does not say, if known: then contradictions are
    rejected here.
    """
    replaces: bool = True
    """False rejects the document where another text has its id."""
    access: Access | None = None
    """Who may see the document; None: as was said of it before, at first everyone."""
    original: bytes = field(default=b"", repr=False)
    """The file that the text was read from, where it is to be kept."""
    figures: Sequence[FigureFile] = field(default=(), repr=False)
    """The pictures of the file; the text names the first one `[Figure 1]`."""


@dataclass(frozen=True, kw_only=True)
class DocumentDraft:
    """A document as the log may take it."""

    id: str
    """The id that was given or derived, before names get their one spelling."""
    file_path: str
    """The name that was given, before names get their one spelling."""
    content: EncodedText
    """The text, or the knowledge as JSON."""
    event: DocumentAdded
    """What is published. The event of a long text has a reference without a place."""
    replaces: bool
    """See `Submission`."""
    original: EncodedText | None = None
    """The file to be kept beside the log."""
    figures: Sequence[FigureFile] = field(default=(), repr=False)
    pictures: Sequence[EncodedText] = field(default=(), repr=False)
    """What is known of each figure, and its bytes to be kept beside the log."""

    @classmethod
    def of(cls, submission: Submission) -> "DocumentDraft":
        """Return the draft of a submission. Raises InvalidInput for what cannot be a document.

        It reads the whole text, at about 10 MB a second: an event loop leaves that to a thread.
        """
        _check_chunking(submission)
        text = _content(submission)
        content = _encoded(submission, text)
        figures = tuple(submission.figures[:MAX_FIGURES])
        given_path = encodable(submission.file_path)
        validated_name(name_spelling(given_path))
        if submission.without_folders:
            given_path = canonical_name(given_path) or UNKNOWN_SOURCE
        file_path = name_spelling(given_path) or UNKNOWN_SOURCE
        id = encodable(submission.id or "") or _derived_id(submission, text, file_path)
        return cls(
            id=id,
            file_path=given_path,
            content=content,
            event=_event(submission, id, file_path, text, content),
            replaces=submission.replaces,
            original=EncodedText.of_bytes(submission.original) if submission.original else None,
            figures=figures,
            pictures=[EncodedText.of_bytes(figure.data) for figure in figures],
        )

    @property
    def is_long(self) -> bool:
        """Return whether the text stands beside the log."""
        return self.event.blob is not None

    def event_of(
        self,
        id: str,
        blob: BlobRef | None,
        original: BlobRef | None = None,
        figures: Sequence[BlobRef] = (),
    ) -> DocumentAdded:
        """Return the event under the document's id in the log, with the references of a long text,
        of the original and of each figure.
        """
        figures_in_event = tuple(
            _figure(number, file, ref)
            for number, (file, ref) in enumerate(zip(self.figures, figures, strict=True), 1)
        )
        values = {
            "document_id": id,
            "blob": blob,
            "original": original,
            "figures": figures_in_event,
        }
        return self.event.model_copy(update=values)


def _figure(number: int, file: FigureFile, ref: BlobRef) -> Figure:
    properties = {name: getattr(file, name) for name in FigureFile._fields if name != "data"}
    return validated(lambda: Figure(number=number, sha256=ref.sha256, blob=ref, **properties))


def _check_chunking(submission: Submission) -> None:
    chunking = submission.chunking
    default = submission.default_chunking
    if chunking:
        validated(lambda: (chunking.over(default) if default else chunking).bounded())


def _content(submission: Submission) -> str:
    if submission.knowledge is None:
        return encodable(submission.text)
    if submission.text:
        raise InvalidInput("give a text or knowledge, not both")
    return submission.knowledge.model_dump_json()


def _encoded(submission: Submission, text: str) -> EncodedText:
    if submission.knowledge is None and is_blank(text):
        raise InvalidInput("the text is empty; give at least one printable character")
    content = EncodedText.of(text)
    size = len(content.data)
    if size > MAX_TEXT_BYTES:
        kind = "text" if submission.knowledge is None else "knowledge"
        raise InvalidInput(
            f"the {kind} has {size:,} bytes, at most {MAX_TEXT_BYTES:,} are taken: split the "
            "document"
        )
    return content


def _derived_id(submission: Submission, text: str, file_path: str) -> str:
    """Return the id that derives from the name, and only of a document without one from its text:
    sanitising takes the longest of all.
    """
    has_name = canonical_name(file_path) not in ("", UNKNOWN_SOURCE)
    return document_id(
        "" if has_name else text if submission.knowledge else sanitize(text), file_path
    )


def _event(
    submission: Submission, id: str, file_path: str, text: str, content: EncodedText
) -> DocumentAdded:
    knowledge = submission.knowledge
    is_long = knowledge.size > KNOWLEDGE_LIMIT if knowledge else len(content.data) > INLINE_LIMIT
    return validated(
        lambda: DocumentAdded(
            document_id=name_spelling(id),
            text=None if is_long or knowledge else text,
            blob=content.reference() if is_long else None,
            blob_kind="knowledge" if is_long and knowledge else "text",
            knowledge=None if is_long else knowledge,
            file_path=file_path,
            track_id=submission.track_id,
            metadata=dict(submission.metadata),
            chunking=submission.chunking,
            pages=_pages_in(text, submission),
            warnings=document_warnings(submission.warnings),
            access=submission.access,
            validity=submission.validity,
        )
    )


def _pages_in(text: str, submission: Submission) -> tuple[int, ...]:
    """Return where the pages begin in the text without lone surrogates."""
    if len(text) == len(submission.text):
        return tuple(submission.pages)
    return tuple(len(encodable(submission.text[:place])) for place in submission.pages)


def validated(make: Callable[[], V]) -> V:
    """Return the result of the constructor; raise InvalidInput with the reason when the contracts
    forbid it.
    """
    try:
        return make()
    except ValidationError as error:
        raise InvalidInput(explain(error)) from None
    except ValueError as error:
        raise InvalidInput(str(error)) from None
