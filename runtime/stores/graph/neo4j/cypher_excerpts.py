"""The statements that read excerpts of entities and relations: revision and the beginning of the
description.

`substring` counts UTF-16 units, of which a character may have two, so twice as many are asked for.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from contracts.graph import Entity, Relation
from contracts.ids import pair
from runtime.stores.graph.neo4j.cypher import relations_between
from runtime.stores.graph.neo4j.mapping import pair_rows
from runtime.stores.graph.neo4j.transactions import Transactions
from runtime.stores.graph.write_batches import by_smaller_end

ENTITIES = """
UNWIND $names AS name
MATCH (n:Ent {workspace: $workspace, generation: $generation, name: name})
WHERE NOT n.gone
RETURN collect([name, n.revision, n.support, substring(n.description, 0, $longest)]) AS found
"""

RELATIONS = relations_between(
    "[r.source, r.target, r.revision, r.keywords, substring(r.description, 0, $longest)]"
)


class Reader:
    """Reads excerpts; of the descriptions the first `longest` characters."""

    def __init__(self, transactions: Transactions, partition: dict[str, Any], longest: int) -> None:
        self._found = transactions.found
        self._longest = longest
        self._parameters = {**partition, "longest": 2 * longest}

    async def entities(self, names: Sequence[str]) -> list[Entity]:
        """Return the entities that exist among `names`: name, revision, support and description."""
        records = await self._found(ENTITIES, **self._parameters, names=names)
        return [
            Entity(name, revision, support=support, description=text[: self._longest])
            for name, revision, support, text in records
        ]

    async def relations(
        self, pairs: Sequence[tuple[str, str]], sizes: Mapping[str, int]
    ) -> list[Relation]:
        """Return the relations that exist among sorted pairs; `sizes`: about how many relations
        their ends have.
        """
        records: list[Any] = []
        for statement, groups in zip(
            RELATIONS, by_smaller_end(pair_rows(pairs), sizes), strict=True
        ):
            if groups:
                records += await self._found(statement, **self._parameters, groups=groups)
        return [
            Relation(
                *pair(source, target),
                revision,
                keywords=tuple(keywords),
                description=text[: self._longest],
            )
            for source, target, revision, keywords, text in records
        ]
