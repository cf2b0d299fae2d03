"""An example answer of each route, for the OpenAPI document and the page `/docs`."""

from typing import Any

from services.gateway.reference.access_examples import ACCESS_EXAMPLES
from services.gateway.reference.branch_examples import BRANCH_EXAMPLES
from services.gateway.reference.conversation_examples import CONVERSATION_EXAMPLES
from services.gateway.reference.golden_examples import GOLDEN_EXAMPLES
from services.gateway.reference.graph_examples import GRAPH_EXAMPLES
from services.gateway.reference.model_examples import MODEL_EXAMPLES
from services.gateway.reference.operation_examples import OPERATION_EXAMPLES
from services.gateway.reference.receipt_examples import RECEIPT_EXAMPLES
from services.gateway.reference.statement_examples import STATEMENT_EXAMPLES

_AT = 1795262838120000

_DOCUMENT: dict[str, Any] = {
    "id": "doc-f8e5fc3935ce926dc54e926fdc8cf0ec",
    "content_summary": "Port Elm has a lighthouse.",
    "content_length": 26,
    "status": "processed",
    "created_at": "2026-11-21T12:07:18.120000+00:00",
    "updated_at": "2026-11-21T12:07:19.480000+00:00",
    "track_id": "insert_20261121_120718_e19508f8",
    "chunks_count": 1,
    "error_msg": None,
    "metadata": {"added_sequence": _AT, "chunks": 1, "extracted": 1, "merged": 1, "indexed": 1},
    "file_path": "port.md",
    "warnings": ["1 picture was left out: only text is read"],
}
_COUNTS = {
    "pending": 0,
    "processing": 0,
    "processed": 1,
    "partial": 0,
    "failed": 0,
    "deleting": 0,
    "all": 1,
}
_ADDED = {
    "status": "success",
    "message": "1 accepted; processing goes on.",
    "track_id": "insert_20261121_120718_e19508f8",
    "documents": [
        {"id": _DOCUMENT["id"], "sequence": _AT, "track_id": "insert_20261121_120718_e19508f8"}
    ],
}
_COMMON = {
    "description": "Captain of the harbour.",
    "source_id": "doc-f8e5fc3935ce926dc54e926fdc8cf0ec-chunk-000",
    "file_path": "port.md",
    "created_at": 1795262838,
}
_NODE = {"entity_id": "Ada Marlow", "entity_type": "person", **_COMMON}
_EDGE = {"weight": 1.0, "keywords": "lead,work", **_COMMON, "description": "She leads its office."}
_ENTITY = {
    "entity_name": "Ada Marlow",
    "source_id": _COMMON["source_id"],
    "graph_data": _NODE,
    "sequence": _AT,
}
_ALIAS = {"name": "A. Marlow", "entity": "Ada Marlow", "proposed_by": "rule:surname"}
_RELATION = {
    "src_entity": "Ada Marlow",
    "tgt_entity": "Port Elm",
    "source_id": _COMMON["source_id"],
    "graph_data": _EDGE,
    "sequence": _AT,
}
_HIDDEN = {
    "status": "success",
    "doc_id": "",
    "message": "Removed.",
    "status_code": 200,
    "file_path": None,
}
_ABOUT = {
    "auth_mode": "enabled",
    "core_version": "0.1.0",
    "api_version": "0.1.0",
    "webui_title": None,
    "webui_description": None,
    "ai_content_notice_enabled": False,
}
_EVENT: dict[str, Any] = {
    "sequence": 4711,
    "id": "1c2b7d0e-6a53-5f0e-9a51-0f4b9a7f3c11",
    "time": "2026-11-21T12:07:18.120000Z",
    "type": "DocumentAdded",
    "document": _DOCUMENT["id"],
    "text": "port.md, 26 bytes",
    "trace_id": "0af7651916cd43dd8448eb211c80319c",
    "chunks": [],
    "actor": "user:ada",
}
_EVENTS: dict[str, Any] = {"events": [_EVENT], "after": 4711, "before": 4711, "remaining": 0}
_SCAN = "scan_20261121_120718_e19508f8"

EXAMPLES: dict[str, Any] = {
    "POST /query": {
        "response": "Ada Marlow leads the Harbour Office. [1]",
        "references": [{"reference_id": "1", "file_path": "port.md", "content": None}],
        "response_time": 0.114,
        "llm_generated": False,
    },
    **ACCESS_EXAMPLES,
    **MODEL_EXAMPLES,
    **RECEIPT_EXAMPLES,
    "POST /query/data": {
        "status": "success",
        "message": "Query executed successfully",
        "data": {"entities": [], "relationships": [], "chunks": [], "references": []},
        "metadata": {
            "query_mode": "mix",
            "keywords": {"high_level": [], "low_level": ["Ada Marlow"]},
        },
    },
    "POST /documents/upload": _ADDED,
    "POST /documents/text": _ADDED,
    "POST /documents/texts": _ADDED,
    "POST /documents/scan": {
        "status": "scanning_started",
        "message": "The folder is being read.",
        "track_id": _SCAN,
    },
    "GET /documents/scan/status/{track_id}": {
        "track_id": _SCAN,
        "status": "completed",
        "counts": {"found": 1, "processed": 1, "unchanged": 0, "error": 0, "warning": 0},
        "counters_dropped": 0,
        "samples": {"processed": {"items": ["port.md"], "truncated": False, "dropped": 0}},
        "created_at": 1795262838.0,
        "updated_at": 1795262839.5,
        "version": 3,
        "message": "the folder was read",
    },
    "GET /documents/supported_file_types": {
        "supported_extensions": [".md", ".txt", ".pdf"],
        "engines": {"text": [".md", ".txt"], "pdf": [".pdf"]},
    },
    "DELETE /documents/delete_document": {
        "status": "deletion_started",
        "message": "1 of 1 are being deleted.",
        "doc_id": _DOCUMENT["id"],
    },
    "DELETE /documents": {"status": "success", "message": "1 documents are being deleted."},
    "POST /documents/clear_cache": {
        "status": "success",
        "message": "Successfully cleared all cache",
    },
    "POST /documents/reprocess_failed": {
        "status": "reprocessing_started",
        "message": "1 documents are tried again.",
        "track_id": "",
    },
    "POST /documents/cancel_pipeline": {
        "status": "cancellation_requested",
        "message": "Work on 1 documents is stopped; what was done of them stays.",
        "doc_ids": [_DOCUMENT["id"]],
    },
    "POST /documents/recovery/force_reset": {
        "status": "no_recovery_required",
        "message": "Nothing needs a reset: whatever was interrupted is taken up again by itself.",
        "cancelled_manual_retries": 0,
    },
    "GET /documents/source_conflicts": {"conflicts": [], "next_cursor": None},
    "POST /documents/source_conflicts/repair": {
        "status": "success",
        "message": "Nothing is to be repaired.",
    },
    "GET /ui/customization/assets/{asset_hash}/{asset_id}": {
        "status": "success",
        "message": "There are none.",
    },
    "GET /documents/pipeline_status": {
        "busy": True,
        "job_name": "indexing",
        "docs": 1,
        "batchs": 1,
        "cur_batch": 0,
        "latest_message": "1 processing",
        "history_messages": ["1 processing"],
    },
    "GET /documents/by_id": _DOCUMENT,
    "GET /documents/track_status/{track_id}": {
        "track_id": _ADDED["track_id"],
        "documents": [_DOCUMENT],
        "total_count": 1,
        "status_summary": {"processed": 1},
    },
    "DELETE /documents/uploads": {"status": "success", "message": "1 of 1 are removed."},
    "GET /documents/uploads": {
        "uploads": [
            _DOCUMENT
            | {"status": "failed", "error_msg": "port.md: has no text in it", "metadata": {}}
        ]
    },
    "POST /documents/paginated": {
        "documents": [_DOCUMENT],
        "pagination": {
            "page": 1,
            "page_size": 50,
            "total_count": 1,
            "total_pages": 1,
            "has_next": False,
            "has_prev": False,
        },
        "status_counts": _COUNTS,
    },
    "GET /documents/status_counts": {"status_counts": _COUNTS},
    "GET /documents/{document_id}/events": _EVENTS,
    "GET /documents/{document_id}/chunks": {
        "document_id": _DOCUMENT["id"],
        "file_path": "port.md",
        "chunk_count": 1,
        "chunks": [
            {
                "id": _COMMON["source_id"],
                "order": 0,
                "content": "Port Elm has a lighthouse.",
                "start": 0,
                "end": 26,
                "page": None,
                "headings": [],
                "tokens": 7,
                "entities": [{"name": "Port Elm", "type": "location", "description": "A harbour."}],
                "relations": [],
            }
        ],
        "after": None,
    },
    "GET /events": _EVENTS,
    "GET /events/{sequence}": {
        "sequence": 4711,
        "summary": _EVENT,
        "event": {"specversion": "1.0", "data": {}},
    },
    "GET /graph/label/list": ["Ada Marlow", "Port Elm"],
    "GET /graph/label/popular": ["Port Elm", "Ada Marlow"],
    "GET /graph/label/search": ["Port Elm"],
    "GET /graphs": {
        "nodes": [{"id": "Ada Marlow", "labels": ["Ada Marlow"], "properties": _NODE}],
        "edges": [
            {
                "id": "Ada Marlow-Port Elm",
                "type": "DIRECTED",
                "source": "Ada Marlow",
                "target": "Port Elm",
                "properties": _EDGE,
            }
        ],
        "is_truncated": False,
    },
    "GET /graph/entity/exists": {"exists": True},
    "POST /graph/entity/create": {"status": "success", "message": "Created.", "data": _ENTITY},
    "POST /graph/entity/edit": {
        "status": "success",
        "message": "Entity updated successfully",
        "data": _ENTITY,
        "operation_summary": {
            "merged": False,
            "merge_status": "not_attempted",
            "merge_error": None,
            "operation_status": "success",
            "target_entity": "Ada Marlow",
            "final_entity": "Ada Marlow",
            "renamed": False,
        },
    },
    "POST /graph/entities/merge": {"status": "success", "message": "Merged.", "data": _ENTITY},
    "DELETE /graph/entity/delete": _HIDDEN,
    "POST /graph/relation/create": {"status": "success", "message": "Created.", "data": _RELATION},
    "POST /graph/relation/edit": {"status": "success", "message": "Updated.", "data": _RELATION},
    "DELETE /graph/relation/delete": _HIDDEN,
    "GET /graph/aliases": [
        {"at": 1795262838120000, "state": "accepted", "editor": "ada", **_ALIAS}
    ],
    "GET /graph/aliases/proposals": [{"evidence": "", "support": 3, **_ALIAS}],
    "POST /graph/entity/split": {
        "status": "success",
        "message": "'Mercury' means …",
        "sequence": 1795262838120000,
    },
    "POST /graph/aliases": {
        "status": "success",
        "message": "accept: 'A. Marlow' …",
        "sequence": 1795262838120000,
    },
    "GET /operations/diff": {
        "from_sequence": 1,
        "to_sequence": 61,
        "counts": {"entities": {"appeared": 1, "changed": 0, "gone": 0}},
        "documents": [],
        "entities": [
            {"name": "Ada Marlow", "change": "appeared", "fields": {"type": {"after": "person"}}}
        ],
        "relations": [],
        "is_truncated": False,
    },
    "POST /operations/undo": {
        "sequence": 17,
        "type": "GraphEdited",
        "description": "undo: delete entity 'Ada Marlow'",
        "published": True,
        "position": 1795262838120000,
        "event_type": "GraphEdited",
        "event": {"operation": "undo_edit", "names": ["Ada Marlow"], "undoes": 17},
    },
    "POST /operations/undo_events": {
        "published": True,
        "undone": [
            {
                "sequence": 17,
                "type": "GraphEdited",
                "description": "undo: delete entity 'Ada Marlow'",
                "published": True,
                "position": 1767225600000000,
                "event_type": "GraphEdited",
                "event": {"operation": "undo_edit", "names": ["Ada Marlow"], "undoes": 17},
            }
        ],
        "left": [
            {
                "sequence": 18,
                "type": "GraphEdited",
                "reason": "sequence 18 (delete entity 'Ada') is undone already, by 19",
            }
        ],
    },
    "POST /operations/undo_since": {
        "since": 16,
        "published": True,
        "undone": [
            {
                "sequence": 17,
                "type": "GraphEdited",
                "description": "undo: delete entity 'Ada Marlow'",
                "published": True,
                "position": 1795262838120000,
                "event_type": "GraphEdited",
                "event": {"operation": "undo_edit", "names": ["Ada Marlow"], "undoes": 17},
            }
        ],
        "left": [
            {
                "sequence": 19,
                "type": "DocumentAdded",
                "reason": "document 'doc-f8e5' (a.txt) is new since then: to take it back, "
                "delete it",
            }
        ],
    },
    "GET /health": {
        "status": "healthy",
        "auth_mode": "disabled",
        "core_version": "0.1.0",
        "api_version": "0.1.0",
        "pipeline_busy": False,
        "workspace": "default",
        "configuration": {"llm_model": None, "max_graph_nodes": 1000},
    },
    "GET /ui/customization": {
        "customized": False,
        "brand": {"title": "Lightstream", "description": ""},
    },
    "GET /auth-status": {"auth_configured": True, **_ABOUT},
    "POST /login": {"access_token": "eyJhbGciOi…", "token_type": "bearer", **_ABOUT},
    "GET /auth/principal": {
        "name": "user:ada",
        "right": "write",
        "sees_all_documents": True,
        "workspaces": ["*"],
        "default_workspace": "default",
    },
    "GET /auth/verify": {"status": "ok"},
    **GRAPH_EXAMPLES,
    **STATEMENT_EXAMPLES,
    **BRANCH_EXAMPLES,
    **GOLDEN_EXAMPLES,
    **CONVERSATION_EXAMPLES,
    **OPERATION_EXAMPLES,
}
"""Example answers by method and path. FastAPI drops null fields from examples that a model declares
itself.
"""


def with_examples(document: dict[str, Any]) -> dict[str, Any]:
    """Return the OpenAPI document with the example answers added."""
    for route, answer in EXAMPLES.items():
        method, path = route.split(" ")
        operation = document["paths"].get(path, {}).get(method.lower())
        if operation:
            code = "200" if "200" in operation["responses"] else "202"
            operation["responses"][code]["content"]["application/json"]["example"] = answer
    return document
