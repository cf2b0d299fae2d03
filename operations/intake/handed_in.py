"""What a message of the intake says: its headers and its subject, checked."""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from contracts import subjects
from contracts.ids import WORKSPACE_PATTERN, document_id
from operations.media_types import suffix_of
from runtime.errors import InvalidInput
from runtime.parsing.kinds import KINDS
from runtime.parsing.names import printable_name, validated_text
from runtime.parsing.routing import ParsingServices

METADATA = "metadata-"
"""What the headers begin with whose rest is the name of a field of metadata."""

OPERATIONS = ("add", "delete")


@dataclass(frozen=True)
class HandedIn:
    """A message of the intake as its headers describe it."""

    workspace: str
    document_id: str
    """Given, or derived from the file's name, or from the bytes."""
    file_name: str
    """Shown in answers; empty where none was given."""
    media_type: str
    is_deletion: bool
    object_store: str = ""
    """The bucket of an object store that holds the bytes instead of the message; empty: none."""
    object_name: str = ""
    metadata: Mapping[str, str] = field(default_factory=dict[str, str])

    def parsed_name(self, services: ParsingServices) -> str:
        """Return a file name whose suffix says how it is read, by our parsers or by `services`."""
        name = self.file_name or "file"
        is_known = PurePosixPath(name).suffix.lower() in KINDS or services.reads(name)
        return name if is_known else f"{name}{suffix_of(self.media_type)}"


def handed_in(subject: str, headers: Mapping[str, str], data: bytes) -> HandedIn:
    """Return what a message says. Raises InvalidInput with the header that is wrong.

    Names of headers are taken in any case, and with `_` as with `-`.
    """
    fields = _fields(headers)
    operation = fields.get("operation", "add").lower()
    if operation not in OPERATIONS:
        raise InvalidInput(f"operation {operation!r:.40}: it is one of {', '.join(OPERATIONS)}")
    file_name = fields.get("file-name", "")
    if file_name:
        validated_text(file_name)
    given_id = fields.get("document-id", "")
    if operation == "delete" and not (given_id or file_name):
        raise InvalidInput("operation delete needs a document-id, or the file-name it was added by")
    store, object_name = fields.get("object-store", ""), fields.get("object-name", "")
    if bool(store) != bool(object_name):
        raise InvalidInput("object-store and object-name go together")
    return HandedIn(
        workspace=_workspace(subject, fields.get("workspace", "")),
        document_id=given_id or _derived_id(file_name, data),
        file_name=file_name,
        media_type=fields.get("content-type", ""),
        is_deletion=operation == "delete",
        object_store=store,
        object_name=object_name,
        metadata={
            name.removeprefix(METADATA): value
            for name, value in fields.items()
            if name.startswith(METADATA)
        },
    )


def letter_subject(subject: str, headers: Mapping[str, str], data: bytes) -> str:
    """Return the subject under which a refused message is kept: that of its document's events,
    where it names one, so that an erasure of the document finds it.
    """
    fields = _fields(headers)
    id = fields.get("document-id") or _derived_id(fields.get("file-name", ""), data)
    token = subject.rpartition(".")[2]
    return subjects.subject_in(token, id, "DocumentAdded")


def _fields(headers: Mapping[str, str]) -> dict[str, str]:
    """Return the headers under our names. Tools that write values as JSON, as Debezium does, put
    quotation marks around texts.
    """
    return {name.lower().replace("_", "-"): _unquoted(value) for name, value in headers.items()}


def _unquoted(value: str) -> str:
    if not (len(value) > 1 and value[0] == value[-1] == '"'):
        return value
    try:
        text = json.loads(value)
    except ValueError:
        return value
    return text if isinstance(text, str) else value


def _derived_id(file_name: str, data: bytes) -> str:
    if file_name:
        return document_id("", file_name)
    return f"doc-{hashlib.sha256(data).hexdigest()[:32]}"


def _workspace(subject: str, name: str) -> str:
    """Return the workspace of a subject. One whose token is a hash is named by a header."""
    token = subject.removeprefix(f"{subjects.INTAKE}.")
    workspace = name or token
    if not re.match(WORKSPACE_PATTERN, workspace) or subjects.token(workspace) != token:
        raise InvalidInput(
            f"the workspace {printable_name(workspace)} is not that of the subject "
            f"{printable_name(subject)}: name it in the header workspace, and publish to "
            f"{subjects.INTAKE}.<its token>"
        )
    return workspace
