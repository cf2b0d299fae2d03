"""The statements that read excerpts of entities and relations: revision and the beginning of the
description.

`substring` counts UTF-16 units, of which a character may have two, so twice as many are asked for.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from contracts.graph import Entity, Relation
from contracts.ids import pair
from runtime.stores.graph.neo4j.transactions import Transactions

ENTITIES = """
UNWIND $names AS name
MATCH (n:Ent {workspace: $workspace, generation: $generation, name: name})
WHERE NOT n.gone
RETURN collect([name, n.revision, n.support, substring(n.description, 0, $longest)]) AS found
"""

# A relation names its own ends, so that only the end with fewer relations is looked up, once for
# all its pairs.
RELATIONS = """
UNWIND $groups AS near
MATCH (n:Ent {workspace: $workspace, generation: $generation, name: near[0]})-[r:REL]-()
WHERE [r.source, r.target] IN near[1] AND NOT r.gone
RETURN collect([r.source, r.target, r.revision, r.keywords, substring(r.description, 0, $longest)]) AS found
"""


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

    async def relations(self, pairs: Mapping[str, Sequence[tuple[str, str]]]) -> list[Relation]:
        """Return the relations that exist among sorted pairs, given by that end which has fewer
        relations.
        """
        groups = [
            [near, [list(ends) for ends in pairs_of_name]] for near, pairs_of_name in pairs.items()
        ]
        records = await self._found(RELATIONS, **self._parameters, groups=groups)
        return [
            Relation(
                *pair(source, target),
                revision,
                keywords=tuple(keywords),
                description=text[: self._longest],
            )
            for source, target, revision, keywords, text in records
        ]
