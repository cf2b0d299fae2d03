"""Examples of answers about what people state of documents: when they hold, and their tags."""

from typing import Any

_DOCUMENT_ID = "doc-f8e5fc3935ce926dc54e926fdc8cf0ec"
_VALIDITY_STATED: dict[str, Any] = {
    "document_id": _DOCUMENT_ID,
    "sequence": 4712,
    "unknown": [],
}

STATEMENT_EXAMPLES: dict[str, Any] = {
    "GET /documents/{document_id}/validity": {
        "document_id": _DOCUMENT_ID,
        "valid_from": "2026-05-01T00:00:00Z",
        "valid_until": None,
        "supersedes": ["doc-2caa8ecfb69040f09681fd2670e770b1"],
        "superseded_by": [],
        "authority": 0,
        "coexists_with": [],
        "is_stated": True,
    },
    "PUT /documents/{document_id}/validity": _VALIDITY_STATED,
    "DELETE /documents/{document_id}/validity": _VALIDITY_STATED,
    "PUT /documents/{document_id}/tags": {
        "document_id": _DOCUMENT_ID,
        "tags": ["minutes", "2026"],
        "sequence": 41,
    },
    "POST /documents/{document_id}/validity/decisions": _VALIDITY_STATED,
    "GET /documents/supersessions/proposals": {
        "proposals": [
            {
                "document_id": _DOCUMENT_ID,
                "file_path": "policy-v2.md",
                "supersedes": "doc-2caa8ecfb69040f09681fd2670e770b1",
                "superseded_file_path": "policy-v1.md",
                "rule": "version",
                "evidence": "the same name but for “v1” and “v2”",
            }
        ],
        "looked_at": 32,
        "documents": 32,
    },
}
