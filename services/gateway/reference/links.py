"""OpenAPI links, which say how a field of one operation's answer is used in a request to another
operation.
"""

from typing import Any

from services.gateway.reference.responses import Responses


def _link(
    operation: str, parameters: dict[str, str] | None = None, body: Any = None
) -> dict[str, Any]:
    link: dict[str, Any] = {"operationId": operation}
    if parameters:
        link["parameters"] = parameters
    if body is not None:
        link["requestBody"] = body
    return link


def _links(**links: dict[str, Any]) -> Responses:
    return {200: {"links": links}}


_TRACK = _link("track_status", {"track_id": "$response.body#/track_id"})
_NAMED = "$response.body#/data/entity_name"
_ENDS = ("$response.body#/data/src_entity", "$response.body#/data/tgt_entity")

DOCUMENTS_ADDED = _links(track=_TRACK)
SCAN_STARTED = _links(
    track=_TRACK, scan=_link("scan_status", {"track_id": "$response.body#/track_id"})
)
TRACKED_DOCUMENTS = _links(
    delete=_link("delete_document", body={"doc_ids": ["$response.body#/documents/0/id"]}),
    ask=_link(
        "query",
        body={
            "query": "What does it say?",
            "filter": {"document_ids": ["$response.body#/documents/0/id"]},
        },
    ),
)
DOCUMENT_LIST = _links(
    delete=_link("delete_document", body={"doc_ids": ["$response.body#/documents/0/id"]})
)
ENTITY_NAMES = _links(
    around=_link("graphs", {"label": "$response.body#/0"}),
    edit=_link(
        "edit_entity",
        body={
            "entity_name": "$response.body#/0",
            "updated_data": {"description": "Said by a person."},
        },
    ),
    tie=_link(
        "create_relation",
        body={
            "source_entity": "$response.body#/0",
            "target_entity": "$response.body#/1",
            "relation_data": {},
        },
    ),
    merge=_link(
        "merge_entities",
        body={
            "entities_to_change": ["$response.body#/1"],
            "entity_to_change_into": "$response.body#/0",
        },
    ),
)
ENTITY = _links(
    exists=_link("entity_exists", {"name": _NAMED}),
    edit=_link(
        "edit_entity",
        body={"entity_name": _NAMED, "updated_data": {"description": "Said by a person."}},
    ),
    delete=_link("delete_entity", body={"entity_name": _NAMED}),
)
RELATION = _links(
    edit=_link(
        "edit_relation",
        body={"source_id": _ENDS[0], "target_id": _ENDS[1], "updated_data": {"weight": 2.0}},
    ),
    delete=_link("delete_relation", body={"source_entity": _ENDS[0], "target_entity": _ENDS[1]}),
)
