"""The names that a question and its passages are searched for: all of the workspace, or, where
those are not in memory, the ones that the passages say which it reads.
"""

from collections.abc import Iterable
from itertools import chain

from contracts.graph import Partition
from services.query.retrieval.dependencies import RetrievalDependencies
from services.query.retrieval.name_index import NameIndex

NOT_ALL = (
    "Only names that the nearest passages say were looked for: those of the whole workspace are "
    "not in memory yet, or too many."
)
"""What is said of a walk that has not all names."""


class ReadNames:
    """The names for one question. All are not in memory while the first question of a process has
    them read, nor where they are too many.
    """

    def __init__(
        self, all_names: NameIndex, partition: Partition, deps: RetrievalDependencies
    ) -> None:
        self.has_all = len(all_names) > 0
        self.index = all_names if self.has_all else NameIndex()
        self._partition = partition
        self._deps = deps
        self._names: set[str] = set()
        self._chunk_ids: set[str] = set()
        self._aliases: dict[str, list[str]] | None = None

    @property
    def note(self) -> str:
        """Return `NOT_ALL` where the workspace has more names than were looked for, else
        nothing.
        """
        return NOT_ALL if len(self.index) and not self.has_all else ""

    async def read(self, chunk_ids: Iterable[str]) -> None:
        """Read the names that these chunks say, unless all are here. Raises `Unavailable`."""
        if self.has_all:
            return
        new_ids = [id for id in chunk_ids if id not in self._chunk_ids]
        self._chunk_ids.update(new_ids)
        by_chunk = await self._deps.provenance.of_chunks(self._partition, new_ids)
        contributions = list(chain.from_iterable(by_chunk.values()))
        types: dict[str, str] = {}
        # An entity may be there as the end of a relation alone, which has no type.
        for contribution in sorted(contributions, key=lambda contribution: len(contribution.names)):
            for name in contribution.names:
                types.setdefault(name, contribution.type)
        await self._add(types)

    async def _add(self, types: dict[str, str]) -> None:
        """Add names by their types, and what entities of other names are called now."""
        pairs: list[tuple[str, str]] = []
        if await self._deps.aliases.changes(self._partition):
            aliases = await self._other_names()
            pairs = [(name, target) for name in types for target in aliases.get(name, ())]
            for name, target in pairs:
                types.setdefault(target, types[name])
            types = await self._present(types)
        new_names = [pair for pair in types.items() if pair[0] not in self._names]
        self._names.update(name for name, _ in new_names)
        self.index.add(new_names)
        self.index.add_aliases(pairs)

    async def _present(self, types: dict[str, str]) -> dict[str, str]:
        """Return those names that edits left in the graph: what passages say may be renamed."""
        nodes = await self._deps.graph_reader.nodes(self._partition, list(types))
        return {name: type for name, type in types.items() if name in nodes}

    async def _other_names(self) -> dict[str, list[str]]:
        """Return by another name the entities that it means."""
        if self._aliases is None:
            self._aliases = {}
            for alias, name in await self._deps.aliases.of(self._partition):
                self._aliases.setdefault(alias, []).append(name)
        return self._aliases
