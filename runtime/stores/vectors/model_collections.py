"""The collections of one embedding model on a server, as its list of names shows them: which
generation is ours, another model's, or of an older format.
"""

from collections.abc import Collection
from typing import Protocol

from contracts.graph import VECTOR_KINDS, EmbeddingModel, VectorKind
from contracts.ids import VECTOR_FORMAT
from runtime.stores.vectors import collection_names


class Catalog(Protocol):
    """What a server says of its collections, ours and others'. Raises Unavailable."""

    async def names(self) -> Collection[str]:
        """Return the names of all collections."""
        ...

    async def model_of_collection(self, name: str) -> str:
        """Return the model that a collection of ours was made with, as `model_text` returns it."""
        ...


class ModelCollections:
    """Names of one model's collections. The formats of generations are remembered as `note` found
    them.
    """

    def __init__(self, catalog: Catalog, model: str, dimension: int) -> None:
        self.model = model
        self.dimension = dimension
        self.model_text = collection_names.model_text(model, dimension)
        self._catalog = catalog
        self._model_key = collection_names.model_key(model, dimension)
        self._older_formats: dict[int, int] = {}

    def name(self, generation: int, kind: VectorKind) -> str:
        """Return the name of a collection, in the format that the generation has."""
        format = self._older_formats.get(generation, VECTOR_FORMAT)
        return collection_names.collection_name(
            generation, kind, self.model, self.dimension, format
        )

    def is_older(self, generation: int) -> bool:
        """Return whether the generation was found to be of an older format only."""
        return generation in self._older_formats

    def forget(self, generation: int) -> None:
        """Forget the format of a generation: it may have been dropped and made anew."""
        self._older_formats.pop(generation, None)

    async def look(self, generation: int, *, write: bool) -> Collection[str]:
        """Return the names on the server, with the format of the generation noted.

        Raises ModelChanged when only other models filled it, OutdatedVectors for a write where it
        is of an older format.
        """
        names = await self._catalog.names()
        other_name = collection_names.of_another_model(names, generation, self._model_key)
        if other_name:
            theirs = await self._catalog.model_of_collection(other_name)
            raise collection_names.model_changed(generation, theirs, self.model_text)
        self._note(generation, names)
        if write and self.is_older(generation):
            raise collection_names.outdated(generation)
        return names

    async def missing(self, generation: int) -> list[str]:
        """Return the names of the generation's collections that are not there."""
        names = await self._catalog.names()
        ours = [self.name(generation, kind) for kind in VECTOR_KINDS]
        return [name for name in ours if name not in names]

    async def outdated(self, generation: int) -> str | None:
        """Return why the generation can only be read, None where it can be written."""
        self._note(generation, await self._catalog.names())
        return str(collection_names.outdated(generation)) if self.is_older(generation) else None

    async def model_of(self, generation: int) -> EmbeddingModel | None:
        """Return the model whose collections the generation has, ours if it has them; None when it
        has none.
        """
        names = await self._catalog.names()
        other_name = collection_names.of_another_model(names, generation, self._model_key)
        if other_name:
            return EmbeddingModel.named(await self._catalog.model_of_collection(other_name))
        has_any = bool(collection_names.of_generation(names, generation))
        return EmbeddingModel(self.model, self.dimension) if has_any else None

    async def generations(self) -> set[int]:
        """Return every generation that has collections, of any model."""
        places = map(collection_names.parse_collection_name, await self._catalog.names())
        return {place.generation for place in places if place}

    def _note(self, generation: int, names: Collection[str]) -> None:
        self.forget(generation)
        format = collection_names.older_format(names, generation, self._model_key)
        if format is not None:
            self._older_formats[generation] = format
