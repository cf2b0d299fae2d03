"""Requests and answers about the graph, in LightRAG's shapes."""

from typing import Annotated, Any, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, WithJsonSchema

from contracts.graph import Entity, Relation
from contracts.graph_edits import EditedValues
from contracts.ids import SEPARATOR
from contracts.text import encodable, one_line, sanitize
from runtime.bus.codec import explain
from services.gateway.graph.browsing import GraphPart
from services.gateway.graph.editing import EditResult, RenameOptions
from services.gateway.strict_model import StrictModel
from services.query.errors import BadRequest

M = TypeVar("M", bound=BaseModel)

Name = Annotated[str, AfterValidator(encodable), Field(min_length=1, max_length=512)]
Prose = Annotated[str, AfterValidator(sanitize)]


class _Values(StrictModel):
    """Values of an entity or a relation. `source_id` and `file_path` are not among them: they
    follow from documents.
    """

    model_config = ConfigDict(extra="forbid")

    description: Annotated[Prose, Field(max_length=50_000)] | None = None


class EntityValues(_Values):
    """Values of an entity."""

    entity_type: Annotated[Prose, Field(min_length=1, max_length=256)] | None = None
    entity_name: Name | None = None

    def values(self) -> EditedValues:
        """Return the values as the event has them."""
        return EditedValues(type=self.entity_type or None, description=self.description)


class RelationValues(_Values):
    """Values of a relation."""

    keywords: Annotated[Prose, Field(max_length=20_000)] | list[Prose] | None = None
    weight: float | None = Field(default=None, ge=0, le=1_000_000, allow_inf_nan=False)

    def values(self) -> EditedValues:
        """Return the values as the event has them. Keywords may be one text, separated by
        commas.
        """
        words = (
            self.keywords.replace("，", ",").split(",")
            if isinstance(self.keywords, str)
            else self.keywords or ()
        )
        keywords = tuple(sorted({word.strip() for word in words} - {""}))[:200]
        return EditedValues(
            description=self.description,
            weight=self.weight,
            keywords=None if self.keywords is None else keywords,
        )


def parse_values(model: type[M], data: dict[str, Any], *, ignored_names: tuple[str, ...] = ()) -> M:
    """Return the values of a request. Raises BadRequest for an unknown field or an invalid
    value.
    """
    try:
        return model.model_validate(
            {name: value for name, value in data.items() if name not in ignored_names}
        )
    except ValidationError as error:
        fields = ", ".join(model.model_fields)
        raise BadRequest(f"{encodable(explain(error))} (known: {fields})") from None


def _json_schema(model: type[BaseModel], *ignored_names: str) -> WithJsonSchema:
    """Return the schema of a field that `parse_values` validates later, so that an error is a 400
    as in LightRAG.
    """
    schema = model.model_json_schema()
    return WithJsonSchema(
        {**schema, "properties": {**schema["properties"], **{name: {} for name in ignored_names}}}
    )


IGNORED_FIELDS = ("source_id", "file_path")
"""Fields that LightRAG's clients send with a new entity or relation; here they follow from
documents.
"""

NewEntity = Annotated[dict[str, Any], _json_schema(EntityValues, *IGNORED_FIELDS, "entity_name")]
EntityChange = Annotated[dict[str, Any], _json_schema(EntityValues)]
NewRelation = Annotated[dict[str, Any], _json_schema(RelationValues, *IGNORED_FIELDS)]
RelationChange = Annotated[dict[str, Any], _json_schema(RelationValues)]


class EntityCreateRequest(StrictModel):
    """An entity to create. `source_id` and `file_path` are accepted as in LightRAG, and ignored."""

    entity_name: Name = Field(examples=["Ada Marlow"])
    entity_data: NewEntity = Field(
        examples=[{"description": "Captain of the harbour.", "entity_type": "person"}]
    )


class EntityUpdateRequest(StrictModel):
    """New values of an entity, or a new name."""

    entity_name: Name = Field(examples=["Port Elm"])
    updated_data: EntityChange = Field(
        examples=[{"entity_name": "Elmhaven", "description": "A port on the estuary."}]
    )
    allow_rename: bool = False
    allow_merge: bool = False

    def rename_options(self, values: EntityValues) -> RenameOptions:
        """Return the new name, and whether renaming and merging are allowed."""
        return RenameOptions(values.entity_name, self.allow_rename, self.allow_merge)


class EntitiesMergeRequest(StrictModel):
    """Entities to merge into one."""

    entities_to_change: list[Name] = Field(
        min_length=1, max_length=1000, examples=[["A. Marlow", "Captain Marlow"]]
    )
    entity_to_change_into: Name = Field(examples=["Ada Marlow"])


class EntityDeleteRequest(StrictModel):
    """An entity to hide."""

    entity_name: Name = Field(examples=["Ada Marlow"])


class RelationCreateRequest(StrictModel):
    """A relation to create between two existing entities."""

    source_entity: Name = Field(examples=["Ada Marlow"])
    target_entity: Name = Field(examples=["Port Elm"])
    relation_data: NewRelation = Field(
        examples=[{"description": "She leads its office.", "keywords": "work,lead"}]
    )


class RelationUpdateRequest(StrictModel):
    """New values of a relation."""

    source_id: Name = Field(examples=["Ada Marlow"])
    target_id: Name = Field(examples=["Port Elm"])
    updated_data: RelationChange = Field(
        examples=[{"description": "She led its office until 1931.", "weight": 2.0}]
    )


class RelationDeleteRequest(StrictModel):
    """A relation to hide."""

    source_entity: Name = Field(examples=["Ada Marlow"])
    target_entity: Name = Field(examples=["Port Elm"])


class Subgraph(BaseModel):
    """A part of the graph."""

    nodes: list[dict[str, Any]] = Field(description="id, labels, properties")
    edges: list[dict[str, Any]] = Field(description="id, type, source, target, properties")
    is_truncated: bool

    @classmethod
    def of(cls, part: GraphPart) -> "Subgraph":
        """Return a part of the graph in LightRAG's shape."""
        return cls(
            nodes=[
                {"id": e.name, "labels": [e.name], "properties": entity_properties(e)}
                for e in part.entities
            ],
            edges=[
                {
                    "id": f"{r.source}-{r.target}",
                    "type": "DIRECTED",
                    "source": r.source,
                    "target": r.target,
                    "properties": relation_properties(r),
                }
                for r in part.relations
            ],
            is_truncated=part.is_truncated,
        )


class Exists(BaseModel):
    """Whether an entity of that name exists."""

    exists: bool


class EditResponse(BaseModel):
    """The outcome of an edit that is in the log. `pending`: the graph does not show it yet."""

    status: Literal["success", "pending"]
    message: str
    data: dict[str, Any]


class EntityUpdateResponse(EditResponse):
    """The outcome of an edit of an entity. `operation_summary`: whether it was renamed or
    merged.
    """

    operation_summary: dict[str, Any]


class DeletionResponse(BaseModel):
    """The outcome of a deletion that is in the log. `pending`: the graph still shows what is
    deleted.
    """

    status: Literal["success", "pending"]
    doc_id: str = ""
    message: str
    status_code: int
    file_path: str | None = None


PENDING_MESSAGE = (
    "The log has it, as {}; the graph does not show it yet, because it works on something else."
)


def edit_response(
    edit_result: EditResult[Entity] | EditResult[Relation], message: str
) -> EditResponse:
    """Return the answer to an edit."""
    value = edit_result.result
    names = edit_result.key
    name_fields = (
        {"entity_name": names[0]}
        if len(names) == 1
        else {"src_entity": names[0], "tgt_entity": names[1]}
    )
    properties = (
        entity_properties(value)
        if isinstance(value, Entity)
        else relation_properties(value)
        if value
        else None
    )
    return EditResponse(
        status="success" if value else "pending",
        message=message if value else PENDING_MESSAGE.format(edit_result.sequence),
        data={
            **name_fields,
            "source_id": properties["source_id"] if properties else "",
            "graph_data": properties,
            "sequence": edit_result.sequence,
        },
    )


def operation_summary(edit_result: EditResult[Entity], before: str) -> dict[str, Any]:
    """Return what the edit did to the entity's name."""
    return {
        "merged": edit_result.was_merged,
        "merge_status": "success" if edit_result.was_merged else "not_attempted",
        "merge_error": None,
        "operation_status": "success" if edit_result.result else "pending",
        "target_entity": before,
        "final_entity": edit_result.key[0],
        "renamed": edit_result.was_renamed,
    }


def deletion_response(edit_result: EditResult[bool], message: str) -> DeletionResponse:
    """Return the answer to a deletion."""
    if edit_result.result:
        return DeletionResponse(status="success", message=message, status_code=200)
    return DeletionResponse(
        status="pending", message=PENDING_MESSAGE.format(edit_result.sequence), status_code=202
    )


def entity_properties(entity: Entity) -> dict[str, Any]:
    """Return the properties of an entity in LightRAG's shape."""
    return {"entity_id": entity.name, "entity_type": entity.type, **_common(entity)}


def relation_properties(relation: Relation) -> dict[str, Any]:
    """Return the properties of a relation in LightRAG's shape."""
    return {"weight": relation.weight, "keywords": ",".join(relation.keywords), **_common(relation)}


def _common(value: Entity | Relation) -> dict[str, Any]:
    return {
        "description": value.description,
        "source_id": SEPARATOR.join(value.source_ids) or "manual_creation",
        "file_path": SEPARATOR.join(map(one_line, value.file_paths)) or "manual_creation",
        "created_at": value.created_at,
    }
