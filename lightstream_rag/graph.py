"""Methods that browse and edit the graph; edits take precedence over the contents of documents."""

from collections.abc import Sequence
from typing import Any, Literal

from pydantic import TypeAdapter

from lightstream_rag.flows import Call, Flow, get, json_body, parse_as, request
from lightstream_rag.models import Alias, AliasDecision, AliasProposal, Edit, Exists, Subgraph

_names = TypeAdapter(list[str]).validate_json
_aliases = TypeAdapter(list[Alias]).validate_json
_proposals = TypeAdapter(list[AliasProposal]).validate_json


def entity_names() -> Flow[list[str]]:
    """Return the names of all entities, sorted."""
    return get("/graph/label/list", _names)


def popular_entities(limit: int = 300) -> Flow[list[str]]:
    """Return the names of the entities with the most relations, at most 1,000."""
    return get("/graph/label/popular", _names, limit=limit)


def search_entities(text: str, limit: int = 50, *, as_of: str | None = None) -> Flow[list[str]]:
    """Return the names that contain a text, the most similar first, at most 100. `as_of`: a
    sequence of the log or a time, for the names as they were then.
    """
    then = {"as_of": as_of} if as_of else {}
    return get("/graph/label/search", _names, q=text, limit=limit, **then)


def entity_exists(name: str) -> Flow[bool]:
    """Return whether there is an entity of exactly that name."""
    answer = yield from get("/graph/entity/exists", parse_as(Exists), name=name)
    return answer.exists


def subgraph(
    label: str = "*", max_depth: int = 3, max_nodes: int = 1000, *, as_of: str | None = None
) -> Flow[Subgraph]:
    """Return the entities within so many steps of a name and the relations between them; `*` is the
    whole graph.

    `as_of`: a sequence of the log or a time, for the graph as it was then.
    """
    then = {"as_of": as_of} if as_of else {}
    return get(
        "/graphs", parse_as(Subgraph), label=label, max_depth=max_depth, max_nodes=max_nodes, **then
    )


def create_entity(name: str, description: str, *, type: str | None = None) -> Flow[Edit]:
    """Create an entity. Raises `InvalidRequest` when there is one of that name."""
    return _edit(
        "POST",
        "entity/create",
        entity_name=name,
        entity_data=json_body(description=description, entity_type=type),
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
    return _edit(
        "POST", "entities/merge", entities_to_change=list(names), entity_to_change_into=into_name
    )


def delete_entity(name: str) -> Flow[Edit]:
    """Hide an entity and its relations, until a later document mentions it."""
    return _edit("DELETE", "entity/delete", entity_name=name)


def create_relation(
    source: str,
    target: str,
    description: str,
    *,
    keywords: Sequence[str] = (),
    weight: float | None = None,
) -> Flow[Edit]:
    """Create a relation between two existing entities."""
    values = json_body(description=description, keywords=list(keywords), weight=weight)
    return _edit(
        "POST", "relation/create", source_entity=source, target_entity=target, relation_data=values
    )


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


def aliases(state: Literal["accepted", "rejected", "proposed"] | None = None) -> Flow[list[Alias]]:
    """Return what was decided last about each name and the entity it may mean."""
    return get("/graph/aliases", _aliases, **({"state": state} if state else {}))


def alias_proposals(limit: int = 50, *, rules: Sequence[str] = ()) -> Flow[list[AliasProposal]]:
    """Return undecided aliases that rules find or others proposed, the surest first; only of
    `rules` if given.
    """
    return get(
        "/graph/aliases/proposals",
        _proposals,
        limit=limit,
        **({"rule": list(rules)} if rules else {}),
    )


def accept_alias(
    names: Sequence[str], entity: str, *, proposed_by: str = "", evidence: str = ""
) -> Flow[AliasDecision]:
    """Let names mean this entity from now on: entities of these names become one with it, until it
    is undone.
    """
    return _decide("accept", names, entity, proposed_by=proposed_by, evidence=evidence)


def reject_alias(names: Sequence[str], entity: str, *, evidence: str = "") -> Flow[AliasDecision]:
    """Say that names do not mean this entity: an acceptance is taken back, and no rule proposes it
    again.
    """
    return _decide("reject", names, entity, evidence=evidence)


def propose_alias(
    names: Sequence[str], entity: str, *, proposed_by: str = "", evidence: str = ""
) -> Flow[AliasDecision]:
    """Propose that names mean this entity, for somebody to decide; `proposed_by`:
    `model:<name>`.
    """
    return _decide("propose", names, entity, proposed_by=proposed_by, evidence=evidence)


def undo_alias(names: Sequence[str], entity: str, *, evidence: str = "") -> Flow[AliasDecision]:
    """Take back what was decided about names and this entity, merges too: all is as if it had never
    been said.
    """
    return _decide("undo", names, entity, evidence=evidence)


def split_entity(
    name: str, new_name: str, documents: Sequence[str], *, evidence: str = ""
) -> Flow[AliasDecision]:
    """Let a name mean another entity in these documents (ids or file names) and their later
    versions.
    """
    body = json_body(
        entity_name=name, new_entity_name=new_name, documents=list(documents), evidence=evidence
    )
    return request(Call("POST", "/graph/entity/split", parse_as(AliasDecision), body))


def _decide(decision: str, names: Sequence[str], entity: str, **fields: str) -> Flow[AliasDecision]:
    body = json_body(decision=decision, names=list(names), entity=entity, **fields)
    return request(Call("POST", "/graph/aliases", parse_as(AliasDecision), body))


def _edit(method: str, path: str, **fields: Any) -> Flow[Edit]:
    """Return a request for an edit. It is not retried: after another user's edit a retry would undo
    that edit.
    """
    return request(Call(method, f"/graph/{path}", parse_as(Edit), json_body(**fields)))
