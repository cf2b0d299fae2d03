"""Example answers of the routes about who may see a document."""

from typing import Any

_ACCESS: dict[str, Any] = {
    "document_id": "doc-f8e5fc3935ce926dc54e926fdc8cf0ec",
    "access": {"allow": ["group:council"], "deny": ["user:bo"]},
    "changed_at": "2026-11-21T12:07:18Z",
    "changed_by": "user:ada",
    "older_lists": [],
}

ACCESS_EXAMPLES: dict[str, Any] = {
    "GET /documents/access": _ACCESS,
    "PUT /documents/access": {"document_id": _ACCESS["document_id"], "is_new": True},
    "GET /documents/access/explain": {
        **_ACCESS,
        "principals": ["group:council", "user:ann"],
        "is_visible": True,
        "reason": "allowed to group:council",
    },
}
"""Route → an answer."""
