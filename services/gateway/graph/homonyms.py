"""Homonyms for people: one name that means two things is split by documents. A split is an edit in
the log.
"""

from collections.abc import Sequence

from contracts.graph import Partition
from contracts.ids import ids_of_name
from contracts.spelling import spellings
from services.gateway.graph.editing import EditResult, GraphEditor, entity_name
from services.query.errors import BadRequest
from services.query.retrieval.port import ProvenanceReader

MAX_CONTRIBUTIONS = 1_000_000
"""More than the documents of one split can say of a name."""


async def split(
    editor: GraphEditor,
    provenance: ProvenanceReader,
    name: str,
    target: str,
    documents: Sequence[str],
    evidence: str = "",
) -> EditResult[bool]:
    """Let the name mean the entity `target` in these documents, and wait until the graph shows it.

    `documents`: ids or file names. Raises NotFound for an entity that is not there; BadRequest for
    a target that is no name, or is the name itself, and for a document that says nothing of the
    entity.
    """
    name = (await editor.entity(name)).name
    target = entity_name(target)
    if target == name:
        raise BadRequest("what is split off needs a name of its own")
    partition = await editor.partition()
    ids = await _documents_that_say(provenance, partition, name, documents)
    before = await editor.revision(partition, target)
    sequence = await editor.publish(
        "split_entity", [name], target=target, documents=ids, evidence=evidence
    )

    async def look(partition: Partition) -> bool | None:
        return True if await editor.revision(partition, target) != before else None

    return EditResult(sequence, (name, target), await editor.wait_until_visible(look))


async def _documents_that_say(
    provenance: ProvenanceReader, partition: Partition, name: str, documents: Sequence[str]
) -> tuple[str, ...]:
    """Return the ids of these documents, all of which say something of the entity."""
    possible = {document: {*spellings(document), *ids_of_name(document)} for document in documents}
    among = set[str]().union(*possible.values())
    documents_with_name = {
        contribution.document_id
        for contribution in await provenance.of(
            partition, (name,), limit=MAX_CONTRIBUTIONS, among=among
        )
    }
    if silent := [document for document, ids in possible.items() if not documents_with_name & ids]:
        raise BadRequest(
            f"{silent[0]!r} says nothing of {name!r}; /graph/provenance lists what does"
        )
    return tuple(sorted(documents_with_name))
