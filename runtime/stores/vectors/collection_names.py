"""Names of collections: the generation, the kind of rows, the embedding model, and the format of
the ids in them.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from contracts.graph import EmbeddingModel, VectorKind
from contracts.ids import VECTOR_FORMAT, sha256
from runtime.errors import ModelChanged, OutdatedVectors

_COLLECTION = re.compile(
    r"ls_g([0-9]+)_(?:chunks|entities|relations)_([0-9a-f]{10}_[0-9]+)(?:_f([0-9]+))?"
)


@dataclass(frozen=True)
class CollectionName:
    """The parts of a collection's name; `model_key` stands for the model and its dimension."""

    generation: int
    model_key: str
    format: int = 1


def model_key(model: str, dimension: int) -> str:
    """Return the short name of a model and dimension inside a collection's name."""
    return f"{sha256(model)[:10]}_{dimension}"


def collection_name(
    generation: int, kind: VectorKind, model: str, dimension: int, format: int = VECTOR_FORMAT
) -> str:
    """Return the name of a collection: `ls_g1_chunks_0a1b2c3d4e_384_f2`; without the last part for
    format 1.
    """
    return f"ls_g{generation}_{kind}_{model_key(model, dimension)}{f'_f{format}' if format > 1 else ''}"  # noqa: E501


def parse_collection_name(name: str) -> CollectionName | None:
    """Return the parts of a collection's name, None for a name of another program."""
    match = _COLLECTION.fullmatch(name)
    return CollectionName(int(match[1]), match[2], int(match[3] or 1)) if match else None


def of_generation(names: Iterable[str], generation: int) -> list[str]:
    """Return the names that are collections of a generation, of any model."""
    return [
        name
        for name in names
        if (place := parse_collection_name(name)) and place.generation == generation
    ]


def older_format(names: Iterable[str], generation: int, model: str) -> int | None:
    """Return the format of the generation's collections of a model, by its key, where that is an
    older one; None otherwise.
    """
    formats = {
        place.format
        for place in map(parse_collection_name, names)
        if place and (place.generation, place.model_key) == (generation, model)
    }
    return max(formats) if formats and VECTOR_FORMAT not in formats else None


def of_another_model(names: Iterable[str], generation: int, model: str) -> str | None:
    """Return a collection of another model, where the generation has such and none of this one."""
    makers = {
        place.model_key: name
        for name in names
        if (place := parse_collection_name(name)) and place.generation == generation
    }
    return None if not makers or model in makers else min(makers.items())[1]


def model_text(model: str, dimension: int) -> str:
    """Return a model as messages and descriptions of collections name it."""
    return str(EmbeddingModel(model, dimension))


def model_changed(generation: int, before: str, now: str) -> ModelChanged:
    """The error of a call for a generation that another model filled; the models as `model_text`
    returns them.
    """
    return ModelChanged(
        f"the vectors of generation {generation} were made by {before}, "
        f"and this process embeds with {now}: run "
        "`lightstream rebuild vectors --embedding-model …` to make them anew, "
        "or go back to the former model"
    )


def outdated(generation: int) -> OutdatedVectors:
    """The error of a write to a generation whose ids are of an older format."""
    return OutdatedVectors(
        f"the vectors of generation {generation} were written by an older version, "
        "which named them otherwise: they can be searched, and nothing is added; "
        "run `lightstream rebuild vectors` to make them anew from the log"
    )
