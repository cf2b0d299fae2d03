"""An example answer of each route about golden questions and feedback."""

from typing import Any

_ID = "gq-1f2e3d4c5b6a"
_RUN: dict[str, Any] = {
    "id": "2b6b8a0e-5b4e-4a3c-8f0e-6a1d2c9e4f74",
    "at": "2026-11-26T08:12:40.100000Z",
    "actor": "user:ada",
    "position": 1795262838120000,
    "as_of": False,
    "before_promotion": False,
    "branch": "",
    "llm_generated": True,
    "reason": "",
    "total": 2,
    "passed": 1,
    "share": 0.5,
    "failed": [{"id": _ID, "passed": False, "why": ["missing fact: Ada Marlow"]}],
}

GOLDEN_EXAMPLES: dict[str, Any] = {
    "GET /golden-questions": [
        {
            "id": _ID,
            "question": "Who leads the Harbour Office?",
            "mode": None,
            "facts": ["Ada Marlow"],
            "documents": ["port.md"],
            "unanswerable": False,
            "note": "asked every week",
            "feedback": "",
            "set_at": "2026-11-26T08:10:00.000000Z",
            "set_by": "user:ada",
            "latest": {
                "at": "2026-11-26T08:12:40.100000Z",
                "passed": False,
                "why": ["missing fact: Ada Marlow"],
            },
        }
    ],
    "POST /golden-questions": {"ids": [_ID], "unchanged": []},
    "DELETE /golden-questions/{id}": {"id": _ID},
    "GET /golden-runs": [_RUN],
    "POST /feedback": {"id": "2b6b8a0e-5b4e-4a3c-8f0e-6a1d2c9e4f75"},
    "GET /feedback": [
        {
            "id": "2b6b8a0e-5b4e-4a3c-8f0e-6a1d2c9e4f75",
            "at": "2026-11-26T08:11:00.000000Z",
            "actor": "user:ada",
            "rating": "down",
            "reason": "She left in March.",
            "question": "Who leads the Harbour Office?",
            "answer": "Ada Marlow leads the Harbour Office. [1]",
            "mode": "auto",
            "documents": [{"id": "", "file_path": "port.md"}],
            "position": 1795262838120000,
        }
    ],
}
"""By method and path."""
