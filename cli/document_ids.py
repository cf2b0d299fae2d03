"""The ids of documents that a command names by their ids or their file names."""

from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING

from runtime.errors import InvalidInput

if TYPE_CHECKING:
    from lightstream_rag.client import AsyncLightstream


async def document_id(client: "AsyncLightstream", name: str) -> str:
    """Return the id of one document; see `document_ids`."""
    (id,) = await document_ids(client, [name])
    return id


async def document_ids(client: "AsyncLightstream", names: Sequence[str]) -> list[str]:
    """Return the ids of the documents, in their order. What no document is called stands for
    itself: it may be the id of one that is gone, or that is yet to come. Raises InvalidInput for
    the file name of several.
    """
    if not names:
        return []
    ids_by_path: dict[str, list[str]] = defaultdict(list)
    ids: set[str] = set()
    for document in await client.documents_named(names):
        ids_by_path[document.file_path].append(document.id)
        ids.add(document.id)
    return [name if name in ids else _only(name, ids_by_path.get(name, [name])) for name in names]


def _only(name: str, ids: Sequence[str]) -> str:
    if len(ids) > 1:
        raise InvalidInput(f"several documents are called {name!r}: name the id of one of {ids}")
    return ids[0]
