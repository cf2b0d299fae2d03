"""Example answers of the routes of receipts."""

from typing import Any

_DOCUMENT = "doc-f8e5fc3935ce926dc54e926fdc8cf0ec"

_RECEIPT: dict[str, Any] = {
    "id": "019ceb77-2a10-7c3e-9a41-6f0d5b7e2c18",
    "sequence": 4711,
    "asked_at": "2026-11-21T12:07:18Z",
    "asker": "user:ada",
    "form": "full",
    "mode": "auto",
    "question": "Who leads the Harbour Office?",
    "documents": 1,
    "passages": 1,
    "changed_passages": 0,
    "edited_items": 0,
    "by_model": True,
    "end": "whole",
}
_ANSWER_GIVEN: dict[str, Any] = {
    "receipt": _RECEIPT["id"],
    "form": "full",
    "asked_at": _RECEIPT["asked_at"],
    "duration_ms": 2190,
    "position": 412,
    "settings": {
        "mode": "auto",
        "chosen_mode": "walk",
        "top_k": 40,
        "chunk_top_k": 20,
        "max_entity_tokens": 6000,
        "max_relation_tokens": 8000,
        "max_total_tokens": 30000,
    },
    "question": {"sha256": "cd" * 32, "text": _RECEIPT["question"]},
    "evidence": {
        "documents": [_DOCUMENT],
        "passages": [
            {
                "chunk_id": f"{_DOCUMENT}-chunk-000",
                "document_id": _DOCUMENT,
                "sha256": "ef" * 32,
                "reference": "1",
            }
        ],
    },
    "by_model": True,
    "model": "gpt-4o-mini",
    "answer": {"sha256": "01" * 32, "text": "Ada Marlow leads it. [1]"},
}

RECEIPT_EXAMPLES: dict[str, Any] = {
    "GET /receipts": {"receipts": [_RECEIPT]},
    "GET /receipts/{id}": {
        "id": _RECEIPT["id"],
        "sequence": 4711,
        "recorded_at": "2026-11-21T12:07:21Z",
        "asker": "user:ada",
        "sha256": "ab" * 32,
        "event": _ANSWER_GIVEN,
    },
    "GET /receipts/{id}/verification": {
        "id": _RECEIPT["id"],
        "passages": 1,
        "erased_passages": 0,
        "problems": [],
    },
    "POST /receipts/{id}/replay": {
        "id": _RECEIPT["id"],
        "evidence": True,
        "prompt": True,
        "answer": True,
        "text": "Ada Marlow leads it. [1]",
        "missing": [],
        "new": [],
        "notes": [],
    },
}
