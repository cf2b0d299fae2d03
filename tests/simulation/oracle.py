"""What must be true at the end of a run."""

from contracts import subjects
from contracts.events import DocumentAdded
from contracts.graph import PROJECTIONS, Generations, Partition
from contracts.ids import chunk_vector_id, entity_vector_id, relation_vector_id
from operations.digest import Digest, digest
from runtime.stores.documents.port import Table
from services.query.adapters.documents import RowDocuments
from tests.simulation.commands import MOST_PASSAGES
from tests.simulation.pipeline import Pipeline

Digests = dict[str, Digest]

SETTLED = ("processed", "partial", "failed", "deleted")


class Violation(AssertionError):
    """What was to be true at the end is not."""


async def digests(pipeline: Pipeline) -> Digests:
    """Return the digests of the live generations."""
    live = await pipeline.pointers.live()
    return {name: await digest(name, "w", live, pipeline.stores) for name in PROJECTIONS}


async def check(pipeline: Pipeline, expected_digests: Digests) -> None:
    """Compare a run with what the same commands lead to in peace. Raises Violation."""
    live = await pipeline.pointers.live()
    await _check_documents(pipeline, live)
    _check_payments(pipeline)
    result = await digests(pipeline)
    for projection, expected_digest in expected_digests.items():
        if result[projection] != expected_digest:
            raise Violation(
                f"{projection}: {result[projection].counts} instead of "
                f"{expected_digest.counts}, or other content"
            )
    await _check_orphans(pipeline, live)


async def statuses(pipeline: Pipeline, live: Generations) -> dict[str, str]:
    """Return the status of every document that was ever added."""
    names = [subjects.split(message.subject) for message in pipeline.log.messages]
    document_ids = {
        document for _, document, event_type in names if event_type == DocumentAdded.type_name()
    }
    rows = await RowDocuments(pipeline.stores.rows).get(Partition("w", live.status), document_ids)
    return {id: rows[id][0].status if id in rows else "unknown" for id in sorted(document_ids)}


async def _check_documents(pipeline: Pipeline, live: Generations) -> None:
    """Every document that was added is known and settled, and nothing was given up."""
    if pipeline.log.dead:
        raise Violation(f"dead letters: {[reason for _, reason in pipeline.log.dead.values()]}")
    if open_documents := {
        id: s for id, s in (await statuses(pipeline, live)).items() if s not in SETTLED
    }:
        raise Violation(f"not settled: {open_documents}")


def _check_payments(pipeline: Pipeline) -> None:
    """A call is paid for once, and again only where one was lost in a kill, a failure or a
    repeat.
    """
    for kind, payments, durable in (
        ("passage", pipeline.extractor.payments, "extractor"),
        ("figure", pipeline.describer.payments, "chunker-figures"),
        ("summary", pipeline.chat.payments, "merger-summaries"),
    ):
        trouble = pipeline.kills + pipeline.durables[durable].repeats + pipeline.chance.failed_calls
        if payments.needless > MOST_PASSAGES * trouble:
            raise Violation(f"{payments.needless} calls too many for a {kind}")


async def _check_orphans(pipeline: Pipeline, live: Generations) -> None:
    """What is in the graph, and every passage, has a vector, and no vector is of anything else."""
    rows = pipeline.stores.rows
    graph = pipeline.stores.graph
    vectors = pipeline.stores.vectors
    of_graph = Partition("w", live.graph)
    of_vectors = Partition("w", live.vectors)
    passages = [row for _, row in await rows.scan(Table("chunks", Partition("w", live.status)))]
    ids_of_kind = {
        "entities": {
            entity_vector_id(entity.name) for entity in await graph.scan_entities(of_graph)
        },
        "relations": {
            relation_vector_id(*relation.key) for relation in await graph.scan_relations(of_graph)
        },
        "chunks": {chunk_vector_id(row["document_id"], row["order"]) for row in passages},
    }
    for kind, ids in ids_of_kind.items():
        result = {row.id for row in await vectors.scan(of_vectors, kind)}
        if result != ids:
            raise Violation(
                f"{kind}: {len(result - ids)} vectors of nothing, {len(ids - result)} without "
                "a vector"
            )
