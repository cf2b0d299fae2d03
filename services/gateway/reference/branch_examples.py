"""An example answer of each route about branches."""

from typing import Any

_BRANCH: dict[str, Any] = {
    "name": "small",
    "workspace": "default..small",
    "origin": "default",
    "created_at": "2026-11-21T12:07:18.120000Z",
    "actor": "os:ada",
    "extract_model": "small-1",
    "prompt": "",
    "entity_types": "",
    "chunking": None,
    "sample": None,
    "reason": "is the cheap one good enough?",
    "promoted": True,
}
_COST: dict[str, Any] = {
    "calls": 412,
    "prompt": 903120,
    "cached": 0,
    "completion": 201400,
    "seconds": 1208.4,
    "money": 2.31,
    "unpriced": 0,
    "saved_results": 0,
    "saved_tokens": 0,
    "saved_money": None,
}
_ORDERED = {"id": "5f0d9d0c7e4b4f5d9e3a2b1c0d9e8f7a", "branch": "small"}
_MODEL = {
    "model": "small-1",
    "calls": 412,
    "prompt": 903120,
    "completion": 201400,
    "money": 2.31,
}

BRANCH_EXAMPLES: dict[str, Any] = {
    "GET /branches": [_BRANCH],
    "POST /branches": _ORDERED,
    "POST /branches/estimate": _ORDERED,
    "POST /branches/{name}/drop": _ORDERED,
    "GET /branches/orders": {
        "last": {
            "id": _ORDERED["id"],
            "step": "branch-estimate",
            "branch": "small",
            "who": "user:ada",
            "reason": "",
            "state": "done",
            "error": "",
            "started": "2026-11-21T12:05:01Z",
            "ended": "2026-11-21T12:05:09Z",
            "result": {
                "documents": 40,
                "chunks": 412,
                "models": [_MODEL],
                "currency": "USD",
                "money": 2.31,
                "basis": "chunks are cut and prompts counted as in the services",
            },
        },
        "takes_orders": True,
    },
    "GET /branches/{name}/status": {
        **_BRANCH,
        "status_counts": {"processed": 40, "processing": 0, "failed": 0, "all": 40},
        "cost": _COST,
        "currency": "USD",
    },
    "GET /branches/{name}/comparison": {
        "entities": {
            "appeared": 1,
            "went": 1,
            "changed": 1,
            "same": 812,
            "appeared_names": ["Tide Mill"],
            "went_names": ["The Mill"],
            "changed_names": ["Ada Marlow"],
        },
        "relations": {
            "appeared": 1,
            "went": 0,
            "changed": 0,
            "same": 1204,
            "appeared_names": ["Ada Marlow – Tide Mill"],
            "went_names": [],
            "changed_names": [],
        },
        "origin_cost": {**_COST, "money": 18.4},
        "branch_cost": _COST,
        "currency": "USD",
    },
    "POST /branches/{name}/promote": {
        "promoted": "small",
        "golden": (
            "workspace default: 12 of 12 golden questions pass; 12 of those asked before, where "
            "12 did"
        ),
    },
    "POST /branches/rollback": {"rolled_back": "small"},
}
"""By method and path."""
