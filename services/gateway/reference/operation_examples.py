"""An example answer of each route under `/operations`."""

from typing import Any

_LETTER: dict[str, Any] = {
    "number": 7,
    "at": "2026-11-21T12:07:18.120000Z",
    "stage": "chunker",
    "consumer": "chunker",
    "reason": "part 0 of the text is not in KB_BLOBS",
    "sequence": 41,
    "subject": "kb.v1.default.port.DocumentAdded",
}
_PARKED = {
    "workspace": "default",
    "reason": "newer-version",
    "events": 1,
    "durables": ["chunker"],
    "first": 41,
    "type": "DocumentAdded",
    "version": 9,
    "document": "port.md",
    "error": "",
    "summary": (
        "one event of a version newer than the code, the first DocumentAdded v9 of port.md at 41"
    ),
}
_STATE = {
    "previous": 1,
    "candidate": None,
    "cursor": 412,
    "head": 412,
    "lag": 0,
    "rate": 0.0,
    "state": "current",
}

_WEBHOOK: dict[str, Any] = {
    "id": "5f0e9a510f4b9a7f",
    "workspace": "default",
    "url": "https://example.com/lightstream",
    "types": ["document.processed", "document.failed"],
    "description": "",
    "include_body": False,
    "state": "active",
    "cursor": 4711,
    "lag": 0,
    "failures": 0,
    "last_error": None,
    "last_success": "2026-11-21T12:07:19.480000Z",
    "next_attempt": None,
    "created_at": "2026-11-21T12:00:00Z",
    "created_by": "user:ada",
}
_CONSUMER = {
    "name": "extractor",
    "stage": "extractor",
    "pending": 120,
    "ack_pending": 4,
    "redelivered": 0,
}
_PLACE = {"delivered": 4711, "handled": 4700, "rate": 12.5, "rate_since": "2026-11-21T12:07:18Z"}
_COST = {
    "calls": 48,
    "prompt": 31200,
    "cached": 12000,
    "completion": 9400,
    "seconds": 61.5,
    "money": 0.010218,
    "unpriced": 0,
    "saved_results": 6,
    "saved_tokens": 5100,
    "saved_money": 0.00131,
    "batch_calls": 40,
}
_BUDGET = {
    "money": 25.0,
    "tokens": None,
    "period": "month",
    "reason": "the archive of 1987",
    "spent_money": 0.010218,
    "spent_tokens": 40600,
    "currency": "USD",
    "exceeded": None,
}
_NO_BUDGET = {name: "USD" if name == "currency" else None for name in _BUDGET}

OPERATION_EXAMPLES: dict[str, Any] = {
    "GET /operations/webhooks": {"webhooks": [_WEBHOOK]},
    "POST /operations/webhooks": {**_WEBHOOK, "secret": "whsec_…"},
    "DELETE /operations/webhooks/{webhook_id}": {"id": "5f0e9a510f4b9a7f"},
    "POST /operations/webhooks/{webhook_id}/enable": _WEBHOOK,
    "POST /operations/webhooks/{webhook_id}/replay": _WEBHOOK,
    "POST /operations/webhooks/{webhook_id}/rotate": {
        **_WEBHOOK,
        "secret": "whsec_…",
        "former_secret_until": "2026-11-22T12:07:19Z",
    },
    "POST /operations/webhooks/{webhook_id}/test": {
        "delivered": True,
        "status": 200,
        "error": None,
    },
    "GET /operations/consumers": {"consumers": [{**_CONSUMER, **_PLACE}], "last_sequence": 4830},
    "GET /operations/parked": {"parked": [_PARKED]},
    "GET /operations/dead_letters": {"dead_letters": [_LETTER], "total": 1},
    "GET /operations/dead_letters/{number}": {**_LETTER, "data": '{"specversion": "1.0"}'},
    "POST /operations/dead_letters/redrive": {"redriven": [7], "obsolete": []},
    "POST /operations/dead_letters/drop": {"dropped": [_LETTER]},
    "GET /operations/cost": {
        "workspace": "default",
        "currency": "USD",
        "total": _COST,
        "by": "stage",
        "groups": [{"name": "extractor", **_COST}],
        "budget": _BUDGET,
    },
    "GET /operations/budget": _BUDGET,
    "PUT /operations/budget": _BUDGET,
    "DELETE /operations/budget": _NO_BUDGET,
    "GET /operations/projections": {
        "projections": [{"projection": "graph", "generation": 2, "why": "", **_STATE}],
        "rebuild": None,
    },
    "GET /operations/rebuild": {
        "running": {
            "projections": ["vectors"],
            "host": "node-1",
            "pid": 412,
            "started": "2026-11-21T12:07:18Z",
            "reason": "another embedding model",
            "progress": {
                "phase": "vectors",
                "done": 200,
                "total": 900,
                "rate": 90.0,
                "seconds_left": 7.8,
            },
        },
        "candidate": None,
        "last": None,
        "takes_orders": True,
    },
    "GET /operations/rebuild/plan": {
        "targets": ["graph"],
        "events": 412,
        "seconds": 0.4,
        "generations": {"graph": 3},
        "dropped": {"graph": 1},
    },
    "POST /operations/rebuild/{step}": {"id": "5a5f1c9e2f", "step": "start", "projection": "graph"},
    "POST /operations/projections/digests": {"id": "5a5f1c9e2f", "workspace": "default"},
    "GET /operations/projections/digests": {
        "last": {
            "id": "5a5f1c9e2f",
            "who": "key:ops",
            "reason": "",
            "state": "done",
            "started": "2026-11-21T12:07:18Z",
            "ended": "2026-11-21T12:07:25Z",
            "error": "",
            "result": {
                "graph": "0b1c2d3e4f",
                "counts": {"graph": {"entities": 310, "relations": 402}},
            },
        },
        "workspace": "default",
        "takes_orders": True,
    },
    "POST /operations/figures/{step}": {"id": "5a5f1c9e2f", "step": "figures-estimate"},
    "GET /operations/figures": {
        "last": {
            "id": "5a5f1c9e2f",
            "who": "key:ops",
            "reason": "",
            "step": "figures-estimate",
            "state": "done",
            "started": "2026-11-21T12:07:18Z",
            "ended": "2026-11-21T12:07:25Z",
            "error": "",
            "result": {"figures": 14, "money": 0.04, "currency": "USD"},
        },
        "takes_orders": True,
    },
    "POST /operations/embedding/{step}": {"id": "5a5f1c9e2f", "step": "embedding-estimate"},
    "GET /operations/embedding": {
        "chosen_model": "multilingual",
        "choices": ["minilm", "minilm-floats", "multilingual", "lexical"],
        "generation": 4,
        "last": {
            "id": "5a5f1c9e2f",
            "who": "key:ops",
            "reason": "the handbook is in German",
            "step": "embedding-set",
            "state": "done",
            "started": "2026-11-29T12:07:18Z",
            "ended": "2026-11-29T12:07:25Z",
            "error": "",
            "result": {"chosen_model": "multilingual", "generations": {"vectors": 4}},
        },
        "takes_orders": True,
    },
    "GET /operations/providers": {
        "providers": [
            {
                "name": "https://api.example.com/v1",
                "calls": 4,
                "requests": 58,
                "tokens": 91200,
                "failures": 5,
                "paused": True,
                "paused_since": "2026-11-21T12:07:18Z",
                "paused_until": "2026-11-21T12:07:38Z",
                "reason": "429: slow down",
            }
        ]
    },
    "POST /operations/log/{task}": {"id": "5a5f1c9e2f", "task": "audit"},
    "GET /operations/log/{task}": {
        "last": {
            "id": "5a5f1c9e2f",
            "who": "key:ops",
            "reason": "before the upgrade",
            "state": "done",
            "started": "2026-11-21T12:07:18Z",
            "ended": "2026-11-21T12:07:25Z",
            "error": "",
            "result": {"events": 412, "last": 415, "workspaces": 2, "chained": 398, "problems": []},
        },
        "takes_orders": True,
    },
    "POST /operations/retry": {
        "requested": ["doc-f8e5fc3935ce926dc54e926fdc8cf0ec"],
        "nothing_failed": [],
    },
    "POST /operations/erasures": {"requested": ["doc-17"], "unknown": []},
    "GET /operations/erasures": {
        "requested": ["doc-17"],
        "erased": [
            {
                "document": "doc-16",
                "at": "2026-11-21T12:07:18Z",
                "receipt": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
                "reason": "request 16",
                "actor": "user:ada",
            }
        ],
        "before": None,
    },
    "GET /operations/sources": [
        {
            "source": "s3://harbour/minutes",
            "state": "paused",
            "state_reason": "the bucket is moved",
            "state_by": "user:ada",
            "documents": 212,
            "synced_at": "2026-11-26T08:12:40.100000Z",
            "synced_by": "os:ada",
            "refused": 1,
            "kept": 0,
        }
    ],
    "POST /operations/sources/pause": {
        "source": "s3://harbour/minutes",
        "state": "paused",
        "before": "active",
    },
    "POST /operations/sources/resume": {
        "source": "s3://harbour/minutes",
        "state": "active",
        "before": "paused",
    },
    "GET /operations/doctor": {
        "healthy": True,
        "findings": [{"level": "note", "what": "merger: 3 events wait", "todo": ""}],
    },
    "GET /operations/settings": {
        "settings": [
            {
                "of": "every service",
                "names": ["LLM_API_KEY"],
                "value": "(set, not shown)",
                "source": "LLM_API_KEY",
                "meaning": "its key",
            }
        ]
    },
}
