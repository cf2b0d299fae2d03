"""Example answers of the routes that tell where the graph comes from."""

from typing import Any

GRAPH_EXAMPLES: dict[str, Any] = {
    "GET /graph/entity/history": {
        "name": "Ada Marlow",
        "sequence": 61,
        "exists": True,
        "names": ["A. Marlow", "Ada Marlow"],
        "total": 1,
        "events": [
            {
                "sequence": 12,
                "at": 1795262838120000,
                "type": "EntitiesExtracted",
                "effect": "counts",
                "names": ["Ada Marlow"],
                "document_id": "doc-1",
                "file_path": "harbour.txt",
                "chunk_id": "doc-1-chunk-000",
                "order": 0,
                "entity_type": "person",
                "description": "Leads the Harbour Office.",
            }
        ],
    },
    "GET /graph/provenance": {
        "sources": [
            {
                "chunk_id": "doc-1-chunk-000",
                "document_id": "doc-1",
                "file_path": "harbour.txt",
                "order": 0,
                "start": 0,
                "end": 812,
                "page": None,
                "names": ["Ada Marlow"],
                "description": "Leads the Harbour Office.",
            }
        ],
        "after": None,
    },
}
