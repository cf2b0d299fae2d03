"""Example answers of the routes that tell where the graph comes from, and of exact search."""

from typing import Any

_PLACE: dict[str, Any] = {
    "chunk_id": "doc-1-chunk-000",
    "document_id": "doc-1",
    "file_path": "harbour.txt",
    "order": 0,
    "headings": ["Port Elm", "Offices"],
    "start": 0,
    "end": 812,
    "page": None,
}

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
    "GET /graph/contradictions": {
        "contradictions": [
            {
                "first": {
                    "document_id": "doc-1",
                    "file_path": "policy.md",
                    "chunk_id": "doc-1-chunk-000",
                    "statement": "The notice period of tenants is three months.",
                    "authority": 10,
                },
                "second": {
                    "document_id": "doc-2",
                    "file_path": "house-rules.md",
                    "chunk_id": "doc-2-chunk-000",
                    "statement": "The notice period of tenants is six weeks.",
                    "authority": 0,
                },
            }
        ],
        "looked_at": 2,
    },
    "GET /graph/paths": {
        "length": 1,
        "paths": [
            {
                "entities": [
                    {
                        "name": "Ada Marlow",
                        "type": "person",
                        "description": "Leads the Harbour Office.",
                    },
                    {"name": "Port Elm", "type": "place", "description": "A port."},
                ],
                "relations": [
                    {
                        "source": "Ada Marlow",
                        "target": "Port Elm",
                        "description": "She leads its office.",
                        "keywords": ["lead", "work"],
                        "weight": 1.0,
                        "chunk_ids": ["doc-1-chunk-000"],
                        "file_paths": ["harbour.txt"],
                    }
                ],
            }
        ],
        "is_truncated": False,
    },
    "GET /passages/search": {
        "passages": [
            {
                **_PLACE,
                "count": 2,
                "counts": {"Harbour Office": 2},
                "snippets": [
                    "Ada Marlow leads the Harbour Office since 1921. The Harbour Office …"
                ],
            }
        ],
        "total": 1,
        "next_offset": None,
        "passages_read": 24,
        "names": [{"name": "Harbour Office", "type": "organization"}],
        "total_names": 1,
        "is_truncated": False,
    },
    "GET /passages/around": {
        "document_id": "doc-1",
        "file_path": "harbour.txt",
        "chunk_count": 1,
        "passages": [{**_PLACE, "content": "Ada Marlow leads the Harbour Office since 1921."}],
    },
}
