"""Methods that browse and edit the graph; edits take precedence over the contents of documents."""

from collections.abc import Sequence
from typing import Any

from pydantic import TypeAdapter

from lightstream.flows import Call, Flow, get, json_body, parse_as, request
from lightstream.models import Edit, Exists, Subgraph

_names = TypeAdapter(list[str]).validate_json


def entity_names() -> Flow[list[str]]:
    """Return the names of all entities, sorted."""
    return get("/graph/label/list", _names)


def popular_entities(limit: int = 300) -> Flow[list[str]]:
    """Return the names of the entities with the most relations, at most 1,000."""
    return get("/graph/label/popular", _names, limit=limit)


def search_entities(text: str, limit: int = 50) -> Flow[list[str]]:
    """Return the names that contain a text, the most similar first, at most 100."""
    return get("/graph/label/search", _names, q=text, limit=limit)


def entity_exists(name: str) -> Flow[bool]:
    """Return whether there is an entity of exactly that name."""
    answer = yield from get("/graph/entity/exists", parse_as(Exists), name=name)
    return answer.exists


def subgraph(label: str = "*", max_depth: int = 3, max_nodes: int = 1000) -> Flow[Subgraph]:
    """Return the entities within so many steps of a name and the relations between them; `*` is the whole graph."""
    return get("/graphs", parse_as(Subgraph), label=label, max_depth=max_depth, max_nodes=max_nodes)


def create_entity(name: str, description: str, *, type: str | None = None) -> Flow[Edit]:
    """Create an entity. Raises `InvalidRequest` when there is one of that name."""
    return _edit(
        "POST", "entity/create", entity_name=name, entity_data=json_body(description=description, entity_type=type)
    )


def edit_entity(
    name: str,
    *,
    description: str | None = None,
    type: str | None = None,
    new_name: str | None = None,
    allow_merge: bool = False,
) -> Flow[Edit]:
    """Change an entity, or rename it; to the name of another one only with `allow_merge`."""
    return _edit(
        "POST",
        "entity/edit",
        entity_name=name,
        updated_data=json_body(description=description, entity_type=type, entity_name=new_name),
        allow_rename=new_name is not None,
        allow_merge=allow_merge,
    )


def merge_entities(names: Sequence[str], into_name: str) -> Flow[Edit]:
    """Merge several entities into one, which may be new."""
    return _edit("POST", "entities/merge", entities_to_change=list(names), entity_to_change_into=into_name)


def delete_entity(name: str) -> Flow[Edit]:
    """Hide an entity and its relations, until a later document mentions it."""
    return _edit("DELETE", "entity/delete", entity_name=name)


def create_relation(
    source: str, target: str, description: str, *, keywords: Sequence[str] = (), weight: float | None = None
) -> Flow[Edit]:
    """Create a relation between two existing entities."""
    values = json_body(description=description, keywords=list(keywords), weight=weight)
    return _edit("POST", "relation/create", source_entity=source, target_entity=target, relation_data=values)


def edit_relation(
    source: str,
    target: str,
    *,
    description: str | None = None,
    keywords: Sequence[str] | None = None,
    weight: float | None = None,
) -> Flow[Edit]:
    """Change a relation."""
    values = json_body(description=description, keywords=keywords, weight=weight)
    return _edit("POST", "relation/edit", source_id=source, target_id=target, updated_data=values)


def delete_relation(source: str, target: str) -> Flow[Edit]:
    """Hide a relation, until a later document mentions it."""
    return _edit("DELETE", "relation/delete", source_entity=source, target_entity=target)


def _edit(method: str, path: str, **fields: Any) -> Flow[Edit]:
    """Return a request for an edit. It is not retried: after another user's edit a retry would undo that edit."""
    return request(Call(method, f"/graph/{path}", parse_as(Edit), json_body(**fields)))
