"""Derived names: the same cause gives the same id, so a replay or a retry finds its own traces.

Sources of the forms: `doc-` and `{document}-chunk-{order:03d}` are LightRAG's; event ids are UUID
version 5 (RFC 9562, section 5.5). Vector ids begin as LightRAG's do, but with a longer hash: nobody
outside of the vector store sees them. A change of one of them is a new `VECTOR_FORMAT`.
"""

import hashlib
import posixpath
import re
from functools import lru_cache
from uuid import UUID, uuid5

from contracts.spelling import former_spellings, name_spelling

EVENTS = UUID("6f1b7c1e-53a7-5e0b-9f5c-2d8a54b0c9d1")
"""Namespace of all derived event ids. Never change it: ids in old logs were made with it."""

VECTOR_FORMAT = 2
"""Of the ids of vectors. 1: entities and relations by MD5, the names of a relation joined without a
separator.
"""

UNKNOWN_SOURCE = "unknown_source"
"""`file_path` of a document whose publisher named none."""

WORKSPACE_PATTERN = r"^(?!x-)[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$(?!\n)"
"""What a tenant may be called. Subjects and store keys carry it; `x-` begins the encoded form in a
subject.
"""

BRANCH_MARK = ".."
"""Stands between a workspace and the name of a branch of it, in the name of the branch's own
workspace.
"""

BRANCH_PATTERN = r"^[a-z0-9][a-z0-9_-]{0,31}$(?!\n)"
"""What a branch may be called."""

SEPARATOR = "<SEP>"
"""Joins description fragments, sources and file paths inside stored strings."""


def branch_workspace(origin: str, name: str) -> str:
    """Return the workspace of a branch."""
    return f"{origin}{BRANCH_MARK}{name}"


def origin_of(workspace: str) -> str | None:
    """Return the workspace that this one is a branch of; None for one that is no branch."""
    origin, mark, name = workspace.rpartition(BRANCH_MARK)
    return origin if mark and re.match(BRANCH_PATTERN, name) else None


def md5(text: str) -> str:
    """Return the lower-case hexadecimal MD5 of the UTF-8 text: for names, never for security."""
    return hashlib.md5(text.encode("utf-8", "replace"), usedforsecurity=False).hexdigest()


def sha256(text: str) -> str:
    """Return the lower-case hexadecimal SHA-256 of the UTF-8 text."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


_PREFIX_LENGTH = len("chunk-") + 40 + len("-")
_CHUNK_ID_LENGTH = _PREFIX_LENGTH + 10


def event_id(cause: str, event_type: str, ordinal: int = 0) -> str:
    """Return the id of the `ordinal`-th event of this type that `cause` results in."""
    return str(uuid5(EVENTS, f"{cause}/{event_type}/{ordinal}"))


def again(cause: str, retry: int) -> str:
    """Return what the ids of a cause's results are made of when it is handled again for the request
    at that sequence.

    0: it is handled as usual. The results of a retry are no repeats of those of before.
    """
    return f"{cause}/retry-{retry}" if retry else cause


_PARSER_HINT = re.compile(r"\.\[[^\[\]/]*\](?=\.[^./]+$)")


def canonical_name(file_path: str) -> str:
    """The file's base name without a parser hint: `a/report.[native].pdf` is `report.pdf`."""
    return _PARSER_HINT.sub("", posixpath.basename(file_path.replace("\\", "/").strip()))


def document_id(text: str, file_path: str = UNKNOWN_SOURCE) -> str:
    """`doc-` + md5 of the base name where there is one, in the one spelling of names, else of the
    text.
    """
    return _document_id(text, name_spelling(file_path))


def _document_id(text: str, file_path: str) -> str:
    name = canonical_name(file_path)
    return "doc-" + md5(name if name and name != UNKNOWN_SOURCE else text)


def path_id(path: str) -> str:
    """The id of a document below a folder: `doc-` + md5 of its whole path, for two folders may hold
    the same base name.

    For a name without folders it is the id that `document_id` derives from the base name.
    """
    return _path_id(name_spelling(path))


def _path_id(path: str) -> str:
    return "doc-" + md5(path if "/" in path else canonical_name(path) or path)


def ids_of_name(name: str) -> list[str]:
    """The ids that a document of this name may have, without repeats: that of the path, that of the
    base name.

    Behind them those under which it may have been added before names had one spelling.
    """
    spellings = (name_spelling(name), *former_spellings(name))
    return list(
        dict.fromkeys(
            id for spelling in spellings for id in (_path_id(spelling), _document_id("", spelling))
        )
    )


def former_ids(id: str, file_path: str = UNKNOWN_SOURCE) -> list[str]:
    """The ids, without repeats, that a document of this id and name may have had before names had
    one spelling.
    """
    if id == path_id(file_path):
        ids = map(_path_id, former_spellings(file_path))
    elif id == document_id("", file_path):
        ids = (_document_id("", spelling) for spelling in former_spellings(file_path))
    else:
        ids = iter(former_spellings(id))
    return list(dict.fromkeys(ids))


def chunk_id(document: str, order: int) -> str:
    """`{document}-chunk-{order}`, the zero-based order padded to three digits."""
    return f"{document}-chunk-{order:03d}"


def chunk_place(id: str) -> tuple[str, int] | None:
    """The document and the order that a chunk's id is made of, None for a text that is no chunk's
    id.
    """
    document, _, order = id.rpartition("-chunk-")
    return (document, int(order)) if document and order.isascii() and order.isdigit() else None


def pair(source: str, target: str) -> tuple[str, str]:
    """Return the key of a relation: its two names, sorted. Relations have no direction."""
    return (source, target) if source <= target else (target, source)


def chunk_vector_id(document_id: str, order: int) -> str:
    """Return the vector id of a chunk. Ids of one document follow each other in the order of its
    chunks.

    The document is named by a hash, for its id may hold any character.
    """
    return f"{chunk_vector_prefix(document_id)}{order:010d}"


@lru_cache(1 << 14)
def chunk_vector_prefix(document_id: str) -> str:
    """Return the prefix of the vector ids of a document's chunks."""
    return f"chunk-{sha256(document_id)[:40]}-"


def window_vector_id(chunk: str, number: int) -> str:
    """Return the vector id of a window of a chunk, numbered from 1; `chunk` is its vector id.

    It follows the chunk's id, before that of the next chunk.
    """
    return f"{chunk}-{number:02d}"


def is_window(id: str) -> bool:
    """Return whether a vector id of the kind `chunks` is that of a window of a chunk."""
    return len(id) > _CHUNK_ID_LENGTH


def document_prefix(id: str) -> str:
    """Return the prefix that the vector ids of a document's chunks and windows share, of one of
    them.
    """
    return id[:_PREFIX_LENGTH]


def entity_vector_id(name: str) -> str:
    """Return the vector id of an entity, from a hash of its name."""
    return "ent-" + sha256(name)[:40]


def relation_vector_id(source: str, target: str) -> str:
    """Return the vector id of a relation, the same in both directions.

    It is made of the hashes of both names, which have a fixed length: no other two names make the
    same text.
    """
    return "rel-" + sha256("-".join(map(sha256, pair(source, target))))[:40]
